"""SPB: leader following with a rate that makes stability, penalty and bias match, on weakly observable graphs."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from sidelight._types import Floats
from sidelight.analysis import observability
from sidelight.engine._numba.jit import internal
from sidelight.engine.rules import draw, rule_kernels
from sidelight.errors import InfeasibleRequest
from sidelight.planning.baselines.algorithms import need_observable
from sidelight.policy.rule import Rule
from sidelight.policy.rules.spm_ftrl import (
    dominating,
    entropy,
    explore,
    lead,
    matched_of,
    note,
    rate_of,
    smaller_side,
)


@internal()
def weigh(state):
    """p, and the step (2√(z/β) + u/β)/H_α(x)."""
    lead(state)
    matched, beta, side = matched_of(state), rate_of(state), smaller_side(state)
    rest = 1.0 - matched.order
    root = math.sqrt(4.0 * matched.spread * side ** (1.0 + rest) / (rest * beta))
    bias = 8.0 * matched.spread * side**rest / (rest * beta)
    matched.step = (2.0 * root + bias) / entropy(state)
    explore(state, root + bias)


class spb_ftrl(Rule):
    """p = (1 − γ_t)x + γ_t·x*/δ*, x = argmin ⟨x, L⟩ − β_tH_α(x) − β̄H_{1−α}(x); any number of rounds.

        β_{t+1} = β_t + (2√(z_t/β_t) + u_t/β_t)/H_α(x),  γ_t = √(z_t/β_t) + u_t/β_t
        z_t = 4δ*/(1 − α)·min(max x, 1 − max x)^{2−α},  u_t = 8δ*/(1 − α)·min(max x, 1 − max x)^{1−α}

        H_α(x) = Σ(x^α − x)/α,  α = 1 − 1/log N

    Stability-penalty-bias matching (Tsuchiya & Ito 2024) for weakly observable graphs; δ* = Σx*, x* dominates all.
    Its authors promise O((δ* log N)^{1/3}T^{2/3}) regret, and O(δ* log N·log T/Δ²) on stochastic losses. Beyond its
    abstract the paper was not read, and nothing is claimed of a policy. Constants as read here: 4 and 8 in z and u,
    β₁ = 64δ*/(1 − α), which keeps γ ≤ 3/8, and β̄ = 32√(Nδ*)/((1 − α)²√β₁).

    >>> import sidelight as sl
    >>> sl.baselines.spb_ftrl(sl.families.cycle(5)).policy(seed=1).probabilities.round(9).tolist()
    [0.2, 0.2, 0.2, 0.2, 0.2]
    """

    name = "spb_ftrl"
    kernels = rule_kernels(name, draw, note, weigh=weigh)
    needs_loops = False
    example = "cycle:4"

    def __post_init__(self) -> None:
        super().__post_init__()
        if observability(need_observable(self.graph, self.name)).graph == "strong":
            raise InfeasibleRequest(
                f"{self.name} needs a weakly observable graph, but every arm here is strongly observable; "
                "use exp3gpp, or spm_ftrl where edges go both ways"
            )

    @cached_property
    def own(self) -> Floats:
        """With δ* for the spread."""
        n, (u, delta) = self.graph.n_arms, dominating(self.graph)
        rest = 1.0 / math.log(n)
        first = 64.0 * delta / rest
        beside = 32.0 * math.sqrt(n * delta / first) / rest**2
        return np.array([*u, 1.0 - rest, first, beside, delta, 0.0])
