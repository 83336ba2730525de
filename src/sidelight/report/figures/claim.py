"""A claim: what was measured against what was predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sidelight.report.style import COLOURS, GREY, INK, log_axis, new_figure, styled, thousands

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sidelight.experiment.claims import Curve, Outcome

LISTED = ("see the table", "random", "draw", "run")
"""Words of an axis that lists cases: these are not joined by a line, and have no logarithm."""


def claim_figure(outcome: Outcome, title: str) -> Figure:
    """One panel, on log axes wherever all numbers are positive."""
    with styled():
        figure = new_figure(6.4, 4.2)
        axes = figure.subplots()
        listed = any(word in outcome.x_label for word in LISTED)
        measured, others = iter((0, 4, 6)), iter((1, 2, 3, 5, 7) * 4)
        for curve in outcome.curves:
            colour = COLOURS[next(measured if curve.role == "measured" else others)]
            drawn = _stroke(curve, listed) | (
                {"color": colour} if curve.role in ("measured", "baseline") else {}
            )
            axes.plot(curve.x, curve.y, label=curve.label, **drawn)
            if curve.low is not None and curve.high is not None:
                axes.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.16, linewidth=0)
        for which, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
            values = [value for curve in outcome.curves for value in getattr(curve, which)]
            if values and min(values) > 0 and not (listed and which == "x"):
                log_axis(axes, which, min(values) / 1.15, 1.15 * max(values))
            else:
                thousands(axis)
        axes.set_xlabel(outcome.x_label)
        axes.set_ylabel(outcome.y_label)
        axes.set_title(title)
        axes.grid(visible=True)
        axes.legend()
        return figure


def _stroke(curve: Curve, listed: bool) -> dict[str, Any]:
    """Measured: solid with dots; predicted: dashed grey; bound: dash-dotted; baselines: squares."""
    if curve.role == "predicted":
        return {"color": GREY, "linestyle": "--"}
    if curve.role == "bound":
        return {"color": INK, "linestyle": "-.", "linewidth": 1}
    size = 2 if listed and len(curve.x) >= 60 else 4
    joined = {"linestyle": "none"} if listed else {}
    return {"marker": "o" if curve.role == "measured" else "s", "markersize": size} | joined
