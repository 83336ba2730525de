"""Steps that several rules share: drawing from a distribution, adding up losses or their estimates."""

import math

from sidelight.engine._numba.jit import inlined, internal
from sidelight.engine.random import next_unit
from sidelight.engine.rules.state import seen


@inlined()
def keep_none(state):
    """For rules that keep no distribution."""


@internal()
def draw(state):
    """An arm from state.probabilities."""
    left = next_unit(state.words)
    last = 0
    for i in range(state.probabilities.size):
        if state.probabilities[i] > 0.0:
            last = i
            left -= state.probabilities[i]
            if left < 0.0:
                break
    return last


@internal()
def add_losses(state, count):
    """Add the observed losses to the sums."""
    for index in range(count):
        state.sums[state.targets[index]] += state.losses[index]


@internal()
def add_estimates(state, count, bias):
    """Add ℓ/(P + bias) of what was seen to the sums, P the probability of being seen."""
    for index in range(count):
        arm = state.targets[index]
        state.sums[arm] += state.losses[index] / (seen(state, arm) + bias)


@inlined()
def least_sum(state):
    """The least of the sums; relative to it, powers and exponentials keep their digits."""
    least = math.inf
    for i in range(state.sums.size):
        least = min(least, state.sums[i])
    return least


@inlined()
def normalise(state):
    """Make the probabilities add up to one."""
    total = 0.0
    for i in range(state.probabilities.size):
        total += state.probabilities[i]
    for i in range(state.probabilities.size):
        state.probabilities[i] /= total
