"""What baselines share: refusing graphs, and a class."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

import numpy as np

from sidelight._check import checked_horizon
from sidelight.analysis import observability
from sidelight.errors import InfeasibleRequest, InvalidGraph, UnobservableGraph, listing
from sidelight.graph import FeedbackGraph
from sidelight.partition import natural
from sidelight.planning.exploration import Solved
from sidelight.planning.plan import Candidate, Plan


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


class Baseline(Candidate, ABC):
    """A known algorithm, tuned and bounded as its authors do; its graph must be one that it can play.

    `InfeasibleRequest` says why it cannot.
    """

    title = ""
    formula: ClassVar[str] = ""
    flat = False  # one block of all arms, for every observable graph; else singletons, for strongly observable ones

    def __init__(self, solved: Solved, name: str, formula: str = "") -> None:
        self.solved, g = solved, solved.graph
        self.n = g.n_arms
        block = self.flat and self.n > 1
        p = natural.single(g) if block else natural.singletons(g)
        theorem = formula or self.formula
        super().__init__("single" if block else "singletons", name, p, theorem, (name,) if block else ())

    @classmethod
    def planned(cls, g: FeedbackGraph, horizon: int, name: str) -> Plan:
        """The plan of the algorithm for one graph."""
        T = checked_horizon(horizon)
        return cls(Solved(checked_graph(g, name)), name).plan(T)
