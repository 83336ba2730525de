"""A point of the simplex held by its cumulative losses: the dense form.

Mirror descent with fixed rates equals follow-the-regularised-leader on cumulative estimates, so a point is
a function of the sums S and one multiplier Λ that makes the coordinates add up to one:

    Tsallis (power q = 1/(1−h) ≥ 1, rate a = (1−h)η):   x_i = (a_i (Λ + S_i))^(−q)
    negative entropy (power 0, rate η):                  x_i = exp(−1 − η_i (Λ + S_i))

Coordinates of one simplex may carry different potentials and rates. F(Λ) = Σ x_i(Λ) is decreasing and
log-convex on the interval where it is defined, and a bracket is known in closed form (no coordinate exceeds
one, some coordinate is at least 1/n), so Newton's method on log F from the left end of the bracket climbs
monotonically to the root: `solve` cannot fail.
"""

import math

from numba import njit

REBASE = 2.0**10
"""rate·|Λ| beyond which sums are shifted, so that Λ + S keeps its precision over 10⁹ rounds."""


@njit(cache=True, error_model="numpy")
def coordinate(power, rate, shifted):
    """x as a function of shifted = Λ + S."""
    if power == 0.0:
        return math.exp(-1.0 - rate * shifted)
    d = rate * shifted
    if power == 2.0:
        return 1.0 / (d * d)
    return math.exp(-power * math.log(d))


@njit(cache=True, error_model="numpy")
def shifted_for(power, rate, log_x):
    """The inverse map: Λ + S at which the coordinate equals exp(log_x)."""
    if power == 0.0:
        return (-1.0 - log_x) / rate
    return math.exp(-log_x / power) / rate


@njit(cache=True, error_model="numpy")
def bracket(power, rate, sums, first, last):
    """(lo, hi) with F(lo) ≥ 1 ≥ F(hi): where the first coordinate reaches 1, and where all are ≤ 1/n."""
    log_share = -math.log(float(last - first))
    lo = -math.inf
    hi = -math.inf
    for i in range(first, last):
        at_one = shifted_for(power[i], rate[i], 0.0) - sums[i]
        at_share = shifted_for(power[i], rate[i], log_share) - sums[i]
        if at_one > lo:
            lo = at_one
        if at_share > hi:
            hi = at_share
    return lo, hi


@njit(cache=True, error_model="numpy")
def total_and_slope(power, rate, sums, first, last, multiplier):
    """F(Λ) and F'(Λ) < 0."""
    total = 0.0
    slope = 0.0
    for i in range(first, last):
        shifted = multiplier + sums[i]
        x = coordinate(power[i], rate[i], shifted)
        total += x
        if power[i] == 0.0:
            slope -= rate[i] * x
        elif x > 0.0:
            slope -= power[i] * x / shifted
    return total, slope


@njit(cache=True, error_model="numpy")
def solve(power, rate, sums, x, first, last, guess):
    """Fill x[first:last] with the point of the simplex that belongs to the sums; return its multiplier.

    Works on the slice first..last of arrays shared by many simplices; `guess` is the last multiplier.
    """
    lo, hi = bracket(power, rate, sums, first, last)
    # Estimates are non-negative, so the last multiplier lies right of the root; one Newton step on a
    # log-convex decreasing function goes from either side to its left, from where it climbs.
    multiplier = guess if lo < guess < hi else lo
    best = math.inf
    for _ in range(200):
        total, slope = total_and_slope(power, rate, sums, first, last, multiplier)
        excess = total - 1.0
        if excess >= 0.0:
            lo = max(lo, multiplier)
        else:
            hi = min(hi, multiplier)
        if abs(excess) < best:
            best = abs(excess)
        elif best < 1e-12:  # rounding has taken over
            break
        if abs(excess) <= 1e-15:
            break
        step = -math.log(total) * total / slope if total > 0.0 and math.isfinite(total) else math.nan
        after = multiplier + step
        if not lo <= after <= hi:
            after = 0.5 * (lo + hi)
        if after == multiplier:
            break
        multiplier = after
    for i in range(first, last):
        x[i] = coordinate(power[i], rate[i], multiplier + sums[i])
    return multiplier


@njit(cache=True, error_model="numpy")
def settle(power, rate, sums, x, first, last, guess):
    """`solve`, then shift the sums when Λ has grown large; return (Λ, the shift that was added to the sums).

    Λ falls for ever while the smallest sum grows: their difference would lose digits. Adding Λ to every sum
    and solving again from 0 changes no coordinate and restores full precision.
    """
    multiplier = solve(power, rate, sums, x, first, last, guess)
    fastest = 0.0
    for i in range(first, last):
        fastest = max(fastest, rate[i])
    if fastest * abs(multiplier) <= REBASE:
        return multiplier, 0.0
    for i in range(first, last):
        sums[i] += multiplier
    return solve(power, rate, sums, x, first, last, 0.0), multiplier


@njit(cache=True, error_model="numpy")
def draw(weights, first, last, unit):
    """Index i in first..last with probability weights[i] / Σ weights; never one of weight zero."""
    total = 0.0
    for i in range(first, last):
        total += weights[i]
    target = unit * total
    seen = 0.0
    chosen = first
    for i in range(first, last):
        if weights[i] > 0.0:
            seen += weights[i]
            chosen = i
            if target < seen:
                break
    return chosen
