"""Known algorithms to compare with: `sidelight.baselines.exp3(graph, horizon)` and friends; see docs/baselines.md."""

import sidelight.planning.baselines as _plans
import sidelight.policy.rules as _rules
from sidelight.planning.baselines import *
from sidelight.policy.rules import *

__all__: list[str] = []
__all__ += _plans.__all__
__all__ += _rules.__all__


def __dir__() -> list[str]:
    return sorted(__all__)
