"""Coins of neighbours that are negatively correlated."""

import numpy as np
import pytest
from loss_tables import table
from numpy.testing import assert_array_equal
from scipy import stats

import sidelight as sl
from sidelight.engine.random import fill_hashed_units
from sidelight.environment.base import environment_key

env = sl.environments
ROUNDS = 4_000


def units(arms, seed, rounds):
    out = np.empty((rounds, len(arms)))
    for t in range(rounds):
        fill_hashed_units(environment_key(seed), t, np.array(arms), out[t])
    return out


def test_opposed_coins_keep_their_means():
    """Means of every arm, and P(both lose) = max(0, p + p' − 1) of neighbours, by χ² at a fixed seed."""
    means = np.array([0.7, 0.6, 0.2, 0.5])
    losses = table(env.opposed(means, [(0, 1), (2, 3)]), seed=3, rounds=ROUNDS)
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
    "cycle": lambda: sl.families.cycle(8),
    "grid": lambda: sl.families.grid(3, 5),
    "bicliques": lambda: sl.families.bicliques([4, (1, 3)]),
    "hypercube": lambda: sl.families.hypercube(4),
    "star": lambda: sl.families.revealing_action(6),
    "loopy star": lambda: sl.families.loopy_star(5),
    "directed path": lambda: sl.FeedbackGraph.from_edges(4, [(3, 2), (2, 1), (1, 0)]),
    "pair": lambda: sl.families.full(2),
    "bandit": lambda: sl.families.mab(4),
    "one of everyone": lambda: sl.FeedbackGraph.from_edges(5, [(i, 2) for i in range(5)]),
}
ODD = {
    "odd cycle": lambda: sl.families.cycle(9),
    "cliques": lambda: sl.families.cliques([3, 5, 2]),
    "full": lambda: sl.families.full(7),
    "loopless clique": lambda: sl.families.loopless_clique(8),
    "corrupted": lambda: sl.families.corrupted_full(9, 4),
    "random": lambda: sl.families.random(30, 0.1, seed=2),
}


@pytest.mark.parametrize("family", TWO_COLOURS.values(), ids=TWO_COLOURS)
def test_every_edge_is_opposed_where_two_colours_suffice(family):
    graph = family()
    source = env.opposed([0.5] * graph.n_arms, graph).source
    for i, j in graph.edges().tolist():
        assert i == j or opposite(source, i, j)


@pytest.mark.parametrize("family", ODD.values(), ids=ODD)
def test_elsewhere_the_opposed_edges_are_a_maximal_matching(family):
    graph = family()
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
