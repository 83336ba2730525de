"""The figure of one run: its graph with the blocks of its plan, beside its regret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidelight.report.figures.graph import draw_graph, draw_matrix, is_drawable
from sidelight.report.style import COLOURS, GREY, log_axis, new_figure, number, save_figure, short, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sidelight.experiment import Run

__all__ = ["draw_run", "run_figure", "save_figure"]


def run_figure(run: Run, title: str) -> Figure:
    """The graph with its blocks beside the regret of the runs and the plan's bound."""
    with styled():
        figure = new_figure(8.4, 3.6)
        left, right = figure.subplots(1, 2)
        graph = run.plan.graph
        (draw_graph if is_drawable(graph) else draw_matrix)(left, graph, run.plan.partition)
        draw_run(right, run)
        figure.suptitle(short(title, 90), fontsize=11)
        return figure


def draw_run(axes: Axes, run: Run) -> None:
    """Regret of every run, their mean, the bound at the horizon and what would be vacuous."""
    rounds, bound = run.checkpoints, run.bound
    for regret in run.regret:
        axes.plot(rounds, regret, color=COLOURS[0], alpha=0.25, linewidth=0.7)
    axes.plot(rounds, run.mean, color=COLOURS[0], linewidth=1.8, label=f"mean of {len(run.seeds)} runs")
    if bound is not None:
        label = "bound" if bound.certified else "bound (conditions fail at this horizon)"
        axes.axhline(bound.value, color=COLOURS[1], linestyle="--", label=f"{label}: {number(bound.value)}")
    axes.plot(rounds, rounds, color=GREY, linestyle=":", linewidth=1, label="one loss per round")
    last = float(max(rounds[-1], 2))
    log_axis(axes, "x", 1, last)
    log_axis(axes, "y", 0.5, 1.5 * max(last, 0.0 if bound is None else bound.value))
    axes.set_xlabel("round")
    axes.set_ylabel("regret")
    axes.set_title(f"{run.plan.realization}, T = {run.checkpoints[-1]:,}")
    axes.legend(loc="lower right")
    axes.grid(visible=True)
