"""Exploration that follows the distribution: the formula where it is written afresh, within κ where it is lazy.

Tunings are made by hand: random graphs, arms that everyone reveals, blocks that mix potentials.
"""

import math

import numpy as np
import pytest
from dense_engine import Dense, copy, hand_tuning
from kernel_entries import INTERPRETED, exploration, unpack
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from simplex_twin import tree_levels
from tuned_plans import tuned

import sidelight as sl
from sidelight.engine.build import build_memory
from sidelight.engine.fields import views
from sidelight.engine.random import seeded_words
from sidelight.engine.round import round as engine
from sidelight.engine.round.spread import FREE_WINDOWS, LARGE
from sidelight.engine.simplex import store as layout
from sidelight.engine.simplex.store import POWER_BUCKETS, POWER_LIST

ROUNDS, EVERY = (60, 10) if INTERPRETED else (1500, 10)
POWERS = {f"h = {h}": 1.0 / (1.0 - h) for h in (0.5, 0.7, 0.9)}
PLACES = {  # which arms everyone reveals, with and without a loop; how many blocks; do blocks mix potentials?
    "one block": ((), (), 1, False),
    "universal arms": ((2,), (5,), 1, False),
    "mixed potentials": ((), (), 1, True),
    "mixed, universal": ((0, 7), (3,), 1, True),
    "two blocks": ((), (), 2, False),
    "two blocks, universal": ((1,), (8,), 2, False),
    "two blocks, mixed": ((4,), (), 2, True),
}


def kappa(q, shift=0.0):
    """The factor up to which lazy exploration is kept; where losses are shifted λ also rises."""
    rho = min(1.0 / (32.0 * q), 1.0 / 64.0)
    return (1.0 + rho if shift else 1.0) / (1.0 - rho)


def random_game(q, looped, loopless, n_blocks, mixed, seed=0, n=14):
    """A graph and a tuning that spreads in every block (if there are two, one also explores constantly)."""
    rng = np.random.default_rng([seed, n, n_blocks, int(mixed)])
    A = rng.random((n, n)) < 0.25
    block_of = rng.permutation(np.arange(n) % n_blocks)
    blocks = [np.flatnonzero(block_of == k) for k in range(n_blocks)]
    owed = np.ones(n, dtype=bool)
    inner = np.tile([q, 0.05], (n, 1))
    cover = rng.uniform(0.2, 1.0, size=n) * (rng.random(n) < 0.8)
    for block in blocks:
        if mixed:  # the rest of the block has potentials of its own, and nobody explores for it
            rest = rng.choice(block, size=block.size // 2, replace=False)
            owed[rest] = False
            inner[rest[::2]], inner[rest[1::2]] = (0.0, 0.1), (2.0, 0.03)
        cover[block[:2]] = 0.5
        A[block[0], block] = True  # so that everyone can be seen from inside the block
        A[block[1], block[0]] = True
    A[:, [*looped, *loopless]] = True
    for arm in loopless:
        A[arm, arm] = False
    load = np.where(owed, rng.uniform(0.5, 2.0, size=n), 0.0)
    fixed = np.zeros(n)
    local = np.zeros(n)
    if n_blocks > 1:
        fixed[blocks[0]] = 0.002 * rng.integers(0, 3, size=blocks[0].size)
        local[blocks[1]] = 0.01 * rng.integers(0, 3, size=blocks[1].size)
    most = cover.sum() / load[owed].min()  # Σ g ≤ Σ x*/min load, as X ≤ 1
    tuning = hand_tuning(
        blocks,
        top=[(2.0, 0.02), (0.0, 0.01)][:n_blocks],
        inner=inner,
        spread=0.35 / most * np.arange(1, n_blocks + 1) / n_blocks,
        cover=cover,
        load=load,
        global_exploration=fixed,
        local_exploration=local,
    )
    return Dense(sl.FeedbackGraph.from_adjacency(A), tuning)


each_power = pytest.mark.parametrize("q", POWERS.values(), ids=POWERS.keys())
each_place = pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())


def losses_of(t, n, rng):
    """Coins; which arm is best changes after each third of the game."""
    best = (3 * t // ROUNDS * 5 + 1) % n
    return (rng.random(n) < np.where(np.arange(n) == best, 0.1, 0.6)) * rng.random(n)


def play_and_check(dense, lazy, seed=3):
    """Every few rounds: γ against its formula, and everything that is summed over it."""
    t = dense.tuning
    rng = np.random.default_rng(seed)
    memory = dense.begin(seed)
    owed_powers = np.unique(t.inner_power[t.load > 0.0])
    (q,) = owed_powers  # one potential for all that are owed, in these games
    (_, state, _), paid, moved = unpack(memory), 0.0, []
    for round_ in range(ROUNDS):
        if round_ % EVERY == 0:
            Z, Y, X = dense.probabilities(memory)
            held, due = dense.exploration(memory) - t.global_exploration, dense.due(X)
            if lazy:
                assert (held >= due * (1.0 - 1e-11) - 1e-15).all()
                assert (held <= kappa(q, t.shift) * due * (1.0 + 1e-11) + 1e-15).all()
                moved.append(
                    np.max(held[due > 0.0] / due[due > 0.0]) - np.min(held[due > 0.0] / due[due > 0.0])
                )
            else:
                assert_allclose(held, due, rtol=1e-11, atol=1e-17)
            gamma = held + t.global_exploration
            assert_allclose(state.gamma, math.fsum(gamma), rtol=1e-12)
            assert_allclose(Z, (1.0 - gamma.sum()) * Y[dense.block_of] * dense.mixed(X) + gamma, rtol=1e-11)
            assert abs(math.fsum(Z) - 1.0) <= 1e-12
            assert_nodes_in_order(memory)
        gamma_bar, before = state.gamma, state.top_paid
        dense.tell(memory, int(engine.ask_once(memory)), losses_of(round_, dense.n, rng))
        paid += gamma_bar * (1 - t.shift - (state.top_paid - before))
    assert_allclose(state.exploration_cost, paid, rtol=1e-9)
    if lazy:
        assert max(moved) > 0.0  # it is lazy indeed
    return memory


def assert_nodes_in_order(memory):
    state = views(memory)
    assert_allclose(state["spread_node"], np.concatenate(tree_levels(state["spreading"])), rtol=1e-13)


def forms_of_owed(dense, memory):
    """The forms in which the groups that are explored for are kept."""
    machine, _, store = unpack(memory)
    return {int(store.form[store.first_group[j]]) for j in machine.block_simplex}


# -- the formula ---------------------------------------------------------------------------------------------


@each_power
@each_place
def test_small_blocks_explore_exactly_what_is_due(q, place):
    dense = random_game(q, *place)
    memory = play_and_check(dense, lazy=False)
    assert forms_of_owed(dense, memory) == {POWER_LIST}


@each_power
@each_place
def test_large_blocks_stay_within_the_factor(q, place, monkeypatch):
    """Groups of three or more in buckets."""
    monkeypatch.setattr(layout, "LARGEST_LIST", 2)
    dense = random_game(q, *place)
    memory = play_and_check(dense, lazy=True)
    assert forms_of_owed(dense, memory) == {POWER_BUCKETS}


@each_power
@pytest.mark.parametrize("shift", [0.0, 0.4])
def test_a_long_cycle_stays_within_the_factor(q, shift):
    n = 40 if INTERPRETED else 200
    arms = np.arange(n)
    edges = [*zip(arms, (arms + 1) % n, strict=True), *zip(arms, (arms - 1) % n, strict=True)]
    tuning = hand_tuning(
        [arms],
        inner=(q, 0.02),
        spread=[0.4 / n],
        cover=np.full(n, 0.5),
        load=np.full(n, 0.5),
        shift=shift,
    )
    dense = Dense(sl.FeedbackGraph.from_edges(n, edges), tuning)
    assert forms_of_owed(dense, play_and_check(dense, lazy=True)) == {POWER_BUCKETS}


@each_power
@pytest.mark.parametrize("largest_list", [24, 2])
def test_leaders_are_those_that_need_it_most(q, largest_list, monkeypatch):
    """`leader` is an owed out-neighbour in the block, and in small blocks one that attains the maximum."""
    monkeypatch.setattr(layout, "LARGEST_LIST", largest_list)
    dense = random_game(q, *PLACES["two blocks, mixed"])
    memory = dense.played(ROUNDS // 3, seed=6)
    machine, state, _ = unpack(memory)
    _, _, X = dense.probabilities(memory)
    t, due = dense.tuning, dense.due(X)
    for arm in range(dense.n):
        leader = state.spread_for[machine.slot_of[arm]]
        if due[arm] == 0.0:
            assert leader == -1
            continue
        i = machine.arm_at[leader]
        assert dense.A[arm, i]
        assert dense.block_of[arm] == dense.block_of[i]
        need = t.spread[dense.block_of[arm]] * t.cover[arm] * X[i] ** (1.0 / q) / t.load[i]
        margin = 1.0 if largest_list == 24 else kappa(q)
        assert due[arm] * (1.0 - 1e-11) <= need * margin
        assert need <= due[arm] * (1.0 + 1e-11)


def test_renewals_are_forgotten_once_followed():
    n = 60
    arms = np.arange(n)
    tuning = hand_tuning([arms], inner=(2.0, 0.05), spread=[0.005], cover=np.ones(n), load=np.ones(n))
    dense = Dense(sl.FeedbackGraph.from_edges(n, zip(arms, (arms + 1) % n, strict=True)), tuning)
    memory = dense.begin()
    rng = np.random.default_rng(0)
    for _ in range(40):
        dense.tell(memory, int(engine.ask_once(memory)), rng.random(n))
        assert not views(memory)["renewed"].any()


@pytest.mark.skipif(INTERPRETED, reason="a large graph, and thousands of rounds until it lags")
def test_free_rounds_of_large_graphs_let_exploration_lag_and_safe_rounds_never_do():
    """Self-tuning: a free round is charged for whatever it plays, a safe one relies on coverage."""
    n = LARGE + 200
    arms = np.arange(n)
    graph = sl.families.cycle(n)
    memory = build_memory(graph, tuned(graph, np.full(n, 0.5)), seed=1)
    now, rng, X = unpack(memory)[1], np.random.default_rng(0), np.empty(n)
    lags = {0.0: [], 1.0: []}  # what is held over what is due, in free and in safe rounds
    for t in range(30_000):
        if t % 5_000 == 4_999:
            now.slack = 0.0  # nothing may be spent beyond the price: rounds are safe
        arm = int(engine.ask_once(memory))
        losses = (rng.random(2) < 0.5 - 0.3 * (graph.out_neighbors(arm) == n - 1)).astype(np.float64)
        engine.tell_once(memory, arm, losses, np.zeros(n + 1))
        if t % 25 == 0 and t > 0:
            engine.fill_inside(memory, X)
            needs, leader = np.sqrt(X), int(now.leader)  # the cover sees every arm once
            needs[leader] *= now.leader_scale
            due = now.strength * 0.5 * np.maximum(needs[arms - 1], needs[(arms + 1) % n])
            held = exploration(memory)
            assert_allclose(views(memory)["gamma"], math.fsum(held), rtol=1e-12)
            held[leader] -= now.on_leader
            if due.any():
                ratios = held[due > 0] / due[due > 0]
                lags[now.priced] += [ratios.min(), ratios.max()]
    either_way = kappa(2.0, shift=0.5)
    assert 1.0 - 1e-9 <= min(lags[1.0]) < max(lags[1.0]) <= either_way * (1 + 1e-9)
    # One bucket's windows, and those of the bucket above from which a member may have come
    most = (FREE_WINDOWS + 1) / 64 * (1 + math.sqrt(2))
    assert 1.0 - most < min(lags[0.0]) < 0.99
    assert max(lags[0.0]) <= either_way / (1.0 - most)


# -- play ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("largest_list", [24, 2], ids=["lists", "buckets"])
@each_power
@each_place
def test_estimates_are_unbiased(q, place, largest_list, monkeypatch):
    monkeypatch.setattr(layout, "LARGEST_LIST", largest_list)
    dense = random_game(q, *place, seed=1)
    memory = dense.played(ROUNDS // 5, seed=2)
    dense.assert_unbiased(memory, np.random.default_rng(4).random(dense.n), tolerance=1e-8)


@pytest.mark.parametrize("largest_list", [24, 2], ids=["lists", "buckets"])
@each_place
def test_asking_draws_what_is_played(place, largest_list, monkeypatch):
    monkeypatch.setattr(layout, "LARGEST_LIST", largest_list)
    dense = random_game(2.0, *place, seed=2)
    memory = dense.played(ROUNDS // 10, seed=5)
    before = copy(memory)
    memory.words[:] = seeded_words(8)
    draws = 500 if INTERPRETED else 20_000
    counts = np.bincount([engine.ask_once(memory) for _ in range(draws)], minlength=dense.n)
    Z, _, _ = dense.probabilities(before)
    rare = draws * Z < 8.0
    counts, expected = (np.append(each[~rare], each[rare].sum()) for each in (counts, draws * Z))
    counts, expected = counts[expected > 2.0], expected[expected > 2.0]
    tests = 2 * len(PLACES)
    assert stats.chisquare(counts, expected * (counts.sum() / expected.sum())).pvalue > 1e-2 / tests
    for name, view in views(memory).items():
        if name != "words":
            assert_array_equal(view, views(before)[name])


def test_spreading_beside_adaptive_exploration():
    """Three blocks: one spreads, one explores adaptively, one is a loop of its own; γ is all of it."""
    cycle = [(0, 1), (1, 2), (2, 0)]
    pair = [(3, 4), (4, 5), (5, 3), (3, 0)]
    parent = [-1, -1, -1, 5, 3, 4, -1]
    tuning = hand_tuning(
        [[0, 1, 2], [3, 4, 5], [6]],
        top=[(2.0, 0.03), (2.0, 0.05), (2.0, 0.01)],
        inner=(2.0, 0.1),
        spread=[0.03, 0.0, 0.0],
        cover=[1, 1, 1, 0, 0, 0, 0],
        load=[1, 1, 1, 0, 0, 0, 0],
        adaptive=[0.0, 0.04, 0.0],
        parent=parent,
        global_exploration=[0, 0.01, 0, 0, 0.02, 0, 0],
    )
    dense = Dense(sl.FeedbackGraph.from_edges(7, [*cycle, *pair, (6, 6), (6, 2)]), tuning)
    memory = dense.begin(1)
    rng = np.random.default_rng(1)
    for _ in range(ROUNDS // 3):
        dense.tell(memory, int(engine.ask_once(memory)), losses_of(0, 7, rng))
        Z, Y, X = dense.probabilities(memory)
        gamma = dense.gamma(X)
        assert_allclose(dense.exploration(memory), gamma, rtol=1e-11)
        assert_allclose(Z, (1.0 - gamma.sum()) * Y[dense.block_of] * X + gamma, rtol=1e-11)
        assert abs(math.fsum(Z) - 1.0) <= 1e-12
    dense.assert_unbiased(memory, rng.random(7))
