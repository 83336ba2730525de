"""How to play a round on its graph: candidates, and what a round costs that is played with them.

An exploration is b·g: the direction g covers the arms that need it, and b is its strength. Candidates are b = 0, nine
strengths of each of two families, and some beside them; and shifts c of the losses, where every arm is covered, or
lifted so that it shows itself often enough. The graph is an argument: the `machine` of a memory, or one
of a list (`one_graph`), which has the same names. Whoever plays decides which candidate is taken: `retune.choose` on
a plan's own graph, where a choice holds for many rounds, `changing.choose` where every round has a graph of its own.
"""

import math
from typing import Any, NamedTuple

from sidelight.engine._numba.jit import inlined, internal, loop, noinline
from sidelight.engine._numba.pointers import offset, pointer
from sidelight.engine.fields import SEEN_BY_ALL, SEEN_BY_EDGES, SEEN_BY_OTHERS, SEEN_BY_SELF
from sidelight.engine.round.indexing import in_edges, is_own, out_edges
from sidelight.engine.round.probabilities import chance_of, reveal_chance
from sidelight.engine.round.spread import covered_edges, covered_gain
from sidelight.engine.self_tuning.charge import (
    MOST_EXPLORED,
    TINY,
    above_leader,
    gained,
    is_allowed,
    is_allowed_above,
    of_leader,
    pays,
    shifted,
)
from sidelight.engine.self_tuning.point import MOST_TRIED

STRENGTHS = 9
"""Strengths of a family, a factor of √2 apart, the third of which is that of Lemma 2 or 3."""
PIECE = 256
"""Arms that are looked at together: nine numbers each, 18 KB, or twelve."""
SHIFT = 0.42
"""The shift that is tried with every strength; with the best of them others are."""
SHIFTS = (0.2, 1.0 / 3.0, 0.5)
"""Those: in the bounds shifts are near ⅓ on covered arms and near ½ on lifted ones."""
GROWN = 1.2
"""So much, at most, 1 − X_I grows before a choice is made again (`retune.MOVED`)."""
HEIGHT = 1.0
"""Arms are lifted until q ≤ this over 1 − s: at order ½ and c = ½ no round is charged more than 1 up to there."""
LAG = 1.33
"""What is explored on large graphs may lag behind, by this factor of q at most (`spread.FREE_WINDOWS`)."""
FULL = 0.9
"""What is explored with a shift may grow by a ninth, at least, before the choice is made again."""
CLEARLY = 1.0 - 1e-9
"""Only costs that are smaller by more than rounding count: where arms are alike, many are equal."""


class OneGraph(NamedTuple):
    """One of a list of graphs, by the names under which a machine has its own."""

    n_arms: int
    out_indptr: Any
    out_indices: Any
    in_indptr: Any
    in_indices: Any
    degree: int  # −1: they differ
    in_degree: int
    fails: bool
    out_chance: Any
    in_chance: Any
    covered_gain: Any
    single: bool  # arms are explored for along the edges themselves
    covered_start: Any
    covered: Any
    any_spread: bool
    n_fixed: int
    direction: Any
    seen_by: int  # −1: arms are seen in different ways
    seen_how: Any
    n_universal: int
    universal: Any
    cover: Any
    inverse_load: Any
    lifted: Any
    signed: int
    all_covered: bool


@inlined()
def one_graph(graphs, k):
    """Graph k of a list."""
    n = graphs.n_arms
    starts, arms = k * (n + 1), k * n
    first, end = graphs.universal_start[k], graphs.universal_start[k + 1]
    # Rows of all graphs lie one after another, and their starts count from the beginning of the list.
    out_indptr = pointer(graphs.out_start, starts, starts + n + 1)
    out_indices = pointer(graphs.out_arms, 0, graphs.out_arms.size)
    cover = pointer(graphs.cover, arms, arms + n)
    return OneGraph(
        n,
        out_indptr,
        out_indices,
        pointer(graphs.in_start, starts, starts + n + 1),
        pointer(graphs.in_arms, 0, graphs.in_arms.size),
        -1,
        -1,
        graphs.fails[k],  # of a list in which others' may, its chances are all 1
        pointer(graphs.out_chance, 0, graphs.out_chance.size),
        pointer(graphs.in_chance, 0, graphs.in_chance.size),
        pointer(graphs.out_share, 0, graphs.out_share.size),
        True,
        out_indptr,
        out_indices,
        True,
        0,
        cover,
        -1,
        pointer(graphs.seen_how, arms, arms + n),
        end - first,
        pointer(graphs.universal, first, end),
        cover,
        pointer(graphs.inverse_load, arms, arms + n),
        pointer(graphs.lifted, arms, arms + n),
        graphs.signed[k],
        graphs.covered[k],
    )


# -- who sees what ------------------------------------------------------------------------------------


@internal()
def see(graph, values, total, out):
    """Σ of values, times chances, over the in-neighbours of every slot; `total` is that of values over all."""
    noinline()
    for slot in range(graph.n_arms):
        # Universal arms have no explicit edges: closed forms spare n edges each.
        how = graph.seen_by if graph.seen_by >= 0 else graph.seen_how[slot]
        seen = 0.0
        if how == SEEN_BY_EDGES:
            for e in in_edges(graph, slot):
                seen += values[graph.in_indices[e]] * chance_of(graph, e)
        elif how == SEEN_BY_SELF:
            seen = values[slot]
        else:
            seen = total if how == SEEN_BY_ALL else max(total - values[slot], 0.0)
        out[slot] = seen


@inlined()
def mark_shown(graph, work, leader):
    """Mark what playing the leader reveals, by how likely it does."""
    for i in range(graph.n_arms):
        work.shown[i] = 0.0
    row = out_edges(graph, leader)
    # Explicit edges, then the arms that everyone reveals, as in any row of reveals.
    n_explicit = len(row)
    for index in range(n_explicit + graph.n_universal):
        if index < n_explicit:
            work.shown[graph.out_indices[row.start + index]] = reveal_chance(graph, row.start + index)
        elif not is_own(graph, leader, graph.universal[index - n_explicit]):
            work.shown[graph.universal[index - n_explicit]] = 1.0


@inlined()
def mark_shows(graph, out, leader):
    """Mark who reveals the leader, by how likely they do."""
    how = graph.seen_by if graph.seen_by >= 0 else graph.seen_how[leader]
    everyone = how in (SEEN_BY_ALL, SEEN_BY_OTHERS)
    for i in range(graph.n_arms):
        out[i] = 1.0 if everyone and (i != leader or how == SEEN_BY_ALL) else 0.0
    if not everyone:
        for e in in_edges(graph, leader):
            out[graph.in_indices[e]] = chance_of(graph, e)


@inlined()
def see_both(graph, work, values, out):
    """`see` of arms together with the leader, who must be marked."""
    total = 0.0
    for i in range(graph.n_arms):
        work.marked[i] = values[i] * work.shows[i]
        total += work.marked[i]
    see(graph, work.marked, total, out)


@inlined()
def inverse_load_of(graph, i, leader, scale):
    """One over the load of the cover on arm i; what is explored for the leader's sake is scaled."""
    return graph.inverse_load[i] * scale if i == leader else graph.inverse_load[i]


@internal()
def direct(graph, work, leader, scale, margin):
    """Write g, what strength 1 explores, and how it is seen; return G, its total.

    g_j = x*_j · max X_i^{1−s}/c_i over the arms i that j reveals; what j reveals with probability r counts r^{1/s−1}
    times (docs/theory/failing-reveals.md). `margin` is how much more than that is explored where it follows X lazily.
    """
    noinline()
    n, g, root = graph.n_arms, work.g, work.root
    total = 0.0
    if graph.any_spread:
        # The largest of what arms are owed that everybody reveals, and the next: an arm may not reveal itself.
        largest, next_largest, owner = 0.0, 0.0, -1
        for index in range(graph.n_universal if graph.single else 0):
            i = graph.universal[index]
            owed = inverse_load_of(graph, i, leader, scale) * root[i]
            if owed > largest:
                largest, next_largest, owner = owed, largest, i
            else:
                next_largest = max(next_largest, owed)
        # Only arms of the cover explore, each for the arm that needs it most among those that it reveals.
        for j in range(n):
            most = 0.0
            if graph.cover[j] > 0.0:
                most = next_largest if j == owner and is_own(graph, j, j) else largest
                for e in covered_edges(graph, j):
                    i = graph.out_indices[e] if graph.single else graph.covered[e]
                    most = max(
                        most, inverse_load_of(graph, i, leader, scale) * root[i] * covered_gain(graph, e)
                    )
            g[j] = margin * graph.cover[j] * most
            total += g[j]
    elif graph.n_fixed > 0:
        for j in range(n):
            g[j] = graph.direction[j]
            total += g[j]
    # Where nothing explores, strengths are 0 and what is seen is never read.
    if total > 0.0:
        see(graph, g, total, work.seen_g)
    return total


# -- candidates ---------------------------------------------------------------------------------------


class Candidates(NamedTuple):
    """What all candidates of one choice have in common."""

    n_arms: int
    order: float  # s
    beta: float
    leader: int
    rest: float  # 1 − X_I
    others: float  # Σ X^{2−s} over all arms but the leader
    largest: float  # no less than X^{1−s} of any of those
    likely: float  # the part of stability that counts where likely costs are compared
    lifted: float  # Σ of what lifted arms are lifted by, 0 if none is
    floor: float  # to X^{1−s} times this
    height: float  # and no q of those exceeds this over 1 − γ
    above: bool  # may estimates be counted above the leader's where losses are shifted?
    lead_loops: bool  # does the leader always show itself?
    covered: bool  # are all arms covered?
    lag: float  # by how much q may exceed 1/(βb) where exploration lags behind


@inlined()
def candidates_at(
    work, n, s, beta, leader, rest, likely, lifted=0.0, floor=0.0, height=0.0, above=False, loops=False,
    covered=False, lag=1.0,
):  # fmt: skip
    """Candidates at the point in the workspace."""
    others = largest = 0.0
    for i in range(n):
        if i != leader:
            others += work.x[i] * work.root[i]
            largest = max(largest, work.root[i])
    return Candidates(
        n, s, beta, leader, rest, others, largest, likely, lifted, floor, height, above, loops, covered, lag
    )


@inlined()
def offer(work, tried, strength, kept, scale, floor=0.0, shift=0.0, above=0.0, limit=MOST_EXPLORED):
    """Add a candidate, to be played while no more than `limit` is explored; return how many are tried then."""
    if tried == MOST_TRIED:
        return tried
    work.strengths[tried], work.kept[tried], work.scales[tried] = strength, kept, scale
    work.floors[tried], work.shifts[tried] = floor, shift
    work.leads[tried], work.limits[tried] = above, limit
    return tried + 1


@inlined()
def offer_shift(work, common, strength, scale, total, shift, tried):
    """Add a shift to a strength, with arms lifted and without, where that is allowed."""
    if common.covered and strength > 0.0:
        tried = offer_signed(work, common, strength, scale, total, shift, False, tried)
    if common.floor > 0.0:
        tried = offer_signed(work, common, strength, scale, total, shift, True, tried)
    return tried


@inlined()
def offer_signed(work, common, strength, scale, total, shift, lifts, tried):
    """`offer_shift` with arms lifted or not, and estimates counted above 0 or above the leader's."""
    explored = strength * total + (common.lifted if lifts else 0.0)
    floor = common.floor if lifts else 0.0
    limit = min(2.0 * explored + 0.05, 0.5)
    if explored > FULL * limit:
        return tried
    rest, lead = GROWN * common.rest, 1.0 - GROWN * common.rest
    # Covered arms have q ≤ 1/(βb), the leader 1/scale times as much, and lifted ones what they are lifted for.
    most = common.height / (1.0 - limit) if lifts else 0.0
    if strength > 0.0:
        most = max(most, common.lag / (common.beta * strength))
    leaders = most / scale if scale < 1.0 else most
    if is_allowed(common.order, shift, leaders, limit):
        tried = offer(work, tried, strength, 0.0, scale, floor, shift, 0.0, limit)
    if common.above and lead > 0.5:
        # r = X^{1−s}/(βP_I), and X ≤ 1 − X_I: the leader is covered, or shows itself when it is played
        others = leaders * (rest / lead) ** (1.0 - common.order)
        if common.lead_loops:
            others = rest ** (1.0 - common.order) / (common.beta * lead * (1.0 - limit))
        if is_allowed_above(common.order, shift, most, others, limit):
            tried = offer(work, tried, strength, 0.0, scale, floor, shift, 1.0, limit)
    return tried


@inlined()
def offer_none(work, common):
    """Candidate 0: play X as it is."""
    tried = offer(work, 0, 0.0, 0.0, 1.0)
    compare(work, common, 0.0, 0, tried)
    return tried


@inlined()
def offer_lifted(work, common, tried):
    """A shift where all arms are lifted, and nothing is explored beside."""
    after = offer_shift(work, common, 0.0, 1.0, 0.0, SHIFT, tried)
    compare(work, common, 0.0, tried, after)
    return after


@inlined()
def offer_shifts(work, common, total, best, tried):
    """Add other shifts to a candidate, in whose direction G is `total`."""
    after = tried
    for shift in SHIFTS:
        after = offer_shift(work, common, work.strengths[best], work.scales[best], total, shift, after)
    compare(work, common, total, tried, after)
    return after


@inlined()
def lift(graph, work, floor):
    """Write by what the arms of a graph that can be lifted are lifted to a floor; return the total."""
    total = 0.0
    for i in range(graph.n_arms):
        work.lift[i] = max(floor * work.root[i] - work.x[i], 0.0) * graph.lifted[i]
        work.seen_lift[i] = 0.0
        total += work.lift[i]
    if total > 0.0:
        see(graph, work.lift, total, work.seen_lift)
    return total


@inlined()
def directed(graph, work, common, scale, margin):
    """`direct`, and how likely g shows arms together with the leader, where that is needed."""
    total = direct(graph, work, common.leader, scale, margin)
    if common.above and total > 0.0:
        see_both(graph, work, work.g, work.both_g)
    return total


@inlined()
def no_lift(graph, work):
    """`lift` where no arm can be lifted."""
    for i in range(graph.n_arms):
        work.lift[i] = work.seen_lift[i] = 0.0
    return 0.0


@inlined()
def families_near(rest):
    """How many families there are: one more near a vertex, where X_I > ½.

    There exploring for the leader as if it had no more than all others together is cheaper; far from it the proof of
    the price asks for the other.
    """
    return 2 if rest < 0.5 else 1


@inlined()
def scale_in(family, work, common):
    """By what a family scales exploration for the leader's sake."""
    if family == 0:
        return 1.0
    return (common.rest / work.x[common.leader]) ** (1.0 - common.order)


@internal()
def offer_family(work, common, family, scale, total, tried, signed):
    """Add the strengths of a family whose directions add up to `total`, with shifts too if `signed`.

    Returns how many are tried then.
    """
    noinline()
    # Lemma 2 balances stability against exploration at this strength; near a vertex Lemma 3 asks for another.
    top = 1.0 / math.sqrt(2.0 * common.beta * total)
    if family == 1:
        top = max(math.sqrt(common.rest) * top, max(1.0, 2.0 - 2.0 * common.order) / common.beta)
    first = tried
    for k in range(STRENGTHS):
        # b·G ≤ ½, so that at least half of what is played is X.
        b = min(top * 2.0 ** (0.5 * (2 - k)), 0.5 / total)
        tried = offer(work, tried, b, 0.0, scale)
        if signed:
            tried = offer_shift(work, common, b, scale, total, SHIFT, tried)
    compare(work, common, total, first, tried)
    return tried


@inlined()
def offer_strength(work, common, strength, scale, total, tried):
    """Add one strength of the direction at hand."""
    after = offer(work, tried, min(strength, 0.5 / total), 0.0, scale)
    compare(work, common, total, tried, after)
    return after


@internal()
def offer_kept(work, common, scale, total, first, tried):
    """Add, around the cheapest from `first` on, some that keep a part of the leader out of what exploration takes."""
    noinline()
    # Exploration takes from all arms in proportion to X, mostly from the leader: keeping a part there is cheaper.
    nearest = work.strengths[cheapest(work.costs, first, tried)]
    first = tried
    for k in range(6):
        b = min(nearest * 2.0 ** (0.5 * (k // 2 - 1)), 0.5 / total)
        share = min(0.5 - b * total, 0.5 * (1 + k % 2) * b * total / common.rest)
        if share > 0.0:
            tried = offer(work, tried, b, share * work.x[common.leader], scale)
    compare(work, common, total, first, tried)
    return tried


@inlined()
def cheapest(costs, first, end):
    """The first of some costs that none undercuts clearly."""
    best = first
    for k in range(first + 1, end):
        if costs[k] < costs[best] * CLEARLY:
            best = k
    return best


@internal()
def compare(work, common, total, begin, end):
    """Write what rounds cost that are played with some candidates, all of which explore b·g with Σg = total.

    At most, Σ max{stability if ℓ = 0, stability if ℓ = 1 and Z − X}, and likely, with the mean losses so far in the
    place of ℓ and a part of stability.
    """
    noinline()
    n, strengths, kept, costs, likely = common.n_arms, work.strengths, work.kept, work.costs, work.likely
    for k in range(begin, end):
        # Sums over pieces are added up here.
        costs[k] = likely[k] = 0.0
    # A piece of the arms at a time, which stays in the nearest cache for all strengths.
    for first in range(0, n, PIECE):
        for k in range(begin, end):
            most, mean = cost_of(work, common, first, min(first + PIECE, n), k, total)
            costs[k] += most
            likely[k] += mean
    # The leader's part: its own exploration, and what others pay if estimates are counted above its own.
    leader, s = common.leader, common.order
    x, mean, root = work.x[leader], work.mean[leader], work.root[leader]
    for k in range(begin, end):
        b, c, lifts = strengths[k], work.shifts[k], 1.0 if work.floors[k] > 0.0 else 0.0
        gamma = b * total + kept[k] + lifts * common.lifted
        more = b * work.g[leader] + lifts * work.lift[leader] + kept[k] - gamma * x
        seen = (1.0 - gamma) * work.seen_x[leader] + b * work.seen_g[leader] + lifts * work.seen_lift[leader]
        seen = common.beta * (seen + kept[k] * work.shown[leader])
        paid, other = (1.0 - c) * pays(s, x, (1.0 - c) * root, seen), gained(s, c, x, root, seen)
        if c == 0.0:
            paid = min(paid, shifted(s, common.others, common.largest, seen))
        most = max(paid + more, other)
        if work.leads[k] > 0.0:
            paid, other = max(of_leader(s, c, x, common.others, common.largest, seen, more) - more, 0.0), 0.0
            most = max(paid + more, 0.0)
        costs[k] += most
        likely[k] += mean * (common.likely * paid + more) + (1.0 - mean) * common.likely * other


@loop(fastmath={"contract", "reassoc", "nsz"})
def cost_of(work, common, first, end, k, total):
    """The part of slots first..end, but for the leader, in what candidate k costs."""
    s, likely = common.order, common.likely
    b, kept, c, lifts = work.strengths[k], work.kept[k], work.shifts[k], 1.0 if work.floors[k] > 0.0 else 0.0
    points, roots = offset(work.x, first), offset(work.root, first)
    seen_point, g = offset(work.seen_x, first), offset(work.g, first)
    seen_g, shown, means = offset(work.seen_g, first), offset(work.shown, first), offset(work.mean, first)
    lift, seen_lift = offset(work.lift, first), offset(work.seen_lift, first)
    # Z = (1 − γ)·X + b·g + lifts, and what is kept on the leader, whose own term is that of `compare`.
    gamma = b * total + kept + lifts * common.lifted
    keep, explored, by_leader = common.beta * (1.0 - gamma), common.beta * b, common.beta * kept
    lifted, leader = common.beta * lifts, common.leader - first
    most = mean = 0.0
    if work.leads[k] > 0.0:
        both_x, both_g, both_lift = (
            offset(work.both_x, first),
            offset(work.both_g, first),
            offset(work.both_lift, first),
        )
        at = common.leader
        seen_leader = (
            keep * work.seen_x[at] + explored * work.seen_g[at] + lifted * work.seen_lift[at]
        ) / common.beta
        for i in range(end - first):
            seen = (keep * seen_point[i] + explored * seen_g[i] + lifted * seen_lift[i]) / common.beta
            both = (keep * both_x[i] + explored * both_g[i] + lifted * both_lift[i]) / common.beta
            x, more, m = points[i], b * g[i] - gamma * points[i] + lifts * lift[i], means[i]
            if i == leader:
                continue
            if not (seen > 0.0 and seen_leader > 0.0):  # what estimates miss
                most += max(c * (1.0 - x), (1.0 - c) * x + more)
            else:
                most += above_leader(s, c, x, roots[i] / common.beta, seen, more, both, seen_leader)
                lost = pays(s, x, (1.0 - c) * roots[i], common.beta * seen)
                mean += m * (likely * (1.0 - c) * lost + more)
                mean += (1.0 - m) * likely * gained(s, c, x, roots[i], common.beta * seen)
        return most, mean
    if s == 0.5:  # on its own, so that it vectorises
        for i in range(end - first):
            x, root, m = points[i], (1.0 - c) * roots[i], means[i] if i != leader else 0.0
            seen = keep * seen_point[i] + explored * seen_g[i] + by_leader * shown[i] + lifted * seen_lift[i]
            paid = (1.0 - c) * pays(0.5, x, root, seen)
            more = b * g[i] - gamma * x + lifts * lift[i]
            low = c * c * roots[i]
            room = 2.0 * seen - c * roots[i]
            other = low * x / (room if room > TINY else TINY)
            other = other if other < c * (1.0 - x) else c * (1.0 - x)
            over = paid + more
            over = over if over > other else other
            most += over if i != leader else 0.0
            mean += (m * (likely * paid + more) + (1.0 - m) * likely * other) if i != leader else 0.0
        return most, mean
    for i in range(end - first):
        if i == leader:
            continue
        x, m = points[i], means[i]
        seen = keep * seen_point[i] + explored * seen_g[i] + by_leader * shown[i] + lifted * seen_lift[i]
        paid = (1.0 - c) * pays(s, x, (1.0 - c) * roots[i], seen)
        more = b * g[i] - gamma * x + lifts * lift[i]
        other = gained(s, c, x, roots[i], seen)
        most += max(paid + more, other)
        mean += m * (likely * paid + more) + (1.0 - m) * likely * other
    return most, mean
