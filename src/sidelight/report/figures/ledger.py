"""Bars for every policy: where its regret came from, in the four parts that theory bounds, and what a round costs."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sidelight._types import Floats
from sidelight.experiment.results import Cell
from sidelight.experiment.run import LEDGER
from sidelight.report.figures.axes import log_axis, name_rows, thousands
from sidelight.report.figures.canvas import new_figure, styled
from sidelight.report.groups import Group
from sidelight.report.style import COLUMN, INK, NARROW, PAGE, PARTS, strokes
from sidelight.report.text import number, short

FAR_APART = 15
"""Beyond this ratio of regrets the smaller bars could not be read: each policy gets its own unit."""


@styled()
def ledger_figure(group: Group, *, width: float = PAGE) -> Figure | None:
    """Parts at the horizon for every policy, and over the rounds for the first; None if none kept a ledger."""
    cells = [cell for cell in group.cells if cell.ledger is not None]
    if not cells:
        return None
    height = 2.6 + 0.12 * max(len(cells) - 4, 0)
    narrow = width < NARROW
    figure = new_figure(width, 1.7 * height if narrow else height)
    left, right = figure.subplots(2, 1) if narrow else figure.subplots(1, 2, width_ratios=(1.25, 1))
    draw_parts(left, cells, letters=14 if narrow else 22)
    draw_growth(right, cells[0])
    marks = left.get_legend_handles_labels()
    columns = 2 if narrow else 5
    figure.legend(*marks, loc="outside lower center", ncols=columns, columnspacing=1.2, handlelength=1.2)
    return figure


def draw_parts(axes: Axes, cells: list[Cell], letters: int = 22) -> None:
    """A stacked bar per policy; parts below zero go to the left, the dot is the regret itself."""
    means = np.stack([cell.ledger[:, -1].mean(axis=0) for cell in cells if cell.ledger is not None])  # (P, 4)
    totals = np.array([float(cell.mean[-1]) for cell in cells])
    relative = bool((totals > 0).all() and totals.max() > FAR_APART * totals.min())
    if relative:
        means, totals = means / totals[:, None], np.ones(len(cells))
    rows = np.arange(len(cells))
    starts = stacked(means.T)
    for part, (name, colour) in enumerate(zip(LEDGER, PARTS, strict=True)):
        axes.barh(rows, means[:, part], left=starts[part], color=colour, height=0.62, label=name)
    axes.plot(totals, rows, "o", markersize=4, color="white", markeredgecolor=INK, label="regret")
    axes.axvline(0, color="0.4", linewidth=0.6)
    name_rows(axes, [short(cell.policy, letters) for cell in cells], room=1.2)
    thousands(axes.xaxis)
    axes.grid(axis="x")
    unit = "in units of the policy's own regret" if relative else "mean over seeds"
    axes.set(xlabel=f"{unit}, at the horizon")
    axes.set_title("parts of the regret")


def draw_growth(axes: Axes, cell: Cell) -> None:
    """The same parts of one policy, stacked over the rounds."""
    assert cell.ledger is not None
    parts = cell.ledger.mean(axis=0).T  # (4, C)
    starts, rounds = stacked(parts), cell.checkpoints
    for part, colour in enumerate(PARTS):
        axes.fill_between(rounds, starts[part], starts[part] + parts[part], color=colour, linewidth=0)
    axes.plot(rounds, cell.mean, color=INK, linewidth=1)
    axes.axhline(0, color="0.4", linewidth=0.6)
    log_axis(axes, "x", max(1.0, cell.horizon / 1e4), float(max(cell.horizon, 2)))
    thousands(axes.yaxis)
    axes.grid(axis="y")
    axes.set_xlabel("round t")
    axes.set_title(f"over the rounds: {short(cell.policy)}")


def stacked(parts: Floats) -> Floats:
    """Where each part starts: positive ones pile up from zero, negative ones pile down.

    >>> stacked(np.array([[2.0], [-1.0], [3.0]])).ravel().tolist()
    [0.0, 0.0, 2.0]
    """
    up, down = np.maximum(parts, 0), np.minimum(parts, 0)
    starts: Floats = np.where(parts >= 0, np.cumsum(up, axis=0) - up, np.cumsum(down, axis=0) - down)
    return starts


@styled()
def timing_figure(group: Group, *, width: float = PAGE) -> Figure | None:
    """Nanoseconds of processor time per round, a bar per policy; None where no time was taken."""
    timed = [cell for cell in group.cells if 0 < cell.nanoseconds_per_round < np.inf]
    if not timed:
        return None
    figure = new_figure(min(width, 1.6 * COLUMN), 0.8 + 0.22 * len(timed))
    axes = figure.subplots()
    looks = strokes(group.policies)
    times = np.array([cell.nanoseconds_per_round for cell in timed])
    if times.max() > 30 * times.min():
        log_axis(axes, "x", times.min() / 3, 2.5 * times.max())
    else:
        axes.set_xlim(0, 1.2 * times.max())
        thousands(axes.xaxis)
    bars = axes.barh(
        range(len(timed)), times, height=0.62, color=[looks[cell.policy].colour for cell in timed]
    )
    axes.bar_label(bars, [number(float(time)) for time in times], padding=3, fontsize=7)
    name_rows(axes, [short(cell.policy) for cell in timed], room=0.9)
    axes.set_xlabel("nanoseconds per round")
    return figure
