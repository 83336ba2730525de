"""Ready-made legal partitions: `sidelight.partitions.single(g)` and friends, and the search for a better one."""

from typing import TYPE_CHECKING, Any

from sidelight.partition.natural import (
    communities,
    components,
    corrupted,
    hypercube,
    single,
    singletons,
    strongly_connected,
)

if TYPE_CHECKING:
    from sidelight.planning.search.local_search import Search, search, searched

__all__ = [
    "Search",
    "communities",
    "components",
    "corrupted",
    "hypercube",
    "search",
    "searched",
    "single",
    "singletons",
    "strongly_connected",
]


def __getattr__(name: str) -> Any:
    if name not in ("Search", "search", "searched"):
        raise AttributeError(f"module 'sidelight.partitions' has no attribute {name!r}")
    from sidelight.planning.search.local_search import (
        search as home,  # the search needs bounds, which partitions do without
    )

    value = getattr(home, name)
    globals()[name] = value
    return value
