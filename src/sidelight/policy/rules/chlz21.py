"""CHLZ21: exponential weights, exploring by the fractional domination of the graph."""

from __future__ import annotations

from math import cbrt, log, sqrt

import numpy as np

from sidelight._check import checked_horizon
from sidelight.analysis import fractional_domination
from sidelight.graph import FeedbackGraph
from sidelight.planning import Plan
from sidelight.planning.bounds.bound import Condition, bound_at
from sidelight.planning.tuning import MOST_EXPLORATION
from sidelight.policy.rules._common import entropy_plan, need_observable


def chlz21(g: FeedbackGraph, horizon: int) -> Plan:
    """Exponential weights with γ(j) = b·x*_j, b = (log N/(2Tδ*²))^{1/3}, η = √(2b log N/T); any observable graph.

        R ≤ 3·2^{−1/3}·(δ* log N)^{1/3}·T^{2/3}  for T ≥ 4δ* log N          Chen, Huang, Li & Zhang 2021

    x* is a fractional cover of all arms of mass δ*: every arm is seen with probability ≥ b, so
    R ≤ log N/η + ηT/(2b) + bδ*T, minimised. At shorter horizons exploration is scaled down to ½ and the plan is
    not certified.

    >>> import sidelight as sl
    >>> round(sl.baselines.chlz21(sl.families.cycle(6), 10_000).bound.value)
    1936
    """
    g, T = need_observable(g, "chlz21"), checked_horizon(horizon)
    n, cover = g.n_arms, fractional_domination(g)
    delta = float(cover.value)

    def gamma_at(t: float) -> float:
        return cbrt(delta * log(n) / (2 * t))

    def terms(t: float) -> dict[str, float]:
        return {"weights": 2 * gamma_at(t) * t, "exploration": gamma_at(t) * t}

    def conditions(t: float) -> tuple[Condition, ...]:
        return (Condition("γ̄ = (δ* log N/(2T))^{1/3} ≤ 1/2", gamma_at(t), MOST_EXPLORATION),)

    bound = bound_at(T, "CHLZ21: 3·2^{−1/3}(δ* log N)^{1/3}T^{2/3}", terms, conditions)
    gamma = gamma_at(float(T))
    b = gamma / delta
    eta = sqrt(2 * b * log(n) / T)
    exploration = np.zeros(n)
    exploration[cover.arms] = min(gamma, MOST_EXPLORATION) / delta * cover.weights
    parameters = {"b": b, "eta": eta, "delta": delta, "gamma_bar": float(exploration.sum())}
    return entropy_plan(g, T, "chlz21", eta, exploration, parameters, bound)
