"""Packing sets against all subsets, and the lower bound they prove."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from certified import certified
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.analysis import PackingSet, fractional_domination, packing_independent_set, packing_lower_bound
from sidelight.analysis import packing as packing_module
from sidelight.errors import InfeasibleRequest, InvalidGraph, InvalidOption, SolverError
from sidelight.graph import FeedbackGraph, families


@st.composite
def adjacency_matrices(draw):
    n = draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    a = rng.random((n, n)) < draw(st.sampled_from([0.1, 0.2, 0.4, 0.8]))
    a[:, rng.random(n) < draw(st.sampled_from([0.0, 0.5]))] = True
    np.fill_diagonal(a, rng.random(n) < draw(st.sampled_from([0.0, 0.3, 1.0])))
    return a


def independent_sets(adjacency):
    """Every independent set with the least t for which it is t-packing."""
    n = len(adjacency)
    for size in range(1, n + 1):
        for members in itertools.combinations(range(n), size):
            if not adjacency[np.ix_(members, members)].any():
                yield members, max(1, int(adjacency[:, members].sum(axis=1).max()))


@given(adjacency_matrices())
@settings(deadline=None, derandomize=True, max_examples=120)
def test_exact_search_against_all_subsets(adjacency):
    g = FeedbackGraph.from_adjacency(adjacency)
    every = list(independent_sets(adjacency))
    best = max((max(math.log(len(s)), len(s) / t) for s, t in every), default=0.0)
    found = certified(packing_independent_set, g)
    assert found.exact
    assert found.rate == pytest.approx(best, abs=1e-12)
    assert found.upper == pytest.approx(best, abs=1e-12)
    for t in (1, 2, 3):
        largest = max((len(s) for s, needed in every if needed <= t), default=0)
        found = certified(packing_independent_set, g, t, exact=True)
        assert (len(found.arms), found.upper, found.t, found.exact) == (largest, largest, t, True)


@given(adjacency_matrices(), st.none() | st.integers(1, 3), st.integers(0, 3))
@settings(deadline=None, derandomize=True, max_examples=120)
def test_greedy_sets_are_valid_and_not_empty(adjacency, t, seed):
    g = FeedbackGraph.from_adjacency(adjacency)
    found = certified(packing_independent_set, g, t, exact=False, seed=seed)
    assert (len(found.arms) > 0) == (~np.diag(adjacency)).any()
    again = packing_independent_set(g, t, exact=False, seed=seed)
    assert found.arms.tolist() == again.arms.tolist()
    assert t is None or found.t == t


@given(adjacency_matrices())
@settings(deadline=None, derandomize=True, max_examples=60)
def test_no_packing_beats_the_domination_number(adjacency):
    """|S| ≤ t·δ*: the reason why the lower bound matches the upper one on so many graphs."""
    adjacency[0] = True
    g = FeedbackGraph.from_adjacency(adjacency)
    for t in (1, 2, 3):
        found = packing_independent_set(g, t)
        assert len(found.arms) <= t * fractional_domination(g).value + 1e-9


def test_named_graphs():
    assert packing_independent_set(families.cycle(40, directed=True)).rate == 20.0  # every second arm, t = 1
    assert packing_independent_set(families.cycle(40), 2).arms.size == 20
    assert packing_independent_set(families.cycle(40), 1).arms.size == 13  # two steps apart share an observer
    sides = [(i, j) for i in range(30) for j in range(30, 60)]
    bipartite = FeedbackGraph.from_edges(60, sides + [(j, i) for i, j in sides])
    found = packing_independent_set(bipartite, exact=True)
    assert found.exact
    assert found.rate == pytest.approx(math.log(30))
    assert found.arms.size == 30


def test_loops_leave_nothing():
    g = FeedbackGraph.from_edges(2, [(0, 0), (1, 1)])
    found = packing_independent_set(g)
    assert (found.arms.tolist(), found.rate, found.exact, found.upper) == ([], 0.0, True, 0.0)
    assert found.verify(g)


def test_a_universal_arm_stands_alone():
    clique = FeedbackGraph.from_edges(3, [(i, j) for i in range(3) for j in range(3) if i != j])
    found = packing_independent_set(clique)
    assert (found.arms.size, found.rate, found.exact) == (1, 1.0, True)
    assert found.verify(clique)


@pytest.mark.parametrize("degree", [2, 10])
def test_large_graphs_are_searched_greedily(degree):
    n = 200_000
    rng = np.random.default_rng(0)
    edges = np.column_stack([rng.integers(0, n, n * degree), np.repeat(np.arange(n), degree)])
    g = FeedbackGraph.from_edges(n, edges)
    for t in (None, 3):
        found = certified(packing_independent_set, g, t)
        assert not found.exact
        assert found.upper is None
        assert found.rate > n / (30 * degree**2)
        assert "greedy" in repr(found)


def test_time_limit(monkeypatch):
    rng = np.random.default_rng(0)
    adjacency = np.triu(rng.random((38, 38)) < 0.2, 1)
    g = FeedbackGraph.from_adjacency(adjacency | adjacency.T)
    found = certified(packing_independent_set, g, 2, time_limit=1e-9)
    assert found.upper >= found.arms.size
    assert not found.exact
    assert "at most" in repr(found)
    with pytest.raises(SolverError, match="no proof within"):
        packing_independent_set(g, 2, exact=True, time_limit=1e-9)
    monkeypatch.setattr(packing_module, "EXACT_ARMS", 10)
    assert packing_independent_set(g, 2).upper is None


@pytest.mark.parametrize("t", [0, -1, 1.5, True, "2"])
def test_t_is_checked(t):
    with pytest.raises(InvalidOption, match="t must be"):
        packing_independent_set(families.cycle(4), t)


def test_time_limit_is_checked():
    with pytest.raises(InvalidOption, match="time_limit"):
        packing_independent_set(families.cycle(4), time_limit=0)


# -- the checker ----------------------------------------------------------------------------------------


def members(*arms, t=1):
    return PackingSet(np.array(arms, dtype=np.int64), t, exact=False)


def test_verify_catches_each_kind_of_mistake():
    g = FeedbackGraph.from_edges(5, [(0, 1), (1, 0), (0, 2), (3, 3), *[(i, 4) for i in range(4)]])
    assert members(1, 2, t=2).verify(g)
    with pytest.raises(SolverError, match="arm 0 reveals 2 members, more than t = 1"):
        members(1, 2).verify(g)
    with pytest.raises(SolverError, match="member 1 reveals member 0"):
        members(0, 1).verify(g)
    with pytest.raises(SolverError, match="arm 3 reveals itself"):
        members(1, 3).verify(g)
    with pytest.raises(SolverError, match="arm 4 is revealed by every other member"):
        members(1, 4).verify(g)
    assert members(4).verify(g)
    with pytest.raises(SolverError, match="t = 0"):
        members(4, t=0).verify(g)
    with pytest.raises(InvalidGraph):
        members(1, 1).verify(g)
    with pytest.raises(InvalidGraph):
        members(7).verify(g)
    found = packing_independent_set(families.cycle(12))
    with pytest.raises(SolverError):
        replace(found, arms=np.arange(2)).verify(families.cycle(12))


@pytest.mark.parametrize("horizon", [1, 1000, np.int64(10**6)])
def test_value_is_the_rate_of_its_certificate(horizon):
    g = families.cycle(16, directed=True)
    bound = packing_lower_bound(g, horizon)
    assert bound.certificate.verify(g)
    assert bound.certificate.rate == 8.0
    assert bound.value == pytest.approx(2.0 * float(horizon) ** (2 / 3))
    assert bound.constant is None
    assert "packing-lb" in bound.source


def test_logarithmic_rate():
    sides = [(i, j) for i in range(64) for j in range(64, 128)]
    g = FeedbackGraph.from_edges(128, sides + [(j, i) for i, j in sides])
    assert packing_lower_bound(g, 1000).value == pytest.approx(math.log(64) ** (1 / 3) * 100)


def test_a_weak_graph_has_at_least_one_weak_arm():
    g = FeedbackGraph.from_edges(3, [(0, 0), (0, 1), (0, 2), (1, 1)])  # arm 2 is the only loop-less arm
    bound = packing_lower_bound(g, 8)
    assert bound.certificate.arms.tolist() == [2]
    assert bound.value == pytest.approx(4.0)


def test_only_weakly_observable_graphs():
    with pytest.raises(InfeasibleRequest, match=r"nothing reveals arms 1: .*linear"):
        packing_lower_bound(FeedbackGraph.from_edges(2, [(0, 0)]), 10)
    with pytest.raises(InfeasibleRequest, match="√T"):
        packing_lower_bound(FeedbackGraph.from_edges(2, [(0, 1), (1, 0)]), 10)


@pytest.mark.parametrize("horizon", [0, -5, 1.5, True, None, "10"])
def test_horizon_is_checked(horizon):
    with pytest.raises(InvalidOption, match="horizon"):
        packing_lower_bound(families.cycle(4, directed=True), horizon)
