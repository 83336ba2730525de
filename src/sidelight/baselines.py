"""Known algorithms to compare with: `sidelight.baselines.exp3(graph, horizon)` and friends; see docs/baselines.md."""

from typing import TYPE_CHECKING

from sidelight.planning.baselines import *
from sidelight.policy.rules import *

if not TYPE_CHECKING:
    from sidelight.planning.baselines import __all__ as _plans
    from sidelight.policy.rules import __all__ as _rules

    __all__ = sorted([*_plans, *_rules])
