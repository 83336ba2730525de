"""EXP3: exponential weights on importance-weighted losses, tuned for a bandit."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from sidelight._check import checked_horizon
from sidelight.graph import FeedbackGraph
from sidelight.planning import Plan
from sidelight.policy.rules._common import always, need_loops, singletons_plan


def exp3(g: FeedbackGraph, horizon: int) -> Plan:
    """Exponential weights with η = √(2 log N/(NT)), no exploration; every arm must reveal itself.

        R ≤ √(2NT log N)        Auer, Cesa-Bianchi, Freund & Schapire 2002; Bubeck & Cesa-Bianchi 2012

    On a bandit this is EXP3. Where a play reveals more, estimates are ℓ/P of all that is seen, P the probability of
    being seen: the rate stays that of a bandit, and so does the bound, since Σ x/P ≤ N.

    >>> import sidelight as sl
    >>> round(sl.baselines.exp3(sl.families.mab(5), 1000).bound.value, 2)
    126.86
    """
    g, T = need_loops(g, "exp3"), checked_horizon(horizon)
    n = g.n_arms
    eta = sqrt(2 * log(n) / (n * T))
    bound = always(T, "EXP3: √(2NT log N)", lambda t: {"exponential weights": sqrt(2 * n * t * log(n))})
    return singletons_plan(g, T, "exp3", (0.0, eta), np.zeros(n), {"eta": eta}, bound)
