"""Follow the leader on observations: greed, for comparison."""

from __future__ import annotations

from sidelight.graph import FeedbackGraph
from sidelight.policy.rule_policy import Rule
from sidelight.policy.rules._common import checked_graph


def ftl(g: FeedbackGraph, horizon: int | None = None) -> Rule:
    """Plays the arm of least mean observed loss; an arm never seen counts as loss 0, ties go to the lowest arm.

    On any graph. It never explores on purpose: regret is linear in the worst case, and an arm that does not reveal
    itself may be played for ever on no evidence. No bound is claimed.

    >>> import sidelight as sl
    >>> policy = sl.baselines.ftl(sl.families.mab(2)).policy()
    >>> policy.ask()
    0
    >>> policy.tell([1.0])
    >>> policy.ask()
    1
    """
    return Rule(checked_graph(g, "ftl"), "ftl", horizon)
