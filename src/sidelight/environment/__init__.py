"""Environments: where losses come from. A line here is all that a new file needs to be known everywhere."""

from typing import TYPE_CHECKING

from sidelight.environment.base import *
from sidelight.environment.bounded import *
from sidelight.environment.changing import *
from sidelight.environment.coins import *
from sidelight.environment.datasets import *
from sidelight.environment.drifting import *
from sidelight.environment.function import *
from sidelight.environment.hard import *
from sidelight.environment.markets import *
from sidelight.environment.means import *
from sidelight.environment.names import *
from sidelight.environment.newsvendor import *
from sidelight.environment.opposed import *
from sidelight.environment.replay import *

if not TYPE_CHECKING:  # type checkers see the names above, but cannot run this
    __all__ = sorted(
        name
        for name, value in globals().items()
        if getattr(value, "__module__", "").startswith(f"{__name__}.")
    )
