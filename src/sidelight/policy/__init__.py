"""Policies: plans being played, and baselines."""

from sidelight.policy.certificate import Certificate
from sidelight.policy.plan_policy import Policy
from sidelight.policy.rule_policy import Rule, RulePolicy

__all__ = ["Certificate", "Policy", "Rule", "RulePolicy"]
