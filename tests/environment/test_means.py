"""Losses with known means: coins, uniform ones, means that drift, neighbours that are opposed."""

import numpy as np
import pytest
from loss_tables import table
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import sidelight as sl
from sidelight.engine.random import fill_hashed_units
from sidelight.environment.base import environment_key

env = sl.environments
ROUNDS = 4_000


def test_losses_are_coins_with_the_means_asked_for():
    means = np.array([0.0, 0.1, 0.5, 0.9, 1.0])
    losses = table(env.bernoulli(means), seed=3, rounds=4_000)
    assert set(np.unique(losses)) == {0.0, 1.0}
    deviation = np.sqrt(means * (1 - means) / len(losses))
    assert (np.abs(losses.mean(axis=0) - means) <= 4 * deviation).all()  # exact for means 0 and 1


def test_rounds_arms_and_seeds_are_independent():
    """All pairwise correlations of 4 000 fair coins stay within 4.5 standard deviations of zero."""
    environment = env.bernoulli([0.5] * 4)
    one, other = (table(environment, seed, rounds=4_001) - 0.5 for seed in (0, 1))
    columns = np.column_stack([one[1:], other[1:], one[:-1]])  # arms, another seed, one round earlier
    correlation = 4 * columns.T @ columns / len(columns)
    off_diagonal = correlation[~np.eye(len(correlation), dtype=bool)]
    assert (np.abs(off_diagonal) <= 4.5 / np.sqrt(len(columns))).all()


def test_losses_are_independent_of_the_player_with_the_same_seed():
    """Seed s gives the player and the losses streams of their own: neither can be guessed from the other."""
    plan = sl.plan(sl.families.mab(2), horizon=10)
    environment = env.bernoulli([0.5, 0.5])
    seeds = range(1_000)
    arms = np.array([plan.policy(seed=seed).ask() for seed in seeds])
    first = np.array([environment.losses(seed, 0, [0])[0] for seed in seeds])
    correlation = 4 * np.mean((arms - 0.5) * (first - 0.5))
    assert abs(correlation) <= 4 / np.sqrt(len(seeds))


def test_a_loss_is_a_function_of_seed_round_and_arm():
    environment = env.bernoulli([0.3, 0.6, 0.5])
    forward = table(environment, seed=9, rounds=200)
    again = env.bernoulli([0.3, 0.6, 0.5])
    backward = [again.losses(9, t, [2, 1, 0]) for t in reversed(range(200))]
    assert_array_equal(np.array(backward)[::-1, ::-1], forward)
    assert_array_equal([again.losses(9, t, [1])[0] for t in range(200)], forward[:, 1])
    assert not np.array_equal(table(environment, seed=10, rounds=200), forward)


def test_far_rounds_and_large_seeds():
    environment = env.bernoulli([0.5, 0.5])
    far = [environment.losses(2**63 - 1, 2**40 + t, [1])[0] for t in range(400)]
    assert 140 <= sum(far) <= 260


def test_comparator_and_costs():
    environment = env.bernoulli([0.5, 0.2, 0.9, 0.2])
    assert environment.best_arm(horizon=100) == 1  # the first of least mean
    assert [environment.costs(0, 5, arm) for arm in range(4)] == [0.5, 0.2, 0.9, 0.2]
    assert_allclose(environment.best_totals(np.array([1, 10, 100]), seed=0), [0.2, 2, 20])


def test_means_are_fixed():
    environment = env.bernoulli([0.5, 0.2])
    with pytest.raises(ValueError, match="read-only"):
        environment.means[0, 0] = 1.0


def test_means_are_copied():
    means = np.array([0.5, 0.2])
    environment = env.bernoulli(means)
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
        env.bernoulli(means)


@pytest.mark.parametrize(
    "means", [["low", "high"], [None, 0.5], [0.5, [0.5]], "0.5", None, {}, [0.5j]], ids=repr
)
def test_means_that_are_not_numbers(means):
    with pytest.raises(sl.InvalidOption):
        env.bernoulli(means)


# -- coins that change ------------------------------------------------------------------------------------


def test_gap():
    assert env.gap(4, best=2, gap=0.3, others=0.6).means[0] == pytest.approx([0.6, 0.6, 0.3, 0.6])
    with pytest.raises(sl.InvalidOption, match=r"gap=0\.75 below 0\.5"):
        env.gap(4, gap=0.75, others=0.5)


def test_switching_goes_through_its_arms_in_turn():
    environment = env.switching(5, period=3, arms=[4, 1], gap=0.2)
    leaders = [int(np.argmin(environment.row(t))) for t in range(12)]
    assert leaders == [4, 4, 4, 1, 1, 1] * 2
    rounds = np.arange(1, 20)
    by_hand = np.cumsum([[environment.costs(0, t, arm) for arm in range(5)] for t in range(19)], axis=0)
    assert_allclose(environment.totals(rounds), by_hand)
    assert_allclose(environment.best_totals(rounds, seed=0), by_hand.min(axis=1))
    assert environment.best_arm(horizon=10) == 4


@pytest.mark.parametrize("spec", ["switching", "drifting", "switching:70,0.4"])
@pytest.mark.parametrize("n", [2, 3, 6, 12, 100])
def test_by_default_whoever_does_not_adapt_pays(spec, n):
    """Exact expectations: one arm is best, every other fixed arm (so any mixture) pays a share of T."""
    horizon = 2_100
    environment = env.parse(spec, sl.families.mab(n), horizon)
    gap = 0.4 if "0.4" in spec else 0.2
    totals = environment.totals(np.array([horizon, 2 * horizon]))
    assert (totals.argmin(axis=1) == n // 2).all()
    regret = np.delete(totals - totals[:, [n // 2]], n // 2, axis=1)
    assert (regret[0] >= 0.1 * gap * horizon).all()  # less than for switching where the lead passes slowly
    assert (regret[1] >= 0.2 * gap * horizon).all()
    leaders = {int(np.argmin(environment.row(t))) for t in range(horizon)}
    assert len(leaders) >= min(n, 4)  # and the best arm does change
    assert np.argmin(environment.row(0)) != n // 2


# -- uniform around their means --------------------------------------------------------------------------


def test_bounded_losses_are_uniform_around_their_means():
    """χ² of 20 equal cells for each arm; p-values of a fixed seed."""
    means, width = np.array([0.5, 0.3, 0.8]), np.array([0.5, 0.1, 0.2])
    losses = table(env.bounded(means, width), seed=5, rounds=ROUNDS)
    for arm in range(3):
        low, high = means[arm] - width[arm], means[arm] + width[arm]
        assert low <= losses[:, arm].min()
        assert losses[:, arm].max() <= high
        counts = np.histogram(losses[:, arm], bins=20, range=(low, high))[0]
        assert counts.sum() == ROUNDS
        assert stats.chisquare(counts).pvalue > 1e-3


def test_bounded_arms_are_independent():
    losses = table(env.bounded([0.5, 0.5, 0.5]), seed=1, rounds=ROUNDS) - 0.5
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


# -- means that move in straight lines -------------------------------------------------------------------


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
    losses = table(environment, seed=2, rounds=ROUNDS)
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


# -- neighbours that are negatively correlated -----------------------------------------------------------


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
