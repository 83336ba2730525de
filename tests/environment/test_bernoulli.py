"""Coins: a function of key, round and arm, with the mean asked for and no memory."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import sidelight as sl
from sidelight.experiment import play


def table(environment, key, rounds):
    n = environment.means.size
    return np.array([[environment.loss(key, t, arm) for arm in range(n)] for t in range(rounds)])


def test_losses_are_coins_with_the_means_asked_for():
    means = np.array([0.0, 0.1, 0.5, 0.9, 1.0])
    losses = table(sl.environments.bernoulli(means), key=3, rounds=4_000)
    assert set(np.unique(losses)) == {0.0, 1.0}
    deviation = np.sqrt(means * (1 - means) / len(losses))
    assert (np.abs(losses.mean(axis=0) - means) <= 4 * deviation).all()  # exact for means 0 and 1


def test_rounds_arms_and_keys_are_independent():
    """All pairwise correlations of 4 000 fair coins stay within 4.5 standard deviations of zero."""
    environment = sl.environments.bernoulli([0.5] * 4)
    one, other = (table(environment, key, rounds=4_001) - 0.5 for key in (0, 1))
    columns = np.column_stack([one[1:], other[1:], one[:-1]])  # arms, another key, one round earlier
    correlation = 4 * columns.T @ columns / len(columns)
    off_diagonal = correlation[~np.eye(len(correlation), dtype=bool)]
    assert (np.abs(off_diagonal) <= 4.5 / np.sqrt(len(columns))).all()


def test_a_loss_is_a_function_of_key_round_and_arm():
    environment = sl.environments.bernoulli([0.3, 0.6, 0.5])
    forward = table(environment, key=9, rounds=200)
    again = sl.environments.bernoulli([0.3, 0.6, 0.5])
    backward = [[again.loss(9, t, arm) for arm in (2, 1, 0)] for t in reversed(range(200))]
    assert_array_equal(np.array(backward)[::-1, ::-1], forward)
    assert not np.array_equal(table(environment, key=10, rounds=200), forward)


def test_far_rounds_and_large_keys():
    environment = sl.environments.bernoulli([0.5, 0.5])
    far = [environment.loss(2**64 - 1, 2**40 + t, 1) for t in range(400)]
    assert 140 <= sum(far) <= 260


def test_comparator_and_gaps():
    environment = sl.environments.bernoulli([0.5, 0.2, 0.9, 0.2])
    assert environment.best_arm == 1  # the first of least mean
    assert [environment.gap(arm) for arm in range(4)] == pytest.approx([0.3, 0.0, 0.7, 0.0])
    assert all(environment.gap(arm) >= 0 for arm in range(4))


def test_means_are_copied_and_fixed():
    means = np.array([0.5, 0.2])
    environment = sl.environments.bernoulli(means)
    means[0] = 0.0
    assert environment.means.tolist() == [0.5, 0.2]
    with pytest.raises(ValueError, match="read-only"):
        environment.means[0] = 1.0


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


def test_play_counts_and_regret():
    """Cumulative pseudo-regret is the sum of gaps of the arms played; the losses told are the environment's."""
    g, means = sl.families.cliques([3, 2]), [0.5, 0.4, 0.9, 0.1, 0.6]
    environment = sl.environments.bernoulli(means)
    plan, seen = sl.plan(g, horizon=100), []
    run = play(plan.policy(seed=2), environment, 100, key=5, on_round=lambda: seen.append(1))
    assert len(seen) == len(run.regret) == run.plays.sum() == 100
    assert (np.diff(run.regret) >= 0).all()
    assert run.regret[-1] == pytest.approx(run.plays @ (np.array(means) - 0.1))
    policy, arms = plan.policy(seed=2), []
    for t in range(100):
        arms.append(policy.ask())
        policy.tell({j: environment.loss(5, t, j) for j in g.out_neighbors(arms[-1]).tolist()})
    assert_array_equal(np.bincount(arms, minlength=5), run.plays)
    assert_array_equal(np.cumsum([environment.gap(arm) for arm in arms]), run.regret)


def test_policies_with_the_same_key_meet_the_same_losses():
    g, environment = sl.families.full(4), sl.environments.bernoulli([0.3, 0.5, 0.5, 0.7])
    plan = sl.plan(g, horizon=300)
    runs = [play(plan.policy(seed=seed), environment, 300, key=1) for seed in (1, 1, 2)]
    assert_array_equal(runs[0].plays, runs[1].plays)
    assert not np.array_equal(runs[0].plays, runs[2].plays)
