"""Ready-made environments: `sidelight.environments.bernoulli(means)` and friends; docs/environments.md."""

from typing import TYPE_CHECKING

from sidelight.environment import *

if not TYPE_CHECKING:
    from sidelight.environment import __all__ as __all__
