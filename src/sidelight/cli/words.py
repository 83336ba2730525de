"""Graphs, bounds and parameters in words, as several commands print them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from sidelight.cli.screen import safe

if TYPE_CHECKING:
    import sidelight as sl
    from sidelight.analysis import PackingSet


class Analysis(NamedTuple):
    """What a graph allows."""

    graph: sl.FeedbackGraph
    observability: sl.Observability
    domination: sl.Domination
    independence: sl.IndependenceNumber
    packings: list[PackingSet]  # of the greatest rate, and of t = 1 where that is another set

    @classmethod
    def of(cls, graph: sl.FeedbackGraph) -> Analysis:
        """Everything about an observable graph."""
        import sidelight as sl

        best, single = sl.packing_independent_set(graph), sl.packing_independent_set(graph, t=1)
        packings = [best] if best.t == 1 and len(best.arms) >= len(single.arms) else [best, single]
        return cls(
            graph,
            sl.observability(graph),
            sl.fractional_domination(graph),
            sl.independence_number(graph),
            [packing for packing in packings if len(packing.arms)],  # none without a loop-less arm
        )

    def rows(self) -> Iterator[tuple[str, str]]:
        """For a table."""
        from sidelight.graph.names import names

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
            size += "" if g.labels is None else f" ({safe(names(g, found.arms.tolist()))})"
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


def bound_rows(bound: sl.Bound) -> list[tuple[str, str]]:
    """A bound with its terms and conditions."""
    from sidelight.planning.bounds.bound import NEVER

    rows = [("regret at most", f"{bound.value:,.1f}  ({safe(bound.theorem)})")]
    rows += [(f"  {name}", f"{value:,.1f}") for name, value in bound.terms.items()]
    for condition in bound.conditions:
        mark = "holds" if condition.holds else "[red]fails[/red]"
        rows.append((f"  {safe(condition.name)}", f"{mark}, slack {condition.slack:.3g}"))
    certified = "yes" if bound.certified else f"[red]no[/red], valid from T = {bound.valid_from:,}"
    never = bound.informative_from >= NEVER
    since = "never: it is of order T" if never else f"T = {bound.informative_from:,}"
    since += f"; [red]vacuous[/red] at T = {bound.horizon:,}" if bound.vacuous else ""
    return [*rows, ("certified", certified), ("informative from", since)]


def plan_rows(plan: sl.Plan) -> list[tuple[str, str]]:
    """Blocks, realization and the plain numbers among a plan's parameters."""
    staged = plan.stages is not None  # partition and choices are those of round 1 only
    rows = [("partition", "every stage its own" if staged else _blocks(plan.partition))]
    rows.append(("realization", plan.realization))
    kinds = [] if staged else sorted(set(plan.choices))
    if kinds and kinds != [plan.realization]:
        rows.append(("blocks play", ", ".join(kinds[:6]) + (", …" if len(kinds) > 6 else "")))
    numbers = {name: value for name, value in plan.parameters.items() if isinstance(value, float)}
    return rows + [(name, f"{value:.6g}") for name, value in numbers.items()]


def _blocks(partition: sl.Partition) -> str:
    sizes = [str(size) for size in partition.sizes[:12]] + ["…"] * (len(partition.sizes) > 12)
    many = len(partition.blocks) > 1
    start = f"{len(partition.blocks):,} blocks of sizes" if many else "one block of size"
    return f"{start} {', '.join(sizes)}"
