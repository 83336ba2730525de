"""Prices: whatever was learnt and whatever is lost, a round that is played as a table says costs no more."""

from itertools import product
from math import inf

import numpy as np
import pytest
from self_tuning_twin import money, point

from sidelight.graph import FeedbackGraph, families
from sidelight.planning.exploration import Solved
from sidelight.planning.self_tuning.observed import covers, loopless_cost, loopless_costs

ORDERS = (0.3, 0.5, 0.8, 1.0)

GRAPHS = {
    "bandit": families.mab(5),
    "full": families.full(4),
    "no loops": families.loopless_clique(4),
    "one loop": FeedbackGraph.from_edges(
        4, [(i, j) for i, j in product(range(4), repeat=2) if i != j or i == 0]
    ),
    "two loops apart": FeedbackGraph.from_edges(
        4, [(0, 0), (1, 1), *((i, j) for j in (2, 3) for i in range(4) if i != j)]
    ),
    "cliques with loops": FeedbackGraph.from_edges(
        5, [*product(range(2), repeat=2), *product(range(2, 5), repeat=2)]
    ),
    "cycle": families.cycle(5),
    "one corrupted": families.corrupted_mab(5, 1),
    "revealing": families.revealing_action(4),
    "one way, loops": FeedbackGraph.from_edges(3, [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2)]),
    "lossy bandit": FeedbackGraph.from_edges(3, [(0, 0), (1, 1), (2, 2)], probabilities=[0.2, 0.6, 1]),
    "lossy full": families.faulty(families.full(3), 0.6),
    "lossy strangers": families.faulty(families.loopless_clique(3), 0.4),
    "lossy loop": FeedbackGraph.from_edges(
        3, [(0, 0), (0, 1), (0, 2), (1, 2), (2, 1)], probabilities=[0.5, 1, 0.7, 1, 1]
    ),
    "lossy cycle": FeedbackGraph.from_edges(
        4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], probabilities=[0.5, 1, 0.2, 1, 0.9]
    ),
}


def matrix(g):
    """A[j, i]: how likely playing j reveals i."""
    A = np.zeros((g.n_arms, g.n_arms))
    for j in range(g.n_arms):
        A[j, g.out_neighbors(j)] = g.reveal_probabilities(j)
    return A


def reveals(r):
    """(probability, what is revealed) for a row of probabilities."""
    unsure = np.flatnonzero((r > 0) & (r < 1))
    for works in product((True, False), repeat=unsure.size):
        shown = r > 0
        shown[unsure] = works
        yield float(np.where(works, r[unsure], 1 - r[unsure]).prod()), shown


def worst_round(A, L, beta, s, Z, c):
    """max over 0/1 losses of E σ + ⟨ℓ, Z − X⟩ + Σ_{P=0} ℓX, σ the exact stability; estimates are (ℓ − c)/P."""
    X, P = point(L, beta, s), A.T @ Z
    base, worst = L.min() - money(L, beta, s), -inf
    for bits in product((0.0, 1.0), repeat=X.size):
        losses = np.array(bits)
        estimates = [
            (Z[j] * chance, np.where(shown & (P > 0), (losses - c) / np.where(P > 0, P, 1.0), 0.0))
            for j in np.flatnonzero(Z > 0)
            for chance, shown in reveals(A[j])
        ]
        mean = sum(z * (e @ X + base - ((L + e).min() - money(L + e, beta, s))) for z, e in estimates)
        worst = max(worst, mean + losses @ (Z - X) + float((losses * X)[P == 0].sum()))
    return worst


def states(rng, n, beta):
    """Sums of every kind: even, spread out, one leader, two leaders, one far behind."""
    yield np.zeros(n)
    yield rng.exponential(size=n) * beta
    for leaders in (1, 2):
        L = beta * np.exp(rng.uniform(0, 5)) + rng.exponential(size=n)
        L[rng.permutation(n)[:leaders]] = 0.0
        yield L
    L = rng.exponential(size=n)
    L[rng.integers(n)] = 50 * beta
    yield L


@pytest.mark.parametrize("s", ORDERS)
@pytest.mark.parametrize("name", GRAPHS)
def test_a_safe_round_costs_at_most_its_price(name, s):
    g = GRAPHS[name]
    A, rng, shifted = matrix(g), np.random.default_rng(8), False
    for covered in covers(Solved(g)):
        rule = covered.rule(s, 0.5)
        weights, found = np.zeros(g.n_arms), covered.domination(s)
        weights[found.arms] = found.weights
        owed = np.zeros(g.n_arms)
        owed[found.cover] = 1.0
        gain = np.where(A > 0, A ** ((1 - s) / s), 0.0)
        for beta in rule.first * np.exp(rng.uniform(0, 5, size=4)):
            for L in states(rng, g.n_arms, beta):
                X = point(L, beta, s)
                need = owed * X ** (1 - s) / np.maximum(weights @ A ** (1 / s), 1e-300)
                direction, (price, b, lift, c) = (
                    weights * (gain * need[None, :]).max(axis=1),
                    rule.table.row(beta),
                )
                assert direction.sum() <= rule.weak * (1 + 1e-9)
                gamma = b * direction + covered.lifted * np.maximum(lift / beta * X ** (1 - s) - X, 0.0)
                Z = (1 - gamma.sum()) * X + gamma
                assert worst_round(A, L, beta, s, Z, c) <= price + 1e-9 * (1 + beta)
                assert c == 0 or rule.signed
                shifted |= c > 0
    assert shifted or name != "cycle"


def test_strongly_observable_graphs_have_a_price_that_falls_like_one_over_beta():
    for name, g in GRAPHS.items():
        strong = {covered.rule(0.5, 0.5).strong < inf for covered in covers(Solved(g))}
        weak = name in ("cycle", "one corrupted", "revealing", "lossy cycle")
        assert strong == {not weak} if g.certain else max(strong) is not weak


def test_the_price_of_loopless_arms_is_the_best_of_its_grid_and_near_that_of_a_finer_one():
    for s in ORDERS:
        for loops in (0.0, 1.0, 5.0):
            strong, lean = loopless_cost(s, 1.2, loops, loops + 1)
            tau = np.linspace(0.02, 0.5, 1001)
            assert strong == pytest.approx(
                loopless_costs(s, 1.2, loops, loops + 1, np.array(lean), tau).min(), rel=0.02
            )
            finer = loopless_costs(
                s, 1.2, loops, loops + 1, (1 - s) + np.linspace(0.05, 3, 500)[:, None], tau[None, ::10]
            )
            assert finer.min() >= 0.98 * strong
            assert lean * 1.2 <= strong


def test_covers_are_of_all_arms_and_of_those_without_loops():
    assert [covered.name for covered in covers(Solved(families.cycle(5)))] == ["all arms"]
    assert [covered.name for covered in covers(Solved(families.mab(5)))] == ["all arms"]
    found = list(covers(Solved(families.corrupted_mab(9, 1))))
    assert [covered.name for covered in found] == ["all arms", "loop-less arms"]
    assert found[1].domination(0.5).value < found[0].domination(0.5).value
