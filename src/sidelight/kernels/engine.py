"""One round of two-level mirror descent on a partitioned feedback graph.

The machine is a tree of depth two: a simplex over the blocks on top, a simplex inside every block of two or
more arms. Arms are addressed by *slot*, their position when blocks are laid out one after another. With Y
and X_k the points of those simplices, arm j of block k is played with probability

    Z(j) = (1 − γ̄) · Y_k · X̃_k(j) + γ(j),       X̃_k = (1 − ᾱ_k) X_k + local(j),
    γ(j) = fixed(j) + adaptive_k · Σ_{i : parent(i) = j} √X_k(i),     γ̄ = Σ_j γ(j).

`ask` draws from Z without writing it out; `learn` forms the unbiased estimates ℓ/P of what the played arm
revealed and moves only the simplices they touch. Simulation and the one-decision-at-a-time policy both call
these two functions, so the same seed gives the same play either way.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from sidelight.kernels.random import next_unit
from sidelight.kernels.simplex import draw, settle

LARGEST_ESTIMATE = 1e300
"""Estimates are capped here so that a vanished probability times a huge estimate is 0, never NaN."""


class Machine(NamedTuple):
    """Everything that is fixed before round one."""

    block_start: np.ndarray  # (m+1,) int64: slots of block k are block_start[k]..block_start[k+1]
    arm_at: np.ndarray  # (n,) int64: slot -> arm
    slot_of: np.ndarray  # (n,) int64: arm -> slot
    block_of: np.ndarray  # (n,) int64: slot -> block
    top_power: np.ndarray  # (m,) potential of each block's coordinate on the top simplex
    top_rate: np.ndarray
    power: np.ndarray  # (n,) potential of each slot inside its block
    rate: np.ndarray
    fixed: np.ndarray  # (n,) constant global exploration by slot
    fixed_slots: np.ndarray  # slots with fixed > 0
    fixed_cumulative: np.ndarray  # running sums of fixed over fixed_slots
    local: np.ndarray  # (n,) local exploration by slot
    local_total: np.ndarray  # (m,)
    adaptive: np.ndarray  # (m,) coefficient of the adaptive exploration, 0 for none
    parent: np.ndarray  # (n,) int64: the slot that explores on behalf of each slot, −1 for none
    out_indptr: np.ndarray  # the graph's explicit edges, by arm
    out_indices: np.ndarray
    in_indptr: np.ndarray
    in_indices: np.ndarray
    universal: np.ndarray  # arms that every other arm reveals
    is_universal: np.ndarray  # (n,) bool
    has_loop: np.ndarray  # (n,) bool


class State(NamedTuple):
    """Everything that changes. `numbers` and `counts` hold the scalars, named below."""

    top_sums: np.ndarray  # (m,) cumulative block losses, shifted
    y: np.ndarray  # (m,) distribution over blocks
    sums: np.ndarray  # (n,) cumulative estimates by slot, shifted per block
    x: np.ndarray  # (n,) distribution inside each block, by slot
    multiplier: np.ndarray  # (m,) Λ of each block
    shift: np.ndarray  # (m,) what has been added to the sums of each block
    roots: np.ndarray  # (n,) √x by slot in adaptive blocks, 0 elsewhere
    roots_total: np.ndarray  # (m,) their sums
    on_behalf: np.ndarray  # (n,) adaptive exploration by slot
    paid: np.ndarray  # (m,) Σ_t ⟨ℓ̂_k, X_k⟩
    numbers: np.ndarray  # float64 scalars
    counts: np.ndarray  # int64 scalars
    words: np.ndarray  # (4,) uint64: the random stream
    estimates: np.ndarray  # (n,) scratch: estimates of this round in order of observation
    touched: np.ndarray  # (m,) int64 scratch: blocks touched this round
    touched_in: np.ndarray  # (m,) int64 scratch: the last round that touched each block, −1 for none
    block_loss: np.ndarray  # (m,) scratch: L̂ of this round, zero between rounds


# State.numbers
TOP_MULTIPLIER, TOP_SHIFT, TOP_PAID, GAMMA_SUM, FIXED_TOTAL, ADAPTIVE_TOTAL = range(6)
N_NUMBERS = 6
# State.counts
ROUND, PENDING = range(2)
N_COUNTS = 2


@njit(cache=True, error_model="numpy")
def explored(state):
    """γ̄, the total global exploration of this round."""
    return state.numbers[FIXED_TOTAL] + state.numbers[ADAPTIVE_TOTAL]


@njit(cache=True, error_model="numpy")
def mixed(machine, state, slot):
    """X̃_k(j): the distribution inside the block with its local exploration."""
    k = machine.block_of[slot]
    return (1.0 - machine.local_total[k]) * state.x[slot] + machine.local[slot]


@njit(cache=True, error_model="numpy")
def played(machine, state, slot):
    """Z(j): the probability that the arm in this slot is played."""
    y = state.y[machine.block_of[slot]]
    gamma = machine.fixed[slot] + state.on_behalf[slot]
    return (1.0 - explored(state)) * y * mixed(machine, state, slot) + gamma


@njit(cache=True, error_model="numpy")
def seen(machine, state, arm):
    """P: the probability that the loss of `arm` is revealed, Σ of Z over its in-neighbours."""
    if machine.is_universal[arm]:
        if machine.has_loop[arm]:
            return 1.0
        return 1.0 - played(machine, state, machine.slot_of[arm])
    probability = 0.0
    for e in range(machine.in_indptr[arm], machine.in_indptr[arm + 1]):
        probability += played(machine, state, machine.slot_of[machine.in_indices[e]])
    return probability


@njit(cache=True, error_model="numpy")
def refresh_block(machine, state, k):
    """Recompute block k's point and its adaptive exploration from its sums."""
    first, last = machine.block_start[k], machine.block_start[k + 1]
    state.multiplier[k], added = settle(
        machine.power, machine.rate, state.sums, state.x, first, last, state.multiplier[k]
    )
    state.shift[k] += added
    if machine.adaptive[k] > 0.0:
        for slot in range(first, last):
            state.on_behalf[slot] = 0.0
        total = 0.0
        for slot in range(first, last):
            root = math.sqrt(state.x[slot])
            state.roots[slot] = root
            state.on_behalf[machine.parent[slot]] += machine.adaptive[k] * root
            total += root
        state.roots_total[k] = total


@njit(cache=True, error_model="numpy")
def refresh_top(machine, state):
    """Recompute the distribution over blocks from its sums."""
    m = state.y.size
    state.numbers[TOP_MULTIPLIER], added = settle(
        machine.top_power, machine.top_rate, state.top_sums, state.y, 0, m, state.numbers[TOP_MULTIPLIER]
    )
    state.numbers[TOP_SHIFT] += added


@njit(cache=True, error_model="numpy")
def refresh_adaptive_total(machine, state):
    """Recompute the adaptive part of γ̄."""
    total = 0.0
    for k in range(machine.adaptive.size):
        total += machine.adaptive[k] * state.roots_total[k]
    state.numbers[ADAPTIVE_TOTAL] = total


@njit(cache=True, error_model="numpy")
def start(machine, state):
    """Put every simplex at the minimum of its potential (all sums are zero)."""
    for k in range(state.y.size):
        if machine.block_start[k + 1] - machine.block_start[k] > 1:
            refresh_block(machine, state, k)
        else:
            state.x[machine.block_start[k]] = 1.0
    if state.y.size > 1:
        refresh_top(machine, state)
    else:
        state.y[0] = 1.0
    fixed = machine.fixed_cumulative
    state.numbers[FIXED_TOTAL] = fixed[fixed.size - 1] if fixed.size > 0 else 0.0
    refresh_adaptive_total(machine, state)
    state.counts[PENDING] = -1


@njit(cache=True, error_model="numpy")
def ask(machine, state):
    """Draw the arm of this round from Z."""
    words = state.words
    gamma = explored(state)
    if next_unit(words) < gamma:
        slot = draw_explored(machine, state, gamma)
    else:
        k = 0
        if state.y.size > 1:
            k = draw(state.y, 0, state.y.size, next_unit(words))
        first, last = machine.block_start[k], machine.block_start[k + 1]
        slot = first
        if last - first > 1:
            if next_unit(words) < machine.local_total[k]:
                slot = draw(machine.local, first, last, next_unit(words))
            else:
                slot = draw(state.x, first, last, next_unit(words))
    return machine.arm_at[slot]


@njit(cache=True, error_model="numpy")
def draw_explored(machine, state, gamma):
    """A slot with probability γ(j)/γ̄: a fixed one, or the parent of a slot drawn ∝ √X."""
    words = state.words
    cumulative = machine.fixed_cumulative
    if machine.fixed_slots.size > 0:
        target = next_unit(words) * gamma
        if target < state.numbers[FIXED_TOTAL]:
            at = np.searchsorted(cumulative, target, side="right")
            return machine.fixed_slots[min(at, cumulative.size - 1)]
    target = next_unit(words) * state.numbers[ADAPTIVE_TOTAL]
    block = -1
    reached = 0.0
    for k in range(machine.adaptive.size):
        weight = machine.adaptive[k] * state.roots_total[k]
        if weight > 0.0:
            block = k
            reached += weight
            if target < reached:
                break
    child = draw(state.roots, machine.block_start[block], machine.block_start[block + 1], next_unit(words))
    return machine.parent[child]


@njit(cache=True, error_model="numpy")
def learn(machine, state, arm, losses):
    """Take in what playing `arm` revealed and move to the next round.

    `losses` lists the explicit out-neighbours of the arm first, in order, then the universal arms (without
    the arm itself when it has no loop).
    """
    first, last = machine.out_indptr[arm], machine.out_indptr[arm + 1]
    n_touched = 0
    at = 0
    # All estimates first: they use this round's distribution.
    for e in range(first, last):
        n_touched = estimate(machine, state, machine.out_indices[e], losses[at], at, n_touched)
        at += 1
    for u in range(machine.universal.size):
        v = machine.universal[u]
        if v != arm or machine.has_loop[v]:
            n_touched = estimate(machine, state, v, losses[at], at, n_touched)
            at += 1

    state.numbers[GAMMA_SUM] += explored(state)
    if n_touched > 0:
        at = 0
        for e in range(first, last):
            state.sums[machine.slot_of[machine.out_indices[e]]] += state.estimates[at]
            at += 1
        for u in range(machine.universal.size):
            v = machine.universal[u]
            if v != arm or machine.has_loop[v]:
                state.sums[machine.slot_of[v]] += state.estimates[at]
                at += 1
        settle_touched(machine, state, n_touched)
    state.counts[ROUND] += 1


@njit(cache=True, error_model="numpy")
def estimate(machine, state, arm, loss, at, n_touched):
    """Note the estimate ℓ/P of one revealed arm and its share of the block's loss L̂."""
    if loss == 0.0:
        state.estimates[at] = 0.0
        return n_touched
    value = min(loss / seen(machine, state, arm), LARGEST_ESTIMATE)
    state.estimates[at] = value
    slot = machine.slot_of[arm]
    k = machine.block_of[slot]
    if state.touched_in[k] != state.counts[ROUND]:
        state.touched_in[k] = state.counts[ROUND]
        state.touched[n_touched] = k
        n_touched += 1
    state.block_loss[k] += mixed(machine, state, slot) * value
    state.paid[k] += state.x[slot] * value
    return n_touched


@njit(cache=True, error_model="numpy")
def settle_touched(machine, state, n_touched):
    """Move the touched blocks, then the top level, to their new points."""
    any_adaptive = False
    for index in range(n_touched):
        k = state.touched[index]
        loss = state.block_loss[k]
        state.block_loss[k] = 0.0
        state.numbers[TOP_PAID] += state.y[k] * loss
        state.top_sums[k] += loss
        if machine.block_start[k + 1] - machine.block_start[k] > 1:
            refresh_block(machine, state, k)
            any_adaptive = any_adaptive or machine.adaptive[k] > 0.0
    if any_adaptive:
        refresh_adaptive_total(machine, state)
    if state.y.size > 1:
        refresh_top(machine, state)


@njit(cache=True, error_model="numpy")
def fill_probabilities(machine, state, out):
    """Write Z for every arm into out."""
    for slot in range(out.size):
        out[machine.arm_at[slot]] = played(machine, state, slot)


@njit(cache=True, error_model="numpy")
def ledger(machine, state, arm, out):
    """The four parts of the estimated regret against `arm` so far (Lemma regret), into out[0:4].

    projection Σ⟨L̂, Y − e_k⟩, restriction Σ⟨ℓ̂_k, X_k − e_j⟩, global exploration Σγ̄, local exploration Σγ̄_k.
    """
    slot = machine.slot_of[arm]
    k = machine.block_of[slot]
    out[0] = state.numbers[TOP_PAID] - (state.top_sums[k] - state.numbers[TOP_SHIFT])
    out[1] = state.paid[k] - (state.sums[slot] - state.shift[k])
    out[2] = state.numbers[GAMMA_SUM]
    out[3] = machine.local_total[k] * state.counts[ROUND]
