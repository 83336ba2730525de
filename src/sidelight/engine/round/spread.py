"""Exploration that follows the distribution: each arm explores for the neighbour that needs it most, or is lifted.

In a block with Tsallis-h coordinates, arm j is explored with β·g_j(X), where

    g_j(X) = x*_j · max_{i ∈ Nout(j)} X_i^{1−h}/c_i        (X^{1−h} = 1/d, see `buckets`),

and where the reveal of i by j works with probability r only, its entry is multiplied by r^{(1−h)/h}. An arm that may
be lifted is explored with [floor·X_j^{1−s} − X_j]₊ besides: it shows itself, and estimates with a shift need that P
is at least (1−γ̄)·floor·X^{1−s}.

Both depend on every X through λ, so writing them afresh costs as much as the block has edges. Small blocks do that.
Large ones keep an upper estimate of each, exact up to the factor κ = (1+ρ)/(1−ρ): coverage only needs g to be large
enough, and the certificate pays κ. An estimate is written for the least d = X^{h−1} that an arm may have until its
bucket is refreshed (`buckets.extremes`); it is renewed

* when the sum that it rests on has changed: then g_j may have fallen (`spread_for` is the arm that attains it), or
  no longer be enough,
* when the bucket of i is refreshed, after λ has fallen or risen: the same.

Coverage is needed where a price rests on it. Free rounds of self-tuning play are charged for what they really play,
so there, on large graphs, a bucket is followed after `FREE_WINDOWS` refreshes only: g_j may lag behind by as much.

A sum tree over the estimates gives their total and draws from them. Slots whose estimates have changed are listed
in `state.changed` and the nodes above them renewed together.
"""

from sidelight.engine._numba.jit import inlined, internal, noinline
from sidelight.engine.round.indexing import in_edges, out_edges
from sidelight.engine.simplex.buckets import extremes, reach
from sidelight.engine.simplex.moments import inverse_power
from sidelight.engine.simplex.point import root, value
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
def highest_root(store, g, coordinate):
    """The largest X^{1−h} that a coordinate may have until its bucket is refreshed; in a list, what it has."""
    if store.form[g] == POWER_BUCKETS:
        return 1.0 / extremes(store, g, coordinate)[0]
    return root(store, g, coordinate)


@inlined()
def lift_of(machine, state, store, slot):
    """What a slot is to be lifted by now: no less than [floor·X^{1−s} − X]₊ until its next refresh."""
    if machine.lift_group < 0 or machine.lifted[slot] == 0.0 or state.floor == 0.0:
        return 0.0
    g, c = machine.lift_group, machine.n_blocks + slot
    if store.form[g] == POWER_BUCKETS:
        least, most = extremes(store, g, c)
        return max(state.floor / least - inverse_power(most, store.power[g]), 0.0)
    return max(state.floor * root(store, g, c) - value(store, g, c), 0.0)


@inlined()
def due_of(machine, state, store, k, g, slot):
    """What a slot is to explore, for others and to be lifted, and for whom."""
    most = 0.0
    leader = -1
    if machine.spread[k] > 0.0 and machine.cover[slot] > 0.0:
        for e in covered_edges(machine, slot):
            i = machine.out_indices[e] if machine.single else machine.covered[e]
            # X_i^{1−h}/c_i: inverse_load is 1/c, the inverse of the cover's load on i.
            due = machine.inverse_load[i] * highest_root(store, g, machine.n_blocks + i)
            due *= covered_gain(machine, e)
            if due > most:
                most = due
                leader = i
    explored = machine.spread[k] * machine.cover[slot] * most
    return explored + lift_of(machine, state, store, slot), leader if explored > 0.0 else -1


@inlined()
def renew_spread(machine, state, store, k, g, slot, n):
    """Write the exploration of a slot afresh."""
    value, leader = due_of(machine, state, store, k, g, slot)
    return set_spread(machine, state, slot, value, leader, n)


@inlined()
def follow_arm(machine, state, store, k, g, i, n):
    """What slot i needs has changed, by its sum or as λ has moved: renew who explores for it, and lift it afresh."""
    if machine.inverse_load[i] > 0.0 and machine.spread[k] > 0.0:
        due = machine.spread[k] * machine.inverse_load[i] * highest_root(store, g, machine.n_blocks + i)
        for e in coverer_edges(machine, i):
            j = machine.in_indices[e] if machine.single else machine.coverer[e]
            needed = machine.cover[j] * due * coverer_gain(machine, e)
            if needed == 0.0:
                continue
            needed += lift_of(machine, state, store, j)
            if needed > state.spreading[j]:
                n = set_spread(machine, state, j, needed, i, n)
            # The maximum was attained at i, which needs less now, as its X has fallen: look for the new maximum, or
            # the estimate would stay too high for ever.
            elif needed < state.spreading[j] and state.spread_for[j] == i:
                n = renew_spread(machine, state, store, k, g, j, n)
    if machine.lift_group >= 0 and machine.lifted[i] > 0.0:
        n = renew_spread(machine, state, store, k, g, i, n)
    return n


@inlined()
def margin_of(store, g):
    """How much more is explored for a group than what is due, about: nothing in lists, renewed every time."""
    return 1.0 + reach(store.power[g]) if store.form[g] == POWER_BUCKETS else 1.0


@inlined()
def is_bucketed(machine, store, g):
    """Is anything that exploration follows kept in buckets, g being the group that is explored for?"""
    h = machine.lift_group
    return store.form[g] == POWER_BUCKETS or (h >= 0 and store.form[h] == POWER_BUCKETS)


@internal(needs="spread")
def renew_block_spread(machine, state, store, k, g):
    """Write the exploration of a whole block afresh."""
    noinline()
    bucketed = is_bucketed(machine, store, g)
    first = first_of(store, g) - machine.n_blocks
    # A short list has fewer arms than edges: what each is due is computed once.
    if not bucketed and machine.spread[k] > 0.0:
        for i in range(first, end_of(store, g) - machine.n_blocks):
            state.terms[i - first] = machine.inverse_load[i] * root(store, g, machine.n_blocks + i)
    n = 0
    whole = bucketed and machine.n_blocks == 1
    for slot in range(machine.block_start[k], machine.block_start[k + 1]):
        if whole:
            state.spreading[slot], state.spread_for[slot] = due_of(machine, state, store, k, g, slot)
        elif bucketed:
            n = renew_spread(machine, state, store, k, g, slot, n)
        else:
            most, leader = 0.0, -1
            if machine.cover[slot] > 0.0 and machine.spread[k] > 0.0:
                for e in covered_edges(machine, slot):
                    i = machine.out_indices[e] if machine.single else machine.covered[e]
                    due = state.terms[i - first] * covered_gain(machine, e)
                    if due > most:
                        most, leader = due, i
            explored = machine.spread[k] * machine.cover[slot] * most + lift_of(machine, state, store, slot)
            n = set_spread(machine, state, slot, explored, leader, n)
    if whole:  # every leaf has changed: one pass over each level
        if machine.self_tunes:
            state.spreading[int(state.leader)] += state.on_leader
        renew_tree(state.spreading, 0, machine.n_arms, state.spread_node, 0)
    end_listing(machine, state, n)
    # Everything is up to date now, refreshed buckets included.
    for each in (g, machine.lift_group):
        if each >= 0 and store.form[each] == POWER_BUCKETS:
            forget_renewal(store, store.extra[each])


@inlined()
def forget_renewal(store, h):
    """All that was refreshed has been taken note of."""
    store.series[h * N_SERIES + RENEWED] = 0.0
    for b in range(N_BUCKETS):
        store.renewed[h * N_BUCKETS + b] = 0


@internal(needs="spread")
def follow_spread(machine, state, store, k, g, n_added):
    """After a solution: renew what has changed in block k, whose covered slots form group g."""
    noinline()
    # Small: all of it costs less than finding out what has changed.
    if not is_bucketed(machine, store, g):
        renew_block_spread(machine, state, store, k, g)
        return
    h = machine.lift_group
    n = 0
    # After the solution, as X depends on the new λ.
    for index in range(n_added):
        if state.owners[index] == g or state.owners[index] == h:
            n = follow_arm(machine, state, store, k, g, state.targets[index] - machine.n_blocks, n)
    end_listing(machine, state, n)
    if store.form[g] == POWER_BUCKETS:
        follow_buckets(machine, state, store, k, g, g)
    if h >= 0 and h != g and store.form[h] == POWER_BUCKETS:
        follow_buckets(machine, state, store, k, g, h)


@inlined()
def follow_buckets(machine, state, store, k, g, each):
    """Renew what rests on members of buckets of group `each` that were refreshed; g is the group explored for."""
    h = store.extra[each]
    # Members of a refreshed bucket may have used up the factor κ, either way: renew whoever explores for them before
    # λ moves further. As rare as refreshes are.
    if store.series[h * N_SERIES + RENEWED] == 0.0:
        return
    size = end_of(store, each) - first_of(store, each)
    large = size > LARGE
    windows = 1
    if large and machine.self_tunes and state.priced == 0.0:
        windows = FREE_WINDOWS
    row = h * (N_BUCKETS + 1)
    stale = 0
    for b in range(N_BUCKETS):
        if store.renewed[h * N_BUCKETS + b] >= windows:
            stale += store.start[row + b + 1] - store.start[row + b]
    # Members of a bucket lie anywhere in memory: once they are many, everything in order is faster.
    if large and LARGE_PART * stale > size:
        renew_block_spread(machine, state, store, k, g)
        return
    n = 0
    for b in range(N_BUCKETS):
        if store.renewed[h * N_BUCKETS + b] >= windows:
            for position in range(store.start[row + b], store.start[row + b + 1]):
                i = store.occupant[position] - machine.n_blocks
                n = follow_arm(machine, state, store, k, g, i, n)
            store.renewed[h * N_BUCKETS + b] = 0
    store.series[h * N_SERIES + RENEWED] = 0.0
    end_listing(machine, state, n)
