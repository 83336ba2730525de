from dataclasses import replace

import numpy as np
import pytest
from certified import certified
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from sidelight.analysis import fractional_domination
from sidelight.errors import InvalidGraph, InvalidOption, SolverError, UnobservableGraph
from sidelight.graph import FeedbackGraph
from sidelight.graph.edges import Edges


def brute_force(adjacency, arms, cover):
    """δ* by an independent formulation: dense, with the box 0 ≤ x ≤ 1 of LP 𝒫."""
    a = np.asarray(adjacency, dtype=float)[np.ix_(arms, cover)].T
    found = linprog(np.ones(len(arms)), A_ub=-a, b_ub=-np.ones(len(cover)), bounds=(0, 1), method="highs")
    return found.fun if found.success else None


def undirected(n, pairs):
    return FeedbackGraph.from_edges(n, [(i, j) for a, b in pairs for i, j in ((a, b), (b, a))])


@st.composite
def adjacency_matrices(draw):
    """Square 0/1 matrices, some with arms that (almost) every arm reveals or that reveal (almost) all."""
    n = draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    a = rng.random((n, n)) < draw(st.sampled_from([0.2, 0.5, 0.8]))
    universal = rng.random(n) < draw(st.sampled_from([0.0, 0.4, 0.9]))
    a[:, universal] = True
    hubs = rng.random(n) < draw(st.sampled_from([0.0, 0.5]))
    a[hubs] = True
    loops = rng.random(n) < draw(st.sampled_from([0.0, 0.3]))
    np.fill_diagonal(a, loops)
    return a


@given(adjacency_matrices(), st.data())
@settings(deadline=None, derandomize=True, max_examples=250)
def test_cover_and_packing_prove_the_value_of_the_linear_program(adjacency, data):
    n = len(adjacency)
    g = FeedbackGraph.from_adjacency(adjacency)
    subsets = st.lists(st.integers(0, n - 1), min_size=1, unique=True)
    arms = data.draw(st.none() | subsets)
    cover = data.draw(st.none() | subsets)
    sources = list(range(n)) if arms is None else arms
    targets = sources if cover is None else cover
    expected = brute_force(adjacency, sources, targets)
    if expected is None:
        with pytest.raises(UnobservableGraph) as error:
            fractional_domination(g, arms, cover=cover)
        blind = [u for u in targets if not adjacency[sources, u].any()]
        assert error.value.arms == tuple(sorted(blind))
        return
    found = certified(fractional_domination, g, arms, cover=cover)
    assert found.value == pytest.approx(expected, rel=1e-9)
    assert found.lower == pytest.approx(expected, rel=1e-9)
    assert found.exact
    assert found.arms.tolist() == sources
    assert found.cover.tolist() == targets
    a = adjacency.astype(float)[np.ix_(sources, targets)]
    assert (found.weights @ a >= 1 - 1e-12).all()
    assert (a @ found.packing <= 1 + 1e-12).all()


# -- closed forms ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", range(2, 13))
def test_named_graphs(n):
    directed = FeedbackGraph.from_edges(n, [(i, (i + 1) % n) for i in range(n)])
    clique = FeedbackGraph.from_edges(n, [(i, j) for i in range(n) for j in range(n) if i != j])
    full = FeedbackGraph.from_edges(n, [(i, j) for i in range(n) for j in range(n)])
    loops = FeedbackGraph.from_edges(n, [(i, i) for i in range(n)])
    star = undirected(n, [(0, i) for i in range(1, n)])
    revealing = FeedbackGraph.from_edges(n, [(0, i) for i in range(n)])
    expected = [(directed, n), (clique, n / (n - 1)), (full, 1), (loops, n), (star, 2), (revealing, 1)]
    if n >= 3:
        expected.append((undirected(n, [(i, (i + 1) % n) for i in range(n)]), n / 2))
    for left in range(1, n):
        expected.append((undirected(n, [(i, j) for i in range(left) for j in range(left, n)]), 2))
    for graph, value in expected:
        found = certified(fractional_domination, graph)
        assert found.value == pytest.approx(value, rel=1e-12)
        assert "linear program" not in found.method


@pytest.mark.parametrize("dimension", range(1, 8))
def test_hypercube(dimension):
    n = 2**dimension
    g = FeedbackGraph.from_edges(n, [(v, v ^ (1 << bit)) for v in range(n) for bit in range(dimension)])
    found = fractional_domination(g)
    assert found.value == pytest.approx(n / dimension, rel=1e-12)
    assert found.verify(g)


@given(st.integers(3, 40), st.integers(0, 10**6))
@settings(deadline=None, derandomize=True)
def test_in_degree_one_counts_parents(n, seed):
    parent = np.random.default_rng(seed).integers(0, n, n)
    g = FeedbackGraph.from_edges(n, np.column_stack([parent, np.arange(n)]))
    found = certified(fractional_domination, g)
    assert found.value == len(set(parent.tolist()))
    if found.value > 1:
        assert found.method == "in-degree one"


def test_unions_of_cliques_add_up():
    sizes = [2, 3, 5, 8]
    starts = np.cumsum([0, *sizes])
    edges = [(s + i, s + j) for s, k in zip(starts, sizes, strict=False) for i in range(k) for j in range(k)]
    g = FeedbackGraph.from_edges(sum(sizes), [(i, j) for i, j in edges if i != j])
    found = fractional_domination(g)
    assert found.value == pytest.approx(sum(k / (k - 1) for k in sizes), rel=1e-12)
    assert found.verify(g)


@pytest.mark.parametrize(("universal_loops", "value"), [(True, 1.0), (False, 100_000 / 99_999)])
def test_dense_graphs_need_no_room(universal_loops, value):
    n = 100_000
    none = np.empty(0, dtype=np.int64)
    loops = np.full(n, universal_loops)
    g = FeedbackGraph._of(Edges(n, none, none, universal=np.arange(n), universal_loops=loops))
    found = fractional_domination(g)
    assert found.value == pytest.approx(value, rel=1e-12)
    assert found.verify(g)


@pytest.mark.parametrize("listed", [1, 3, 40])
def test_large_universal_parts_are_solved_exactly(listed):
    """A loop-less clique of 50 000 arms that reveals a cycle, which reveals the clique."""
    n, k = 50_000 + listed, 50_000
    clique = np.arange(k)
    if listed < 3:
        sources, targets = np.zeros(listed, dtype=int), k + np.arange(listed)
    else:
        ring = k + np.arange(listed)
        sources, targets = (
            np.concatenate([ring, clique[:2].repeat(listed)]),
            np.concatenate([np.roll(ring, 1), np.tile(ring, 2)]),
        )
    g = FeedbackGraph._of(
        Edges(n, sources, targets, universal=clique, universal_loops=np.zeros(k, dtype=bool))
    )
    found = certified(fractional_domination, g)
    assert found.exact
    if listed == 1:  # only arm 0 reveals the last arm, and it needs a second arm to reveal itself
        assert found.value == pytest.approx(2.0)
    else:  # two core arms share s = k(δ−1)/(k(δ−1)+1), δ = length of the ring without them
        assert found.value == pytest.approx(1 + (listed - 1) / (2 * (listed - 1) + 1))


# -- what is promised at the edges ----------------------------------------------------------------------


def test_small_programs_are_exact_and_say_how():
    g = undirected(6, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3), (0, 4)])
    found = fractional_domination(g)
    assert found.method == "exact linear program"
    assert found.exact
    assert "exact" in repr(found)


def test_weights_are_aligned_with_the_arms_as_given():
    g = FeedbackGraph.from_edges(4, [(3, 0), (3, 1), (3, 2), (0, 3)])
    found = fractional_domination(g, arms=[3, 0], cover=[2, 3, 1])
    assert found.weights.tolist() == [1.0, 1.0]
    assert found.arms.tolist() == [3, 0]
    assert found.cover.tolist() == [2, 3, 1]
    assert found.verify(g)


def test_arms_that_nothing_reveals_are_named():
    g = FeedbackGraph.from_edges(5, [(0, 1), (1, 0), (2, 3)])
    with pytest.raises(UnobservableGraph, match="nothing reveals arms 2, 4") as error:
        fractional_domination(g)
    assert error.value.arms == (2, 4)
    with pytest.raises(UnobservableGraph, match="nothing in the given set reveals arm 3;") as error:
        fractional_domination(g, [1, 0, 3])
    assert error.value.arms == (3,)
    with pytest.raises(UnobservableGraph):
        fractional_domination(FeedbackGraph.from_edges(1, []))


@pytest.mark.parametrize("tolerance", [-0.1, np.nan, np.inf, "1%", True])
def test_a_tolerance_is_a_relative_gap(tolerance):
    with pytest.raises(InvalidOption, match="tolerance"):
        fractional_domination(FeedbackGraph.from_edges(1, [(0, 0)]), tolerance=tolerance)


@pytest.mark.parametrize("arms", [[], [0, 0], [7], [0.5]])
def test_arms_are_checked(arms):
    g = FeedbackGraph.from_edges(2, [(0, 1), (1, 0)])
    with pytest.raises(InvalidGraph):
        fractional_domination(g, arms)
    with pytest.raises(InvalidGraph):
        fractional_domination(g, cover=arms)


def test_results_are_read_only():
    found = fractional_domination(FeedbackGraph.from_edges(2, [(0, 1), (1, 0)]))
    with pytest.raises(ValueError, match="read-only"):
        found.weights[0] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        found.packing[0] = 0.0


# -- the checker ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate():
    g = undirected(6, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3), (0, 4)])
    return g, fractional_domination(g)


def test_verify_catches_a_wrong_value(certificate):
    g, found = certificate
    with pytest.raises(SolverError, match="not to the value"):
        replace(found, value=found.value - 1e-6).verify(g)


def test_verify_catches_an_uncovered_arm(certificate):
    g, found = certificate
    weights = found.weights * (1 - 1e-6)
    with pytest.raises(SolverError, match=r"is covered .* < 1"):
        replace(found, weights=weights, value=weights.sum()).verify(g)


def test_verify_catches_an_overloaded_arm(certificate):
    g, found = certificate
    with pytest.raises(SolverError, match=r"carries packing .* > 1"):
        replace(found, packing=found.packing * (1 + 1e-6)).verify(g)


@pytest.mark.parametrize("bad", [-0.25, np.nan, np.inf])
def test_verify_catches_bad_entries(certificate, bad):
    g, found = certificate
    packing = found.packing.copy()
    packing[3] = bad
    with pytest.raises(SolverError, match="packing of arm 3"):
        replace(found, packing=packing).verify(g)
    weights = found.weights.copy()
    weights[2] = -0.25
    with pytest.raises(SolverError, match="weight of arm 2"):
        replace(found, weights=weights, value=weights.sum()).verify(g)
    weights[2] = np.nan
    with pytest.raises(SolverError):
        replace(found, weights=weights, value=np.nan).verify(g)


def test_verify_catches_wrong_lengths_and_arms(certificate):
    g, found = certificate
    with pytest.raises(SolverError, match="weight has shape"):
        replace(found, weights=found.weights[1:]).verify(g)
    with pytest.raises(SolverError, match="packing has shape"):
        replace(found, packing=found.packing[1:]).verify(g)
    with pytest.raises(InvalidGraph):
        replace(found, arms=np.zeros(6, dtype=int)).verify(g)


def test_verify_catches_another_graph(certificate):
    _, found = certificate
    with pytest.raises(SolverError):
        found.verify(undirected(6, [(i, (i + 1) % 6) for i in range(6)]))


def test_verify_accounts_for_universal_arms():
    clique = FeedbackGraph.from_edges(4, [(i, j) for i in range(4) for j in range(4) if i != j])
    found = fractional_domination(clique)
    weights = np.array([1.0, 0.0, 0.0, 0.0])  # nobody reveals arm 0
    with pytest.raises(SolverError, match=r"arm 0 is covered 0\.0"):
        replace(found, weights=weights, value=1.0).verify(clique)
    with pytest.raises(SolverError, match="arm 3 carries packing"):
        replace(found, packing=np.array([0.5, 0.5, 0.5, 0.0])).verify(clique)


# -- optimality conditions ------------------------------------------------------------------------------


@given(st.integers(3, 30), st.floats(0.05, 0.5), st.integers(0, 10**6))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_complementary_slackness(n, density, seed):
    rng = np.random.default_rng(seed)
    adjacency = rng.random((n, n)) < density
    adjacency[rng.integers(0, n, n), np.arange(n)] = True
    found = fractional_domination(FeedbackGraph.from_adjacency(adjacency))
    a = adjacency.astype(float)
    assert_allclose(found.packing * (found.weights @ a - 1), 0, atol=1e-8)
    assert_allclose(found.weights * (a @ found.packing - 1), 0, atol=1e-8)
