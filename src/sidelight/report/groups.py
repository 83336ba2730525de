"""Cells that belong in one picture: comparable at one horizon, or the same game at several horizons or sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sidelight.experiment.results import Cell, Results

LEAST_POINTS = 3
"""Fewer horizons or sizes show no growth."""


@dataclass(frozen=True, eq=False)
class Group:
    """All cells of one graph, environment and horizon, in the order of the results."""

    graph: str
    environment: str
    horizon: int
    cells: tuple[Cell, ...]
    policies: tuple[str, ...]  # of all results: a policy looks the same in every figure

    @property
    def title(self) -> str:
        """What the cells have in common."""
        return f"{self.graph}, {self.environment}, T = {self.horizon:,}"

    @property
    def ranked(self) -> tuple[Cell, ...]:
        """The cells from the least mean regret at the horizon to the largest."""
        return tuple(sorted(self.cells, key=lambda cell: float(cell.mean[-1])))


@dataclass(frozen=True, eq=False)
class Scaling:
    """The same game at three horizons or more, or on a family of graphs of three sizes or more."""

    graph: str  # the graph, or the family as in "cycle:N"
    environment: str
    variable: str  # "T" or "N"
    horizon: int | None  # what all cells share where they differ in size
    cells: dict[str, dict[int, Cell]]  # policy: horizon or number of arms, from the least: cell
    policies: tuple[str, ...]

    @property
    def title(self) -> str:
        """What the cells have in common."""
        shared = "" if self.horizon is None else f", T = {self.horizon:,}"
        return f"{self.graph}, {self.environment}{shared}"


def groups_of(results: Results) -> tuple[Group, ...]:
    """The comparable groups, in the order in which they first appear."""
    found: dict[tuple[str, str, int], list[Cell]] = {}
    for cell in results.cells:
        found.setdefault((cell.graph, cell.environment, cell.horizon), []).append(cell)
    return tuple(Group(*key, tuple(cells), _policies(results)) for key, cells in found.items())


def scalings_of(results: Results, arms: Mapping[str, int] | None = None) -> tuple[Scaling, ...]:
    """What can be drawn against the horizon, then what can be drawn against the number of `arms` of each graph."""
    horizons = (((cell.graph, cell.environment, None), cell.horizon, cell) for cell in results.cells)
    members: dict[tuple[str, int], set[str]] = {}
    for graph, size in (arms or {}).items():
        members.setdefault((family(graph), size), set()).add(graph)
    alone = {graph: size for (_, size), graphs in members.items() if len(graphs) == 1 for graph in graphs}
    sizes = (
        ((family(cell.graph), cell.environment, cell.horizon), alone[cell.graph], cell)
        for cell in results.cells
        if cell.graph in alone and family(cell.graph) != cell.graph  # a size has one graph, or means nothing
    )
    return (*_scalings(results, "T", horizons), *_scalings(results, "N", sizes))


def family(graph: str) -> str:
    """The name of a graph without its sizes.

    >>> family("cliques:5x20"), family("cycle:20:directed"), family("sees.csv")
    ('cliques:NxN', 'cycle:N:directed', 'sees.csv')
    """
    name, colon, rest = graph.partition(":")
    sizes, more, how = rest.partition(":")
    return name + colon + re.sub(r"\d+", "N", sizes) + more + how


def _scalings(
    results: Results, variable: str, placed: Iterable[tuple[tuple[str, str, int | None], int, Cell]]
) -> list[Scaling]:
    found: dict[tuple[str, str, int | None], dict[str, dict[int, Cell]]] = {}
    for key, at, cell in placed:
        found.setdefault(key, {}).setdefault(cell.policy, {})[at] = cell
    scalings = []
    for (graph, environment, horizon), policies in found.items():
        long = {
            policy: {at: cells[at] for at in sorted(cells)}
            for policy, cells in policies.items()
            if len(cells) >= LEAST_POINTS
        }
        if long:
            scalings.append(Scaling(graph, environment, variable, horizon, long, _policies(results)))
    return scalings


def _policies(results: Results) -> tuple[str, ...]:
    return tuple(dict.fromkeys(cell.policy for cell in results.cells))
