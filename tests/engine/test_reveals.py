"""Reveals that may fail, in the engine: exactly unbiased over draws and failures, and as the twin plays."""

import numpy as np
import pytest
from dense_engine import Dense, hand_tuning
from kernel_entries import INTERPRETED
from lazy_twin import LazyTwin
from numpy.testing import assert_allclose
from tuned_plans import adjacency, tuned

import sidelight as sl
from sidelight.engine import fields
from sidelight.engine.build import build_memory
from sidelight.engine.constants import FAILED
from sidelight.engine.round.round import ask_once, fill_probabilities, tell_once
from sidelight.environment.base import environment_key
from sidelight.graph.altered import sharpened
from sidelight.planning.covers import loads

ROUNDS = 40 if INTERPRETED else 400


def lossy(n, seed, universal=()):
    rng = np.random.default_rng(seed)
    R = np.where(rng.random((n, n)) < 3 / n, rng.choice([0.2, 0.6, 1.0], size=(n, n)), 0.0)
    R[np.arange(n), (np.arange(n) + 1) % n] = rng.choice([0.5, 1.0], size=n)
    R[:, list(universal)] = 1.0
    return sl.FeedbackGraph.from_adjacency(R, probabilities=True)


GAMES = {
    "entropy": (lossy(7, 1), (0.0, 0.1)),
    "roots": (lossy(7, 2), (2.0, 0.1)),
    "powers": (lossy(7, 3), (3.0, 0.1)),
    "universal arms": (lossy(7, 4, (2, 5)), (2.0, 0.1)),
    "buckets": (lossy(40, 5), (2.0, 0.05)),
}


def game(name, spread):
    graph, inner = GAMES[name]
    n, rng = graph.n_arms, np.random.default_rng(9)
    if spread and inner[0] > 0:
        cover = rng.uniform(0.3, 1.0, size=n)
        load = loads(graph, np.zeros(n, dtype=np.int64), cover, 1 + 1 / (inner[0] - 1))
        more = {"spread": [0.3 / (cover.sum() / load.min())], "cover": cover, "load": load}
    else:
        more = {"global_exploration": 0.2 * rng.dirichlet(np.ones(n))}
    tuning = hand_tuning([np.arange(n)], inner=inner, **more)
    tuning.check_graph(graph)
    return Dense(graph, tuning)


@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("name", GAMES)
def test_estimates_are_unbiased_over_draws_and_failures(name, spread):
    dense = game(name, spread)
    memory = dense.played(ROUNDS // 4)
    assert fields.switch(memory, "fails") == 1
    assert type(memory) is fields.Memory
    Z, _, X = dense.probabilities(memory)
    assert Z.sum() == pytest.approx(1.0, abs=1e-12)
    due = dense.gamma(X)
    kappa = 1.0 if name != "buckets" else 1.1
    assert (dense.exploration(memory) >= due * (1 - 1e-9) - 1e-12).all()
    assert (dense.exploration(memory) <= due * kappa * (1 + 1e-9) + 1e-12).all()
    if name != "buckets":
        dense.assert_unbiased(memory, np.random.default_rng(3).random(dense.n))


@pytest.mark.parametrize("order", [0.5, 1.0, 0.75])
@pytest.mark.parametrize("name", ["roots", "universal arms"])
def test_self_tuning_plays_as_its_twin(name, order):
    graph = GAMES[name][0]
    n, R = graph.n_arms, adjacency(graph)
    found = sl.fractional_domination(sharpened(graph, 1 / order))
    tuning = tuned(graph, np.asarray(found.weights), order=order)
    memory = build_memory(graph, tuning, seed=1)
    twin = LazyTwin(graph, tuning)
    rng, means = np.random.default_rng(0), np.where(np.arange(n) == n - 1, 0.2, 0.5)
    for _ in range(ROUNDS):
        Z = np.empty(n)
        fill_probabilities(memory, Z)
        assert_allclose(Z, twin.Z, rtol=0, atol=1e-9)
        arm = ask_once(memory)
        losses = np.where(rng.random(n) < R[arm], 2 * means * rng.random(n), np.nan)  # where the reveal fails
        told = np.where(np.isnan(losses), FAILED, losses)[graph.out_neighbors(arm)]
        tell_once(memory, arm, told, np.zeros(n + 1))
        twin.learn(arm, losses)
    assert twin.events > (2 if INTERPRETED else 20)
    now = fields.looked_into(memory)[1]
    assert [now.penalty, now.charged] == pytest.approx([twin.purchased, twin.charged], rel=1e-9)


def test_coins_have_their_odds_and_are_no_losses():
    graph = sl.FeedbackGraph.from_edges(3, [(0, 0), (0, 1), (1, 1), (1, 2)], probabilities=[0.2, 0.7, 0.7, 1])
    coins = sl.environments.bernoulli([0.5, 0.5, 0.5])
    rounds = 1000 if INTERPRETED else 20_000
    first = np.array([coins.revealed(3, t, graph, 0) for t in range(rounds)])
    other = np.array([coins.revealed(3, t, graph, 1) for t in range(rounds)])
    losses = np.array([coins.losses(3, t, [0, 1]) for t in range(rounds)])
    slack = 5 * np.sqrt(0.25 / rounds)
    assert_allclose(first.mean(axis=0), [0.2, 0.7], atol=slack)
    assert_allclose(other.mean(axis=0), [0.7, 1.0], atol=slack)
    pairs = [(first[:, 0], first[:, 1]), (first[:, 1], other[:, 0]), (first[:, 1], losses[:, 1])]
    pairs += [(first[:-1, 1], first[1:, 1]), (first[:, 0], losses[:, 0])]
    for one, two in pairs:  # uncorrelated with each other, with losses and from round to round
        assert abs(np.corrcoef(one, two)[0, 1]) < 5 / np.sqrt(rounds)
    assert environment_key(3) != environment_key(4)
    assert coins.revealed(0, 0, sl.families.full(3), 1).all()
