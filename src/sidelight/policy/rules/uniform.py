"""Uniform play: no learning at all."""

from __future__ import annotations

from sidelight.graph import FeedbackGraph
from sidelight.policy.rule_policy import Rule
from sidelight.policy.rules._common import always, checked_graph


def uniform(g: FeedbackGraph, horizon: int | None = None) -> Rule:
    """Every arm with probability 1/N in every round, on any graph: R ≤ (1 − 1/N)·T, and no less in the worst case.

    >>> import sidelight as sl
    >>> sl.baselines.uniform(sl.families.cycle(4), 1000).bound.value
    750.0
    """
    n = checked_graph(g, "uniform").n_arms

    def terms(t: float) -> dict[str, float]:
        return {"no learning": (1 - 1 / n) * t}

    return Rule(g, "uniform", horizon, lambda T: always(T, "uniform play: (1 − 1/N)·T", terms))
