"""Self-tuning play on a graph of its own in every round: docs/theory/changing-graphs.md.

Sums, temperature and accounts do not depend on the graph, so the rule is that of `retune` with the graph of the round
as an argument. As nothing of a choice outlives its round, every round evaluates the point, chooses the cheapest
candidate and is charged with its cost; β is raised after every round by exactly what is unspent.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sidelight.engine._numba.bundles import record_of
from sidelight.engine._numba.jit import inlined, internal, kernel, noinline
from sidelight.engine._numba.pointers import pointer
from sidelight.engine.calendar import NONE, WIDTH, enter, take
from sidelight.engine.constants import FAILED
from sidelight.engine.fields import ALL_LIFTED, UNSIGNED
from sidelight.engine.graphs import (
    FIRST_OTHER,
    MORE,
    OTHER,
    OWN,
    SAME,
    UNKNOWN,
    drop_failed,
    graph_of,
    list_revealed_in,
)
from sidelight.engine.losses import cost_of, hear
from sidelight.engine.random import next_turn, next_unit, round_word
from sidelight.engine.self_tuning.choose import (
    HEIGHT,
    candidates_at,
    cheapest,
    compare,
    direct,
    directed,
    families_near,
    lift,
    mark_shows,
    no_lift,
    offer,
    offer_family,
    offer_lifted,
    offer_none,
    offer_shifts,
    offer_strength,
    one_graph,
    scale_in,
    see,
    see_both,
)
from sidelight.engine.self_tuning.point import (
    POINT,
    Sums,
    evaluate_point,
    point_in,
    raised_temperature,
    workspace_in,
    workspace_size,
)
from sidelight.engine.self_tuning.prices import COST, FLOOR, N_PRICES, SHIFT, STRENGTH, row_at

RULE = ("order", "share", "play_share", "diameter", "first", "prices_from", "prices_step")
"""State.rule: s, c, c′, D and β_1 of `planning.self_tuning.rule.SelfTuning`, and where its table begins."""

NUMBERS = (
    "round",  # rounds learnt from
    "late",  # of these, how many after others
    "beta",  # β
    "unspent",  # costs that have not paid for a larger β yet
    "penalty",  # β_1·D + Σ ΔW
    "charged",  # Σ cost
    "paid",  # Σ ⟨ℓ̃, X⟩, and what estimates missed
    "explored",  # Σ of what Z costs more than X, at most
    "least",  # the least sum, which is taken off all
    "lead",  # where the point was found last, near which it is looked for again
    "repair",  # 1 once a graph was shown afterwards that lacks edges of the plan's
    "others",  # 1 once the plan's own bounds on the cost of a round were not proved for some round
)
"""State.numbers."""

DRAW = (
    "drawn_at",  # rounds learnt from by then
    "beta",  # β
    "cost",  # what the round costs
    "extra",  # Σ [Z − X]₊
    "unseen",  # what estimates miss of arms that nothing reveals, at most
    "shift",  # c
)
"""What a record says of a draw, before X, Z and P of all arms."""
N_DRAW = len(DRAW)

rule_in, numbers_in, draw_in = (
    record_of("fixed", RULE),
    record_of("accounts", NUMBERS),
    record_of("dense", DRAW),
)

LARGEST_ESTIMATE = 1e90
"""So that sums stay finite, whatever is drawn."""
EXACTLY = 1.0 + 1e-12
"""How much too dear a temperature may be before Newton's steps towards it go on."""


class State(NamedTuple):
    """All that changes while playing, and room to work in."""

    rule: np.ndarray  # by `RULE`
    prices: np.ndarray  # its table (`prices`)
    numbers: np.ndarray  # by `NUMBERS`
    sums: np.ndarray  # (n,) Σ ℓ̂ above the least
    words: np.ndarray  # (4,) the random stream
    keys: np.ndarray  # (n,) the sums as a simplex at β = 1 would have them
    workspace: np.ndarray  # see `point.Workspace`
    point: np.ndarray  # by `point.POINT`
    targets: np.ndarray  # (n,) the arms that one play reveals
    losses: np.ndarray  # (n,) and their losses


def new_state(rule: np.ndarray, table: np.ndarray, n: int, words: np.ndarray) -> State:
    """At round one, with nothing paid or learnt yet."""
    first = {"beta": rule[RULE.index("first")], "lead": 1.0}
    return State(
        rule=rule,
        prices=table,
        numbers=np.array([first.get(name, 0.0) for name in NUMBERS]),
        sums=np.zeros(n),
        words=words,
        keys=np.zeros(n),
        workspace=np.zeros(workspace_size(n)),
        point=np.zeros(len(POINT)),
        targets=np.zeros(n, dtype=np.int64),
        losses=np.zeros(n),
    )


@inlined()
def accounts_of(state):
    """The numbers of a state by name."""
    return numbers_in(state.numbers, 0)


@inlined()
def work_of(state):
    """The workspace of a state."""
    return workspace_in(pointer(state.workspace, 0, state.workspace.size), state.sums.size)


@inlined()
def evaluate(state, beta):
    """Evaluate the point at β: a function of sums, β and `lead` alone, so that files need no more."""
    evaluate_point(point_in(state.point, 0), work_of(state), sums_of(state), beta)


@inlined()
def sums_of(state):
    """The sums, as `evaluate_point` reads them."""
    s = rule_in(state.rule, 0).order
    power = 0.0 if s == 1.0 else 1.0 / (1.0 - s)
    return Sums(state.sums.size, pointer(state.keys, 0, state.keys.size), 1.0, power, accounts_of(state).lead)


# -- deciding -----------------------------------------------------------------------------------------


@internal()
def choose(state, graphs, k, own, record):
    """Write X, Z and P of a round on graph k, and what it costs, to the record.

    On the plan's own graph it costs no more than the table says; and another graph may be shown afterwards, of which
    a part may be told alone. That proves nothing for estimates above the leader's.
    """
    noinline()
    n, now, point, work = graphs.n_arms, accounts_of(state), point_in(state.point, 0), work_of(state)
    graph = one_graph(graphs, k)
    # Sums may have been replaced since the last evaluation.
    point.beta = 0.0
    evaluate(state, now.beta)
    leader, s = int(point.leader), rule_in(state.rule, 0).order
    # Where the graph is not known yet, nothing can be compared: explore for all that it may be.
    only = graphs.only[k] != 0
    height = HEIGHT / (1.0 - s) if s < 1.0 else 0.0
    floor = 1.0 / (now.beta * height) if s < 1.0 else 0.0
    lifted = lift(graph, work, floor)
    # What X itself reveals is the same for all candidates; only what they explore differs.
    see(graph, work.x, 1.0, work.seen_x)
    signed = graph.signed != UNSIGNED
    above = signed and point.rest < 0.5 and not graph.fails and not own
    if above:
        mark_shows(graph, work.shows, leader)
        see_both(graph, work, work.x, work.both_x)
        see_both(graph, work, work.lift, work.both_lift)
    loops = graph.lifted[leader] > 0.0
    common = candidates_at(
        work, n, s, now.beta, leader, point.rest, 1.0, lifted, floor, height, above, loops, graph.all_covered
    )
    tried = offer_none(work, common)
    if graph.signed == ALL_LIFTED:
        tried = offer_lifted(work, common, tried)
    lean = graphs.lean[k]
    total = 0.0
    for family in range(1 if only else families_near(point.rest)):
        scale = scale_in(family, work, common)
        total = directed(graph, work, common, scale, 1.0)
        if total > 0.0 and not only:
            tried = offer_family(work, common, family, scale, total, tried, signed)
        if total > 0.0 and family == 0 and lean != 0.0:
            # Lemma 4, where the graph is strongly observable, but not by self-loops alone.
            tried = offer_strength(work, common, lean / now.beta, scale, total, tried)
    best = tried - 1 if only else cheapest(work.costs, 0, tried)
    if work.shifts[best] > 0.0:
        scale = work.scales[best]
        total = directed(graph, work, common, scale, 1.0) if work.strengths[best] > 0.0 else 0.0
        tried = offer_shifts(work, common, total, best, tried)
        best = cheapest(work.costs, 0, tried)
    strength, scale, floor, shift = (
        work.strengths[best],
        work.scales[best],
        work.floors[best],
        work.shifts[best],
    )
    # The table is for what the plan's own graph explores, not for what is planned where it may be another.
    cost, row = work.costs[best], safe_row(state) if own and not only else -1
    if row >= 0 and state.prices[row + COST] < cost:
        cost, strength, scale = state.prices[row + COST], state.prices[row + STRENGTH], 1.0
        floor, shift = state.prices[row + FLOOR] / now.beta, state.prices[row + SHIFT]
    raised = 1.0 if floor > 0.0 else 0.0
    lifted = lift(graph, work, floor) if floor > 0.0 else 0.0
    # The direction of the candidate: another family may have been written last.
    total = direct(graph, work, leader, scale, 1.0) if strength > 0.0 else 0.0
    draw = draw_in(record, 0)
    draw.drawn_at = now.round
    draw.beta = now.beta
    draw.cost = cost
    draw.shift = shift
    rest = 1.0 - strength * total - raised * lifted
    for i in range(n):
        explored = (strength * work.g[i] if strength > 0.0 else 0.0) + raised * work.lift[i]
        shown = (strength * work.seen_g[i] if strength > 0.0 else 0.0) + raised * work.seen_lift[i]
        record[N_DRAW + i] = work.x[i]
        record[N_DRAW + n + i] = rest * work.x[i] + explored
        record[N_DRAW + 2 * n + i] = rest * work.seen_x[i] + shown
    sum_up(graphs, k, s, record)


@inlined()
def safe_row(state):
    """Where the row of the table begins that belongs to β, −1 where there is none."""
    rule = rule_in(state.rule, 0)
    n_rows = state.prices.size // N_PRICES
    row = row_at(accounts_of(state).beta, rule.prices_from, rule.prices_step, n_rows)
    return row * N_PRICES if row >= 0 else -1


@inlined()
def sum_up(graphs, k, s, record):
    """What follows from X, Z and P."""
    n, draw = graphs.n_arms, draw_in(record, 0)
    extra = unseen = missed = 0.0
    for i in range(n):
        x, z, seen = record[N_DRAW + i], record[N_DRAW + n + i], record[N_DRAW + 2 * n + i]
        extra += max(z - x, 0.0)
        unseen += 0.0 if seen > 0.0 else x
        missed = missed if seen > 0.0 else draw.shift
    draw.extra = extra
    # Against an arm that nothing reveals, estimates miss up to c; what X has there counts as if it lost 1.
    draw.unseen = (1.0 - draw.shift) * unseen + missed
    if s == 1.0 and reveals_all(graphs, k):
        # Hoeffding: nothing is estimated, and stability is a quarter of what it may be with estimates.
        draw.cost = min(draw.cost, 1.0 / (8.0 * draw.beta) + extra)


@inlined()
def reveals_all(graphs, k):
    """Does every arm always reveal all arms?"""
    n = graphs.n_arms
    everyone = graphs.universal_start[k + 1] - graphs.universal_start[k] == n
    return everyone and graphs.loops[k * n : (k + 1) * n].all()


@internal()
def show(state, graphs, k, more, record):
    """The draw in the record was one on graph k, as is known only now; has it all edges that it was planned for?"""
    noinline()
    n, s, work = graphs.n_arms, rule_in(state.rule, 0).order, work_of(state)
    graph, draw = one_graph(graphs, k), draw_in(record, 0)
    leader = 0
    for i in range(n):
        work.x[i], work.g[i] = record[N_DRAW + i], record[N_DRAW + n + i]
        work.root[i] = work.x[i] ** (1.0 - s)
        work.seen_x[i] = 0.0
        # The point that was played is in the record; today's sums are others.
        leader = i if work.x[i] > work.x[leader] else leader
    see(graph, work.g, 1.0, work.seen_g)
    for i in range(n):
        record[N_DRAW + 2 * n + i] = work.seen_g[i]
    no_lift(graph, work)
    # All of Z is exploration in the direction Z, of strength 1.
    common = candidates_at(work, n, s, draw.beta, leader, 1.0 - work.x[leader], 1.0)
    compare(work, common, 1.0, 0, offer(work, 0, 1.0, 0.0, 1.0, 0.0, draw.shift))
    # More edges never cost more than was charged for those of the plan.
    draw.cost = min(work.costs[0], draw.cost) if more else work.costs[0]
    sum_up(graphs, k, s, record)


@internal()
def draw_arm(state, record):
    """An arm from the distribution in the record."""
    noinline()
    n = state.sums.size
    # Rounding may leave a little after the last arm: then it is the last that can be drawn at all.
    left = next_unit(state.words)
    last = 0
    for i in range(n):
        if record[N_DRAW + n + i] > 0.0:
            last = i
            left -= record[N_DRAW + n + i]
            if left < 0.0:
                break
    return last


@inlined()
def note_known(state, relation):
    """A round was decided on a graph that is this to the plan's own."""
    if relation != SAME:
        accounts_of(state).others = 1.0


@inlined()
def note_shown(state, relation):
    """A graph was shown afterwards that is this to the plan's own."""
    if relation == OTHER:
        now = accounts_of(state)
        now.others = now.repair = 1.0


# -- learning -----------------------------------------------------------------------------------------


@internal()
def learn(state, count, record):
    """Learn state.losses[:count] of the arms state.targets[:count] from the draw in the record."""
    noinline()
    now, draw, sums = accounts_of(state), draw_in(record, 0), state.sums
    n = sums.size
    paid, saved = draw.unseen, draw.shift * draw.extra
    for index in range(count):
        amount = state.losses[index] - draw.shift
        if amount == 0.0 or state.losses[index] == FAILED:
            continue
        i = state.targets[index]
        x, z, seen = record[N_DRAW + i], record[N_DRAW + n + i], record[N_DRAW + 2 * n + i]
        estimate = LARGEST_ESTIMATE if amount > 0.0 else 0.0
        if seen > 0.0:
            estimate = min(max(amount / seen, -LARGEST_ESTIMATE), LARGEST_ESTIMATE)
        # Estimates are those of the draw, with its P, whatever was learnt since.
        sums[i] += estimate
        paid += x * estimate
        saved += max(x - z, 0.0) * estimate
    now.paid += paid
    now.explored += draw.extra - saved
    now.late += 0.0 if draw.drawn_at == now.round else 1.0
    now.round += 1.0
    now.charged += draw.cost
    now.unspent += rule_in(state.rule, 0).play_share * draw.cost
    # Differences of sums matter and their size does not: kept apart, both have all their digits.
    least = sums[0]
    for i in range(n):
        least = min(least, sums[i])
    for i in range(n):
        sums[i] -= least
    now.least += least
    scale(state)
    raise_temperature(state)


@inlined()
def scale(state):
    """Write the sums down as `evaluate_point` reads them."""
    s = rule_in(state.rule, 0).order
    rate = 1.0 if s == 1.0 else 1.0 - s
    for i in range(state.sums.size):
        state.keys[i] = rate * state.sums[i]
    point_in(state.point, 0).beta = 0.0


@internal()
def raise_temperature(state):
    """Raise β to where W(β′) − W(β) = unspent: to what the bound relies on at least, to twice itself at most."""
    noinline()
    now, rule, point = accounts_of(state), rule_in(state.rule, 0), point_in(state.point, 0)
    beta, unspent = now.beta, now.unspent
    evaluate(state, beta)
    log_partition = point.log_partition
    most = min(2.0 * beta, rule.first * (now.round + 1.0) ** 2)
    floor = min(rule.first + rule.share * now.charged / rule.diameter, most)
    if most > beta:
        # To the root itself: nothing is saved by waiting, as every round evaluates the point anyway.
        after = raised_temperature(point, work_of(state), sums_of(state), unspent, most, EXACTLY)
        if after < floor:
            after = floor
            evaluate(state, after)
        paid = max(point.log_partition - log_partition, 0.0)
        now.penalty += paid
        now.unspent = max(unspent - paid, 0.0)
        now.beta = after
    now.lead = point.lead


# -- entry points -------------------------------------------------------------------------------------


@kernel()
def decide(state, graphs, k, relation, record):
    """Draw an arm for a round on graph k, and record what learning from it will need."""
    next_turn(state.words)
    note_known(state, relation)
    choose(state, graphs, k, relation == SAME, record)
    return draw_arm(state, record)


@kernel()
def weigh(state, graphs, k, record):
    """`decide` without drawing."""
    choose(state, graphs, k, True, record)


@kernel()
def reconsider(state, graphs, k, relation, record):
    """The draw in a record turns out to have been one on graph k, which is this to the plan's own."""
    show(state, graphs, k, relation == MORE, record)
    note_shown(state, relation)


@kernel()
def observe(state, graphs, k, arm, revealed, record):
    """Learn losses in increasing order of arms; False, and no change, if one is outside [0, 1]."""
    for index in range(revealed.size):
        told = revealed[index]
        if not (0.0 <= told <= 1.0 or (told == FAILED and graphs.out_chance.size > 0)):  # also NaN
            return False
        state.losses[index] = revealed[index]
    learn(state, list_revealed_in(graphs, k, arm, state.targets), record)
    return True


@kernel()
def start(state):
    """After the sums were read from elsewhere."""
    scale(state)


@kernel()
def play(state, graphs, sequence, after, world, function, key, first, last, cost, plays, calendar):
    """Play rounds first..last; return `cost` plus theirs, means where they are known, NaN for a bad loss.

    Graphs are known before a round is played, or shown `after` it, with its losses, when the calendar says so.
    """
    width = calendar.counts[WIDTH]
    for t in range(first, last):
        next_turn(state.words)
        at = enter(calendar, t, 0)
        record = calendar.kept[at * width : (at + 1) * width]
        k, own = UNKNOWN if accounts_of(state).repair != 0.0 else OWN, True
        if not after:
            k = FIRST_OTHER + graph_of(sequence, round_word(key, t), t)
            note_known(state, graphs.relation[k])
            own = graphs.relation[k] == SAME
        choose(state, graphs, k, own, record)
        arm = draw_arm(state, record)
        if k == UNKNOWN:  # until another is shown, it is on the plan's own graph
            show(state, graphs, OWN, False, record)
        calendar.drawn[at] = arm
        cost += cost_of(world, function, t, arm)
        if plays.size > 0:
            plays[arm] += 1
        at = take(calendar, t)
        while at != NONE:
            decided = calendar.round[at]
            word = round_word(key, decided)
            k = FIRST_OTHER + graph_of(sequence, word, decided)
            record = calendar.kept[at * width : (at + 1) * width]
            arm = calendar.drawn[at]
            count = list_revealed_in(graphs, k, arm, state.targets)
            if not hear(world, function, word, decided, state.targets, state.losses, count):
                return math.nan
            # All losses were checked before: what fails to be revealed must not be refused either.
            if graphs.out_chance.size > 0:
                drop_failed(graphs, k, word, arm, state.targets, state.losses, count)
            if after and graphs.relation[k] != SAME:
                show(state, graphs, k, graphs.relation[k] == MORE, record)
                note_shown(state, graphs.relation[k])
            learn(state, count, record)
            at = take(calendar, t)
    return cost
