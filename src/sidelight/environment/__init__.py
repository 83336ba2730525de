"""Environments: where losses come from. What a file lists in its `__all__` is in `sl.environments`."""

from sidelight.environment import changing as _changing
from sidelight.environment import data as _data
from sidelight.environment import function as _function
from sidelight.environment import hard as _hard
from sidelight.environment import markets as _markets
from sidelight.environment import means as _means
from sidelight.environment import tables as _tables
from sidelight.environment.base import Environment as Environment
from sidelight.environment.changing import *
from sidelight.environment.changing import Changing as Changing
from sidelight.environment.data import *
from sidelight.environment.data import Dataset as Dataset
from sidelight.environment.function import *
from sidelight.environment.function import Function as Function
from sidelight.environment.hard import *
from sidelight.environment.markets import *
from sidelight.environment.means import *
from sidelight.environment.means import Bounded as Bounded
from sidelight.environment.means import Coins as Coins
from sidelight.environment.means import Drifting as Drifting
from sidelight.environment.means import KnownMeans as KnownMeans
from sidelight.environment.means import Opposed as Opposed
from sidelight.environment.names import parse as parse
from sidelight.environment.names import usages as usages
from sidelight.environment.tables import *
from sidelight.environment.tables import Matrix as Matrix

__all__: list[str] = []
__all__ += _changing.__all__
__all__ += _data.__all__
__all__ += _function.__all__
__all__ += _hard.__all__
__all__ += _markets.__all__
__all__ += _means.__all__
__all__ += _tables.__all__
