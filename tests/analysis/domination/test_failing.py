"""The domination program where reveals may fail: Σ_j r_{ji}·x_j ≥ 1, against HiGHS, with certificates."""

from dataclasses import replace

import numpy as np
import pytest
from certified import certified
from scipy.optimize import linprog

from sidelight.analysis import block_dominations, fractional_domination, observability
from sidelight.analysis.domination import program
from sidelight.errors import SolverError
from sidelight.graph import FeedbackGraph, families
from sidelight.graph.altered import with_loops


def random_matrix(rng, kind):
    n = int(rng.integers(2, 9))
    R = np.where(rng.random((n, n)) < 0.5, rng.choice([0.1, 0.25, 0.5, 0.9, 1.0, 1.0], size=(n, n)), 0.0)
    if kind == 1:  # an arm that everyone reveals, with a loop of any kind
        R[:, 0], R[0, 0] = 1.0, rng.choice([0.0, 0.5, 1.0])
    if kind == 2:  # one that reveals everyone but itself, and is revealed by all others
        R[1, :] = R[:, 1] = 1.0
        R[1, 1] = 0.0
    if kind == 3:  # a clique with one edge that may fail
        R[:] = 1.0
        np.fill_diagonal(R, 0.0)
        R[0, 1] = 0.5
    if kind == 4:
        R[R > 0] = 0.3
    R[0] = np.where(R.max(axis=0) == 0, 0.2, R[0])
    return R


@pytest.mark.parametrize("kind", range(5))
def test_value_and_certificate(kind):
    rng = np.random.default_rng(kind)
    for _ in range(12):
        R = random_matrix(rng, kind)
        g = FeedbackGraph.from_adjacency(R, probabilities=True)
        found = certified(fractional_domination, g)
        assert found.exact
        wanted = linprog(np.ones(len(R)), A_ub=-R.T, b_ub=-np.ones(len(R))).fun
        assert found.value == pytest.approx(wanted, rel=1e-8)
        some = np.sort(rng.permutation(len(R))[:2])
        part = certified(fractional_domination, g, cover=some)
        wanted = linprog(np.ones(len(R)), A_ub=-R.T[some], b_ub=-np.ones(2)).fun
        assert part.value == pytest.approx(wanted, rel=1e-8)


def large(n=3000):
    g = with_loops(families.random(n, 8 / n, 1))
    r = np.random.default_rng(0).uniform(0.2, 1, size=g.n_edges)
    return FeedbackGraph.from_edges(n, g.edges(), probabilities=r)


def test_large_programs_to_a_certified_gap(monkeypatch):
    g = large(400)
    exact = fractional_domination(g)
    monkeypatch.setattr(program, "EXACT_TARGETS", 10)
    found = fractional_domination(g)
    assert "first-order" in found.method
    assert found.verify(g)
    assert exact.value <= found.value * (1 + 1e-9)
    assert found.gap <= 0.02


def test_one_probability_for_all_scales():
    for graph in (families.cycle(1000), families.cliques([3, 4]), families.mab(7), families.hypercube(4)):
        whole, half = fractional_domination(graph), fractional_domination(families.faulty(graph, 0.5))
        assert half.value == pytest.approx(2 * whole.value)
        assert half.verify(families.faulty(graph, 0.5))


def test_blocks_of_one_shape_share_a_program_only_with_equal_probabilities():
    g = FeedbackGraph.from_edges(
        6, [(0, 1), (1, 0), (2, 3), (3, 2), (4, 5), (5, 4)], probabilities=[0.5, 1, 0.5, 1, 1, 1]
    )
    found = block_dominations(g, [[0, 1], [2, 3], [4, 5]])
    assert [d.value for d in found] == [3.0, 3.0, 2.0]
    assert found[0].weights is found[1].weights
    assert all(d.verify(g) for d in found)


def test_certificates_of_the_certain_graph_do_not_pass():
    graph = families.cycle(6)
    faulty = families.faulty(graph, 0.9)
    with pytest.raises(SolverError, match=r"covered 0\.9"):
        fractional_domination(graph).verify(faulty)
    found = fractional_domination(faulty)
    with pytest.raises(SolverError, match="packing"):
        replace(found, packing=found.packing * 1.01).verify(faulty)


def test_classes_are_those_of_edges_that_work():
    for graph in (
        families.mab(3),
        families.cycle(5),
        families.loopless_clique(4),
        families.corrupted_mab(5, 2),
    ):
        assert observability(families.faulty(graph, 0.3)) == observability(graph)
