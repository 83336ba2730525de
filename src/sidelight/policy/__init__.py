"""Policies: plans being played, and baselines."""

from sidelight.planning import register_policy
from sidelight.policy.certificate import Certificate
from sidelight.policy.policy import Policy
from sidelight.policy.rule import Rule, RulePolicy

register_policy(Policy)

__all__ = ["Certificate", "Policy", "Rule", "RulePolicy"]
