"""Exponential weights that explore by a cover: the inequality behind the bound; auto is never above Exp3.G."""

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

import sidelight as sl
from sidelight.partition import natural
from sidelight.planning.exploration import Solved, dominating_set, revealed_by
from sidelight.planning.minimised.watched import Watched, WatchedCandidate, Watching


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


def watched(g):
    return WatchedCandidate(natural.single(g), Solved(g).partial_covers)


@pytest.mark.parametrize("number", range(20))
def test_what_is_played_is_seen_as_often_as_the_bound_says(number):
    """Σ ℓ·x/P ≤ ⟨ℓ, x⟩·δ/γ + missed/(1−γ) for distributions and losses of every kind, at and between corners."""
    g, _, _ = weak_with_loops(number)
    way, rng = watched(g), np.random.default_rng(1)
    A = g.to_sparse().toarray().astype(float)
    corners = range(len(way.covers))
    points = [(corner, 0.0) for corner in corners] + [(corner, 2.0) for corner in corners[:-1]]
    for corner, odds in points:
        x = Watching(0.1, float(rng.uniform(0.01, 0.5)), corner, odds)
        mass, missed = way.problem.cover(x)
        if not mass:
            continue
        weights = way._weights(x)
        assert_allclose(weights.sum(), mass)
        for concentration in (0.02, 0.3, 1.0, 50.0):
            X = rng.dirichlet(np.full(g.n_arms, concentration)) + 1e-300
            losses = rng.random(g.n_arms) < 0.7
            P = ((1 - x.gamma) * X + x.gamma * weights / mass) @ A
            most = losses @ X * mass / x.gamma + missed / (1 - x.gamma)
            assert losses @ (X / P) <= most * (1 + 1e-9)


@pytest.mark.parametrize("number", range(20))
def test_it_is_never_above_exp3g_and_checks(number):
    g, T, _ = weak_with_loops(number)
    way = watched(g)
    bound = way.bound(T)
    rival = sl.baselines.exp3g_weak(g, T).bound
    assert bound.value <= rival.value * (1 + 1e-9) or not rival.certified
    made = way.plan(T)
    assert [str(condition) for condition in sl.check_certificate(made) if not condition.holds] == []
    claimed = replace(bound, terms={name: 0.9 * value for name, value in bound.terms.items()})
    assert not all(condition.holds for condition in sl.check_certificate(replace(made, curve=claimed)))


@pytest.mark.parametrize("seed", range(100, 120))
def test_no_certified_baseline_is_below_the_plan(seed):
    g, T = random_graph(seed)
    plan = sl.plan(g, T, slack=0.0)
    for name in ("hedge", "exp3", "tsallis_inf", "exp3_ix", "exp3g", "chlz21", "q_ftrl"):
        try:
            bound = getattr(sl.baselines, name)(g, T).bound
        except sl.SidelightError:
            continue
        if bound is not None and bound.certified:
            assert plan.bound.value <= bound.value * (1 + 1e-9), name


@pytest.mark.parametrize("T", [300.0, 1e4, 1e7])
@pytest.mark.parametrize(
    "curve",
    [
        ((1.0, 3.0),),
        ((7.0, 0.0),),
        ((2.0, 400.0),),
        ((1.0, 30.0), (2.0, 10.0), (9.0, 0.0)),
        ((0.0, 40.0), (1.0, 0.0)),
    ],
)
def test_levers_are_the_best(curve, T):
    """Moving η, γ or the cover a little never helps."""
    problem = Watched(500, curve)
    x = problem.parameters(T)
    least = sum(problem.terms(T, x).values())
    for factor in (0.9, 0.97, 1.03, 1.1):
        for eta, gamma, odds in (
            (factor, 1.0, 1.0),
            (1.0, factor, 1.0),
            (factor, factor, 1.0),
            (1.0, 1.0, factor),
        ):
            other = x._replace(eta=x.eta * eta, gamma=min(x.gamma * gamma, 0.5), odds=x.odds * odds)
            assert sum(problem.terms(T, other).values()) >= least * (1 - 1e-8)
    between = [
        x._replace(corner=k, odds=odds) for k in range(len(curve) - 1) for odds in (1e-3, 0.1, 1.0, 10.0)
    ]
    for other in between:
        moved = problem.complete(T, eta=other.eta, corner=other.corner, odds=other.odds)
        assert sum(problem.terms(T, moved).values()) >= least * (1 - 1e-8)


@pytest.mark.parametrize("number", range(10))
def test_dominating_sets_reveal_their_targets(number):
    g, _, _ = weak_with_loops(number)
    assert revealed_by(g, dominating_set(g))[:].all()
    assert revealed_by(g, dominating_set(g, ~g.has_loop))[~g.has_loop].all()
