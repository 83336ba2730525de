"""Hard instances have the gap that their proof asks for, and hide every candidate."""

from math import log, sqrt

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import sidelight as sl
from sidelight.planning.bounds import lower

env = sl.environments
HORIZONS = (200, 10_000, 10**7)


def gap_of(environment):
    return 0.5 - environment.means.min()


@pytest.mark.parametrize("horizon", HORIZONS)
@pytest.mark.parametrize("n", [2, 5, 40])
def test_the_gap_of_a_bandit_attains_its_lower_bound(n, horizon):
    """At this ε the inequality R ≥ εT(1 − 1/a − ε√(½κ(T/a + 2R))) is an equality, and no ε ≤ ¼ gives more."""
    regret = lower.independent_set(n, horizon)

    def forced(gap):
        return gap * horizon * (1 - 1 / n - gap * sqrt(lower.KL_ONE / 2 * (horizon / n + 2 * regret)))

    gap = gap_of(env.hard_bandit(n, horizon))
    assert forced(gap) == pytest.approx(regret, rel=1e-9)
    for other in np.linspace(0.001, 0.25, 50):
        assert forced(other) <= forced(gap) * (1 + 1e-12)


def test_the_gap_of_a_long_bandit_is_of_order_root_n_over_t():
    n, horizon = 10, 10**12
    expected = 0.9 * sqrt(n / (2 * lower.KL_ONE * horizon))
    assert gap_of(env.hard_bandit(n, horizon)) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("horizon", HORIZONS)
def test_the_gap_of_a_packing_attains_its_lower_bound(horizon):
    graph = sl.families.cycle(24)
    found = sl.packing_independent_set(graph, t=1)
    size, t = found.arms.size, found.t
    assert (size - 1) / t > log(size)
    regret = lower.packing_set(size, t, horizon)
    gap = gap_of(env.hard_packing(24, found, horizon))
    forced = gap * horizon * (1 - 1 / size - gap * sqrt(lower.KL_ONE * t * regret / size))
    assert gap == 0.25 or gap == pytest.approx(((size - 1) / (2 * lower.KL_ONE * t * horizon)) ** (1 / 3))
    assert forced == pytest.approx(regret, rel=1e-9)


def test_a_packing_with_many_members_per_arm_uses_the_logarithm():
    found = sl.packing_independent_set(sl.families.revealing_action(50))
    assert found.t == found.arms.size == 49
    gap = gap_of(env.hard_packing(50, found, 10**6))
    assert gap == pytest.approx((log(49) / (2 * lower.KL_ONE * 10**6)) ** (1 / 3))


@pytest.mark.parametrize("horizon", HORIZONS)
def test_the_gap_of_a_weak_arm_attains_its_lower_bound(horizon):
    regret = lower.weak_arm(horizon)
    means = env.hard_weak_arm(sl.families.cycle(6), horizon).means[0]
    gap = np.abs(means[(means != 0.5) & (means != 1.0)] - 0.5)[0]
    assert gap * horizon * (1 - gap * sqrt(lower.KL_TWO * regret)) == pytest.approx(2 * regret, rel=1e-9)


def test_the_gap_of_experts():
    """Few arms: the maximiser of Pinsker's bound. Many: a third of what there is to know is told."""
    few, many = env.hard_experts(3, 10**6), env.hard_experts(16, 10**6)
    assert gap_of(few) == pytest.approx(2 / 3 / (2 * sqrt(lower.KL_ONE / 2 * 10**6)))
    assert gap_of(many) == pytest.approx(sqrt(log(16) / (3 * lower.KL_ONE * 10**6)))
    assert np.sort(many.means[0])[1:].tolist() == [0.5] * 15
    assert gap_of(env.hard_experts(3, 1)) == 0.25


def test_the_blind_rival_of_a_weak_arm_does_not_reveal_it():
    graph = sl.families.corrupted_full(9, 4)
    arms, signs = set(), set()
    for seed in range(60):
        means = env.hard_weak_arm(graph, 10**4, seed).means[0]
        (rival,) = np.flatnonzero(means == 0.5)
        (weak,) = np.flatnonzero((means != 0.5) & (means != 1.0))
        assert not graph.reveals(int(rival), int(weak))
        assert not graph.has_loop[weak]
        arms.add(int(weak))
        signs.add(bool(means[weak] > 0.5))
    assert arms == set(sl.observability(graph).weak.tolist())
    assert signs == {False, True}


def test_every_member_is_hidden_for_some_seed():
    hidden = [env.hard_bandit(8, 1000, seed, arms=[1, 4, 6]).best_arm(1000) for seed in range(300)]
    values, counts = np.unique(hidden, return_counts=True)
    assert values.tolist() == [1, 4, 6]
    assert (np.abs(counts - 100) <= 4 * sqrt(300 * 2 / 9)).all()
    assert_array_equal(
        hidden, [env.hard_bandit(8, 1000, seed, arms=[1, 4, 6]).best_arm(9) for seed in range(300)]
    )


@pytest.mark.parametrize(
    ("graph", "name"),
    [
        (sl.families.mab(10), "hard_bandit"),
        (sl.families.full(10), "hard_experts"),
        (sl.families.loopless_clique(10), "hard_experts"),
        (sl.families.cliques([4] * 8), "hard_packing"),
        (sl.families.bicliques([4] * 8), "hard_packing"),
        (sl.families.cycle(10), "hard_packing"),
        (sl.families.corrupted_full(10, 1), "hard_weak_arm"),
    ],
    ids=repr,
)
def test_the_construction_suits_the_graph(graph, name):
    environment = env.hard(graph, 100_000, seed=1)
    assert environment.name == name
    assert environment.n_arms == graph.n_arms


def test_cliques_hide_one_arm_each():
    graph = sl.families.cliques([3, 4, 5, 6])
    means = env.hard(graph, 10**6).means[0]
    members = np.flatnonzero(means < 1)
    assert np.searchsorted([3, 7, 12, 18], members, side="right").tolist() == [0, 1, 2, 3]


def test_gaps_of_ones_own():
    found = sl.packing_independent_set(sl.families.cycle(10))
    for environment in (
        env.hard_experts(4, 100, gap=0.07),
        env.hard_bandit(4, 100, gap=0.07),
        env.hard_packing(10, found, 100, gap=0.07),
        env.hard_weak_arm(sl.families.cycle(10), 100, seed=1, gap=0.07),
    ):
        assert pytest.approx(np.abs(environment.means[(environment.means < 1)] - 0.5).max()) == 0.07


@pytest.mark.parametrize(
    "impossible",
    [
        lambda: env.hard(sl.families.mab(1), 100),
        lambda: env.hard(sl.families.mab(3), 0),
        lambda: env.hard(sl.families.mab(3), 100, seed=-1),
        lambda: env.hard_bandit(5, 100, arms=[2]),
        lambda: env.hard_bandit(5, 100, arms=[2, 2]),
        lambda: env.hard_bandit(5, 100, arms=[2, 5]),
        lambda: env.hard_experts(1, 100),
        lambda: env.hard_weak_arm(sl.families.mab(3), 100),
        lambda: env.hard_packing(4, sl.packing_independent_set(sl.families.mab(4)), 100),
    ],
)
def test_what_cannot_be_hidden(impossible):
    with pytest.raises(sl.SidelightError, match=r"at least|got|no weak arm"):
        impossible()


def test_packing_hides_one_arm_of_the_set():
    g = sl.families.cliques([3, 3])
    found = sl.packing_independent_set(g)
    environment = sl.environments.packing(g.n_arms, found, hidden=1, gap=0.1)
    means = environment.means[0]
    assert means[found.arms[1]] == pytest.approx(0.4)
    assert means[found.arms[0]] == pytest.approx(0.5)
    others = [arm for arm in range(g.n_arms) if arm not in found.arms]
    assert_array_equal(means[others], 1)
    for hidden in (-1, len(found.arms)):
        with pytest.raises(sl.InvalidOption, match=str(hidden)):
            sl.environments.packing(g.n_arms, found, hidden=hidden)
    with pytest.raises(sl.InvalidOption):
        sl.environments.packing(g.n_arms, [])
