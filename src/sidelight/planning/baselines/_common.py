"""What baselines share: refusing graphs, and a class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from sidelight._check import checked_horizon
from sidelight.analysis import observability
from sidelight.errors import InfeasibleRequest, InvalidGraph, UnobservableGraph
from sidelight.graph import FeedbackGraph
from sidelight.graph.names import names
from sidelight.partition import natural
from sidelight.planning.exploration import Solved
from sidelight.planning.plan import Candidate, Plan


def checked_graph(graph: object, name: str) -> FeedbackGraph:
    """`graph` as a feedback graph, or an error."""
    if not isinstance(graph, FeedbackGraph):
        raise InvalidGraph(f"{name} needs a FeedbackGraph, got {type(graph).__name__}")
    return graph


def need_loops(given: object, name: str) -> FeedbackGraph:
    """Refuse graphs in which some arm does not reveal itself."""
    graph = checked_graph(given, name)
    lacking = np.flatnonzero(~graph.has_loop)
    if lacking.size:
        raise InfeasibleRequest(
            f"{name} needs every arm to reveal itself, but {names(graph, lacking.tolist())} do not; "
            "use sl.plan or chlz21, which need no self-loops"
        )
    return graph


def need_observable(given: object, name: str) -> FeedbackGraph:
    """Refuse graphs with an arm that nothing reveals."""
    graph = checked_graph(given, name)
    hidden = observability(graph).unobservable.tolist()
    if hidden:
        raise UnobservableGraph(
            f"no arm reveals {names(graph, hidden)}, so {name} cannot learn about them; add an edge into each or "
            "leave them out",
            hidden,
        )
    return graph


def needs_certain(name: str) -> InfeasibleRequest:
    """The error of what is known for reveals that never fail only."""
    return InfeasibleRequest(
        f"{name} needs reveals that never fail; use sl.plan or chlz21, which know how likely each works, or play on"
        " graph.at_least(1), the graph of the certain edges"
    )


class Baseline(Candidate, ABC):
    """A known algorithm, tuned and bounded as its authors do; its graph must be one that it can play.

    `InfeasibleRequest` says why it cannot.
    """

    called: str  # as `sidelight.baselines` knows it
    title = ""
    formula = ""
    flat = False  # one block of all arms, for every observable graph; else singletons, for strongly observable ones
    may_fail = False  # is its bound proved where reveals may fail?

    def __init__(self, solved: Solved) -> None:
        if not (self.may_fail or solved.graph.certain):
            raise needs_certain(self.called)
        self.solved, self.graph, self.n = solved, solved.graph, solved.graph.n_arms
        self.prepare()
        block = self.flat and self.n > 1
        partition = (natural.single if block else natural.singletons)(self.graph)
        about = (self.called, partition, self.formula, (self.called,) if block else ())
        super().__init__("single" if block else "singletons", *about)

    @abstractmethod
    def prepare(self) -> None:
        """Refuse graphs that it cannot play, and find what depends on the graph alone."""


def as_plan(algorithm: type[Baseline]) -> Callable[[FeedbackGraph, int], Plan]:
    """The algorithm as a function of graph and horizon, documented like its class."""

    def planned(graph: FeedbackGraph, horizon: int) -> Plan:
        T = checked_horizon(horizon)
        return algorithm(Solved(checked_graph(graph, algorithm.called))).plan(T)

    planned.__doc__ = algorithm.__doc__
    planned.__name__ = planned.__qualname__ = algorithm.called
    return planned
