"""Where every play reveals alike, one pass learns it all: the same as learning it arm by arm.

And losses arrive by rising arm, whatever the order of the engine.
"""

import numpy as np
import pytest
from dense_engine import Dense, hand_tuning
from instances import clique, cycle, loops, universal
from kernel_entries import INTERPRETED, fill_caches, unpack
from numpy.testing import assert_allclose, assert_array_equal

import sidelight as sl
from sidelight.engine import build as machine
from sidelight.engine import fields as names
from sidelight.engine import play
from sidelight.engine.fields import views
from sidelight.engine.round import learn_all as learning
from sidelight.engine.round import prefetch as ahead
from sidelight.engine.round import round as engine
from sidelight.engine.simplex import store as layout
from sidelight.environment.base import environment_key

ROUNDS = 60 if INTERPRETED else 900


def dense(n, edges, blocks, **fields):
    return Dense(sl.FeedbackGraph.from_edges(n, edges), hand_tuning(blocks, **fields))


def bandit(n, **fields):
    return dense(n, loops(range(n)), [[v] for v in range(n)], **fields)


def cliques(blocks, **fields):
    edges = [edge for block in blocks for edge in clique(block)]
    return dense(sum(map(len, blocks)), edges, blocks, inner=(0.0, 0.1), **fields)


def loopless_clique(n, **fields):
    return dense(n, clique(range(n)), [[v] for v in range(n)], **fields)


def full(n, **fields):
    edges = [*clique(range(n)), *loops(range(n))]
    return dense(n, edges, [[v] for v in range(n)], **fields)


INTERLEAVED = [[0, 3, 6, 9], [1, 4, 7], [2, 5, 8, 10, 11]]
RAGGED = 0.002 * np.array([3, 0, 1, 0, 0, 2, 1, 1, 0, 4, 0, 2])
ALIKE = {
    "bandit": (names.OWN_LOSS, lambda: bandit(7)),
    "bandit, two rates": (
        names.OWN_LOSS,
        lambda: bandit(7, top=[(2.0, 0.02 * (1 + v % 2)) for v in range(7)]),
    ),
    "bandit, every potential": (
        names.OWN_LOSS,
        lambda: bandit(12, top=4 * [(2.0, 0.05), (0.0, 0.03), (3.0, 0.02)], global_exploration=RAGGED),
    ),
    "bandit under the entropy": (names.OWN_LOSS, lambda: bandit(7, top=(0.0, 0.02))),
    "bandit of sixty": (names.OWN_LOSS, lambda: bandit(60)),
    "cliques in order": (names.OWN_BLOCK, lambda: cliques([[0, 1, 2], [3, 4, 5, 6]])),
    "cliques interleaved": (names.OWN_BLOCK, lambda: cliques(INTERLEAVED)),
    "cliques, blocks out of order": (
        names.OWN_BLOCK,
        lambda: cliques(INTERLEAVED, top=[(2.0, 0.05), (2.0, 0.01), (0.0, 0.02)]),
    ),
    "cliques that explore": (
        names.OWN_BLOCK,
        lambda: cliques(INTERLEAVED, global_exploration=RAGGED, local_exploration=10.0 * RAGGED),
    ),
    "cliques that explore alike": (
        names.OWN_BLOCK,
        lambda: cliques(
            INTERLEAVED, global_exploration=np.full(12, 0.004), local_exploration=np.full(12, 0.02)
        ),
    ),
    "cliques under the entropy": (
        names.OWN_BLOCK,
        lambda: cliques(INTERLEAVED, top=(0.0, 0.03), local_exploration=5.0 * RAGGED),
    ),
    "thirty cliques": (
        names.OWN_BLOCK,
        lambda: cliques(np.arange(90).reshape(3, 30).T.tolist(), global_exploration=np.full(90, 0.002)),
    ),
    "loop-less clique": (names.ALL_OTHERS, lambda: loopless_clique(6, top=(0.0, 0.05))),
    "loop-less clique that explores": (
        names.ALL_OTHERS,
        lambda: loopless_clique(6, top=(0.0, 0.05), global_exploration=np.full(6, 0.01)),
    ),
    "loop-less clique, tiny steps": (names.ALL_OTHERS, lambda: loopless_clique(30, top=(0.0, 0.002))),
    "loop-less clique of ninety": (names.ALL_OTHERS, lambda: loopless_clique(90, top=(0.0, 0.1))),
    "full feedback": (names.EVERYTHING, lambda: full(6, top=(0.0, 0.05))),
    "full feedback, tiny steps": (names.EVERYTHING, lambda: full(40, top=(0.0, 0.002))),
    "full feedback that explores": (
        names.EVERYTHING,
        lambda: full(12, top=(0.0, 0.05), global_exploration=RAGGED),
    ),
}
each_alike = pytest.mark.parametrize(("shape", "make"), ALIKE.values(), ids=ALIKE.keys())


@pytest.fixture(params=[24, 0], ids=["", "buckets"])
def _forms(request, monkeypatch):
    monkeypatch.setattr(layout, "LARGEST_LIST", request.param)


def losses_of(rng, t, n):
    """Zeros, ones and fractions; the best arm changes."""
    best = (t // 200) % n
    losses = rng.random(n) * (rng.random(n) < np.where(np.arange(n) == best, 0.15, 0.8))
    return np.where(rng.random(n) < 0.2, np.round(losses), losses)


@pytest.mark.usefixtures("_forms")
@each_alike
def test_one_pass_is_arm_by_arm(shape, make, monkeypatch):
    game = make()
    fast = game.begin(4)
    with monkeypatch.context() as patched:
        patched.setattr(machine, "_shape", lambda *_: names.MANY_SHAPES)
        slow = game.begin(4)
    assert (names.switch(fast, "shape"), names.switch(slow, "shape")) == (shape, names.MANY_SHAPES)
    assert_same_play(game, fast, slow)


def adaptive_block(edges, parent):
    n = len(parent)
    return dense(n, edges, [list(range(n))], adaptive=np.array([0.1 / np.sqrt(n)]), parent=np.array(parent))


SINGLE = {
    "cycle": lambda: adaptive_block(cycle(range(9)), [(v - 1) % 9 for v in range(9)]),
    "cycle both ways": lambda: adaptive_block(
        [*cycle(range(30)), *((v, u) for u, v in cycle(range(30)))], [(v + 1) % 30 for v in range(30)]
    ),
    "two stars": lambda: adaptive_block(
        [*((0, v) for v in range(1, 8)), *((1, v) for v in (0, 2, 3)), (5, 6), (7, 6)],
        [1, 0, 1, 0, 0, 0, 5, 0],
    ),
    "weights": lambda: one_block(20, inner=(0.0, 0.05), global_exploration=0.005 * np.arange(20) / 20),
    "hundred weights": lambda: one_block(100, inner=(0.0, 0.05)),
    "spread squares": lambda: one_block(
        30, spread=np.array([0.02]), cover=np.full(30, 0.5), load=np.ones(30)
    ),
    "spread powers": lambda: one_block(
        40, inner=(2.7, 0.1), spread=np.array([0.02]), cover=np.full(40, 0.5), load=np.ones(40)
    ),
}


def one_block(n, **fields):
    """A ring on which neighbours see each other, in one block."""
    edges = [(u, (u + step) % n) for u in range(n) for step in (-1, 1)]
    return dense(n, edges, [list(range(n))], **fields)


@pytest.mark.usefixtures("_forms")
@pytest.mark.parametrize("make", SINGLE.values(), ids=SINGLE.keys())
def test_a_single_simplex_learns_like_any_block(make, monkeypatch):
    game = make()
    fast = game.begin(4)
    assert names.switch(fast, "single") == 1
    monkeypatch.setattr(machine, "is_single", lambda *_: False)
    slow = game.begin(4)
    assert names.switch(slow, "single") == 0
    assert_same_play(game, fast, slow)


@pytest.mark.parametrize("make", SINGLE.values(), ids=SINGLE.keys())
def test_a_single_simplex_is_unbiased(make):
    game = make()
    if game.n > 12 and INTERPRETED:
        pytest.skip("many copies of many arms are for compiled kernels")
    game.assert_unbiased(game.played(ROUNDS // 10, seed=6), np.random.default_rng(7).random(game.n))


def ring_in_blocks(blocks, reach=2, **fields):
    """Every arm reveals its neighbours up to so many steps away on a ring, itself not: all are seen along edges."""
    n = sum(map(len, blocks))
    edges = [(u, (u + step) % n) for u in range(n) for step in range(-reach, reach + 1) if step]
    return dense(n, edges, blocks, inner=(0.0, 0.1), **fields)


IN_BLOCKS = {
    "blocks alike": lambda: ring_in_blocks([[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]),
    "blocks that differ": lambda: ring_in_blocks(
        INTERLEAVED, global_exploration=RAGGED, local_exploration=10.0 * RAGGED
    ),
    "blocks alike that explore": lambda: ring_in_blocks(
        [[0, 3, 6], [1, 4, 7], [2, 5, 8], [9, 10, 11]], local_exploration=5.0 * RAGGED
    ),
    "thirty blocks": lambda: ring_in_blocks(
        np.arange(90).reshape(3, 30).T.tolist(), global_exploration=np.repeat([0.004, 0.0, 0.001], 30)
    ),
    "different degrees": lambda: dense(
        6, [*cycle(range(6)), (0, 2), (0, 3), (5, 2)], [[0, 2, 4], [1, 3, 5]], inner=(0.0, 0.1)
    ),
}


@pytest.mark.parametrize("make", IN_BLOCKS.values(), ids=IN_BLOCKS.keys())
def test_blocks_seen_along_edges_are_unbiased(make):
    game = make()
    if game.n > 12 and INTERPRETED:
        pytest.skip("ninety copies of ninety arms are for compiled kernels")
    game.assert_unbiased(game.played(ROUNDS // 10, seed=6), np.random.default_rng(7).random(game.n))


def test_what_is_derived_is_what_it_says():
    """The constant exploration of all that reveal an arm, which can be made again from the rest."""
    game = SINGLE["weights"]()
    memory = game.played(ROUNDS // 10, seed=8)
    arm_at = unpack(memory)[0].arm_at
    found = views(memory)["seen_fixed"]
    assert_allclose(found, (game.tuning.global_exploration @ game.A)[arm_at], rtol=1e-14)
    kept = found.copy()
    found[:] = np.nan
    fill_caches(memory)
    assert_array_equal(found, kept)


def assert_same_play(game, fast, slow):
    """Rounding differs, and an arm that is rarely seen magnifies it: every 200 rounds both go on from the same state.

    A multiplier that moves far walks there, and rounding decides where it stops to refresh buckets: their members may
    then stand in another order, and the same numbers draw others of them. Both learn what one of them draws.
    """
    rng = np.random.default_rng(5)
    apart = []
    orderly = 0
    for t in range(ROUNDS):
        losses = losses_of(rng, t, game.n)
        arm = int(engine.ask_once(fast))
        in_order = np.array_equal(views(fast)["place"], views(slow)["place"])
        assert arm == engine.ask_once(slow) or not in_order
        orderly += in_order
        game.tell(fast, arm, losses)
        game.tell(slow, arm, losses)
        if t % 20 == 0:
            pairs = zip(game.probabilities(fast), game.probabilities(slow), strict=True)
            apart.append(max(np.abs(one - other).max() for one, other in pairs))
        if t % 200 == 199 or t == ROUNDS - 1:
            for one, other in zip(game.sums(fast), game.sums(slow), strict=True):
                assert_allclose(one, other, rtol=1e-8)
            for i in range(game.n):
                assert_allclose(game.ledger(fast, i), game.ledger(slow, i), rtol=1e-7, atol=1e-6)
            for name, view in views(slow, names.CHANGING, names.STREAM).items():
                view[...] = views(fast)[name]
    assert orderly > 0.9 * ROUNDS
    assert np.median(apart) < 1e-13
    assert max(apart) < 1e-8


# -- an arm with most of the probability -----------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.01, 0.2, 3.0])
@pytest.mark.parametrize("n", [2, 5, 40])
def test_an_overwhelming_arm_is_learnt_exactly(n, rate):
    """Nobody but one arm is played for long; then that arm fails, and its estimates are huge steps.

    Weights are kept by multiplication for up to 256 rounds: every round they must belong to their sums.
    """
    game = loopless_clique(n, top=(0.0, rate))
    memory = game.begin(1)
    assert names.switch(memory, "shape") == names.ALL_OTHERS
    rng = np.random.default_rng(2)
    largest = 0.0
    for t in range(120 if INTERPRETED else 600):
        best = 0 if t % 300 < 150 else n - 1
        losses = np.where(np.arange(n) == best, 0.02, 0.5 + 0.5 * rng.random(n))
        arms, _ = game.sums(memory)
        arm = int(engine.ask_once(memory))
        guess, _ = game.estimates(memory, arm, losses)
        game.tell(memory, arm, losses)
        assert_allclose(game.sums(memory)[0], arms + guess, rtol=1e-9, atol=1e-9)
        _, Y, _ = game.probabilities(memory)
        keys = rate * game.sums(memory)[0]
        exact = np.exp(keys.min() - keys)
        assert_allclose(Y, exact / exact.sum(), rtol=0, atol=1e-12)
        largest = max(largest, Y.max())
    assert largest > (0.5 if rate > 0.1 else 1.0 / n)


# -- the order of losses -------------------------------------------------------------------------------------


def rows_and_universal(blocks, **fields):
    """Nine arms: 1 and 8 are revealed by all others, 4 by all; rows of their own besides."""
    rng = np.random.default_rng(8)
    edges = [*universal([1, 4, 8], 9), (4, 4), *loops([0, 3, 6])]
    edges += [(int(u), int(v)) for u, v in rng.integers(0, 9, size=(18, 2)) if v not in (1, 8)]
    edges += cycle([2, 5, 7])
    return dense(9, sorted(set(edges)), blocks, **fields)


RATES = [(2.0, 0.02), (0.0, 0.03), (2.0, 0.05), (0.0, 0.01), (2.0, 0.02), (2.0, 0.05), (0.0, 0.03)]
ORDERS = {
    "in order": lambda: rows_and_universal([[v] for v in (0, 1)] + [list(range(2, 9))]),
    "blocks out of order": lambda: rows_and_universal(
        [[0], [1], [2, 5, 7], [3], [4], [6], [8]], top=RATES, inner=(2.0, 0.05)
    ),
    "universal arms inside blocks": lambda: rows_and_universal(
        [[3], [0, 1, 6, 8], [2, 4, 5, 7]], top=RATES[:3], inner=(0.0, 0.05)
    ),
    "potentials inside a block": lambda: rows_and_universal(
        [[0, 1, 2, 3, 4, 5, 6, 7, 8]], inner=[(2.0, 0.05), (0.0, 0.02), (2.0, 0.01)] * 3
    ),
    "potentials inside blocks": lambda: rows_and_universal(
        [[0, 2, 4, 5, 7], [1, 3, 6, 8]], top=RATES[1:3], inner=[(3.0, 0.05), (0.0, 0.02), (2.0, 0.01)] * 3
    ),
    "everything revealed": lambda: dense(
        6, clique(range(6)) + loops(range(6)), [[0], [1, 3, 5], [2], [4]], top=RATES[:4], inner=(0.0, 0.05)
    ),
    "some loops in a clique": lambda: dense(
        6, clique(range(6)) + loops([1, 4]), [[5], [1, 3], [0, 2], [4]], top=RATES[:4], inner=(2.0, 0.05)
    ),
}
each_order = pytest.mark.parametrize("make", ORDERS.values(), ids=ORDERS.keys())


@each_order
def test_every_loss_reaches_its_arm(make):
    """Each through `tell_once`, from every arm: an estimate is the loss of that very arm over P."""
    game = make()
    memory = game.played(ROUNDS // 10, seed=9)
    game.assert_unbiased(memory, np.random.default_rng(10).permutation(np.linspace(0.1, 1.0, game.n)))


def test_slots_are_not_always_arms():
    moved = [not unpack(make().begin())[0].in_order for make in ORDERS.values()]
    assert sum(moved) >= 4


@pytest.mark.usefixtures("_forms")
@pytest.mark.parametrize(
    "make",
    [*ORDERS.values(), *IN_BLOCKS.values(), *(make for _, make in ALIKE.values())],
    ids=[*ORDERS.keys(), *IN_BLOCKS.keys(), *ALIKE.keys()],
)
@pytest.mark.parametrize("kind", ["table", "coins"])
def test_playing_many_rounds_is_asking_and_telling(make, kind):
    """Bit for bit, with losses made on demand for each shape."""
    assert_played_as_told(make(), kind, 40 if INTERPRETED else 500)


@pytest.mark.skipif(INTERPRETED, reason="thousands of arms are for compiled kernels")
@pytest.mark.parametrize("family", [sl.families.loopless_clique, sl.families.full])
@pytest.mark.parametrize("rate", [0.1, 0.01, 0.001], ids=["large", "small", "tiny"])
@pytest.mark.parametrize("kind", ["table", "coins"])
def test_arms_by_the_thousand_are_learnt_piece_by_piece(family, rate, kind):
    """The same bits, however the losses come and whichever exponential the steps allow."""
    n = 2 * learning.PIECE + 77
    tuning = hand_tuning([[v] for v in range(n)], top=(0.0, rate), global_exploration=np.full(n, 1e-5))
    assert_played_as_told(Dense(family(n), tuning), kind, 300)


def assert_played_as_told(game, kind, rounds):
    rng = np.random.default_rng(11)
    if kind == "table":
        world = sl.environments.matrix(rng.random((7, game.n)), repeat=True)
    else:
        world = sl.environments.bernoulli(rng.random(game.n))
    key = environment_key(13)
    together, apart = game.begin(12), game.begin(12)
    plays = np.zeros(game.n, dtype=np.int64)
    play.play(together, world.world, world.function, key, 0, rounds, 0.0, game.scratch, plays)
    counts = np.zeros(game.n, dtype=np.int64)
    for t in range(rounds):
        arm = int(engine.ask_once(apart))
        counts[arm] += 1
        game.tell(apart, arm, world.losses(13, t, np.arange(game.n)))
    assert_array_equal(counts, plays)
    for name, view in views(together, names.CHANGING, names.DERIVED, names.STREAM).items():
        assert_array_equal(view, views(apart)[name], err_msg=name)


@pytest.mark.usefixtures("_forms")
@pytest.mark.parametrize(
    "make",
    [*ORDERS.values(), *SINGLE.values(), *IN_BLOCKS.values(), *(make for _, make in ALIKE.values())],
    ids=[*ORDERS.keys(), *SINGLE.keys(), *IN_BLOCKS.keys(), *ALIKE.keys()],
)
def test_asking_for_memory_ahead_changes_nothing(make, monkeypatch):
    """Bit for bit, whatever the shape: only large graphs do it on their own."""
    rounds = 20 if INTERPRETED else 300
    memories = []
    for asks in (False, True):
        monkeypatch.setattr(machine, "FETCHED", 0 if asks else 10**9)
        game = make()
        world = sl.environments.bernoulli(np.linspace(0.1, 0.9, game.n))
        memory = game.begin(14)
        assert names.switch(memory, "fetches") == asks
        nothing = np.zeros(0, dtype=np.int64)
        key = environment_key(15)
        play.play(memory, world.world, world.function, key, 0, rounds, 0.0, game.scratch, nothing)
        memories.append(views(memory))
    for name, view in memories[0].items():
        assert_array_equal(view, memories[1][name], err_msg=name)


@pytest.mark.skipif(not INTERPRETED, reason="only interpreted code can be listened to")
@pytest.mark.parametrize(
    "make", [*SINGLE.values(), *IN_BLOCKS.values()], ids=[*SINGLE.keys(), *IN_BLOCKS.keys()]
)
def test_memory_is_asked_for_where_there_is_some(make, monkeypatch):
    """Slots and members that are predicted exist: compiled code would read beside its arrays."""
    monkeypatch.setattr(machine, "FETCHED", 0)
    monkeypatch.setattr(layout, "LARGEST_LIST", 1)  # buckets
    game = make()
    asked = []
    for module in (ahead, play):
        monkeypatch.setattr(module, "fetch_slot", lambda machine, store, slot: asked.append(slot))
    world = sl.environments.bernoulli(np.full(game.n, 0.5))
    memory = game.begin(14)
    plays = np.zeros(0, dtype=np.int64)
    play.play(memory, world.world, world.function, environment_key(15), 0, 40, 0.0, game.scratch, plays)
    assert len(asked) >= 40
    assert min(asked) >= 0
    assert max(asked) < game.n
