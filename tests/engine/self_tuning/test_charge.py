"""Charges: in expectation exactly the cost of a round, and never less than what Lemma 1 says it must be."""

import numpy as np
import pytest
from kernel_entries import INTERPRETED
from numpy.testing import assert_allclose
from self_tuning_twin import cost, entropy, point, terms
from tuned_plans import adjacency, tuned

import sidelight as sl
from sidelight.engine.build import build_memory
from sidelight.engine.fields import duplicate, looked_into, views
from sidelight.engine.random import seeded_words
from sidelight.engine.round.round import fill_inside, fill_probabilities, start, tell_once
from sidelight.engine.simplex.store import AS_RECORDS

STATES = 3 if INTERPRETED else 25


def random_graph(rng, n):
    """Every arm is seen by somebody."""
    A = rng.random((n, n)) < 0.4
    A[rng.integers(n, size=n), np.arange(n)] = True
    return sl.FeedbackGraph.from_adjacency(A)


def random_state(rng, graph, order):
    """A memory in the middle of nowhere: any sums, any β, any leader, any strength."""
    n = graph.n_arms
    memory = build_memory(graph, tuned(graph, np.ones(n), order=order), seed=0)
    named = views(memory)
    beta = 10.0 ** rng.uniform(-1, 2)
    L = rng.exponential(size=n) * 10.0 ** rng.uniform(-1, 2.5)
    named["scalars"].view(AS_RECORDS)["rate"][0] = (1 - order if order < 1 else 1.0) / beta
    named["key"][1:] = named["scalars"].view(AS_RECORDS)["rate"][0] * L
    now, total = looked_into(memory)[1], n**order
    now.beta, now.worst_case, now.next_check = beta, 0.0, 1e9
    now.leader, now.unspent_limit = rng.integers(n), 1e9
    now.leader_low, now.leader_high = -1.0, 2.0
    strength = rng.choice([0.0, 0.5, 0.01, 1e-4]) / total
    named["spread"][0] = strength
    named["fixed"] *= strength / tuned(graph, np.ones(n), order=order).self_tuning.first_strength
    start(memory)
    return memory, L, beta


def charges(memory, graph, losses=0.0):
    """(N,) what drawing each arm is charged."""
    found = np.empty(graph.n_arms)
    for arm in range(graph.n_arms):
        one = duplicate(memory, seeded_words(0))
        revealed = np.broadcast_to(losses, graph.n_arms)[graph.out_neighbors(arm)]
        tell_once(one, arm, revealed, np.zeros(graph.n_arms + 1))
        found[arm] = views(one)["charged"]
    return found


def least_cost(A, L, X, Z, beta, s, losses):
    """E[σ] + ⟨ℓ, Z − X⟩ + Σ_{P=0} ℓX by summing over the draws: the left side of Lemma 1."""
    P = A.T @ Z

    def minimum(sums):
        x = point(sums, beta, s)
        return float(sums @ x) - beta * entropy(x, s)

    value = losses @ (Z - X) + (losses * X)[P == 0].sum()
    for arm in np.flatnonzero(Z > 0):
        estimate = np.where((A[arm] > 0) & (P > 0), losses / np.where(P > 0, P, 1.0), 0.0)
        value += Z[arm] * (estimate @ X + minimum(L) - minimum(L + estimate))
    return value


@pytest.mark.parametrize("order", [0.5, 1.0, 0.8])
def test_charges_add_up_to_the_cost_of_the_round(order):
    rng = np.random.default_rng(5)
    for _ in range(STATES):
        graph = random_graph(rng, int(rng.integers(2, 12)))
        memory, L, beta = random_state(rng, graph, order)
        X, Z = np.empty(graph.n_arms), np.empty(graph.n_arms)
        fill_inside(memory, X)
        fill_probabilities(memory, Z)
        assert_allclose(X, point(L, beta, order), rtol=0, atol=1e-12)
        assert views(memory)["gamma"] <= 0.51
        A, leader = adjacency(graph), int(views(memory)["leader"])
        if order == 1 and A.all():
            continue  # nothing is estimated there: the next test
        charged = charges(memory, graph)
        assert (charged >= 0).all()
        assert (charged <= 1).all()
        mean = float(Z @ charged)
        assert_allclose(mean, terms(A, X, Z, beta, order, leader).sum(), rtol=0, atol=1e-12)
        if leader == X.argmax():
            assert mean >= cost(A, X, Z, beta, order) - 1e-12
        for losses in (*np.eye(graph.n_arms)[:3], np.ones(graph.n_arms), rng.random(graph.n_arms)):
            assert mean >= least_cost(A, L, X, Z, beta, order, losses) - 1e-9


@pytest.mark.parametrize("n", [2, 5, 40])
def test_with_full_feedback_a_round_is_charged_its_stability(n):
    rng, graph = np.random.default_rng(7), sl.families.full(n)
    for k in range(STATES):
        memory, L, beta = random_state(rng, graph, 1.0)
        losses = np.full(n, k / 2) if k < 3 else rng.random(n) if k % 2 else rng.integers(2, size=n) * 1.0
        X = point(L, beta, 1.0)
        known = X @ losses + beta * np.log(X @ np.exp(-losses / beta))
        charged = charges(memory, graph, losses)
        assert_allclose(charged, known, rtol=1e-9, atol=1e-12 * beta)
        assert (charged <= 0.125 / beta).all()


@pytest.mark.parametrize("n", [40, 400])
def test_large_groups_are_charged_at_least_that(n):
    rng = np.random.default_rng(6)
    for _ in range(STATES):
        graph = sl.families.cycle(n) if rng.random() < 0.5 else sl.families.mab(n)
        memory, _, beta = random_state(rng, graph, 0.5)
        X, Z = np.empty(n), np.empty(n)
        fill_inside(memory, X)
        fill_probabilities(memory, Z)
        leader = int(views(memory)["leader"])
        least = terms(adjacency(graph), X, Z, beta, 0.5, leader)
        charged = charges(memory, graph) * Z
        assert (charged >= least - 1e-12).all()
        others = np.arange(n) != leader
        assert_allclose(charged[others], least[others], rtol=1e-9, atol=1e-12)
