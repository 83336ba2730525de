"""Where things are: arms, blocks, groups and edges by slot.

On a large graph every array read at a random place is a cache miss. Where the answer follows from a property of the
whole plan (one block, equal sizes, equal degrees), switches of the machine replace the read by arithmetic.
"""

from sidelight.engine._numba.jit import inlined
from sidelight.engine.fields import OWN_BLOCK, SEEN_BY_OTHERS


@inlined()
def arm_at(machine, slot):
    """The arm in a slot."""
    return slot if machine.in_order else machine.arm_at[slot]


@inlined()
def block_of(machine, slot):
    """The block of a slot."""
    # Switches are the same in every round, so the processor predicts these branches; a read would have to
    # wait.
    if machine.n_blocks == 1:
        return 0
    if machine.shape == OWN_BLOCK and machine.block_size > 0:
        return slot // machine.block_size
    # The lowest bit says whether the slot explores: both are needed together, so they share a word.
    return slot if machine.singletons else machine.block_and_flag[slot] >> 1


@inlined()
def group_of(machine, k, slot):
    """The group of a slot's coordinate inside block k, −1 for a singleton."""
    if machine.plain_blocks:
        return machine.n_top_groups + k
    if machine.singletons:
        return -1
    # Below −1: the block mixes several potentials, and each slot has to say which is its own.
    g = machine.block_group[k]
    return g if g >= -1 else machine.slot_group[slot]


@inlined()
def record_of_block(machine, k):
    """The group that keeps the owner's numbers of block k (not a singleton)."""
    if machine.plain_blocks:
        return machine.n_top_groups + k
    # The first group of a block with several keeps the numbers of the whole block, coded as −2 − g.
    g = machine.block_group[k]
    return g if g >= -1 else -2 - g


@inlined()
def simplex_of(machine, k):
    """The simplex inside block k (not a singleton)."""
    if machine.plain_blocks:
        # Simplex 0 is the one over the blocks, where there are several.
        return k + (1 if machine.n_blocks > 1 else 0)
    return machine.block_simplex[k]


@inlined()
def top_group_of(machine, k):
    """The group of block k's coordinate on the top level."""
    return 0 if machine.n_top_groups == 1 else machine.top_group[k]


@inlined()
def out_edges(machine, slot):
    """Where the explicit out-neighbours of a slot are."""
    # Equal degrees need no index of rows: at a million arms that read was a third of a round
    # (docs/decisions/0011).
    degree = machine.degree
    first = slot * degree if degree >= 0 else machine.out_indptr[slot]
    return range(first, (slot + 1) * degree if degree >= 0 else machine.out_indptr[slot + 1])


@inlined()
def in_edges(machine, slot):
    """Where its explicit in-neighbours are."""
    degree = machine.in_degree
    first = slot * degree if degree >= 0 else machine.in_indptr[slot]
    return range(first, (slot + 1) * degree if degree >= 0 else machine.in_indptr[slot + 1])


@inlined()
def slots_of(machine, k):
    """The slots of block k."""
    size = machine.block_size
    first = k * size if size >= 0 else machine.block_start[k]
    return range(first, (k + 1) * size if size >= 0 else machine.block_start[k + 1])


@inlined()
def is_own(machine, slot, v):
    """Is v the played slot, which does not reveal itself?"""
    return v == slot and machine.seen_how[v] == SEEN_BY_OTHERS
