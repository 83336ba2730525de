"""How much to explore on the graph of a round: candidates, and what a round costs that explores with them.

An exploration is b·g: the direction g covers the arms that need it, and b is its strength. Candidates are b = 0, nine
strengths of each of two families, and some beside them. The graph is an argument: the `machine` of a memory, or one
of a list (`one_graph`), which has the same names. Whoever plays decides which candidate is taken: `retune.choose` on
a plan's own graph, where a choice holds for many rounds, `changing.choose` where every round has a graph of its own.
"""

import math
from typing import Any, NamedTuple

from sidelight.engine._numba.jit import inlined, internal, loop, noinline
from sidelight.engine._numba.pointers import offset, pointer
from sidelight.engine.fields import SEEN_BY_ALL, SEEN_BY_EDGES, SEEN_BY_SELF
from sidelight.engine.round.indexing import in_edges, is_own, out_edges
from sidelight.engine.round.probabilities import chance_of, reveal_chance
from sidelight.engine.round.spread import covered_edges, covered_gain
from sidelight.engine.self_tuning.charge import pays, shifted

STRENGTHS = 9
"""Strengths of a family, a factor of √2 apart, the third of which is that of Lemma 2 or 3."""
PIECE = 256
"""Arms that are looked at together: seven numbers each, 14 KB."""
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
        graphs.out_chance.size > 0,
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


@inlined()
def candidates_at(work, n, s, beta, leader, rest, likely):
    """Candidates at the point in the workspace."""
    others = largest = 0.0
    for i in range(n):
        if i != leader:
            others += work.x[i] * work.root[i]
            largest = max(largest, work.root[i])
    return Candidates(n, s, beta, leader, rest, others, largest, likely)


@inlined()
def offer_none(work, common):
    """Candidate 0: play X as it is."""
    work.strengths[0] = work.kept[0] = 0.0
    work.scales[0] = 1.0
    compare(work, common, 0.0, 0, 1)


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
def offer_family(work, common, family, scale, total, tried):
    """Add the strengths of a family whose directions add up to `total`; return how many are tried then."""
    noinline()
    # Lemma 2 balances stability against exploration at this strength; near a vertex Lemma 3 asks for another.
    top = 1.0 / math.sqrt(2.0 * common.beta * total)
    if family == 1:
        top = max(math.sqrt(common.rest) * top, max(1.0, 2.0 - 2.0 * common.order) / common.beta)
    first = tried
    for k in range(STRENGTHS):
        # b·G ≤ ½, so that at least half of what is played is X.
        work.strengths[tried] = min(top * 2.0 ** (0.5 * (2 - k)), 0.5 / total)
        work.kept[tried], work.scales[tried] = 0.0, scale
        tried += 1
    compare(work, common, total, first, tried)
    return tried


@inlined()
def offer_strength(work, common, strength, scale, total, tried):
    """Add one strength of the direction at hand."""
    work.strengths[tried] = min(strength, 0.5 / total)
    work.kept[tried], work.scales[tried] = 0.0, scale
    compare(work, common, total, tried, tried + 1)
    return tried + 1


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
            work.strengths[tried], work.kept[tried] = b, share * work.x[common.leader]
            work.scales[tried] = scale
            tried += 1
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
    """Write what rounds cost that explore b·g, Σg = total, for some strengths b, each with a part of the leader kept:
    at most, Σ [A + Z − X]₊, and likely, with the mean losses so far, Σ ℓ̄·(likely·A + Z − X).
    """
    noinline()
    n, strengths, kept, costs, likely = common.n_arms, work.strengths, work.kept, work.costs, work.likely
    for k in range(begin, end):
        # Sums over pieces are added up here.
        costs[k] = likely[k] = 0.0
    # A piece of the arms at a time, which stays in the nearest cache for all strengths.
    for first in range(0, n, PIECE):
        for k in range(begin, end):
            most, mean = cost_of(work, common, first, min(first + PIECE, n), strengths[k], kept[k], total)
            costs[k] += most
            likely[k] += mean
    # The leader's part: its own exploration, and the smaller of two.
    leader = common.leader
    x, mean = work.x[leader], work.mean[leader]
    for k in range(begin, end):
        b, more = strengths[k], strengths[k] * (work.g[leader] - total * x) - kept[k] * x
        seen = (1.0 - b * total - kept[k]) * work.seen_x[leader] + b * work.seen_g[leader]
        seen = common.beta * (seen + kept[k] * work.shown[leader])
        plain = pays(common.order, x, work.root[leader], seen)
        paid = min(plain, shifted(common.order, common.others, common.largest, seen))
        costs[k] += max(paid + more + kept[k], 0.0) - max(plain + more, 0.0)
        likely[k] += mean * (common.likely * (paid - plain) + kept[k])


@loop(fastmath={"contract", "reassoc", "nsz"})
def cost_of(work, common, first, end, b, kept, total):
    """The part of slots first..end, as if none were the leader."""
    s, likely = common.order, common.likely
    points, roots = offset(work.x, first), offset(work.root, first)
    seen_point, g = offset(work.seen_x, first), offset(work.g, first)
    seen_g, shown, means = offset(work.seen_g, first), offset(work.shown, first), offset(work.mean, first)
    # Z = (1 − γ)·X + b·g, and what is kept on the leader: its own term is corrected by `compare`.
    gamma = b * total + kept
    keep, explored, by_leader = common.beta * (1.0 - gamma), common.beta * b, common.beta * kept
    most = mean = 0.0
    if s == 0.5:  # on its own, so that it vectorises
        for i in range(end - first):
            x = points[i]
            seen = keep * seen_point[i] + explored * seen_g[i] + by_leader * shown[i]
            paid = pays(0.5, x, roots[i], seen)
            more = b * g[i] - gamma * x
            most += paid + more if paid + more > 0.0 else 0.0
            mean += means[i] * (likely * paid + more)
        return most, mean
    for i in range(end - first):
        x = points[i]
        seen = keep * seen_point[i] + explored * seen_g[i] + by_leader * shown[i]
        paid = pays(s, x, roots[i], seen)
        more = b * g[i] - gamma * x
        most += paid + more if paid + more > 0.0 else 0.0
        mean += means[i] * (likely * paid + more)
    return most, mean
