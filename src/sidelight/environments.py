"""Ready-made environments: `sidelight.environments.bernoulli(means)` and friends; docs/environments.md."""

from sidelight.environment import *
