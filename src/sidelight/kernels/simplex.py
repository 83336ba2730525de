"""Points of simplices: value, add, solve, sample, whatever form their groups are kept in.

Mirror descent with fixed rates equals follow-the-regularised-leader on cumulative estimates, so a point is
determined by its sums and the multiplier that makes it add up to one. `add` changes a sum and notes how F and
its Taylor coefficients change; `solve` predicts the new multiplier by reverting that series, evaluates F once,
and corrects. Where the prediction is not good enough, `walk` climbs down safely. Nothing here can fail: F is
decreasing and log-convex, and a bracket is known in closed form.
"""

import math

from sidelight.kernels._jit import kernel, routine, step
from sidelight.kernels.buckets import (
    evaluate_buckets,
    inverse_power,
    raise_sum,
    refresh,
    root_sum_buckets,
    sample_buckets,
    sample_root_buckets,
    sort_into_buckets,
)
from sidelight.kernels.exponential import exp_nonpositive
from sidelight.kernels.random import next_unit
from sidelight.kernels.store import (
    CHANGE,
    CURVE,
    ENTROPY_LIST,
    FACTOR,
    FLOOR,
    LAMBDA,
    LEAST,
    MASS,
    POWER_BUCKETS,
    POWER_LIST,
    SHIFT,
    SLOPE,
    TOTAL,
    TWIST,
    head,
)

MOST_STEPS = 400
REBASE = 1024.0
"""|λ| beyond which sums are shifted so that λ + s keeps its digits over 10⁹ rounds."""


@step()
def value(store, g, coordinate):
    """x of a coordinate of group g."""
    position = store.place[coordinate]
    if store.form[g] == ENTROPY_LIST:
        return store.weight[position] * store.scalars[head(g) + FACTOR]
    return inverse_power(store.scalars[head(g) + LAMBDA] + store.key[position], store.power[g])


@step()
def root(store, g, coordinate):
    """1/d = x^(1−h) of a Tsallis coordinate."""
    return 1.0 / (store.scalars[head(g) + LAMBDA] + store.key[store.place[coordinate]])


@step()
def add(store, g, coordinate, amount):
    """Add `amount` ≥ 0 (scaled) to the sum of a coordinate; the point is stale until `solve`."""
    position = store.place[coordinate]
    if store.form[g] == ENTROPY_LIST:
        store.key[position] += amount
        store.scalars[head(g) + CHANGE] = -1.0  # only a flag here: the weights are stale
        return
    q = store.power[g]
    at = head(g)
    scalars = store.scalars
    multiplier = scalars[at + LAMBDA]
    before = store.key[position]
    after = before + amount
    inv, inv_after = 1.0 / (multiplier + before), 1.0 / (multiplier + after)
    if q == 2.0:
        x, x_after = inv * inv, inv_after * inv_after
    else:
        x, x_after = inverse_power(multiplier + before, q), inverse_power(multiplier + after, q)
    scalars[at + CHANGE] += x_after - x
    x *= q * inv
    x_after *= q * inv_after
    scalars[at + SLOPE] += x_after - x
    x *= 0.5 * (q + 1.0) * inv
    x_after *= 0.5 * (q + 1.0) * inv_after
    scalars[at + CURVE] += x_after - x
    scalars[at + TWIST] += (q + 2.0) * (1.0 / 3.0) * (x_after * inv_after - x * inv)
    if store.form[g] == POWER_BUCKETS:
        raise_sum(store, g, store.bucketed[g], position, after)
    else:
        store.key[position] = after


@step()
def evaluate(store, g, multiplier):
    """F_g(λ) and its first three Taylor coefficients in the direction of falling λ."""
    if store.form[g] == POWER_BUCKETS:
        return evaluate_buckets(store, store.bucketed[g], multiplier)
    if store.form[g] == ENTROPY_LIST:
        f = store.scalars[head(g) + TOTAL] * math.exp(-(multiplier + store.scalars[head(g) + LEAST]))
        return f, f, 0.5 * f, f / 6.0
    return evaluate_list(store, g, multiplier)


@step(fastmath={"contract", "reassoc", "nsz"})
def evaluate_list(store, g, multiplier):
    """`evaluate` for coordinates visited one by one."""
    q = store.power[g]
    f0 = f1 = f2 = f3 = 0.0
    keys = store.key[store.origin[g] : store.origin[g + 1]]  # from 0: only such loops vectorise
    for i in range(keys.size):
        d = multiplier + keys[i]
        inv = 1.0 / d
        x = inv * inv if q == 2.0 else inverse_power(d, q)
        f0 += x
        x *= inv
        f1 += x
        x *= inv
        f2 += x
        f3 += x * inv
    return f0, q * f1, 0.5 * q * (q + 1.0) * f2, q * (q + 1.0) * (q + 2.0) * (1.0 / 6.0) * f3


@step()
def refresh_weights(store, g):
    """Weights exp(least − s) of an entropy group and their sum, from the sums."""
    first, last = store.origin[g], store.origin[g + 1]
    least = least_key(store, first, last)
    total = fill_weights(store, first, last, least)
    store.scalars[head(g) + LEAST] = least
    store.scalars[head(g) + TOTAL] = total
    store.scalars[head(g) + CHANGE] = 0.0


@step(fastmath={"nnan", "nsz", "reassoc"})
def least_key(store, first, last):
    """min of the sums."""
    least = math.inf
    keys = store.key[first:last]
    for i in range(keys.size):
        s = keys[i]
        if s < least:
            least = s
    return least


@step()
def fill_weights(store, first, last, least):
    """Write the weights, then add them up; two passes, so that the first vectorises with exact rounding."""
    keys = store.key[first:last]
    weights = store.weight[first:last]
    for i in range(keys.size):
        weights[i] = exp_nonpositive(least - keys[i])
    return total_weight(weights)


@step(fastmath={"reassoc", "nsz"})
def total_weight(weights):
    """Σ of the weights."""
    total = 0.0
    for i in range(weights.size):
        total += weights[i]
    return total


@step()
def solve(store, j):
    """Find the point of simplex j that belongs to its sums."""
    g = store.first_group[j]
    at = head(g)
    scalars = store.scalars
    if store.first_group[j + 1] - g > 1:
        solve_mixed(store, j)
        return
    change = scalars[at + CHANGE]
    if change == 0.0:
        return
    if store.form[g] == ENTROPY_LIST:
        refresh_weights(store, g)
        scalars[at + FACTOR] = 1.0 / scalars[at + TOTAL]
        if scalars[at + LEAST] > REBASE:
            shift_sums(store, g, -scalars[at + LEAST])
            refresh_weights(store, g)
        return
    slope, curve, twist = scalars[at + SLOPE], scalars[at + CURVE], scalars[at + TWIST]
    multiplier = scalars[at + LAMBDA]
    bucketed = store.form[g] == POWER_BUCKETS
    solved = False
    if slope > 0.0:
        # Series reversion of −change = slope·r + curve·r² + twist·r³ predicts how far λ falls.
        a = -change / slope
        bend = curve / slope
        r = a * (1.0 - a * bend + (2.0 * bend * bend - twist / slope) * a * a)
        if 0.0 <= a * bend < 0.05 and (not bucketed or multiplier - r >= scalars[at + FLOOR]):
            f0, f1, f2, f3 = evaluate(store, g, multiplier - r)
            excess = f0 - 1.0
            if is_close(excess, f1, f2):
                multiplier += excess / f1 - r
                accept(store, g, multiplier, f1, f2, f3)
                store.multiplier[j] = multiplier
                solved = True
    if not solved:
        walk(store, j)
    if bucketed and scalars[at + LAMBDA] < scalars[at + FLOOR]:
        refresh(store, g, store.bucketed[g])
    if scalars[at + LAMBDA] < -REBASE:
        rebase(store, j)


@step()
def is_close(excess, f1, f2):
    """Does one Newton step end the search? Its remainder excess²·f2/f1² must be below rounding.

    Far from the root all coefficients may underflow and look consistent: that is not close.
    """
    return f1 > 0.0 and f2 >= 0.0 and abs(excess) < 1e-3 and excess * excess * f2 < 1e-15 * f1 * f1


@step()
def accept(store, g, multiplier, f1, f2, f3):
    """Note a solution and the series around it, from which the next one is predicted."""
    at = head(g)
    store.scalars[at + LAMBDA] = multiplier
    store.scalars[at + CHANGE] = 0.0
    store.scalars[at + SLOPE] = f1
    store.scalars[at + CURVE] = f2
    store.scalars[at + TWIST] = f3
    store.scalars[at + MASS] = 1.0


@routine()
def solve_mixed(store, j):
    """`solve` for a simplex whose coordinates carry several potentials or rates."""
    stale = False
    for g in range(store.first_group[j], store.first_group[j + 1]):
        if store.scalars[head(g) + CHANGE] != 0.0:
            stale = True
            if store.form[g] == ENTROPY_LIST:
                refresh_weights(store, g)
    if not stale:
        return
    walk(store, j)
    worst = 0.0
    for g in range(store.first_group[j], store.first_group[j + 1]):
        at = head(g)
        if store.form[g] == POWER_BUCKETS and store.scalars[at + LAMBDA] < store.scalars[at + FLOOR]:
            refresh(store, g, store.bucketed[g])
        worst = max(worst, abs(store.scalars[at + LAMBDA]))
    if worst > REBASE:
        rebase(store, j)


@routine()
def walk(store, j):
    """Newton on log F of simplex j from where it stands, at most one window of each bucketed group at a time.

    log F is convex and decreasing in Λ: a Newton step from left of the root stays left of it, and one from the
    right lands left of it. After too many steps everything is rebuilt from the sums.
    """
    first, last = store.first_group[j], store.first_group[j + 1]
    most = MOST_STEPS if store.origin[last] - store.origin[first] > 512 else 40
    for _ in range(most):
        top = store.multiplier[j]
        f0 = f1 = f2 = 0.0
        for g in range(first, last):
            scale = store.scale[g]
            e0, e1, e2, e3 = evaluate(store, g, scale * top + store.offset[g])
            store.scalars[head(g) + MASS] = e0
            store.scalars[head(g) + SLOPE] = e1
            store.scalars[head(g) + CURVE] = e2
            store.scalars[head(g) + TWIST] = e3
            f0 += e0
            f1 += scale * e1
            f2 += scale * scale * e2
        if not (f0 > 0.0 and f1 > 0.0 and math.isfinite(f0)):
            break
        excess = f0 - 1.0
        if is_close(excess, f1, f2):
            # One Newton step, inside the reach of the series, ends it.
            move = excess / f1
            store.multiplier[j] = top + move
            for g in range(first, last):
                at = head(g)
                scale = store.scale[g]
                store.scalars[at + LAMBDA] = scale * (top + move) + store.offset[g]
                store.scalars[at + MASS] -= scale * move * store.scalars[at + SLOPE]
                store.scalars[at + CHANGE] = 0.0
                if store.form[g] == ENTROPY_LIST:
                    least = store.scalars[at + LEAST]
                    store.scalars[at + FACTOR] = math.exp(-(store.scalars[at + LAMBDA] + least))
            return
        after = top + math.log(f0) * f0 / f1
        limited = after
        for g in range(first, last):
            if store.form[g] == POWER_BUCKETS:
                floor = (store.scalars[head(g) + FLOOR] - store.offset[g]) / store.scale[g]
                limited = max(limited, floor)
        if after > top + 1e-3 * (1.0 + abs(top)) or (limited > after and limited >= top):
            break  # sums only grow, so Λ only falls: the series around here is of no use
        if past_pole(store, first, last, limited):
            break  # a step from the right of the root may jump over a pole, where F has another root
        store.multiplier[j] = limited
        if limited > after:
            store.multiplier[j] = limited - 1e-9 * (abs(limited) + 1e-3)
            for g in range(first, last):
                at = head(g)
                store.scalars[at + LAMBDA] = store.scale[g] * store.multiplier[j] + store.offset[g]
                if store.form[g] == POWER_BUCKETS and store.scalars[at + LAMBDA] < store.scalars[at + FLOOR]:
                    refresh(store, g, store.bucketed[g])
    rebuild(store, j)


@step()
def past_pole(store, first, last, multiplier):
    """Is a listed Tsallis coordinate at or left of its pole, or an entropy coordinate beyond any number?

    The floor of λ keeps bucketed coordinates from their poles.
    """
    for g in range(first, last):
        if store.form[g] == POWER_LIST:
            least = least_key(store, store.origin[g], store.origin[g + 1])
            if store.scale[g] * multiplier + store.offset[g] + least <= 0.0:
                return True
        elif store.form[g] == ENTROPY_LIST:
            least = store.scalars[head(g) + LEAST]
            if store.scale[g] * multiplier + store.offset[g] + least < -700.0:
                return True
    return False


@step()
def shift_sums(store, g, amount):
    """Add `amount` to every sum of a group."""
    for i in range(store.origin[g], store.origin[g + 1]):
        store.key[i] += amount
    store.scalars[head(g) + SHIFT] += amount


@routine()
def rebase(store, j):
    """Shift all sums of a simplex by its multiplier, so that Λ becomes 0 and no coordinate changes."""
    top = store.multiplier[j]
    for g in range(store.first_group[j], store.first_group[j + 1]):
        shift_sums(store, g, store.scale[g] * top)
    store.multiplier[j] = 0.0
    rebuild(store, j)


@routine()
def rebuild(store, j):
    """The point of simplex j from its sums alone, in O(n): Newton over all coordinates inside a bracket."""
    first, last = store.first_group[j], store.first_group[j + 1]
    log_share = -math.log(float(store.origin[last] - store.origin[first]))
    lo = hi = -math.inf
    for g in range(first, last):
        if store.form[g] == ENTROPY_LIST:
            refresh_weights(store, g)
        least = least_key(store, store.origin[g], store.origin[g + 1])
        # No coordinate exceeds 1, and some coordinate is at least 1/n.
        if store.form[g] == ENTROPY_LIST:
            at_one, at_share = -least, -log_share - least
        else:
            at_one, at_share = 1.0 - least, math.exp(-log_share / store.power[g]) - least
        lo = max(lo, (at_one - store.offset[g]) / store.scale[g])
        hi = max(hi, (at_share - store.offset[g]) / store.scale[g])
    top = store.multiplier[j] if lo < store.multiplier[j] < hi else lo
    best = math.inf
    for _ in range(200):
        f0 = f1 = 0.0
        for g in range(first, last):
            scale = store.scale[g]
            if store.form[g] == ENTROPY_LIST:
                e0, e1, e2, e3 = evaluate(store, g, scale * top + store.offset[g])
            else:
                e0, e1, e2, e3 = evaluate_list(store, g, scale * top + store.offset[g])
            store.scalars[head(g) + MASS] = e0
            store.scalars[head(g) + SLOPE] = e1
            store.scalars[head(g) + CURVE] = e2
            store.scalars[head(g) + TWIST] = e3
            f0 += e0
            f1 += scale * e1
        excess = f0 - 1.0
        if excess >= 0.0:
            lo = max(lo, top)
        else:
            hi = min(hi, top)
        if abs(excess) >= best and best < 1e-12:
            break  # rounding has taken over
        best = min(best, abs(excess))
        if abs(excess) <= 1e-15:
            break
        after = top + math.log(f0) * f0 / f1 if f0 > 0.0 and math.isfinite(f0) else math.nan
        if not lo <= after <= hi:
            after = 0.5 * (lo + hi)
        if after == top:
            break
        top = after
    store.multiplier[j] = top
    for g in range(first, last):
        at = head(g)
        store.scalars[at + LAMBDA] = store.scale[g] * top + store.offset[g]
        store.scalars[at + CHANGE] = 0.0
        if store.form[g] == ENTROPY_LIST:
            if last - first == 1:
                store.scalars[at + FACTOR] = 1.0 / store.scalars[at + TOTAL]
            else:
                least = store.scalars[at + LEAST]
                store.scalars[at + FACTOR] = math.exp(-(store.scalars[at + LAMBDA] + least))
        elif store.form[g] == POWER_BUCKETS:
            sort_into_buckets(store, g, store.bucketed[g])


@kernel()
def rebuild_all(store):
    """`rebuild` every simplex."""
    for j in range(store.multiplier.size):
        rebuild(store, j)


@step()
def root_sum(store, g):
    """Σ √x over a Tsallis-½ group."""
    multiplier = store.scalars[head(g) + LAMBDA]
    if store.form[g] == POWER_BUCKETS:
        return root_sum_buckets(store, store.bucketed[g], multiplier)
    total = 0.0
    for i in range(store.origin[g], store.origin[g + 1]):
        total += 1.0 / (multiplier + store.key[i])
    return total


@step()
def sample(store, j, words):
    """A coordinate of simplex j with probability x, exactly."""
    g = store.first_group[j]
    last = store.first_group[j + 1]
    if last - g > 1:
        total = 0.0
        for other in range(g, last):
            total += store.scalars[head(other) + MASS]
        target = next_unit(words) * total
        while g < last - 1:
            target -= store.scalars[head(g) + MASS]
            if target < 0.0:
                break
            g += 1
    if store.form[g] == POWER_BUCKETS:
        return sample_buckets(store, g, store.bucketed[g], words)
    return sample_list(store, g, words)


@step()
def sample_list(store, g, words):
    """A coordinate of a listed group with probability ∝ x; never one of probability zero."""
    first, last = store.origin[g], store.origin[g + 1]
    at = head(g)
    chosen = first
    if store.form[g] == ENTROPY_LIST:
        target = next_unit(words) * store.scalars[at + TOTAL]
        for i in range(first, last):
            if store.weight[i] > 0.0:
                chosen = i
                target -= store.weight[i]
                if target < 0.0:
                    break
    else:
        q = store.power[g]
        multiplier = store.scalars[at + LAMBDA]
        target = next_unit(words) * store.scalars[at + MASS]
        for i in range(first, last):
            x = inverse_power(multiplier + store.key[i], q)
            if x > 0.0:
                chosen = i
                target -= x
                if target < 0.0:
                    break
    return store.occupant[chosen]


@step()
def sample_root(store, g, words):
    """A coordinate of a Tsallis group with probability ∝ 1/d = x^(1−h)."""
    if store.form[g] == POWER_BUCKETS:
        return sample_root_buckets(store, g, store.bucketed[g], words)
    multiplier = store.scalars[head(g) + LAMBDA]
    target = next_unit(words) * root_sum(store, g)
    chosen = store.origin[g]
    for i in range(store.origin[g], store.origin[g + 1]):
        chosen = i
        target -= 1.0 / (multiplier + store.key[i])
        if target < 0.0:
            break
    return store.occupant[chosen]
