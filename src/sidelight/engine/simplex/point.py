"""Reading a point of a simplex: coordinates, F and its derivatives, whatever form a group is kept in."""

import math

from sidelight.engine._numba.jit import inlined, loop
from sidelight.engine._numba.pointers import offset
from sidelight.engine.simplex.moments import evaluate_buckets, fast_power, inverse_power, root_sum_buckets
from sidelight.engine.simplex.store import (
    BASE,
    CHANGE,
    CURVE,
    ENTROPY_LIST,
    FACTOR,
    LAMBDA,
    POWER_BUCKETS,
    SLOPE,
    TOTAL,
    TWIST,
    end_of,
    first_of,
    head,
)


@inlined()
def is_entropy(store, g):
    """Does group g carry the entropy?"""
    return store.form[g] >= ENTROPY_LIST


@inlined()
def value(store, g, coordinate):
    """x of a coordinate of group g."""
    if is_entropy(store, g):
        return store.weight[coordinate] * store.scalars[head(g) + FACTOR]
    # x = (λ + s)^(−q): the stationarity condition of mirror descent with Tsallis potential.
    return inverse_power(store.scalars[head(g) + LAMBDA] + store.key[coordinate], store.power[g])


@inlined()
def inverse_value(store, g, coordinate):
    """1/x. Divisions are most of the latency between one multiplier and the next."""
    if is_entropy(store, g):
        return 1.0 / value(store, g, coordinate)
    d = store.scalars[head(g) + LAMBDA] + store.key[coordinate]
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
    return 1.0 / (store.scalars[head(g) + LAMBDA] + store.key[coordinate])


@inlined()
def is_plain(store, j, form):
    """Is simplex j one Tsallis-½ group of this form? Most are, and have faster code of their own."""
    g = store.first_group[j]
    return store.first_group[j + 1] - g == 1 and store.form[g] == form and store.power[g] == 2.0


@inlined()
def note_change(store, g, q, before, after):
    """How F and its Taylor coefficients at the present λ change when a listed sum grows."""
    at = head(g)
    scalars = store.scalars
    multiplier = scalars[at + LAMBDA]
    # Exact changes at the old λ: together with the series of the last solution they predict the new λ.
    inv, inv_after = 1.0 / (multiplier + before), 1.0 / (multiplier + after)
    if q == 2.0:
        x, x_after = inv * inv, inv_after * inv_after
    else:
        x, x_after = inverse_power(multiplier + before, q), inverse_power(multiplier + after, q)
    scalars[at + CHANGE] += x_after - x
    # Taylor coefficients of d^(−q) for falling λ: q·d^(−q−1), q(q+1)/2·d^(−q−2), q(q+1)(q+2)/6·d^(−q−3).
    x *= q * inv
    x_after *= q * inv_after
    scalars[at + SLOPE] += x_after - x
    x *= 0.5 * (q + 1.0) * inv
    x_after *= 0.5 * (q + 1.0) * inv_after
    scalars[at + CURVE] += x_after - x
    scalars[at + TWIST] += (q + 2.0) * (1.0 / 3.0) * (x_after * inv_after - x * inv)


@inlined()
def evaluate(store, g, multiplier):
    """F_g(λ) and its first three Taylor coefficients in the direction of falling λ."""
    if store.form[g] == POWER_BUCKETS:
        return evaluate_buckets(store, store.extra[g], multiplier)
    if is_entropy(store, g):
        # One exponential for the whole group: all its derivatives equal the function.
        f = store.scalars[head(g) + TOTAL] * math.exp(-(multiplier + store.scalars[head(g) + BASE]))
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
    multiplier = store.scalars[head(g) + LAMBDA]
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
