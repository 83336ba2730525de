"""Known algorithms to compare with: `sidelight.baselines.exp3(graph, horizon)` and friends; see docs/baselines.md."""

from sidelight.policy.rules import *  # noqa: F403
from sidelight.policy.rules import __all__ as __all__
