"""The search for a better partition."""

from sidelight.planning.search.local_search import Search, search, searched

__all__ = ["Search", "search", "searched"]
