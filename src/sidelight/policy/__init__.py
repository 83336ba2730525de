"""Policies: plans and rules being played."""

from sidelight.policy.certificate import Certificate
from sidelight.policy.decision import Decision
from sidelight.policy.plan_policy import PlanPolicy
from sidelight.policy.player import Playable, Player
from sidelight.policy.policy import Policy
from sidelight.policy.rule import Rule
from sidelight.policy.rule_policy import RulePolicy

__all__ = [
    "Certificate",
    "Decision",
    "PlanPolicy",
    "Playable",
    "Player",
    "Policy",
    "Rule",
    "RulePolicy",
]
