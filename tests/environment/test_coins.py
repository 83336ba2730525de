"""Coins: a function of seed, round and arm, with the means asked for and no memory."""

import numpy as np
import pytest
from loss_tables import table
from numpy.testing import assert_allclose, assert_array_equal

import sidelight as sl


def test_losses_are_coins_with_the_means_asked_for():
    means = np.array([0.0, 0.1, 0.5, 0.9, 1.0])
    losses = table(sl.environments.bernoulli(means), seed=3, rounds=4_000)
    assert set(np.unique(losses)) == {0.0, 1.0}
    deviation = np.sqrt(means * (1 - means) / len(losses))
    assert (np.abs(losses.mean(axis=0) - means) <= 4 * deviation).all()  # exact for means 0 and 1


def test_rounds_arms_and_seeds_are_independent():
    """All pairwise correlations of 4 000 fair coins stay within 4.5 standard deviations of zero."""
    environment = sl.environments.bernoulli([0.5] * 4)
    one, other = (table(environment, seed, rounds=4_001) - 0.5 for seed in (0, 1))
    columns = np.column_stack([one[1:], other[1:], one[:-1]])  # arms, another seed, one round earlier
    correlation = 4 * columns.T @ columns / len(columns)
    off_diagonal = correlation[~np.eye(len(correlation), dtype=bool)]
    assert (np.abs(off_diagonal) <= 4.5 / np.sqrt(len(columns))).all()


def test_losses_are_independent_of_the_player_with_the_same_seed():
    """Seed s gives the player and the losses streams of their own: neither can be guessed from the other."""
    plan = sl.plan(sl.families.mab(2), horizon=10)
    environment = sl.environments.bernoulli([0.5, 0.5])
    seeds = range(1_000)
    arms = np.array([plan.policy(seed=seed).ask() for seed in seeds])
    first = np.array([environment.losses(seed, 0, [0])[0] for seed in seeds])
    correlation = 4 * np.mean((arms - 0.5) * (first - 0.5))
    assert abs(correlation) <= 4 / np.sqrt(len(seeds))


def test_a_loss_is_a_function_of_seed_round_and_arm():
    environment = sl.environments.bernoulli([0.3, 0.6, 0.5])
    forward = table(environment, seed=9, rounds=200)
    again = sl.environments.bernoulli([0.3, 0.6, 0.5])
    backward = [again.losses(9, t, [2, 1, 0]) for t in reversed(range(200))]
    assert_array_equal(np.array(backward)[::-1, ::-1], forward)
    assert_array_equal([again.losses(9, t, [1])[0] for t in range(200)], forward[:, 1])
    assert not np.array_equal(table(environment, seed=10, rounds=200), forward)


def test_far_rounds_and_large_seeds():
    environment = sl.environments.bernoulli([0.5, 0.5])
    far = [environment.losses(2**63 - 1, 2**40 + t, [1])[0] for t in range(400)]
    assert 140 <= sum(far) <= 260


def test_comparator_and_costs():
    environment = sl.environments.bernoulli([0.5, 0.2, 0.9, 0.2])
    assert environment.best_arm(horizon=100) == 1  # the first of least mean
    assert [environment.costs(0, 5, arm) for arm in range(4)] == [0.5, 0.2, 0.9, 0.2]
    assert_allclose(environment.best_totals(np.array([1, 10, 100]), seed=0), [0.2, 2, 20])


def test_means_are_fixed():
    environment = sl.environments.bernoulli([0.5, 0.2])
    with pytest.raises(ValueError, match="read-only"):
        environment.means[0, 0] = 1.0


def test_means_are_copied():
    means = np.array([0.5, 0.2])
    environment = sl.environments.bernoulli(means)
    means[0] = 0.0
    assert environment.means.tolist() == [[0.5, 0.2]]


@pytest.mark.parametrize(
    ("means", "shown"),
    [
        ([0.5, 1.1], r"arm 1 .*1\.1"),
        ([-0.1], r"arm 0 .*-0\.1"),
        ([0.5, float("nan")], "arm 1 .*nan"),
        ([0.1, 0.2, float("inf")], "arm 2 .*inf"),
        ([], r"\(0,\)"),
        (0.5, r"\(\)"),
        ([[0.5], [0.2]], r"\(2, 1\)"),
    ],
)
def test_means_that_are_none(means, shown):
    with pytest.raises(sl.InvalidOption, match=shown):
        sl.environments.bernoulli(means)


@pytest.mark.parametrize(
    "means", [["low", "high"], [None, 0.5], [0.5, [0.5]], "0.5", None, {}, [0.5j]], ids=repr
)
def test_means_that_are_not_numbers(means):
    with pytest.raises(sl.InvalidOption):
        sl.environments.bernoulli(means)


# -- coins that change ------------------------------------------------------------------------------------


def test_gap():
    assert sl.environments.gap(4, best=2, gap=0.3, others=0.6).means[0] == pytest.approx([0.6, 0.6, 0.3, 0.6])
    for best in (-1, 4):
        with pytest.raises(sl.InvalidOption, match=str(best)):
            sl.environments.gap(4, best=best)
    with pytest.raises(sl.InvalidOption, match=r"gap=0\.75 below 0\.5"):
        sl.environments.gap(4, gap=0.75, others=0.5)


def test_switching_goes_through_its_arms_in_turn():
    environment = sl.environments.switching(5, period=3, arms=[4, 1], gap=0.2)
    leaders = [int(np.argmin(environment.row(t))) for t in range(12)]
    assert leaders == [4, 4, 4, 1, 1, 1] * 2
    rounds = np.arange(1, 20)
    by_hand = np.cumsum([[environment.costs(0, t, arm) for arm in range(5)] for t in range(19)], axis=0)
    assert_allclose(environment.totals(rounds), by_hand)
    assert_allclose(environment.best_totals(rounds, seed=0), by_hand.min(axis=1))
    assert environment.best_arm(horizon=10) == 4
    with pytest.raises(sl.InvalidOption, match="period"):
        sl.environments.switching(5, period=0)
    for arms in ([], [5], [-1]):
        with pytest.raises(sl.InvalidOption):
            sl.environments.switching(5, period=3, arms=arms)


@pytest.mark.parametrize("spec", ["switching", "drifting", "switching:70,0.4"])
@pytest.mark.parametrize("n", [2, 3, 6, 12, 100])
def test_by_default_whoever_does_not_adapt_pays(spec, n):
    """Exact expectations: one arm is best, every other fixed arm (so any mixture) pays a share of T."""
    horizon = 2_100
    environment = sl.environments.parse(spec, sl.families.mab(n), horizon)
    gap = 0.4 if "0.4" in spec else 0.2
    totals = environment.totals(np.array([horizon, 2 * horizon]))
    assert (totals.argmin(axis=1) == n // 2).all()
    regret = np.delete(totals - totals[:, [n // 2]], n // 2, axis=1)
    assert (regret[0] >= 0.1 * gap * horizon).all()  # less than for switching where the lead passes slowly
    assert (regret[1] >= 0.2 * gap * horizon).all()
    leaders = {int(np.argmin(environment.row(t))) for t in range(horizon)}
    assert len(leaders) >= min(n, 4)  # and the best arm does change
    assert np.argmin(environment.row(0)) != n // 2
