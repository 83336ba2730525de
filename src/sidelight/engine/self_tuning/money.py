"""The point X(L, β), its entropy H and the money W_L(β), at any β: docs/theory/self-tuning.md, sections 1 and 4.

With d = X^{s−1}, gap = (L − min L)/β and ν = (d_I − 1)/(1 − s) (s = 1: −ln X_I) of the leader I, who has lost least,

    H = Σ X(d − 1)/(s(1−s))  (s = 1: ν + Σ X·gap),      W = β·((1−s)·H + ν):

sums of positive terms. d_I − 1 is computed from what the others have, so nothing cancels near a vertex either.
"""

import math

from sidelight.engine._numba.jit import inlined, internal, loop, noinline
from sidelight.engine._numba.pointers import offset
from sidelight.engine.exponential import exp_nonpositive
from sidelight.engine.self_tuning.numbers import AT, BETA, ENTROPY, LEAD, LIKELIEST, REST, WORTH
from sidelight.engine.simplex.buckets import least_of
from sidelight.engine.simplex.moments import inverse_power
from sidelight.engine.simplex.point import is_entropy
from sidelight.engine.simplex.store import LAMBDA

LAST_STEP = 1e-9
"""A relative step of Newton's method after which its error is below rounding."""


@internal()
def survey(machine, state, store, beta):
    """Write X(L, β) and X^{1−s} into state.trial, and the numbers of that point into state.surveyed."""
    noinline()
    found = state.surveyed
    if found[AT] == beta:
        return
    n, keys = machine.n_arms, offset(store.key, 1)
    least, leader = least_of(store.key, 1, 1 + n), 0
    while leader < n - 1 and keys[leader] != least:
        leader += 1
    found[AT] = beta
    found[LIKELIEST] = leader
    ratio = state.tuned[BETA] / beta  # sums are scaled by the rate, which is in inverse proportion to β
    if is_entropy(store, 0):
        others, spent = weigh(machine, state, keys, leader, least, ratio)
        nu = math.log1p(others)
        found[ENTROPY] = nu + spent
        found[WORTH] = beta * nu
        found[REST] = others / (1.0 + others)
        found[LEAD] = 0.0
        return
    q = store.power[0]
    d = max(store.scalars[LAMBDA] + keys[leader], 1.0)
    for _ in range(100):
        total, slope = power_sums(machine, keys, least, ratio, q, d)
        # Newton on F^(−1/q), which is concave in d and nearly straight: after one step always from the left.
        step = (math.exp(math.log(total) / q) - 1.0) * total / slope
        before = d
        d = max(d + step, 1.0)
        # Converges quadratically: after a step this small, the next one would be lost in the rounding of the sums.
        if abs(d - before) <= LAST_STEP * d:
            break
    others, above = write_point(machine, state, keys, 0, leader, least, ratio, q, d)
    more, higher = write_point(machine, state, keys, leader + 1, n, least, ratio, q, d)
    others, above = others + more, above + higher
    write_point(machine, state, keys, leader, leader + 1, least, ratio, q, d)
    # From what the others have: 1/q = 1 − s.
    lead = math.expm1(-math.log1p(-others) / q) if others < 0.5 else d - 1.0
    above += (1.0 - others) * lead
    found[ENTROPY] = above * q / (1.0 - 1.0 / q)
    found[WORTH] = beta * (found[ENTROPY] / q + lead * q)
    found[REST] = others
    found[LEAD] = d


@loop(fastmath={"contract", "reassoc", "nsz"})
def power_sums(machine, keys, least, ratio, q, lead):
    """Σ d^(−q) and Σ d^(−q−1), where d is `lead` for the leader."""
    total = slope = 0.0
    for i in range(machine.n_arms):
        d = lead + ratio * (keys[i] - least)
        inv = 1.0 / d
        x = inv * inv if q == 2.0 else inverse_power(d, q)
        total += x
        slope += x * inv
    return total, slope


@loop(fastmath={"contract", "reassoc", "nsz"})
def write_point(machine, state, keys, first, end, least, ratio, q, lead):
    """Write X and X^{1−s} of slots first..end; return ΣX and ΣX(d − 1) over them."""
    sums = offset(keys, first)
    points, roots = offset(state.trial, first), offset(state.trial, machine.n_arms + first)
    total = above = 0.0
    for i in range(end - first):
        gap = ratio * (sums[i] - least)
        d = lead + gap
        inv = 1.0 / d
        x = inv * inv if q == 2.0 else inverse_power(d, q)
        points[i] = x
        roots[i] = inv
        total += x
        above += x * (gap + (lead - 1.0))
    return total, above


@inlined()
def weigh(machine, state, keys, leader, least, ratio):
    """`write_point` for the entropy; return Σ e^(−gap) over all but the leader, and Σ X·gap."""
    n, trial = machine.n_arms, state.trial
    roots = offset(trial, n)
    others = spent = 0.0
    for i in range(n):
        gap = ratio * (keys[i] - least)
        weight = exp_nonpositive(-gap)
        trial[i] = weight
        roots[i] = 1.0
        if i != leader:
            others += weight
            spent += weight * gap
    for i in range(n):
        trial[i] /= 1.0 + others
    return others, spent / (1.0 + others)
