"""Tsallis-INF with estimates of reduced variance: a part is not divided by x."""

from __future__ import annotations

import math

import numpy as np

from sidelight.engine._numba.jit import inlined, internal
from sidelight.engine.rules import arm_in, draw, note_seen, numbers_of, rule_kernels
from sidelight.errors import InfeasibleRequest
from sidelight.graph import FeedbackGraph
from sidelight.graph.names import names
from sidelight.policy.rule import Rule
from sidelight.policy.rules.tsallis_inf import weigh_at


@inlined()
def rate_of(state):
    """η_t = 4/√t."""
    return 4.0 / math.sqrt(numbers_of(state).round + 1.0)


@internal()
def weigh(state):
    """x at η_t."""
    weigh_at(state, rate_of(state))


@internal()
def add_reduced(state, count, record):
    """At B_i = ½·1[x_i ≥ η_t²]."""
    # The round is counted already.
    add_shifted(state, count, record, 16.0 / max(numbers_of(state).round, 1.0))


@inlined()
def add_shifted(state, count, record, least):
    """Add B_i = ½·1[x_i ≥ least] to all sums, and (ℓ − B_i)/x_i to that of the arm that was played."""
    # B must not depend on the draw: for losses that come late it is that of today.
    for index in range(count):
        i = state.targets[index]
        middle = 0.5 if state.probabilities[i] >= least else 0.0
        state.sums[i] += (state.losses[index] - middle) / arm_in(record, index).divisor
    for i in range(state.sums.size):
        state.sums[i] += 0.5 if state.probabilities[i] >= least else 0.0


class tsallis_inf_rv(Rule):
    """x_i = 4(η_t(L_i − λ))^{−2} with η_t = 4/√t and ℓ̂_i = 1[i played]·(ℓ_i − B_i)/x_i + B_i, B_i = ½·1[x_i ≥ η_t²].

    Zimmert & Seldin 2021. For bandits: every arm reveals itself and nothing else. Its bound, 2√(NT) + 10N·ln T + 16,
    is a row of `compare_bounds` as commonly quoted; as its source was not read here, nothing is claimed of a policy.

    >>> import sidelight as sl
    >>> sl.baselines.tsallis_inf_rv(sl.families.mab(4)).policy(seed=1).probabilities.tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    name = "tsallis_inf_rv"
    kernels = rule_kernels(name, draw, note_seen, update=add_reduced, weigh=weigh)
    signed = True

    def __post_init__(self) -> None:
        super().__post_init__()
        need_bandit(self.graph, self.name)


def need_bandit(graph: FeedbackGraph, name: str) -> None:
    """Refuse graphs in which some arm reveals others."""
    more = np.flatnonzero(graph.out_degree > 1)
    if more.size:
        raise InfeasibleRequest(
            f"{name} is for bandits, and arms {names(graph, more.tolist())} reveal others; use tsallis_inf"
        )
