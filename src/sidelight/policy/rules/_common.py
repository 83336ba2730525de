"""What baselines share: refusing graphs, and plans made of plain numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sidelight._types import Floats
from sidelight.analysis import observability
from sidelight.errors import InfeasibleRequest, InvalidGraph, UnobservableGraph, listing
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition, natural
from sidelight.planning import Bound, Plan, Tuning
from sidelight.planning.bounds.bound import Condition, bound_at

Terms = Callable[[float], dict[str, float]]
Conditions = Callable[[float], tuple[Condition, ...]]


def checked_graph(g: object, name: str) -> FeedbackGraph:
    """`g` as a feedback graph, or an error."""
    if not isinstance(g, FeedbackGraph):
        raise InvalidGraph(f"{name} needs a FeedbackGraph, got {type(g).__name__}")
    return g


def need_loops(g: object, name: str) -> FeedbackGraph:
    """Refuse graphs in which some arm does not reveal itself."""
    graph = checked_graph(g, name)
    lacking = np.flatnonzero(~graph.has_loop)
    if lacking.size:
        raise InfeasibleRequest(
            f"{name} needs every arm to reveal itself, but {listing(lacking.tolist())} do not; "
            "use sl.plan or chlz21, which need no self-loops"
        )
    return graph


def need_observable(g: object, name: str) -> FeedbackGraph:
    """Refuse graphs with an arm that nothing reveals."""
    graph = checked_graph(g, name)
    hidden = observability(graph).unobservable.tolist()
    if hidden:
        raise UnobservableGraph(
            f"no arm reveals {listing(hidden)}, so {name} cannot learn about them; add an edge into each or "
            "leave them out",
            hidden,
        )
    return graph


def singletons_plan(
    g: FeedbackGraph,
    T: int,
    name: str,
    potential: tuple[float, float],
    exploration: Floats,
    parameters: dict[str, Any],
    bound: Bound,
) -> Plan:
    """One simplex over all arms, each with this (power, rate): for strongly observable graphs."""
    n = g.n_arms
    power, rate = potential if n > 1 else (2.0, 1.0)  # alone, an arm is played whatever its rate
    zeros = np.zeros(n)
    tuning = Tuning(
        block_start=np.arange(n + 1),
        block_arms=np.arange(n),
        top_power=np.full(n, power),
        top_rate=np.full(n, rate),
        inner_power=zeros,
        inner_rate=zeros,
        global_exploration=exploration,
        local_exploration=zeros,
        adaptive=zeros,
        parent=np.full(n, -1),
        spread=zeros,
        cover=zeros,
        load=zeros,
    )
    return Plan(g, natural.singletons(g), T, name, (), parameters, bound, tuning)


def entropy_plan(
    g: FeedbackGraph,
    T: int,
    name: str,
    rate: float,
    exploration: Floats,
    parameters: dict[str, Any],
    bound: Bound,
) -> Plan:
    """One block of all arms with negative entropy, and constant exploration: for every observable graph."""
    n = g.n_arms
    if n == 1:
        return singletons_plan(g, T, name, (0.0, 1.0), np.zeros(1), parameters, bound)
    zeros = np.zeros(n)
    tuning = Tuning.one_block(zeros, np.full(n, rate), exploration, 0.0, zeros, zeros)
    return Plan(g, Partition(g, [np.arange(n)]), T, name, (name,), parameters, bound, tuning)


def always(horizon: int, theorem: str, terms: Terms) -> Bound:
    """A bound without conditions."""
    return bound_at(horizon, theorem, terms, lambda T: ())
