"""Laws of the random environments: means, spread, coupling."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import sidelight as sl
from sidelight.engine.random import fill_hashed_units
from sidelight.environment.base import environment_key

env = sl.environments
ROUNDS = 4_000


def table(environment, seed=0, rounds=ROUNDS):
    arms = np.arange(environment.n_arms)
    return np.array([environment.losses(seed, t, arms) for t in range(rounds)])


# -- bounded ----------------------------------------------------------------------------------------------


def test_bounded_losses_are_uniform_around_their_means():
    """χ² of 20 equal cells for each arm; p-values of a fixed seed."""
    means, width = np.array([0.5, 0.3, 0.8]), np.array([0.5, 0.1, 0.2])
    losses = table(env.bounded(means, width), seed=5)
    for arm in range(3):
        low, high = means[arm] - width[arm], means[arm] + width[arm]
        assert low <= losses[:, arm].min()
        assert losses[:, arm].max() <= high
        counts = np.histogram(losses[:, arm], bins=20, range=(low, high))[0]
        assert counts.sum() == ROUNDS
        assert stats.chisquare(counts).pvalue > 1e-3


def test_bounded_arms_are_independent():
    losses = table(env.bounded([0.5, 0.5, 0.5]), seed=1) - 0.5
    correlation = 12 * losses.T @ losses / ROUNDS
    assert_allclose(np.diag(correlation), 1, atol=0.06)
    assert (np.abs(correlation[~np.eye(3, dtype=bool)]) <= 4.5 / np.sqrt(ROUNDS)).all()


def test_the_widest_bounded_arms_and_those_without_width():
    assert_array_equal(env.bounded([0.0, 0.25, 0.5, 0.9, 1.0]).width, [0, 0.25, 0.5, 1 - 0.9, 0])
    still = env.bounded([0.0, 0.3, 1.0], width=0.0)
    assert_array_equal(table(still, rounds=20), np.tile([0.0, 0.3, 1.0], (20, 1)))


@pytest.mark.parametrize(
    ("means", "width", "shown"),
    [
        ([0.5, 0.1], 0.2, r"arm 1 .*0\.1.*0\.2"),
        ([0.5, 0.9], [0.1, 0.2], "arm 1"),
        ([0.5], -0.1, r"-0\.1"),
        ([0.5], float("nan"), "nan"),
        ([0.5, 0.5], [0.1, 0.1, 0.1], r"\(3,\)"),
        ([0.5, 1.5], None, r"arm 1 .*1\.5"),
        ([0.5], "wide", "wide"),
    ],
)
def test_bounded_losses_that_leave_the_unit_interval(means, width, shown):
    with pytest.raises(sl.InvalidOption, match=shown):
        env.bounded(means, width)


# -- drifting ---------------------------------------------------------------------------------------------


def test_the_lead_passes_gradually():
    environment = env.drifting(4, period=10, arms=[2, 0], gap=0.4)
    lead = np.array([environment.row(t) for t in range(41)])
    assert_allclose(lead[:, 2], 0.1 + 0.04 * np.abs((np.arange(41) + 10) % 20 - 10), atol=1e-12)
    assert_allclose(lead[:, 0] + lead[:, 2], 0.6)
    assert_array_equal(lead[:, [1, 3]], 0.5)
    assert np.abs(np.diff(lead, axis=0)).max() <= 0.04 + 1e-12


def test_drifting_coins_have_the_means_of_their_round():
    """Losses minus means of 4 000 rounds: the sum is a martingale with known variance."""
    environment = env.drifting(3, period=100)
    losses = table(environment, seed=2)
    means = np.array([environment.row(t) for t in range(ROUNDS)])
    assert set(np.unique(losses)) == {0.0, 1.0}
    deviation = np.sqrt((means * (1 - means)).sum(axis=0))
    assert (np.abs((losses - means).sum(axis=0)) <= 4 * deviation).all()


@pytest.mark.parametrize("make", [env.drifting, env.switching])
def test_tables_that_would_not_fit_in_memory(make):
    with pytest.raises(sl.InvalidOption, match=r"1,000,000 arms.*range\(10\)"):
        make(1_000_000, period=10, arms=range(1_000))
    assert make(1_000_000, period=10).means.size <= 10**7
    assert make(1_000_000, period=10, arms=[0, 5]).n_arms == 1_000_000


# -- opposed ----------------------------------------------------------------------------------------------


def units(arms, seed, rounds):
    out = np.empty((rounds, len(arms)))
    for t in range(rounds):
        fill_hashed_units(environment_key(seed), t, np.array(arms), out[t])
    return out


def test_opposed_coins_keep_their_means():
    """Means of every arm, and P(both lose) = max(0, p + p' − 1) of neighbours, by χ² at a fixed seed."""
    means = np.array([0.7, 0.6, 0.2, 0.5])
    losses = table(env.opposed(means, [(0, 1), (2, 3)]), seed=3)
    for i, j, both in ((0, 1, 0.3), (2, 3, 0.0)):
        pair = losses[:, [i, j]]
        expected = {(1, 1): both, (1, 0): means[i] - both, (0, 1): means[j] - both}
        expected[0, 0] = 1 - sum(expected.values())
        seen = np.array([np.all(pair == key, axis=1).sum() for key in expected])
        odds = np.array(list(expected.values()))
        possible = odds > 1e-12
        assert seen[~possible].sum() == 0
        assert stats.chisquare(seen[possible], ROUNDS * odds[possible]).pvalue > 1e-3


def test_fair_opposed_coins_are_opposite():
    losses = table(env.opposed([0.5] * 4, sl.families.grid(2, 2)), rounds=300)
    assert_array_equal(losses[:, 0], 1 - losses[:, 1])
    assert_array_equal(losses[:, 0], losses[:, 3])
    assert_array_equal(losses[:, 0], (units([0], 0, 300) < 0.5)[:, 0])


def opposite(source, i, j):
    """Do the two flip with u and 1 − u of the same arm?"""
    return (source[i] == ~source[j]) if min(source[i], source[j]) < 0 else False


TWO_COLOURS = {
    "cycle": sl.families.cycle(8),
    "grid": sl.families.grid(3, 5),
    "bicliques": sl.families.bicliques([4, (1, 3)]),
    "hypercube": sl.families.hypercube(4),
    "star": sl.families.revealing_action(6),
    "loopy star": sl.families.loopy_star(5),
    "directed path": sl.FeedbackGraph.from_edges(4, [(3, 2), (2, 1), (1, 0)]),
    "pair": sl.families.full(2),
    "bandit": sl.families.mab(4),
    "one of everyone": sl.FeedbackGraph.from_edges(5, [(i, 2) for i in range(5)]),
}
ODD = {
    "odd cycle": sl.families.cycle(9),
    "cliques": sl.families.cliques([3, 5, 2]),
    "full": sl.families.full(7),
    "loopless clique": sl.families.loopless_clique(8),
    "corrupted": sl.families.corrupted_full(9, 4),
    "random": sl.families.random(30, 0.1, seed=2),
}


@pytest.mark.parametrize("graph", TWO_COLOURS.values(), ids=TWO_COLOURS)
def test_every_edge_is_opposed_where_two_colours_suffice(graph):
    source = env.opposed([0.5] * graph.n_arms, graph).source
    for i, j in graph.edges().tolist():
        assert i == j or opposite(source, i, j)


@pytest.mark.parametrize("graph", ODD.values(), ids=ODD)
def test_elsewhere_the_opposed_edges_are_a_maximal_matching(graph):
    source = env.opposed([0.5] * graph.n_arms, graph).source
    joined = graph.to_sparse().toarray().astype(bool)
    joined |= joined.T
    np.fill_diagonal(joined, False)
    partners = {
        arm: [b for b in range(graph.n_arms) if opposite(source, arm, b)] for arm in range(graph.n_arms)
    }
    for arm, others in partners.items():
        if len(others) == 1:
            assert joined[arm, others[0]]
        elif len(others) > 1:  # a connected part with two colours
            assert all(opposite(source, arm, other) for other in np.flatnonzero(joined[arm]))
    lonely = [arm for arm, others in partners.items() if not others]
    assert not joined[np.ix_(lonely, lonely)].any()
    assert len(lonely) < graph.n_arms


def test_opposed_large_graphs_without_writing_all_edges():
    source = env.opposed(np.full(100_000, 0.5), sl.families.full(100_000)).source
    assert (source < 0).sum() == 50_000
    assert np.unique(np.where(source < 0, ~source, source)).size == 50_000


@pytest.mark.parametrize(
    "pairs",
    [[(0, 3)], [(-1, 0)], [0, 1], [(0, 1, 2)], [(0.5, 1)], [("a", "b")], [(0, 1), (2,)], 7, None],
    ids=repr,
)
def test_neighbors_that_are_none(pairs):
    with pytest.raises(sl.InvalidOption, match="neighbors"):
        env.opposed([0.5, 0.5, 0.5], pairs)


def test_opposed_needs_a_mean_for_every_arm():
    with pytest.raises(sl.InvalidOption, match=r"3 means.*4 arms"):
        env.opposed([0.5] * 3, sl.families.cycle(4))
    with pytest.raises(sl.InvalidOption, match="source"):
        env.Opposed([[0.5, 0.5]], [0, 2])


def test_no_neighbors_at_all():
    assert_array_equal(env.opposed([0.2, 0.7], []).source, [0, 1])
