"""Where the policies spent their plays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from sidelight.partition import Partition
from sidelight.report.groups import Group
from sidelight.report.style import (
    PAGE,
    Stroke,
    log_axis,
    nested_widths,
    new_figure,
    power,
    short,
    strokes,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_COLUMNS = 64
"""Up to so many arms each has its own column."""


def plays_figure(
    group: Group, policies: Mapping[str, Stroke] | None = None, partition: Partition | None = None
) -> Figure | None:
    """Shares of all plays: arm by arm where there are few, by rank where there are many; None if uncounted."""
    counted = Group(
        group.graph, group.environment, group.horizon, tuple(c for c in group.cells if c.plays is not None)
    )
    if not counted.cells:
        return None
    with styled():
        plays = counted.cells[0].plays
        assert plays is not None
        if plays.size <= MOST_COLUMNS:
            figure = new_figure(PAGE, 1.25 + 0.24 * len(counted.cells))
            draw_shares(figure.subplots(), counted, partition)
        else:
            figure = new_figure(PAGE, 2.8)
            draw_ranks(figure.subplots(), counted, policies or strokes(c.policy for c in counted.cells))
        return figure


def draw_shares(axes: Axes, group: Group, partition: Partition | None) -> None:
    """A row per policy, a column per arm in the order of the blocks; darker is played more, on a log scale."""
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    plays = np.stack([cell.plays for cell in group.cells if cell.plays is not None])
    n = plays.shape[1]
    order = np.arange(n) if partition is None else np.concatenate(partition.blocks)
    shares = (plays / plays.sum(axis=1, keepdims=True))[:, order]
    least = min(max(float(shares[shares > 0].min()), 1e-5), 0.3 / n)
    shown = np.ma.masked_equal(shares, 0.0)
    picture = axes.imshow(shown, aspect="auto", cmap="Blues", norm=LogNorm(least, 1), interpolation="nearest")
    axes.set_yticks(range(len(plays)), [short(cell.policy) for cell in group.cells])
    step = 1 if n <= 32 else 2
    axes.set_xticks(range(0, n, step), [str(arm) for arm in order[::step]])
    axes.tick_params(length=0)
    axes.set_xticks(np.arange(n + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(plays) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1)
    axes.tick_params(which="minor", length=0)
    if partition is not None:
        for stop in np.cumsum(partition.sizes)[:-1]:
            axes.axvline(stop - 0.5, color="0.35", linewidth=0.8)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("arm" if partition is None or partition.n_blocks == 1 else "arm, blocks side by side")
    figure = axes.get_figure(root=True)
    assert figure is not None
    bar = figure.colorbar(picture, ax=axes, pad=0.02, fraction=0.05, aspect=9)
    ticks = [10.0**k for k in range(int(np.ceil(np.log10(least))), 1)]
    bar.ax.yaxis.set_major_locator(FixedLocator(ticks))
    bar.ax.yaxis.set_major_formatter(FixedFormatter([_percent(tick) for tick in ticks]))
    bar.ax.yaxis.set_minor_locator(NullLocator())
    bar.outline.set_visible(False)
    axes.set_title("share of plays, all seeds")


def draw_ranks(axes: Axes, group: Group, policies: Mapping[str, Stroke]) -> None:
    """Share of plays of the most played arm, the next, and so on."""
    least, n = 1.0, 2
    widths = nested_widths([np.sort(cell.plays) for cell in group.cells if cell.plays is not None])
    for cell, width in zip(group.cells, widths, strict=True):
        assert cell.plays is not None
        shares = np.sort(cell.plays)[::-1] / max(int(cell.plays.sum()), 1)
        shares = shares[shares > 0]
        n, least = max(n, cell.plays.size), min(least, float(shares[-1]))
        ranks = np.unique(np.geomspace(1, shares.size, 400).astype(int))
        stroke = policies[cell.policy]
        axes.plot(
            ranks,
            shares[ranks - 1],
            color=stroke.colour,
            linestyle=stroke.dash,
            label=short(cell.policy),
            linewidth=width,
        )
    log_axis(axes, "x", 1, n)
    log_axis(axes, "y", least / 1.5, 1.5)
    ticks = [tick for tick in axes.get_yticks() if tick <= 1]
    axes.set_yticks(ticks, [_percent(tick) for tick in ticks])
    axes.axhline(1 / n, color="0.55", linestyle=":", linewidth=1, label="all arms alike")
    axes.set_xlabel("arms from the most to the least played")
    axes.set_ylabel("share of plays")
    axes.grid(visible=True)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))


def _percent(share: float) -> str:
    return f"{100 * share:g} %" if share >= 1e-4 else power(round(np.log10(share)))
