"""Cells that belong in one picture, and the curves that are drawn of them.

Comparable at one horizon, or the same game at several horizons or sizes; curves with their intervals, labels and
bounds are plain numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from sidelight._types import Floats, Longs
from sidelight.experiment.results import Cell, Results
from sidelight.experiment.statistics import GrowthExponent, growth_exponent, mean_band
from sidelight.report.text import short

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
    grouped: dict[tuple[str, str, int], list[Cell]] = {}
    for cell in results.cells:
        grouped.setdefault((cell.graph, cell.environment, cell.horizon), []).append(cell)
    return tuple(Group(*key, tuple(cells), _policies(results)) for key, cells in grouped.items())


def told_apart(groups: Sequence[Group]) -> tuple[list[bool], list[tuple[str, str, str]]]:
    """Which of graph, environment and horizon differ between the groups, and these three of each group as text."""
    heads = [(group.graph, group.environment, f"{group.horizon:,}") for group in groups]
    return [len({head[at] for head in heads}) > 1 for at in range(3)], heads


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
    games: dict[tuple[str, str, int | None], dict[str, dict[int, Cell]]] = {}
    for key, at, cell in placed:
        games.setdefault(key, {}).setdefault(cell.policy, {})[at] = cell
    scalings = []
    for (graph, environment, horizon), policies in games.items():
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


# -- curves -------------------------------------------------------------------------------------------------


class Curve(NamedTuple):
    """Mean regret of one policy with its 95 % interval."""

    policy: str
    label: str  # the name and how regret grows: "auto  t^0.52 [0.50, 0.55]"
    x: Longs  # (C,) rounds, or horizons
    mean: Floats  # (C,)
    low: Floats  # (C,) nan for a single seed
    high: Floats
    bounds: dict[int, tuple[float, bool]]  # at which x: value of the bound, and whether it is certified
    certificate: Floats | None = None  # (C,) mean of what the rounds so far certify, where they do


def final_regret(cell: Cell) -> tuple[float, float, float]:
    """Mean regret at the horizon, and the ends of its 95 % interval: nan for a single seed."""
    band = mean_band(cell.regret[:, -1:])
    return float(band.mean[0]), float(band.low[0]), float(band.high[0])


def growth_of(cell: Cell) -> GrowthExponent | None:
    """How its regret grows with the rounds; the bootstrap behind it is drawn once for each cell."""
    if cell not in _GROWTH:
        _GROWTH[cell] = growth_exponent(cell.checkpoints, cell.regret)
    return _GROWTH[cell]


_GROWTH: WeakKeyDictionary[Cell, GrowthExponent | None] = WeakKeyDictionary()


def regret_curves(group: Group, since: float = 1.0) -> list[Curve]:
    """Regret over the rounds, from the first checkpoint at or after `since`; one for each cell."""
    return [_regret_curve(cell, since * (1 - 1e-9)) for cell in group.cells]


def _regret_curve(cell: Cell, since: float) -> Curve:
    shown = cell.checkpoints >= since
    band = mean_band(cell.regret[:, shown])
    label = _label(cell.policy, "t", growth_of(cell))
    certificate = None if cell.certificate is None else cell.certificate[:, shown].mean(axis=0)
    rounds = cell.checkpoints[shown]
    return Curve(cell.policy, label, rounds, band.mean, band.low, band.high, _bounds(cell), certificate)


def scaling_curves(scaling: Scaling) -> list[Curve]:
    """Final regret against the horizon or the number of arms, one for each policy."""
    curves = []
    for policy, cells in scaling.cells.items():
        label = _label(policy, scaling.variable, scaling_exponent(cells))
        mean, low, high = np.array([final_regret(cell) for cell in cells.values()]).T
        bounds = {at: bound for at, cell in cells.items() for bound in _bounds(cell).values()}
        curves.append(Curve(policy, label, np.array(list(cells)), mean, low, high, bounds))
    return curves


def scaling_exponent(cells: Mapping[int, Cell]) -> GrowthExponent | None:
    """Slope of log(mean final regret) on the log of what the cells differ in, from the seeds that all share."""
    shared = reduce(np.intersect1d, (cell.seeds for cell in cells.values()))
    if shared.size == 0:
        return None
    rows = [
        cell.regret[np.intersect1d(cell.seeds, shared, return_indices=True)[1], -1] for cell in cells.values()
    ]
    return growth_exponent(list(cells), np.column_stack(rows), decades=np.inf)


def _label(policy: str, variable: str, growth: GrowthExponent | None) -> str:
    return short(policy) if growth is None else f"{short(policy)}  {growth.of(variable)}"


def _bounds(cell: Cell) -> dict[int, tuple[float, bool]]:
    if cell.bound is None:
        return {}
    return {cell.horizon: (float(cell.bound["value"]), bool(cell.bound["certified"]))}
