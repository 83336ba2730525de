"""Changing sums: `add` to one, or `move` a simplex by several at once and solve it."""

from sidelight.engine._numba.jit import inlined, internal, noinline
from sidelight.engine.exponential import exp_nonpositive
from sidelight.engine.simplex.buckets import raise_power_sum
from sidelight.engine.simplex.point import is_plain, note_change, root_sum
from sidelight.engine.simplex.solve import solve, solve_buckets, solve_list
from sidelight.engine.simplex.store import (
    BASE,
    CHANGE,
    ENTROPY_TREE,
    POWER_BUCKETS,
    POWER_LIST,
    end_of,
    first_of,
    head,
)
from sidelight.engine.simplex.tree import renew_leaf


@internal()
def add(store, g, coordinate, amount):
    """Add `amount` ≥ 0 (scaled) to the sum of a coordinate; the point is stale until `solve`."""
    noinline()
    before = store.key[coordinate]
    after = before + amount
    form = store.form[g]
    if form == POWER_BUCKETS:
        # Only marks the group as stale: the change of F is in its series.
        store.scalars[head(g) + CHANGE] = -1.0
        if store.power[g] == 2.0:  # as a constant: the compiler then drops the general power
            raise_power_sum(store, g, store.extra[g], 2.0, coordinate, before, after)
        else:
            raise_power_sum(store, g, store.extra[g], store.power[g], coordinate, before, after)
        return
    store.key[coordinate] = after
    if form == POWER_LIST:
        # Only the change of F at the present λ is noted: λ moves once, in `solve`, however many sums have
        # grown.
        note_change(store, g, store.power[g], before, after)
        return
    store.scalars[head(g) + CHANGE] = -1.0
    # From the sum, not by multiplying the old weight: rounding does not pile up, and a weight that has
    # underflowed to 0 can come back.
    store.weight[coordinate] = exp_nonpositive(store.scalars[head(g) + BASE] - after)
    if form == ENTROPY_TREE:
        first = first_of(store, g)
        renew_leaf(
            store.weight, first, end_of(store, g) - first, store.node, store.extra[g], coordinate - first
        )


@inlined()
def move(store, j, coordinates, amounts, n):
    """`add` n amounts to sums of simplex j, which is one group, and `solve` it."""
    g = store.first_group[j]
    if store.form[g] == POWER_BUCKETS and store.first_group[j + 1] - g == 1:
        move_buckets(store, j, g, coordinates, amounts, n)
        return
    if is_plain(store, j, POWER_LIST):
        move_short(store, j, coordinates, amounts, n)
        return
    for index in range(n):
        add(store, g, coordinates[index], amounts[index])
    solve(store, j)


@internal(needs="buckets")
def move_buckets(store, j, g, coordinates, amounts, n):
    """`move` for a bucketed group in one piece: a call costs as much as adding to a sum."""
    noinline()
    q, h = store.power[g], store.extra[g]
    for index in range(n):
        c = coordinates[index]
        before = store.key[c]
        if q == 2.0:  # as a constant: the compiler then drops the general power
            raise_power_sum(store, g, h, 2.0, c, before, before + amounts[index])
        else:
            raise_power_sum(store, g, h, q, c, before, before + amounts[index])
    solve_buckets(store, j, g)


@internal()
def move_short(store, j, coordinates, amounts, n):
    """`move` for a list of Tsallis-½ coordinates; returns Σ √x."""
    noinline()
    g = store.first_group[j]
    for index in range(n):
        before = store.key[coordinates[index]]
        after = before + amounts[index]
        store.key[coordinates[index]] = after
        note_change(store, g, 2.0, before, after)
    # Adaptive exploration needs Σ √x; it falls out of the evaluation, so it is handed on.
    return solve_list(store, j, g, 2.0)


@inlined()
def move_rooted(store, j, coordinates, amounts, n):
    """`move`, and Σ √x after it."""
    if is_plain(store, j, POWER_LIST):
        return move_short(store, j, coordinates, amounts, n)
    move(store, j, coordinates, amounts, n)
    return root_sum(store, store.first_group[j])
