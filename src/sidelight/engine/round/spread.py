"""Exploration that follows the distribution: each arm explores for the neighbour that needs it most.

In a block with Tsallis-h coordinates, arm j is explored with β·g_j(X), where

    g_j(X) = x*_j · max_{i ∈ Nout(j)} X_i^{1−h}/c_i        (X^{1−h} = 1/d, see `buckets`),

and where the reveal of i by j works with probability r only, its entry is multiplied by r^{(1−h)/h}.

g depends on every X through λ, so writing it afresh costs as much as the block has edges. Small blocks do that.
Large ones keep an upper estimate of each g_j, exact up to the factor κ = 1/(1−ρ): coverage only needs g to be
large enough, and the certificate pays κ. An estimate is written as κ times the present value; it is renewed

* when the sum that it rests on has grown: then g_j may have fallen (`spread_for` is the arm that attains it),
* when λ has fallen so far that some 1/d may have outgrown κ: that is when the bucket of i is refreshed,
  as between refreshes of its bucket d falls by at most ρ·lo_b ≤ ρ·d.

Coverage is needed where a price rests on it. Free rounds of self-tuning play are charged for what they really play,
so there, on large graphs, a bucket is followed after `FREE_WINDOWS` refreshes only: g_j may lag behind by as much.

A sum tree over the estimates gives their total and draws from them. Slots whose estimates have changed are listed
in `state.changed` and the nodes above them renewed together.
"""

from sidelight.engine._numba.jit import inlined, internal, noinline
from sidelight.engine.round.indexing import in_edges, out_edges
from sidelight.engine.simplex.buckets import reach
from sidelight.engine.simplex.point import root
from sidelight.engine.simplex.store import N_BUCKETS, N_SERIES, POWER_BUCKETS, RENEWED, end_of, first_of
from sidelight.engine.simplex.tree import renew_leaves, renew_tree

LISTED = 256
"""Length of the list of changed slots; when it is full, the tree above them is renewed."""
LARGE = 1_000
"""Beyond so many arms following a refresh takes longer than many rounds: how and when is decided with care."""
LARGE_PART = 8
"""One of so many arms of a large graph is enough for all to be written afresh, in the order of memory."""
FREE_WINDOWS = 8
"""So many refreshes of a bucket free rounds let pass, an eighth of its d; strengths to choose from are √2 apart."""


# Who explores for whom: in a single simplex the graph's own edges say it, elsewhere a table of those inside blocks


@inlined()
def covered_edges(machine, slot):
    """Where the slots are that a slot explores for."""
    row = out_edges(machine, slot)
    first = row.start if machine.single else machine.covered_start[slot]
    return range(first, row.stop if machine.single else machine.covered_start[slot + 1])


@inlined()
def coverer_edges(machine, slot):
    """Where the slots are that explore for a slot."""
    row = in_edges(machine, slot)
    first = row.start if machine.single else machine.coverer_start[slot]
    return range(first, row.stop if machine.single else machine.coverer_start[slot + 1])


@inlined(needs="failing", without=1.0)
def covered_gain(machine, e):
    """What an entry of `covered` counts: r^{(1−h)/h}; 1, for nothing, where all reveals are certain."""
    return machine.covered_gain[e] if machine.fails else 1.0


@inlined(needs="failing", without=1.0)
def coverer_gain(machine, e):
    """The same of an entry of `coverer`."""
    return machine.coverer_gain[e] if machine.fails else 1.0


@inlined()
def set_spread(machine, state, slot, value, leader, n):
    """Let a slot explore `value`, which `leader` needs; n slots are listed as changed so far, return how many now."""
    if machine.self_tunes and slot == int(state.leader):
        value += state.on_leader
    state.spreading[slot] = value
    state.spread_for[slot] = leader
    state.changed[n] = slot
    # A refresh may change many slots: renewing the tree for a batch shares the nodes near the root.
    if n + 1 < LISTED:
        return n + 1
    renew_leaves(state.spreading, 0, machine.n_arms, state.spread_node, 0, state.changed, n + 1)
    return 0


@inlined()
def end_listing(machine, state, n):
    """Renew the tree above the listed slots."""
    if n > 0:
        renew_leaves(state.spreading, 0, machine.n_arms, state.spread_node, 0, state.changed, n)


@inlined()
def due_of(machine, store, k, g, slot, margin):
    """What a slot is to explore now, times `margin`, and for whom."""
    most = 0.0
    leader = -1
    for e in covered_edges(machine, slot):
        i = machine.out_indices[e] if machine.single else machine.covered[e]
        # X_i^{1−h}/c_i: inverse_load is 1/c, the inverse of the cover's load on i.
        due = machine.inverse_load[i] * root(store, g, machine.n_blocks + i) * covered_gain(machine, e)
        if due > most:
            most = due
            leader = i
    # margin = κ leaves room to grow: until the next renewal g_j stays below this value.
    value = machine.spread[k] * margin * machine.cover[slot] * most
    return value, leader if value > 0.0 else -1


@inlined()
def renew_spread(machine, state, store, k, g, slot, margin, n):
    """Write the exploration of a slot afresh, `margin` times what is due now."""
    value, leader = due_of(machine, store, k, g, slot, margin)
    return set_spread(machine, state, slot, value, leader, n)


@inlined()
def raise_spread(machine, state, store, k, g, i, margin, n):
    """Raise every slot that explores for i to what i needs now."""
    due = machine.spread[k] * margin * machine.inverse_load[i] * root(store, g, machine.n_blocks + i)
    for e in coverer_edges(machine, i):
        j = machine.in_indices[e] if machine.single else machine.coverer[e]
        # Only upwards: too much exploration is allowed within the certified factor, too little would break
        # coverage.
        if machine.cover[j] * due * coverer_gain(machine, e) > state.spreading[j]:
            n = set_spread(machine, state, j, machine.cover[j] * due * coverer_gain(machine, e), i, n)
    return n


@inlined()
def follow_sum(machine, state, store, k, g, i, margin, n):
    """The sum of slot i has grown: renew whoever explored for its sake, and raise whoever falls short."""
    due = machine.spread[k] * margin * machine.inverse_load[i] * root(store, g, machine.n_blocks + i)
    for e in coverer_edges(machine, i):
        j = machine.in_indices[e] if machine.single else machine.coverer[e]
        # The maximum was attained at i, whose X has fallen: look for the new maximum, or the estimate would
        # stay too high for ever.
        if state.spread_for[j] == i:
            n = renew_spread(machine, state, store, k, g, j, margin, n)
        # Slot i may be in another bucket now, whose next refresh is further off: let the factor κ start from
        # its present value.
        elif machine.cover[j] * due * coverer_gain(machine, e) > state.spreading[j]:
            n = set_spread(machine, state, j, machine.cover[j] * due * coverer_gain(machine, e), i, n)
    return n


@inlined()
def margin_of(store, g):
    """κ for a group in buckets, 1 for a list."""
    # Lists are renewed in full every time, so they need no room to grow.
    return 1.0 / (1.0 - reach(store.power[g])) if store.form[g] == POWER_BUCKETS else 1.0


@internal(needs="spread")
def renew_block_spread(machine, state, store, k, g):
    """Write the exploration of a whole block afresh."""
    noinline()
    margin = margin_of(store, g)
    bucketed = store.form[g] == POWER_BUCKETS
    first = first_of(store, g) - machine.n_blocks
    # A short list has fewer arms than edges: what each is due is computed once.
    if not bucketed:
        for i in range(first, end_of(store, g) - machine.n_blocks):
            state.terms[i - first] = machine.inverse_load[i] * root(store, g, machine.n_blocks + i)
    n = 0
    whole = bucketed and machine.n_blocks == 1
    for slot in range(machine.block_start[k], machine.block_start[k + 1]):
        if whole:
            state.spreading[slot], state.spread_for[slot] = due_of(machine, store, k, g, slot, margin)
        elif bucketed:
            n = renew_spread(machine, state, store, k, g, slot, margin, n)
        else:
            most, leader = 0.0, -1
            if machine.cover[slot] > 0.0:
                for e in covered_edges(machine, slot):
                    i = machine.out_indices[e] if machine.single else machine.covered[e]
                    due = state.terms[i - first] * covered_gain(machine, e)
                    if due > most:
                        most, leader = due, i
            n = set_spread(machine, state, slot, machine.spread[k] * machine.cover[slot] * most, leader, n)
    if whole:  # every leaf has changed: one pass over each level
        if machine.self_tunes:
            state.spreading[int(state.leader)] += state.on_leader
        renew_tree(state.spreading, 0, machine.n_arms, state.spread_node, 0)
    end_listing(machine, state, n)
    # Everything is up to date now, refreshed buckets included.
    if bucketed:
        forget_renewal(store, store.extra[g])


@inlined()
def forget_renewal(store, h):
    """All that was refreshed has been taken note of."""
    store.series[h * N_SERIES + RENEWED] = 0.0
    for b in range(N_BUCKETS):
        store.renewed[h * N_BUCKETS + b] = 0


@internal(needs="spread")
def follow_spread(machine, state, store, k, g, n_added):
    """After a solution: renew what has changed in block k, whose owed slots form group g."""
    noinline()
    # Small: all of it costs less than finding out what has changed.
    if store.form[g] != POWER_BUCKETS:
        renew_block_spread(machine, state, store, k, g)
        return
    margin = margin_of(store, g)
    n = 0
    # After the solution, as X depends on the new λ.
    for index in range(n_added):
        if state.owners[index] == g:
            n = follow_sum(machine, state, store, k, g, state.targets[index] - machine.n_blocks, margin, n)
    h = store.extra[g]
    # Members of a refreshed bucket may have used up the factor κ: raise whoever explores for them before λ
    # falls further. As rare as refreshes are.
    if store.series[h * N_SERIES + RENEWED] != 0.0:
        size = end_of(store, g) - first_of(store, g)
        large = size > LARGE
        windows = 1
        if large and machine.self_tunes and state.worst_case == 0.0:
            windows = FREE_WINDOWS
        row = h * (N_BUCKETS + 1)
        stale = 0
        for b in range(N_BUCKETS):
            if store.renewed[h * N_BUCKETS + b] >= windows:
                stale += store.start[row + b + 1] - store.start[row + b]
        # Members of a bucket lie anywhere in memory: once they are many, everything in order is faster.
        if large and LARGE_PART * stale > size:
            end_listing(machine, state, n)
            renew_block_spread(machine, state, store, k, g)
            return
        for b in range(N_BUCKETS):
            if store.renewed[h * N_BUCKETS + b] >= windows:
                for position in range(store.start[row + b], store.start[row + b + 1]):
                    i = store.occupant[position] - machine.n_blocks
                    n = raise_spread(machine, state, store, k, g, i, margin, n)
                store.renewed[h * N_BUCKETS + b] = 0
        store.series[h * N_SERIES + RENEWED] = 0.0
    end_listing(machine, state, n)
