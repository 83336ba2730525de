"""Prefetching: asking for memory ahead of its use. Nothing here changes any state.

Two reads that miss the caches overlap unless the address of one depends on the other. What a slot or a block will
need is known as soon as it is drawn: asking for all of it at once makes one wait out of many. And what the coming
rounds will draw is nearly known: their random numbers are counter-based, and the point hardly moves. So memory is
prefetched in steps, each when the one before has arrived: the member that a round will propose first, what the arm
or block there needs, and what the arms that it reveals need. A wrong prediction, as after a rejected proposal, only
costs time. It pays from about 20 000 arms on (`build.FETCHED`), where the state outgrows the nearer caches.
"""

from sidelight.engine._numba.jit import inlined
from sidelight.engine._numba.pointers import prefetch
from sidelight.engine.fields import MANY_SHAPES, OWN_LOSS
from sidelight.engine.random import coming_unit
from sidelight.engine.round.indexing import in_edges, out_edges, record_of_block, slots_of
from sidelight.engine.simplex.sample import proposal, root_proposal
from sidelight.engine.simplex.store import N_SCALARS, POWER_BUCKETS, first_of
from sidelight.engine.simplex.tree import coming_family, coming_leaf


@inlined()
def fetch_block(machine, store, k):
    """Ask for what drawing from block k, and learning about it, will read."""
    g = record_of_block(machine, k)
    prefetch(store.scalars, g * N_SCALARS)
    # A record of scalars is two cache lines of eight doubles.
    prefetch(store.scalars, g * N_SCALARS + 8)
    prefetch(store.key, k)
    prefetch(store.place, k)
    run = slots_of(machine, k)
    first = run.start
    c = machine.n_blocks + first
    # One request per cache line, for four at most: the processor recognises longer sequential reads by
    # itself.
    for ahead in range(0, min(len(run), 32), 8):
        prefetch(store.weight, c + ahead)
        prefetch(store.key, c + ahead)
        if machine.any_local:
            prefetch(machine.local, first + ahead)
        if machine.n_fixed > 0:
            prefetch(machine.fixed, first + ahead)


@inlined()
def fetch_slot(machine, store, slot):
    """Ask for what playing a slot will read first."""
    if machine.shape == MANY_SHAPES:
        prefetch(machine.out_indices, out_edges(machine, slot).start)
        prefetch(machine.in_indices, in_edges(machine, slot).start)
        prefetch(store.place, machine.n_blocks + slot)
        prefetch(store.key, machine.n_blocks + slot)
        if machine.n_adaptive > 0:
            prefetch(machine.child_start, slot)
            prefetch(machine.child, slot)
        if not machine.singletons and machine.n_blocks > 1:
            prefetch(machine.block_and_flag, slot)
    elif machine.shape == OWN_LOSS:
        prefetch(store.place, slot)
        prefetch(store.key, slot)


@inlined()
def will_spread(machine, state, ahead):
    """Will the draw `ahead` rounds from now come from spread exploration?"""
    if not machine.single or not machine.any_spread or machine.n_adaptive > 0 or machine.n_fixed > 0:
        return False
    gamma = state.gamma
    return gamma > 0.0 and coming_unit(state.words, ahead, 0) < gamma


@inlined()
def proposed(machine, state, store, ahead):
    """Where the member is that the draw `ahead` rounds from now will propose first; asks for it.

    Below 0 it is −1 minus the family of arms, in the tree over spread exploration, that the draw will come to.
    """
    words, gamma = state.words, state.gamma
    # The same decisions as `ask`, from the same random numbers: 0 decides about exploration, then which part
    # of it or the arm.
    if will_spread(machine, state, ahead):
        n = machine.n_arms
        return -1 - coming_family(state.spreading, 0, n, state.spread_node, 0, words, ahead, 2)
    if machine.single and machine.n_adaptive > 0 and coming_unit(words, ahead, 0) < gamma:
        position = root_proposal(store, 0, store.extra[0], coming_unit(words, ahead, 2))[0]
    else:
        position = proposal(store, 0, store.extra[0], coming_unit(words, ahead, 1 if gamma > 0.0 else 0))[0]
    # No proposal: any valid address will do.
    position = max(position, first_of(store, 0))
    prefetch(store.sum_at, position)
    prefetch(store.occupant, position)
    return position


@inlined()
def fetch_parent(machine, store, position):
    """Ask for who explores for a proposed member, where that may be needed."""
    if machine.single and machine.n_adaptive > 0:
        prefetch(machine.parent, store.occupant[position] - 1)


@inlined()
def slot_of_member(machine, state, store, position, ahead):
    """The slot that will be drawn `ahead` rounds from now, the first of its block where that is all one knows.

    `position` is what `proposed` gave for that round. Asks for what the slot or block will need; −1 if unknown.
    """
    words, gamma = state.words, state.gamma
    if position < 0:
        n = machine.n_arms
        slot = coming_leaf(state.spreading, 0, n, state.spread_node, 0, words, ahead, 2, -1 - position)
        fetch_slot(machine, store, slot)
        return slot
    drawn = store.occupant[position]
    # Reading the member is safe now: it was asked for rounds ago, so this does not wait.
    if machine.singletons:
        slot = drawn
    elif machine.n_blocks == 1:
        slot = drawn - 1
        if machine.single and machine.n_adaptive > 0 and coming_unit(words, ahead, 0) < gamma:
            slot = machine.parent[slot]
    elif machine.plain_blocks:
        fetch_block(machine, store, drawn)
        return slots_of(machine, drawn).start
    else:
        # Blocks of several kinds: finding the slot would need reads that have not been prefetched.
        return -1
    fetch_slot(machine, store, slot)
    return slot


@inlined()
def fetch_members(machine, state, store, slot):
    """Ask for the members of a single simplex that a slot reveals; where they are was asked for with `fetch_slot`."""
    if machine.single and slot >= 0:
        for e in out_edges(machine, slot):
            v = machine.out_indices[e]
            position = store.place[1 + v]
            prefetch(store.sum_at, position)
            prefetch(store.occupant, position)
            prefetch(store.key, 1 + v)
            prefetch(machine.in_indices, in_edges(machine, v).start)
            if machine.any_spread:
                prefetch(state.spreading, v)
                prefetch(state.spread_for, v)
                prefetch(machine.inverse_load, v)
                prefetch(machine.cover, v)


@inlined()
def fetch_lost(machine, state, store, n):
    """Ask for what `learn_single` will read for the n slots that lost: where they stand, and their in-neighbours."""
    bucketed = store.form[0] == POWER_BUCKETS
    for index in range(n):
        v = state.targets[index]
        prefetch(machine.in_indices, in_edges(machine, v).start)
        if bucketed:
            position = store.place[1 + v]
            prefetch(store.sum_at, position)
            prefetch(store.occupant, position)
    # A second loop, as it reads the edges that the first has asked for.
    values = store.key if bucketed else store.weight
    for index in range(n):
        v = state.targets[index]
        for e in in_edges(machine, v):
            prefetch(values, 1 + machine.in_indices[e])
