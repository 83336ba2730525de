"""What a round costs, arm by arm, and its estimate from the round's own draw: docs/theory/self-tuning.md, section 2.

With q_i = X_i^{1−s}/(βP_i), r_i = X_i^{1−s}/(βP_I) and the shift c an arm costs the larger of

    min(c·X_i·ψ₋(c·q_i), c(1−X_i))   and   (1−c)·X_i·ψ((1−c)·q_i) + Z_i − X_i,

and no less than 0. Estimates may be counted above that of the leader I instead: then it costs the larger of B_0 and
B_1 + Z_I − X_I, with B_1 = Σ_{i≠I} (1−c)X_i·ψ₋((1−c)r_i) and B_0 = Σ_{i≠I} cX_i·ψ(cr_i), and others cost
J·(f(u−v) − f(u) − f(−v)) more, J being how likely they are seen together with I. Where c = 0 that is never positive,
and left out: docs/theory/signed.md, section 2. In place of B_1 stands an upper bound that needs two numbers,
(1−c)²(Σ_{i≠I} X_i^{2−s})·ψ₋(r̄)/(r̄βP_I) with r̄ ≥ every (1−c)r_i, and in that of B_0
min(c²Σ_{i≠I} X_i^{2−s}/(2βP_I), c(1−X_I)).

A round is charged with the term of the arm that is drawn, over Z_i: in expectation all of the cost, and never more
than 1. It is read before anything is learnt.

Where every play reveals every arm nothing is estimated, and with the entropy the stability of a round is known once
its losses are: ⟨ℓ, X⟩ + β·ln Σ X_i·e^{−ℓ_i/β}. That is charged then, whatever the round might have cost.
"""

import math

from sidelight.engine._numba.jit import inlined, internal, noinline
from sidelight.engine.fields import SEEN_BY_ALL, SEEN_BY_OTHERS
from sidelight.engine.round.indexing import in_edges
from sidelight.engine.round.probabilities import chance_of, played, seen_probability, varying
from sidelight.engine.simplex.moments import evaluate_buckets, inverse_power
from sidelight.engine.simplex.point import is_entropy, root, value
from sidelight.engine.simplex.store import ENTROPY_LIST, N_BUCKETS, POWER_BUCKETS, POWER_LIST, group

SMALL = 1e-4
"""Below this ψ and ψ₋ are taken from three terms of their series: less is lost than by cancellation."""
TINY = 1e-300
"""Keeps 0/0 away."""


@internal()
def general_psi(q, s):
    """ψ(q) = 1 − (1 − (1+εq)^{−s/ε})/(sq), ε = 1 − s, for s ≠ ½."""
    noinline()
    rest = 1.0 - s
    if q < SMALL:
        return 0.5 * q * (1.0 - (1.0 + rest) * q * (1.0 / 3.0) * (1.0 - 0.25 * (1.0 + 2.0 * rest) * q))
    if rest == 0.0:
        return 1.0 + math.expm1(-q) / q
    return 1.0 + math.expm1(-s / rest * math.log1p(rest * q)) / (s * q)


@internal()
def general_psi_minus(r, s):
    """ψ₋(r) = ((1−εr)^{−s/ε} − 1)/(sr) − 1, infinite from εr = 1 on, for s ≠ ½."""
    noinline()
    rest = 1.0 - s
    if r < SMALL:
        return 0.5 * r * (1.0 + (1.0 + rest) * r * (1.0 / 3.0) * (1.0 + 0.25 * (1.0 + 2.0 * rest) * r))
    if rest * r >= 1.0:
        return math.inf
    power = -s / rest * math.log1p(-rest * r) if rest > 0.0 else r
    return math.expm1(power) / (s * r) - 1.0 if power < 700.0 else math.inf


@inlined()
def pays(s, x, root, seen):
    """A of an arm with X = x, X^{1−s} = root and βP = seen: x·ψ(root/seen), x where it is never seen."""
    if s == 0.5:
        return x * root / (2.0 * seen + (root + TINY))
    return x * general_psi(root / seen, s) if root < 1e300 * seen else x


@inlined()
def gained(s, c, x, root, seen):
    """What an arm costs that did not lose: c·x·ψ₋(c·root/seen), and c(1 − x) at most, as no X exceeds 1."""
    return min(c * gains(s, x, c * root, seen), c * (1.0 - x)) if c > 0.0 else 0.0


@inlined()
def gains(s, x, root, seen):
    """x·ψ₋(root/seen), infinite beyond the pole."""
    if s == 0.5:
        return x * root / (2.0 * seen - root) if root < 2.0 * seen else math.inf
    return x * general_psi_minus(root / seen, s) if root < 1e300 * seen else math.inf


@inlined()
def falls_by(s, v, x, root):
    """f(v), what an estimate v takes from the stability of an arm; root is X^{1−s}/β. No X exceeds 1."""
    if s == 0.5:
        room = 2.0 + root * v
        paid = x * v * v * root / (room if room > TINY else TINY)
        return paid if v >= 0.0 else min(paid, -v * (1.0 - x))
    if v >= 0.0:
        return v * pays(s, x, v * root, 1.0)
    return -v * min(gains(s, x, -v * root, 1.0), 1.0 - x)


@inlined()
def above_leader(s, c, x, root, seen, more, both, seen_leader):
    """What an arm costs, at most, if estimates are counted above the leader's; root is X^{1−s}/β, more is Z − X."""
    most = 0.0
    for lost in (0.0, 1.0):
        u = (lost - c) / seen
        own = falls_by(s, u, x, root)
        for leader_lost in (0.0, 1.0):
            v = (leader_lost - c) / seen_leader
            together = falls_by(s, u - v, x, root) - own - falls_by(s, -v, x, root)
            most = max(most, seen * own + lost * more + both * together)
    return most


@inlined()
def of_leader(s, c, x, others, largest, seen, more):
    """What the leader costs then: others = Σ_{i≠I} X_i^{2−s}, largest ≥ X_i^{1−s} for i ≠ I, seen = βP_I."""
    lost = (1.0 - c) * shifted(s, (1.0 - c) * others, (1.0 - c) * largest, seen)
    return max(min(0.5 * c * c * others / seen, c * (1.0 - x)), lost + more)


@inlined()
def is_allowed(s, shift, most, explored):
    """May losses be shifted where no c·q exceeds shift·`most` and so much is explored? Then no charge exceeds 1."""
    return shift * gains(s, 1.0, shift * most, 1.0) <= 1.0 - explored


@inlined()
def is_allowed_above(s, shift, most, others, explored):
    """The same where estimates are counted above the leader's, which leads to no r above `others`, and X_I > ½."""
    return gains(s, 1.0, shift * most + (1.0 - shift) * others, 1.0) <= 1.0 - explored


@inlined()
def shifted(s, others, largest, seen):
    """The bound of B: others = Σ_{i≠I} X_i^{2−s}, largest ≥ X_i^{1−s} for i ≠ I, seen = βP_I."""
    if not largest < 1e300 * seen:
        return math.inf if others > 0.0 else 0.0
    r = largest / seen
    if s == 0.5:
        return others / (seen * (2.0 - r)) if r < 2.0 else math.inf
    return others / seen * (general_psi_minus(r, s) / r if r > 0.0 else 0.5)


MOST_EXPLORED = 0.75
"""A choice of b leaves γ̄ ≤ ½; if what is explored has grown beyond this, it is made again."""
ROUNDING = 1e-12
"""What a sum over all arms may be off by, relative to 1."""


@internal(needs="tuned", gives=0.0)
def estimated_cost(machine, state, store, slot):
    """What the round in which `slot` is drawn from the present distribution is to be charged."""
    noinline()
    # In the worst case the bound itself is charged, whatever is drawn: no estimate could exceed the budget.
    cost = state.worst_cost
    if state.priced == 0.0:
        gamma = state.gamma
        # The distribution that the arm was drawn from: nothing has been learnt yet.
        x = value(store, 0, 1 + slot)
        explored = varying(machine, state, store, slot, 0)
        if machine.n_fixed > 0:
            explored += machine.fixed[slot]
        z = (1.0 - gamma) * x + explored
        seen = state.beta * seen_probability(machine, state, store, slot, z, 1.0 - gamma)
        s, c, inverse = machine.order, state.shift, root_of(store, slot)
        # Z − X without cancellation
        more = explored - gamma * x
        if c > 0.0 and state.above_leader != 0.0:
            over = cost_above_leader(machine, state, store, slot, x, inverse, seen, more)
        else:
            paid = (1.0 - c) * pays(s, x, (1.0 - c) * inverse, seen)
            if c == 0.0 and slot == int(state.leader):
                others, largest = beside_leader(machine, store, slot, x)
                paid = min(paid, shifted(s, others, largest, seen))
            over = max(paid + more, gained(s, c, x, inverse, seen))
        cost = min(over / z, 1.0) if over > 0.0 else 0.0
    return cost


@inlined(needs="tuned", gives=0.0)
def cost_above_leader(machine, state, store, slot, x, inverse, seen, more):
    """The part of `slot` in what a round costs whose estimates are counted above the leader's; seen is βP."""
    leader, beta, s, c = int(state.leader), state.beta, machine.order, state.shift
    if slot == leader:
        others, largest = beside_leader(machine, store, slot, x)
        return of_leader(s, c, x, others, largest, seen, more)
    rest = 1.0 - state.gamma
    z = played(machine, state, store, leader, rest)
    of_both = seen_with(machine, state, store, slot, rest)
    seen_leader = seen_probability(machine, state, store, leader, z, rest)
    how = machine.seen_by if machine.seen_by >= 0 else machine.seen_how[slot]
    if how == SEEN_BY_ALL:
        of_both = seen_leader
    elif how == SEEN_BY_OTHERS:
        of_both = seen_leader - played(machine, state, store, slot, rest) * state.shows_leader[slot]
    return above_leader(s, c, x, inverse / beta, seen / beta, more, max(of_both, 0.0), seen_leader)


@inlined()
def seen_with(machine, state, store, slot, rest):
    """How likely a slot is seen along edges together with the leader."""
    total = 0.0
    for e in in_edges(machine, slot):
        u = machine.in_indices[e]
        if state.shows_leader[u] > 0.0:
            total += played(machine, state, store, u, rest) * chance_of(machine, e) * state.shows_leader[u]
    return total


@inlined()
def is_known(machine, store):
    """Is the stability of a round known once its losses are?"""
    return machine.self_tunes and machine.seen_by == SEEN_BY_ALL and is_entropy(store, 0)


@inlined()
def log_weights(store):
    """ln Σ e^(−s) in three parts, of which only differences have digits."""
    own = group(store, 0)
    return own.total, own.base, own.shift


@inlined()
def known_cost(state, store, paid, before):
    """The stability of a round in which X paid ⟨ℓ, X⟩; `before` is what `log_weights` was before it."""
    total, base, shift = before
    after = group(store, 0)
    grown = math.log(after.total / total) - (after.base - base) + (after.shift - shift)
    # Hoeffding's bound holds exactly; only rounding could exceed it.
    return min(max(paid + state.beta * grown, 0.0), 0.125 / state.beta)


@inlined(needs="tuned")
def charge(machine, state, cost):
    """Charge a round."""
    state.charged += cost
    state.unspent += machine.play_share * cost
    # Rounds below their target earn slack, rounds above it spend it.
    state.slack = min(state.slack + state.target_cost - cost, state.most_slack)


@inlined(needs="tuned", gives=0.0)
def leader_sum(state, store):
    """Σ ℓ̂ of the leader."""
    return (store.key[1 + int(state.leader)] - group(store, 0).shift) / group(store, 0).rate


@inlined()
def count_kept(state, kept, estimate):
    """Exploration that is kept on the leader costs what the leader loses, not 1."""
    state.exploration_cost -= kept * (1.0 - estimate)


@inlined()
def root_of(store, slot):
    """X^{1−s} of a slot."""
    return 1.0 if is_entropy(store, 0) else root(store, 0, 1 + slot)


@inlined()
def beside_leader(machine, store, leader, x):
    """(Σ X_i^{2−s}, a bound on X_i^{1−s}) over all arms i but the leader, whose X is x.

    Lists are added up. From sums over all arms the leader's part is taken off; what rounding may hide is added.
    """
    c = 1 + leader
    others = largest = 0.0
    if store.form[0] == POWER_LIST:
        multiplier, q, keys = group(store, 0).multiplier, store.power[0], store.key
        for i in range(1, machine.n_arms + 1):
            if i != c:
                d = multiplier + keys[i]
                others += inverse_power(d, q) / d
                largest = max(largest, 1.0 / d)
        return others, largest
    if store.form[0] == POWER_BUCKETS:
        d = group(store, 0).multiplier + store.key[c]
        q = store.power[0]
        whole = evaluate_buckets(store, store.extra[0], group(store, 0).multiplier)[1] / q
        others = max(whole - x / d, 0.0) + ROUNDING * whole
        # X_i ≤ 1 − X_I, and no d is below the bounds of its bucket
        return others, min(math.exp(math.log(max(1.0 - x, ROUNDING)) / q), largest_root(store, 0, c))
    if store.form[0] == ENTROPY_LIST:
        for i in range(1, machine.n_arms + 1):
            if i != c:
                others += store.weight[i]
        return others * group(store, 0).factor, 1.0
    others = max(group(store, 0).total - store.weight[c], 0.0) * group(store, 0).factor
    return others + ROUNDING, 1.0


@inlined(needs="buckets", gives=0.0)
def largest_root(store, h, coordinate):
    """A bound on 1/d of all members of bucketed group h but one."""
    row = h * (N_BUCKETS + 1)
    b = store.span[2 * h]
    while b < store.span[2 * h + 1]:
        first, end = store.start[row + b], store.start[row + b + 1]
        # Empty, or the one that is left out is alone in it: the next bucket tells.
        if end - first > 1 or (end - first == 1 and store.occupant[first] != coordinate):
            break
        b += 1
    return 1.0 / store.least[h * N_BUCKETS + b]


@inlined(needs="tuned", gives=False)
def is_due(state, store):
    """Does the rule have to be applied afresh?"""
    # Reads and comparisons only: this is asked after every round.
    if state.unspent > state.unspent_limit or state.round >= state.next_check:
        return True
    if state.charged > state.charged_limit or (state.worst_case == 0.0 and state.slack < 1.0):
        return True
    x = value(store, 0, 1 + int(state.leader))
    return not state.leader_low <= x <= state.leader_high or state.gamma > state.most_explored
