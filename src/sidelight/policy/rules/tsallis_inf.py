"""Tsallis-INF: one rule for adversarial and stochastic bandits, without a horizon."""

from __future__ import annotations

from math import sqrt

from sidelight.graph import FeedbackGraph
from sidelight.policy.rule_policy import Rule
from sidelight.policy.rules._common import always, need_loops


def tsallis_inf(g: FeedbackGraph, horizon: int | None = None) -> Rule:
    """x_i = 4(η_t(L_i − λ))^{−2} with η_t = 2/√t in every round t, exactly; every arm must reveal itself.

        R_t ≤ 4√(Nt) + 1 for every t, O(Σ log t/Δ_i) on stochastic bandits      Zimmert & Seldin 2021, Theorem 1

    L are sums of ℓ/P of all that is seen, P the probability of being seen. On a bandit this is Tsallis-INF with
    importance weighting; where more is seen the first bound stays true, since Σ x^{3/2}/P ≤ Σ √x.

    >>> import sidelight as sl
    >>> sl.baselines.tsallis_inf(sl.families.mab(4)).bound_at(10_000).value
    801.0
    """
    n = need_loops(g, "tsallis_inf").n_arms

    def terms(t: float) -> dict[str, float]:
        return {"4√(Nt)": 4 * sqrt(n * t), "start": 1.0}

    return Rule(g, "tsallis_inf", horizon, lambda T: always(T, "Tsallis-INF: 4√(NT) + 1", terms))
