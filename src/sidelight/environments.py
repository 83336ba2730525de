"""Ready-made environments: `sidelight.environments.bernoulli(means)` and friends; docs/environments.md."""

from typing import Any

import sidelight.environment as _environment
from sidelight.environment import *

__all__: list[str] = []
__all__ += _environment.__all__


def __getattr__(name: str) -> Any:
    """The classes that are made, and `parse`: for programs that know them."""
    return getattr(_environment, name)


def __dir__() -> list[str]:
    """What makes an environment."""
    return __all__
