"""Bounds and parameters in words, as several commands print them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sidelight.cli.screen import safe

if TYPE_CHECKING:
    import sidelight as sl


def bound_rows(bound: sl.Bound) -> list[tuple[str, str]]:
    """A bound with its terms and conditions."""
    from sidelight.planning.bounds.bound import NEVER

    rows = [("regret at most", f"{bound.value:,.1f}  ({safe(bound.theorem)})")]
    rows += [(f"  {name}", f"{value:,.1f}") for name, value in bound.terms.items()]
    for condition in bound.conditions:
        mark = "holds" if condition.holds else "[red]fails[/red]"
        rows.append((f"  {safe(condition.name)}", f"{mark}, slack {condition.slack:.3g}"))
    certified = "yes" if bound.certified else f"[red]no[/red], valid from T = {bound.valid_from:,}"
    since = (
        "never: it is of order T" if bound.informative_from >= NEVER else f"T = {bound.informative_from:,}"
    )
    return [*rows, ("certified", certified), ("informative from", since)]


def numbers(parameters: dict[str, Any]) -> list[tuple[str, str]]:
    """The plain numbers among a plan's parameters."""
    return [(name, f"{value:.6g}") for name, value in parameters.items() if isinstance(value, float)]


def blocks(partition: sl.Partition) -> str:
    """How many blocks of which sizes."""
    sizes = [str(size) for size in partition.sizes[:12]] + ["…"] * (len(partition.sizes) > 12)
    many = len(partition.blocks) > 1
    start = f"{len(partition.blocks):,} blocks of sizes" if many else "one block of size"
    return f"{start} {', '.join(sizes)}"
