"""What a page needs to know about one graph: its analysis in words and its bounds.

Computed by the caller, since a report runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from sidelight.analysis import (
    Domination,
    IndependenceNumber,
    LongRun,
    Observability,
    PackingSet,
    fractional_domination,
    independence_number,
    long_run,
    observability,
    packing_independent_set,
)
from sidelight.environment.names import parse
from sidelight.errors import SidelightError
from sidelight.experiment.results import Results
from sidelight.graph import FeedbackGraph
from sidelight.graph.names import names
from sidelight.partition import Partition
from sidelight.planning import Comparison, Plan, compare_bounds


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
    facts: tuple[tuple[str, str], ...] = ()  # of an analysis, in words: ("class", "weakly observable: …")
    long_runs: Mapping[str, LongRun] = field(
        default_factory=dict
    )  # by environment, of those with fixed coins

    @classmethod
    def of(cls, *comparisons: Comparison, facts: tuple[tuple[str, str], ...] = ()) -> GraphSection:
        """The graph of these comparisons, of which there is at least one."""
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
        return next((comparison for comparison in self.comparisons if comparison.horizon == horizon), None)


class Analysis(NamedTuple):
    """What a graph allows."""

    graph: FeedbackGraph
    observability: Observability
    domination: Domination
    independence: IndependenceNumber
    packings: list[PackingSet]  # of the greatest rate, and of t = 1 where that is another set

    @classmethod
    def of(cls, graph: FeedbackGraph) -> Analysis:
        """Everything about an observable graph."""
        best, single = packing_independent_set(graph), packing_independent_set(graph, t=1)
        packings = [best] if best.t == 1 and len(best.arms) >= len(single.arms) else [best, single]
        return cls(
            graph,
            observability(graph),
            fractional_domination(graph),
            independence_number(graph),
            [packing for packing in packings if len(packing.arms)],  # none without a loop-less arm
        )

    def rows(self, written: Callable[[str], str] = str) -> Iterator[tuple[str, str]]:
        """For a table, with labels of arms as they are `written` there."""
        g, seen, domination, alpha = self[:4]
        yield "arms, edges", f"{g.n_arms:,}, {g.n_edges:,}"
        growth = {"strong": "√T", "weak": "T^⅔"}[seen.graph]
        yield "class", f"{seen.graph}ly observable: regret grows like {growth}"
        yield "strong, weak arms", f"{len(seen.strong):,}, {len(seen.weak):,}"
        gap = f"certified within {domination.gap:.2g}, at least {domination.lower:.6g}"
        yield "fractional domination δ*", f"{domination.value:.6g} ({'exact' if domination.exact else gap})"
        between = f"between {alpha.lower:,} and {alpha.upper:,}"
        yield "independence number α", f"{alpha.lower:,} (exact)" if alpha.exact else between
        for packing in self.packings:
            size = f"{len(packing.arms):,} {'arm' if len(packing.arms) == 1 else 'arms'}"
            size += "" if g.labels is None else f" ({written(names(g, packing.arms.tolist()))})"
            rate = f"rate {packing.rate:.4g}{', exact' if packing.exact else ''}"
            yield "packing set", f"{size}, at most {packing.t} revealed at once ({rate})"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""

        def fields(value: Any, *names: str) -> dict[str, Any]:
            return {name: getattr(value, name) for name in names}

        def with_labels(values: dict[str, Any]) -> dict[str, Any]:
            labels = self.graph.labels
            return values if labels is None else values | {"labels": [labels[arm] for arm in values["arms"]]}

        seen = {kind: len(getattr(self.observability, kind)) for kind in ("strong", "weak", "unobservable")}
        return {
            "observability": seen,
            "domination": fields(self.domination, "value", "lower", "gap", "exact", "method"),
            "independence": with_labels(fields(self.independence, "lower", "upper", "exact", "arms")),
            "packings": [
                with_labels(fields(values, "arms", "t", "rate", "exact")) for values in self.packings
            ],
        }


def sections(results: Results) -> dict[str, GraphSection]:
    """Every graph of the results with its bounds at every horizon that was played."""

    def section(name: str) -> GraphSection:
        graph = results.graphs[name]
        horizons = sorted({cell.horizon for cell in results.cells if cell.graph == name})
        if not horizons or observability(graph).graph == "unobservable":
            return GraphSection(graph)
        facts = tuple(Analysis.of(graph).rows())
        made = GraphSection.of(*(compare_bounds(graph, horizon) for horizon in horizons), facts=facts)
        played = {cell.environment for cell in results.cells if cell.graph == name}
        return replace(made, long_runs=dict(_long_runs(graph, sorted(played))))

    return {name: section(name) for name in results.graphs}


MOST_ARMS = 100
"""Of graphs whose long run is computed: a second or so."""
COINS = re.compile("gap(:.*)?|bernoulli:.+")
"""Environments that are fixed coins by their text; a caller's own coins are called "bernoulli" alone."""


def _long_runs(graph: FeedbackGraph, environments: Iterable[str]) -> Iterator[tuple[str, LongRun]]:
    for text in environments if graph.n_arms <= MOST_ARMS else ():
        if COINS.fullmatch(text):
            with suppress(SidelightError):  # a name that only looks like one
                yield (
                    text,
                    long_run(graph, np.array(parse(text, graph, 1).totals(np.ones(1, dtype=np.int64))[0])),
                )
