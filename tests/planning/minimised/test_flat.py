"""Flat plans: what their proofs claim of diameters and stability, checked exactly, and what they achieve."""

from math import log, sqrt

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import INSTANCES, clique, cycle, loops, universal
from numpy.testing import assert_allclose

from sidelight.errors import InvalidOption, UnobservableGraph
from sidelight.graph import FeedbackGraph
from sidelight.partition import natural
from sidelight.planning import plan
from sidelight.planning.candidates import flat_candidates, roles
from sidelight.planning.exploration import Solved
from sidelight.planning.minimised.flat import Flat, FlatCandidate, Rates

exact = settings(deadline=None, derandomize=True, max_examples=60)


@st.composite
def mixed_graphs(draw):
    """Weak arms, arms with self-loops and loop-less strong arms in any number, random edges between."""
    n_weak, n_loop, n_loopless = draw(st.integers(1, 3)), draw(st.integers(0, 4)), draw(st.integers(0, 3))
    n = n_weak + n_loop + n_loopless
    if n_loop + n_loopless == 0:
        n_loop, n = 1, n + 1
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    A = rng.random((n, n)) < draw(st.sampled_from([0.1, 0.4]))
    np.fill_diagonal(A, False)
    A[range(n_weak, n_weak + n_loop), range(n_weak, n_weak + n_loop)] = True
    A[:, n_weak + n_loop :] = ~np.eye(n, dtype=bool)[:, n_weak + n_loop :]
    for v in range(n_weak):
        if not A[:, v].any():
            A[rng.choice([u for u in range(n) if u != v]), v] = True
    return A, rng


def candidates_of(A):
    """The ways to play one simplex: arms with self-loops covered or not, universal arms covered or shifted."""
    g = FeedbackGraph.from_adjacency(A)
    for cover, shifted in roles(Solved(g)):
        yield FlatCandidate(natural.single(g), cover, shifted)


def twin_of(way, horizon):
    """The twin with the free parameters of the plan, and its tuning."""
    tuning, numbers = way.offer(horizon).tune()
    g = way.partition.graph
    A = g.to_sparse().toarray() > 0
    owed = np.zeros(g.n_arms, dtype=bool)
    owed[way.cover.covered] = True
    instance = naive.Instance(A, (np.arange(g.n_arms),))
    free = [numbers.get(name, 0.0) for name in ("h", "beta", "eta", "eta_loop", "eta_loopless", "extra")]
    return tuning, instance, naive.flat_parameters(instance, way.cover.weights, owed, *free, way.shifted)


def points(rng, n):
    for concentration in (0.03, 0.3, 1.0, 10.0):
        x = rng.dirichlet(np.full(n, concentration)) + 1e-12
        yield x / x.sum()


@exact
@given(mixed_graphs(), st.sampled_from([1, 30, 10**4, 10**7]))
def test_tuning_agrees_with_the_twin(case, horizon):
    A, rng = case
    for way in candidates_of(A):
        tuning, instance, expected = twin_of(way, horizon)
        assert_allclose(tuning.global_exploration, expected.gamma_constant, rtol=1e-9, atol=1e-300)
        for X in points(rng, instance.n):
            gamma = tuning.exploration(way.partition.graph, X)
            assert_allclose(gamma, expected.gamma(instance, [X]), rtol=1e-9, atol=1e-300)
            assert gamma.sum() <= tuning.most_exploration * (1 + 1e-9) <= 0.5 * (1 + 1e-8)
        for v, psi in enumerate(expected.arm_potential):
            power, rate = tuning.inner_power[v], tuning.inner_rate[v]
            for x in (0.01, 0.7):
                theta = psi.gradient(x)
                found = (rate * -theta) ** -power if power else np.exp(rate * theta - 1)
                assert found == pytest.approx(x, rel=1e-9)


def stability(twin, X, losses):
    """½·E Σ_i sup_{y ∈ [w, X]} (ℓ̂ − c)²/ψ''(y) over the arm played, with the shift c of loop-less arms.

    w_i is where the unconstrained step goes, ψ'(w) = ψ'(X) − (ℓ̂ − c); 1/ψ'' rises, so the sup is at an end.
    """
    instance, psis = twin.instance, twin.parameters.arm_potential
    twin.X = [X]
    Z, total = twin.distribution(), 0.0
    hidden = np.flatnonzero(twin.shifted)
    for arm in range(instance.n):
        estimate, _ = twin.estimates(arm, losses)
        shifted = estimate - sum(estimate[v] * X[v] for v in hidden)
        for v, psi in enumerate(psis):
            w = psi.inverse_gradient(psi.gradient(X[v]) - shifted[v])
            assert w > 0
            total += Z[arm] * 0.5 * shifted[v] ** 2 / min(psi.curvature(w), psi.curvature(X[v]))
    return total, Z


@exact
@given(mixed_graphs(), st.sampled_from([100, 10**4, 10**6]))
def test_every_round_costs_less_than_its_terms(case, horizon):
    """For losses in {0, 1} and any X: stability and exploration together, the exact left-hand side of the proof."""
    A, rng = case
    for way in candidates_of(A):
        _, instance, parameters = twin_of(way, horizon)
        levers, problem = way.problem.parameters(float(horizon)), way.problem
        terms = problem.terms(1.0, levers)
        per_round = terms["rounds"] + terms.get("loop-less shift", 0.0)
        twin = naive.TwoLevelOSMD(instance, parameters)
        twin.shifted = way.shifted
        for X in points(rng, instance.n):
            losses = (rng.random(instance.n) < 0.7).astype(float)
            found, Z = stability(twin, X, losses)
            assert found + losses @ (Z - X) <= per_round * (1 + 1e-9)
            seen = A.T @ Z
            loops = np.diag(A)
            assert (seen[loops] >= (1 - problem.gamma_bar(levers)) * X[loops] * (1 - 1e-9)).all()
            needed = levers.beta * X[way.cover.covered] ** (1 - problem.h)
            assert (seen[way.cover.covered] >= needed * (1 - 1e-9)).all()


@exact
@given(
    st.integers(1, 30), st.integers(0, 30), st.integers(0, 3), st.sampled_from([0.2, 0.5, 0.8, 1.0]),
    st.floats(-4, 4), st.integers(0, 10**6),
)  # fmt: skip
def test_diameter_is_above_every_pair_of_points(n_cover, n_loop, n_loopless, h, ratio, seed):
    """−Φ(x) + Φ(corner) never exceeds the diameter used, at any mixture of the groups."""
    if n_loop + n_loopless == 0:
        n_loop = 1
    problem = Flat(n_cover, n_loop, n_loopless, 1.0, h, 1.0)
    levers = Rates(0.1, 0.01, 0.01 * np.exp(ratio), 0.02, 0.1)
    rng = np.random.default_rng(seed)

    def minus_phi(w, s, y):
        on_w = -np.sum(w * np.log(w)) if h == 1 else np.sum(w**h) / (h * (1 - h))
        on_n = -np.sum(y * np.log(y)) / levers.eta_loopless
        return on_w / levers.eta + np.sum(np.sqrt(s)) / levers.eta_loop + on_n

    claimed = problem.diameter(levers)
    if n_loopless:
        claimed += (n_loopless / np.e if n_loopless <= 2 else log(n_loopless)) / levers.eta_loopless
    corners = [] if n_loopless else [1 / (h * (1 - h) * levers.eta) if h < 1 else 0.0]
    corners += [1 / levers.eta_loop] if n_loop and not n_loopless else []
    lowest = min(corners, default=0.0)
    for _ in range(200):
        split = rng.dirichlet(np.full(3, rng.choice([0.2, 1.0])) * [1, n_loop > 0, n_loopless > 0] + 1e-9)
        even = [
            np.full(n, part / n) if n else np.zeros(0)
            for n, part in zip((n_cover, n_loop, n_loopless), split, strict=True)
        ]
        groups = [np.maximum(group, 1e-300) for group in even]
        assert minus_phi(*groups) - lowest <= claimed * (1 + 1e-9)


# -- what they achieve --------------------------------------------------------------------------------------


def test_counterexample_to_the_bounded_out_degree_theorem():
    """N−1 self-loops and one loop-less arm revealed by arm 0: out-degree ≤ 2, but regret O(T^{2/3}) for every N.

    The printed lower bound Ω(N^{1/3}T^{2/3}) would exceed the certified upper bound. With C = 1 in place of N it
    does not: the certificate is c·T^{2/3} plus terms that vanish against it.
    """
    T = 10**15
    values = []
    for N in (10, 100, 1_000, 10_000):
        graph = FeedbackGraph.from_edges(N, [*loops(range(N - 1)), (0, N - 1)])
        assert graph.out_degree.max() == 2
        made = plan(graph, T, realization="fixed")
        assert made.bound.certified
        values.append(made.bound.value / T ** (2 / 3))
    assert values[-1] < 2 * values[0]  # while N^{1/3} grows tenfold
    assert values[-1] < 10_000 ** (1 / 3) / 5
    assert values[0] == pytest.approx((2 / np.e) ** (1 / 3), rel=0.02)


@pytest.mark.parametrize("named", INSTANCES, ids=lambda named: named.name)
@pytest.mark.parametrize("horizon", [10, 10**4, 10**8])
def test_flat_needs_no_partition(named, horizon):
    graph = FeedbackGraph.from_edges(named.n_arms, named.edges)
    made = plan(graph, horizon, realization="flat")
    assert made.realization == "flat"
    assert made.bound.certified
    assert made.bound.valid_from == 1
    auto = plan(graph, horizon, realization="fixed")
    assert auto.bound.value <= made.bound.value * (1 + 1e-9)
    assert made.partition.n_blocks in (1, graph.n_arms)


def test_closed_form_with_strong_arms():
    """Theory: 3/2·(height·δ^h)^{1/3}T^{2/3} + 4√(|S|T); minimised, S costs far less where W dominates."""
    graph = FeedbackGraph.from_edges(40, [*loops(range(30)), *[(v, 30 + v) for v in range(10)]])
    for T in (10**5, 10**8):
        covered = next(way for way in flat_candidates(Solved(graph)) if way.name == "covered")
        made = covered.plan(T)
        closed = made.parameters["closed_form"] - 4 * sqrt(30 * T)
        h = made.parameters["h"]
        size = log(10) if h == 1 else 10 ** (1 - h) / (h * (1 - h)) * (64 / 63) ** 2
        assert closed == pytest.approx(1.5 * (size * 10**h) ** (1 / 3) * T ** (2 / 3))
        assert made.bound.value < made.parameters["closed_form"]


def test_strongly_observable_graphs():
    mab = plan(FeedbackGraph.from_edges(9, loops(range(9))), 10**4, realization="flat")
    assert mab.bound.value <= sqrt(
        2 * 10**4 * 6
    )  # half of Theorem realized-upper-bound with its best constant
    for n, factor in ((5, 1.02), (60, 1.0)):  # 0.976 in the limit of many arms and rounds
        strangers = plan(FeedbackGraph.from_edges(n, clique(range(n))), 10**6, realization="flat")
        assert strangers.bound.value < factor * sqrt(log(n) * 10**6)


def test_loopless_strong_arms_are_covered_or_shifted():
    """Three universal loop-less arms beside a weak pair: shifted beats covered when T is large."""
    edges = [*universal([0, 1, 2], 8), (3, 4), (4, 3), *loops([5, 6, 7])]
    graph = FeedbackGraph.from_edges(8, edges)
    made = plan(graph, 10**8, realization="fixed")
    names = {(c.partition, c.realization): c.value for c in made.details.considered}
    assert names["shifted", "flat"] < names["covered", "flat"]
    assert made.bound.value == pytest.approx(min(names.values()))


def test_refusals():
    ring = FeedbackGraph.from_edges(6, cycle(range(6)))
    pairs = FeedbackGraph.from_edges(4, [(0, 1), (1, 0), (2, 3), (3, 2)])
    assert plan(ring, 1000, natural.single(ring), "flat").partition.n_blocks == 1
    with pytest.raises(InvalidOption, match="plays one block"):
        plan(pairs, 1000, natural.components(pairs), "flat")
    with pytest.raises(UnobservableGraph):
        plan(FeedbackGraph.from_edges(3, [(0, 1), (1, 0)]), 1000, realization="flat")
