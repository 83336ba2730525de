"""Figures, drawn from finished results; nothing is run here."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sidelight.experiment import Run
    from sidelight.partition import Partition

MOST_ARMS_DRAWN = 120


def run_figure(run: Run, title: str) -> Figure:
    """The graph with its blocks beside the regret of the runs and the plan's bound."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    draw_partition(left, run.plan.partition)
    draw_regret(right, run)
    figure.suptitle(title)
    return figure


def draw_partition(axes: Axes, partition: Partition) -> None:
    """Arms as dots coloured by block, an arrow for every edge; blocks sit around a circle."""
    graph = partition.graph
    axes.set_axis_off()
    if graph.n_arms > MOST_ARMS_DRAWN:
        axes.text(0.5, 0.5, f"{graph.n_arms:,} arms in {len(partition.blocks):,} blocks", ha="center")
        return
    at = _positions(partition)
    colours = _block_colours(partition)
    for i, j in graph.edges():
        if i != j:
            both = graph.reveals(int(j), int(i))
            axes.annotate(
                "",
                at[j],
                at[i],
                arrowprops={
                    "arrowstyle": "-" if both else "->",
                    "color": "0.55",
                    "linewidth": 0.8,
                    "shrinkA": 6,
                    "shrinkB": 6,
                },
            )
    loops = graph.has_loop
    axes.scatter(at[:, 0], at[:, 1], s=130, c=colours, edgecolors="black", linewidths=0.8, zorder=3)
    if loops.any():  # a ring around an arm: it reveals itself
        axes.scatter(
            at[loops, 0], at[loops, 1], s=260, facecolors="none", edgecolors="black", linewidths=0.8, zorder=2
        )
    for arm, (x, y) in enumerate(at):
        axes.annotate(str(arm), (x, y), ha="center", va="center", fontsize=6, zorder=4)
    singletons = len(partition.strong_loop) + len(partition.strong_loopless)
    weak = _counted(len(partition.weak), "weak block")
    axes.set_title(
        f"{_counted(graph.n_arms, 'arm')}; {weak}, {_counted(singletons, 'strong singleton')}", fontsize=10
    )
    axes.set_aspect("equal")
    axes.margins(0.12)


def draw_regret(axes: Axes, run: Run) -> None:
    """Regret of every run, their mean, the bound at the horizon and what would be vacuous."""
    rounds = run.checkpoints
    for regret in run.regret:
        axes.plot(rounds, regret, color="tab:blue", alpha=0.25, linewidth=0.8)
    axes.plot(rounds, run.mean, color="tab:blue", linewidth=2, label=f"mean of {len(run.seeds)} runs")
    bound = run.bound
    if bound is not None:
        label = "bound" if bound.certified else "bound (conditions fail at this horizon)"
        axes.axhline(bound.value, color="tab:red", linestyle="--", label=f"{label}: {bound.value:,.0f}")
    axes.plot(rounds, rounds, color="0.6", linestyle=":", label="one loss per round")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.5)
    axes.set_xlabel("round")
    axes.set_ylabel("regret")
    axes.set_title(f"{run.plan.realization}, T = {run.checkpoints[-1]:,}", fontsize=10)
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)


def save_figure(figure: Figure, path: str | PathLike[str]) -> None:
    """Write the figure at a resolution fit for print."""
    figure.savefig(path, dpi=160)


def _positions(partition: Partition) -> npt.NDArray[np.float64]:
    """Blocks on a big circle, the arms of a block on a small one around its centre."""
    at = np.zeros((partition.graph.n_arms, 2))
    n_blocks = len(partition.blocks)
    for k, block in enumerate(partition.blocks):
        centre = np.zeros(2) if n_blocks == 1 else _on_circle(k, n_blocks)
        if len(block) == 1:
            at[block[0]] = centre
            continue
        radius = 1.0 if n_blocks == 1 else min(0.42, 0.8 * np.sin(np.pi / n_blocks))
        for index, arm in enumerate(block):
            at[arm] = centre + radius * _on_circle(index, len(block))
    return at


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _on_circle(index: int, count: int) -> npt.NDArray[np.float64]:
    angle = np.pi / 2 - 2 * np.pi * index / count
    return np.array([np.cos(angle), np.sin(angle)])


def _block_colours(partition: Partition) -> list[Any]:
    from matplotlib import colormaps

    palette = colormaps["tab20"]
    colours: list[Any] = [None] * partition.graph.n_arms
    for k, block in enumerate(partition.blocks):
        for arm in block:
            colours[arm] = "white" if len(block) == 1 else palette(k % 20)
    return colours
