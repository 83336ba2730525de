"""Policies: plans being played."""

from sidelight.planning import register_policy
from sidelight.policy.policy import Policy

register_policy(Policy)

__all__ = ["Policy"]
