"""The cost of telling the best arm apart: closed forms, a second way of solving the program, and its certificate."""

import numpy as np
import pytest
from baseline_twins import cheapest_plays, coins, matrix, pair

import sidelight as sl
from sidelight import families
from sidelight.analysis import long_run
from sidelight.analysis.long_run import kl

MEANS = np.array([0.5, 0.3, 0.42, 0.9, 0.61])
LOW = 0.3
OTHERS = np.array([0.5, 0.42, 0.9, 0.61])


def test_on_a_bandit_every_worse_arm_is_told_from_the_best():
    found = long_run(families.mab(5), MEANS)
    assert found.value == pytest.approx(((OTHERS - LOW) / coins(OTHERS, LOW)).sum(), rel=1e-9)
    assert found.plays[1] == 0
    # kl ≥ 2Δ²: less than Σ 2σ²/Δ with the σ² = 1/4 of all losses in [0, 1], and as much for small gaps around ½
    gaps = np.array([1.0, 1.5, 2.0, 0.0]) * 1e-3
    near = long_run(families.mab(4), 0.5 + gaps).value
    assert found.value < (0.5 / (OTHERS - LOW)).sum()
    assert near == pytest.approx((0.5 / gaps[:3]).sum(), rel=1e-4)


def test_where_the_best_arm_reveals_all_nothing_is_paid():
    """Regret stays bounded there, so log T is not its scale."""
    for graph, means in [(families.full(5), MEANS), (families.revealing_action(5), np.roll(MEANS, -1))]:
        assert long_run(graph, means) == (0.0, 0.0, pytest.approx(np.zeros(5)))
    assert long_run(families.mab(3), [0.4, 0.4, 0.4]).value == 0


def test_a_revealing_action_is_played_until_both_coins_are_told_apart():
    """w·min_x(kl(μ_i, x) + kl(μ*, x)) = 1 at their mean: twice what either coin alone would need, for small gaps."""
    means = np.array([0.8, 0.3, 0.42, 0.9, 0.61])
    middle = (0.42 + 0.3) / 2
    plays = 1 / (coins(0.42, middle) + coins(0.3, middle))
    found = long_run(families.revealing_action(5), means)
    assert found.value == pytest.approx(0.5 * plays, rel=1e-8)
    assert np.flatnonzero(found.plays).tolist() == [0]
    near = long_run(families.revealing_action(3), [0.6, 0.5, 0.501]).value
    assert near == pytest.approx(0.1 * 4 * 0.25 / 0.001**2, rel=1e-4)


def test_what_the_best_arm_reveals_costs_nothing():
    """In a loop-less clique only the best arm itself must be looked at, by the next best; that one is seen."""
    found = long_run(families.loopless_clique(5), MEANS)
    assert found.value == pytest.approx(0.12 / coins(LOW, 0.42), rel=1e-9)


@pytest.mark.parametrize(
    ("means", "value"),
    [
        ([0.0, 0.5, 0.7], 0.0),  # no coin is below 0
        ([0.3, 1.0, 0.3], 0.7 / np.log(1 / 0.3)),  # two best arms, each of which shows itself
    ],
)
def test_coins_at_the_ends(means, value):
    assert long_run(families.mab(3), means).value == pytest.approx(value, rel=1e-9)


def test_a_best_arm_that_is_not_seen_is_told_apart_even_at_zero():
    """Arm 1 reveals both: w·kl(0, ½) = 1 is of the best alone, and both may differ at once."""
    found = long_run(sl.FeedbackGraph.from_edges(2, [(1, 0), (1, 1)]), [0.0, 0.5])
    assert found.value == pytest.approx(0.5 / (coins(0.5, 0.25) + coins(0.0, 0.25)), rel=1e-7)


@pytest.mark.parametrize(
    "spec", ["mab:4", "cycle:5", "cycle:6:directed", "revealing_action:4", "corrupted_mab:6,2", "grid:2,3"]
)
@pytest.mark.parametrize("seed", range(3))
def test_it_is_what_the_program_for_every_number_of_looks_at_the_best_finds(spec, seed):
    graph = families.parse(spec)
    means = np.random.default_rng(seed).uniform(0.1, 0.9, graph.n_arms)
    found, A = long_run(graph, means), matrix(graph)
    expected = cheapest_plays(A, means) @ (means - means.min())
    assert found.lower <= found.value <= (1 + 2e-9) * found.lower
    assert found.value == pytest.approx(expected, rel=1e-6, abs=1e-12)
    best = int(means.argmin())
    seen = np.where(A[best] > 0, np.inf, found.plays @ A)
    for i in set(range(graph.n_arms)) - {best}:
        both = [min(seen[j], 1e7) for j in (i, best)]
        assert pair(means[i], both[0], means[best], both[1]) >= 1 - 1e-4
    assert found.at(100) == pytest.approx(found.value * np.log(100))


def test_arms_that_are_all_but_tied_have_a_bracket():
    means = 0.5 - np.arange(16) * 1e-6
    found = long_run(families.hypercube(4), means)
    assert 0 < found.lower <= found.value < 1.1 * found.lower


def test_kl_of_coins():
    assert kl([0.5, 0.0, 1.0], [0.3, 0.5, 0.5]).tolist() == pytest.approx(
        [coins(0.5, 0.3), np.log(2), np.log(2)]
    )
    assert kl(0.5, 0.0) == np.inf


def test_refusals():
    with pytest.raises(sl.InvalidOption, match="3 numbers"):
        long_run(families.mab(3), [0.1, 0.2])
    with pytest.raises(sl.InvalidOption, match=r"1\.2"):
        long_run(families.mab(2), [0.1, 1.2])
    with pytest.raises(sl.errors.UnobservableGraph, match="no arm reveals 2"):
        long_run(sl.FeedbackGraph.from_edges(3, [(0, 1), (1, 0)]), [0.1, 0.2, 0.3])
