"""What a round costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from sidelight.report.groups import Group
from sidelight.report.style import (
    COLUMN,
    Stroke,
    log_axis,
    new_figure,
    number,
    short,
    strokes,
    styled,
    thousands,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def timing_figure(group: Group, policies: Mapping[str, Stroke] | None = None) -> Figure | None:
    """Nanoseconds of processor time per round, a bar per policy; None where no time was taken."""
    policies = policies or strokes(cell.policy for cell in group.cells)
    timed = [cell for cell in group.cells if np.isfinite(cell.nanoseconds_per_round)]
    timed = [cell for cell in timed if cell.nanoseconds_per_round > 0]
    if not timed:
        return None
    with styled():
        figure = new_figure(1.6 * COLUMN, 0.8 + 0.22 * len(timed))
        axes = figure.subplots()
        times = np.array([cell.nanoseconds_per_round for cell in timed])
        rows = np.arange(len(timed))
        if times.max() > 30 * times.min():
            log_axis(axes, "x", times.min() / 3, 2.5 * times.max())
        else:
            axes.set_xlim(0, 1.2 * times.max())
            thousands(axes.xaxis)
        axes.barh(rows, times, height=0.62, color=[policies[cell.policy].colour for cell in timed])
        for row, time in zip(rows, times, strict=True):
            axes.annotate(
                number(float(time)), (time, row), (3, 0), textcoords="offset points", va="center", fontsize=7
            )
        axes.set_yticks(rows, [short(cell.policy) for cell in timed])
        axes.tick_params(axis="y", length=0)
        axes.invert_yaxis()
        if len(timed) == 1:
            axes.set_ylim(0.9, -0.9)
        axes.set_xlabel("nanoseconds per round")
        return figure
