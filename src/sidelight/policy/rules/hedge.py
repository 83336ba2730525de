"""Hedge: exponential weights where every play reveals all arms."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from sidelight._check import checked_horizon
from sidelight.errors import InfeasibleRequest
from sidelight.graph import FeedbackGraph
from sidelight.planning import Plan
from sidelight.policy.rules._common import always, checked_graph, singletons_plan


def hedge(g: FeedbackGraph, horizon: int) -> Plan:
    """Exponential weights with η = √(8 log N/T); full feedback only.

        R ≤ √(T log N/2)                                    Freund & Schapire 1997; Cesa-Bianchi & Lugosi 2006

    >>> import sidelight as sl
    >>> round(sl.baselines.hedge(sl.families.full(8), 1000).bound.value, 2)
    32.24
    """
    g, T = checked_graph(g, "hedge"), checked_horizon(horizon)
    n = g.n_arms
    lacking = int((g.out_degree < n).sum())
    if lacking:
        raise InfeasibleRequest(
            f"hedge needs full feedback, but {lacking} of {n} arms do not reveal all arms; "
            "use exp3 (self-loops), chlz21 or sl.plan"
        )
    eta = sqrt(8 * log(n) / T)
    bound = always(T, "Hedge: √(T log N/2)", lambda t: {"exponential weights": sqrt(t * log(n) / 2)})
    return singletons_plan(g, T, "hedge", (0.0, eta), np.zeros(n), {"eta": eta}, bound)
