"""Mirror descent with shifted estimates: Tsallis-INF at a fixed rate, with the least leading constant for bandits."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from sidelight._types import Floats
from sidelight.engine._numba.jit import internal
from sidelight.engine.rules import draw, note_seen, rule_kernels
from sidelight.errors import InvalidOption
from sidelight.policy.rule import Rule
from sidelight.policy.rules.tsallis_inf import weigh_at
from sidelight.policy.rules.tsallis_inf_rv import add_shifted, need_bandit


@internal()
def weigh(state):
    """x at the fixed η, in the units of `weigh_at`: 4/(2η(L − λ))² = (η(L − λ))^{−2}."""
    weigh_at(state, 2.0 * state.own[0])


@internal()
def update(state, count, record):
    """At B_i = ½·1[x_i ≥ η²]."""
    add_shifted(state, count, record, state.own[0] * state.own[0])


class tsallis_inf_shifted(Rule):
    """x_i = (η(L_i − λ))^{−2}, η = √(8/T), ℓ̂_i = 1[i played]·(ℓ_i − B_i)/x_i + B_i, B_i = ½·1[x_i ≥ η²].

    Zimmert & Lattimore 2019 (Connections between mirror descent, Thompson sampling and the information ratio). For
    bandits, and a number of rounds that is known. η is what minimises 2√N/η + (η/4)√N·T = √(2NT), the bound of a
    shift by ½ everywhere; where shifts stop, x < η², is as read here. The bound, √(2NT) + 48N, is a row of
    `compare_bounds` as commonly quoted; as its source was not read here, nothing is claimed of a policy.

    >>> import sidelight as sl
    >>> sl.baselines.tsallis_inf_shifted(sl.families.mab(4), 1000).policy(seed=1).probabilities.tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    name = "tsallis_inf_shifted"
    kernels = rule_kernels(name, draw, note_seen, update=update, weigh=weigh)
    signed = True

    def __post_init__(self) -> None:
        super().__post_init__()
        need_bandit(self.graph, self.name)
        if self.horizon is None:
            raise InvalidOption(
                f"{self.name} is tuned for a number of rounds: give it one, as in {self.name}(graph, 10_000), or use"
                " tsallis_inf_rv, which needs none"
            )

    @cached_property
    def own(self) -> Floats:
        """η."""
        assert self.horizon is not None
        return np.array([math.sqrt(8.0 / self.horizon)])
