"""UCB-N: optimism about every arm, updated by every observation."""

from __future__ import annotations

from sidelight.graph import FeedbackGraph
from sidelight.policy.rule_policy import Rule
from sidelight.policy.rules._common import need_loops


def ucb_n(g: FeedbackGraph, horizon: int | None = None) -> Rule:
    """Plays the arm of least mean − √(2 log t/O_i), O_i its observations; arms never seen come first.

    For stochastic losses: regret O(log T) with a constant that depends on the gaps and on a clique cover
    (Caron, Kveton, Lelarge & Bhagat 2012). No bound is claimed, and none exists against an adversary. Every arm
    must reveal itself. Ties go to the lowest arm; the policy draws nothing at random.

    >>> import sidelight as sl
    >>> sl.baselines.ucb_n(sl.families.mab(3)).policy(seed=1).ask()
    0
    """
    return Rule(need_loops(g, "ucb_n"), "ucb_n", horizon)
