"""Regret on log axes, with intervals, growth exponents and bounds: over the rounds, or against horizon or size.

Of the comparisons of a report, and for notebooks and scripts: `run.plot()` and `results.plot()`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from sidelight.analysis import LongRun
from sidelight.errors import InvalidOption, listing
from sidelight.experiment.results import Results, cell_of
from sidelight.experiment.run import Run
from sidelight.report.figures.axes import label_ends, log_axis, named_lines, nested_widths
from sidelight.report.figures.canvas import new_figure, styled
from sidelight.report.groups import Curve, Group, Scaling, groups_of, regret_curves, scaling_curves
from sidelight.report.style import GREY, INK, NARROW, PAGE, strokes

CERTIFICATE = (0, (1, 1.5))
"""The dots of a running certificate."""
GUIDE = (0, (6, 3))
"""The dashes of what is no measurement: one loss per round."""
DECADES_SHOWN = 4
"""Curves start so many decades before the horizon: earlier rounds say little and squeeze the rest."""

COLUMNS = 3
"""Panels side by side."""
MOST_PANELS = 24


@styled()
def regret_figure(
    group: Group, floor: float | None = None, limit: LongRun | None = None, *, width: float = PAGE
) -> Figure:
    """Mean regret of every policy with its band, named at its end with its growth exponent.

    Dots are running certificates, triangles bounds at the horizon, filled where certified; `floor` is a lower
    bound there, `limit` what is possible in the long run.
    """
    narrow = width < NARROW
    figure = new_figure(
        width, 3.1 + 0.13 * len(group.cells) if narrow else max(3.4, 1.6 + 0.27 * len(group.cells))
    )
    axes = figure.subplots()
    looks = strokes(group.policies)
    curves, floored = draw_regret(axes, group, floor)
    marks = regret_marks(curves, floored)
    if limit is not None and limit.lower > 0:
        marks.append(draw_limit(axes, limit))
    spacing = {"columnspacing": 1.5, "handletextpad": 0.5}
    if narrow:
        figure.legend(handles=[*named_lines(curves, looks), *marks], loc="outside lower left", **spacing)
        return figure
    label_ends(axes, [(curve.label, float(curve.mean[-1]), looks[curve.policy].colour) for curve in curves])
    figure.legend(handles=marks, loc="outside lower center", ncols=4 if len(marks) == 4 else 3, **spacing)
    return figure


def draw_regret(axes: Axes, group: Group, floor: float | None = None) -> tuple[list[Curve], bool]:
    """The curves of `regret_figure` on axes, without names and legend; these, and whether `floor` is in sight."""
    looks, horizon = strokes(group.policies), group.horizon
    start = max(1.0, horizon / 10**DECADES_SHOWN)
    curves = regret_curves(group, start)
    bounds = [(curve, *bound) for curve in curves for bound in curve.bounds.values() if bound[0] > 0]
    heights = [horizon / 2, *(value for _, value, _ in bounds), *([floor] if floor else [])]
    for curve, stroke in zip(curves, nested_widths([cell.mean for cell in group.cells]), strict=True):
        colour, dash = looks[curve.policy]
        above = curve.mean > 0
        heights += curve.mean[above].tolist()
        mean = np.where(above, curve.mean, np.nan)  # a gap: nothing below zero can be shown here
        axes.plot(curve.x, mean, color=colour, linestyle=dash, linewidth=stroke, zorder=3)
        if curve.certificate is not None:
            axes.plot(
                curve.x, curve.certificate, color=colour, linestyle=CERTIFICATE, linewidth=0.9, zorder=2
            )
            heights.append(float(curve.certificate[-1]))
        if _has_band(curve):
            low = np.maximum(curve.low, 1e-12)
            axes.fill_between(curve.x, low, curve.high, color=colour, alpha=0.16, linewidth=0, zorder=2)
    bottom = max(min(heights), max(heights) * 1e-6) / 1.6
    log_axis(axes, "x", start, horizon)
    log_axis(axes, "y", bottom, 1.6 * max(heights))
    sizes = nested_widths([np.array(value) for _, value, _ in bounds], 6)
    for (curve, value, certified), size in zip(bounds, sizes, strict=True):
        edge = looks[curve.policy].colour
        face = edge if certified else "white"
        axes.plot([horizon], [value], "v", ms=size, mfc=face, mec=edge, clip_on=False, zorder=6)
    if floor is not None and floor > bottom:
        axes.plot([horizon], [floor], "^", ms=6, color=INK, clip_on=False, zorder=5)
    axes.plot([start, horizon], [start, horizon], color=GREY, linestyle=GUIDE, linewidth=1, zorder=1)
    axes.set(xlabel="round t", ylabel="regret")
    axes.grid(which="major")
    return curves, floor is not None and floor > bottom


def draw_limit(axes: Axes, limit: LongRun) -> Artist:
    """The line c*·log t, for the legend too; the axes stay as they are."""
    low, high = axes.get_xlim()
    x = np.geomspace(max(low, 1.01), high, 200)
    label = "c*·log t: the long run of coins"
    (line,) = axes.plot(x, limit.at(x), color=INK, linestyle="-.", linewidth=1, zorder=1, label=label)
    axes.set_xlim(low, high)
    return line


def _has_band(curve: Curve) -> bool:
    return bool(np.isfinite(curve.low).all())


def regret_marks(curves: list[Curve], floored: bool) -> list[Artist]:
    """The legend: what is drawn besides the curves, which are named at their ends."""
    marks: list[Artist] = []
    if any(map(_has_band, curves)):
        marks.append(Patch(color=GREY, alpha=0.3, linewidth=0, label="95 % interval of the mean"))
    if any(curve.certificate is not None for curve in curves):
        label = "running certificate, mean"
        marks.append(Line2D([], [], color="0.35", linestyle=CERTIFICATE, linewidth=0.9, label=label))
    marks.append(Line2D([], [], color=GREY, linestyle=GUIDE, linewidth=1, label="one loss per round"))
    kinds = {certified for curve in curves for _, certified in curve.bounds.values()}
    for certified, label in ((True, "bound at T, certified"), (False, "bound at T, conditions fail")):
        if certified in kinds:
            face = "0.35" if certified else "white"
            marks.append(Line2D([], [], linestyle="", marker="v", mec="0.35", mfc=face, label=label))
    if floored:
        label = "lower bound at T, worst case"
        marks.append(Line2D([], [], linestyle="", marker="^", color=INK, label=label))
    return marks


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


# -- of a run, and of results -------------------------------------------------------------------------------


def run_figure(run: Run) -> Figure:
    """The regret of one run, large."""
    return regret_figure(_alone(run))


@styled()
def draw_run(run: Run, axes: Axes) -> Axes:
    """The same on the user's own axes, with a legend inside."""
    if not hasattr(axes, "plot"):
        raise InvalidOption(
            f"axes are those of a Matplotlib figure, got {axes!r:.50}; run.plot().savefig(path) writes a file"
        )
    group = _alone(run)
    curves, floored = draw_regret(axes, group)
    ((name, look),) = strokes(group.policies).items()
    (line,) = axes.plot([], [], color=look.colour, label=name)
    axes.legend(handles=[line, *regret_marks(curves, floored)], loc="best")
    return axes


def results_figure(
    results: Results, graph: str | None = None, environment: str | None = None, horizon: int | None = None
) -> Figure:
    """The comparison that is asked for, or all of those as panels that share their legend."""
    wanted = {"graph": graph, "environment": environment, "horizon": horizon}
    groups = [
        group
        for group in groups_of(results)
        if all(value is None or getattr(group, name) == value for name, value in wanted.items())
    ]
    if not groups:
        existing = listing([group.title for group in groups_of(results)])
        asked = ", ".join(f"{name}={value!r}" for name, value in wanted.items() if value is not None)
        raise InvalidOption(
            f"there is no comparison with {asked}; there are: {existing}"
            if existing
            else "there is nothing to draw"
        )
    if len(groups) > MOST_PANELS:
        raise InvalidOption(
            f"{len(groups)} comparisons do not fit into one figure, which has {MOST_PANELS} panels at most; choose"
            " with graph=, environment= or horizon="
        )
    return regret_figure(groups[0]) if len(groups) == 1 else _panels(groups)


@styled()
def _panels(groups: list[Group]) -> Figure:
    """A small picture for each comparison, and one legend for all."""
    columns = min(COLUMNS, len(groups))
    rows = -(-len(groups) // columns)
    looks = strokes(groups[0].policies)
    figure = new_figure(PAGE, 2.3 * rows + 0.6 + 0.16 * (len(looks) // 4))
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    marks: dict[str, object] = {
        name: Line2D([], [], color=look.colour, linestyle=look.dash, label=name)
        for name, look in looks.items()
    }
    for axes, group in zip(panels, groups, strict=False):
        curves, floored = draw_regret(axes, group)
        axes.set_title(group.title, fontsize=7.5)
        marks |= {str(mark.get_label()): mark for mark in regret_marks(curves, floored)}
    for axes in panels[len(groups) :]:
        axes.set_visible(False)
    figure.legend(handles=list(marks.values()), loc="outside lower center", ncols=4)
    return figure


def _alone(run: Run) -> Group:
    """The run as a comparison of one, as far as all of its seeds have got."""
    reached = np.isfinite(run.cost).all(axis=0)
    if not reached.any():
        raise InvalidOption(
            "there is nothing to draw: the seeds have no checkpoint in common yet; run.resume() plays on"
        )
    if not reached.all():
        run = replace(
            run,
            checkpoints=run.checkpoints[reached],
            cost=run.cost[:, reached],
            regret=run.regret[:, reached],
            ledger=run.ledger[:, reached],
            certificate=run.certificate[:, reached],
        )
    name = str(getattr(run.plan, "realization", type(run.plan).__name__))
    cell = cell_of(run, id="", graph="", policy=name, environment=run.environment)
    return Group("", run.environment, cell.horizon, (cell,), (name,))
