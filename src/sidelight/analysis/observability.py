"""Which arms can be observed at all, and which strongly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sidelight._types import Longs, frozen
from sidelight.graph import GivenGraph, graph_of

CLASSES = np.array(["unobservable", "weak", "strong"])
"""The classes of arms and of graphs, from least to most observable."""

UNOBSERVABLE, WEAK, STRONG = range(3)


@dataclass(frozen=True, eq=False, repr=False)
class Observability:
    """The class of every arm and of the graph: "unobservable", "weak" or "strong".

    The minimax regret grows like T, T^{2/3} and √T respectively.
    """

    per_arm: npt.NDArray[np.str_]  # (n,)
    graph: str

    @cached_property
    def unobservable(self) -> Longs:
        """Sorted arms that no arm reveals."""
        return self._arms(UNOBSERVABLE)

    @cached_property
    def weak(self) -> Longs:
        """Sorted arms that some arm reveals, but not themselves and not all others."""
        return self._arms(WEAK)

    @cached_property
    def strong(self) -> Longs:
        """Sorted arms that reveal themselves or that all other arms reveal."""
        return self._arms(STRONG)

    def _arms(self, kind: int) -> Longs:
        return frozen(np.flatnonzero(self.per_arm == CLASSES[kind]), np.int64)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Observability):
            return NotImplemented
        return self.graph == other.graph and np.array_equal(self.per_arm, other.per_arm)

    def __hash__(self) -> int:
        return hash((self.graph, self.per_arm.size))

    def __str__(self) -> str:
        kind = "unobservable" if self.graph == CLASSES[UNOBSERVABLE] else f"{self.graph}ly observable"
        return (
            f"{kind} graph: {self.strong.size} strong, {self.weak.size} weak, "
            f"{self.unobservable.size} unobservable arms"
        )

    def __repr__(self) -> str:
        return (
            f"Observability(graph={self.graph!r}, strong={self.strong.size}, weak={self.weak.size}, "
            f"unobservable={self.unobservable.size})"
        )


def observability(graph: GivenGraph) -> Observability:
    """Classify every arm and the graph, in O(n + edges).

    An arm is strong iff it reveals itself or every other arm (of at least one) reveals it; unobservable iff
    nothing reveals it; weak otherwise. A graph is as good as its arms all are: unobservable if some arm is,
    strong if all are, weak otherwise (paper, Preliminaries). Reveals that may fail count like others: they change
    constants, not how regret grows.

    >>> from sidelight.graph import FeedbackGraph
    >>> observability(FeedbackGraph.from_edges(3, [(0, 0), (0, 1), (1, 2)]))
    Observability(graph='weak', strong=1, weak=2, unobservable=0)
    """
    graph = graph_of(graph, "observability")
    codes = np.where(graph.in_degree > 0, WEAK, UNOBSERVABLE)
    everywhere = graph.is_universal
    if not graph.certain:  # revealed by all others, with whatever probability
        everywhere = (graph.in_degree - graph.has_loop == graph.n_arms - 1) & (graph.n_arms > 1)
    codes[graph.has_loop | everywhere] = STRONG
    return Observability(per_arm=frozen(CLASSES[codes], np.str_), graph=str(CLASSES[codes.min()]))
