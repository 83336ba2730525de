"""Ready-made legal partitions: `sidelight.partitions.single(g)` and friends, and the search for a better one."""

import sidelight.partition.natural as _natural
from sidelight.partition.natural import *
from sidelight.planning.search import Search as Search
from sidelight.planning.search import search as search
from sidelight.planning.search import searched as searched

__all__: list[str] = []
__all__ += _natural.__all__
__all__ += ["search", "searched"]


def __dir__() -> list[str]:
    return sorted(__all__)
