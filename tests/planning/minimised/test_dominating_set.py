"""Exponential weights that explore on a few arms: the inequality behind the bound; auto is never above Exp3.G."""

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

import sidelight as sl
from sidelight.partition import natural
from sidelight.planning.exploration import Solved, dominating_set, revealed_by
from sidelight.planning.minimised.dominating_set import DominatingSet, DominatingSetCandidate, Exploring


def random_graph(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 14))
    A = rng.random((n, n)) < rng.uniform(0.05, 0.6)
    A[np.arange(n), np.arange(n)] = rng.random(n) < rng.uniform(0.1, 1.0)
    for j in np.flatnonzero(~A.any(axis=0)):
        A[(j + 1) % n, j] = True
    return sl.FeedbackGraph.from_adjacency(A), int(10 ** rng.uniform(2, 5))


@cache
def weak_with_loops(number):
    """A weakly observable graph with and without self-loops, and a horizon."""
    seeds = itertools.count(0 if number == 0 else weak_with_loops(number - 1)[2] + 1)
    for seed in seeds:
        g, T = random_graph(seed)
        if sl.observability(g).graph == "weak" and g.has_loop.any() and not g.has_loop.all():
            return g, T, seed
    return None


@pytest.mark.parametrize("number", range(20))
def test_what_is_played_is_seen_as_often_as_the_bound_says(number):
    """Σ x/P ≤ size/γ + alone/(1−γ) for distributions of every kind."""
    g, T, _ = weak_with_loops(number)
    way = DominatingSetCandidate(natural.single(g), Solved(g))
    tuning, parameters = way.tune(T)
    gamma = parameters["gamma_bar"]
    assert_allclose(tuning.global_exploration.sum(), gamma)
    A = g.to_sparse().toarray().astype(float)
    rng = np.random.default_rng(1)
    for concentration in (0.02, 0.3, 1.0, 50.0):
        x = rng.dirichlet(np.full(g.n_arms, concentration)) + 1e-300
        P = ((1 - gamma) * x + tuning.global_exploration) @ A
        assert (x / P).sum() <= (way.problem.size / gamma + way.problem.alone / (1 - gamma)) * (1 + 1e-9)


@pytest.mark.parametrize("number", range(20))
def test_it_is_never_above_exp3g_and_checks(number):
    g, T, _ = weak_with_loops(number)
    way = DominatingSetCandidate(natural.single(g), Solved(g))
    bound = way.bound(T)
    rival = sl.baselines.exp3g_weak(g, T).bound
    assert bound.value <= rival.value * (1 + 1e-9) or not rival.certified
    tuning, parameters = way.tune(T)
    made = sl.Plan(g, way.partition, T, way.realization, way.choices, parameters, bound, tuning)
    assert all(condition.holds for condition in sl.check_certificate(made))
    less = {name: 0.9 * value for name, value in bound.terms.items()}
    claimed = replace(bound, terms=less)
    claimed_less = replace(made, curve=claimed)
    assert not all(condition.holds for condition in sl.check_certificate(claimed_less))


@pytest.mark.parametrize("seed", range(100, 120))
def test_no_certified_baseline_is_below_the_plan(seed):
    g, T = random_graph(seed)
    plan = sl.plan(g, T)
    for name in ("hedge", "exp3", "tsallis_inf", "exp3_ix", "exp3g", "chlz21", "q_ftrl"):
        try:
            bound = getattr(sl.baselines, name)(g, T).bound
        except sl.SidelightError:
            continue
        if bound is not None and bound.certified:
            assert plan.bound.value <= bound.value * (1 + 1e-9), name


@pytest.mark.parametrize("T", [300.0, 1e4, 1e7])
@pytest.mark.parametrize(
    "problem", [DominatingSet(6, 1, 3), DominatingSet(40, 7, 0), DominatingSet(500, 2, 400)]
)
def test_levers_are_the_best(problem, T):
    levers = problem.parameters(T)
    least = sum(problem.terms(T, levers).values())
    for factor in (0.9, 0.97, 1.03, 1.1):
        for eta, gamma in ((factor, 1.0), (1.0, factor), (factor, factor)):
            other = Exploring(levers.eta * eta, min(levers.gamma * gamma, 0.5))
            assert sum(problem.terms(T, other).values()) >= least * (1 - 1e-9)


@pytest.mark.parametrize("number", range(10))
def test_dominating_sets_reveal_their_targets(number):
    g, _, _ = weak_with_loops(number)
    assert revealed_by(g, dominating_set(g))[:].all()
    assert revealed_by(g, dominating_set(g, ~g.has_loop))[~g.has_loop].all()
