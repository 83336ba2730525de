"""Bounds and parameters in words, as several commands print them."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    never = bound.informative_from >= NEVER
    since = "never: it is of order T" if never else f"T = {bound.informative_from:,}"
    since += f"; [red]vacuous[/red] at T = {bound.horizon:,}" if bound.vacuous else ""
    return [*rows, ("certified", certified), ("informative from", since)]


def plan_rows(plan: sl.Plan) -> list[tuple[str, str]]:
    """Blocks, realization and the plain numbers among a plan's parameters."""
    from sidelight.planning.meanings import numbers_of

    rows = [("partition", _blocks(plan.partition)), ("realization", plan.realization)]
    kinds = sorted(set(plan.choices))
    if kinds and kinds != [plan.realization]:
        rows.append(("blocks play", ", ".join(kinds[:6]) + (", …" if len(kinds) > 6 else "")))
    numbers = numbers_of(plan.parameters)
    return rows + [(name, f"{value}  ({meaning})" if meaning else value) for name, value, meaning in numbers]


def _blocks(partition: sl.Partition) -> str:
    sizes = [str(size) for size in partition.sizes[:12]] + ["…"] * (len(partition.sizes) > 12)
    many = len(partition.blocks) > 1
    start = f"{len(partition.blocks):,} blocks of sizes" if many else "one block of size"
    return f"{start} {', '.join(sizes)}"
