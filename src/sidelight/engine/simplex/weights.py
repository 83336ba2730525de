"""Entropy groups: weights exp(base − s), their total, and the point that follows from both."""

from sidelight.engine._numba.jit import inlined, internal, loop, noinline
from sidelight.engine.exponential import exp_nonpositive
from sidelight.engine.simplex.buckets import least_of
from sidelight.engine.simplex.store import (
    BASE,
    CHANGE,
    ENTROPY_TREE,
    SHIFT,
    TOTAL,
    end_of,
    first_of,
    head,
    set_factor,
)
from sidelight.engine.simplex.tree import renew_leaves, renew_tree, tree_total

REBASE = 1024.0
"""|λ| beyond which sums are shifted so that λ + s keeps its digits over 10⁹ rounds: it is rounded at 1e−13 then."""
LEAST_TOTAL = 2.0**-40
"""Total of entropy weights below which they are written afresh relative to the present least sum.

Weights underflow at e^(−708), far below this: what is lost has a probability that no draw can hit.
"""


@inlined()
def total_weights(store, g):
    """Bring the total of an entropy group up to date with its weights."""
    first, end = first_of(store, g), end_of(store, g)
    if store.form[g] == ENTROPY_TREE:
        total = tree_total(end - first, store.node, store.extra[g])
    else:
        total = sum_weights(store.weight, first, end)
    store.scalars[head(g) + TOTAL] = total
    if total < LEAST_TOTAL:
        refill_weights(store, g)


@inlined()
def solve_weights(store, g, first, end):
    """`solve` for a simplex that is one listed entropy group, whose coordinates the caller knows."""
    store.scalars[head(g) + TOTAL] = sum_weights(store.weight, first, end)
    accept_weights(store, g)


@internal()
def move_weights(store, g, coordinates, amounts, changed, n):
    """`add` n amounts to sums of the simplex that is entropy group g, and `solve` it; `changed` is scratch."""
    noinline()
    first, end = first_of(store, g), end_of(store, g)
    base, keys, weights = store.scalars[head(g) + BASE], store.key, store.weight
    for index in range(n):
        c = coordinates[index]
        after = keys[c] + amounts[index]
        keys[c] = after
        # The sums are the truth, in the log domain; the weights only follow them. The base is at most any
        # sum, so no exponential overflows.
        weights[c] = exp_nonpositive(base - after)
        changed[index] = c - first
    if store.form[g] == ENTROPY_TREE:
        # All changed leaves at once: paths that meet on the way to the root are walked once.
        renew_leaves(weights, first, end - first, store.node, store.extra[g], changed, n)
        store.scalars[head(g) + TOTAL] = tree_total(end - first, store.node, store.extra[g])
    else:
        store.scalars[head(g) + TOTAL] = sum_weights(weights, first, end)
    accept_weights(store, g)


@inlined()
def accept_weights(store, g):
    """The point of a simplex that is one entropy group, from its weights and their total."""
    at = head(g)
    # Even the best arm has lost much since the base was chosen: move the base up to it.
    if store.scalars[at + TOTAL] < LEAST_TOTAL:
        refill_weights(store, g)
    store.scalars[at + CHANGE] = 0.0
    # Dividing by the total is the exact solution of the multiplier: Λ itself is not needed here.
    set_factor(store, g, 1.0 / store.scalars[at + TOTAL])
    if store.scalars[at + BASE] > REBASE:  # weights are relative to the base, so they stay as they are
        shift_sums(store, g, -store.scalars[at + BASE])
        store.scalars[at + BASE] = 0.0


@internal()
def refill_weights(store, g):
    """Write all weights of an entropy group afresh, the greatest as 1."""
    noinline()
    first, end = first_of(store, g), end_of(store, g)
    at = head(g)
    # The least sum has the largest weight, which becomes 1: the total is between 1 and n.
    base = least_of(store.key, first, end)
    store.scalars[at + BASE] = base
    keys, weights = store.key, store.weight
    for i in range(first, end):
        weights[i] = exp_nonpositive(base - keys[i])
    if store.form[g] == ENTROPY_TREE:
        renew_tree(store.weight, first, end - first, store.node, store.extra[g])
        store.scalars[at + TOTAL] = tree_total(end - first, store.node, store.extra[g])
    else:
        store.scalars[at + TOTAL] = sum_weights(store.weight, first, end)


@loop(fastmath={"reassoc", "nsz"})
def sum_weights(weight, first, end):
    """Σ of the weights."""
    # Weights are positive and few enough that reassociating the sum, which vectorises it, costs no accuracy.
    total = 0.0
    for i in range(first, end):
        total += weight[i]
    return total


@inlined()
def shift_sums(store, g, amount):
    """Add `amount` to every sum of a group."""
    keys = store.key
    for i in range(first_of(store, g), end_of(store, g)):
        keys[i] += amount
    # Remembered, as ledger and certificate speak of the true cumulative estimates.
    store.scalars[head(g) + SHIFT] += amount
