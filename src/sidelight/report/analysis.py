"""What a graph allows, in words: its class, δ*, independence number and packings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from sidelight.analysis import (
    Domination,
    IndependenceNumber,
    Observability,
    PackingSet,
    fractional_domination,
    independence_number,
    observability,
    packing_independent_set,
)
from sidelight.graph import FeedbackGraph
from sidelight.graph.names import names


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
        for found in self.packings:
            size = f"{len(found.arms):,} {'arm' if len(found.arms) == 1 else 'arms'}"
            size += "" if g.labels is None else f" ({written(names(g, found.arms.tolist()))})"
            rate = f"rate {found.rate:.4g}{', exact' if found.exact else ''}"
            yield "packing set", f"{size}, at most {found.t} revealed at once ({rate})"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""

        def fields(value: Any, *names: str) -> dict[str, Any]:
            return {name: getattr(value, name) for name in names}

        def with_labels(found: dict[str, Any]) -> dict[str, Any]:
            labels = self.graph.labels
            return found if labels is None else found | {"labels": [labels[arm] for arm in found["arms"]]}

        seen = {kind: len(getattr(self.observability, kind)) for kind in ("strong", "weak", "unobservable")}
        return {
            "observability": seen,
            "domination": fields(self.domination, "value", "lower", "gap", "exact", "method"),
            "independence": with_labels(fields(self.independence, "lower", "upper", "exact", "arms")),
            "packings": [with_labels(fields(found, "arms", "t", "rate", "exact")) for found in self.packings],
        }
