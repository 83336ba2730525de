"""Exp3.G for weakly observable graphs: exponential weights, exploring on a set that reveals the weak arms."""

from __future__ import annotations

import numpy as np

from sidelight._check import checked_horizon
from sidelight.analysis import observability
from sidelight.errors import InfeasibleRequest
from sidelight.graph import FeedbackGraph
from sidelight.partition import natural
from sidelight.planning import Plan
from sidelight.planning.bounds.bound import Condition, bound_at
from sidelight.planning.minimised.dominating_set import WatchedCandidate
from sidelight.policy.rules._common import entropy_plan, need_observable


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
    way = WatchedCandidate(natural.single(g))
    chosen, problem = way.watchers, way.problem

    def conditions(t: float) -> tuple[Condition, ...]:
        return (Condition("γ = (δ log N/T)^{1/3} ≤ 1/2", problem.exp3g_gamma(t), 0.5),)

    theorem = f"Exp3.G on a weakly observable graph, constants derived for a set of {chosen.size}"
    bound = bound_at(T, theorem, problem.exp3g_terms, conditions)
    levers = problem.exp3g(float(T))
    exploration = np.zeros(g.n_arms)
    exploration[chosen] = levers.gamma / problem.size
    parameters = {"gamma": levers.gamma, "eta": levers.eta, "delta": float(problem.size)}
    return entropy_plan(g, T, "exp3g_weak", levers.eta, exploration, parameters, bound)
