"""Estimates by exact expectation over all draws of the logging policy."""

import warnings
from itertools import product

import numpy as np
import pytest
from enumerated_logs import GRAPHS, fixed, learning, logs
from numpy.testing import assert_allclose

import sidelight as sl
from sidelight.evaluation.rounds import Weighting, model_of, terms_of
from sidelight.evaluation.target import Target

LOSSES = np.array([[0.2, 0.9, 0.5], [1.0, 0.1, 0.7], [0.4, 0.6, 0.0]])
SOME = np.array([0.2, 0.3, 0.5])
VARYING = np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0], [0.6, 0.2, 0.2]])


def terms(log, target, model="past", weighting=None):
    return terms_of(
        log, log.value, Target.of(log, target), model_of(log, log.value, model), weighting or Weighting()
    )


def expected(graph, logging, statistic):
    total = 0.0
    for chance, log in logs(graph, LOSSES, logging):
        total = total + chance * statistic(log)
    return total


@pytest.mark.parametrize("logging", [fixed, learning])
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("target", [1, SOME, VARYING], ids=["arm", "distribution", "varying"])
def test_every_round_is_unbiased(name, logging, target):
    """E X_t = E D_t = ⟨π_t, ℓ_t⟩ and E W_t = 1 in each round, also where the logging policy learns."""
    graph = GRAPHS[name]
    chosen = np.broadcast_to(np.eye(3)[1] if isinstance(target, int) else target, (3, 3))
    truth = (chosen * LOSSES).sum(axis=1)
    assert_allclose(expected(graph, logging, lambda log: terms(log, target).ips), truth, atol=1e-12)
    assert_allclose(expected(graph, logging, lambda log: terms(log, target).dr), truth, atol=1e-12)
    assert_allclose(expected(graph, logging, lambda log: terms(log, target).weight), 1, atol=1e-12)
    assert_allclose(
        expected(graph, logging, lambda log: terms(log, target).complement), 1 - truth, atol=1e-12
    )


def test_other_folds_are_unbiased_where_nothing_is_learned_and_only_there():
    """Later decisions know, through the logging policy, what this one revealed."""
    graph, truth = GRAPHS["bandit"], (LOSSES @ SOME)
    assert_allclose(expected(graph, fixed, lambda log: terms(log, SOME, "folds").dr), truth, atol=1e-12)
    biased = expected(graph, learning, lambda log: terms(log, SOME, "folds").dr)
    assert np.abs(biased - truth).max() > 1e-4


def test_any_model_is_unbiased():
    given = np.array([0.9, 0.0, 0.3])
    for graph in GRAPHS.values():
        found = expected(graph, learning, lambda log: terms(log, SOME, given).dr)
        assert_allclose(found, LOSSES @ SOME, atol=1e-12)


@pytest.mark.parametrize(
    "weighting", [Weighting(clip=2.0), Weighting(shrinkage=3.0), Weighting(ix=0.2)], ids=str
)
def test_smaller_weights_only_lower_both_sides(weighting):
    """So that an interval from both sides still holds."""
    for graph in GRAPHS.values():
        low = expected(graph, learning, lambda log: terms(log, SOME, weighting=weighting).ips)
        high = 1 - expected(graph, learning, lambda log: terms(log, SOME, weighting=weighting).complement)
        assert (low <= LOSSES @ SOME + 1e-12).all()
        assert (high >= LOSSES @ SOME - 1e-12).all()


def test_weights_by_hand():
    seen = np.array([0.1, 0.5, 1.0])
    assert_allclose(Weighting()(seen), [10, 2, 1])
    assert_allclose(Weighting(clip=4)(seen), [4, 2, 1])
    assert_allclose(Weighting(ix=0.1)(seen), [5, 1 / 0.6, 1 / 1.1])
    assert_allclose(Weighting(shrinkage=2)(seen), 1 / seen * 2 / (2 + 1 / seen**2))


def test_without_overlap_both_sides_stay_on_their_side():
    """Nothing reveals arm 0 of this graph, so the interval must leave room for all that it may have cost."""
    graph = sl.FeedbackGraph.from_edges(3, [(0, 1), (1, 1), (2, 2)])
    low = expected(graph, fixed, lambda log: terms(log, SOME).ips)
    high = 1 - expected(graph, fixed, lambda log: terms(log, SOME).complement)
    assert_allclose(low, LOSSES[:, 1:] @ SOME[1:], atol=1e-12)
    assert_allclose(high, low + SOME[0], atol=1e-12)


# -- against plain IPS ------------------------------------------------------------------------------------


def test_only_played_arms_give_plain_ips():
    for _, log in logs(GRAPHS["bandit"], LOSSES, learning):
        plain = SOME[log.arm] * log.value / log.probability
        assert_allclose(terms(log, SOME).ips, plain, rtol=1e-15)
        assert_allclose(terms(log, SOME).played, plain, rtol=1e-15)


@pytest.mark.parametrize("name", ["bandit", "full", "mixed with loops"])
@pytest.mark.parametrize("arm", [0, 1, 2])
def test_for_an_arm_side_observations_never_add_variance(name, arm):
    """E X_t² = ℓ²/P_i ≤ ℓ²/Z_i, in every round and whatever the graph, as long as arms see themselves."""
    mixed = sl.FeedbackGraph.from_edges(3, [(0, 0), (1, 1), (2, 2), (0, 1), (1, 0), (1, 2)])
    graph = mixed if name == "mixed with loops" else GRAPHS[name]
    ours = expected(graph, learning, lambda log: terms(log, arm).ips ** 2)
    plain = expected(graph, learning, lambda log: terms(log, arm).played ** 2)
    assert (ours <= plain + 1e-12).all()


def test_for_a_distribution_they_can():
    """An arm that is rarely played and reveals all the others makes their values come together: E X² by hand.

    K arms beside it: plain 1/(1−ε); with side observations ε(K/(1 − ε + Kε))² + (1 − ε)/(1 − ε + Kε)².
    """
    K, rare = 20, 0.05
    edges = [(0, 0)] + [(i, i) for i in range(1, K + 1)] + [(0, i) for i in range(1, K + 1)]
    graph = sl.FeedbackGraph.from_edges(K + 1, edges)
    played = np.append(rare, np.full(K, (1 - rare) / K))
    target = np.append(0.0, np.full(K, 1 / K))
    ours = plain = 0.0
    for arm in range(K + 1):
        shown = graph.out_neighbors(arm).tolist()
        seen = [float(played[graph.in_neighbors(j)].sum()) for j in shown]
        count = len(shown)
        table = {"round": [0] * count, "arm": [arm] * count, "probability": [played[arm]] * count}
        log = sl.Log.from_table(
            {**table, "revealed": shown, "loss": [1.0] * count, "seen": seen}, n_arms=K + 1
        )
        found = terms(log, target)
        ours += played[arm] * found.ips[0] ** 2
        plain += played[arm] * found.played[0] ** 2
    share = 1 - rare + K * rare
    assert_allclose(plain, 1 / (1 - rare))
    assert_allclose(ours, rare * (K / share) ** 2 + (1 - rare) / share**2)
    assert ours > 5 * plain


def test_reveals_that_fail_with_a_known_probability():
    """P_i = Σ_j Z_j r_ji; every draw and every pattern of failures, that of all reveals included."""
    played, losses = np.array([0.5, 0.3, 0.2]), LOSSES[0]
    works = np.array([[0.5, 0.9, 0.0], [0.0, 0.0, 0.4], [0.7, 0.0, 1.0]])  # r_ji
    seen = played @ works
    total = np.zeros(3)
    for arm in range(3):
        for pattern in product([False, True], repeat=3):
            chance = played[arm] * np.prod(np.where(pattern, works[arm], 1 - works[arm]))
            if chance == 0:
                continue
            shown = np.flatnonzero(pattern).tolist() or [None]
            table = {
                "round": [0] * len(shown),
                "arm": [arm] * len(shown),
                "revealed": shown,
                "loss": [None if j is None else losses[j] for j in shown],
                "seen": [None if j is None else seen[j] for j in shown],
            }
            found = terms(sl.Log.from_table(table, n_arms=3), SOME)
            total += chance * np.array([found.ips[0], found.dr[0], found.weight[0]])
    assert_allclose(total, [losses @ SOME, losses @ SOME, 1], atol=1e-12)


def test_a_round_that_reveals_nothing_counts():
    graph = GRAPHS["an arm reveals nothing"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.errors.PoorOverlap)
        mean = expected(graph, fixed, lambda log: sl.evaluate(log, SOME, method="ips").estimate)
        assert all(log.n_rounds == 3 for _, log in logs(graph, LOSSES, fixed))
    assert_allclose(mean, (LOSSES @ SOME).mean(), atol=1e-12)
