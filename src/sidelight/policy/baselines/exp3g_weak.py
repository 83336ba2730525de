"""Exp3.G for weakly observable graphs: exponential weights, exploring on a set that reveals the weak arms."""

from __future__ import annotations

from math import cbrt, log

import numpy as np

from sidelight.analysis import observability
from sidelight.errors import InfeasibleRequest
from sidelight.graph import FeedbackGraph
from sidelight.planning import Plan
from sidelight.planning.bound import Condition, bound_at
from sidelight.planning.planner import checked_horizon
from sidelight.planning.watched import dominating_set, revealed_by
from sidelight.policy.baselines.common import entropy_plan, need_observable


def exp3g_weak(g: FeedbackGraph, horizon: int) -> Plan:
    """Exponential weights with γ = min((δ log N/T)^{1/3}, ½) spread evenly over D, |D| = δ, and η = γ²/δ.

        R = O((δ log N)^{1/3}T^{2/3})                   Alon, Cesa-Bianchi, Dekel & Koren 2015, Theorem 2
        R ≤ 5/2·(δ log N)^{1/3}T^{2/3} + (n'/δ)·(δ log N)^{2/3}T^{1/3}       for γ < ½

    D, found greedily, reveals every arm without self-loop: the weak arms, and strong loop-less arms, which any two
    arms reveal. With γ ≤ ½, an arm that D reveals is seen with probability ≥ γ/δ, and each of the n' others, which
    have self-loops, contributes x/P ≤ 2. So log N/η + (η/2)(δ/γ + 2n')T + γT, which is the second line.

    >>> import sidelight as sl
    >>> plan = sl.baselines.exp3g_weak(sl.families.revealing_action(5), 10_000)
    >>> plan.parameters["delta"], plan.bound.certified
    (1.0, True)
    """
    g, T = need_observable(g, "exp3g_weak"), checked_horizon(horizon)
    if observability(g).weak.size == 0:
        raise InfeasibleRequest(
            "exp3g_weak needs a weakly observable graph, but every arm here is strongly observable; "
            "use exp3g_strong, or exp3g for either"
        )
    n = g.n_arms
    chosen = dominating_set(g, ~g.has_loop)
    delta = float(chosen.size)
    unseen = int((~revealed_by(g, chosen)).sum())

    def gamma_at(t: float) -> float:
        return cbrt(delta * log(n) / t)

    def terms(t: float) -> dict[str, float]:
        gamma = gamma_at(t)
        parts = {"diameter": gamma * t, "stability": gamma * t / 2, "exploration": gamma * t}
        return parts | ({"self-loop arms": gamma * gamma * unseen * t / delta} if unseen else {})

    def conditions(t: float) -> tuple[Condition, ...]:
        return (Condition("γ = (δ log N/T)^{1/3} ≤ 1/2", gamma_at(t), 0.5),)

    theorem = f"Exp3.G on a weakly observable graph, constants derived for a set of {chosen.size}"
    bound = bound_at(T, theorem, terms, conditions)
    gamma = min(gamma_at(float(T)), 0.5)
    eta = gamma * gamma / delta
    exploration = np.zeros(n)
    exploration[chosen] = gamma / delta
    parameters = {"gamma": gamma, "eta": eta, "delta": delta}
    return entropy_plan(g, T, "exp3g_weak", eta, exploration, parameters, bound)
