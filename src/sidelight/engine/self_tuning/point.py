"""The point X(L, β), its entropy H and the log-partition difference W_L(β), at any temperature β.

Docs: docs/theory/self-tuning.md, sections 1 and 4. With d = X^{s−1}, gap = (L − min L)/β and ν = (d_I − 1)/(1 − s)
(s = 1: −ln X_I) of the leader I, who has lost least,

    H = Σ X(d − 1)/(s(1−s))  (s = 1: ν + Σ X·gap),      W = β·((1−s)·H + ν):

sums of positive terms. d_I − 1 is computed from what the others have, so nothing cancels near a vertex either.
Raising β from one value to another costs the difference of their W: that is the penalty which the certificate counts.
"""

import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from sidelight.engine._numba.bundles import record_of
from sidelight.engine._numba.jit import inlined, internal, loop, noinline
from sidelight.engine._numba.pointers import offset
from sidelight.engine.exponential import exp_nonpositive
from sidelight.engine.simplex.buckets import least_of
from sidelight.engine.simplex.moments import inverse_power

LAST_STEP = 1e-9
"""A relative step of Newton's method after which its error is below rounding."""
NEWTON = 100
"""Steps of Newton's method at most; a handful is taken."""

POINT = (
    "beta",  # β, 0 while nothing was evaluated
    "entropy",  # H
    "log_partition",  # W
    "rest",  # 1 − X_I
    "leader",  # I
    "lead",  # d_I
)
"""What `evaluate_point` finds, besides X itself."""
point_in = record_of("point", POINT)

MOST_TRIED = 128
"""Ways to play that are compared in one choice, at most."""

BY_ARM = (
    "x",  # X at the point that was evaluated last
    "root",  # X^{1−s}
    "seen_x",  # how likely each arm is seen by X
    "g",  # what strength 1 explores
    "seen_g",  # how likely each arm is seen by g
    "shown",  # how likely the leader reveals each arm
    "mean",  # mean loss so far
    "lift",  # by what each arm is lifted
    "seen_lift",  # how likely each arm is seen by that
    "shows",  # how likely each arm reveals the leader
    "both_x",  # how likely each arm is seen together with the leader by X,
    "both_g",  # by g,
    "both_lift",  # and by what arms are lifted by
    "marked",  # scratch for that
)
BY_CANDIDATE = (
    "strengths",
    "kept",  # what of the leader is kept out of what exploration takes
    "costs",  # what a round costs at most
    "likely",  # and what it likely costs, with the mean losses so far
    "scales",  # by what exploration for the leader's sake is scaled
    "floors",  # floor of lifted arms, 0 where none is
    "shifts",  # what is subtracted from losses
    "leads",  # 1 if stability is that of estimates above the leader's, 0 if above 0
    "limits",  # how much may be explored at most for that
)
Workspace = namedtuple("Workspace", (*BY_ARM, *BY_CANDIDATE))  # type: ignore[misc]
"""Room for one choice: n numbers of each kind by arm, then `MOST_TRIED` of each kind by way to play."""


def workspace_size(n: int) -> int:
    """Numbers in the workspace of n arms."""
    return len(BY_ARM) * n + len(BY_CANDIDATE) * MOST_TRIED


@inlined()
def workspace_in(cells, n):
    """The workspace in these cells."""
    tried = offset(cells, 14 * n)
    return Workspace(  # type: ignore[call-arg]
        cells, offset(cells, n), offset(cells, 2 * n), offset(cells, 3 * n), offset(cells, 4 * n),
        offset(cells, 5 * n), offset(cells, 6 * n), offset(cells, 7 * n), offset(cells, 8 * n),
        offset(cells, 9 * n), offset(cells, 10 * n), offset(cells, 11 * n), offset(cells, 12 * n),
        offset(cells, 13 * n), tried, offset(tried, MOST_TRIED), offset(tried, 2 * MOST_TRIED),
        offset(tried, 3 * MOST_TRIED), offset(tried, 4 * MOST_TRIED), offset(tried, 5 * MOST_TRIED),
        offset(tried, 6 * MOST_TRIED), offset(tried, 7 * MOST_TRIED), offset(tried, 8 * MOST_TRIED),
    )  # fmt: skip


class Sums(NamedTuple):
    """Sums of losses as a simplex keeps them: scaled by its rate, which is in inverse proportion to β."""

    n_arms: int
    keys: Any  # (n,)
    beta: float  # the temperature that they are scaled for
    power: float  # q = 1/(1 − s), 0 for the entropy
    multiplier: float  # λ at that temperature, near which the point is looked for


@internal()
def evaluate_point(point, work, sums, beta):
    """Write X(L, β) and X^{1−s} to the workspace, and what belongs to it to `point`."""
    noinline()
    # Retuning asks for the same β several times, from different places.
    if point.beta == beta:
        return
    n, keys = sums.n_arms, sums.keys
    # The leader is the first arm of least sum, so that whoever is loaded from a file finds the same one.
    least, leader = least_of(keys, 0, n), 0
    while leader < n - 1 and keys[leader] != least:
        leader += 1
    point.beta = beta
    point.leader = leader
    # Keys are rate·L with the rate of their own β: this turns them into those of the β that is asked for.
    ratio = sums.beta / beta
    q = sums.power
    if q == 0.0:
        others, spent = write_entropy_point(work, keys, n, leader, least, ratio)
        nu = math.log1p(others)
        point.entropy = nu + spent
        point.log_partition = beta * nu
        point.rest = others / (1.0 + others)
        point.lead = 0.0
        return
    # d_I at the temperature of the simplex: near the root, and never below 1, as X_I ≤ 1.
    d = max(sums.multiplier + keys[leader], 1.0)
    for _ in range(NEWTON):
        total, slope = power_sums(keys, n, least, ratio, q, d)
        # Newton on F^(−1/q), which is concave in d and nearly straight: after one step always from the left.
        step = (math.exp(math.log(total) / q) - 1.0) * total / slope
        before = d
        d = max(d + step, 1.0)
        # Converges quadratically: after a step this small, the next one would be lost in the rounding of the sums.
        if abs(d - before) <= LAST_STEP * d:
            break
    # The leader is left out of the sums, and not subtracted afterwards: 1 − X_I keeps its digits near a vertex.
    others, above = write_power_point(work, keys, 0, leader, least, ratio, q, d)
    more, higher = write_power_point(work, keys, leader + 1, n, least, ratio, q, d)
    others, above = others + more, above + higher
    write_power_point(work, keys, leader, leader + 1, least, ratio, q, d)
    # From what the others have: 1/q = 1 − s.
    lead = math.expm1(-math.log1p(-others) / q) if others < 0.5 else d - 1.0
    above += (1.0 - others) * lead
    point.entropy = above * q / (1.0 - 1.0 / q)
    point.log_partition = beta * (point.entropy / q + lead * q)
    point.rest = others
    point.lead = d


@loop(fastmath={"contract", "reassoc", "nsz"})
def power_sums(keys, n, least, ratio, q, lead):
    """Σ d^(−q) and Σ d^(−q−1), where d is `lead` for the leader."""
    total = slope = 0.0
    for i in range(n):
        d = lead + ratio * (keys[i] - least)
        inv = 1.0 / d
        x = inv * inv if q == 2.0 else inverse_power(d, q)
        total += x
        slope += x * inv
    return total, slope


@loop(fastmath={"contract", "reassoc", "nsz"})
def write_power_point(work, keys, first, end, least, ratio, q, lead):
    """Write X and X^{1−s} of slots first..end; return ΣX and ΣX(d − 1) over them."""
    sums, points, roots = offset(keys, first), offset(work.x, first), offset(work.root, first)
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
def write_entropy_point(work, keys, n, leader, least, ratio):
    """`write_power_point` for the entropy; return Σ e^(−gap) over all but the leader, and Σ X·gap."""
    # X^{1−s} is 1 for s = 1: formulas with it serve the entropy too.
    x, root = work.x, work.root
    others = spent = 0.0
    for i in range(n):
        gap = ratio * (keys[i] - least)
        weight = exp_nonpositive(-gap)
        x[i] = weight
        root[i] = 1.0
        if i != leader:
            others += weight
            spent += weight * gap
    for i in range(n):
        x[i] /= 1.0 + others
    return others, spent / (1.0 + others)


@internal()
def raised_temperature(point, work, sums, unspent, most, tolerance):
    """The β′ ≤ most that `unspent` pays for, W(β′) − W(β) ≤ unspent, from the point at β; the point moves to β′.

    β′ is at the root, or below it where W − unspent ≤ (tolerance − 1)·unspent is enough for a last step by chord.
    """
    noinline()
    # The point must be at β: whoever calls has just evaluated it there.
    beta, log_partition = point.beta, point.log_partition
    after = most
    if unspent < (after - beta) * point.entropy:
        after = beta + unspent / point.entropy
    evaluate_point(point, work, sums, after)
    # W is convex: this far it is too dear, and Newton's steps come down to the root from above.
    for _ in range(NEWTON):
        step = (point.log_partition - log_partition - unspent) / point.entropy
        if point.log_partition - log_partition <= tolerance * unspent or not step > 1e-15 * after:
            break
        after -= step
        evaluate_point(point, work, sums, after)
    # The chord lies above W, so what it says is affordable.
    if point.log_partition - log_partition > unspent and after > beta:
        after = beta + (after - beta) * (unspent / (point.log_partition - log_partition))
        evaluate_point(point, work, sums, after)
    return after


def log_partition(sums, orders, temperatures):
    """W_L = min L − min_x {⟨L, x⟩ − Σ τ_iφ_{s_i}(x_i)}, for any orders and temperatures; not compiled.

    x_i = (1+(1−s_i)y_i)^{−1/(1−s_i)}, y_i = 1/s_i + (L_i+λ)/τ_i, and λ makes them add up to 1.
    """
    L, s, tau = np.broadcast_arrays(
        sums - np.min(sums), np.asarray(orders, float), np.asarray(temperatures, float)
    )
    rest = np.where(s == 1, 1.0, 1 - s)
    # One x is 1 here. The total is convex in λ and falls: from its left Newton never oversteps.
    level = float((-L - tau / s).max())
    for _ in range(NEWTON):
        y = np.maximum(1 / s + (L + level) / tau, 0.0)
        x = np.where(s == 1, np.exp(-y), (1 + rest * y) ** (-1 / rest))
        move = float((x.sum() - 1) / (x ** (2 - s) / tau).sum())
        level += move
        if move <= LAST_STEP * LAST_STEP * (1 + abs(level)):
            break
    x = x / x.sum()
    logs = np.log(np.maximum(x, 1e-300))
    heights = np.where(s == 1, -x * logs, x * np.expm1((s - 1) * logs) / (s * rest))
    return float(tau @ heights - x @ L)
