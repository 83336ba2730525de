"""`run.plot()` and `results.plot()`: the figures of the report, for notebooks and scripts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sidelight.errors import InvalidOption, listing
from sidelight.experiment.results import Cell, Results, cell_of
from sidelight.experiment.run import Run
from sidelight.report.figures.canvas import new_figure, styled
from sidelight.report.figures.regret import draw_regret, regret_figure, regret_marks
from sidelight.report.groups import Group, groups_of
from sidelight.report.style import PAGE, strokes

COLUMNS = 3
"""Panels side by side."""
MOST_PANELS = 24


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
    cell: Cell = cell_of(run, id="", graph="", policy=name, environment=run.environment)
    return Group("", run.environment, cell.horizon, (cell,), (name,))
