"""Exp3.G for any observable graph."""

from __future__ import annotations

from sidelight.analysis import observability
from sidelight.graph import FeedbackGraph
from sidelight.planning import Plan
from sidelight.policy.rules._common import need_observable
from sidelight.policy.rules.exp3g_strong import exp3g_strong
from sidelight.policy.rules.exp3g_weak import exp3g_weak


def exp3g(g: FeedbackGraph, horizon: int) -> Plan:
    """`exp3g_strong` on strongly observable graphs, `exp3g_weak` on the others.

    >>> import sidelight as sl
    >>> sl.baselines.exp3g(sl.families.cycle(6), 1000).realization
    'exp3g_weak'
    """
    g = need_observable(g, "exp3g")
    return exp3g_strong(g, horizon) if observability(g).graph == "strong" else exp3g_weak(g, horizon)
