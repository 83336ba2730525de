"""The two levels of interpolated plans, round by round: exact expectations against the terms of the bound."""

from math import exp, sqrt

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.analysis import block_dominations
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition
from sidelight.planning import plan
from sidelight.planning.exploration import WeakBlocks
from sidelight.planning.minimised.interpolated import Interpolated
from sidelight.planning.minimised.problem import minimise
from sidelight.planning.minimised.two_level import SHIFT_PEAK, TwoLevel, TwoLevelCandidate


@st.composite
def games(draw):
    """Weak blocks, singletons with self-loops and loop-less ones, with random edges between."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    sizes = draw(st.lists(st.integers(2, 4), min_size=0, max_size=2))
    n_loop, n_loopless = draw(st.integers(0, 3)), draw(st.integers(0, 2))
    if len(sizes) + n_loop + n_loopless < 2:
        n_loop += 2
    n = sum(sizes) + n_loop + n_loopless
    A = rng.random((n, n)) < 0.2
    np.fill_diagonal(A, False)
    blocks, start = [], 0
    for size in sizes:
        V = list(range(start, start + size))
        for v in V:
            if not A[V, v].any():
                A[rng.choice([u for u in V if u != v]), v] = True
        blocks.append(V)
        start += size
    for v in range(start, start + n_loop):
        A[v, v] = True
    for v in range(start + n_loop, n):
        A[:, v] = True
        A[v, v] = False
    return A, blocks + [[v] for v in range(start, n)], rng, draw(st.sampled_from([50, 10**4, 10**7]))


def played(A, blocks, horizon):
    graph = FeedbackGraph.from_adjacency(A)
    p = Partition(graph, blocks)
    weak = WeakBlocks("given", p, block_dominations(graph, [p.blocks[k] for k in p.weak]))
    way = TwoLevelCandidate(weak, Interpolated.best(weak.sizes, weak.deltas))
    tuning, _ = way.offer(horizon).tune()
    top = [
        naive.Tsallis(r / 2) if q else naive.Entropy(r)
        for q, r in zip(tuning.top_power, tuning.top_rate, strict=True)
    ]
    weights = {int(k): d.weights for k, d in zip(p.weak, weak.dominations, strict=True)}
    h = dict(zip(p.weak.tolist(), way.inner.h.tolist(), strict=True))
    levers = way.problem.parameters(float(horizon))
    instance = naive.Instance(A, p.blocks)
    parameters = naive.interpolated_parameters(
        instance, horizon, weights, h, levers.b, levers.alpha, top, levers.extra
    )
    return way, levers, naive.TwoLevelOSMD(instance, parameters)


def point(rng, n):
    x = rng.dirichlet(np.full(n, rng.choice([0.05, 0.5, 5.0]))) + 1e-10
    return x / x.sum()


@settings(deadline=None, derandomize=True, max_examples=80)
@given(games())
def test_stability_of_every_round_is_below_its_terms(game):
    """½·E sup ‖L̂ − c‖² on top and ½·E sup ‖ℓ̂‖² inside, at any Y and X, for losses in {0, 1}."""
    A, blocks, rng, horizon = game
    way, levers, twin = played(A, blocks, horizon)
    problem, instance, T = way.problem, twin.instance, float(horizon)
    rho = 1 / (1 - problem.gamma_bar(levers))
    top = 2 * rho * problem.norms(T, levers)[2] if problem.n_weak + problem.n_loop else 0.0
    if problem.n_loopless:
        eta, p = levers.eta_loopless, problem.seen(levers)
        top += 0.5 * rho * exp(eta / p) * eta + problem.terms(T, levers).get("loop-less shift", 0.0) / T
    for _ in range(6):
        twin.Y = point(rng, instance.m)
        twin.X = [point(rng, len(V)) for V in instance.blocks]
        losses = (rng.random(instance.n) < 0.7).astype(float)
        Z, found = twin.distribution(), 0.0
        inside = dict.fromkeys(instance.U2, 0.0)
        for arm in range(instance.n):
            estimate, L = twin.estimates(arm, losses)
            found += Z[arm] * swing(twin.Psi, twin.Y, L - twin.shift(L))
            for k in instance.U2:
                inside[k] += Z[arm] * swing(twin._Phi(k), twin.X[k], estimate[instance.blocks[k]])
        assert found <= top * (1 + 1e-9)
        steps = levers.step * way.inner.diameters
        for at, k in enumerate(instance.U2):
            assert inside[k] <= steps[at] / (2 * levers.b * way.inner.diameters[at]) * (1 + 1e-9)
        gamma = twin.gamma().sum()
        assert gamma <= problem.gamma_bar(levers) * (1 + 1e-9)
        for k in instance.U1N:
            v = instance.blocks[k][0]
            assert gamma - twin.gamma()[v] >= problem.seen(levers) * (1 - 1e-9)


def swing(psis, y, loss):
    """½·Σ sup_{between y and its unconstrained step} loss²/ψ''."""
    total = 0.0
    for psi, x, c in zip(psis, y, loss, strict=True):
        w = psi.inverse_gradient(psi.gradient(x) - c)
        assert w > 0
        total += 0.5 * c * c / min(psi.curvature(w), psi.curvature(x))
    return total


@settings(deadline=None, derandomize=True, max_examples=40)
@given(games())
def test_diameter_of_the_top_level(game):
    A, blocks, rng, horizon = game
    way, levers, twin = played(A, blocks, horizon)
    problem, instance = way.problem, twin.instance
    norm, least, _, _ = problem.norms(float(horizon), levers)
    claimed = norm - (0.0 if problem.n_loopless else least)
    if problem.n_loopless:
        n = problem.n_loopless
        claimed += (n / np.e if n <= 2 else np.log(n)) / levers.eta_loopless

    def minus_psi(y):
        return sum(
            np.sqrt(v) / psi.rate if isinstance(psi, naive.Tsallis) else -v * np.log(v) / psi.rate
            for psi, v in zip(twin.Psi, y, strict=True)
        )

    corners = [0.0 if isinstance(psi, naive.Entropy) else 1 / psi.rate for psi in twin.Psi]
    lowest = naive.argmin_potential(twin.Psi)
    assert minus_psi(lowest) - min(corners) <= claimed * (1 + 1e-9)
    if not problem.n_loopless:
        assert minus_psi(lowest) - min(corners) == pytest.approx(claimed, rel=1e-9)
    assert all(minus_psi(point(rng, instance.m)) <= minus_psi(lowest) * (1 + 1e-9) for _ in range(5))


def test_weights_are_optimal_without_corners():
    """‖1/η‖·‖η·d‖ ≥ Σ d with equality exactly at 1/η ∝ √d, so δ̄ replaces √(m2·Σ δ²) ≥ δ̄."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        d = rng.exponential(size=5) + 0.01
        a = rng.exponential(size=5) + 0.01
        assert np.linalg.norm(a) * np.linalg.norm(d / a) >= d.sum() * (1 - 1e-12)
        root = np.sqrt(d)
        assert np.linalg.norm(root) * np.linalg.norm(d / root) == pytest.approx(d.sum())
        assert sqrt(5 * (d**2).sum()) >= d.sum()


def test_shift_peak():
    y = np.linspace(0, 1, 1_000_001)
    assert (y**2 * np.sqrt(1 - y)).max() == pytest.approx(SHIFT_PEAK, rel=1e-9)


def test_minimised_parameters_are_nearly_stationary():
    """No single parameter can be moved by a tenth to any gain beyond a millionth."""
    problem = TwoLevel(3, 2, (5.0, 1.2, 1.5, 13.0), 2, 9.0, 4.0)
    for T in (1e2, 1e5, 1e8):
        levers = problem.parameters(T)
        best = sum(problem.terms(T, levers).values())
        for name in next(problem.starts(T)).free:
            for factor in (0.9, 1.1):
                moved = levers._replace(**{name: getattr(levers, name) * factor})
                assert problem.value(T, moved) >= best * (1 - 1e-6)


def test_minimiser_finds_minima_and_respects_walls():
    found = minimise(lambda p: (p[0] - 2) ** 2 + (p[1] / p[0] - 3) ** 2, (1.0, 1.0))
    assert found == pytest.approx((2.0, 6.0), rel=1e-2)
    walled = minimise(lambda p: p[0] if p[0] >= 0.5 else float("inf"), (3.0,))
    assert walled[0] == pytest.approx(0.5, rel=1e-3)
    assert minimise(lambda p: 1.0, (0.7, 4.0)) == (0.7, 4.0)
    assert minimise(lambda p: 1.0, ()) == ()


def test_two_pairs_by_hand():
    """Two pairs: M = 2·(log 2·2), δ̄ = 4, ρ = 1/(1−bM); the terms are what the formula says."""
    graph = FeedbackGraph.from_edges(4, [(0, 1), (1, 0), (2, 3), (3, 2)])
    made = plan(graph, 10**6, Partition(graph, [[0, 1], [2, 3]]), "interpolated")
    M, b, alpha, T = 4 * np.log(2), made.parameters["b"], made.parameters["alpha"], 1e6
    rho = 1 / (1 - b * M)
    eta = made.parameters["eta_top"][0]
    assert made.parameters["rho"] == pytest.approx(rho)
    assert made.bound.terms["restriction"] == pytest.approx(sqrt(2 * T / b))
    assert made.bound.terms["global exploration"] == pytest.approx(b * M * T)
    assert made.bound.terms["local exploration"] == pytest.approx(alpha * T)
    diameter, steep = (sqrt(2) - 1) / eta, 2 * rho * eta * 2 / alpha * sqrt(2)
    assert made.bound.terms["projection"] == pytest.approx(diameter + steep * T)
