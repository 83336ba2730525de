"""TS-N: Thompson sampling, updated by every observation."""

from __future__ import annotations

from sidelight.graph import FeedbackGraph
from sidelight.policy.rule_policy import Rule
from sidelight.policy.rules._common import need_loops


def ts_n(g: FeedbackGraph, horizon: int | None = None) -> Rule:
    """Draws a mean for every arm from its posterior Beta(1 + Σℓ, 1 + Σ(1−ℓ)) and plays the least.

    For stochastic losses (Tossou, Dimitrakakis & Dubhashi 2017; Lykouris, Tardos & Wali 2020). Losses between 0 and
    1 count as that much of a loss. No bound is claimed, and none exists against an adversary. Every arm must
    reveal itself.

    >>> import sidelight as sl
    >>> sl.baselines.ts_n(sl.families.mab(4)).policy(seed=1).probabilities.round(9).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    return Rule(need_loops(g, "ts_n"), "ts_n", horizon)
