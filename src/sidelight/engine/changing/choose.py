"""What a round is drawn from: of a few explorations the one whose round costs least on the graph of that round.

The dense rule of docs/theory/self-tuning.md, line by line: X from sums and β, then b = 0 and nine strengths of each
of two families, the second near a vertex only; and one more where the graph is strongly observable without being so
by self-loops alone (Lemma 4).
"""

import math

from sidelight.engine._numba.jit import inlined, internal, noinline
from sidelight.engine._numba.pointers import offset, pointer
from sidelight.engine.changing.state import (
    AT,
    BETA,
    COST,
    DRAWN_AT,
    EXTRA,
    LEAD,
    N_KEPT,
    ORDER,
    ROUND,
    UNSEEN,
    simplex_of,
)
from sidelight.engine.graphs import see
from sidelight.engine.self_tuning.costs import general_psi_minus, pays
from sidelight.engine.self_tuning.money import survey
from sidelight.engine.self_tuning.numbers import AT as SURVEYED_AT
from sidelight.engine.self_tuning.numbers import LIKELIEST, REST
from sidelight.engine.self_tuning.retune import CLEARLY, STRENGTHS
from sidelight.engine.simplex.store import LAMBDA


@internal()
def choose(state, graphs, k, kept):
    """Write X, Z and P of a round on graph k, and what it costs, to `kept`."""
    noinline()
    n, s, beta = graphs.n_arms, state.rule[ORDER], state.numbers[BETA]
    simplex = simplex_of(state)
    # A function of sums, β and LEAD alone, so that whoever is loaded from a file finds the same digits.
    state.found[SURVEYED_AT] = 0.0
    state.scalars[LAMBDA] = state.numbers[LEAD]
    survey(simplex, simplex, simplex, beta)
    trial = simplex.trial
    X, roots, seen = trial, offset(trial, n), offset(trial, 2 * n)
    g, seen_g = offset(trial, 3 * n), offset(trial, 4 * n)
    Z, P = offset(trial, 5 * n), offset(trial, 6 * n)
    leader, rest = int(state.found[LIKELIEST]), state.found[REST]
    see(graphs, k, X, seen)
    lean = graphs.lean[k]
    # Where the graph is not known yet, nothing can be compared: explore for all that it may be.
    only = graphs.only[k] != 0
    mix(n, X, seen, g, seen_g, 0.0, 0.0, Z, P)
    least, chosen, strength = cost_of(n, s, beta, leader, X, roots, Z, P), 0, 0.0
    for family in range(2 if rest < 0.5 and not only else 1):
        total = direct(graphs, k, family, leader, rest, X, roots, s, g)
        if total <= 0.0:
            continue
        see(graphs, k, g, seen_g)
        top = 1.0 / math.sqrt(2.0 * beta * total)
        if family == 1:
            top = max(math.sqrt(rest) * top, max(1.0, 2.0 - 2.0 * s) / beta)
        for j in range(STRENGTHS, STRENGTHS + 1) if only else range(STRENGTHS + 1):
            b = min(top * 2.0 ** (0.5 * (2 - j)), 0.5 / total)
            if j == STRENGTHS:
                if family == 1 or lean == 0.0:
                    break
                b = min(lean / beta, 0.5 / total)
            mix(n, X, seen, g, seen_g, b, total, Z, P)
            cost = cost_of(n, s, beta, leader, X, roots, Z, P)
            if only or cost < least * CLEARLY:
                least, chosen, strength = cost, family, b
    total = 0.0
    if strength > 0.0:
        total = direct(graphs, k, chosen, leader, rest, X, roots, s, g)
        see(graphs, k, g, seen_g)
    mix(n, X, seen, g, seen_g, strength, total, Z, P)
    kept[DRAWN_AT] = state.numbers[ROUND]
    kept[AT] = beta
    kept[COST] = least
    keep(n, X, Z, P, kept)


@inlined()
def keep(n, X, Z, P, kept):
    """Write down a draw."""
    extra = unseen = 0.0
    for i in range(n):
        kept[N_KEPT + i] = X[i]
        kept[N_KEPT + n + i] = Z[i]
        kept[N_KEPT + 2 * n + i] = P[i]
        extra += max(Z[i] - X[i], 0.0)
        unseen += 0.0 if P[i] > 0.0 else X[i]
    kept[EXTRA] = extra
    kept[UNSEEN] = unseen


@internal()
def show(state, graphs, k, kept):
    """The draw that was kept was one on graph k, as is known only now."""
    noinline()
    n, s = graphs.n_arms, state.rule[ORDER]
    trial = pointer(state.trial, 0, state.trial.size)
    X, roots, Z, P = trial, offset(trial, n), offset(trial, 5 * n), offset(trial, 6 * n)
    leader = 0
    for i in range(n):
        X[i], Z[i] = kept[N_KEPT + i], kept[N_KEPT + n + i]
        roots[i] = X[i] ** (1.0 - s)
        leader = i if X[i] > X[leader] else leader
    see(graphs, k, Z, P)
    kept[COST] = cost_of(n, s, kept[AT], leader, X, roots, Z, P)
    keep(n, X, Z, P, kept)


@inlined()
def direct(graphs, k, family, leader, rest, X, roots, s, g):
    """Write g, what strength 1 explores: x*_j · max X_i^{1−s}/c_i over the arms i that j reveals; return its total.

    What j reveals with probability r counts r^{1/s−1} times (docs/theory/failing-reveals.md). In family 1 the leader
    has no more than all others together.
    """
    n = graphs.n_arms
    cover, load = k * n, k * n
    own = rest ** (1.0 - s) if family == 1 and rest < X[leader] else roots[leader]
    # The largest of what is owed to arms that everybody reveals, and the next: an arm may not reveal itself.
    most = next_most = 0.0
    owner = -1
    for u in range(graphs.universal_start[k], graphs.universal_start[k + 1]):
        i = graphs.universal[u]
        if graphs.load[load + i] > 0.0:
            owed = (own if i == leader else roots[i]) / graphs.load[load + i]
            if owed > most:
                most, next_most, owner = owed, most, i
            else:
                next_most = max(next_most, owed)
    total = 0.0
    for j in range(n):
        g[j] = 0.0
        if graphs.cover[cover + j] <= 0.0:
            continue
        largest = next_most if j == owner and not graphs.loops[k * n + j] else most
        for edge in range(graphs.out_start[k * (n + 1) + j], graphs.out_start[k * (n + 1) + j + 1]):
            i = graphs.out_arms[edge]
            if graphs.load[load + i] > 0.0:
                owed = (own if i == leader else roots[i]) / graphs.load[load + i]
                largest = max(largest, owed * graphs.out_share[edge] if graphs.out_share.size > 0 else owed)
        g[j] = graphs.cover[cover + j] * largest
        total += g[j]
    return total


@inlined()
def mix(n, X, seen, g, seen_g, b, total, Z, P):
    """Z = (1 − bG)X + bg, and how it is seen."""
    kept = 1.0 - b * total
    for i in range(n):
        Z[i] = kept * X[i] + (b * g[i] if b > 0.0 else 0.0)
        P[i] = kept * seen[i] + (b * seen_g[i] if b > 0.0 else 0.0)


@internal()
def cost_of(n, s, beta, leader, X, roots, Z, P):
    """What a round costs that is drawn from Z: the smaller of plain and shifted (Lemma 1)."""
    noinline()
    plain = shift = own = 0.0
    seen = beta * P[leader]
    for i in range(n):
        paid = pays(s, X[i], roots[i], beta * P[i])
        over = max(paid + (Z[i] - X[i]), 0.0)
        plain += over
        if i == leader:
            own = over
        elif X[i] > 0.0:
            shift += X[i] * psi_minus(roots[i], seen, s)
    return min(plain, plain - own + max(shift + (Z[leader] - X[leader]), 0.0))


@inlined()
def psi_minus(root, seen, s):
    """ψ₋(root/seen)."""
    if not root < 1e300 * seen:
        return math.inf
    r = root / seen
    if s == 0.5:
        return r / (2.0 - r) if r < 2.0 else math.inf
    return general_psi_minus(r, s)
