"""Final regret against the horizon or the number of arms, every run planned for its own game."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sidelight.report.figures.axes import label_ends, log_axis, named_lines
from sidelight.report.groups import Scaling
from sidelight.report.series import scaling_curves
from sidelight.report.style import NARROW, PAGE, new_figure, strokes, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled()
def scaling_figure(scaling: Scaling, *, width: float = PAGE) -> Figure:
    """Points with 95 % intervals on log axes, certified bounds dashed above them."""
    narrow, many = width < NARROW, len(scaling.cells)
    figure = new_figure(width, 2.8 + 0.13 * many if narrow else max(3.2, 1.4 + 0.27 * many))
    axes = figure.subplots()
    looks, curves = strokes(scaling.policies), scaling_curves(scaling)
    heights: list[float] = []
    for curve in curves:
        colour, dash = looks[curve.policy]
        shown = np.where(curve.mean > 0, curve.mean, np.nan)
        up = np.nan_to_num(curve.high - curve.mean)
        down = np.minimum(up, 0.999 * np.abs(curve.mean))  # a bar that reaches zero has no end on a log axis
        axes.errorbar(
            curve.x, shown, [down, up], color=colour, linestyle=dash, marker="o", markersize=3.5, capsize=2
        )
        bounds = {T: value for T, (value, certified) in curve.bounds.items() if certified}
        if bounds:
            axes.plot(*zip(*bounds.items(), strict=True), "v--", color=colour, lw=0.8, ms=3.5, alpha=0.8)
        heights += [height for height in (*bounds.values(), *curve.mean.tolist()) if height > 0]
    heights = heights or [1.0]
    places = np.concatenate([curve.x for curve in curves])
    log_axis(axes, "x", places.min() / 1.2, 1.2 * places.max())
    log_axis(axes, "y", max(min(heights), 1e-6 * max(heights)) / 1.6, 1.6 * max(heights))
    axes.set(xlabel="horizon T" if scaling.variable == "T" else "arms N", ylabel="regret after T rounds")
    axes.grid(visible=True)
    if narrow:
        figure.legend(handles=named_lines(curves, looks), loc="outside lower left")
        return figure
    label_ends(axes, [(curve.label, float(curve.mean[-1]), looks[curve.policy].colour) for curve in curves])
    return figure
