"""Reveals that may fail: how likely an edge reveals, and the coin that decides it in a simulation.

A coin is a hash of the word of the round and of both ends of the edge, independent of losses and of the player's own
draws. A reveal that failed is learnt from as a loss of 0: its estimate is 0 either way.
"""

from sidelight.engine._numba.jit import inlined, internal, kernel, noinline
from sidelight.engine.random import arm_unit, edge_word, round_word
from sidelight.engine.round.indexing import arm_at, end_edge, first_edge


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
    low, high = first_edge(machine, slot), end_edge(machine, slot)
    end = high
    while low < high:
        middle = (low + high) // 2
        if arm_at(machine, machine.out_indices[middle]) < arm:
            low = middle + 1
        else:
            high = middle
    if low == end or machine.out_indices[low] != v:
        return True
    return arm_unit(edge_word(word, arm_at(machine, slot)), arm) < machine.out_chance[low]


@kernel()
def fill_edge_units(key, round_, arm, arms, out):
    """The numbers in [0, 1) by which it is decided whether playing `arm` reveals each of `arms`: below its chance."""
    word = edge_word(round_word(key, round_), arm)
    for i in range(arms.size):
        out[i] = arm_unit(word, arms[i])
