"""Cliques and one potential on strongly observable graphs: lemmas at random points, the engine, the certificates."""

from dataclasses import replace
from math import e, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strong_graphs import STRONG, dense_point, graphs, simplex

from sidelight.analysis import independence_number
from sidelight.graph import FeedbackGraph
from sidelight.partition import natural
from sidelight.planning import Tuning, check_certificate
from sidelight.planning.cliques import clique_cover, directed_bound, growth
from sidelight.planning.exploration import Solved
from sidelight.planning.minimised.strong import OneSimplex, Strong, StrongCandidate, evenly, q_of_ftrl
from sidelight.planning.potentials import diameter
from sidelight.policy import Policy


def plan(g, horizon):
    """What is proved from cliques alone: one potential, and losses as they are."""
    return StrongCandidate(natural.singletons(g), Solved(g).cliques).plan(horizon)


# -- lemmas ------------------------------------------------------------------------------------------------


@settings(deadline=None, derandomize=True, max_examples=150)
@given(graphs, st.integers(0, 10**6))
def test_sight_bounds_the_weighted_squares(A, seed):
    """Σ_S x^{2−h}/P ≤ Q^h at random x for every h, and at h = 1 with Σ_N x beside it."""
    rng = np.random.default_rng(seed)
    found = clique_cover(FeedbackGraph.from_adjacency(A))
    S, N = A.diagonal(), ~A.diagonal() & (A | np.eye(len(A), dtype=bool)).all(axis=0)
    for x in (simplex(rng, len(A)) for _ in range(5)):
        P = A.T.astype(float) @ x
        for h in (1.0, 0.9, 0.5, 0.1):
            assert np.sum(x[S] ** (2 - h) / P[S]) <= found.value**h * (1 + 1e-12)
        assert np.sum(x[S] / P[S]) + x[N].sum() <= found.value * (1 + 1e-12)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(graphs)
def test_mutual_edges_go_both_ways_and_symmetry_is_known(A):
    found = clique_cover(FeedbackGraph.from_adjacency(A))
    assert found.symmetric == np.array_equal(A, A.T)
    wider = np.concatenate([found.arms, found.reserved])
    for proof, arms in ((found.mutual, found.arms), (found.wider, wider)):
        if proof is not None:
            among = A[np.ix_(arms, arms)]
            assert proof.verify(FeedbackGraph.from_adjacency(among & among.T))
    if found.symmetric and A.diagonal().all():
        assert found.value == independence_number(FeedbackGraph.from_adjacency(A)).upper


@settings(deadline=None, derandomize=True, max_examples=100)
@given(graphs, st.integers(0, 10**6), st.sampled_from([0.5, 0.1, 0.01, 1e-4]))
def test_directed_bound(A, seed, gamma):
    """Equation (2), against Z that explores evenly; and it is at most Lemma 5 of Alon et al."""
    S = np.flatnonzero(A.diagonal())
    if S.size == 0:
        return
    alpha, eps = independence_number(FeedbackGraph.from_adjacency(A)).lower, gamma / S.size
    Z = (1 - gamma) * simplex(np.random.default_rng(seed), len(A))
    Z[S] += eps
    P = A.T.astype(float) @ Z
    Q = directed_bound(alpha, S.size, eps)
    assert np.sum(Z[S] / P[S]) <= Q
    assert 4 * alpha * log(4 * S.size / (alpha * eps)) * (1 + 1e-12) >= Q


@pytest.mark.parametrize("horizon", [100, 10**6])
def test_a_loop_or_a_universal_arm_is_no_burden(horizon):
    """A loop on a loop-less clique; an edge that makes an arm universal beside others that are no clique."""
    clique = ~np.eye(6, dtype=bool)
    looped = clique.copy()
    looped[0, 0] = True
    pairs = np.kron(np.eye(3, dtype=bool), np.ones((2, 2), dtype=bool))
    seen = pairs.copy()
    seen[:, 0] = True
    for fewer, more in ((clique, looped), (pairs, seen)):
        values = [plan(FeedbackGraph.from_adjacency(A), horizon).bound.value for A in (fewer, more)]
        assert values[1] <= values[0] * (1 + 1e-12)
    assert clique_cover(FeedbackGraph.from_adjacency(looped)).value == 1
    assert clique_cover(FeedbackGraph.from_adjacency(seen)).value == 3


def test_growth_is_the_best_constant():
    for y in (1e-8, 1e-3, 0.1, 1.0, 4.0):
        u = np.linspace(-y, 20, 400)
        u = u[np.abs(u) > 1e-2]
        assert (np.exp(-u) - 1 + u <= 0.5 * growth(y) * u * u * (1 + 1e-9)).all()
    assert growth(1e-3 - 1e-12) == pytest.approx(growth(1e-3), rel=1e-8)


@settings(deadline=None, derandomize=True, max_examples=80)
@given(graphs, st.integers(0, 10**6), st.sampled_from([0.01, 0.1, 0.5]), st.sampled_from([0.01, 0.3]))
def test_expected_cost_of_a_round_of_exponential_weights(A, seed, eta, gamma):
    """Exact: all plays enumerated, all losses 1 (worst) or random; E[Bregman] ≤ η·stability."""
    rng = np.random.default_rng(seed)
    g = FeedbackGraph.from_adjacency(A)
    n = len(A)
    X = simplex(rng, n)
    problem = replace(Strong.of(clique_cover(g)), full=False)
    for wide in problem.widths:
        x = OneSimplex(1.0, eta, gamma, wide)
        Z = (1 - gamma) * X + evenly(g, x)
        assert Z.sum() == pytest.approx(1)
        P = A.T.astype(float) @ Z
        for losses in (np.ones(n), rng.random(n)):
            estimates = A * losses / P  # (played, arm)
            cost = (np.log(np.exp(-eta * estimates) @ X) + eta * (estimates @ X)) / eta
            assert Z @ cost <= eta * problem.stability(x) * (1 + 1e-9) + 1e-12


# -- baselines as special cases --------------------------------------------------------------------------------


def test_known_algorithms_are_special_cases():
    T, n = 10_000.0, 50
    hedge = Strong(n, 0, True, 1, 0, 0, 0, False)
    assert hedge.value(T, hedge.parameters(T)) == pytest.approx(sqrt(T * log(n) / 2))
    assert hedge.parameters(T).eta == pytest.approx(sqrt(8 * log(n) / T))
    bandit = Strong(n, 0, False, n, 0, n, 0, False)
    assert bandit.value(T, OneSimplex(1.0, sqrt(2 * log(n) / (n * T)))) == pytest.approx(
        sqrt(2 * n * T * log(n))
    )
    best = bandit.value(T, bandit.parameters(T))
    assert best <= min(sqrt(2 * n * T * log(n)), sqrt(8 * T * sqrt(n) * (sqrt(n) - 1)))


@pytest.mark.parametrize("n", [2, 3, 10, 1000, 10**6])
def test_q_ftrl_constant(n):
    """√(2D_q(N)α^q T) ≤ 2√(eαT(2 + log(N/α))) for its q, and the plan is at most either."""
    for alpha in {1, 2, max(n // 10, 1), max(n // 2, 1), n}:
        q = q_of_ftrl(n / alpha)
        published = 2 * sqrt(e * alpha * (2 + log(n / alpha)))
        at_q = sqrt(2 * float(diameter(q, n)) * alpha**q)
        assert at_q <= published
        problem = Strong(n, 0, False, alpha, 0, n, 0, False)
        assert problem.value(1.0, problem.parameters(1.0)) <= at_q * (1 + 1e-12)


# -- plans ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STRONG)
@pytest.mark.parametrize("horizon", [1, 100, 10**6])
def test_certificates_are_checked(name, horizon):
    made = plan(STRONG[name], horizon)
    failing = [str(condition) for condition in check_certificate(made) if not condition.holds]
    assert failing == []
    assert made.bound.certified


@pytest.mark.parametrize("name", STRONG)
def test_tampering_is_noticed(name):
    made = plan(STRONG[name], 10**6)
    assert (made.realization, made.partition.n_blocks) == ("flat", STRONG[name].n_arms)
    arrays = made.tuning.to_arrays()
    faster = Tuning.from_arrays(arrays | {"top_rate": 2 * arrays["top_rate"]})
    assert not all(c.holds for c in check_certificate(replace(made, tuning=faster)))
    cheaper = replace(made.bound, terms={k: t / 2 for k, t in made.bound.terms.items()})
    assert not all(c.holds for c in check_certificate(replace(made, curve=cheaper)))


def test_exploration_is_what_loopless_and_directed_arms_need():
    gamma = {name: plan(g, 10**6).parameters["gamma_bar"] for name, g in STRONG.items()}
    assert gamma["full"] == gamma["bandit"] == gamma["undirected"] == 0.0
    assert 0 < gamma["newsvendor"] < 0.01
    assert 0 < gamma["loop-less clique"] < 0.01


@pytest.mark.parametrize("name", STRONG)
def test_engine_plays_the_formula(name):
    """Probabilities after 60 rounds are those of mirror descent computed densely."""
    g = STRONG[name]
    made = plan(g, 10**6)
    policy: Policy = made.policy(seed=1)
    A = np.array([[g.reveals(i, j) for j in range(g.n_arms)] for i in range(g.n_arms)], dtype=float)
    fixed = made.tuning.global_exploration
    h, eta = made.parameters["h"], made.parameters["eta"]
    rng, S = np.random.default_rng(0), np.zeros(g.n_arms)
    for _ in range(60):
        Z = (1 - fixed.sum()) * dense_point(S, h, eta) + fixed
        np.testing.assert_allclose(policy.probabilities, Z, rtol=1e-8, atol=1e-12)
        arm, losses = policy.ask(), rng.random(g.n_arms)
        policy.tell(dict(zip(g.out_neighbors(arm).tolist(), losses[g.out_neighbors(arm)], strict=True)))
        S += A[arm] * losses / (A.T @ Z)
