"""Tsallis-INF: one rule for adversarial and stochastic bandits, without a horizon."""

from __future__ import annotations

import math

from sidelight.engine._numba.jit import inlined, internal
from sidelight.engine.rules import draw, least_sum, normalise, note_seen, numbers_of, rule_kernels
from sidelight.planning.baselines.rules import tsallis_inf_bound
from sidelight.policy.rule import Rule

MOST_STEPS = 100
"""Newton steps; about five are used."""


@internal()
def weigh(state):
    """x at η_t = 2/√t."""
    weigh_at(state, 2.0 / math.sqrt(numbers_of(state).round + 1.0))


@inlined()
def weigh_at(state, rate):
    """x = 4/(rate·(L − λ))², by way of its square root."""
    least = least_sum(state)
    z = multiplier(state.sums, least, rate)
    for i in range(state.sums.size):
        root = 2.0 / (rate * (state.sums[i] - least + z))
        state.probabilities[i] = root * root
    normalise(state)


@internal()
def multiplier(sums, least, rate):
    """z with Σ 4/(rate·(sums − least + z))² = 1.

    (Σ …)^{−1/2} is concave and increasing in z (Minkowski, reversed) and at most 1 at z = 2/rate: Newton's method
    rises from there to the root and cannot pass it.
    """
    z = 2.0 / rate
    for _ in range(MOST_STEPS):
        squares, cubes = 0.0, 0.0
        for i in range(sums.size):
            inverse = 2.0 / (rate * (sums[i] - least + z))
            squares += inverse * inverse
            cubes += inverse * inverse * inverse
        root = math.sqrt(squares)
        move = (root - 1.0) * squares / (0.5 * rate * cubes)
        z += move
        if not move > 1e-15 * z:
            break
    return z


class tsallis_inf(Rule):
    """x_i = 4(η_t(L_i − λ))^{−2} with η_t = 2/√t in every round t, exactly; every arm must reveal itself.

        R_t ≤ 4√(Nt) + 1 for every t, O(Σ log t/Δ_i) on stochastic bandits      Zimmert & Seldin 2021, Theorem 1

    L are sums of ℓ/P of all that is seen, P the probability of being seen. On a bandit this is Tsallis-INF with
    importance weighting; where more is seen the first bound stays true, since Σ x^{3/2}/P ≤ Σ √x.

    >>> import sidelight as sl
    >>> sl.baselines.tsallis_inf(sl.families.mab(4)).bound_at(10_000).value
    801.0
    """

    name = "tsallis_inf"
    kernels = rule_kernels(name, draw, note_seen, weigh=weigh)
    theorem = "Tsallis-INF: 4√(NT) + 1"

    def terms(self, t: float) -> dict[str, float]:
        """Of the first bound."""
        return {"4√(Nt) + 1": tsallis_inf_bound(self.graph.n_arms, t)}
