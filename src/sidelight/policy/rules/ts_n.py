"""TS-N: Thompson sampling, updated by every observation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sidelight._types import Floats, Ints
from sidelight.engine._numba.jit import inlined, internal
from sidelight.engine.random import next_unit
from sidelight.engine.rules import note_certain, rule_kernels
from sidelight.policy.rule import Rule
from sidelight.policy.rules._posterior import least_probabilities

if TYPE_CHECKING:
    from sidelight.engine.rules import RuleState


@internal()
def choose(state):
    """The arm of least sample, one from each posterior Beta(1 + losses, 1 + observations − losses)."""
    best, least = 0, math.inf
    for i in range(state.counts.size):
        loss = gamma(state.words, 1.0 + state.sums[i])
        gain = gamma(state.words, 1.0 + (state.counts[i] - state.sums[i]))
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


class ts_n(Rule):
    """Draws a mean for every arm from its posterior Beta(1 + Σℓ, 1 + Σ(1−ℓ)) and plays the least.

    For stochastic losses (Tossou, Dimitrakakis & Dubhashi 2017; Lykouris, Tardos & Wali 2020). Losses between 0 and
    1 count as that much of a loss. No bound is claimed, and none exists against an adversary. Every arm must
    reveal itself.

    >>> import sidelight as sl
    >>> sl.baselines.ts_n(sl.families.mab(4)).policy(seed=1).probabilities.round(9).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    name = "ts_n"
    kernels = rule_kernels(name, choose, note_certain)

    def probabilities(self, state: RuleState) -> Floats:
        """Integrals over the posteriors, by quadrature to about 1e−10."""
        return least_probabilities(1.0 + state.sums, 1.0 + (state.counts - state.sums))

    def drawn(self, state: RuleState, arm: int, reveals: Ints, kept: Floats) -> tuple[float, Floats]:
        """From the integrals: a decision takes milliseconds, which `ask` and `tell` do without."""
        shares = self.probabilities(state)
        seen = [shares[self.graph.in_neighbors(each)].sum() for each in reveals]
        return float(shares[arm]), np.array(seen)
