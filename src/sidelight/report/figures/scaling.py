"""Final regret against the horizon: how regret grows when every run is planned for its own length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from sidelight.experiment.results import Cell, Results
from sidelight.experiment.statistics import GrowthExponent, growth_exponent, mean_band
from sidelight.report.style import PAGE, Stroke, label_ends, log_axis, new_figure, short, strokes, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEAST_HORIZONS = 3


@dataclass(frozen=True, eq=False)
class Scaling:
    """Cells of one graph and environment at three horizons or more, by policy, shortest first."""

    graph: str
    environment: str
    cells: dict[str, tuple[Cell, ...]]

    @property
    def title(self) -> str:
        """What the cells have in common."""
        return f"{self.graph}, {self.environment}"


def scalings_of(results: Results) -> tuple[Scaling, ...]:
    """What can be drawn against the horizon, in the order of the results."""
    found: dict[tuple[str, str], dict[str, dict[int, Cell]]] = {}
    for cell in results.cells:
        by_policy = found.setdefault((cell.graph, cell.environment), {})
        by_policy.setdefault(cell.policy, {})[cell.horizon] = cell
    scalings = []
    for (graph, environment), policies in found.items():
        long = {
            policy: tuple(cells[horizon] for horizon in sorted(cells))
            for policy, cells in policies.items()
            if len(cells) >= LEAST_HORIZONS
        }
        if long:
            scalings.append(Scaling(graph, environment, long))
    return tuple(scalings)


def scaling_exponent(cells: tuple[Cell, ...]) -> GrowthExponent | None:
    """Slope of log(mean final regret) on log T over all horizons, from the seeds that all cells share."""
    shared = reduce(np.intersect1d, (cell.seeds for cell in cells))
    if shared.size == 0:
        return None
    rows = [cell.regret[np.intersect1d(cell.seeds, shared, return_indices=True)[1], -1] for cell in cells]
    return growth_exponent([cell.horizon for cell in cells], np.column_stack(rows), decades=np.inf)


def scaling_label(policy: str, cells: tuple[Cell, ...]) -> str:
    """The policy's name and how its final regret grows: "auto  T^0.66 [0.65, 0.68]"."""
    found = scaling_exponent(cells)
    return short(policy) if found is None else f"{short(policy)}  T^{found}"


def scaling_figure(scaling: Scaling, policies: Mapping[str, Stroke] | None = None) -> Figure:
    """One panel on log axes: points with 95 % intervals, certified bounds dashed above them."""
    with styled():
        figure = new_figure(PAGE, max(3.2, 1.4 + 0.27 * len(scaling.cells)))
        draw_scaling(figure.subplots(), scaling, policies or strokes(scaling.cells))
        return figure


def draw_scaling(axes: Axes, scaling: Scaling, policies: Mapping[str, Stroke]) -> None:
    """Final regret of every policy at each of its horizons."""
    heights: list[float] = []
    horizons: list[int] = []
    ends = []
    for policy, cells in scaling.cells.items():
        colour, dash = policies[policy].colour, policies[policy].dash
        T = np.array([cell.horizon for cell in cells])
        bands = [mean_band(cell.regret[:, -1:]) for cell in cells]
        mean = np.array([float(band.mean[0]) for band in bands])
        half = np.array([np.nan_to_num(float(band.high[0] - band.mean[0])) for band in bands])
        shown = np.where(mean > 0, mean, np.nan)
        low = np.minimum(
            half, 0.999 * np.abs(mean)
        )  # an arm of the bar that reaches zero has no end on a log axis
        axes.errorbar(
            T, shown, yerr=[low, half], color=colour, linestyle=dash, marker="o", markersize=3.5, capsize=2
        )
        certified = [
            (cell.horizon, cell.bound["value"]) for cell in cells if cell.bound and cell.bound["certified"]
        ]
        if certified:
            x, y = zip(*certified, strict=True)
            axes.plot(
                x, y, color=colour, linestyle="--", linewidth=0.8, marker="v", markersize=3.5, alpha=0.8
            )
            heights += [float(value) for value in y if value > 0]
        heights += mean[mean > 0].tolist()
        horizons += T.tolist()
        ends.append((scaling_label(policy, cells), float(mean[-1]), colour))
    heights = heights or [1.0]
    log_axis(axes, "x", min(horizons) / 1.2, 1.2 * max(horizons))
    log_axis(axes, "y", max(min(heights), 1e-6 * max(heights)) / 1.6, 1.6 * max(heights))
    axes.set_xlabel("horizon T")
    axes.set_ylabel("regret after T rounds")
    axes.grid(visible=True)
    label_ends(axes, ends)
