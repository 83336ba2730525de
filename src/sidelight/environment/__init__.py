"""Environments: where losses come from."""

from sidelight.environment.bernoulli import Bernoulli, bernoulli

__all__ = ["Bernoulli", "bernoulli"]
