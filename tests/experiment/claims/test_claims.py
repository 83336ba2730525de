"""Claims: all of the paper is covered, verdicts can go either way, and finished claims survive interruptions."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sidelight as sl
from sidelight.experiment.claims import (
    BEATEN,
    CLAIMS,
    FAILS,
    HOLDS,
    INCONCLUSIVE,
    VERDICTS,
    Claim,
    Curve,
    Estimate,
    Evidence,
    Outcome,
    Prediction,
    find,
    measures,
    names,
    reproduce,
)
from sidelight.experiment.claims.catalogue import signed
from sidelight.experiment.claims.measures import (
    REGRET_BOUND,
    Played,
    fitted_exponent,
    play,
    play_rivals,
    resampled_worst,
    slope,
    strong_environments,
    weak_environments,
)

PAPER = {
    "thm:decomp-informal",
    "thm:c-corrupted intro",
    "thm:union-of-cliques intro",
    "thm:bounded-degree",
    "thm:out-bounded-theta",
    "prop:packing-lb",
    "prop:osmd",
    "thm:general regret",
    "lem:regret",
    "lem:regretY",
    "lem:regretX",
    "thm:realized-upper-bound",
    "lem:realized-regretY",
    "lem:realized-regretX",
    "lem:adapt-realized-regretX",
    "thm:adapt-realized-upper-bound",
    "thm:c-corrupted",
    "thm:union-of-cliques",
    "thm:directed-bounded-degree",
    "cor:undirected-bounded-degree",
    "thm:hypercube",
    "lem: hypercube ind set",
    "lem: monotone",
}
"""Every label of a theorem, corollary, proposition or lemma of the paper."""

OURS = {
    "docs/theory/fixed-rates.md",
    "docs/theory/self-tuning.md",
    "docs/theory/signed.md",
    "docs/theory/readings.md",
}
ROOT = Path(__file__).parents[3]


def constant_claim(name="toy", value=1.0, calls=None, **changes):
    """A claim that measures `value` at once, predicted to be 1."""

    def measure(**sizes):
        if calls is not None:
            calls.append(name)
        curve = Curve("value", "measured", (1.0, 2.0), (value, value))
        return Evidence(({"x": 1, "value": value},), {"value": Estimate.exact(value)}, (curve,), "x", "value")

    fields = {
        "name": name,
        "group": "toys",
        "statement": "one is <one>",
        "source": ("here",),
        "family": "none",
        "predictions": (Prediction.near("value", 1.0, 0.1, "by definition"),),
        "measure": measure,
        "quick": {"seeds": 1},
        "full": {"seeds": 2},
    }
    return Claim(**(fields | changes))


# -- the registry ------------------------------------------------------------------------------------------


def test_every_statement_of_the_paper_has_a_claim():
    cited = {label for claim in CLAIMS.values() for label in claim.source}
    assert cited >= PAPER
    assert cited >= OURS
    assert {label for label in cited if label.startswith(("thm:", "lem:", "cor:", "prop:"))} <= PAPER


def test_pages_that_claims_cite_exist():
    cited = {label for claim in CLAIMS.values() for label in claim.source if label.startswith("docs/")}
    assert all((ROOT / page).exists() for page in cited)


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=names())
def test_a_claim_is_complete(claim):
    assert claim.statement.endswith(".")
    assert claim.predictions
    assert all(prediction.reason for prediction in claim.predictions)
    for quick in (True, False):
        assert json.loads(json.dumps(claim.sizes(quick)))
    quick, full = claim.sizes(True), claim.sizes(False)
    assert quick.keys() == full.keys()
    for name, size in quick.items():
        numbers = (size, full[name])
        small, large = (max(n) if isinstance(n, tuple) else n for n in numbers)
        if isinstance(small, int):
            assert small <= large


def test_docs_list_every_claim_with_a_verdict():
    text = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
    rows = {}
    for line in text.splitlines():
        if line.startswith("| `"):
            cells = [cell.strip() for cell in line.replace("\\|", "¦").strip("|").split("|")]
            rows[cells[0].split("`")[1]] = cells[-1]
    assert tuple(rows) == names()
    assert all(verdict.split(":")[0] in VERDICTS for verdict in rows.values())


def test_claims_are_found_in_the_order_of_the_catalogue():
    assert [claim.name for claim in find(["Trichotomy", "corrupted_size"])] == [
        "corrupted-size",
        "trichotomy",
    ]
    assert find() == tuple(CLAIMS.values())


def test_an_unknown_claim_is_refused_with_a_guess():
    with pytest.raises(sl.InvalidOption, match="'corupted-size'; did you mean 'corrupted-size'"):
        reproduce(["corupted-size"], quick=True)


# -- verdicts ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (Estimate.exact(1.0), HOLDS),
        (Estimate(1.0, 0.9, 1.1), HOLDS),
        (Estimate(1.0, 0.8, 1.05), INCONCLUSIVE),
        (Estimate(2.0, 1.09, 3.0), INCONCLUSIVE),
        (Estimate(2.0, 1.5, 3.0), FAILS),
        (Estimate(0.5, 0.4, 0.6), FAILS),
        (Estimate(float("nan"), float("nan"), float("nan")), INCONCLUSIVE),
        (None, INCONCLUSIVE),
    ],
)
def test_a_prediction_judges_the_whole_interval(found, verdict):
    assert Prediction("x", 0.9, 1.1, "").judge(found) == verdict


def test_one_sided_predictions():
    assert Prediction.most("x", 1.0, "").judge(Estimate(0.5, -3.0, 1.0)) == HOLDS
    assert Prediction.most("x", 1.0, "").judge(Estimate.exact(1.01)) == FAILS
    assert Prediction.least("x", 1.0, "").judge(Estimate.exact(0.99)) == FAILS
    with pytest.raises(sl.InvalidOption, match="low ≤ high"):
        Prediction("x", 2.0, 1.0, "")


def test_the_verdict_is_that_of_the_worst_check():
    claim = constant_claim(
        predictions=(Prediction.near("value", 1, 0.1, "a"), Prediction.near("missing", 1, 0.1, "b"))
    )
    assert claim.run().verdict == INCONCLUSIVE
    assert (
        replace(claim, predictions=(Prediction.near("value", 2, 0.1, "a"), *claim.predictions)).run().verdict
        == FAILS
    )
    assert replace(claim, predictions=()).run().verdict == INCONCLUSIVE


@pytest.mark.parametrize(("low", "verdict"), [(1.01, BEATEN), (0.99, HOLDS)])
def test_a_baseline_beats_only_with_its_whole_interval(low, verdict):
    claim = constant_claim()
    evidence = replace(claim.measure(), rivals={"other": Estimate(1.2, low, 1.5)})
    outcome = Outcome.of(claim, evidence, True, 0.0, 0.0)
    assert outcome.verdict == verdict
    assert outcome.beaten_by == (("other",) if verdict == BEATEN else ())
    failing = Outcome.of(
        replace(claim, predictions=(Prediction.most("value", 0, ""),)), evidence, True, 0.0, 0.0
    )
    assert failing.verdict == FAILS


# -- statistics --------------------------------------------------------------------------------------------


def test_the_fitted_exponent_covers_the_true_one():
    x = [100.0, 400.0, 1600.0, 6400.0]
    covered = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        samples = [[size**0.6 * (1 + 0.3 * rng.standard_normal(16))] for size in x]
        replicates = [resampled_worst(sample, rng) for sample in samples]
        found = fitted_exponent(x, [float(sample[0].mean()) for sample in samples], replicates)
        covered += found.low <= 0.6 <= found.high
        assert found.high - found.low < 0.35
    assert covered >= 36  # 99 % intervals of 16 seeds are a little too narrow


def test_regret_that_is_not_positive_has_no_growth_rate():
    nothing = [np.array([1.0, -1.0, 0.5])] * 2
    found = fitted_exponent(
        [1.0, 2.0], [0.2, 0.2], [resampled_worst([n], np.random.default_rng(0)) for n in nothing]
    )
    assert np.isnan(found.value)


def test_a_curve_that_bends_says_so():
    x, rng = [100.0, 400.0, 1600.0, 6400.0, 25600.0], np.random.default_rng(0)

    def fitted(curve):
        samples = [curve(size) * (1 + 0.05 * rng.standard_normal(16)) for size in x]
        replicates = [resampled_worst([sample], rng) for sample in samples]
        return fitted_exponent(x, [float(sample.mean()) for sample in samples], replicates)

    assert "bends" not in str(fitted(lambda size: size**0.6))
    assert re.search(r"bends 0\.9\d→0\.5", str(fitted(lambda size: min(size, 1600.0) ** 0.4 * size**0.55)))


def test_slope_of_a_power_law():
    assert slope([1, 2, 4], [3, 3 * 2**0.4, 3 * 4**0.4]) == pytest.approx(0.4)


def test_the_worst_environment_counts():
    easy, hard = np.full(4, 1.0), np.full(4, 5.0)
    played, other = Played({"easy": easy, "hard": hard}), Played({"easy": np.full(4, 2.5)})
    assert (played.worst, played.hardest) == (5.0, "hard")
    assert played.over(other) == Estimate(2.0, 2.0, 2.0)
    assert np.isnan(played.over(Played({"easy": -easy})).value)


# -- environments ------------------------------------------------------------------------------------------


def test_weak_environments_hide_the_best_arm_where_seeing_it_is_costly():
    for spec in ("cycle:12", "corrupted_mab:8,1", "revealing_action:5"):
        g = sl.families.parse(spec)
        worlds = weak_environments(g, 10_000)
        assert len(worlds) == 4
        for world in worlds.values():
            best = world.best_arm(10_000)
            assert sl.observability(g).per_arm[best] == "weak"
            assert all(world.row(0)[g.in_neighbors(best)] == 1.0)


def test_gaps_shrink_with_the_horizon():
    g = sl.families.cycle(12)
    short, long = (weak_environments(g, T)["packing, gap ×1"].row(0).min() for T in (10**3, 10**6))
    assert 0.5 - short == pytest.approx(10 * (0.5 - long))
    bandit = sl.families.mab(4)
    short, long = (strong_environments(bandit, T)["gap ×1"].row(0).min() for T in (10**3, 10**5))
    assert 0.5 - short == pytest.approx(10 * (0.5 - long))


def test_rivals_that_cannot_play_say_why():
    g = sl.families.cycle(6)
    played, skipped = play_rivals(("flat", "nobody"), g, weak_environments(g, 500), 2, 500)
    assert set(played) == {"flat"}
    assert skipped == {"nobody": "no policy of this name in this version"}


def test_an_interrupted_run_ends_the_claim(monkeypatch):
    class Incomplete:
        complete = False

    monkeypatch.setattr(measures, "simulate", lambda *args, **kwargs: Incomplete())
    g = sl.families.cycle(6)
    with pytest.raises(KeyboardInterrupt):
        play(sl.plan(g, 100), weak_environments(g, 100), 1, 100)


# -- claims that really run --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["corrupted-constant", "cliques-size", "cycle-theta", "packing-rates", "clique-domination", "one-block"],
)
def test_claims_about_bounds_hold(name):
    outcome = find([name])[0].run(quick=True)
    assert outcome.verdict == HOLDS, outcome.checks
    assert all(check.measured != "not measured" for check in outcome.checks)
    assert outcome.rows
    assert outcome.curves


CONSTANTS = {
    "signed-weak": ({"specs": ("cycle:20", "cycle:50")}, "constant at T = 10¹²", 1.5),
    "signed-bandits": ({"arms": (2000,)}, "limit / √(2NT(1−N^{−1/2})) at the largest N", 2.0),
    "signed-universal": ({"arms": (20, 2000)}, "constant at T = 10¹⁵ at the largest N", 1.785),
    "self-tuning-constants": ({"specs": ("cycle:20", "cycle:50")}, "leading term", 2.019),
}
"""Smaller sizes, a column, and what the proofs have there that know of no shift."""


@pytest.mark.parametrize(("name", "few", "column", "before"), [(k, *v) for k, v in CONSTANTS.items()])
def test_constants_are_those_of_shifted_losses(name, few, column, before):
    claim = replace(find([name])[0], quick=few)
    outcome = claim.run(quick=True)
    assert outcome.verdict == HOLDS, outcome.checks
    wrong = replace(claim, predictions=(Prediction.near(column, before, 0.1, "without a shift"),))
    assert wrong.run(quick=True).verdict == FAILS


def test_a_constant_that_is_tended_to_is_told_from_one_that_is_there(monkeypatch):
    """A bound of 1.2599 times its scale at every horizon has the right constant, and does not tend to it."""
    claim = replace(find(["signed-weak"])[0], quick={"specs": ("cycle:20",)})
    monkeypatch.setattr(
        signed, "_smallest", lambda graph, T: 1.2599 * signed.weak_scale(graph, 1.0) * T ** (2 / 3)
    )
    verdicts = {check.name: check.verdict for check in claim.run(quick=True).checks}
    assert verdicts["constant at T = 10¹²"] == HOLDS
    assert verdicts["growth of 2^{1/3} − constant"] == FAILS


def test_the_printed_theorem_on_out_degrees_fails_and_its_repair_holds():
    printed, repaired = find(["out-degree-as-printed", "out-degree-repaired"])
    outcome = printed.run(quick=True)
    assert outcome.verdict == FAILS
    assert [check.verdict for check in outcome.checks] == [FAILS, HOLDS]
    assert repaired.run(quick=True).verdict == HOLDS


def test_the_printed_constants_lose_to_the_earlier_bound_at_every_feasible_size():
    outcome = find(["cycle-against-chlz21"])[0].run(quick=True)
    assert outcome.verdict == BEATEN
    assert outcome.beaten_by == ("CHLZ21's bound at N = 10⁶",)


def test_a_wrong_prediction_fails():
    claim = find(["one-block"])[0]
    wrong = replace(claim, predictions=(Prediction.near("constant", 8.54, 0.01, "the printed constant"),))
    assert wrong.run(quick=True).verdict == FAILS


def test_a_played_claim_measures_regret_and_a_wrong_exponent_fails():
    claim = find(["undirected-cycle-horizon"])[0]
    small = {"horizons": (2_048, 8_192, 32_768), "seeds": 4, "rivals": ("nobody",)}
    played = replace(claim, quick=small).run(quick=True)
    verdicts = {check.name: check.verdict for check in played.checks}
    assert verdicts[REGRET_BOUND] == HOLDS
    assert verdicts["exponent in T, played"] in (HOLDS, INCONCLUSIVE)
    assert [row["T"] for row in played.rows] == [2_048, 8_192, 32_768]
    assert "nobody" in played.skipped
    wrong = (Prediction.near("exponent in T, played", 0.3, 0.05, "a wrong theory"),)
    assert replace(claim, quick=small, predictions=wrong).run(quick=True).verdict == FAILS


# -- running many ------------------------------------------------------------------------------------------


@pytest.fixture
def toys():
    """A registry of three claims, and the list of those that were measured."""
    calls, kept = [], dict(CLAIMS)
    CLAIMS.clear()
    CLAIMS.update((name, constant_claim(name, calls=calls)) for name in ("first", "second", "third"))
    yield calls
    CLAIMS.clear()
    CLAIMS.update(kept)  # in their order


def test_stored_outcomes_are_kept(toys, tmp_path):
    before = reproduce(quick=True, folder=tmp_path, progress=False)
    assert toys == ["first", "second", "third"]
    after = reproduce(quick=True, folder=tmp_path, progress=False)
    assert toys == ["first", "second", "third"]
    assert after.resumed == ("first", "second", "third")
    assert after.outcomes == before.outcomes
    assert after.counts[HOLDS] == 3


def test_what_is_measured_again(toys, tmp_path):
    reproduce(quick=True, folder=tmp_path, progress=False)
    toys.clear()
    reproduce(["second"], quick=True, folder=tmp_path, fresh=True, progress=False)
    assert toys == ["second"]
    reproduce(["second"], quick=False, folder=tmp_path, progress=False)
    assert toys == ["second", "second"]
    (tmp_path / "outcomes" / "third.quick.json").write_text('{"fingerprint": ')
    CLAIMS["first"] = replace(CLAIMS["first"], predictions=(Prediction.near("value", 2.0, 0.1, "changed"),))
    toys.clear()
    again = reproduce(quick=True, folder=tmp_path, progress=False)
    assert toys == ["first", "third"]
    assert [outcome.verdict for outcome in again.outcomes] == [FAILS, HOLDS, HOLDS]


def test_an_interrupt_keeps_what_is_finished(toys, tmp_path):
    def interrupted(**sizes):
        raise KeyboardInterrupt

    whole = CLAIMS["second"]
    CLAIMS["second"] = replace(whole, measure=interrupted)
    stopped = reproduce(quick=True, folder=tmp_path, progress=False)
    assert not stopped.complete
    assert [outcome.claim for outcome in stopped.outcomes] == ["first"]
    CLAIMS["second"] = whole
    resumed = reproduce(quick=True, folder=tmp_path, progress=False)
    assert resumed.complete
    assert resumed.resumed == ("first",)
    assert toys == ["first", "second", "third"]


def test_a_failure_surprises_unless_it_is_known(toys):
    wrong = (Prediction.near("value", 2.0, 0.1, "wrong"),)
    CLAIMS["first"] = replace(CLAIMS["first"], predictions=wrong)
    CLAIMS["second"] = replace(CLAIMS["second"], predictions=wrong, known_false=True)
    found = reproduce(quick=True, progress=False)
    assert found.counts[FAILS] == 2
    assert found.surprises == ("first",)


def test_one_printed_theorem_is_known_to_be_false():
    assert [claim.name for claim in CLAIMS.values() if claim.known_false] == ["out-degree-as-printed"]


def test_nothing_is_written_without_a_folder(toys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert reproduce(quick=True, progress=False).complete
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_measured(toys, tmp_path):
    taken = tmp_path / "file"
    taken.write_text("")
    with pytest.raises(sl.InvalidOption, match="cannot write to the folder"):
        reproduce(quick=True, folder=taken, progress=False)
    assert toys == []


def test_outcomes_survive_json():
    outcome = find(["corrupted-constant"])[0].run(quick=True)
    again = Outcome.from_dict(json.loads(json.dumps(outcome.to_dict())))
    assert again.checks == outcome.checks
    assert again.curves == outcome.curves
    assert again.rows == outcome.rows
    with pytest.raises(sl.InvalidOption, match="not a stored outcome"):
        Outcome.from_dict({"claim": "x"})


def test_the_bar_names_the_claim_at_work(toys, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    reproduce(quick=True, progress=True)
    assert "third" in capsys.readouterr().err
