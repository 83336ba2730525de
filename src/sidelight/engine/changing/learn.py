"""What a play revealed joins the sums, divided by the probabilities of its draw; then temperature is bought."""

from sidelight.engine._numba.jit import inlined, internal, noinline
from sidelight.engine.changing.state import (
    BETA,
    CHARGED,
    COST,
    DIAMETER,
    DRAWN_AT,
    EXPLORED,
    EXTRA,
    FIRST,
    LARGEST_ESTIMATE,
    LATE,
    LEAD,
    LEAST,
    N_KEPT,
    ORDER,
    PAID,
    PLAY_SHARE,
    PURCHASED,
    ROUND,
    SHARE,
    UNSEEN,
    UNSPENT,
    simplex_of,
)
from sidelight.engine.self_tuning.money import survey
from sidelight.engine.self_tuning.numbers import AT as SURVEYED_AT
from sidelight.engine.self_tuning.numbers import ENTROPY, WORTH
from sidelight.engine.self_tuning.numbers import LEAD as FOUND_LEAD
from sidelight.engine.simplex.store import LAMBDA

NEWTON = 100
"""Steps at most towards the root of a convex function, from the right; a handful is taken."""


@internal()
def learn(state, count, kept):
    """Learn state.losses[:count] of the arms state.targets[:count] from the draw that was kept."""
    noinline()
    numbers, sums = state.numbers, state.sums
    n = sums.size
    paid, saved = kept[UNSEEN], 0.0
    for index in range(count):
        i = state.targets[index]
        seen = kept[N_KEPT + 2 * n + i]
        estimate = min(state.losses[index] / seen, LARGEST_ESTIMATE) if seen > 0.0 else LARGEST_ESTIMATE
        if state.losses[index] == 0.0:
            continue
        sums[i] += estimate
        paid += kept[N_KEPT + i] * estimate
        saved += max(kept[N_KEPT + i] - kept[N_KEPT + n + i], 0.0) * estimate
    numbers[PAID] += paid
    numbers[EXPLORED] += kept[EXTRA] - saved
    numbers[LATE] += 0.0 if kept[DRAWN_AT] == numbers[ROUND] else 1.0
    numbers[ROUND] += 1.0
    numbers[CHARGED] += kept[COST]
    numbers[UNSPENT] += state.rule[PLAY_SHARE] * kept[COST]
    least = sums[0]
    for i in range(n):
        least = min(least, sums[i])
    for i in range(n):
        sums[i] -= least
    numbers[LEAST] += least
    scale(state)
    buy(state)


@inlined()
def scale(state):
    """Write the sums down as `money` reads them."""
    rate = 1.0 if state.rule[ORDER] == 1.0 else 1.0 - state.rule[ORDER]
    for i in range(state.sums.size):
        state.keys[1 + i] = rate * state.sums[i]
    state.found[SURVEYED_AT] = 0.0


@internal()
def buy(state):
    """Raise β to the root of W(β′) − W(β) = money: to what the bound relies on at least, to twice itself at most."""
    noinline()
    numbers, rule, found = state.numbers, state.rule, state.found
    simplex = simplex_of(state)
    beta, money = numbers[BETA], numbers[UNSPENT]
    state.scalars[LAMBDA] = numbers[LEAD]
    survey(simplex, simplex, simplex, beta)
    worth = found[WORTH]
    most = min(2.0 * beta, rule[FIRST] * (numbers[ROUND] + 1.0) ** 2)
    floor = min(rule[FIRST] + rule[SHARE] * numbers[CHARGED] / rule[DIAMETER], most)
    if most > beta:
        after = most
        survey(simplex, simplex, simplex, after)
        for _ in range(NEWTON):  # W is convex and rises: from the right, Newton's method falls to the root
            step = (found[WORTH] - worth - money) / found[ENTROPY] if found[WORTH] - worth > money else 0.0
            if not step > 1e-15 * after:
                break
            after = max(after - step, beta)
            survey(simplex, simplex, simplex, after)
        if after < floor:
            after = floor
            survey(simplex, simplex, simplex, after)
        bought = max(found[WORTH] - worth, 0.0)
        numbers[PURCHASED] += bought
        numbers[UNSPENT] = max(money - bought, 0.0)
        numbers[BETA] = after
    numbers[LEAD] = found[FOUND_LEAD]
