"""q-FTRL: Tsallis entropy between EXP3's and Tsallis-INF's, chosen by the independence number."""

from __future__ import annotations

from math import e, log, sqrt

import numpy as np

from sidelight._check import checked_horizon
from sidelight.errors import InfeasibleRequest
from sidelight.graph import FeedbackGraph
from sidelight.planning import Plan
from sidelight.planning.cliques import clique_cover
from sidelight.planning.minimised.strong import q_of_ftrl
from sidelight.policy.rules._common import always, need_loops, singletons_plan


def q_ftrl(g: FeedbackGraph, horizon: int) -> Plan:
    """FTRL with ψ(x) = (1 − Σx^q)/(1−q) and η = √(2qN^{1−q}/(T(1−q)α^q)); undirected graphs with self-loops.

        q = ½(1 + L/(√(L² + 4) + 2)),  L = log(N/α)
        R ≤ 2√(eαT(2 + log(N/α)))                   Eldowa, Esposito, Cesari & Cesa-Bianchi 2023, Theorem 1

    α is replaced by the certified upper bound of a clique cover: the bound grows with α, so it stays true.

    >>> import sidelight as sl
    >>> sl.baselines.q_ftrl(sl.families.mab(5), 1000).parameters["q"]
    0.5
    """
    g, T = need_loops(g, "q_ftrl"), checked_horizon(horizon)
    n, seen = g.n_arms, clique_cover(g)
    if not seen.symmetric:
        raise InfeasibleRequest(
            "q_ftrl needs an undirected graph: some arm reveals another that does not reveal it; "
            "use exp3_ix or exp3g, or make it undirected with graph.symmetrized() if that is meant"
        )
    alpha = seen.value
    q = q_of_ftrl(n / alpha)
    eta = sqrt(2 * q * n ** (1 - q) / (T * (1 - q) * alpha**q))
    # x = ((1−q)/q·η·(L + Λ))^{−1/(1−q)}: the derivative of ψ is −q/(1−q)·x^{q−1}
    potential = (1 / (1 - q), (1 - q) / q * eta)
    bound = always(
        T,
        f"q-FTRL: 2√(eαT(2 + log(N/α))), α ≤ {alpha}",
        lambda t: {"regret": 2 * sqrt(e * alpha * t * (2 + log(n / alpha))) if n > 1 else 0.0},
    )
    parameters = {"q": q, "eta": eta, "alpha_upper": float(alpha)}
    return singletons_plan(g, T, "q_ftrl", potential, np.zeros(n), parameters, bound)
