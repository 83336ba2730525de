"""What a page needs to know about one graph; computed by the caller, since a report runs nothing."""

from __future__ import annotations

from dataclasses import dataclass

from sidelight.errors import InvalidOption
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition
from sidelight.planning import Comparison, Plan


@dataclass(frozen=True, eq=False)
class GraphSection:
    """A graph and its bounds at one horizon or several, or at none.

    >>> import sidelight as sl
    >>> g = sl.families.cycle(4)
    >>> GraphSection.of(sl.compare_bounds(g, 100), sl.compare_bounds(g, 1000)).plan.horizon
    1000
    """

    graph: FeedbackGraph
    comparisons: tuple[Comparison, ...] = ()
    facts: tuple[
        tuple[str, str], ...
    ] = ()  # what an analysis found, in words: ("class", "weakly observable: …")

    def __post_init__(self) -> None:
        for found in self.comparisons:
            if found.graph.n_arms != self.graph.n_arms:
                raise InvalidOption(
                    f"{found!r} is about {found.graph.n_arms} arms, but the graph has {self.graph.n_arms}"
                )

    @classmethod
    def of(cls, *comparisons: Comparison, facts: tuple[tuple[str, str], ...] = ()) -> GraphSection:
        """The graph of `comparisons`."""
        if not comparisons:
            raise InvalidOption(
                "GraphSection.of needs at least one comparison; use GraphSection(graph) instead"
            )
        return cls(comparisons[-1].graph, comparisons, facts)

    @property
    def plan(self) -> Plan | None:
        """The plan whose blocks are drawn: that of the last comparison."""
        return self.comparisons[-1].plan if self.comparisons else None

    @property
    def partition(self) -> Partition | None:
        """The blocks that are drawn."""
        return None if self.plan is None else self.plan.partition

    def at(self, horizon: int) -> Comparison | None:
        """The bounds at this horizon, if they were computed."""
        return next((found for found in self.comparisons if found.horizon == horizon), None)
