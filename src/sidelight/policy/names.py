"""Players by name, as commands and spec files write them."""

from __future__ import annotations

from collections.abc import Callable

from sidelight._check import suggestion
from sidelight._realizations import REALIZATIONS, SELF_TUNING
from sidelight.errors import InfeasibleRequest, InvalidOption
from sidelight.graph import FeedbackGraph
from sidelight.planning import baselines
from sidelight.planning.planner import plan
from sidelight.policy.player import Playable
from sidelight.policy.rules import RULES

Make = Callable[[FeedbackGraph, int], Playable]


def _planned(realization: str) -> Make:
    return lambda graph, horizon: plan(graph, horizon, realization=realization)


_MAKERS: dict[str, Make] = {
    **{name: _planned(name) for name in REALIZATIONS if name != SELF_TUNING},
    "self_tuning": lambda graph, horizon: plan(graph),
    **{name: getattr(baselines, name) for name in baselines.__all__},
    **{rule.name: rule for rule in RULES},
}


OWN = ("self_tuning", "auto")
BASELINES = ("exp3g", "chlz21", "hedge", "exp3_ix", "tsallis_inf", "ucb_n", "ts_n", "ftl")
"""What `compared` lists: the plans, and one algorithm of the literature for each kind of feedback."""
MOST_ARMS_OF_RULES = 1_000
"""On more arms rules, whose rounds visit them all, play only where they are asked for."""


def names() -> tuple[str, ...]:
    """Every name that `make` knows."""
    return tuple(_MAKERS)


def compared(graph: FeedbackGraph, horizon: int) -> tuple[str, ...]:
    """What a comparison shows unless told otherwise: plans of our own, then the baselines that apply to the graph.

    >>> import sidelight as sl
    >>> compared(sl.families.cycle(6), 1000)
    ('self_tuning', 'auto', 'exp3g', 'chlz21', 'ftl')
    """
    few = graph.n_arms <= MOST_ARMS_OF_RULES
    wanted = (name for name in BASELINES if few or name not in {rule.name for rule in RULES})
    return (*OWN, *(name for name in wanted if _applies(name, graph, horizon)))


def _applies(name: str, graph: FeedbackGraph, horizon: int) -> bool:
    try:
        make(name, graph, horizon)
    except InfeasibleRequest:
        return False
    return True


def make(name: str, graph: FeedbackGraph, horizon: int) -> Playable:
    """The plan or rule of this name for `graph` and `horizon`, ready to be simulated.

    "self_tuning" knows no horizon: simulating it needs `horizon=`. A baseline that does not apply to
    the graph says why.

    >>> import sidelight as sl
    >>> make("flat", sl.families.cycle(6), 1000).realization
    'flat'
    """
    key = name.strip().lower().replace("-", "_")
    if key not in _MAKERS:
        raise InvalidOption(f"unknown policy {name!r}; {suggestion(key, _MAKERS, 'policies')}")
    return _MAKERS[key](graph, horizon)
