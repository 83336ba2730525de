"""Arms by their labels, values in the user's unit."""

import pickle

import numpy as np
import pytest

import sidelight as sl

GRAPH = sl.FeedbackGraph.from_edges(
    3, [(0, 1), (1, 2), (2, 0), (0, 0), (1, 1)], labels=["red", "green", "blue"]
)
LABELS = GRAPH.labels


def new(seed=1, **unit):
    return sl.plan(GRAPH, 200, realization="fixed").policy(seed=seed, **unit)


# -- names ----------------------------------------------------------------------------------------------------


def test_labels_are_arms():
    by_number, by_label, by_both = new(), new(), new()
    for t in range(30):
        values = np.random.default_rng(t).random(3)
        d = by_number.decide()
        by_number.observe(d, {int(j): values[j] for j in d.reveals})
        d = by_label.decide()
        by_label.observe(d, {LABELS[j]: values[j] for j in reversed(d.reveals)})
        arm = by_both.ask()
        keys = [LABELS[j] if i else int(j) for i, j in enumerate(GRAPH.out_neighbors(arm))]
        by_both.tell(dict(zip(keys, values[GRAPH.out_neighbors(arm)], strict=True)))
    assert np.array_equal(by_number.probabilities, by_label.probabilities)
    assert np.array_equal(by_number.probabilities, by_both.probabilities)
    assert by_number.ledger("blue") == by_number.ledger(2)
    assert by_number.certificate("blue") == by_number.certificate(2)
    with pytest.raises(sl.InvalidOption, match="'pink' does not exist"):
        by_number.ledger("pink")


@pytest.mark.parametrize("file", ["log.csv", "log"])
def test_labels_that_look_like_numbers(file, tmp_path):
    """Text is a label and a number an arm, when it is told and in the log."""
    edges = [(i, (i + step) % 5) for i in range(5) for step in (0, 1)]
    graph = sl.FeedbackGraph.from_edges(5, edges, labels=["4", "3", "2", "1", "0"])
    policy = sl.plan(graph).policy(seed=3, rewards=(0, 25))
    with policy.log(tmp_path / file):
        for d in policy.decide(count=20):
            named = {graph.labels[j]: float(j) for j in d.reveals}
            policy.observe(d, named if d.id % 2 else {int(j): float(j) for j in d.reveals})
    log = sl.Log.read(tmp_path / file)
    log.write(tmp_path / "again.csv")
    for read in (
        log,
        sl.Log.read(tmp_path / "again.csv"),
        sl.Log.from_table(log.to_arrow(), labels=graph.labels, rewards=(0, 25)),
    ):
        assert (read.labels, read.n_rows, read.value.tolist()) == (graph.labels, 40, read.revealed.tolist())


@pytest.mark.parametrize(
    ("losses", "why"),
    [
        ({"red": 0.5}, r"arm 0 \('red'\) also reveals 1 \('green'\)"),
        (
            {"red": 0.5, "green": 0.5, "pink": 0.5},
            r"does not reveal pink; it reveals 0 \('red'\), 1 \('green'\)",
        ),
        ({"red": 0.5, "green": 0.5, 2: 0.5}, r"does not reveal 2 \('blue'\)"),
        ({"red": 0.5, 0: 0.5}, r"the loss of arm 0 \('red'\) was told twice"),
        ({"red": 0.5, "green": 2.0}, r"the loss of arm 1 \('green'\) must be in \[0, 1\], got 2.0"),
        ([0.5], r"arm 0 \('red'\) reveals 2 arms"),
    ],
    ids=["missing", "unknown", "not revealed", "twice", "range", "shape"],
)
def test_messages_show_labels(losses, why):
    policy = next(p for p in (new(seed) for seed in range(50)) if p.ask() == 0)
    with pytest.raises(sl.InvalidFeedback, match=why):
        policy.tell(losses)
    with pytest.raises(sl.TurnError, match=r"arm 0 \('red'\) is still to be told"):
        policy.ask()
    policy.tell({"red": 0.5, "green": 0.5})


def test_what_a_policy_shows():
    policy = new(rewards=(0, 10))
    assert "rewards=(0, 10), round=0, pending=None" in repr(policy)
    arm = policy.ask()
    assert f"pending={arm} ({LABELS[arm]!r})" in repr(policy)
    policy.tell([7.0] * GRAPH.out_neighbors(arm).size)
    lines = str(policy).splitlines()
    assert lines[0].endswith("on 3 arms, rewards in [0, 10]: 1 round, 0 decisions open")
    value = policy.certificate().value
    assert lines[1].startswith(f"certificate {value:,.2f} after 1 round against any arm: in expectation")
    assert lines[-4].split() == ["sum", f"{value:,.2f}"]
    assert sorted(line.split()[1] for line in lines[-3:]) == sorted(map(repr, LABELS))
    assert sum(float(line.split()[2]) for line in lines[-3:]) == pytest.approx(100, abs=0.02)
    assert policy.summary(most=1).splitlines()[-1].split()[:2] == ["2", "others"]
    assert "after 1 round against arm 2 ('blue')" in policy.certificate("blue").summary()


# -- units ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "told"),
    [
        ({"losses": (-2.0, 6.0)}, lambda loss: -2.0 + 8.0 * loss),
        ({"rewards": (0, 8)}, lambda loss: 8.0 - 8.0 * loss),
    ],
    ids=["losses", "rewards"],
)
def test_another_unit_is_the_same_game(unit, told, tmp_path):
    plain, other = new(), new(**unit)
    for t in range(40):
        losses = np.random.default_rng(t).integers(0, 9, 3) / 8  # exact in every unit here
        d, e = plain.decide(), other.decide()
        assert d.arm == e.arm
        plain.observe(d, losses[d.reveals])
        other.observe(e, told(losses[e.reveals]))
        assert np.array_equal(plain.probabilities, other.probabilities)
        if t == 20:
            other.save(tmp_path / "policy")
            plain.save(tmp_path / "plain")
            other = pickle.loads(pickle.dumps(sl.Policy.load(tmp_path / "policy"))).copy()
    assert other.bound_at(200) == pytest.approx(8 * plain.plan.bound.value)
    other.cancel(other.decide())
    plain.cancel(plain.decide())
    assert other.bound_at(200) is None
    assert other.certificate().value == pytest.approx(8 * plain.certificate().value)
    assert other.certificate().terms["unanswered"] == 8.0
    assert other.ledger(1) == pytest.approx({name: 8 * part for name, part in plain.ledger(1).items()})


def test_the_ends_of_the_range_count_and_nothing_beyond():
    policy = new(rewards=(0.1, 0.7))
    d = policy.decide()
    for value in (0.7000001, 0.0999, np.nan, np.inf):
        with pytest.raises(
            sl.InvalidFeedback, match=r"the reward of arm . \('.*'\) must be in \[0.1, 0.7\], got"
        ):
            policy.observe(d, np.full(d.reveals.size, value))
    policy.observe(d, np.full(d.reveals.size, 0.1))
    d = policy.decide()
    policy.observe(d, np.full(d.reveals.size, 0.7))


@pytest.mark.parametrize(
    "unit",
    [{"losses": (1, 0)}, {"rewards": (0, np.inf)}, {"losses": 3}, {"losses": (0, 1), "rewards": (0, 1)}],
    ids=repr,
)
def test_units_that_are_none(unit):
    with pytest.raises(sl.InvalidOption, match=r"losses|rewards"):
        new(**unit)


@pytest.mark.parametrize(
    "unit",
    [
        *(7, {}, {"kind": "gold", "low": 0, "high": 1}, {"kind": "losses", "low": 1, "high": 0}),
        *({"kind": "losses", "low": True, "high": 3}, {"kind": "losses", "low": "0", "high": "x"}),
    ],
    ids=repr,
)
def test_saved_units_that_are_none(unit, tmp_path):
    from saved_files import contents, forge

    new(rewards=(0, 5)).save(tmp_path / "policy")
    header, arrays = contents(tmp_path / "policy")
    assert header["unit"] == {"kind": "rewards", "low": 0.0, "high": 5.0}
    forge(tmp_path / "policy", header | {"unit": unit}, arrays)
    with pytest.raises(sl.SavedStateError, match=r"unit|low"):
        sl.Policy.load(tmp_path / "policy")


def test_rules_have_units_too():
    rule = sl.baselines.exp3_ix(sl.families.mab(3))
    one, two = rule.policy(seed=1), rule.policy(seed=1, rewards=(0, 4))
    for _ in range(10):
        one.tell([0.25] * int(one.graph.out_degree[one.ask()]))
        two.tell([3.0] * int(two.graph.out_degree[two.ask()]))
    assert np.array_equal(one.probabilities, two.probabilities)
    assert two.bound_at(100) == pytest.approx(4 * rule.bound_at(100).value)


@pytest.mark.parametrize("wrong", [(-1e308, 1e308), (0, 1e-320)])
def test_ranges_that_numbers_cannot_divide_are_refused(wrong):
    with pytest.raises(sl.InvalidOption, match="too wide or too narrow"):
        sl.plan(sl.families.cycle(4), 100).policy(seed=1, rewards=wrong)


def test_a_series_is_read_by_its_index():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed: pip install '.[pandas]'")
    graph = sl.FeedbackGraph.from_edges(2, [(0, 0), (0, 1), (1, 0), (1, 1)], labels=["tea", "milk"])
    told = [
        pandas.Series({"milk": 0.1, "tea": 0.9}),
        pandas.Series([0.1, 0.9], index=[1, 0]),
        {"milk": 0.1, "tea": 0.9},
    ]
    found = []
    for losses in told:
        policy = sl.plan(graph, 500).policy(seed=1)
        for _ in range(50):
            policy.observe(policy.decide(), losses)
        found.append(policy.probabilities.tolist())
    assert found[0] == found[1] == found[2]
    assert found[0][1] > 0.9
    with pytest.raises(sl.InvalidFeedback, match="twice"):
        policy.observe(policy.decide(), pandas.Series([0.1, 0.9], index=["milk", "milk"]))
