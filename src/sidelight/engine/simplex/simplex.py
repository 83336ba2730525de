"""Points of simplices: value, add, solve, sample, whatever form their groups are kept in.

Mirror descent with fixed rates equals follow-the-regularised-leader on cumulative estimates, so a point is
determined by its sums and the multiplier that makes it add up to one. `add` changes a sum and notes how F and
its Taylor coefficients change; `solve` predicts the new multiplier by reverting that series, evaluates F once,
and corrects. Where the prediction is not good enough, `walk` climbs down safely. Nothing here can fail: F is
decreasing and log-convex, and a bracket is known in closed form.
"""

import math

from sidelight.engine._numba.jit import inlined, internal, loop, noinline
from sidelight.engine._numba.pointers import offset
from sidelight.engine.exponential import exp_nonpositive
from sidelight.engine.random import next_unit
from sidelight.engine.simplex.buckets import (
    FUSED,
    evaluate_buckets,
    fast_power,
    fineness,
    fourth_buckets,
    inverse_power,
    least_of,
    lower_end,
    raise_power_sum,
    refresh,
    root_sum_buckets,
    sample_buckets,
    sample_root_buckets,
    sort_into_buckets,
)
from sidelight.engine.simplex.store import (
    BASE,
    CHANGE,
    CURVE,
    ENTROPY_LIST,
    ENTROPY_TREE,
    FACTOR,
    FLOOR,
    LAMBDA,
    MASS,
    POWER_BUCKETS,
    POWER_LIST,
    SHIFT,
    SLOPE,
    TOTAL,
    TWIST,
    end_of,
    first_of,
    head,
    set_factor,
)
from sidelight.engine.simplex.tree import draw_leaf, renew_leaf, renew_leaves, renew_tree, tree_total

MOST_STEPS = 400
REBASE = 1024.0
"""|λ| beyond which sums are shifted so that λ + s keeps its digits over 10⁹ rounds."""
LEAST_TOTAL = 2.0**-40
"""Total of entropy weights below which they are written afresh relative to the present least sum."""
SMALLEST_ERROR = 2e-19
"""Largest |change|·δ⁴ for which the reverted series needs no second look: it errs by at most 200 times as much."""
STRIDE = 64
"""Weights are scanned in strides of this many: a stride is added up at once, and entered only at the end."""


@inlined()
def is_entropy(store, g):
    """Does group g carry the entropy?"""
    return store.form[g] >= ENTROPY_LIST


@inlined()
def value(store, g, coordinate):
    """x of a coordinate of group g."""
    if is_entropy(store, g):
        return store.weight[coordinate] * store.scalars[head(g) + FACTOR]
    return inverse_power(store.scalars[head(g) + LAMBDA] + store.key[coordinate], store.power[g])


@inlined()
def inverse_value(store, g, coordinate):
    """1/x; on the way from one multiplier to the next, divisions are most of the wait."""
    if is_entropy(store, g):
        return 1.0 / value(store, g, coordinate)
    d = store.scalars[head(g) + LAMBDA] + store.key[coordinate]
    q = store.power[g]
    if q == 2.0:
        return d * d
    return 1.0 / (
        fast_power(store, store.extra[g], q, d) if store.form[g] == POWER_BUCKETS else inverse_power(d, q)
    )


@inlined()
def root(store, g, coordinate):
    """1/d = x^(1−h) of a Tsallis coordinate."""
    return 1.0 / (store.scalars[head(g) + LAMBDA] + store.key[coordinate])


@internal()
def add(store, g, coordinate, amount):
    """Add `amount` ≥ 0 (scaled) to the sum of a coordinate; the point is stale until `solve`."""
    noinline()
    before = store.key[coordinate]
    after = before + amount
    form = store.form[g]
    if form == POWER_BUCKETS:
        store.scalars[head(g) + CHANGE] = -1.0
        if store.power[g] == 2.0:  # known to the compiler
            raise_power_sum(store, g, store.extra[g], 2.0, coordinate, before, after)
        else:
            raise_power_sum(store, g, store.extra[g], store.power[g], coordinate, before, after)
        return
    store.key[coordinate] = after
    if form == POWER_LIST:
        note_change(store, g, store.power[g], before, after)
        return
    store.scalars[head(g) + CHANGE] = -1.0
    store.weight[coordinate] = exp_nonpositive(store.scalars[head(g) + BASE] - after)
    if form == ENTROPY_TREE:
        first = first_of(store, g)
        renew_leaf(
            store.weight, first, end_of(store, g) - first, store.node, store.extra[g], coordinate - first
        )


@inlined()
def is_plain(store, j, form):
    """Is simplex j one Tsallis-½ group of this form? Most are, and have shorter ways."""
    g = store.first_group[j]
    return store.first_group[j + 1] - g == 1 and store.form[g] == form and store.power[g] == 2.0


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
        if q == 2.0:  # known to the compiler
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
    return solve_list(store, j, g, 2.0)


@inlined()
def move_rooted(store, j, coordinates, amounts, n):
    """`move`, and Σ √x after it."""
    if is_plain(store, j, POWER_LIST):
        return move_short(store, j, coordinates, amounts, n)
    move(store, j, coordinates, amounts, n)
    return root_sum(store, store.first_group[j])


@inlined()
def note_change(store, g, q, before, after):
    """How F and its Taylor coefficients at the present λ change when a listed sum grows."""
    at = head(g)
    scalars = store.scalars
    multiplier = scalars[at + LAMBDA]
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


@inlined()
def evaluate(store, g, multiplier):
    """F_g(λ) and its first three Taylor coefficients in the direction of falling λ."""
    if store.form[g] == POWER_BUCKETS:
        return evaluate_buckets(store, store.extra[g], multiplier)
    if is_entropy(store, g):
        f = store.scalars[head(g) + TOTAL] * math.exp(-(multiplier + store.scalars[head(g) + BASE]))
        return f, f, 0.5 * f, f / 6.0
    return evaluate_list(store, g, store.power[g], multiplier)[:4]


@loop(fastmath={"contract", "reassoc", "nsz"})
def evaluate_list(store, g, q, multiplier):
    """`evaluate` for coordinates visited one by one, and Σ 1/d; with a power known to the compiler, or any."""
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


# -- entropy weights ------------------------------------------------------------------------------------


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
        weights[c] = exp_nonpositive(base - after)
        changed[index] = c - first
    if store.form[g] == ENTROPY_TREE:
        renew_leaves(weights, first, end - first, store.node, store.extra[g], changed, n)
        store.scalars[head(g) + TOTAL] = tree_total(end - first, store.node, store.extra[g])
    else:
        store.scalars[head(g) + TOTAL] = sum_weights(weights, first, end)
    accept_weights(store, g)


@inlined()
def accept_weights(store, g):
    """The point of a simplex that is one entropy group, from its weights and their total."""
    at = head(g)
    if store.scalars[at + TOTAL] < LEAST_TOTAL:
        refill_weights(store, g)
    store.scalars[at + CHANGE] = 0.0
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
    total = 0.0
    for i in range(first, end):
        total += weight[i]
    return total


# -- solving --------------------------------------------------------------------------------------------


@internal()
def solve(store, j):
    """Find the point of simplex j that belongs to its sums."""
    noinline()
    g = store.first_group[j]
    if store.first_group[j + 1] - g > 1:
        solve_mixed(store, j)
        return
    if store.scalars[head(g) + CHANGE] == 0.0:
        return
    if is_entropy(store, g):
        total_weights(store, g)
        accept_weights(store, g)
        return
    if store.form[g] == POWER_BUCKETS:
        solve_buckets(store, j, g)
    else:
        solve_list(store, j, g, store.power[g])


@inlined()
def solve_list(store, j, g, q):
    """`solve` for one listed group: predicted from how the series changed, evaluated once, corrected by Newton.

    Returns Σ √x for q = 2: it comes with the evaluation, and its derivative is −F.
    """
    at = head(g)
    scalars = store.scalars
    change = scalars[at + CHANGE]
    multiplier = scalars[at + LAMBDA]
    slope = scalars[at + SLOPE]
    solved = False
    roots = 0.0
    if slope > 0.0:
        r, bent = reverted(change, slope, scalars[at + CURVE], scalars[at + TWIST])
        if 0.0 <= bent < 0.05:
            f0, f1, f2, f3, roots = evaluate_list(store, g, q, multiplier - r)
            excess = f0 - 1.0
            if is_close(excess, f1, f2):
                beyond = excess / f1
                roots -= f0 * beyond
                multiplier += beyond - r
                accept(store, g, multiplier, f1, f2, f3)
                store.multiplier[j] = multiplier
                solved = True
    if not solved:
        walk(store, j)
        roots = root_sum_list(store, g, scalars[at + LAMBDA])
    if scalars[at + LAMBDA] < -REBASE:
        rebase(store, j)
    return roots


@inlined()
def reverted(change, slope, curve, twist):
    """How far λ falls by reverting −change = slope·r + curve·r² + twist·r³, and how much that bends."""
    inverse = 1.0 / slope
    a = -change * inverse
    bend = curve * inverse
    bent = a * bend
    return a * (1.0 - bent + (2.0 * bend * bend - twist * inverse) * (a * a)), bent


@inlined(needs="buckets", fastmath=FUSED)
def solve_buckets(store, j, g):
    """`solve` for one bucketed group.

    Reverting four terms of the series is off by a relative O(δ⁴), δ = r/min d; where that is not below rounding, F is
    evaluated once more and corrected by Newton. What error is left is part of F the next time: nothing accumulates.
    """
    at = head(g)
    scalars = store.scalars
    h = store.extra[g]
    multiplier = scalars[at + LAMBDA]
    f0, slope, curve, twist = evaluate_buckets(store, h, multiplier)
    solved = False
    if slope > 0.0:
        change = f0 - 1.0
        inverse = 1.0 / slope
        a = -change * inverse
        b, c, d = curve * inverse, twist * inverse, fourth_buckets(store, h, multiplier) * inverse
        bent = a * b
        r = a * ((1.0 - bent) + (a * a) * ((2.0 * b * b - c) - a * (5.0 * b * (b * b - c) + d)))
        if 0.0 <= bent < 0.05 and multiplier - r >= scalars[at + FLOOR]:
            q = store.power[g]
            delta = 0.5 * q * r / lower_end(store.span[2 * h], fineness(q))
            solved = abs(change) * (delta * delta) * (delta * delta) < SMALLEST_ERROR
            if not solved:
                f0, slope, curve, twist = evaluate_buckets(store, h, multiplier - r)
                solved = is_close(f0 - 1.0, slope, curve)
                r -= (f0 - 1.0) / slope
            if solved:
                scalars[at + LAMBDA] = store.multiplier[j] = multiplier - r
                scalars[at + CHANGE] = 0.0
    if not solved:
        walk(store, j)
    if scalars[at + LAMBDA] < scalars[at + FLOOR]:
        refresh(store, g, h)
    if scalars[at + LAMBDA] < -REBASE:
        rebase(store, j)


@inlined()
def is_close(excess, f1, f2):
    """Does one Newton step end the search? Its remainder excess²·f2/f1² must be below rounding.

    Far from the root all coefficients may underflow and look consistent: that is not close.
    """
    return f1 > 0.0 and f2 >= 0.0 and abs(excess) < 1e-3 and excess * excess * f2 < 1e-15 * f1 * f1


@inlined()
def accept(store, g, multiplier, f1, f2, f3):
    """Note a solution and the series around it, from which the next one is predicted."""
    at = head(g)
    store.scalars[at + LAMBDA] = multiplier
    store.scalars[at + CHANGE] = 0.0
    store.scalars[at + SLOPE] = f1
    store.scalars[at + CURVE] = f2
    store.scalars[at + TWIST] = f3
    store.scalars[at + MASS] = 1.0


@internal()
def solve_mixed(store, j):
    """`solve` for a simplex whose coordinates carry several potentials or rates."""
    noinline()
    stale = False
    for g in range(store.first_group[j], store.first_group[j + 1]):
        if store.scalars[head(g) + CHANGE] != 0.0:
            stale = True
            if is_entropy(store, g):
                total_weights(store, g)
    if not stale:
        return
    walk(store, j)
    worst = 0.0
    for g in range(store.first_group[j], store.first_group[j + 1]):
        at = head(g)
        if store.form[g] == POWER_BUCKETS and store.scalars[at + LAMBDA] < store.scalars[at + FLOOR]:
            refresh(store, g, store.extra[g])
        worst = max(worst, abs(store.scalars[at + LAMBDA]))
    if worst > REBASE:
        rebase(store, j)


@inlined()
def n_coordinates(store, first, last):
    """Number of coordinates of the groups first..last."""
    total = 0
    for g in range(first, last):
        total += end_of(store, g) - first_of(store, g)
    return total


@inlined()
def evaluate_all(store, first, last, top, afresh):
    """F(Λ) of a simplex and two Taylor coefficients, noting the share and the series of every group.

    `afresh` visits all Tsallis coordinates one by one, whatever the state of their buckets.
    """
    f0 = f1 = f2 = 0.0
    for g in range(first, last):
        scale = store.scale[g]
        multiplier = scale * top + store.offset[g]
        if afresh and not is_entropy(store, g):
            e0, e1, e2, e3, _ = evaluate_list(store, g, store.power[g], multiplier)
        else:
            e0, e1, e2, e3 = evaluate(store, g, multiplier)
        store.scalars[head(g) + MASS] = e0
        store.scalars[head(g) + SLOPE] = e1
        store.scalars[head(g) + CURVE] = e2
        store.scalars[head(g) + TWIST] = e3
        f0 += e0
        f1 += scale * e1
        f2 += scale * scale * e2
    return f0, f1, f2


@internal()
def walk(store, j):
    """Newton on log F of simplex j from where it stands, at most one window of each bucketed group at a time.

    log F is convex and decreasing in Λ: a Newton step from left of the root stays left of it, and one from the
    right lands left of it. After too many steps everything is rebuilt from the sums.
    """
    noinline()
    first, last = store.first_group[j], store.first_group[j + 1]
    most = MOST_STEPS if n_coordinates(store, first, last) > 512 else 40
    for _ in range(most):
        top = store.multiplier[j]
        f0, f1, f2 = evaluate_all(store, first, last, top, False)
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
                if is_entropy(store, g):
                    set_factor(store, g, math.exp(-(store.scalars[at + LAMBDA] + store.scalars[at + BASE])))
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
        # Past the floor only if the solution is: a bucket refreshed below the solution has its reference below λ.
        if limited > after and evaluate_all(store, first, last, limited, False)[0] < 1.0:
            store.multiplier[j] = limited - 1e-12 * (abs(limited) + 1e-3)
            for g in range(first, last):
                at = head(g)
                store.scalars[at + LAMBDA] = store.scale[g] * store.multiplier[j] + store.offset[g]
                if store.form[g] == POWER_BUCKETS and store.scalars[at + LAMBDA] < store.scalars[at + FLOOR]:
                    refresh(store, g, store.extra[g])
    rebuild(store, j)


@inlined()
def past_pole(store, first, last, multiplier):
    """Is a listed Tsallis coordinate at or left of its pole, or an entropy coordinate beyond any number?

    The floor of λ keeps bucketed coordinates from their poles.
    """
    for g in range(first, last):
        if store.form[g] == POWER_LIST:
            least = least_of(store.key, first_of(store, g), end_of(store, g))
            if store.scale[g] * multiplier + store.offset[g] + least <= 0.0:
                return True
        elif is_entropy(store, g):
            base = store.scalars[head(g) + BASE]
            if store.scale[g] * multiplier + store.offset[g] + base < -700.0:
                return True
    return False


@inlined()
def shift_sums(store, g, amount):
    """Add `amount` to every sum of a group."""
    keys = store.key
    for i in range(first_of(store, g), end_of(store, g)):
        keys[i] += amount
    store.scalars[head(g) + SHIFT] += amount


@internal()
def rebase(store, j):
    """Shift all sums of a simplex by its multiplier, so that Λ becomes 0 and no coordinate changes."""
    noinline()
    top = store.multiplier[j]
    for g in range(store.first_group[j], store.first_group[j + 1]):
        shift_sums(store, g, store.scale[g] * top)
    store.multiplier[j] = 0.0
    rebuild(store, j)


@internal()
def rebuild(store, j):
    """The point of simplex j from its sums alone, in O(n): Newton over all coordinates inside a bracket."""
    noinline()
    first, last = store.first_group[j], store.first_group[j + 1]
    log_share = -math.log(float(n_coordinates(store, first, last)))
    lo = hi = -math.inf
    for g in range(first, last):
        if is_entropy(store, g):
            refill_weights(store, g)
        least = least_of(store.key, first_of(store, g), end_of(store, g))
        # No coordinate exceeds 1, and some coordinate is at least 1/n.
        if is_entropy(store, g):
            at_one, at_share = -least, -log_share - least
        else:
            at_one, at_share = 1.0 - least, math.exp(-log_share / store.power[g]) - least
        lo = max(lo, (at_one - store.offset[g]) / store.scale[g])
        hi = max(hi, (at_share - store.offset[g]) / store.scale[g])
    top = store.multiplier[j] if lo < store.multiplier[j] < hi else lo
    best = math.inf
    for _ in range(200):
        f0, f1, _ = evaluate_all(store, first, last, top, True)
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
        if is_entropy(store, g):
            if last - first == 1:
                set_factor(store, g, 1.0 / store.scalars[at + TOTAL])
            else:
                set_factor(store, g, math.exp(-(store.scalars[at + LAMBDA] + store.scalars[at + BASE])))
        elif store.form[g] == POWER_BUCKETS:
            sort_into_buckets(store, g, store.extra[g])


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


# -- sampling -------------------------------------------------------------------------------------------


@inlined()
def draw(store, j, words):
    """`sample`, without a call where that is simple."""
    g = store.first_group[j]
    if store.first_group[j + 1] - g == 1 and store.form[g] == POWER_BUCKETS:
        return sample_buckets(store, g, store.extra[g], words)
    if is_plain(store, j, POWER_LIST):
        return sample_list(store, g, 2.0, words)
    return sample(store, j, words)


@internal()
def sample(store, j, words):
    """A coordinate of simplex j with probability x, exactly."""
    noinline()
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
    form = store.form[g]
    if form == POWER_BUCKETS:
        return sample_buckets(store, g, store.extra[g], words)
    first, end = first_of(store, g), end_of(store, g)
    if form == ENTROPY_LIST:
        return sample_weights(store.weight, first, end, next_unit(words) * store.scalars[head(g) + TOTAL])
    if form == ENTROPY_TREE:
        return first + draw_leaf(store.weight, first, end - first, store.node, store.extra[g], words)
    return sample_list(store, g, store.power[g], words)


@inlined()
def sample_weights(weight, first, end, target):
    """The coordinate at which the running sum of the weights passes `target`; never one of weight zero."""
    while end - first > STRIDE:
        stride = sum_weights(weight, first, first + STRIDE)
        if target < stride:
            end = first + STRIDE
        else:
            target -= stride
            first += STRIDE
    for i in range(first, end):
        target -= weight[i]
        if target < 0.0:
            return i
    last = end - 1  # rounding has left some of the target
    while last > first and weight[last] == 0.0:
        last -= 1
    return last


@inlined()
def sample_list(store, g, q, words):
    """A coordinate of a listed Tsallis group with probability ∝ x; never one of probability zero."""
    first, end = first_of(store, g), end_of(store, g)
    multiplier = store.scalars[head(g) + LAMBDA]
    keys = store.key
    target = next_unit(words) * store.scalars[head(g) + MASS]
    for i in range(first, end):
        target -= inverse_power(multiplier + keys[i], q)
        if target < 0.0:
            return i
    last = end - 1  # rounding has left some of the target
    while last > first and inverse_power(multiplier + keys[last], q) == 0.0:
        last -= 1
    return last


@inlined()
def sample_root(store, g, words):
    """A coordinate of a Tsallis group with probability ∝ 1/d = x^(1−h)."""
    if store.form[g] == POWER_BUCKETS:
        return sample_root_buckets(store, g, store.extra[g], words)
    multiplier = store.scalars[head(g) + LAMBDA]
    target = next_unit(words) * root_sum(store, g)
    chosen = first_of(store, g)
    for i in range(first_of(store, g), end_of(store, g)):
        chosen = i
        target -= 1.0 / (multiplier + store.key[i])
        if target < 0.0:
            break
    return chosen
