"""What happens now and then between two rounds: β is bought, the strength of exploration chosen afresh.

Until then the engine plays one simplex with one rate and one exploration, as any flat plan. Here, in O(n + edges),

    buy      money beyond `patience` buys a larger β: W(β′) − W(β) is paid, and is what the certificate counts
    hold     with a horizon β may be held back, or raised, so that all rounds left are affordable
    choose   of b = 0, nine strengths of each family and some beside them, whose rounds cost little at the present X
             whatever the losses, the one that costs least if losses stay as they were

Where costs have used up their allowance, rounds are played *safe*: with the strength whose price is known whatever X
is. Proofs that the certificate then keeps below its bound on every run: docs/theory/self-tuning.md, section 6.
"""

import math

from sidelight.engine._numba.jit import also_compiled, inlined, internal, loop, noinline
from sidelight.engine._numba.pointers import offset
from sidelight.engine.constants import GROWTH, ROOM, SLACK
from sidelight.engine.fields import SEEN_BY_ALL, SEEN_BY_EDGES, SEEN_BY_SELF
from sidelight.engine.round.indexing import end_edge, end_in_edge, first_edge, first_in_edge, is_own
from sidelight.engine.round.probabilities import chance_of
from sidelight.engine.round.reveals import reveal_chance
from sidelight.engine.round.settle import total_exploration
from sidelight.engine.round.spread import end_near, first_near, margin_of, near_gain, renew_block_spread
from sidelight.engine.self_tuning import prices
from sidelight.engine.self_tuning.charge import MOST_EXPLORED
from sidelight.engine.self_tuning.costs import pays, shifted
from sidelight.engine.self_tuning.money import survey
from sidelight.engine.self_tuning.numbers import (
    ALLOWANCE,
    AT,
    BESIDE,
    BETA,
    BUDGET,
    CHARGED,
    CHECK,
    CHOSEN,
    DIAMETER,
    ENTROPY,
    FIRST,
    FREE,
    HIGH,
    HORIZON,
    KEPT,
    LEAD,
    LEADER,
    LEAN,
    LIKELIEST,
    LIMIT,
    LOW,
    MOST,
    ORDER,
    PATIENCE,
    PAUSE,
    PRICE,
    PURCHASED,
    REFERENCE,
    RELIEF,
    REST,
    RISE,
    SAFE,
    SCALE,
    SHARE,
    STRENGTH,
    STRONG,
    TARGET,
    UNBOUNDED,
    UNSPENT,
    WEAK,
    WORTH,
)
from sidelight.engine.simplex.point import is_entropy
from sidelight.engine.simplex.solve import rebuild
from sidelight.engine.simplex.store import HELD, RATE, SHIFT, end_of, first_of

also_compiled(
    prices.weak_price,
    prices.weak_strength,
    prices.strong_price,
    prices.price,
    prices.safe_strength,
    prices.cost_to_go,
)

MOVED = 1.2
"""A strength is chosen afresh when β or 1 − X_I has moved by this factor."""
LEAST_REST = 1e-9
"""… which 1 − X_I is not followed below."""
STRENGTHS = 9
"""Strengths of a family, a factor of √2 apart, the third of which is that of Lemma 2 or 3."""
MOST_TRIED = 32
"""Strengths that are compared; `state.terms` has room for five numbers of each (see `choose`)."""
PIECE = 256
"""Arms that are looked at together: seven numbers each, 14 KB."""
CLEARLY = 1.0 - 1e-9
"""Only costs that are smaller by more than rounding count: where arms are alike, many are equal."""
NEARLY, NEARLY_STRONG = 1.5, 2.0
"""A choice may cost so much more than the cheapest, at most, if it likely costs less with the losses so far; the
second where all arms are strongly observable, …"""
LIKELY = 0.5
"""… where stability counts for this part: it is only bounded, while what exploration loses is lost for sure.
Elsewhere too little is learnt without exploration."""
HALVINGS = 8
"""Steps between the free β and the target of the budget, to 2 %."""
RESERVE = 2.0
"""What must be left when β is freer than the target of the budget."""
AGAIN = 3.0
"""With a budget: allowance from which rounds are played freely again."""


@internal(needs="tuned")
def retune(machine, state, store):
    """Apply the rule to the present sums."""
    noinline()
    tuned, rule, found = state.tuned, machine.rule, state.surveyed
    before, was_safe = tuned[BETA], tuned[SAFE]
    found[AT] = 0.0
    survey(machine, state, store, before)
    worth = found[WORTH]
    buy(machine, state, store)
    left = rule[HORIZON] - state.round
    beta = tuned[FREE]
    if left > 0.0:
        beta = hold(machine, state, store, worth, left)
    elif left == 0.0:
        # The certificate of all rounds needs no purchase after the last, and the budget has none.
        beta = before
    survey(machine, state, store, beta)
    tuned[PURCHASED] += found[WORTH] - worth
    if left <= 0.0:
        guard(machine, state, beta)
    if beta != before:
        rescale(machine, state, store, beta)
    if tuned[SAFE] != 0.0:
        play_safe(machine, state, store)
    elif was_safe != 0.0 or has_moved(machine, state):
        choose(machine, state, store)
    elif beta != before:
        explore(machine, state, store, tuned[STRENGTH])


@inlined()
def is_strong(rule):
    """Is there a price without exploration?"""
    return rule[STRONG] < math.inf


@inlined()
def price(rule, beta):
    """What a round at β costs at most."""
    return prices.price(beta, rule[ORDER], rule[WEAK], rule[BESIDE], rule[STRONG], rule[LEAN])


@inlined()
def cost_to_go(rule, beta, left, known):
    """(value, target) of the rounds left: see `prices`."""
    return prices.cost_to_go(
        beta, left, rule[DIAMETER], rule[ORDER], rule[WEAK], rule[BESIDE], rule[STRONG], rule[LEAN], known
    )


# -- β ------------------------------------------------------------------------------------------------


@inlined()
def buy(machine, state, store):
    """Raise the free β by what money buys, once that is worth it, and to what the bound asks for."""
    tuned, rule, found = state.tuned, machine.rule, state.surveyed
    beta, money = tuned[FREE], tuned[UNSPENT]
    survey(machine, state, store, beta)
    worth = found[WORTH]
    if money > rule[PATIENCE] * beta * found[ENTROPY]:
        growth = (state.round + 1.0) ** 2
        after = min(2.0 * beta, rule[FIRST] * growth)
        if money < (after - beta) * found[ENTROPY]:
            after = beta + money / found[ENTROPY]
        survey(machine, state, store, after)
        # W is convex: this far it is too dear, and Newton's steps come down to the root from above, …
        for _ in range(30):
            if found[WORTH] - worth <= 1.05 * money:
                break
            after -= (found[WORTH] - worth - money) / found[ENTROPY]
            survey(machine, state, store, after)
        # … where the chord, which lies above W, is affordable.
        if found[WORTH] - worth > money:
            after = beta + (after - beta) * (money / (found[WORTH] - worth))
            survey(machine, state, store, after)
        tuned[FREE] = after
        tuned[UNSPENT] = max(money - max(found[WORTH] - worth, 0.0), 0.0)
    tuned[RISE] = UNBOUNDED
    if rule[HORIZON] == 0.0:
        # What the bound relies on, whatever money buys: β never lags behind the costs.
        floor = rule[FIRST] + rule[SHARE] * tuned[CHARGED] / rule[DIAMETER]
        if floor > tuned[FREE]:
            worth = found[WORTH]
            tuned[FREE] = floor
            survey(machine, state, store, floor)
            tuned[UNSPENT] = max(tuned[UNSPENT] - max(found[WORTH] - worth, 0.0), 0.0)
        room = (1.0 + rule[PATIENCE]) * tuned[FREE] - rule[FIRST]
        tuned[RISE] = room * rule[DIAMETER] / rule[SHARE]
    tuned[LIMIT] = rule[PATIENCE] * tuned[FREE] * found[ENTROPY]


@internal()
def hold(machine, state, store, worth, left):
    """The β to be played while `left` rounds must remain affordable: the free one, or as near to it as that allows.

    `worth` is W at the present β. Sets allowance, reference and whether the rounds are safe.
    """
    noinline()
    tuned, rule, found = state.tuned, machine.rule, state.surveyed
    budget = rule[BUDGET] - (tuned[PURCHASED] + tuned[CHARGED] - worth)
    _, target = cost_to_go(rule, tuned[BETA], left, tuned[TARGET])
    beta, near, far = tuned[FREE], tuned[FREE], target
    value, known = 0.0, target
    fits = False
    for turn in range(HALVINGS + 1):
        trial = near if turn == 0 else math.sqrt(near * far)
        survey(machine, state, store, trial)
        whole, aim = cost_to_go(rule, trial, left, tuned[TARGET])
        if found[WORTH] + whole + RESERVE <= budget:
            beta, value, known, fits, far = trial, whole, aim, True, trial
            if turn == 0:
                break
        else:
            near = trial
    if not fits:  # the target itself always fits, without a reserve
        beta, known = target, target
        value = left * price(rule, target)
    survey(machine, state, store, beta)
    tuned[ALLOWANCE] = budget - found[WORTH] - value
    tuned[SAFE] = 0.0 if fits or tuned[ALLOWANCE] >= (AGAIN if tuned[SAFE] != 0.0 else 1.0) else 1.0
    tuned[TARGET] = known
    tuned[REFERENCE] = price(rule, known)
    return beta


@inlined()
def guard(machine, state, beta):
    """Without a horizon, and past it: what rounds at β may cost."""
    tuned, rule = state.tuned, machine.rule
    if rule[HORIZON] > 0.0:  # the budget was for rounds that are over
        tuned[ALLOWANCE] = max(tuned[ALLOWANCE], 1.0)
        tuned[REFERENCE] = 1.0
        tuned[SAFE] = 0.0
        return
    tuned[MOST] = ROOM + GROWTH * tuned[CHARGED]
    tuned[REFERENCE] = (1.0 + SLACK) * price(rule, beta)
    if tuned[ALLOWANCE] < 1.0:
        tuned[SAFE] = 1.0
    elif tuned[ALLOWANCE] >= 0.5 * tuned[MOST]:
        tuned[SAFE] = 0.0


@inlined()
def rescale(machine, state, store, beta):
    """Move the simplex to its point at β, which was surveyed last."""
    tuned, scalars = state.tuned, store.scalars
    ratio = tuned[BETA] / beta
    tuned[BETA] = beta
    least = math.inf
    for i in range(first_of(store, 0), end_of(store, 0)):
        store.key[i] *= ratio
        least = min(least, store.key[i])
    scalars[RATE] = (1.0 if is_entropy(store, 0) else 1.0 - machine.rule[ORDER]) / beta
    scalars[SHIFT] *= ratio
    store.multiplier[0] = state.surveyed[LEAD] - least
    rebuild(store, 0)


# -- exploration --------------------------------------------------------------------------------------


@inlined()
def has_moved(machine, state):
    """Is the last choice out of date, at the point that was surveyed last?"""
    tuned = state.tuned
    x = state.trial[int(tuned[LEADER])]
    return (
        state.round >= tuned[CHECK]
        or not tuned[LOW] <= x <= tuned[HIGH]
        or not tuned[CHOSEN] <= MOVED * tuned[BETA]
        or not tuned[BETA] <= MOVED * tuned[CHOSEN]
        or state.gamma > MOST_EXPLORED
    )


@inlined()
def play_safe(machine, state, store):
    """Explore with the strength whose price is known, and charge that from now on."""
    tuned, rule = state.tuned, machine.rule
    beta = tuned[BETA]
    tuned[PRICE] = price(rule, beta)
    follow(machine, state)
    tuned[LOW], tuned[HIGH] = -1.0, 2.0
    strength = prices.safe_strength(beta, rule[ORDER], rule[WEAK], rule[BESIDE], rule[STRONG], rule[LEAN])
    explore(machine, state, store, strength)


@inlined()
def follow(machine, state):
    """Make the likeliest arm the leader, with nothing capped; note what the choice is made for."""
    tuned, rule = state.tuned, machine.rule
    leader = int(state.surveyed[LIKELIEST])
    if machine.any_spread:
        machine.relief[int(tuned[LEADER])] = tuned[RELIEF]
        tuned[RELIEF] = machine.relief[leader]
    tuned[LEADER] = leader
    tuned[SCALE], tuned[KEPT] = 1.0, 0.0
    tuned[CHOSEN] = tuned[BETA]
    t = state.round
    tuned[CHECK] = t + math.ceil(max(rule[PAUSE], 0.1 * t))
    rest = max(state.surveyed[REST], LEAST_REST)
    tuned[LOW] = 1.0 - MOVED * rest
    tuned[HIGH] = 1.0 - rest / MOVED if rest > MOVED * LEAST_REST else 2.0


@internal()
def choose(machine, state, store):
    """Explore with a strength that is cheap at the point surveyed last: see `preferred`.

    `state.terms` holds strengths, what of the leader is kept, costs at most, likely costs, and how much exploration
    for the leader's sake is scaled.
    """
    noinline()
    tuned, rule = state.tuned, machine.rule
    follow(machine, state)
    beta, s = tuned[BETA], rule[ORDER]
    rest, leader = state.surveyed[REST], int(tuned[LEADER])
    n, trial = machine.n_arms, state.trial
    roots = offset(trial, n)
    others = largest = 0.0
    for i in range(n):
        trial[5 * n + i] = 0.0
        if i != leader:
            others += trial[i] * roots[i]
            largest = max(largest, roots[i])
    reveal_leader(machine, trial, leader)
    see(machine, trial, 1.0, offset(trial, 2 * n))
    recall(machine, state, store)
    strengths, kept, costs = state.terms, offset(state.terms, MOST_TRIED), offset(state.terms, 2 * MOST_TRIED)
    scales = offset(state.terms, 4 * MOST_TRIED)
    strengths[0] = kept[0] = 0.0
    scales[0] = 1.0
    compare(machine, state, others, largest, 0.0, 0, 1)
    tried = 1
    capping = (rest / trial[leader]) ** (1.0 - s) if rest < 0.5 else 1.0
    # Both families: near a vertex exploring for the leader as if it had no more than all others together is
    # cheaper; far from it the proof of the price asks for the other.
    for family in range(2 if rest < 0.5 else 1):
        factor = capping if family == 1 else 1.0
        total = direct(machine, state, store, factor)
        if total <= 0.0:
            continue
        top = 1.0 / math.sqrt(2.0 * beta * total)
        if family == 1:
            top = max(math.sqrt(rest) * top, max(1.0, 2.0 - 2.0 * s) / beta)
        first = tried
        for k in range(STRENGTHS):
            strengths[tried] = min(top * 2.0 ** (0.5 * (2 - k)), 0.5 / total)
            kept[tried], scales[tried] = 0.0, factor
            tried += 1
        compare(machine, state, others, largest, total, first, tried)
        nearest = strengths[cheapest(costs, first, tried)]
        if not machine.any_spread or rest <= 0.0:
            continue
        # Around it, with a part of the leader kept out of what exploration takes.
        first = tried
        for k in range(6):
            b = min(nearest * 2.0 ** (0.5 * (k // 2 - 1)), 0.5 / total)
            share = min(0.5 - b * total, 0.5 * (1 + k % 2) * b * total / rest)
            if share > 0.0:
                strengths[tried], kept[tried], scales[tried] = b, share * trial[leader], factor
                tried += 1
        compare(machine, state, others, largest, total, first, tried)
    best = preferred(machine, state, tried)
    tuned[SCALE] = scales[best]
    tuned[KEPT] = kept[best]
    if machine.any_spread:
        machine.relief[leader] = tuned[RELIEF] * scales[best]
    explore(machine, state, store, strengths[best])


@inlined()
def cheapest(costs, first, end):
    """The first of some costs that none undercuts clearly."""
    best = first
    for k in range(first + 1, end):
        if costs[k] < costs[best] * CLEARLY:
            best = k
    return best


@inlined()
def preferred(machine, state, tried):
    """Of those that cost nearly the least, and no more than safe play, the cheapest with the losses so far.

    What is charged is the cost against any losses: a wrong guess about them costs no more than that.
    """
    costs, actual = offset(state.terms, 2 * MOST_TRIED), offset(state.terms, 3 * MOST_TRIED)
    best = cheapest(costs, 0, tried)
    least = costs[best]
    most = least
    if state.tuned[BETA] <= state.tuned[FREE]:  # whoever is held back by a budget saves
        nearly = NEARLY_STRONG if is_strong(machine.rule) else NEARLY
        most = max(least, min(nearly * least, price(machine.rule, state.tuned[BETA])))
    rounding = (1.0 - CLEARLY) * least
    for k in range(tried):
        if costs[k] <= most and actual[k] < actual[best] - rounding:
            best = k
    return best


@inlined()
def recall(machine, state, store):
    """Write the mean loss of every arm where `compare` looks for it: Σ ℓ̂/t, which is unbiased, cut to [0, 1]."""
    n, scalars = machine.n_arms, store.scalars
    keys, means = offset(store.key, 1), offset(state.trial, 6 * n)
    scale = 1.0 / (max(state.round, 1.0) * scalars[RATE])
    for i in range(n):
        means[i] = min(max((keys[i] - scalars[SHIFT]) * scale, 0.0), 1.0)


@inlined()
def reveal_leader(machine, trial, leader):
    """Mark what playing the leader reveals, by how likely it does."""
    marks = offset(trial, 5 * machine.n_arms)
    begin = first_edge(machine, leader)
    n_explicit = end_edge(machine, leader) - begin
    for index in range(n_explicit + machine.n_universal):
        if index < n_explicit:
            marks[machine.out_indices[begin + index]] = reveal_chance(machine, begin + index)
        elif not is_own(machine, leader, machine.universal[index - n_explicit]):
            marks[machine.universal[index - n_explicit]] = 1.0


@inlined()
def direct(machine, state, store, scale):
    """Write g, what strength 1 explores, and how it is seen; return G, its total."""
    n = machine.n_arms
    roots, g = offset(state.trial, n), offset(state.trial, 3 * n)
    total = 0.0
    if machine.any_spread:
        leader, margin = int(state.tuned[LEADER]), margin_of(store, 0)
        machine.relief[leader] = state.tuned[RELIEF] * scale
        for j in range(n):
            most = 0.0
            if machine.cover[j] > 0.0:
                for e in range(first_near(machine, j), end_near(machine, j)):
                    i = machine.out_indices[e] if machine.single else machine.near[e]
                    most = max(most, machine.relief[i] * roots[i] * near_gain(machine, e))
            g[j] = margin * machine.cover[j] * most
            total += g[j]
    elif machine.n_fixed > 0:
        for j in range(n):
            g[j] = machine.direction[j]
            total += g[j]
    if total > 0.0:
        see(machine, g, total, offset(state.trial, 4 * n))
    return total


@internal()
def see(machine, values, total, out):
    """Σ of values, times chances, over the in-neighbours of every slot; `total` is that of values over all."""
    noinline()
    for slot in range(machine.n_arms):
        how = machine.seen_by if machine.seen_by >= 0 else machine.seen_how[slot]
        seen = 0.0
        if how == SEEN_BY_EDGES:
            for e in range(first_in_edge(machine, slot), end_in_edge(machine, slot)):
                seen += values[machine.in_indices[e]] * chance_of(machine, e)
        elif how == SEEN_BY_SELF:
            seen = values[slot]
        else:
            seen = total if how == SEEN_BY_ALL else max(total - values[slot], 0.0)
        out[slot] = seen


@internal()
def compare(machine, state, others, largest, total, begin, end):
    """Write what rounds cost that explore b·g, Σg = total, for some strengths b, each with a part of the leader kept:
    at most, Σ [A + Z − X]₊, and likely, with the mean losses so far, Σ ℓ̄·(likely·A + Z − X).
    """
    noinline()
    likely = LIKELY if is_strong(machine.rule) else 1.0
    strengths, kept = state.terms, offset(state.terms, MOST_TRIED)
    costs, actual = offset(state.terms, 2 * MOST_TRIED), offset(state.terms, 3 * MOST_TRIED)
    trial, n_arms = state.trial, machine.n_arms
    for k in range(begin, end):
        costs[k] = actual[k] = 0.0
    # A piece of the arms at a time, which stays in the nearest cache for all strengths.
    for first in range(0, n_arms, PIECE):
        for k in range(begin, end):
            most, mean = cost_of(
                machine, state, first, min(first + PIECE, n_arms), strengths[k], kept[k], total, likely
            )
            costs[k] += most
            actual[k] += mean
    # The leader's part: its own exploration, and the smaller of two.
    s, beta, leader = machine.rule[ORDER], state.tuned[BETA], int(state.tuned[LEADER])
    x, mean = trial[leader], trial[6 * n_arms + leader]
    for k in range(begin, end):
        b, more = strengths[k], strengths[k] * (trial[3 * n_arms + leader] - total * x) - kept[k] * x
        seen = (1.0 - b * total - kept[k]) * trial[2 * n_arms + leader] + b * trial[4 * n_arms + leader]
        seen = beta * (seen + kept[k] * trial[5 * n_arms + leader])
        plain = pays(s, x, trial[n_arms + leader], seen)
        paid = min(plain, shifted(s, others, largest, seen))
        costs[k] += max(paid + more + kept[k], 0.0) - max(plain + more, 0.0)
        actual[k] += mean * (likely * (paid - plain) + kept[k])


@loop(fastmath={"contract", "reassoc", "nsz"})
def cost_of(machine, state, first, end, b, kept, total, likely):
    """The part of slots first..end, as if none were the leader."""
    s, beta, n = machine.rule[ORDER], state.tuned[BETA], machine.n_arms
    points, roots = offset(state.trial, first), offset(state.trial, n + first)
    seen_point, g = offset(state.trial, 2 * n + first), offset(state.trial, 3 * n + first)
    seen_g, marks = offset(state.trial, 4 * n + first), offset(state.trial, 5 * n + first)
    means = offset(state.trial, 6 * n + first)
    gamma = b * total + kept
    keep, explored, by_leader = beta * (1.0 - gamma), beta * b, beta * kept
    most = mean = 0.0
    if s == 0.5:  # on its own, so that it vectorises
        for i in range(end - first):
            x = points[i]
            seen = keep * seen_point[i] + explored * seen_g[i] + by_leader * marks[i]
            paid = pays(0.5, x, roots[i], seen)
            more = b * g[i] - gamma * x
            most += paid + more if paid + more > 0.0 else 0.0
            mean += means[i] * (likely * paid + more)
        return most, mean
    for i in range(end - first):
        x = points[i]
        seen = keep * seen_point[i] + explored * seen_g[i] + by_leader * marks[i]
        paid = pays(s, x, roots[i], seen)
        more = b * g[i] - gamma * x
        most += paid + more if paid + more > 0.0 else 0.0
        mean += means[i] * (likely * paid + more)
    return most, mean


@inlined()
def explore(machine, state, store, strength):
    """Explore with this strength from now on."""
    before = state.tuned[STRENGTH]
    state.tuned[STRENGTH] = strength
    if machine.any_spread and (strength > 0.0 or before > 0.0):
        machine.spread[0] = strength
        renew_block_spread(machine, state, store, 0, 0)
    elif machine.n_fixed > 0:
        total = 0.0
        for slot in range(machine.n_arms):
            machine.fixed[slot] = strength * machine.direction[slot]
            total += machine.fixed[slot]
        state.fixed_total = store.scalars[HELD] = total
        if machine.single:
            see(machine, machine.fixed, total, state.seen_fixed)
    total_exploration(machine, state)
