"""A claim: what was measured against what was predicted."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from sidelight.report.figures.axes import log_axis, thousands
from sidelight.report.figures.canvas import new_figure, styled
from sidelight.report.style import COLOURS, GREY, INK

if TYPE_CHECKING:
    from sidelight.experiment.claims import Outcome

LISTED = ("random", "draw", "run")
"""First words of an axis that lists cases: these are not joined by a line, and have no logarithm."""

LOOKS: dict[str, dict[str, Any]] = {
    "measured": {"marker": "o", "markersize": 4},
    "baseline": {"marker": "s", "markersize": 4},
    "predicted": {"color": GREY, "linestyle": "--"},
    "bound": {"color": INK, "linestyle": "-.", "linewidth": 1},
}


@styled()
def claim_figure(outcome: Outcome, title: str) -> Figure:
    """One panel, on log axes wherever all numbers are positive."""
    figure = new_figure(6.4, 4.2)
    axes = figure.subplots()
    listed = outcome.x_label.startswith(LISTED) or "see the table" in outcome.x_label
    colours = {"measured": cycle((0, 4, 6, 3)), "baseline": cycle((1, 2, 5, 7, 3))}
    for curve in outcome.curves:
        look = dict(LOOKS[curve.role])
        if curve.role in colours:
            look["color"] = COLOURS[next(colours[curve.role])]
            if listed:
                look |= {"linestyle": "none", "markersize": 4 if len(curve.x) < 60 else 2}
        axes.plot(curve.x, curve.y, label=curve.label, **look)
        if curve.low is not None and curve.high is not None:
            axes.fill_between(curve.x, curve.low, curve.high, color=look["color"], alpha=0.16, linewidth=0)
    for which, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        values = [value for curve in outcome.curves for value in getattr(curve, which)]
        if values and min(values) > 0 and not (listed and which == "x"):
            log_axis(axes, which, min(values) / 1.15, 1.15 * max(values), least_span=1.0)
        else:
            thousands(axis, whole=listed and which == "x")
    axes.set(xlabel=outcome.x_label, ylabel=outcome.y_label)
    axes.set_title(title)
    axes.grid(visible=True)
    axes.legend()
    return figure
