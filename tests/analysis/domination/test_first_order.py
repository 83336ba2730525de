import numpy as np
import pytest
from certified import certified
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sidelight.analysis import fractional_domination
from sidelight.analysis.domination import program as solve
from sidelight.analysis.domination.covering import covering_program, listed_program
from sidelight.analysis.domination.first_order import Certificates, solve_first_order
from sidelight.analysis.domination.program import solve_exactly
from sidelight.errors import SolverError
from sidelight.graph import FeedbackGraph
from sidelight.graph.edges import Edges


def random_graph(n, degree, seed=0):
    rng = np.random.default_rng(seed)
    return FeedbackGraph.from_edges(
        n, np.column_stack([rng.integers(0, n, n * degree), np.repeat(np.arange(n), degree)])
    )


def power_law(n, degree, exponent=3.0, seed=0):
    rng = np.random.default_rng(seed)
    weight = np.arange(1, n + 1) ** (-1 / (exponent - 1))
    sources = rng.choice(n, n * degree, p=weight / weight.sum())
    return FeedbackGraph.from_edges(n, np.column_stack([sources, np.repeat(np.arange(n), degree)]))


def program_of(g):
    everyone = np.arange(g.n_arms)
    return covering_program(g, everyone, everyone)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("degree", [3, 8])
def test_agrees_with_the_exact_solver_within_its_gap(tolerance, degree):
    program = program_of(random_graph(600, degree))
    exact, _ = solve_exactly(program)
    cover, packing = solve_first_order(program, tolerance, 50_000)
    assert packing.sum() <= exact.sum() * (1 + 1e-9)
    assert exact.sum() <= cover.sum() * (1 + 1e-9)
    assert cover.sum() / packing.sum() - 1 <= tolerance


@pytest.mark.parametrize("make", [random_graph, power_law])
@pytest.mark.parametrize("degree", [5, 20])
def test_large_graphs_certify_one_percent(make, degree):
    g = make(20_000, degree)
    found = certified(fractional_domination, g)
    assert found.gap <= 0.01
    assert "first-order" in found.method
    assert not found.exact
    assert "gap" in repr(found)


def test_a_tolerance_is_kept():
    g = random_graph(4_000, 8)
    found = certified(fractional_domination, g, tolerance=1e-3)
    assert found.gap <= 1e-3


def test_a_tiny_tolerance_is_solved_exactly():
    g = random_graph(2_500, 4)
    found = certified(fractional_domination, g, tolerance=0)
    assert found.exact
    assert found.value <= fractional_domination(g).value * (1 + 1e-12)


def test_a_tolerance_out_of_reach_is_an_error_with_the_best_bracket(monkeypatch):
    monkeypatch.setattr(solve, "MAX_STEPS_ASKED", 80)
    monkeypatch.setattr(solve, "MAX_STEPS", 80)
    g = random_graph(4_000, 8)
    with pytest.raises(SolverError, match=r"gap of 1e-05 was not reached.*proven to lie in \[\d"):
        fractional_domination(g, tolerance=1e-5)
    unasked = fractional_domination(g)  # nobody asked: the best there is, with its honest gap
    assert unasked.verify(g)
    assert 0.0 < unasked.gap < 1.0


def test_universal_arms_and_sparse_arms_together():
    """A random graph on 5 000 arms plus 5 000 universal arms that reveal nothing else."""
    sparse = random_graph(5_000, 6)
    edges = sparse.edges()
    universal = np.arange(5_000, 10_000)
    loops = np.arange(5_000) % 2 == 0
    g = FeedbackGraph._of(Edges(10_000, edges[:, 0], edges[:, 1], universal=universal, universal_loops=loops))
    mixed, alone = fractional_domination(g), fractional_domination(sparse)
    assert mixed.verify(g)
    assert mixed.value == pytest.approx(alone.value, rel=1e-12)
    assert mixed.gap <= 0.01


def test_large_components_are_solved_together():
    parts = [random_graph(3_000, 8, seed) for seed in range(3)]
    edges = np.concatenate([part.edges().astype(np.int64) + 3_000 * k for k, part in enumerate(parts)])
    g = FeedbackGraph.from_edges(9_000, edges)
    found = certified(fractional_domination, g)
    assert found.gap <= 0.01
    low = sum(fractional_domination(part).lower for part in parts)
    high = sum(fractional_domination(part).value for part in parts)
    assert low <= found.value
    assert found.lower <= high


def test_many_small_components_share_their_solution(monkeypatch):
    """2 000 copies of one seven-arm graph without closed form: one program is solved."""
    rng = np.random.default_rng(5)
    small = rng.random((7, 7)) < 0.45
    np.fill_diagonal(small, False)
    one = FeedbackGraph.from_adjacency(small)
    value = fractional_domination(one)
    assert value.method == "exact linear program"
    calls = []
    monkeypatch.setattr(solve, "solve_exactly", lambda p: calls.append(p) or solve_exactly(p))
    copies = np.concatenate([one.edges().astype(np.int64) + 7 * k for k in range(2_000)])
    g = FeedbackGraph.from_edges(14_000, copies)
    found = fractional_domination(g)
    assert len(calls) == 1
    assert found.verify(g)
    assert found.value == pytest.approx(2_000 * value.value, rel=1e-9)


def test_many_different_components_stay_within_the_gap(monkeypatch):
    monkeypatch.setattr(solve, "EXACT_TOTAL", 200)
    rng = np.random.default_rng(1)
    blocks = []
    for k in range(300):
        a = rng.random((12, 12)) < 0.3
        a[rng.integers(0, 12, 12), np.arange(12)] = True
        blocks.append(np.argwhere(a) + 12 * k)
    g = FeedbackGraph.from_edges(3_600, np.concatenate(blocks))
    found = certified(fractional_domination, g)
    assert found.gap <= 0.01
    assert found.method.endswith("exact linear program + first-order")


# -- repairs ----------------------------------------------------------------------------------------------


@st.composite
def programs(draw):
    """(dense A with a source in every row, x, y): anything non-negative, zeros included."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_targets, n_sources = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    a = rng.random((n_targets, n_sources)) < draw(st.sampled_from([0.15, 0.4, 0.9]))
    a[np.arange(n_targets), rng.integers(0, n_sources, n_targets)] = True
    x = rng.exponential(0.5, n_sources) * (rng.random(n_sources) < 0.8)
    y = rng.exponential(0.5, n_targets) * (rng.random(n_targets) < 0.8)
    return a.astype(float), x, y


def certificates_of(a):
    return Certificates(listed_program(a.shape[1], a.sum(axis=1).astype(int), np.nonzero(a)[1]))


def naive_cover(a, order, x):
    coverage = a @ x
    out = np.array([
        min(1, x[v] / min([1, *coverage[a[:, v] > 0]])) if x[v] > 0 else 0.0 for v in range(len(x))
    ])  # fmt: skip
    lack = np.maximum(1 - a @ out, 0)
    busiest = [max(np.flatnonzero(a[u]), key=lambda v: (a[:, v].sum(), v)) for u in range(len(a))]
    for v in set(busiest):
        out[v] += max(lack[u] for u in range(len(a)) if busiest[u] == v)
    for v in order:
        out[v] -= max(min([out[v], *(a @ out - 1)[a[:, v] > 0]]), 0)
    return out


def naive_packing(a, order, y):
    load = a.T @ y
    out = np.array([y[u] / max([1, *load[a[u] > 0]]) for u in range(len(y))])
    for u in order:
        out[u] += max(0, min((1 - a.T @ out)[a[u] > 0]))
    return out


@given(programs())
@settings(deadline=None, derandomize=True)
def test_repaired_cover_is_feasible_minimal_and_as_written(case):
    a, x, _ = case
    certificates = certificates_of(a)
    out = certificates.repaired_cover(x)
    assert (out >= 0).all()
    assert (a @ out >= 1 - 1e-12).all()
    needed = [out[v] <= 1e-12 or (a @ out)[a[:, v] > 0].min() <= 1 + 1e-12 for v in range(len(x))]
    assert all(needed)  # no weight can be lowered on its own
    assert_allclose(out, naive_cover(a, certificates.source_order, x), rtol=1e-9, atol=1e-12)


@given(programs())
@settings(deadline=None, derandomize=True)
def test_repaired_packing_is_feasible_maximal_and_as_written(case):
    a, _, y = case
    certificates = certificates_of(a)
    out = certificates.repaired_packing(y)
    assert (out >= 0).all()
    assert (a.T @ out <= 1 + 1e-12).all()
    assert all((a.T @ out)[a[u] > 0].max() >= 1 - 1e-12 for u in range(len(y)))  # no entry can be raised
    assert_allclose(out, naive_packing(a, certificates.target_order, y), rtol=1e-9, atol=1e-12)


def test_repair_keeps_a_feasible_optimum():
    certificates = certificates_of(np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]], dtype=float))
    half = np.full(3, 0.5)
    assert_allclose(certificates.repaired_cover(half), half)
    assert_allclose(certificates.repaired_packing(half), half)


def test_zero_starts_are_repaired_from_nothing():
    certificates = certificates_of(np.array([[1, 1, 0], [0, 1, 1]]))
    assert certificates.offer(np.zeros(3), np.zeros(2)) == 0.0
    assert certificates.cover.tolist() == [0.0, 1.0, 0.0]  # the source that both targets share
    assert certificates.packing.tolist() == [1.0, 0.0]
