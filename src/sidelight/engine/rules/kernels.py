"""One round of a small policy, and many: the same ask and learn behind both."""

import math

from sidelight.engine._numba.jit import internal, kernel
from sidelight.engine.losses import cost_of, loss_of
from sidelight.engine.random import next_turn, round_word
from sidelight.engine.rules.index_rules import best_index, best_sample
from sidelight.engine.rules.state import (
    IMPLICIT,
    LEADER,
    PENDING,
    ROUND,
    THOMPSON,
    TSALLIS,
    UCB,
    list_revealed,
)
from sidelight.engine.rules.weight_rules import draw, estimate, weigh


@internal()
def choose(desk):
    """The arm of this round."""
    next_turn(desk.words)
    if desk.rule == LEADER or desk.rule == UCB:
        return best_index(desk)
    if desk.rule == THOMPSON:
        return best_sample(desk)
    return draw(desk)


@internal()
def learn(desk, count):
    """Take in the losses desk.told of the arms desk.targets, and finish the round."""
    desk.numbers[ROUND] += 1.0
    if desk.rule == IMPLICIT or desk.rule == TSALLIS:
        estimate(desk, count)
        weigh(desk)
    for index in range(count):
        arm = desk.targets[index]
        desk.counts[arm] += 1.0
        if desk.rule == LEADER or desk.rule == UCB or desk.rule == THOMPSON:
            desk.sums[arm] += desk.told[index]


@kernel()
def ask_rule(desk):
    """Draw an arm and leave it pending."""
    arm = choose(desk)
    desk.numbers[PENDING] = float(arm)
    return arm


@kernel()
def tell_rule(desk, losses):
    """Learn the losses that the pending arm revealed, in order; False, and no change, if one is outside [0, 1]."""
    for index in range(losses.size):
        if not 0.0 <= losses[index] <= 1.0:
            return False
    count = list_revealed(desk, int(desk.numbers[PENDING]))
    for index in range(count):
        desk.told[index] = losses[index]
    learn(desk, count)
    desk.numbers[PENDING] = -1.0
    return True


@kernel()
def favourite(desk):
    """The arm that a rule without randomness plays next."""
    return best_index(desk)


@kernel()
def play_rule(desk, world, function, key, first, last, cost, plays):
    """Play rounds first..last; return `cost` plus theirs, means where they are known, NaN for a bad loss."""
    for t in range(first, last):
        arm = choose(desk)
        word = round_word(key, t)
        count = list_revealed(desk, arm)
        for index in range(count):
            loss = loss_of(world, function, word, t, desk.targets[index])
            if not 0.0 <= loss <= 1.0:
                return math.nan
            desk.told[index] = loss
        cost += cost_of(world, function, t, arm)
        if plays.size > 0:
            plays[arm] += 1
        learn(desk, count)
    return cost


@kernel()
def start_rule(desk):
    """The distribution of round one."""
    weigh(desk)
