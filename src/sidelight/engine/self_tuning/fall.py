"""From one self-tuning rule to the one it falls back on: what was spent is carried over, less what β is worth."""

import math

from sidelight.engine._numba.jit import kernel
from sidelight.engine.fields import opened
from sidelight.engine.self_tuning.money import survey
from sidelight.engine.self_tuning.numbers import AT, BETA, FIRST, FREE, PURCHASED, WORTH
from sidelight.engine.self_tuning.retune import retune

SPENT, FREE_WORTH, N_HANDED = range(3)
"""What is handed over: all purchases less what the present β is worth, and what the free β is worth."""

HALVINGS = 30


@kernel()
def hand_over(memory, handed):
    """Write what the next rule needs to know."""
    machine, state, store = opened(memory)
    state.surveyed[AT] = 0.0
    survey(machine, state, store, state.tuned[BETA])
    handed[SPENT] = state.tuned[PURCHASED] - state.surveyed[WORTH]
    survey(machine, state, store, state.tuned[FREE])
    handed[FREE_WORTH] = state.surveyed[WORTH]


@kernel()
def take_over(memory, handed):
    """Buy the present β, set the free one to what the last rule's was worth, and apply the rule."""
    machine, state, store = opened(memory)
    tuned, found = state.tuned, state.surveyed
    found[AT] = 0.0
    survey(machine, state, store, tuned[BETA])
    tuned[PURCHASED] = handed[SPENT] + found[WORTH]
    low, high = machine.rule[FIRST], max(tuned[BETA], machine.rule[FIRST])
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        survey(machine, state, store, middle)
        if found[WORTH] > handed[FREE_WORTH]:
            high = middle
        else:
            low = middle
    tuned[FREE] = low
    retune(machine, state, store)
