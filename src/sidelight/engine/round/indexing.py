"""Where things are: arms, blocks, groups and edges by slot.

Each array read at random is a cache miss on a large graph; switches spare those that say nothing.
"""

import numpy as np

from sidelight.engine._numba.jit import inlined
from sidelight.engine.fields import OWN_BLOCK, SEEN_BY_OTHERS


@inlined()
def arm_at(machine, slot):
    """The arm in a slot."""
    return slot if machine.in_order else machine.arm_at[slot]


@inlined()
def block_of(machine, slot):
    """The block of a slot."""
    if machine.n_blocks == 1:
        return 0
    if machine.shape == OWN_BLOCK and machine.block_size > 0:
        return slot // machine.block_size
    return slot if machine.singletons else machine.block_and_flag[slot] >> 1


@inlined()
def group_of(machine, k, slot):
    """The group of a slot's coordinate inside block k, −1 for a singleton."""
    if machine.plain_blocks:
        return machine.n_top_groups + k
    if machine.singletons:
        return -1
    g = machine.block_group[k]
    return g if g >= -1 else machine.slot_group[slot]


@inlined()
def record_of(machine, k):
    """The group that keeps the owner's numbers of block k (not a singleton)."""
    if machine.plain_blocks:
        return machine.n_top_groups + k
    g = machine.block_group[k]
    return g if g >= -1 else -2 - g


@inlined()
def simplex_of(machine, k):
    """The simplex inside block k (not a singleton)."""
    if machine.plain_blocks:
        return k + (1 if machine.n_blocks > 1 else 0)
    return machine.block_simplex[k]


@inlined()
def top_group_of(machine, k):
    """The group of block k's coordinate on the top level."""
    return 0 if machine.n_top_groups == 1 else machine.top_group[k]


@inlined()
def first_edge(machine, slot):
    """Where the explicit out-neighbours of a slot begin."""
    return slot * machine.degree if machine.degree >= 0 else machine.out_indptr[slot]


@inlined()
def end_edge(machine, slot):
    """Where they end."""
    return (slot + 1) * machine.degree if machine.degree >= 0 else machine.out_indptr[slot + 1]


@inlined()
def first_in_edge(machine, slot):
    """Where the explicit in-neighbours of a slot begin."""
    return slot * machine.in_degree if machine.in_degree >= 0 else machine.in_indptr[slot]


@inlined()
def end_in_edge(machine, slot):
    """Where they end."""
    return (slot + 1) * machine.in_degree if machine.in_degree >= 0 else machine.in_indptr[slot + 1]


@inlined()
def first_slot(machine, k):
    """The first slot of block k."""
    return k * machine.block_size if machine.block_size >= 0 else machine.block_start[k]


@inlined()
def end_slot(machine, k):
    """One past its last slot."""
    return (k + 1) * machine.block_size if machine.block_size >= 0 else machine.block_start[k + 1]


@inlined()
def block_at(blocks_and_flags, per_block, slot):
    """`block_of` for the hottest loops: by arithmetic where all blocks are alike, per_block > 0."""
    return np.int32((slot + 0.5) * per_block) if per_block > 0.0 else blocks_and_flags[slot] >> 1


@inlined()
def is_own(machine, slot, v):
    """Is v the played slot, which does not reveal itself?"""
    return v == slot and machine.seen_how[v] == SEEN_BY_OTHERS
