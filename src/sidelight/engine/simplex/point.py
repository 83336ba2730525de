"""A point of a simplex, whatever form a group is kept in: coordinates, F and its derivatives, entropy weights."""

import math

from sidelight.engine._numba.jit import inlined, internal, loop, noinline
from sidelight.engine._numba.pointers import offset
from sidelight.engine.exponential import exp_bounded, exp_nonpositive
from sidelight.engine.simplex.buckets import least_of
from sidelight.engine.simplex.moments import evaluate_buckets, fast_power, inverse_power, root_sum_buckets
from sidelight.engine.simplex.store import ENTROPY_LIST, ENTROPY_TREE, POWER_BUCKETS, end_of, first_of, group
from sidelight.engine.simplex.tree import renew_leaves, renew_tree, tree_total

REBASE = 1024.0
"""|λ| beyond which sums are shifted so that λ + s keeps its digits over 10⁹ rounds: it is rounded at 1e−13 then."""
LEAST_TOTAL, MOST_TOTAL = 2.0**-40, 2.0**40
"""Totals of entropy weights beyond which they are written afresh relative to the present least sum.

Weights underflow at e^(−708), far below this: what is lost has a probability that no draw can hit.
"""


@inlined()
def is_entropy(store, g):
    """Does group g carry the entropy?"""
    return store.form[g] >= ENTROPY_LIST


@inlined()
def value(store, g, coordinate):
    """x of a coordinate of group g."""
    if is_entropy(store, g):
        return store.weight[coordinate] * group(store, g).factor
    # x = (λ + s)^(−q): the stationarity condition of mirror descent with Tsallis potential.
    return inverse_power(group(store, g).multiplier + store.key[coordinate], store.power[g])


@inlined()
def inverse_value(store, g, coordinate):
    """1/x. Divisions are most of the latency between one multiplier and the next."""
    if is_entropy(store, g):
        return 1.0 / value(store, g, coordinate)
    d = group(store, g).multiplier + store.key[coordinate]
    q = store.power[g]
    # A bandit's estimate is ℓ/x: with q = 2 it needs no division at all.
    if q == 2.0:
        return d * d
    return 1.0 / (
        fast_power(store, store.extra[g], q, d) if store.form[g] == POWER_BUCKETS else inverse_power(d, q)
    )


@inlined()
def root(store, g, coordinate):
    """1/d = x^(1−h) of a Tsallis coordinate."""
    return 1.0 / (group(store, g).multiplier + store.key[coordinate])


@inlined()
def is_plain(store, j, form):
    """Is simplex j one Tsallis-½ group of this form? Most are, and have faster code of their own."""
    g = store.first_group[j]
    return store.first_group[j + 1] - g == 1 and store.form[g] == form and store.power[g] == 2.0


@inlined()
def note_change(store, g, q, before, after):
    """How F and its Taylor coefficients at the present λ change with a listed sum."""
    own = group(store, g)
    multiplier = own.multiplier
    # Near its pole a coordinate is so large that what others change would be lost in rounding; beyond it F has
    # another root. Nothing can be predicted there: d is at least 1 in any solution.
    if not (multiplier + before > 0.75 and multiplier + after > 0.75):
        own.change = math.nan
        return
    # Exact changes at the old λ: together with the series of the last solution they predict the new λ.
    inv, inv_after = 1.0 / (multiplier + before), 1.0 / (multiplier + after)
    if q == 2.0:
        x, x_after = inv * inv, inv_after * inv_after
    else:
        x, x_after = inverse_power(multiplier + before, q), inverse_power(multiplier + after, q)
    own.change += x_after - x
    # Taylor coefficients of d^(−q) for falling λ: q·d^(−q−1), q(q+1)/2·d^(−q−2), q(q+1)(q+2)/6·d^(−q−3).
    x *= q * inv
    x_after *= q * inv_after
    own.slope += x_after - x
    x *= 0.5 * (q + 1.0) * inv
    x_after *= 0.5 * (q + 1.0) * inv_after
    own.curve += x_after - x
    own.twist += (q + 2.0) * (1.0 / 3.0) * (x_after * inv_after - x * inv)


@inlined()
def evaluate(store, g, multiplier):
    """F_g(λ) and its first three Taylor coefficients in the direction of falling λ."""
    if store.form[g] == POWER_BUCKETS:
        return evaluate_buckets(store, store.extra[g], multiplier)
    if is_entropy(store, g):
        # One exponential for the whole group: all its derivatives equal the function.
        f = group(store, g).total * math.exp(-(multiplier + group(store, g).base))
        return f, f, 0.5 * f, f / 6.0
    return evaluate_list(store, g, store.power[g], multiplier)[:4]


@loop(fastmath={"contract", "reassoc", "nsz"})
def evaluate_list(store, g, q, multiplier):
    """`evaluate` for coordinates visited one by one, and Σ 1/d; with a power known to the compiler, or any."""
    # Four sums in one pass cost hardly more than one: the division dominates. `reassoc` lets them vectorise.
    first = first_of(store, g)
    keys = offset(store.key, first)
    f0 = f1 = f2 = f3 = roots = 0.0
    for i in range(end_of(store, g) - first):
        d = multiplier + keys[i]
        inv = 1.0 / d
        x = inv * inv if q == 2.0 else inverse_power(d, q)
        roots += inv
        f0 += x
        x *= inv
        f1 += x
        x *= inv
        f2 += x
        f3 += x * inv
    return f0, q * f1, 0.5 * q * (q + 1.0) * f2, q * (q + 1.0) * (q + 2.0) * (1.0 / 6.0) * f3, roots


@inlined()
def root_sum(store, g):
    """Σ √x over a Tsallis-½ group."""
    multiplier = group(store, g).multiplier
    if store.form[g] == POWER_BUCKETS:
        return root_sum_buckets(store, store.extra[g], multiplier)
    return root_sum_list(store, g, multiplier)


@inlined(fastmath={"contract", "reassoc", "nsz"})
def root_sum_list(store, g, multiplier):
    """`root_sum` of coordinates visited one by one."""
    first = first_of(store, g)
    keys = offset(store.key, first)
    total = 0.0
    for i in range(end_of(store, g) - first):
        total += 1.0 / (multiplier + keys[i])
    return total


# -- entropy groups: weights exp(base − s), their total, and the point that follows from both -------------------


@inlined()
def add_up(store, g):
    """The total of an entropy group from its weights, or from the tree above them."""
    first, end = first_of(store, g), end_of(store, g)
    if store.form[g] == ENTROPY_TREE:
        group(store, g).total = tree_total(end - first, store.node, store.extra[g])
    else:
        group(store, g).total = sum_weights(store.weight, first, end)


@inlined()
def total_weights(store, g):
    """Bring the total of an entropy group up to date with its weights."""
    add_up(store, g)
    if not LEAST_TOTAL <= group(store, g).total <= MOST_TOTAL:
        refill_weights(store, g)


@internal()
def move_weights(store, g, coordinates, amounts, changed, n):
    """`add` n amounts to sums of the simplex that is entropy group g, and `solve` it; `changed` is scratch."""
    noinline()
    first, end = first_of(store, g), end_of(store, g)
    base, keys, weights = group(store, g).base, store.key, store.weight
    for index in range(n):
        c = coordinates[index]
        after = keys[c] + amounts[index]
        keys[c] = after
        # The sums are the truth, in the log domain; the weights only follow them. A sum may fall below the base,
        # and so far that its weight is cut off: then the total says that all are to be written afresh.
        weights[c] = exp_bounded(base - after)
        changed[index] = c - first
    if store.form[g] == ENTROPY_TREE:
        # All changed leaves at once: paths that meet on the way to the root are walked once.
        renew_leaves(weights, first, end - first, store.node, store.extra[g], changed, n)
    add_up(store, g)
    accept_weights(store, g)


@inlined()
def accept_weights(store, g):
    """The point of a simplex that is one entropy group, from its weights and their total."""
    own = group(store, g)
    # Even the best arm has lost, or some arm has gained, much since the base was chosen: move the base there.
    if not LEAST_TOTAL <= own.total <= MOST_TOTAL:
        refill_weights(store, g)
    own.change = 0.0
    # Dividing by the total is the exact solution of the multiplier: Λ itself is not needed here.
    own.factor = 1.0 / own.total
    if abs(own.base) > REBASE:  # weights are relative to the base, so they stay as they are
        shift_sums(store, g, -own.base)
        own.base = 0.0


@internal()
def refill_weights(store, g):
    """Write all weights of an entropy group afresh, the greatest as 1."""
    noinline()
    first, end = first_of(store, g), end_of(store, g)
    # The least sum has the largest weight, which becomes 1: the total is between 1 and n.
    group(store, g).base = base = least_of(store.key, first, end)
    keys, weights = store.key, store.weight
    for i in range(first, end):
        weights[i] = exp_nonpositive(base - keys[i])
    if store.form[g] == ENTROPY_TREE:
        renew_tree(store.weight, first, end - first, store.node, store.extra[g])
    add_up(store, g)


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
    group(store, g).shift += amount
