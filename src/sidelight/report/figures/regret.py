"""Regret against rounds on log axes, with bands, growth exponents and bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from sidelight.experiment.results import Cell
from sidelight.experiment.statistics import growth_exponent, mean_band
from sidelight.report.groups import Group
from sidelight.report.style import (
    GREY,
    INK,
    PAGE,
    Stroke,
    label_ends,
    log_axis,
    nested_widths,
    new_figure,
    short,
    strokes,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DECADES_SHOWN = 4
"""Curves start so many decades before the horizon: earlier rounds say little and squeeze the rest."""


def regret_figure(
    group: Group, policies: Mapping[str, Stroke] | None = None, floor: float | None = None
) -> Figure:
    """One panel: mean regret of every policy with its band, exponent and bound; `floor` is a lower bound at T."""
    with styled():
        figure = new_figure(PAGE, max(3.4, 1.6 + 0.27 * len(group.cells)))
        draw_regret(figure.subplots(), group, policies, floor)
        return figure


def draw_regret(
    axes: Axes, group: Group, policies: Mapping[str, Stroke] | None = None, floor: float | None = None
) -> None:
    """Curves labelled at their ends; triangles are bounds at the horizon, filled where certified."""
    policies = policies or strokes(cell.policy for cell in group.cells)
    horizon = group.horizon
    start = max(1.0, horizon / 10**DECADES_SHOWN)
    heights = [horizon / 2]
    widths = nested_widths([cell.mean for cell in group.cells])
    for cell, width in zip(group.cells, widths, strict=True):
        kept = cell.checkpoints >= start * (1 - 1e-9)
        band = mean_band(cell.regret[:, kept])
        heights += band.mean[band.mean > 0].tolist()
        stroke, rounds = policies[cell.policy], cell.checkpoints[kept]
        mean = np.where(band.mean > 0, band.mean, np.nan)  # a gap: nothing below zero can be shown here
        axes.plot(rounds, mean, color=stroke.colour, linestyle=stroke.dash, linewidth=width, zorder=3)
        if len(cell.seeds) > 1:
            above = np.maximum(band.low, 1e-12)
            axes.fill_between(
                rounds, above, band.high, color=stroke.colour, alpha=0.16, linewidth=0, zorder=2
            )
    bounds = [(cell, float(cell.bound["value"])) for cell in group.cells if cell.bound is not None]
    bounds = [(cell, value) for cell, value in bounds if value > 0]
    heights += [value for _, value in bounds] + ([floor] if floor and floor > 0 else [])
    low = max(min(heights), max(heights) * 1e-6) / 1.6
    log_axis(axes, "x", start, horizon)
    log_axis(axes, "y", low, 1.6 * max(heights))
    sizes = nested_widths([np.array(value) for _, value in bounds], 6)
    for (cell, value), size in zip(bounds, sizes, strict=True):
        certified = bool((cell.bound or {}).get("certified"))
        _triangle(axes, horizon, value, policies[cell.policy].colour, certified, size)
    if floor is not None and floor > low:
        axes.plot([horizon], [floor], marker="^", color=INK, markersize=6, clip_on=False, zorder=5)
    axes.plot([start, horizon], [start, horizon], color=GREY, linestyle=":", linewidth=1, zorder=1)
    axes.set_xlabel("round t")
    axes.set_ylabel("regret")
    axes.grid(which="major")
    label_ends(axes, [(curve_label(c), float(c.mean[-1]), policies[c.policy].colour) for c in group.cells])
    _legend(axes, group, floor is not None and floor > low)


def curve_label(cell: Cell) -> str:
    """The policy's name and how its regret grows: "auto  t^0.52 [0.50, 0.55]"."""
    name = short(cell.policy)
    found = growth_exponent(cell.checkpoints, cell.regret)
    return name if found is None else f"{name}  t^{found}"


def _triangle(axes: Axes, horizon: int, value: float, colour: str, certified: bool, size: float) -> None:
    axes.plot(
        [horizon],
        [value],
        marker="v",
        markersize=size,
        markerfacecolor=colour if certified else "white",
        markeredgecolor=colour,
        clip_on=False,
        zorder=6,
    )


def _legend(axes: Axes, group: Group, floored: bool) -> None:
    from matplotlib.artist import Artist
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    marks: list[Artist] = [Line2D([], [], color=GREY, linestyle=":", linewidth=1, label="one loss per round")]
    if any(len(cell.seeds) > 1 for cell in group.cells):
        marks.insert(0, Patch(color=GREY, alpha=0.3, linewidth=0, label="95 % interval of the mean"))
    certified = {bool(cell.bound["certified"]) for cell in group.cells if cell.bound is not None}
    for holds, label in ((True, "bound at T, certified"), (False, "bound at T, conditions fail")):
        if holds in certified:
            face = "0.35" if holds else "white"
            marks.append(
                Line2D(
                    [],
                    [],
                    linestyle="",
                    marker="v",
                    markeredgecolor="0.35",
                    markerfacecolor=face,
                    label=label,
                )
            )
    if floored:
        marks.append(
            Line2D([], [], linestyle="", marker="^", color=INK, label="lower bound at T, worst case")
        )
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.legend(
        handles=marks,
        loc="outside lower center",
        ncols=4 if len(marks) == 4 else 3,
        columnspacing=1.5,
        handletextpad=0.5,
    )
