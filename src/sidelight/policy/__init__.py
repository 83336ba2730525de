"""Policies: plans and rules being played."""

from sidelight.policy.certificate import Certificate
from sidelight.policy.decision import Decision
from sidelight.policy.player import Playable, Player
from sidelight.policy.policy import Policy
from sidelight.policy.rule import Rule

__all__ = [
    "Certificate",
    "Decision",
    "Playable",
    "Player",
    "Policy",
    "Rule",
]
