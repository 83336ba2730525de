"""How likely an arm is to be played, and to be seen: Z and P, one slot at a time; and reveals that may fail.

In a simulation a coin decides whether an edge reveals: a hash of the word of the round and of both ends of the edge,
independent of losses and of the player's own draws. A reveal that failed is learnt from as a loss that equals the
shift, whose estimate is 0.
"""

from sidelight.engine._numba.jit import inlined, internal, kernel, loop, noinline
from sidelight.engine.constants import FAILED
from sidelight.engine.fields import SEEN_BY_ALL, SEEN_BY_BLOCK, SEEN_BY_EDGES, SEEN_BY_SELF
from sidelight.engine.random import arm_unit, edge_word, round_word
from sidelight.engine.round.indexing import (
    arm_at,
    block_of,
    group_of,
    in_edges,
    out_edges,
    record_of_block,
    top_group_of,
)
from sidelight.engine.simplex.point import value
from sidelight.engine.simplex.store import group


@inlined()
def block_value(machine, store, k):
    """Y_k."""
    # One block is played with certainty; the store has no simplex for it.
    if machine.n_blocks == 1:
        return 1.0
    return value(store, top_group_of(machine, k), k)


@inlined()
def on_behalf(machine, store, slot, k):
    """The adaptive exploration of a slot: coefficient · Σ √X over the slots it explores for."""
    total = 0.0
    g = record_of_block(machine, k)
    multiplier = group(store, g).multiplier
    for index in range(machine.child_start[slot], machine.child_start[slot + 1]):
        # √X = 1/d: adaptive blocks carry Tsallis-½ (paper, adaptive realization).
        total += 1.0 / (multiplier + store.key[machine.n_blocks + machine.child[index]])
    return machine.adaptive[k] * total


@inlined()
def varying(machine, state, store, slot, k):
    """The part of γ(j) that follows the distribution."""
    gamma = 0.0
    if machine.n_adaptive > 0 and machine.adaptive[k] > 0.0:
        gamma += on_behalf(machine, store, slot, k)
    if machine.any_spread:
        # Kept, not computed: it may lie above its formula, and estimates must use what is really played.
        gamma += state.spreading[slot]
    return gamma


@inlined()
def played(machine, state, store, slot, rest):
    """Z(j): the probability that a slot is played; `rest` is 1 − γ̄."""
    k = block_of(machine, slot)
    share = rest * block_value(machine, store, k)
    g = group_of(machine, k, slot)
    # The flag that comes with the block spares two further reads for arms that do not explore.
    explores = (machine.any_local or machine.n_fixed > 0) and (
        machine.singletons or (machine.block_and_flag[slot] & 1) != 0
    )
    if g >= 0:
        inside = value(store, g, machine.n_blocks + slot)
        if machine.any_local:
            inside *= group(store, record_of_block(machine, k)).share
            if explores:
                inside += machine.local[slot]
        # A singleton has X̃ = 1.
        share *= inside
    if explores and machine.n_fixed > 0:
        share += machine.fixed[slot]
    if machine.n_adaptive > 0 or machine.any_spread:
        share += varying(machine, state, store, slot, k)
    return share


@inlined(needs="failing", without=1.0)
def chance_of(machine, edge):
    """How likely an explicit in-edge reveals; 1, for nothing, where all reveals are certain."""
    return machine.in_chance[edge] if machine.fails else 1.0


@loop()
def seen_by_edges(machine, state, store, slot, rest):
    """P: the probability that the loss of a slot is revealed, Σ of Z, times chances, over its in-neighbours.

    Slots seen by everyone, by everyone in their block, or by all of those but themselves do without: `learn`
    has closed forms for them.
    """
    probability = 0.0
    # Every in-neighbour of the graph counts, also where exploration was planned on a pruned graph: the
    # estimate ℓ/P is unbiased only with the true P.
    for e in in_edges(machine, slot):
        probability += played(machine, state, store, machine.in_indices[e], rest) * chance_of(machine, e)
    return probability


@inlined()
def seen_probability(machine, state, store, slot, z, rest):
    """P of any slot, which is played with probability z; `learn` has the same inside its loops."""
    how = machine.seen_by if machine.seen_by >= 0 else machine.seen_how[slot]
    if how == SEEN_BY_ALL:
        return 1.0
    if how == SEEN_BY_EDGES:
        return seen_by_edges(machine, state, store, slot, rest)
    if how == SEEN_BY_SELF:
        return z
    whole = 1.0  # all others are all of the block, or of everything
    if how == SEEN_BY_BLOCK and machine.n_blocks > 1:
        k = block_of(machine, slot)
        whole = rest * block_value(machine, store, k)
        if machine.n_fixed > 0:
            whole += group(store, record_of_block(machine, k)).held
        if machine.n_adaptive > 0:
            whole += machine.adaptive[k] * state.roots[k]
    return whole - z


@inlined()
def is_told(machine, loss):
    """Is this what may be told of an arm: a loss, or that it failed to be revealed?"""
    return 0.0 <= loss <= 1.0 or (machine.fails and loss == FAILED)


@inlined(needs="failing", without=1.0)
def reveal_chance(machine, edge):
    """How likely an explicit out-edge reveals; 1, for nothing, where all reveals are certain."""
    return machine.out_chance[edge] if machine.fails else 1.0


@internal(needs="failing", without=True)
def works(machine, word, slot, v):
    """Does playing `slot` reveal v, an out-neighbour, in the round of this word?"""
    noinline()
    if not machine.fails:
        return True
    # Rows are in the order of arms; what is not in the row is revealed by everyone, and never fails.
    arm = arm_at(machine, v)
    row = out_edges(machine, slot)
    low, high = row.start, row.stop
    while low < high:
        middle = (low + high) // 2
        if arm_at(machine, machine.out_indices[middle]) < arm:
            low = middle + 1
        else:
            high = middle
    if low == row.stop or machine.out_indices[low] != v:
        return True
    return arm_unit(edge_word(word, arm_at(machine, slot)), arm) < machine.out_chance[low]


@kernel()
def fill_edge_units(key, round_, arm, arms, out):
    """The numbers in [0, 1) by which it is decided whether playing `arm` reveals each of `arms`: below its chance."""
    word = edge_word(round_word(key, round_), arm)
    for i in range(arms.size):
        out[i] = arm_unit(word, arms[i])
