"""Known algorithms to compare with: `sidelight.baselines.exp3(graph, horizon)` and friends; see docs/baselines.md."""

from sidelight.policy.rules import *
from sidelight.policy.rules import __all__ as __all__
