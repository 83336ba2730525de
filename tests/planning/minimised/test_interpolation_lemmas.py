"""The inequalities behind interpolated blocks, exactly, on random graphs and random distributions."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from sidelight.analysis import fractional_domination
from sidelight.graph import FeedbackGraph
from sidelight.planning.covers import largest_revealed, loads
from sidelight.planning.minimised.interpolated import LARGEST_H, LEAST_H, best_h
from sidelight.planning.potentials import diameter, height
from sidelight.planning.tuning import EXACT_SPREAD, LAZY_FACTOR

exact = settings(deadline=None, derandomize=True)


@st.composite
def observable(draw, most=8):
    """Any digraph in which every arm is revealed by some arm."""
    n = draw(st.integers(2, most))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    A = rng.random((n, n)) < draw(st.sampled_from([0.05, 0.2, 0.5, 0.9]))
    for v in range(n):
        if not A[:, v].any():
            A[rng.integers(n), v] = True
    return A, rng


def distribution(rng, n):
    """Corners, near-corners and the inside of the simplex."""
    x = rng.dirichlet(np.full(n, rng.choice([0.05, 0.5, 1.0, 20.0])))
    return x / x.sum()


hs = st.one_of(st.floats(LEAST_H, LARGEST_H), st.just(1.0))


@exact
@given(observable(), hs)
def test_coverage_and_cost_of_the_spread(case, h):
    """(a) Σ_{j ∈ Nin(i)} g_j(X) ≥ X_i^{1−h} for every i; (b) Σ_j g_j(X) ≤ δ^h: max form and smooth form."""
    A, rng = case
    n = len(A)
    cover = fractional_domination(FeedbackGraph.from_adjacency(A)).weights
    instance = naive.Instance(A, (np.arange(n),))
    spread = naive.Spread(1.0, h, cover, np.ones(n, dtype=bool))
    w = A * cover[:, None] / (A.T @ cover)
    for _ in range(20):
        X = distribution(rng, n)
        g = spread.shape(instance, 0, X)
        smooth = cover**h * (w @ X) ** (1 - h)
        for form in (g, smooth):
            assert (A.T @ form >= X ** (1 - h) * (1 - 1e-9)).all()
            assert form.sum() <= cover.sum() ** h * (1 + 1e-9)
        assert (g <= smooth * (1 + 1e-9) + 1e-300).all()
        assert g.sum() >= n ** (h - 1) * (1 - 1e-9)  # what loop-less arms count on


@exact
@given(observable(), hs, st.integers(0, 2**20))
def test_spread_over_some_arms_only(case, h, mask):
    """The same for arms W covered from anywhere: (a) on W, (b) for every X of total mass 1 on all arms."""
    A, rng = case
    n = len(A)
    owed = np.array([bool(mask >> v & 1) for v in range(n)])
    owed[0] = True
    found = fractional_domination(FeedbackGraph.from_adjacency(A), cover=np.flatnonzero(owed))
    instance = naive.Instance(A, (np.arange(n),))
    spread = naive.Spread(1.0, h, found.weights, owed)
    for _ in range(20):
        X = distribution(rng, n)
        g = spread.shape(instance, 0, X)
        assert (A.T @ g >= X ** (1 - h) * (1 - 1e-9))[owed].all()
        assert g.sum() <= found.value**h * (1 + 1e-9)


@exact
@given(observable(), st.integers(0, 2**30))
def test_sums_and_maxima_inside_blocks(case, seed):
    A, rng = case
    n = len(A)
    graph = FeedbackGraph.from_adjacency(A)
    block_of = np.random.default_rng(seed).integers(0, 3, size=n)
    block_of = np.unique(block_of, return_inverse=True)[1].ravel()
    same = block_of[:, None] == block_of
    values = rng.random(n) * (rng.random(n) < 0.7)
    assert_allclose(loads(graph, block_of, values), (A & same).T @ values, atol=1e-14)
    assert_allclose(largest_revealed(graph, block_of, values), (values * (A & same)).max(axis=1, initial=0))


@exact
@given(st.integers(2, 400), hs)
def test_diameter_is_that_of_the_potential(n, h):
    """From a corner to the centre; no distribution is outside."""
    rng = np.random.default_rng(n)

    def phi(x):
        if h == 1:
            return float(np.sum(x * np.log(np.where(x > 0, x, 1))))
        return float(-np.sum(x**h) / (h * (1 - h)))

    corner = np.zeros(n)
    corner[0] = 1
    D = float(diameter(h, n))
    assert phi(corner) - phi(np.full(n, 1 / n)) == pytest.approx(D, rel=1e-9)
    assert pytest.approx(naive.diameter(h, n)) == D
    for _ in range(10):
        x = distribution(rng, n)
        assert phi(np.full(n, 1 / n)) - 1e-9 <= phi(x) <= phi(corner) + 1e-9
        part = x * rng.random()
        assert -phi(part) <= float(height(h, n)) * (1 + 1e-12)


@settings(deadline=None, derandomize=True, max_examples=25)
@given(st.integers(2, 10**5), st.floats(0, 1))
def test_best_h_is_the_minimum(n, u):
    delta = 1 + u * (n - 1)
    lazy = LAZY_FACTOR if n > EXACT_SPREAD else 1.0
    for corners, size in ((True, diameter), (False, height)):
        h = best_h(np.array([float(n)]), np.array([delta]), corners=corners)[0]

        def cost(h, size=size):
            return (lazy if h < 1 else 1.0) * float(size(h, n)) * delta**h

        grid = [cost(h) for h in np.linspace(LEAST_H, LARGEST_H, 601)]
        assert cost(h) <= min([*grid, cost(1.0)]) * (1 + 1e-9)
        if h < 1:
            near = minimize_scalar(cost, bounds=(max(h - 0.02, LEAST_H), min(h + 0.02, LARGEST_H)), method="bounded",
                                   options={"xatol": 1e-10})  # fmt: skip
            assert cost(h) <= near.fun * (1 + 1e-9)


@exact
@given(st.integers(2, 10**6), st.floats(0, 1))
def test_every_graph_is_covered_by_one_formula(n, u):
    """min_h D_h(n)·δ^h ≤ 4δ(1 + log(n/δ)): the constant 2.38 = 3/2·4^{1/3} of flat plans."""
    delta = float(n) ** u
    h = np.append(np.linspace(LEAST_H, LARGEST_H, 400), 1.0)
    least = float((diameter(h, float(n)) * delta**h).min())
    assert least <= 4 * delta * (1 + np.log(n / delta))
    assert least <= min(delta * np.log(n), 4 * np.sqrt(n * delta)) * (1 + 1e-9)  # clustered and adaptive


def test_equal_blocks_get_the_same_h_in_any_company():
    sizes, deltas = np.array([5.0, 90.0, 5.0, 30.0]), np.array([1.25, 90.0, 1.25, 15.0])
    together = best_h(sizes, deltas)
    assert together[0] == together[2]
    for k in range(4):
        assert best_h(sizes[k : k + 1], deltas[k : k + 1])[0] == together[k]
