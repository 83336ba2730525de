"""What a round costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sidelight.report.figures.axes import log_axis, name_rows, thousands
from sidelight.report.groups import Group
from sidelight.report.style import COLUMN, PAGE, new_figure, strokes, styled
from sidelight.report.text import number, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
