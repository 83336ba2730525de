"""What happens now and then between two rounds: β is raised, the strength of exploration chosen afresh.

Until then the engine plays one simplex with one rate and one exploration, as any flat plan. Here, in O(n + edges),

    raise    what costs have left unspent, beyond `patience`, pays for a larger β: W(β′) − W(β) is the penalty that
             the certificate counts
    afford   with a horizon β may be held back, or raised, so that all rounds left are affordable
    choose   of b = 0, nine strengths of each family and some beside them, whose rounds cost little at the present X
             whatever the losses, the one that costs least if losses stay as they were

Where costs have used up their slack, rounds are played for the *worst case*: with the strength whose cost is bounded
whatever X is. Proofs that the certificate then keeps below its bound on every run: docs/theory/self-tuning.md,
section 6.
"""

import math

from sidelight.engine._numba.jit import also_compiled, inlined, internal, noinline
from sidelight.engine._numba.pointers import offset
from sidelight.engine.constants import GROWTH, ROOM, SLACK
from sidelight.engine.round.settle import total_exploration
from sidelight.engine.round.spread import margin_of, renew_block_spread
from sidelight.engine.self_tuning import prices
from sidelight.engine.self_tuning.begin import UNBOUNDED
from sidelight.engine.self_tuning.charge import MOST_EXPLORED, is_known
from sidelight.engine.self_tuning.choose import (
    CLEARLY,
    candidates_at,
    cheapest,
    direct,
    families_near,
    mark_shown,
    offer_family,
    offer_kept,
    offer_none,
    scale_in,
    see,
)
from sidelight.engine.self_tuning.point import (
    Sums,
    evaluate_point,
    point_in,
    raised_temperature,
    workspace_in,
)
from sidelight.engine.simplex.point import is_entropy
from sidelight.engine.simplex.solve import rebuild
from sidelight.engine.simplex.store import end_of, first_of, group

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
"""1 − X_I is not followed below this: there it has no more digits to move in."""
NEARLY, NEARLY_STRONG = 1.5, 2.0
"""A choice may cost so much more than the cheapest, at most, if it likely costs less with the losses so far; the
second where all arms are strongly observable."""
LIKELY = 0.5
"""Where all arms are strongly observable, this part of stability counts in what a round likely costs: stability is
only bounded, while what exploration loses is lost for sure. Elsewhere all of it does, as too little is learnt without
exploration."""
TOLERANCE = 1.05
"""Newton's steps towards the β that is paid for end when it is too dear by this at most; a chord does the rest."""
HALVINGS = 8
"""Steps between the free β and the target of the budget, to 2 %."""
RESERVE = 2.0
"""What must be left when β is freer than the target of the budget."""
AGAIN = 3.0
"""With a budget: slack from which rounds are played freely again."""


@inlined()
def work_of(machine, state):
    """The workspace of a memory."""
    return workspace_in(state.workspace, machine.n_arms)


@inlined()
def point_of(state):
    """The point that was evaluated last."""
    return point_in(state.evaluated, 0)


@inlined()
def evaluate(machine, state, store, beta):
    """Evaluate the point at β."""
    evaluate_point(point_of(state), work_of(machine, state), sums_of(machine, state, store), beta)


@inlined()
def sums_of(machine, state, store):
    """The sums, as `evaluate_point` reads them."""
    return Sums(machine.n_arms, offset(store.key, 1), state.beta, store.power[0], group(store, 0).multiplier)


@internal(needs="tuned")
def retune(machine, state, store):
    """Apply the rule to the present sums."""
    noinline()
    point = point_of(state)
    # Remembered, as what follows may change both, and how to explore depends on whether it did.
    before, was_worst_case = state.beta, state.worst_case
    point.beta = 0.0  # sums have moved since
    evaluate(machine, state, store, before)
    log_partition = point.log_partition
    # The free β is what the rule would play without a budget; a budget then decides how much of it is played.
    raise_free(machine, state, store)
    left = machine.horizon - state.round
    beta = state.free_beta
    if left > 0.0:
        beta = affordable(machine, state, store, log_partition, left)
    elif left == 0.0:
        # The certificate of all rounds needs no larger β after the last, and the budget has none.
        beta = before
    evaluate(machine, state, store, beta)
    # Lowering β refunds what raising it has cost: the same integral of H, taken back.
    state.penalty += point.log_partition - log_partition
    if left <= 0.0:
        limit_slack(machine, state, beta)
    # Rates are in inverse proportion to β, so sums are scaled anew and the point is solved for once more.
    if beta != before:
        rescale(machine, state, store, beta)
    if state.worst_case != 0.0:
        play_worst_case(machine, state, store)
    elif was_worst_case != 0.0 or has_moved(machine, state):
        choose(machine, state, store)
    # The choice holds, but exploration follows X, which has moved with β.
    elif beta != before:
        explore(machine, state, store, state.strength)


@inlined()
def is_strong(machine):
    """Is there a bound on the cost of a round without exploration?"""
    return machine.strong < math.inf


@inlined()
def worst_cost(machine, beta):
    """What a round at β costs at most, whatever X is."""
    return prices.price(beta, machine.order, machine.weak, machine.beside, machine.strong, machine.lean)


@inlined()
def cost_to_go(machine, beta, left, last_target):
    """(value, target) of the rounds left: see `prices`."""
    return prices.cost_to_go(
        beta, left, machine.diameter, machine.order, machine.weak, machine.beside, machine.strong, machine.lean,
        last_target,
    )  # fmt: skip


# -- β ------------------------------------------------------------------------------------------------


@inlined()
def raise_free(machine, state, store):
    """Raise the free β by what is unspent, once that is worth it, and to what the bound asks for."""
    point = point_of(state)
    beta, unspent = state.free_beta, state.unspent
    evaluate(machine, state, store, beta)
    log_partition = point.log_partition
    if unspent > machine.patience * beta * point.entropy:
        # W is nearly flat where X is near a vertex: without a cap, a little would pay for any β.
        most = min(2.0 * beta, machine.first * (state.round + 1.0) ** 2)
        work, sums = work_of(machine, state), sums_of(machine, state, store)
        state.free_beta = raised_temperature(point, work, sums, unspent, most, TOLERANCE)
        state.unspent = max(unspent - max(point.log_partition - log_partition, 0.0), 0.0)
    state.charged_limit = UNBOUNDED
    if machine.horizon == 0.0:
        # What the bound relies on, whatever is unspent: β never lags behind the costs.
        floor = machine.first + machine.share * state.charged / machine.diameter
        if floor > state.free_beta:
            log_partition = point.log_partition
            state.free_beta = floor
            evaluate(machine, state, store, floor)
            state.unspent = max(state.unspent - max(point.log_partition - log_partition, 0.0), 0.0)
        room = (1.0 + machine.patience) * state.free_beta - machine.first
        state.charged_limit = room * machine.diameter / machine.share
    state.unspent_limit = machine.patience * state.free_beta * point.entropy


@internal()
def affordable(machine, state, store, log_partition, left):
    """The β to be played while `left` rounds must remain affordable: the free one, or as near to it as that allows.

    `log_partition` is W at the present β. Sets slack, target cost and whether rounds are played for the worst case.
    """
    noinline()
    point = point_of(state)
    # All that is not spent yet. W(β) is added back, as it is refunded when β moves elsewhere.
    budget = machine.budget - (state.penalty + state.charged - log_partition)
    _, target = cost_to_go(machine, state.beta, left, state.target_beta)
    beta, near, far = state.free_beta, state.free_beta, target
    value, next_target = 0.0, target
    fits = False
    # Geometric bisection between a β that is wanted and one that is affordable.
    for turn in range(HALVINGS + 1):
        trial = near if turn == 0 else math.sqrt(near * far)
        evaluate(machine, state, store, trial)
        whole, aim = cost_to_go(machine, trial, left, state.target_beta)
        if point.log_partition + whole + RESERVE <= budget:
            beta, value, next_target, fits, far = trial, whole, aim, True, trial
            if turn == 0:
                break
        else:
            near = trial
    if not fits:  # the target itself always fits, without a reserve
        beta, next_target = target, target
        value = left * worst_cost(machine, target)
    evaluate(machine, state, store, beta)
    state.slack = budget - point.log_partition - value
    enough = AGAIN if state.worst_case != 0.0 else 1.0
    state.worst_case = 0.0 if fits or state.slack >= enough else 1.0
    state.target_beta = next_target
    state.target_cost = worst_cost(machine, next_target)
    return beta


@inlined()
def limit_slack(machine, state, beta):
    """Without a horizon, and past it: what rounds at β may cost."""
    if machine.horizon > 0.0:  # the budget was for rounds that are over
        state.slack = max(state.slack, 1.0)
        state.target_cost = 1.0
        state.worst_case = 0.0
        return
    # What earlier rounds saved may be spent later, but only so much of it: the bound adds it to the costs.
    state.most_slack = ROOM + GROWTH * state.charged
    state.target_cost = (1.0 + SLACK) * worst_cost(machine, beta)
    # Between the two nothing changes, so that play does not go back and forth.
    if state.slack < 1.0:
        state.worst_case = 1.0
    elif state.slack >= 0.5 * state.most_slack:
        state.worst_case = 0.0


@inlined()
def rescale(machine, state, store, beta):
    """Move the simplex to its point at β, which was evaluated last."""
    ratio = state.beta / beta
    state.beta = beta
    # The multiplier that was found belongs to the least sum, which is where the leader is.
    least = math.inf
    for i in range(first_of(store, 0), end_of(store, 0)):
        store.key[i] *= ratio
        least = min(least, store.key[i])
    own = group(store, 0)
    own.rate = (1.0 if is_entropy(store, 0) else 1.0 - machine.order) / beta
    own.shift *= ratio
    store.multiplier[0] = point_of(state).lead - least
    rebuild(store, 0)


# -- exploration --------------------------------------------------------------------------------------


@inlined()
def has_moved(machine, state):
    """Is the last choice out of date, at the point that was evaluated last?"""
    # Costs depend on X most of all through 1 − X_I and β: while both stay, so does the ranking of candidates.
    x = work_of(machine, state).x[int(state.leader)]
    return (
        state.round >= state.next_check
        or not state.leader_low <= x <= state.leader_high
        or not state.chosen_beta <= MOVED * state.beta
        or not state.beta <= MOVED * state.chosen_beta
        or state.gamma > MOST_EXPLORED
    )


@inlined()
def play_worst_case(machine, state, store):
    """Explore with the strength whose cost is bounded whatever X is, and charge that bound from now on."""
    beta = state.beta
    state.worst_cost = worst_cost(machine, beta)
    follow(machine, state)
    # Nothing that X does makes this choice out of date.
    state.leader_low, state.leader_high = -1.0, 2.0
    strength = prices.safe_strength(
        beta, machine.order, machine.weak, machine.beside, machine.strong, machine.lean
    )
    explore(machine, state, store, strength)


@inlined()
def follow(machine, state):
    """Make the likeliest arm the leader, with nothing capped; note what the choice is made for."""
    point = point_of(state)
    leader = int(point.leader)
    if machine.any_spread:
        # The last leader gets its own inverse_load back: it was scaled while it led.
        machine.inverse_load[int(state.leader)] = state.leader_relief
        state.leader_relief = machine.inverse_load[leader]
    state.leader = leader
    state.leader_scale, state.on_leader = 1.0, 0.0
    state.chosen_beta = state.beta
    t = state.round
    # A tenth of all rounds at most is played by an old choice, so choosing costs O(log T) times in all.
    state.next_check = t + math.ceil(max(machine.pause, 0.1 * t))
    rest = max(point.rest, LEAST_REST)
    state.leader_low = 1.0 - MOVED * rest
    state.leader_high = 1.0 - rest / MOVED if rest > MOVED * LEAST_REST else 2.0


@internal()
def choose(machine, state, store):
    """Explore with a strength that is cheap at the point evaluated last: see `preferred`."""
    noinline()
    follow(machine, state)
    if is_known(machine, store):  # everything is seen, whatever is played
        explore(machine, state, store, 0.0)
        return
    work, rest, leader = work_of(machine, state), point_of(state).rest, int(state.leader)
    likely = LIKELY if is_strong(machine) else 1.0
    common = candidates_at(work, machine.n_arms, machine.order, state.beta, leader, rest, likely)
    mark_shown(machine, work, leader)
    see(machine, work.x, 1.0, work.seen_x)
    # Mean losses decide among candidates that cost nearly the same in the worst case.
    recall(machine, state, store, work)
    offer_none(work, common)
    tried = 1
    for family in range(families_near(rest)):
        scale = scale_in(family, work, common)
        total = direct(machine, work, leader, scale, margin_of(store, 0))
        if total > 0.0:
            first = tried
            tried = offer_family(work, common, family, scale, total, tried)
            if machine.any_spread and rest > 0.0:
                tried = offer_kept(work, common, scale, total, first, tried)
    # The workspace has the direction of the last family only: what is played follows from strength and scale.
    best = preferred(machine, state, work, tried)
    state.leader_scale = work.scales[best]
    state.on_leader = work.kept[best]
    if machine.any_spread:
        machine.inverse_load[leader] = state.leader_relief * work.scales[best]
    explore(machine, state, store, work.strengths[best])


@inlined()
def preferred(machine, state, work, tried):
    """Of those that cost nearly the least, and no more than the worst case, the cheapest with the losses so far.

    What is charged is the cost against any losses: a wrong guess about them costs no more than that.
    """
    costs, likely = work.costs, work.likely
    best = cheapest(costs, 0, tried)
    least = costs[best]
    most = least
    if state.beta <= state.free_beta:  # whoever is held back by a budget saves
        nearly = NEARLY_STRONG if is_strong(machine) else NEARLY
        most = max(least, min(nearly * least, worst_cost(machine, state.beta)))
    rounding = (1.0 - CLEARLY) * least
    for k in range(tried):
        if costs[k] <= most and likely[k] < likely[best] - rounding:
            best = k
    return best


@inlined()
def recall(machine, state, store, work):
    """Write the mean loss of every arm where `compare` looks for it: Σ ℓ̂/t, which is unbiased, cut to [0, 1]."""
    keys, own = offset(store.key, 1), group(store, 0)
    scale = 1.0 / (max(state.round, 1.0) * own.rate)
    for i in range(machine.n_arms):
        work.mean[i] = min(max((keys[i] - own.shift) * scale, 0.0), 1.0)


@inlined()
def explore(machine, state, store, strength):
    """Explore with this strength from now on."""
    before = state.strength
    state.strength = strength
    # Spread exploration is kept by slot, so a new strength writes all of it; from 0 to 0 nothing changes.
    if machine.any_spread and (strength > 0.0 or before > 0.0):
        machine.spread[0] = strength
        renew_block_spread(machine, state, store, 0, 0)
    elif machine.n_fixed > 0:
        total = 0.0
        # With the entropy X^{1−s} is 1 and the direction constant: exploration is that, times its strength.
        for slot in range(machine.n_arms):
            machine.fixed[slot] = strength * machine.direction[slot]
            total += machine.fixed[slot]
        state.fixed_total = group(store, 0).held = total
        if machine.single:
            see(machine, machine.fixed, total, state.seen_fixed)
    total_exploration(machine, state)
