"""Finding the multiplier: the point of a simplex that belongs to its sums.

Mirror descent with fixed rates equals follow-the-regularised-leader on cumulative estimates, so a point is
determined by its sums and the multiplier that makes it add up to one. `add` changes a sum and notes how F and
its Taylor coefficients change; `solve` predicts the new multiplier by reverting that series, evaluates F once,
and corrects. Where the prediction is not good enough, `walk` takes safeguarded Newton steps. Nothing here can
fail: F is decreasing and log-convex, and a bracket is known in closed form. Sums may grow and fall, so the
multiplier moves both ways.
"""

import math

from sidelight.engine._numba.jit import inlined, internal, noinline
from sidelight.engine.exponential import exp_bounded
from sidelight.engine.simplex.buckets import (
    change_power_sum,
    fineness,
    has_left,
    least_of,
    lower_end,
    refresh,
    sort_into_buckets,
)
from sidelight.engine.simplex.moments import FUSED, evaluate_buckets, fourth_buckets
from sidelight.engine.simplex.point import (
    REBASE,
    accept_weights,
    evaluate,
    evaluate_list,
    is_entropy,
    is_plain,
    note_change,
    refill_weights,
    root_sum,
    root_sum_list,
    shift_sums,
    total_weights,
)
from sidelight.engine.simplex.store import ENTROPY_TREE, POWER_BUCKETS, POWER_LIST, end_of, first_of, group
from sidelight.engine.simplex.tree import renew_leaf

MOST_STEPS = 400
"""Steps of `walk` on a large simplex before it is rebuilt in O(n)."""
SMALLEST_ERROR = 2e-19
"""Largest |change|·δ⁴ for which the reverted series is trusted unchecked: it errs by at most 200 times as much."""


@internal()
def solve(store, j):
    """Find the point of simplex j that belongs to its sums."""
    noinline()
    g = store.first_group[j]
    if store.first_group[j + 1] - g > 1:
        solve_mixed(store, j)
        return
    # No sum has changed, so neither has the point; every `add` marks its group.
    if group(store, g).change == 0.0:
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
    own = group(store, g)
    change = own.change
    multiplier = own.multiplier
    slope = own.slope
    solved = False
    roots = 0.0
    # If several estimates of a round hit the same dominating coordinate, the noted changes may cancel the
    # slope: a prediction from it would be NaN.
    if slope > 0.0:
        r, bent = reverted(change, slope, own.curve, own.twist)
        # Beyond this the omitted terms of the reverted series are no longer small.
        if abs(bent) < 0.05:
            f0, f1, f2, f3, roots = evaluate_list(store, g, q, multiplier - r)
            excess = f0 - 1.0
            if is_close(excess, f1, f2):
                # Newton from the predicted multiplier. F is evaluated from the sums every time, so errors of
                # λ do not accumulate over rounds.
                beyond = excess / f1
                roots -= f0 * beyond
                multiplier += beyond - r
                accept(store, g, multiplier, f1, f2, f3)
                store.multiplier[j] = multiplier
                solved = True
    if not solved:
        walk(store, j)
        roots = root_sum_list(store, g, own.multiplier)
    # λ falls without end while sums grow, and rises while they fall: d = λ + s would lose its digits.
    if abs(own.multiplier) > REBASE:
        rebase(store, j)
    return roots


@inlined()
def reverted(change, slope, curve, twist):
    """How far λ falls by reverting −change = slope·r + curve·r² + twist·r³, and how much that bends."""
    inverse = 1.0 / slope
    a = -change * inverse
    bend = curve * inverse
    bent = a * bend
    # Third order: r = a − b·a² + (2b² − c)·a³ with a = −change/slope, b = curve/slope, c = twist/slope.
    return a * (1.0 - bent + (2.0 * bend * bend - twist * inverse) * (a * a)), bent


@inlined(needs="buckets", fastmath=FUSED)
def solve_buckets(store, j, g):
    """`solve` for one bucketed group.

    Reverting four terms of the series is off by a relative O(δ⁴), δ = |r|/min d; where that is not below rounding, F
    is evaluated once more and corrected by Newton. What is left is part of F the next time: nothing accumulates.
    """
    own = group(store, g)
    h = store.extra[g]
    multiplier = own.multiplier
    # The series already holds the new sums: F at the old λ is one evaluation of eight terms.
    f0, slope, curve, twist = evaluate_buckets(store, h, multiplier)
    solved = False
    if slope > 0.0:
        change = f0 - 1.0
        inverse = 1.0 / slope
        a = -change * inverse
        b, c, d = curve * inverse, twist * inverse, fourth_buckets(store, h, multiplier) * inverse
        bent = a * b
        # Fourth order, one more than for lists: that usually spares the second evaluation.
        r = a * ((1.0 - bent) + (a * a) * ((2.0 * b * b - c) - a * (5.0 * b * (b * b - c) + d)))
        # Beyond floor and ceiling some bucket's series is no longer accurate: leave that to `walk`, which
        # refreshes on the way.
        if abs(bent) < 0.05 and own.floor <= multiplier - r <= own.ceiling:
            q = store.power[g]
            # δ of the docstring: the lowest bucket bounds min d from below. For q = 2 it is r/min d.
            delta = 0.5 * q * r / lower_end(store.span[2 * h], fineness(q))
            solved = abs(change) * (delta * delta) * (delta * delta) < SMALLEST_ERROR
            if not solved:
                f0, slope, curve, twist = evaluate_buckets(store, h, multiplier - r)
                solved = is_close(f0 - 1.0, slope, curve)
                r -= (f0 - 1.0) / slope
            if solved:
                own.multiplier = store.multiplier[j] = multiplier - r
                own.change = 0.0
    if not solved:
        walk(store, j)
    # Now, not when the series is needed next: rejection sampling relies on the bounds of the buckets too.
    if has_left(store, g):
        refresh(store, g, h)
    if abs(own.multiplier) > REBASE:
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
    own = group(store, g)
    own.multiplier = multiplier
    own.change = 0.0
    # Coefficients at the evaluated λ, not after the last correction: close enough to predict with.
    own.slope = f1
    own.curve = f2
    own.twist = f3
    own.mass = 1.0


@internal()
def solve_mixed(store, j):
    """`solve` for a simplex whose coordinates carry several potentials or rates."""
    noinline()
    stale = False
    for g in range(store.first_group[j], store.first_group[j + 1]):
        if group(store, g).change != 0.0:
            stale = True
            # Before `walk`, which evaluates F from this total.
            if is_entropy(store, g):
                total_weights(store, g)
    if not stale:
        return
    # One Λ for all groups, found by Newton from the last solution.
    walk(store, j)
    worst = 0.0
    for g in range(store.first_group[j], store.first_group[j + 1]):
        own = group(store, g)
        if store.form[g] == POWER_BUCKETS and has_left(store, g):
            refresh(store, g, store.extra[g])
        worst = max(worst, abs(own.multiplier))
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
        group(store, g).mass = e0
        group(store, g).slope = e1
        group(store, g).curve = e2
        group(store, g).twist = e3
        f0 += e0
        # The chain rule: group g sees Λ through λ_g = scale_g·Λ + offset_g.
        f1 += scale * e1
        f2 += scale * scale * e2
    return f0, f1, f2


@internal()
def walk(store, j):
    """Newton on log F of simplex j from where it stands.

    log F is convex and decreasing in Λ: a Newton step from left of the root stays left of it, and is taken whole. One
    from the right lands left of it, and is taken at most one window of each bucketed group at a time. After too many
    steps, or where a pole is in the way, everything is rebuilt from the sums.
    """
    noinline()
    first, last = store.first_group[j], store.first_group[j + 1]
    step_to(store, j, present_top(store, j))
    start = store.multiplier[j]
    # Rebuilding a small simplex costs no more than a few steps here: it is not walked back and forth.
    small = n_coordinates(store, first, last) <= 512
    most = 40 if small else MOST_STEPS
    # Sums may have fallen to their poles and beyond.
    for _ in range(0 if past_pole(store, first, last, start) else most):
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
                own = group(store, g)
                scale = store.scale[g]
                own.multiplier = scale * (top + move) + store.offset[g]
                # To first order; the remainder is below rounding, as `is_close` has made sure.
                own.mass -= scale * move * own.slope
                own.change = 0.0
                if is_entropy(store, g):
                    own.factor = math.exp(-(own.multiplier + own.base))
            return
        # Newton on log F: it is closer to a straight line than F, so a step from the right of the root
        # overshoots less.
        after = top + math.log(f0) * f0 / f1
        if excess < 0.0:
            # Not beyond the window of any bucket: there its series would be wrong.
            limited = after
            for g in range(first, last):
                if store.form[g] == POWER_BUCKETS:
                    floor = (group(store, g).floor - store.offset[g]) / store.scale[g]
                    limited = max(limited, floor)
            # It may jump over a pole, where F has another root.
            if past_pole(store, first, last, limited) or (small and limited >= top):
                break
            # Past the floor only if the solution is: a bucket refreshed below the solution has its reference
            # below λ.
            if limited > after and evaluate_all(store, first, last, limited, False)[0] < 1.0:
                # A hair below the floor, so that the buckets which stand in the way count as left.
                limited -= 1e-12 * (abs(limited) + 1e-3)
            after = limited
        elif small and top + 1e-3 * (1.0 + abs(top)) < after <= start:
            break
        step_to(store, j, after)
    rebuild(store, j)


@inlined()
def step_to(store, j, top):
    """Let Λ be `top`, and refresh the buckets whose windows it has left."""
    store.multiplier[j] = top
    for g in range(store.first_group[j], store.first_group[j + 1]):
        group(store, g).multiplier = store.scale[g] * top + store.offset[g]
        if store.form[g] == POWER_BUCKETS and has_left(store, g):
            refresh(store, g, store.extra[g])


@inlined()
def present_top(store, j):
    """Λ where the simplex stands: that of its last solution, or of the group that has gone furthest to make room."""
    top = furthest = store.multiplier[j]
    for g in range(store.first_group[j], store.first_group[j + 1]):
        multiplier = group(store, g).multiplier
        if multiplier > store.scale[g] * top + store.offset[g]:
            furthest = max(furthest, (multiplier - store.offset[g]) / store.scale[g])
    return furthest


@inlined()
def past_pole(store, first, last, multiplier):
    """Is a listed Tsallis coordinate at or left of its pole, or anything about to be larger than numbers are?

    The floor of λ keeps bucketed coordinates from their poles.
    """
    for g in range(first, last):
        if store.form[g] == POWER_LIST:
            least = least_of(store.key, first_of(store, g), end_of(store, g))
            # No solution has a d below 1; so near to 0 high powers overflow.
            if store.scale[g] * multiplier + store.offset[g] + least < 1e-3:
                return True
        elif is_entropy(store, g):
            base = group(store, g).base
            # exp overflows at 709.
            if store.scale[g] * multiplier + store.offset[g] + base < -700.0:
                return True
    return False


@internal()
def rebase(store, j):
    """Shift all sums of a simplex by its multiplier, so that Λ becomes 0 and no coordinate changes."""
    noinline()
    top = store.multiplier[j]
    for g in range(store.first_group[j], store.first_group[j + 1]):
        shift_sums(store, g, store.scale[g] * top)
    # Rare (13 times in 10⁹ rounds of a bandit), so O(n) does not matter; references, moments and weights are
    # simply made anew.
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
    # The old multiplier is the best guess if the bracket allows it. Otherwise from the left, where Newton on
    # a convex function stays on its side of the root.
    top = store.multiplier[j] if lo < store.multiplier[j] < hi else lo
    best = math.inf
    # Each step either follows Newton or halves the bracket: 200 are far more than any double needs.
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
        # Also where `after` is NaN.
        if not lo <= after <= hi:
            after = 0.5 * (lo + hi)
        if after == top:
            break
        top = after
    store.multiplier[j] = top
    for g in range(first, last):
        own = group(store, g)
        own.multiplier = store.scale[g] * top + store.offset[g]
        own.change = 0.0
        if is_entropy(store, g):
            # Normalised by the total rather than through Λ: then the coordinates add up to 1 to rounding.
            if last - first == 1:
                own.factor = 1.0 / own.total
            else:
                own.factor = math.exp(-(own.multiplier + own.base))
        elif store.form[g] == POWER_BUCKETS:
            sort_into_buckets(store, g, store.extra[g])


# -- changing sums: `add` to one, or `move` a simplex by several at once and solve it ---------------------------


@internal()
def add(store, g, coordinate, amount):
    """Add `amount` (scaled), of either sign, to the sum of a coordinate; the point is stale until `solve`."""
    noinline()
    before = store.key[coordinate]
    after = before + amount
    form = store.form[g]
    if form == POWER_BUCKETS:
        # Only marks the group as stale: the change of F is in its series.
        group(store, g).change = -1.0
        change_bucketed(store, g, store.power[g], coordinate, before, after)
        return
    store.key[coordinate] = after
    if form == POWER_LIST:
        # Only the change of F at the present λ is noted: λ moves once, in `solve`, however many sums have
        # changed.
        note_change(store, g, store.power[g], before, after)
        return
    group(store, g).change = -1.0
    # From the sum, not by multiplying the old weight: rounding does not pile up, and a weight that has
    # underflowed to 0 can come back.
    store.weight[coordinate] = exp_bounded(group(store, g).base - after)
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
    q = store.power[g]
    for index in range(n):
        c = coordinates[index]
        before = store.key[c]
        change_bucketed(store, g, q, c, before, before + amounts[index])
    solve_buckets(store, j, g)


@inlined()
def change_bucketed(store, g, q, coordinate, before, after):
    """`change_power_sum`; the most frequent power as a constant, for which the compiler drops the general one."""
    if q == 2.0:
        change_power_sum(store, g, store.extra[g], 2.0, coordinate, before, after)
    else:
        change_power_sum(store, g, store.extra[g], q, coordinate, before, after)


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
