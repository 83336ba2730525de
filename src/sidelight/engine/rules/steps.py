"""Steps that several rules share: drawing from a distribution, adding up losses or their estimates."""

import math

from sidelight.engine._numba.jit import inlined, internal
from sidelight.engine.random import next_unit
from sidelight.engine.rules.state import ADDED, DIVISOR, N_KEPT, PER_ARM, SEEN, seen


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
def note_certain(state, count, kept):
    """For rules that draw from nothing: what is seen was sure to be, and counts as it is."""
    kept[ADDED] = 0.0
    for index in range(count):
        at = N_KEPT + PER_ARM * index
        kept[at + SEEN] = 1.0
        kept[at + DIVISOR] = 1.0


@internal()
def note_seen(state, count, kept):
    """For rules that add estimates ℓ/P, P the probability of being seen."""
    kept[ADDED] = 0.0
    for index in range(count):
        at = N_KEPT + PER_ARM * index
        kept[at + SEEN] = seen(state, state.targets[index])
        kept[at + DIVISOR] = kept[at + SEEN]


@inlined()
def count_seen(state, count):
    """The arms state.targets[:count] were observed."""
    for index in range(count):
        state.counts[state.targets[index]] += 1.0


@inlined()
def take_down(state, count, revealed):
    """Take the losses of these arms as they were told."""
    for index in range(count):
        state.losses[index] = revealed[index]
    count_seen(state, count)


@internal()
def add_kept(state, count, kept):
    """Add the losses, divided by what was kept, to the sums."""
    for index in range(count):
        divisor = kept[N_KEPT + PER_ARM * index + DIVISOR]
        state.sums[state.targets[index]] += state.losses[index] / divisor


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
