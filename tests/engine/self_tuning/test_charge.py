"""Charges: in expectation exactly the cost of a round, never less than what Lemma 1 says, and never more than 1."""

import numpy as np
import pytest
import signed_twin
from kernel_entries import INTERPRETED
from numpy.testing import assert_allclose
from self_tuning_twin import Ways, cost, point, terms
from tuned_plans import adjacency, tuned

import sidelight as sl
from sidelight.engine.build import build_memory
from sidelight.engine.fields import FIXED, duplicate, looked_into, views
from sidelight.engine.random import seeded_words
from sidelight.engine.round.round import fill_inside, fill_probabilities, start, tell_once
from sidelight.engine.self_tuning.choose import GROWN
from sidelight.engine.simplex.store import AS_RECORDS

STATES = 3 if INTERPRETED else 25


def random_graph(rng, n):
    """Every arm is seen by somebody."""
    A = rng.random((n, n)) < rng.choice([0.2, 0.4, 0.8])
    A[rng.integers(n, size=n), np.arange(n)] = True
    return sl.FeedbackGraph.from_adjacency(A)


def random_tuning(rng, graph, order):
    """All arms are covered, or those without self-loop and some others."""
    owed = ~graph.has_loop | (rng.random(graph.n_arms) < rng.choice([0.3, 1.0]))
    owed = owed if order < 1 and owed.any() else np.ones(graph.n_arms, dtype=bool)
    return tuned(graph, np.ones(graph.n_arms), order=order, owed=owed)


def random_state(rng, graph, order, shifted=False):
    """A memory in the middle of nowhere: any sums, any β, any leader, any strength, and any shift and lifts."""
    tuning = random_tuning(rng, graph, order)
    memory = build_memory(graph, tuning, seed=0)
    named, n = views(memory), graph.n_arms
    beta = 10.0 ** rng.uniform(-1, 2)
    L = rng.exponential(size=n) * 10.0 ** rng.uniform(-1, 2.5)
    named["scalars"].view(AS_RECORDS)["rate"][0] = (1 - order if order < 1 else 1.0) / beta
    rates = named["scalars"].view(AS_RECORDS)["rate"][0]
    named["key"][1:] = rates * L[views(memory, FIXED)["arm_at"]]
    now, total = looked_into(memory)[1], n**order
    now.beta, now.worst_case, now.priced, now.next_check = beta, 0.0, 0.0, 1e9
    now.leader, now.unspent_limit, now.most_explored = rng.integers(n), 1e9, 1e9
    now.leader_low, now.leader_high = -1.0, 2.0
    strength = rng.choice([0.01, 1e-4] if shifted else [0.0, 0.5, 0.01, 1e-4]) / total
    named["spread"][0] = strength
    named["fixed"] *= strength / tuning.self_tuning.first_strength
    now.shift = now.floor = 0.0
    if shifted:
        now.shift, now.above_leader = rng.uniform(0.1, 0.5), rng.integers(2)
        now.floor = min((1 - order) / beta, 0.2 / total) if tuning.lifted.any() else 0.0
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


def least_cost(A, X, Z, beta, s, c, losses):
    """E[σ] + ⟨ℓ, Z − X⟩ + Σ_{P=0} ℓX by summing over the draws: the left side of Lemma 1."""
    P = A.T @ Z
    estimates = np.where(P > 0, A * (losses - c) / np.where(P > 0, P, 1.0), 0.0)
    value = losses @ (Z - X) + (losses * X)[P == 0].sum()
    return value + Z @ signed_twin.stability(estimates, X, s, beta)


@pytest.mark.parametrize("shifted", [False, True])
@pytest.mark.parametrize("order", [0.5, 1.0, 0.8])
def test_charges_add_up_to_the_cost_of_the_round(order, shifted):
    rng, whole, above = np.random.default_rng(5), 0, 0
    for _ in range(2 * STATES):
        graph = random_graph(rng, int(rng.integers(2, 12)))
        A = adjacency(graph)
        if order == 1 and A.all():
            continue  # nothing is estimated there: the next test
        memory, L, beta = random_state(rng, graph, order, shifted)
        X, Z, now = np.empty(graph.n_arms), np.empty(graph.n_arms), looked_into(memory)[1]
        fill_inside(memory, X)
        fill_probabilities(memory, Z)
        assert_allclose(X, point(L, beta, order), rtol=0, atol=1e-12)
        leader, charged = int(views(memory, FIXED)["arm_at"][int(now.leader)]), charges(memory, graph)
        assert (charged >= 0).all()
        assert (charged <= 1).all()
        mean = float(Z @ charged)
        each = terms(A, X, Z, beta, order, leader, now.shift, bool(now.above_leader))
        assert_allclose(mean, np.minimum(each, Z).sum(), rtol=0, atol=1e-12)
        if (each > Z * (1 + 1e-9)).any():
            continue  # such a shift is not offered: below
        whole, above = whole + 1, above + bool(now.above_leader)
        if leader == X.argmax() and not shifted:
            assert mean >= cost(A, X, Z, beta, order) - 1e-12
        for losses in (*np.eye(graph.n_arms)[:3], np.ones(graph.n_arms), rng.random(graph.n_arms)):
            assert mean >= least_cost(A, X, Z, beta, order, now.shift, losses) - 1e-9
    assert INTERPRETED or (whole > STATES and (above > 5 or not shifted))


@pytest.mark.parametrize("rounds", [150, pytest.param(2500, marks=pytest.mark.full)])
def test_a_shift_that_is_offered_never_charges_more_than_1(rounds):
    """Nowhere where the choice still holds: X_I and what is explored near what they were, β no smaller."""
    rng, tried, largest = np.random.default_rng(4), {False: 0, True: 0}, 0.0
    while min(tried.values()) < rounds:
        n, s = int(rng.integers(2, 9)), float(rng.choice([0.3, 0.5, 0.6, 0.75, 0.9, 1.0]))
        tuning = random_tuning(rng, graph := random_graph(rng, n), s)
        A, load, beta = adjacency(graph), tuning.load, np.exp(rng.uniform(-1, 5))
        load = load if s < 1 else A.sum(axis=0)
        X = np.exp(rng.normal(size=n) * rng.choice([0.3, 1, 3, 6]))
        X /= X.sum()
        if rng.random() < 0.5:  # near a vertex
            rest, top = np.exp(rng.uniform(-6, -0.8)), X.max()
            X = np.where(top == X, 1 - rest, X * rest / (1 - top))
        leader = int(X.argmax())

        def g(scale, X=X, A=A, load=load, leader=leader, s=s):
            owed = np.divide(X ** (1 - s), load, out=np.zeros(X.size), where=load > 0)
            owed[leader] *= scale
            return (A * owed).max(axis=1)

        height = 1 / (1 - s) if tuning.lifted.any() else 0.0
        given = tuning.lifted, bool(tuning.self_tuning.signed), height, bool((load > 0).all())
        ways = Ways(A, X, beta, s, leader, g, *given)
        ways.add_families(keeps=False)
        for best in ways.tried.copy():
            ways.add_shifts(best)
        ways = [way for way in ways.tried if way.c and tried[way.above] < 2 * rounds]
        for way in [ways[k] for k in rng.integers(len(ways), size=2)] if ways else ():
            tried[way.above] += 1

            def most(at, way=way, X=X, g=g, beta=beta, A=A, s=s, leader=leader, lifted=tuning.lifted):
                moved = X * np.exp(at[1:])
                moved, warmer = moved / moved.sum(), beta * np.exp(abs(at[0]))
                gamma = way.b * g(way.scale, moved)
                gamma += lifted * np.maximum(way.floor * beta / warmer * moved ** (1 - s) - moved, 0.0)
                near = (1 - X[leader]) / GROWN <= 1 - moved[leader] <= GROWN * (1 - X[leader])
                if not near or gamma.sum() > way.limit:
                    return 0.0, 0.0
                Z = (1 - gamma.sum()) * moved + gamma
                each = terms(A, moved, Z, warmer, s, leader, way.c, way.above) / Z
                return np.where(
                    moved > 0.3 * Z, each, 0.0
                ).max(), each.max()  # climb where it is not 1 anyway

            at, (high, whole) = np.zeros(n + 1), most(np.zeros(n + 1))
            for _ in range(40):
                step = rng.normal(size=n + 1) * rng.choice([0.05, 0.3, 1.0, 3.0]) * (rng.random(n + 1) < 0.5)
                value, other = most(at + step)
                at, high, whole = at + step * (value > high), max(high, value), max(whole, other)
            assert whole <= 1 + 1e-9
            largest = max(largest, high)
    assert largest > 0.6


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
