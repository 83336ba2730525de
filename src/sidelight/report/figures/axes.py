"""What several figures need on their axes: readable ticks, curves that coincide, names at the ends of curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, MaxNLocator, NullFormatter
from scipy.optimize import isotonic_regression

from sidelight._types import Floats
from sidelight.report.text import number, power

if TYPE_CHECKING:
    from sidelight.report.groups import Curve
    from sidelight.report.style import Stroke

LINE_HEIGHT = 0.155
"""Inches between two names beside a figure."""

MOST_DECADES = 6
"""Over more of them, not every power of ten has its label."""


def log_axis(axes: Axes, which: str, low: float, high: float, least_span: float = 2.0) -> None:
    """A logarithmic axis from `low` to `high`, at least by the factor `least_span`, with few, readable ticks."""
    high = max(high, least_span * low)
    axes.set(**{f"{which}scale": "log", f"{which}lim": (low, high)})
    first, last = int(np.ceil(np.log10(low) - 1e-9)), int(np.floor(np.log10(high) + 1e-9))
    decades = [10.0**k for k in range(first, last + 1)]
    ticks = decades[:: max(1, -(-(last - first) // MOST_DECADES))]
    labels = [_decade(tick) for tick in ticks]
    if len(ticks) < 2:
        ticks = [m * 10.0**k for k in range(first - 1, last + 1) for m in (1, 2, 5)]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) < 2:
            ticks = [tick for tick in MaxNLocator(5).tick_values(low, high) if low <= tick <= high]
        labels = [number(tick) for tick in ticks]
    minor = decades
    if last - first <= MOST_DECADES:
        minor = [m * 10.0**k for k in range(first - 1, last + 1) for m in range(2, 10)]
    axis: Axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FixedFormatter(labels))
    axis.set_minor_locator(FixedLocator([tick for tick in minor if low <= tick <= high]))
    axis.set_minor_formatter(NullFormatter())


def _decade(value: float) -> str:
    exponent = round(np.log10(value))
    return f"{10**exponent:,}" if 0 <= exponent <= 4 else power(exponent)


def thousands(axis: Axis, whole: bool = False) -> None:
    """Linear ticks with thousands apart, at whole numbers only if asked for."""
    axis.set_major_locator(MaxNLocator(5, integer=whole))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}".replace("-", "−")))


def name_rows(axes: Axes, names: Sequence[str], room: float) -> None:
    """Rows of bars with their names, the first on top; a single one gets `room` around it."""
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    if len(names) == 1:
        axes.set_ylim(room, -room)


def nested_widths(curves: Sequence[npt.NDArray[Any]], width: float = 1.4) -> list[float]:
    """A line width for each curve, such that curves that coincide show as stripes, not as one.

    >>> nested_widths([np.array([1, 2]), np.array([1, 2]), np.array([3, 4])])
    [3.2, 1.4, 1.4]
    """
    same = [[np.array_equal(curve, other) for other in curves] for curve in curves]
    return [
        width + 3.6 * sum(row[k + 1 :]) / max(sum(row) - 1, 2)  # stripes stay narrow where many coincide
        for k, row in enumerate(same)
    ]


def spread_labels(wanted: Sequence[float], gap: float, low: float = 0.0, high: float = 1.0) -> Floats:
    """Positions near `wanted`, in its order, at least `gap` apart and inside [low, high] if they fit.

    Least squares: neighbours that are too close move together.

    >>> spread_labels([0.5, 0.5, 0.9], 0.1).round(3).tolist()
    [0.45, 0.55, 0.9]
    """
    order = np.argsort(wanted, kind="stable")
    shifts = gap * np.arange(len(order))
    level = isotonic_regression(np.asarray(wanted, dtype=float)[order] - shifts).x
    placed = np.empty(len(order))
    placed[order] = np.clip(level, low, max(high - shifts[-1], low)) + shifts
    return placed


def named_lines(curves: Sequence[Curve], looks: Mapping[str, Stroke]) -> list[Artist]:
    """Entries of a legend, where there is no room for names at the ends of curves."""
    return [
        Line2D(
            [], [], color=looks[curve.policy].colour, linestyle=looks[curve.policy].dash, label=curve.label
        )
        for curve in curves
    ]


def label_ends(axes: Axes, ends: Sequence[tuple[str, float, str]]) -> None:
    """Name curves of a log axis at their right ends: (text, last value, colour), moved apart where needed."""
    low, high = axes.get_ylim()
    figure = axes.get_figure(root=True)
    assert figure is not None
    gap = LINE_HEIGHT / (float(figure.get_size_inches()[1]) - 1.1)  # an inch or so is not the axes'
    heights = [float(np.log(np.clip(value, low, high) / low) / np.log(high / low)) for _, value, _ in ends]
    line = {"arrowstyle": "-", "linewidth": 0.6, "shrinkA": 1, "shrinkB": 0, "relpos": (0, 0.5)}
    for (text, _, colour), end, at in zip(ends, heights, spread_labels(heights, gap), strict=True):
        axes.annotate(
            text,
            xy=(1.015, end),
            xytext=(1.07, at),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=colour,
            fontsize=7.5,
            va="center",
            arrowprops=line | {"color": colour},
            annotation_clip=False,
        )
