"""Players by name, as commands and spec files write them."""

from __future__ import annotations

from collections.abc import Callable

from sidelight._check import suggestion
from sidelight.errors import InvalidOption
from sidelight.graph import FeedbackGraph
from sidelight.planning import baselines
from sidelight.planning.planner import REALIZATIONS, plan
from sidelight.policy.player import Playable
from sidelight.policy.rules import RULES

Make = Callable[[FeedbackGraph, int], Playable]


def _planned(realization: str) -> Make:
    return lambda graph, horizon: plan(graph, horizon, realization=realization)


_MAKERS: dict[str, Make] = {
    **{name: _planned(name) for name in ("auto", *REALIZATIONS)},
    "anytime": lambda graph, horizon: plan(graph, None),
    "doubling": lambda graph, horizon: plan(graph, None, realization="doubling"),
    **{name: getattr(baselines, name) for name in baselines.__all__},
    **{rule.name: rule for rule in RULES},
}


def names() -> tuple[str, ...]:
    """Every name that `make` knows."""
    return tuple(_MAKERS)


def make(name: str, graph: FeedbackGraph, horizon: int) -> Playable:
    """The plan or rule of this name for `graph` and `horizon`, ready to be simulated.

    "anytime" and "doubling" know no horizon: simulating them needs `horizon=`. A baseline that does not apply to
    the graph says why.

    >>> import sidelight as sl
    >>> make("flat", sl.families.cycle(6), 1000).realization
    'flat'
    """
    key = name.strip().lower().replace("-", "_")
    if key not in _MAKERS:
        raise InvalidOption(f"unknown policy {name!r}; {suggestion(key, _MAKERS, 'policies')}")
    return _MAKERS[key](graph, horizon)
