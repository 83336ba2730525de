"""Graphs that depend on the choice: found where they are shown afterwards, refused where they leave arms out."""

import pickle
import warnings
from itertools import product

import numpy as np
import pytest

import sidelight as sl
from sidelight import families
from sidelight.errors import DependentGraphs, InfeasibleRequest
from sidelight.graph import FeedbackGraph
from sidelight.policy.dependence import ALARM, bet, first_wealth

N = 10
PRICES = (np.arange(N) + 1) / N
SALE = FeedbackGraph.from_adjacency(np.tri(N, dtype=bool))  # lower prices would have sold as well
NO_SALE = FeedbackGraph.from_adjacency(np.tri(N, dtype=bool).T)


def priced(policy, limits, graph_of):
    """Sell at posted prices to buyers with these limits; the round of the warning, None without."""
    for t, limit in enumerate(limits):
        d = policy.decide()
        graph = graph_of(limit >= PRICES[d.arm], t)
        losses = (1 - PRICES * (limit >= PRICES))[graph.out_neighbors(d.arm)]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DependentGraphs)
            policy.observe(d, losses, graph=graph)
        if caught:
            return t + 1
    return None


def mistaken(sold, t):
    return SALE if sold else NO_SALE


@pytest.mark.parametrize("seed", range(3))
def test_posted_prices_that_are_told_by_their_outcome_are_found(seed):
    policy = sl.plan(families.mab(N)).policy(seed=seed)
    limits = np.random.default_rng(seed).random(500)
    assert priced(policy, limits, mistaken) is not None
    certificate = policy.certificate()
    assert (certificate.certified, policy.bound_at(1000)) == (False, None)
    for shown in (certificate.summary(), certificate._repr_html_(), policy.summary(), policy._repr_html_()):
        assert "NOT certified, the graphs" in shown
    for again in (policy.copy(), pickle.loads(pickle.dumps(policy)), sl.Policy.from_bytes(policy.to_bytes())):
        assert not again.certificate().certified
        assert priced(again, limits[:20], mistaken) is None  # it is said once


@pytest.mark.parametrize("seed", range(3))
def test_graphs_of_chance_are_not_suspected(seed):
    policy = sl.plan(families.mab(N)).policy(seed=seed)
    limits, coins = np.random.default_rng(seed).random((2, 600))
    assert priced(policy, limits, lambda sold, t: SALE if coins[t] < 0.5 else NO_SALE) is None
    assert policy.certificate().certified
    assert policy._game.wealth.any()  # there were bets


def test_what_is_bet_goes_on_from_a_file():
    policy, limits = sl.plan(families.mab(N)).policy(seed=1), np.random.default_rng(1).random(500)
    twin = policy.copy()
    assert priced(policy, limits[:150], mistaken) is None
    policy = sl.Policy.from_bytes(policy.to_bytes())
    assert priced(twin, limits, mistaken) == 150 + priced(policy, limits[150:], mistaken)


def test_only_graphs_that_are_told_afterwards_are_bet_on():
    policy = sl.plan(families.mab(N)).policy(seed=2)
    for t in range(30):
        d = policy.decide(graph=SALE if t % 2 else NO_SALE)
        policy.observe(d, np.full(d.reveals.size, 0.5), graph=None if t % 3 else (SALE if t % 2 else NO_SALE))
    assert not policy._game.wealth.any()


GRAPHS = [
    FeedbackGraph.from_edges(3, [(0, 0), (0, 1), (1, 0), (1, 2), (2, 2), (2, 1)]),
    families.loopless_clique(3),
    FeedbackGraph.from_edges(
        3, [(0, 0), (0, 1), (1, 1), (2, 1), (2, 2)], probabilities=[0.5, 1, 0.3, 0.7, 1]
    ),
]


@pytest.mark.parametrize("graph", GRAPHS, ids=["mixed", "loop-less", "failing"])
def test_wealth_keeps_its_mean(graph):
    """Every gambler's, in expectation over the arm and what it reveals, exactly."""
    Z = np.array([0.5, 0.3, 0.2])
    P = sum(Z[j] * graph.probability(j, i) * np.eye(3)[i] for j in range(3) for i in range(3))
    start = np.array([0.3, -0.2, 0.1, 0.0, 0.4, -0.5, 0.0])
    mean = np.zeros(6)
    for arm, works in product(range(3), product([False, True], repeat=3)):
        chances = np.array([graph.probability(arm, i) for i in range(3)])
        wealth = start.copy()
        bet(wealth, graph, arm, np.flatnonzero(works & (chances > 0)), Z, P)
        mean += Z[arm] * np.prod(np.where(works, chances, 1 - chances)) * np.exp(wealth[:-1])
    np.testing.assert_allclose(mean, np.exp(start[:-1]), rtol=1e-12)


def test_false_alarms_are_rare():
    """At most one in a thousand games; of these 200, with rare plays, none."""
    rng = np.random.default_rng(5)
    adjacent = np.array([np.tri(N), np.tri(N).T])
    for _ in range(200):
        wealth, Z = first_wealth(N), rng.dirichlet(np.full(N, 0.3))
        arms, outcomes = rng.choice(N, 100, p=Z), rng.integers(2, size=100)
        for arm, outcome in zip(arms.tolist(), outcomes.tolist(), strict=True):
            graph = SALE if outcome == 0 else NO_SALE
            bet(wealth, graph, arm, graph.out_neighbors(arm), Z, Z @ adjacent[outcome])
        assert wealth[-1] < ALARM


def test_a_round_without_an_arms_edges_is_refused_with_the_way_out():
    """It would be played more, as nothing is learnt of it."""
    policy = sl.plan(families.full(4)).policy(seed=1)
    away = FeedbackGraph.from_edges(4, [(i, j) for i in range(3) for j in range(3)])
    before = policy.to_bytes()
    for graph in (away, FeedbackGraph.from_edges(4, [])):
        with pytest.raises(
            InfeasibleRequest, match=r"nothing reveals arms .*3.* keep their edges, .* cost 1"
        ):
            policy.decide(graph=graph)
        with pytest.raises(InfeasibleRequest, match="nothing reveals arms"):
            policy.ask(graph=graph)
    assert policy.to_bytes() == before
