"""Rules that count what they saw: follow the leader, UCB-N, TS-N. Losses, so that less is better."""

import math

from sidelight.engine._numba.jit import inlined, internal
from sidelight.engine.random import next_unit
from sidelight.engine.rules.state import LEADER, ROUND


@internal()
def best_index(desk):
    """The first arm of least index: the mean (LEADER), or mean − √(2 log t/count) (UCB).

    An arm never seen has mean 0 for the leader, and index −∞ for UCB.
    """
    width = 2.0 * math.log(desk.numbers[ROUND] + 1.0)
    best, least = 0, math.inf
    for i in range(desk.counts.size):
        seen = desk.counts[i]
        if desk.rule == LEADER:
            index = desk.sums[i] / seen if seen > 0.0 else 0.0
        else:
            index = desk.sums[i] / seen - math.sqrt(width / seen) if seen > 0.0 else -math.inf
        if index < least:
            best, least = i, index
    return best


@internal()
def best_sample(desk):
    """The arm of least sample, one from each posterior Beta(1 + losses, 1 + observations − losses)."""
    best, least = 0, math.inf
    for i in range(desk.counts.size):
        loss = gamma(desk.words, 1.0 + desk.sums[i])
        gain = gamma(desk.words, 1.0 + (desk.counts[i] - desk.sums[i]))
        sample = loss / (loss + gain)
        if sample < least:
            best, least = i, sample
    return best


@internal()
def gamma(words, shape):
    """A gamma variate of shape ≥ 1 (Marsaglia & Tsang 2000)."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(words)
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            if math.log(1.0 - next_unit(words)) < 0.5 * x * x + d - d * v + d * math.log(v):
                return d * v


@inlined()
def normal(words):
    """A standard normal variate (Box & Muller)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - next_unit(words)))
    return radius * math.cos(2.0 * math.pi * next_unit(words))
