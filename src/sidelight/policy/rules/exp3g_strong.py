"""Exp3.G for strongly observable graphs: exponential weights with uniform exploration."""

from __future__ import annotations

from math import log

import numpy as np

from sidelight._check import checked_horizon
from sidelight.analysis import observability
from sidelight.errors import InfeasibleRequest, listing
from sidelight.graph import FeedbackGraph
from sidelight.partition import natural
from sidelight.planning import Plan
from sidelight.planning.cliques import growth
from sidelight.planning.minimised.strong import StrongCandidate
from sidelight.policy.rules._common import always, need_observable, singletons_plan


def exp3g_strong(g: FeedbackGraph, horizon: int) -> Plan:
    """Exponential weights with γ = min(√(1/(αT)), ½) spread evenly over all arms, η = 2γ.

        R = O(√(αT)·log(NT))                            Alon, Cesa-Bianchi, Dekel & Koren 2015, Theorem 2
        R ≤ log N/η + ½ηρφ(η/p)·4α log(4N²/(αγ))·T + γT       constants derived with their Lemma 5

    α is the independence number, or the certified upper bound on it where it is not known.

    >>> import sidelight as sl
    >>> sl.baselines.exp3g_strong(sl.families.mab(4), 10_000).parameters["gamma"]
    0.005
    """
    g, T = need_observable(g, "exp3g_strong"), checked_horizon(horizon)
    n, weak = g.n_arms, observability(g).weak.tolist()
    if weak:
        raise InfeasibleRequest(
            f"exp3g_strong needs a strongly observable graph, but {listing(weak)} are weakly observable; "
            "use exp3g_weak, or exp3g for either"
        )
    if n == 1:
        bound = always(T, "one arm", lambda t: {"one arm": 0.0})
        return singletons_plan(g, T, "exp3g_strong", (0.0, 1.0), np.zeros(1), {}, bound)
    problem = StrongCandidate(natural.singletons(g)).problem
    alpha = max(problem.alpha or problem.cliques, 1)

    def terms(t: float) -> dict[str, float]:
        gamma = problem.exp3g(t).gamma
        Q = 4 * alpha * log(4 * n * n / (alpha * gamma)) if problem.n_loop else 0.0
        shift = growth(2 / (1 - 1 / n)) if problem.n_loopless else 1.0
        squares = Q + (1.0 if problem.n_loopless else 0.0)
        return {
            "diameter": log(n) / (2 * gamma),
            "stability": gamma / (1 - gamma) * shift * squares * t,
            "exploration": gamma * t,
        }

    levers = problem.exp3g(float(T))
    parameters = {"gamma": levers.gamma, "eta": levers.eta, "alpha_upper": float(alpha)}
    theorem = "Exp3.G on a strongly observable graph, constants derived with Lemma 5 of Alon et al. 2015"
    bound = always(T, theorem, terms)
    exploration = np.full(n, levers.gamma / n)
    return singletons_plan(g, T, "exp3g_strong", (0.0, levers.eta), exploration, parameters, bound)
