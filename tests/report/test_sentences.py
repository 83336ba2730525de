"""Verdicts say what the numbers say, on data made so that the answer is known."""

from dataclasses import replace

import numpy as np
import pytest
from finished_cells import bound, cell, results

import sidelight as sl
from sidelight.experiment.results import cell_of
from sidelight.report.groups import groups_of
from sidelight.report.section import sections
from sidelight.report.sentences import bound_status, certificate_exceeded, finding, verdict
from sidelight.report.text import number

COINS = ("gap", "gap:0.2", "bernoulli:0.1,0.5,0.3", "bernoulli", "gap:of mine", "switching:10")
LUCK = np.array([10.0, 30.0, 20.0, 50.0, 40.0])


def said(*cells, comparison=None):
    (group,) = groups_of(results(*cells))
    return " ".join(verdict(group, comparison))


def test_a_clear_winner_is_named_with_the_paired_difference():
    text = said(cell("slow", LUCK + np.array([5, 5.1, 5, 4.9, 5])), cell("quick", LUCK))
    assert "quick has a mean regret of 30" in text
    assert "over 5 seeds, the least of 2; slow, next, has 35" in text
    assert "Beyond noise, quick beats slow by 5 [4.91, 5.09]" in text
    assert "Within noise" not in text


def test_noise_is_called_noise():
    text = said(cell("a", LUCK), cell("b", LUCK[::-1] + 1))
    assert "Within noise of a: b" in text
    assert "Beyond noise" not in text


def test_a_difference_that_one_comparison_would_call_clear_may_drown_among_many():
    """Bonferroni: the interval of each of many comparisons is wider."""
    near = LUCK + np.array([0.8, 1.8, 0.8, 1.8, 0.8])
    assert "Beyond noise" in said(cell("a", LUCK), cell("b", near))
    others = [cell(f"c{k}", LUCK + 100 + np.arange(5) * k) for k in range(20)]
    text = said(cell("a", LUCK), cell("b", near), *others)
    assert "Within noise of a: b" in text
    assert "for all 231 pairs together" in text


def test_equal_policies_are_rarely_told_apart():
    """The best is picked by looking; still, a false "beyond noise" is as rare as 95 % says."""
    rng, games = np.random.default_rng(5), 600
    alarms = 0
    for _ in range(games):
        equal = [cell(f"p{k}", final) for k, final in enumerate(rng.normal(50, 5, (10, 8)))]
        alarms += "Beyond noise" in said(*equal)
    assert alarms / games <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / games)


def test_policies_that_played_alike_are_one():
    text = said(cell("a", LUCK), cell("b", LUCK), cell("c", LUCK + 1))
    assert "a and b played alike and have a mean regret of 30" in text
    assert "95 % interval)" in text  # one comparison, not two
    assert "a and b played alike and have a mean regret of 30" in said(cell("a", LUCK), cell("b", LUCK))


def test_one_seed_decides_nothing():
    text = said(cell("a", [1.0]), cell("b", [1000.0]))
    assert "With a single seed, nothing tells these differences from noise" in text
    assert "Beyond noise" not in text
    assert "±" not in text


def test_other_seeds_are_not_paired():
    text = said(cell("a", [1.0, 2.0], seeds=[0, 1]), cell("b", [1.5, 2.5], seeds=[2, 3]))
    assert "Not paired, for want of a common seed: b." in text


@pytest.mark.parametrize(
    ("given", "final", "status"),
    [
        (None, [1.0, 2.0], "none"),
        (bound(50.0), [10.0, 12.0], "holds"),
        (bound(50.0, certified=False), [10.0, 12.0], "conditions fail"),
        (bound(100.0), [10.0, 12.0], "vacuous"),
        (bound(50.0), [60.0, 60.1], "exceeded"),
        (bound(50.0), [20.0, 90.0], "undecided"),
        (bound(50.0), [60.0], "undecided"),
        (bound(0.0), [1.0, 1.1], "exceeded"),
    ],
)
def test_bound_status(given, final, status):
    one = cell(final=final, bound=given)  # horizon 100
    assert bound_status(one) == status
    words = {
        "none": "Without a bound: auto",
        "holds": "Certified bounds hold; mean regret takes up so much of them: 22% (auto)",
        "conditions fail": "No bound is certified at this T for auto",
        "vacuous": "At T = 100 the bound is vacuous, no less than one loss per round, for auto (100)",
        "exceeded": "EXCEEDED by auto",
        "undecided": "Too few seeds to tell whether the bound holds for auto",
    }
    assert [key for key, sentence in words.items() if sentence in said(one)] == [status]


@pytest.mark.parametrize("horizon", [1, 10, 12_345, 10**6])
def test_a_single_arm_meets_its_bound_of_zero(horizon):
    """Its regret is zero up to the rounding of sums, which is neither a breach nor growth."""
    run = sl.simulate(
        sl.plan(sl.families.mab(1), horizon), sl.environments.bernoulli([0.35]), seeds=range(3), jobs=1
    )
    one = cell_of(run, id="", graph="mab:1", policy="auto", environment="coin")
    assert not one.regret.any()
    assert one.bound["value"] == 0
    assert bound_status(one) == "holds"
    text = said(one)
    assert "mean regret of 0 ± 0, up to the rounding of sums, over 3 seeds" in text
    assert "takes up so much of them: 0 of 0 (auto)" in text
    assert "linearly" not in text


def test_certificates_are_set_against_the_regret_they_bound():
    kept = cell("kept", LUCK, certificate=np.column_stack([LUCK, 2 * LUCK]))  # mean 60 at the end
    broken = cell("broken", LUCK + 90, certificate=np.column_stack([LUCK, LUCK]))
    vacuous = cell("vacuous", LUCK, certificate=np.full((5, 2), 100.0))  # one loss per round
    text = said(kept, broken, vacuous, cell("none", LUCK))
    assert "how much of it regret takes up: kept 60 (50%)." in text
    assert "The certificate is EXCEEDED in the mean by broken:" in text
    assert not certificate_exceeded(
        replace(broken, regret=broken.regret[:1], certificate=broken.certificate[:1])
    )
    assert "certify at T" not in said(vacuous, cell("none", LUCK))


def test_linear_growth_is_said():
    points = np.array([1, 3, 10, 30, 100])
    lines = cell(final=[1.0, 2.0], checkpoints=points, regret=np.outer([0.2, 0.3], points))
    roots = cell(final=[1.0, 2.0], checkpoints=points, regret=np.outer([0.2, 0.3], points**0.5))
    assert "still grows linearly at T for auto" in said(lines)
    assert "linearly" not in said(roots)


def test_a_curve_that_bends_has_no_exponent():
    points = np.array([100, 200, 500, 1_000, 2_000, 5_000, 10_000])
    flat = np.minimum(points, 1_000)
    bent = cell(final=[1.0, 2.0], horizon=10_000, checkpoints=points, regret=np.outer([0.2, 0.3], flat))
    assert "the regret of auto bends: no single exponent describes it" in said(bent)
    steeper = replace(bent, regret=np.outer([0.2, 0.3], points**0.5 + np.maximum(points - 1_000, 0)))
    assert "bends" in said(steeper)
    assert "still grows linearly at T for auto" in said(steeper)


def test_bounds_of_the_graph_are_put_plainly():
    comparison = sl.compare_bounds(sl.families.cycle(6), 10_000)
    text = said(cell(final=[1.0, 2.0]), comparison=comparison)
    assert f"({comparison.floor.name})" in text
    assert f"({comparison.best.name})" in text
    assert "beaten" not in text


def test_the_long_run_of_coins_is_named():
    played = [
        cell("auto", LUCK, environment=text, graph=spec) for spec in ("mab:3", "full:3") for text in COINS
    ]
    graphs = {spec: sl.families.parse(spec) for spec in ("mab:3", "full:3")}
    made = sections(results(*played, graphs=graphs))
    long_runs = made["mab:3"].long_runs
    assert set(long_runs) == set(COINS[:3])  # "bernoulli" alone may be any coins
    assert long_runs["gap"].value == long_runs["gap:0.2"].value
    assert long_runs["bernoulli:0.1,0.5,0.3"].value == pytest.approx(
        0.4 / 0.5108256 + 0.2 / 0.1536629, rel=1e-5
    )
    group = groups_of(results(*played))[1]
    (*_, last) = verdict(group, None, long_runs[group.environment])
    assert "c*·log T = " + number(long_runs["gap:0.2"].value * np.log(group.horizon)) in last
    assert "stays bounded" in verdict(group, None, made["full:3"].long_runs["gap"])[-1]


def test_a_bound_that_beats_the_plan_is_named():
    comparison = sl.compare_bounds(sl.families.cycle(6), 10_000)
    rival = replace(comparison.auto, name="rival", value=1.0)
    beaten = replace(comparison, rows=(rival, *comparison.rows))
    assert "is beaten by rival (1)" in said(cell(final=[1.0, 2.0]), comparison=beaten)


# -- one sentence: who wins, by how much, and whether the bounds hold ------------------------------------


def found(*cells):
    return finding(groups_of(results(*cells)))


def test_one_comparison_names_the_winner_the_margin_and_the_bound():
    text = found(
        cell("auto", final=[1.0, 2.0, 3.0], bound=bound(40.0)),
        cell("flat", final=[11.0, 12.0, 13.0]),
        cell("ftl", final=[50.0, 51.0, 52.0], bound=bound(60.0)),
    )
    assert text.startswith("auto has a mean regret of 2 ± ")
    assert (
        "after 100 rounds on cycle:4 against gap, the least of 3; flat, next, has 12 ± 2.5, 6 times as much"
        in text
    )
    assert "noise" not in text
    assert text.endswith("The certified bounds of auto and ftl hold.")


def test_what_is_noise_is_called_noise():
    text = found(cell("auto", final=[1.0, 2.0, 3.0]), cell("flat", final=[1.5, 1.9, 3.1]))
    assert "within noise" in text
    assert text.endswith("No certified bound is known for what was played.")
    assert "from too few seeds" in found(cell("auto", final=[1.0]), cell("flat", final=[2.0]))


def test_a_bound_that_is_exceeded_is_said_aloud():
    text = found(
        cell("auto", final=[50.0, 51.0, 52.0], bound=bound(10.0)), cell("flat", final=[1.0, 2.0, 3.0])
    )
    assert text.endswith("A certified bound is EXCEEDED by auto.")


def test_vacuous_and_undecided_bounds():
    assert "vacuous" in found(cell("auto", bound=bound(1000.0)))
    assert "undecided for auto" in found(cell("auto", final=[1.0, 2.0, 30.0], bound=bound(10.0)))


def test_regret_below_zero_is_compared_by_difference():
    text = found(cell("auto", final=[-2.0, -2.0, -2.1]), cell("flat", final=[1.0, 1.0, 1.0]))
    assert "flat, next, has 1 ± 0, 3.03 more" in text


def test_many_comparisons_are_counted():
    cells = [
        cell(name, final=np.array([1.0, 1.1, 1.2]) * factor * (1 + (name == "flat")), graph=f"mab:{k}")
        for k, factor in enumerate((1, 5, 25))
        for name in ("auto", "flat")
    ]
    cells.append(cell("flat", graph="alone"))
    text = found(*cells)
    assert "auto has the least mean regret in 3 of 4 comparisons, beyond noise in 3" in text


def test_wins_that_are_shared():
    text = found(cell("a"), cell("b", graph="mab:2"))
    assert text.startswith("a and b each have the least mean regret in 1 of 2 comparisons.")


def test_nothing():
    assert found() == "Nothing has been played to the end yet."
