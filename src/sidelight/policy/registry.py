"""Players by name, as commands and spec files write them."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from sidelight.errors import InvalidOption
from sidelight.graph import FeedbackGraph
from sidelight.planning import Plan, plan
from sidelight.planning.planner import REALIZATIONS

Make = Callable[[FeedbackGraph, int], Plan]


def _planned(realization: str) -> Make:
    return lambda graph, horizon: plan(graph, horizon, realization=realization)


_MAKERS: dict[str, Make] = {name: _planned(name) for name in ("auto", *REALIZATIONS)}


def names() -> tuple[str, ...]:
    """Every name that `make` knows."""
    return tuple(_MAKERS)


def make(name: str, graph: FeedbackGraph, horizon: int) -> Plan:
    """The plan of this name for `graph` and `horizon`, ready to be simulated.

    >>> import sidelight as sl
    >>> make("flat", sl.families.cycle(6), 1000).realization
    'flat'
    """
    key = name.strip().lower().replace("-", "_")
    if key not in _MAKERS:
        close = difflib.get_close_matches(key, _MAKERS, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise InvalidOption(f"unknown policy {name!r}; {hint}Known policies: {', '.join(_MAKERS)}")
    return _MAKERS[key](graph, horizon)
