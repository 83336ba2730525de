import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from sidelight.analysis.domination._kernels import (
    gather_sums,
    primal_dual_steps,
    repair_cover,
    repair_packing,
)


@st.composite
def programs(draw):
    """(dense A with a source in every row, x, y): anything non-negative, zeros included."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_targets, n_sources = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    a = rng.random((n_targets, n_sources)) < draw(st.sampled_from([0.15, 0.4, 0.9]))
    a[np.arange(n_targets), rng.integers(0, n_sources, n_targets)] = True
    x = rng.exponential(0.5, n_sources) * (rng.random(n_sources) < 0.8)
    y = rng.exponential(0.5, n_targets) * (rng.random(n_targets) < 0.8)
    return a.astype(float), x, y, rng


def both_ways(a):
    rows, cols = sparse.csr_array(a), sparse.csc_array(a)
    return rows.indptr, rows.indices, cols.indptr, cols.indices


def naive_steps(a, x, y, weight, steps):
    out_degree, in_degree = np.maximum(a.sum(axis=0), 1), a.sum(axis=1)
    x_sum, y_sum = np.zeros_like(x), np.zeros_like(y)
    for _ in range(steps):
        x_next = np.maximum(x - weight / out_degree * (1 - a.T @ y), 0)
        y = np.maximum(y + (1 - a @ (2 * x_next - x)) / (weight * in_degree), 0)
        x = x_next
        x_sum, y_sum = x_sum + x, y_sum + y
    return x, y, x_sum, y_sum


def naive_cover(a, order, x):
    coverage = a @ x
    out = np.array([
        min(1, x[v] / min([1, *coverage[a[:, v] > 0]])) if x[v] > 0 else 0.0 for v in range(len(x))
    ])  # fmt: skip
    for u in range(len(a)):
        busiest = max(np.flatnonzero(a[u]), key=lambda v: (a[:, v].sum(), -v))
        out[busiest] += max(0, 1 - a[u] @ out)
    for v in order:
        spare = min([out[v], *(a @ out - 1)[a[:, v] > 0]])
        out[v] -= max(spare, 0)
    return out


def naive_packing(a, order, y):
    load = a.T @ y
    out = np.array([y[u] / max([1, *load[a[u] > 0]]) for u in range(len(y))])
    for u in order:
        out[u] += max(0, min((1 - a.T @ out)[a[u] > 0]))
    return out


@given(programs())
@settings(deadline=None, derandomize=True)
def test_gather_sums_is_a_matrix_product(case):
    a, x, y, _ = case
    row_indptr, row_indices, col_indptr, col_indices = both_ways(a)
    coverage, load = np.empty_like(y), np.empty_like(x)
    gather_sums(row_indptr, row_indices, x, coverage)
    gather_sums(col_indptr, col_indices, y, load)
    assert_allclose(coverage, a @ x, rtol=1e-13, atol=1e-15)
    assert_allclose(load, a.T @ y, rtol=1e-13, atol=1e-15)


@given(programs(), st.sampled_from([0.3, 1.0, 4.0]), st.integers(1, 30))
@settings(deadline=None, derandomize=True)
def test_steps_follow_the_formula(case, weight, steps):
    a, x, y, _ = case
    expected = naive_steps(a, x, y, weight, steps)
    x, y, x_sum, y_sum = x.copy(), y.copy(), np.zeros_like(x), np.zeros_like(y)
    primal_dual_steps(*both_ways(a), x, y, x_sum, y_sum, np.empty_like(x), weight, steps)
    for ours, theirs in zip((x, y, x_sum, y_sum), expected, strict=True):
        assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@given(programs())
@settings(deadline=None, derandomize=True)
def test_repaired_cover_is_feasible_minimal_and_as_written(case):
    a, x, y, rng = case
    order = rng.permutation(len(x))
    out, coverage = np.empty_like(x), np.empty_like(y)
    total = repair_cover(*both_ways(a), order, x, out, coverage)
    assert (out >= 0).all()
    assert (a @ out >= 1 - 1e-12).all()
    assert total == pytest.approx(out.sum(), rel=1e-12)
    assert_allclose(coverage, a @ out, rtol=1e-12)
    needed = [out[v] <= 1e-12 or (a @ out)[a[:, v] > 0].min() <= 1 + 1e-12 for v in range(len(x))]
    assert all(needed)  # no weight can be lowered on its own
    assert_allclose(out, naive_cover(a, order, x), rtol=1e-9, atol=1e-12)


@given(programs())
@settings(deadline=None, derandomize=True)
def test_repaired_packing_is_feasible_maximal_and_as_written(case):
    a, x, y, rng = case
    order = rng.permutation(len(y))
    out, load = np.empty_like(y), np.empty_like(x)
    total = repair_packing(*both_ways(a), order, y, out, load)
    assert (out >= 0).all()
    assert (a.T @ out <= 1 + 1e-12).all()
    assert total == pytest.approx(out.sum(), rel=1e-12)
    assert_allclose(load, a.T @ out, rtol=1e-12, atol=1e-15)
    assert all((a.T @ out)[a[u] > 0].max() >= 1 - 1e-12 for u in range(len(y)))  # no entry can be raised
    assert_allclose(out, naive_packing(a, order, y), rtol=1e-9, atol=1e-12)


def test_repair_keeps_a_feasible_optimum():
    a = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]], dtype=float)
    half = np.full(3, 0.5)
    out, scratch = np.empty(3), np.empty(3)
    assert repair_cover(*both_ways(a), np.arange(3), half, out, scratch) == pytest.approx(1.5)
    assert_allclose(out, half)
    assert repair_packing(*both_ways(a), np.arange(3), half, out, scratch) == pytest.approx(1.5)
    assert_allclose(out, half)


def test_zero_starts_are_repaired_from_nothing():
    a = np.array([[1, 1, 0], [0, 1, 1]], dtype=float)
    out = np.empty(3)
    assert repair_cover(*both_ways(a), np.arange(3), np.zeros(3), out, np.empty(2)) == 1.0
    assert out.tolist() == [0.0, 1.0, 0.0]  # the source that both targets share
    packing = np.empty(2)
    assert repair_packing(*both_ways(a), np.arange(2), np.zeros(2), packing, np.empty(3)) == 1.0
    assert packing.tolist() == [1.0, 0.0]
