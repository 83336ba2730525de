"""Ready-made environments: `sidelight.environments.bernoulli(means)` and friends."""

from sidelight.environment.bernoulli import Bernoulli, bernoulli

__all__ = ["Bernoulli", "bernoulli"]
