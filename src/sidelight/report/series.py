"""Curves with their intervals, labels and bounds as plain numbers: what figures draw."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from sidelight._types import Floats, Longs
from sidelight.experiment.results import Cell
from sidelight.experiment.statistics import GrowthExponent, growth_exponent, mean_band
from sidelight.report.groups import Group, Scaling
from sidelight.report.text import short


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
    kept = cell.checkpoints >= since
    band = mean_band(cell.regret[:, kept])
    label = _label(cell.policy, "t", growth_of(cell))
    certificate = None if cell.certificate is None else cell.certificate[:, kept].mean(axis=0)
    rounds = cell.checkpoints[kept]
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
