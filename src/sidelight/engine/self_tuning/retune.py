"""What happens now and then between two rounds: β is raised, the strength of exploration chosen afresh.

Until then the engine plays one simplex with one rate and one exploration, as any flat plan. Here, in O(n + edges),

    raise    what costs have left unspent, beyond `patience`, pays for a larger β: W(β′) − W(β) is the penalty that
             the certificate counts
    afford   with a horizon β may be held back, or raised, so that all rounds left are affordable
    choose   of b = 0, nine strengths of each family and some beside them, and shifts of the losses, whose rounds
             cost little at the present X whatever the losses, the one that costs least if losses stay as they were

Where costs have used up their slack, rounds are *safe*: played as the table of prices says, their cost is
bounded whatever X is. Proofs that the certificate then keeps below its bound on every run:
docs/theory/self-tuning.md, section 6.
"""

import math

from sidelight.engine._numba.jit import also_compiled, inlined, internal, noinline
from sidelight.engine._numba.pointers import offset
from sidelight.engine.constants import GROWTH, ROOM, SLACK
from sidelight.engine.fields import ALL_LIFTED, UNSIGNED
from sidelight.engine.round.settle import total_exploration
from sidelight.engine.round.spread import LARGE, margin_of, renew_block_spread
from sidelight.engine.self_tuning import prices
from sidelight.engine.self_tuning.begin import UNBOUNDED
from sidelight.engine.self_tuning.charge import MOST_EXPLORED, is_known
from sidelight.engine.self_tuning.choose import (
    CLEARLY,
    HEIGHT,
    LAG,
    candidates_at,
    cheapest,
    directed,
    families_near,
    lift,
    mark_shown,
    mark_shows,
    no_lift,
    offer_family,
    offer_kept,
    offer_lifted,
    offer_none,
    offer_shifts,
    scale_in,
    see,
    see_both,
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

also_compiled(prices.row_at, prices.price, prices.cost_to_go, prices.cost_elsewhere)

MOVED = 1.2
"""A strength is chosen afresh when β or 1 − X_I has moved by this factor."""
LEAST_REST = 1e-9
"""1 − X_I is not followed below this: there it has no more digits to move in."""
NEARLY, NEARLY_STRONG = 1.5, 2.0
"""A choice may cost so much more than the cheapest, at most, if it likely costs less with the losses so far; the
second where all arms are strongly observable."""
LIKELY = 0.5
"""This part of stability counts in what a round likely costs: stability is only bounded, while what exploration loses
is lost for sure."""
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
    if state.fallen != 0.0:  # what is played from here on is not this memory's business
        return
    if state.worst_case != 0.0:
        play_worst_case(machine, state, store)
    elif was_worst_case != 0.0 or has_moved(machine, state):
        choose(machine, state, store)
    # The choice holds, but exploration follows X, which has moved with β.
    elif beta != before and state.priced != 0.0:
        play_safely(machine, state, store)
    elif beta != before:
        explore(machine, state, store, state.strength, state.floor * before / beta, state.shift)


@inlined()
def is_strong(machine):
    """Do rounds cost about 1/β without exploration?"""
    return machine.strong != 0.0


@inlined()
def row_of(machine, beta):
    """Where the row of the table of prices begins that belongs to β, −1 where there is none."""
    row = prices.row_at(beta, machine.prices_from, machine.prices_step, machine.n_prices)
    return row * prices.N_PRICES if row >= 0 else -1


@inlined()
def worst_cost(machine, beta):
    """What a safe round at β costs at most, whatever X is."""
    row = row_of(machine, beta)
    return machine.prices[row + prices.COST] if row >= 0 else 1.0


@inlined()
def cost_to_go(machine, state, beta, left):
    """(value, target β) of the rounds left, with the present potential: see `prices`."""
    first, step, n_rows = machine.prices_from, machine.prices_step, machine.n_prices
    near = prices.row_at(state.target_beta, first, step, n_rows)
    return prices.cost_to_go(machine.prices, beta, left, machine.diameter, first, step, n_rows, near)


@inlined()
def cost_elsewhere(machine, state, beta, left):
    """(value, row) of the rounds left, with the potential behind the budget."""
    return prices.cost_elsewhere(
        machine.base_costs, machine.climbs, beta, left, machine.prices_from, machine.prices_step,
        machine.base_at, machine.n_base, machine.climb_at, machine.n_climbs, int(state.base_row),
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

    `log_partition` is W at the present β. Sets slack, target cost and whether rounds have to be safe. Where rounds
    are affordable only with the potential behind the budget, that is noted (`fallen`).
    """
    noinline()
    point = point_of(state)
    # All that is not spent yet. W(β) is added back, as it is refunded when β moves elsewhere.
    budget = machine.budget - (state.penalty + state.charged - log_partition)
    _, target = cost_to_go(machine, state, state.beta, left)
    beta, near, far = state.free_beta, state.free_beta, target
    value = price = 0.0
    aim, fits = target, False
    # Geometric bisection between a β that is wanted and one that is affordable.
    for turn in range(HALVINGS + 1):
        trial = near if turn == 0 else math.sqrt(near * far)
        evaluate(machine, state, store, trial)
        whole, own = cost_to_go(machine, state, trial, left)
        least, row = cost_elsewhere(machine, state, trial, left)
        if point.log_partition + min(whole, least) + RESERVE <= budget:
            beta, value, aim, fits, far = trial, min(whole, least), own, True, trial
            price = worst_cost(machine, own)
            if least < whole:
                price = machine.base_costs[row]
                state.base_row = row
            if turn == 0:
                break
        else:
            near = trial
    if not fits:
        evaluate(machine, state, store, state.beta)
        least, row = cost_elsewhere(machine, state, state.beta, left)
        if row >= 0 and log_partition + least <= budget:
            # The last β at which anything was affordable; what is left is enough for the other potential.
            state.base_row = row
            state.fallen = 1.0 + row
            beta = state.beta
        else:  # the target itself always fits, without a reserve
            beta = target
        aim, value, price = target, left * worst_cost(machine, target), worst_cost(machine, target)
    evaluate(machine, state, store, beta)
    state.slack = budget - point.log_partition - value
    enough = AGAIN if state.worst_case != 0.0 else 1.0
    state.worst_case = 0.0 if fits or state.slack >= enough else 1.0
    state.target_beta = aim
    state.target_cost = price
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
        or state.gamma > state.most_explored
        or (state.shift > 0.0 and state.beta < state.chosen_beta)
    )


@inlined()
def play_worst_case(machine, state, store):
    """Play as the table of prices says, whatever X is."""
    follow(machine, state)
    # Nothing that X does makes this choice out of date.
    state.leader_low, state.leader_high = -1.0, 2.0
    play_safely(machine, state, store)


@inlined()
def play_safely(machine, state, store):
    """Play safe rounds from now on, and charge their price."""
    state.priced, state.worst_cost = 1.0, worst_cost(machine, state.beta)
    if machine.any_spread:
        machine.inverse_load[int(state.leader)] = state.leader_relief
    state.leader_scale, state.on_leader, state.above_leader = 1.0, 0.0, 0.0
    row = row_of(machine, state.beta)
    if row < 0:
        explore(machine, state, store, 0.0, 0.0, 0.0)
        return
    shift, floor = machine.prices[row + prices.SHIFT], machine.prices[row + prices.FLOOR] / state.beta
    explore(machine, state, store, machine.prices[row + prices.STRENGTH], floor, shift)


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
    state.leader_scale, state.on_leader, state.above_leader = 1.0, 0.0, 0.0
    state.most_explored = MOST_EXPLORED
    if machine.signed != UNSIGNED:
        mark_shows(machine, state.shows_leader, leader)
    state.chosen_beta = state.beta
    t = state.round
    # A tenth of all rounds at most is played by an old choice, so choosing costs O(log T) times in all.
    state.next_check = t + math.ceil(max(machine.pause, 0.1 * t))
    rest = max(point.rest, LEAST_REST)
    state.leader_low = 1.0 - MOVED * rest
    state.leader_high = 1.0 - rest / MOVED if rest > MOVED * LEAST_REST else 2.0


@internal()
def choose(machine, state, store):
    """Play in a way that is cheap at the point evaluated last: see `preferred`."""
    noinline()
    follow(machine, state)
    state.priced = 0.0
    if is_known(machine, store):  # everything is seen, whatever is played
        explore(machine, state, store, 0.0, 0.0, 0.0)
        return
    work, rest, leader = work_of(machine, state), point_of(state).rest, int(state.leader)
    n, s = machine.n_arms, machine.order
    mark_shown(machine, work, leader)
    see(machine, work.x, 1.0, work.seen_x)
    # Mean losses decide among candidates that cost nearly the same in the worst case.
    recall(machine, state, store, work)
    lifts, signed, above = machine.lift_group >= 0, machine.signed != UNSIGNED, False
    height = HEIGHT / (1.0 - s) if lifts else 0.0
    lag = LAG if n > LARGE else 1.0
    floor = lag / (state.beta * height) if lifts else 0.0
    lifted = lift(machine, work, floor) if lifts else no_lift(machine, work)
    if signed and rest < 0.5 and not machine.fails:
        above = True
        for i in range(n):
            work.shows[i] = state.shows_leader[i]
        see_both(machine, work, work.x, work.both_x)
        see_both(machine, work, work.lift, work.both_lift)
    loops = lifts and machine.lifted[leader] > 0.0
    common = candidates_at(
        work,
        n,
        s,
        state.beta,
        leader,
        rest,
        LIKELY,
        lifted,
        floor,
        height,
        above,
        loops,
        machine.all_covered,
        lag,
    )
    tried = offer_none(work, common)
    if machine.signed == ALL_LIFTED:
        tried = offer_lifted(work, common, tried)
    total = 0.0
    for family in range(families_near(rest)):
        scale = scale_in(family, work, common)
        total = directed(machine, work, common, scale, margin_of(store, 0))
        if total > 0.0:
            first = tried
            tried = offer_family(work, common, family, scale, total, tried, signed)
            if machine.any_spread and rest > 0.0:
                tried = offer_kept(work, common, scale, total, first, tried)
    best = preferred(machine, state, work, tried)
    if work.shifts[best] > 0.0:
        scale = work.scales[best]
        total = (
            directed(machine, work, common, scale, margin_of(store, 0)) if work.strengths[best] > 0.0 else 0.0
        )
        tried = offer_shifts(work, common, total, best, tried)
        best = preferred(machine, state, work, tried)
    # What is played follows from strength and scale.
    if worst_cost(machine, state.beta) < work.costs[best] * CLEARLY:
        play_safely(machine, state, store)
        return
    state.leader_scale = work.scales[best]
    state.on_leader = work.kept[best]
    state.above_leader = work.leads[best]
    if machine.any_spread:
        machine.inverse_load[leader] = state.leader_relief * work.scales[best]
    state.most_explored = work.limits[best]
    explore(machine, state, store, work.strengths[best], work.floors[best], work.shifts[best])


@inlined()
def preferred(machine, state, work, tried):
    """Of those that cost nearly the least, and no more than the price, the cheapest with the losses so far.

    What is charged is the cost against any losses: a wrong guess about them costs no more than that. The shift is
    that of the cheapest: guesses say little about it.
    """
    costs, likely = work.costs, work.likely
    best = cheapest(costs, 0, tried)
    least, shift, above = costs[best], work.shifts[best], work.leads[best]
    most = least
    if state.beta <= state.free_beta:  # whoever is held back by a budget saves
        nearly = NEARLY_STRONG if is_strong(machine) else NEARLY
        most = max(least, min(nearly * least, worst_cost(machine, state.beta)))
    rounding = (1.0 - CLEARLY) * least
    for k in range(tried):
        alike = work.shifts[k] == shift and work.leads[k] == above
        if alike and costs[k] <= most and likely[k] < likely[best] - rounding:
            best = k
    return best


@inlined()
def recall(machine, state, store, work):
    """Write the mean loss of every arm where `compare` looks for it: Σ (c + ℓ̃)/t, unbiased, cut to [0, 1]."""
    keys, own = offset(store.key, 1), group(store, 0)
    scale = 1.0 / (max(state.round, 1.0) * own.rate)
    shifts = state.shifts * own.rate - own.shift
    for i in range(machine.n_arms):
        work.mean[i] = min(max((keys[i] + shifts) * scale, 0.0), 1.0)


@inlined()
def explore(machine, state, store, strength, floor, shift):
    """Explore with this strength, lift arms to this floor and shift losses by this from now on."""
    before, below = state.strength, state.floor
    state.strength, state.floor, state.shift = strength, floor, shift
    # Spread exploration is kept by slot, so new numbers write all of it; from 0 to 0 nothing changes.
    if machine.any_spread and (strength > 0.0 or before > 0.0 or floor > 0.0 or below > 0.0):
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
