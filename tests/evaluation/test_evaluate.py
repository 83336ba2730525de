"""`sl.evaluate`: answers in the unit of the log, with what they rest on."""

import json
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from recorded import record

import sidelight as sl
from sidelight._json import plain


@pytest.fixture(scope="module")
def log():
    coins = sl.environments.bounded([0.2, 0.5, 0.8, 0.6])
    graph = sl.FeedbackGraph.from_edges(4, [(i, j) for i in range(4) for j in (i, (i + 1) % 4)])
    policy = sl.plan(graph, horizon=400, realization="fixed").policy(seed=3)
    return record(policy, lambda t, arms: coins.losses(5, t, arms), 400)


def rescaled(log, **unit):
    """The same log in another unit."""
    (kind, (low, high)), *_ = unit.items()
    sign = log.value if kind == "losses" else 1 - log.value
    table = log.to_arrow().drop_columns(["loss", "rows"])
    columns = {name: table[name].to_numpy() for name in table.column_names}
    column = "loss" if kind == "losses" else "reward"
    return sl.Log.from_table({**columns, column: low + (high - low) * sign}, n_arms=log.n_arms, **unit)


def test_estimates_by_their_formulas(log):
    target = np.array([0.1, 0.2, 0.3, 0.4])
    rows = target[log.revealed] / log.seen
    found = sl.evaluate(log, target)
    n = log.n_rounds
    assert found.methods["ips"].value == pytest.approx((rows * log.value).sum() / n)
    assert found.methods["snips"].value == pytest.approx((rows * log.value).sum() / rows.sum())
    weights = np.bincount(log.round_of_row, weights=rows)
    assert found.ess == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    assert found.mean_weight == pytest.approx(weights.mean())
    assert found.largest_weight == weights.max()
    model = np.array([0.3, 0.4, 0.9, 0.1])
    direct = target @ model + (rows * (log.value - model[log.revealed])).sum() / n
    assert sl.evaluate(log, target, model=model).estimate == pytest.approx(direct)
    own = log.revealed == log.arm[log.round_of_row]
    played = (target[log.arm] / log.probability * log.value[own]).mean()
    assert found.methods["ips of played arms"].value == pytest.approx(played)
    terms = np.bincount(log.round_of_row, weights=rows * log.value)
    assert found.methods["ips"].standard_error == pytest.approx(terms.std(ddof=1) / n**0.5)


@pytest.mark.parametrize(
    "options", [{}, {"interval": "bernstein"}, {"interval": "bootstrap", "resamples": 50}, {"floor": 1e-2}]
)
def test_another_unit_gives_the_same_answer_in_it(log, options):
    ours = sl.evaluate(log, 0, **options)
    scaled = sl.evaluate(rescaled(log, losses=(-10, 30)), 0, **options)
    for name in ("estimate", "low", "high"):
        assert getattr(scaled, name) == pytest.approx(-10 + 40 * getattr(ours, name), abs=1e-9)
    assert scaled.methods["dr"].standard_error == pytest.approx(40 * ours.methods["dr"].standard_error)


def test_rewards_are_losses_turned_round(log):
    """The doubly robust estimate and both ends of the interval mirror; plain IPS does so up to the mean weight."""
    ours, mirrored = sl.evaluate(log, 0), sl.evaluate(rescaled(log, rewards=(0, 25)), 0)
    assert mirrored.estimate == pytest.approx(25 * (1 - ours.estimate))
    assert mirrored.low == pytest.approx(25 * (1 - ours.high))
    assert mirrored.high == pytest.approx(25 * (1 - ours.low))
    assert str(mirrored).startswith("always 0 earns")


def test_intervals_grow_with_the_level(log):
    for options in (
        {},
        {"floor": 1e-2},
        {"interval": "bernstein"},
        {"interval": "bootstrap", "resamples": 100},
    ):
        narrow, wide = (sl.evaluate(log, "uniform", level=level, **options) for level in (0.5, 0.99))
        assert wide.low <= narrow.low < narrow.high <= wide.high


def test_what_an_interval_rests_on(log):
    """dr only where its terms are as the bound needs them; never silently."""
    model = [0.5] * 4
    cases = {
        "martingale bound of ips": [
            {},
            {"floor": 1e-2, "clip": 5},
            {"floor": 1e-2, "model": "folds"},
            {"method": "snips"},
        ],
        "martingale bound of dr and ips": [{"floor": 1e-2}, {"floor": 1e-2, "model": model}],
        "empirical Bernstein of ips": [{"interval": "bernstein"}, {"interval": "bernstein", "method": "ips"}],
        "empirical Bernstein of dr": [{"interval": "bernstein", "model": model}],
        "bootstrap of snips": [{"interval": "bootstrap", "method": "snips", "resamples": 20}],
    }
    for basis, options in cases.items():
        for each in options:
            assert sl.evaluate(log, 0, **each).interval.startswith(basis), each
    assert "as seen in the log" in sl.evaluate(log, 0, interval="bernstein").interval
    assert "floor 0.01" in sl.evaluate(log, 0, interval="bernstein", floor=1e-2).interval


def test_clipping_is_said_and_biased_downwards(log):
    exact, clipped = sl.evaluate(log, 2, method="ips"), sl.evaluate(log, 2, method="ips", clip=1.5)
    assert clipped.estimate < exact.estimate
    assert clipped.largest_weight <= 1.5


def test_several_targets(log):
    found = sl.evaluate(log, {"always 3": 3, "uniform": "uniform", "mixed": {0: 0.5, 1: 0.5}})
    assert found.names == ["always 3", "uniform", "mixed"]
    assert found["uniform"] == sl.evaluate(log, "uniform")
    assert found.best.target == "mixed"
    assert len(found) == len(list(found)) == 3
    with pytest.raises(sl.InvalidOption, match="'other'"):
        found["other"]
    printed = str(found).splitlines()
    assert [line.split("  ")[0] for line in printed[2:]] == found.names


def test_differences(log):
    """Of a target with itself nothing, both ways the same, and as the difference of the estimates."""
    varying = np.random.default_rng(0).dirichlet(np.ones(4), size=log.n_rounds)
    found = sl.evaluate(log, {"a": 0, "b": [0.0, 0.5, 0.5, 0.0], "c": varying})
    for first, second in (("a", "b"), ("a", "c"), ("b", "c")):
        apart, back = found.difference(first, second), found.difference(second, first)
        assert apart.estimate == pytest.approx(found[first].estimate - found[second].estimate)
        assert apart.low <= apart.estimate <= apart.high
        assert (back.low, back.high) == pytest.approx((-apart.high, -apart.low))
    assert found.difference("a", "b").decided
    assert found.difference("a", "b").high < 0
    assert "a − b" in str(found.difference("a", "b"))
    same = found.difference("a", "a")
    assert (same.estimate, same.low, same.high) == (0, 0, 0)
    assert not same.decided


def test_a_difference_is_narrower_than_two_intervals(log):
    found = sl.evaluate(log, {"most": [0.4, 0.2, 0.2, 0.2], "uniform": "uniform"})
    apart = found.difference("most", "uniform")
    assert apart.high - apart.low < found["most"].interval_width


def test_answers_are_json(log):
    found = sl.evaluate(log, {"a": 0, "u": "uniform"})
    told = json.loads(json.dumps(plain(found.to_dict()), allow_nan=False))
    assert told["a"]["methods"]["ips"]["value"] == found["a"].methods["ips"].value
    assert told["a"]["unit"] == {"kind": "losses", "low": 0.0, "high": 1.0}


def test_readable(log):
    lines = str(sl.evaluate(log, 1)).splitlines()
    assert lines[0].startswith("always 1 costs 0.")
    assert "400 rounds, 800 revealed values" in lines[1]
    assert any("(the estimate)" in line for line in lines)


def test_paths_and_tables_are_logs(log, tmp_path):
    log.write(tmp_path / "log.csv")
    ours = sl.evaluate(log, 0)
    assert sl.evaluate(tmp_path / "log.csv", 0) == ours
    assert sl.evaluate(str(tmp_path / "log.csv"), 0) == ours
    assert sl.evaluate(log.to_arrow(), 0) == ours


# -- overlap ----------------------------------------------------------------------------------------------


def test_arms_that_are_never_shown_are_named():
    graph = sl.FeedbackGraph.from_edges(3, [(0, 0), (1, 1), (2, 1)], labels=["a", "b", "hidden"])
    log = record(sl.baselines.uniform(graph).policy(seed=1), lambda t, arms: np.full(len(arms), 0.4), 500)
    with pytest.warns(sl.errors.PoorOverlap, match="with probability 0.333: hidden"):
        found = sl.evaluate(log, "uniform")
    assert found.unseen == pytest.approx(1 / 3)
    assert found.low < 0.4 * 2 / 3  # the hidden arm may have cost nothing,
    assert found.high > 0.4 * 2 / 3 + 1 / 3  # or everything
    with pytest.warns(sl.errors.PoorOverlap):
        hidden = sl.evaluate(log, "hidden", method="ips")
    assert (hidden.low, hidden.high, hidden.ess) == (0, 1, 0)
    with pytest.warns(sl.errors.PoorOverlap), pytest.raises(sl.InvalidOption, match="shows nothing"):
        sl.evaluate(log, "hidden", method="snips")


def test_arms_that_cannot_be_seen_for_a_while_are_noticed():
    n = 1000
    table = {"arm": np.tile([0, 1], n // 2), "loss": np.full(n, 0.5), "probability": np.full(n, 0.5)}
    table["arm"][: n // 2], table["probability"][: n // 2] = 0, 1.0
    with pytest.warns(sl.errors.PoorOverlap, match="weights average 0.5, not 1: in some rounds"):
        sl.evaluate(table, 1)


def test_wrong_probabilities_are_noticed():
    rng = np.random.default_rng(0)
    arm = rng.integers(2, size=1000)
    table = {"arm": arm, "loss": np.full(1000, 0.5), "probability": np.full(1000, 0.3)}
    with pytest.warns(sl.errors.PoorOverlap, match=r"weights average 1\.6.*too small"):
        sl.evaluate(sl.Log.from_table(table, n_arms=2), "uniform")


def test_too_few_rounds():
    with pytest.warns(sl.errors.PoorOverlap, match="worth 1.0 rounds"):
        found = sl.evaluate({"arm": [0], "loss": [0.5], "probability": [1.0]}, 0)
    assert (found.low, found.high, found.estimate) == (0, 1, 0.5)


# -- what is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "method must be one of dr, ips, snips, got method='magic'"),
        ({"interval": "magic"}, "interval must be one of"),
        ({"level": 1.0}, "level must be between 0 and 1"),
        ({"level": "high"}, "level"),
        ({"clip": 0.5}, "clip must be at least 1"),
        ({"clip": 2, "ix": 0.1}, "one way at a time"),
        ({"ix": -1}, "ix must be"),
        ({"shrinkage": float("nan")}, "shrinkage must be"),
        ({"floor": 0}, "floor is a probability"),
        ({"floor": 0.9}, "floor=0.9 was promised, but arm .* in round"),
        ({"resamples": 0}, "resamples"),
        ({"model": "future"}, "model must be"),
    ],
)
def test_refused(log, options, message):
    with pytest.raises(sl.SidelightError, match=message):
        sl.evaluate(log, "uniform", **options)


def test_no_targets(log):
    with pytest.raises(sl.InvalidOption, match="empty mapping"):
        sl.evaluate(log, {})


def test_nothing_is_said_where_nothing_is_wrong(log):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = sl.evaluate(log, "uniform")
    assert found.notes == ()
    assert_allclose(found.mean_weight, 1, atol=0.2)


def test_uniform_over_arms_that_were_only_counted_says_so():
    table = {"arm": [0, 1] * 50, "loss": [0.2, 0.6] * 50, "probability": [0.5] * 100}
    with pytest.warns(sl.errors.PoorOverlap, match="over the 2 arms that the log shows: if there are more"):
        counted = sl.evaluate(sl.Log.from_table(table), "uniform")
    assert "n_arms=" in counted.notes[0]
    stated = sl.Log.from_table(table, n_arms=2)
    assert sl.evaluate(stated, "uniform").notes == ()


def test_an_arm_that_was_never_seen_is_unknown():
    table = {"arm": [0, 1] * 50, "loss": [0.2, 0.6] * 50, "probability": [0.5] * 100}
    log = sl.Log.from_table(table, n_arms=3)
    with pytest.warns(sl.errors.PoorOverlap, match="never shows"):
        answer = sl.evaluate(log, 2)
    with pytest.warns(sl.errors.PoorOverlap, match="never shows"):
        several = sl.evaluate(log, {"unseen": 2, "seen": 1})
    assert np.isnan(answer.estimate)
    assert (answer.low, answer.high) == (0, 1)
    assert "costs an unknown amount a round" in str(answer)
    assert "±" not in str(answer)
    assert answer.to_dict()["estimate"] is None
    assert several.best.target == "seen"
    assert "unknown" in str(several)


def test_bernstein_without_a_floor_is_called_approximate():
    table = {"arm": [0, 1] * 50, "loss": [0.2, 0.6] * 50, "probability": [0.5] * 100}
    log = sl.Log.from_table(table, n_arms=2)
    assert "approximate" in sl.evaluate(log, 0, interval="bernstein").interval
    assert "approximate" not in sl.evaluate(log, 0, interval="bernstein", floor=0.5).interval
