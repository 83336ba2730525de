"""What a page needs to know about one graph; computed by the caller, since a report runs nothing."""

from __future__ import annotations

from dataclasses import dataclass

from sidelight.errors import InvalidOption
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition
from sidelight.planning import Comparison, Plan


@dataclass(frozen=True, eq=False)
class GraphSection:
    """A graph, the plan whose blocks are drawn, and its bounds at one horizon or several.

    >>> import sidelight as sl
    >>> g = sl.families.cycle(4)
    >>> GraphSection.of(sl.compare_bounds(g, 100), sl.compare_bounds(g, 1000)).plan.horizon
    1000
    """

    graph: FeedbackGraph
    plan: Plan | None = None
    comparisons: tuple[Comparison, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "comparisons", tuple(self.comparisons))
        parts: list[Plan | Comparison] = [*self.comparisons]
        for part in parts if self.plan is None else [self.plan, *parts]:
            if part.graph.n_arms != self.graph.n_arms:
                raise InvalidOption(
                    f"{part!r} is about {part.graph.n_arms} arms, but the graph has {self.graph.n_arms}"
                )

    @classmethod
    def of(cls, *comparisons: Comparison) -> GraphSection:
        """The graph of `comparisons`, with the plan of the last."""
        if not comparisons:
            raise InvalidOption(
                "GraphSection.of needs at least one comparison; use GraphSection(graph) instead"
            )
        return cls(comparisons[-1].graph, comparisons[-1].plan, comparisons)

    @property
    def partition(self) -> Partition | None:
        """The blocks that are drawn."""
        return None if self.plan is None else self.plan.partition

    def at(self, horizon: int) -> Comparison | None:
        """The bounds at this horizon, if they were computed."""
        return next((found for found in self.comparisons if found.horizon == horizon), None)
