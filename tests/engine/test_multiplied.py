"""Where everything moves each round, weights are multiplied, and now and then written afresh from their sums."""

import numpy as np
import pytest
from dense_engine import Dense, hand_tuning
from instances import clique
from kernel_entries import INTERPRETED, unpack
from numpy.testing import assert_allclose, assert_array_equal

import sidelight as sl
from sidelight.engine import fields as names
from sidelight.engine.exponential import TINY
from sidelight.engine.fields import views
from sidelight.engine.round import round as engine
from sidelight.engine.simplex.store import AS_RECORDS

EVERY = 256  # rounds between two times that all weights are written afresh


def loopless_clique(n, rate, fixed=0.0):
    tuning = hand_tuning([[v] for v in range(n)], top=(0.0, rate), global_exploration=np.full(n, fixed))
    game = Dense(sl.FeedbackGraph.from_edges(n, clique(range(n))), tuning)
    assert names.switch(game.begin(), "shape") == names.ALL_OTHERS
    return game


def assert_weights_belong_to_sums(memory, tolerance):
    _, _, store = unpack(memory)
    n = store.weight.size // 2
    record = store.scalars.view(AS_RECORDS)[0]
    base = record["base"]
    assert_allclose(store.weight[:n], np.exp(base - store.key[:n]), rtol=tolerance)
    assert_allclose(record["total"], store.weight[:n].sum(), rtol=tolerance)
    assert_allclose(record["factor"] * record["total"], 1.0, rtol=1e-15)


def losses_of(rng, n, best):
    return (rng.random(n) < np.where(np.arange(n) == best, 0.1, 0.7)).astype(float)


@pytest.mark.parametrize("n", [2, 3, 20])
@pytest.mark.parametrize("rate", [1e-6, 1e-3, 0.02])
def test_multiplying_stays_within_rounding(n, rate):
    """255 products lose 255 roundings at most; then all digits are back."""
    game = loopless_clique(n, rate, fixed=4 * rate / n)
    memory, rng = game.begin(1), np.random.default_rng(2)
    for t in range(1, (2 if INTERPRETED else 12) * EVERY + 1):
        game.tell(memory, int(engine.ask_once(memory)), losses_of(rng, n, t // 1000 % n))
        if t % EVERY == 0:
            assert_weights_belong_to_sums(memory, 1e-15)
        elif t % 50 == 0:
            assert_weights_belong_to_sums(memory, 2e-13)


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("times", [0.6, 0.99, 1.01, 3.0])
def test_steps_about_the_largest_tiny_one(n, times):
    """Which exponential is right depends on the rate and on who is seen how often: rounding either way."""
    game = loopless_clique(n, times * TINY * (1.0 - 1.0 / n), fixed=0.1 / n)
    memory, rng = game.begin(1), np.random.default_rng(2)
    for t in range(1, 2 * EVERY):
        arm, losses = int(engine.ask_once(memory)), rng.random(n) ** 0.1
        if t % 40 == 0:
            sums = game.sums(memory)[0]
            guess = game.estimates(memory, arm, losses)[0]
        game.tell(memory, arm, losses)
        if t % 40 == 0:
            assert_allclose(game.sums(memory)[0], sums + guess, rtol=1e-13)
            assert_weights_belong_to_sums(memory, 1e-13)


def test_an_arm_that_has_everything_is_seen_by_nobody():
    """Its probability rounds to 1: no loss is divided by zero, whoever plays."""
    n = 4
    game = loopless_clique(n, 0.001)
    memory = game.begin(1)
    _, _, store = unpack(memory)
    store.key[1:n] += 200.0
    engine.start(memory)
    for t in range(300):
        game.tell(memory, 0 if t % 2 else 2, np.ones(n))
        assert np.isfinite(game.probabilities(memory)[0]).all()
        assert np.isfinite(game.sums(memory)[0]).all()
    assert_weights_belong_to_sums(memory, 1e-13)


@pytest.mark.parametrize("rate", [0.03, 0.01])
def test_the_heaviest_is_kept_out_of_the_pass(rate):
    """An arm with most of the probability is rarely seen and takes large steps; it is found every 256 rounds."""
    n = 5
    game = loopless_clique(n, rate, fixed=0.02)
    memory, rng = game.begin(3), np.random.default_rng(4)
    for t in range(1, 4 * EVERY + 1):
        game.tell(memory, int(engine.ask_once(memory)), losses_of(rng, n, 3))
        assert_weights_belong_to_sums(memory, 2e-13)
        if t % EVERY == 0:
            Z, _, _ = game.probabilities(memory)
            assert views(memory)["dominant"] == np.argmax(Z)
    assert views(memory)["dominant"] == 3


def test_who_is_heaviest_changes_nothing():
    """Kept out of the pass or not: the same up to rounding."""
    n = 6
    game = loopless_clique(n, 0.005, fixed=0.01)
    memories = [game.begin(7) for _ in range(n)]
    rng = np.random.default_rng(8)
    for _ in range(200):
        losses, arm = losses_of(rng, n, 1), int(engine.ask_once(memories[0]))
        for heavy, memory in enumerate(memories):
            views(memory)["dominant"][()] = heavy
            game.tell(memory, arm, losses)
    for memory in memories[1:]:
        assert_allclose(game.probabilities(memory)[0], game.probabilities(memories[0])[0], rtol=1e-12)
        assert_allclose(game.ledger(memory, 2), game.ledger(memories[0], 2), rtol=1e-10)
    assert_array_equal(views(memories[0])["round"], 200.0)
