"""The leaderboard: every comparison of graph, environment and horizon with every policy, ready to be shown."""

from __future__ import annotations

from dataclasses import dataclass

from sidelight.experiment.results import Cell
from sidelight.report.groups import Group
from sidelight.report.sentences import duels
from sidelight.report.series import final_regret
from sidelight.report.text import half_width, number

SHADES = (1.05, 1.5, 3.0, 10.0)
"""Multiples of the least regret from which a cell is shaded less."""


@dataclass(frozen=True)
class Entry:
    """One policy in one comparison."""

    policy: str
    regret: str  # mean
    half: str  # half of its 95 % interval, empty for a single seed
    ratio: str  # to the least of the comparison, empty where that is not positive
    shade: int  # 0 for the least, up to 4
    best: bool
    close: bool  # within noise of the best


@dataclass(frozen=True)
class Line:
    """One comparison."""

    anchor: str
    graph: str
    environment: str
    horizon: int
    entries: dict[str, Entry]  # by policy; those that did not play are missing


def leaderboard(groups: tuple[Group, ...], anchors: list[str]) -> list[Line]:
    """A line for each comparison, in the order of the results."""
    return [
        Line(anchor, group.graph, group.environment, group.horizon, _entries(group))
        for group, anchor in zip(groups, anchors, strict=True)
    ]


def _entries(group: Group) -> dict[str, Entry]:
    best, rivals = duels(group)
    least = float(best[0].mean[-1])
    first = {cell.policy for cell in best}
    close = {
        cell.policy
        for cells, d in rivals
        if d is not None and d.n_seeds > 1 and not d.decided
        for cell in cells
    }
    return {
        cell.policy: _entry(cell, least, cell.policy in first, cell.policy in close) for cell in group.cells
    }


def _entry(cell: Cell, least: float, best: bool, close: bool) -> Entry:
    mean, _, high = final_regret(cell)
    half = "" if high != high else half_width(mean, high - mean)
    ratio = mean / least if least > 0 else None
    shade = 0 if best else len(SHADES) if ratio is None else sum(ratio > limit for limit in SHADES)
    text = "" if ratio is None else "1×" if best else f"{number(ratio)}×"
    return Entry(cell.policy, number(mean), half, text, shade, best, close)
