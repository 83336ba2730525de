"""Ready-made environments: `sidelight.environments.bernoulli(means)` and friends; docs/environments.md."""

import sidelight.environment as _environment
from sidelight.environment import *

__all__: list[str] = []
__all__ += _environment.__all__


def __dir__() -> list[str]:
    """What makes an environment; the classes that it is made of are for programs that know them."""
    return [name for name in __all__ if name.islower() and name not in ("dataset_names", "usages")]
