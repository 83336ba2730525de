"""Where the policies spent their plays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from sidelight._types import Longs
from sidelight.partition import Partition
from sidelight.report.figures.axes import log_axis, nested_widths
from sidelight.report.figures.canvas import new_figure, styled
from sidelight.report.groups import Group
from sidelight.report.style import NARROW, PAGE, Stroke, strokes
from sidelight.report.text import power, short

MOST_COLUMNS = 64
"""Up to so many arms each has its own column."""
MOST_LETTERS = 24
LETTER = 0.055
"""Of a label below its column, and how wide one is in inches."""


@styled()
def plays_figure(
    group: Group,
    partition: Partition | None = None,
    labels: Sequence[str] | None = None,
    *,
    width: float = PAGE,
) -> Figure | None:
    """Shares of all plays: arm by arm where there are few, by rank where there are many; None if uncounted."""
    counted = {cell.policy: cell.plays for cell in group.cells if cell.plays is not None}
    if not counted:
        return None
    if next(iter(counted.values())).size <= MOST_COLUMNS:
        upright = labels is not None and _upright(labels, width)
        letters = max(map(len, _texts(labels))) if labels is not None and upright else 0
        figure = new_figure(width, 1.25 + 0.24 * len(counted) + LETTER * letters)
        draw_shares(figure.subplots(), counted, partition, labels, width)
    else:
        figure = new_figure(width, 2.8 if width >= NARROW else 2.8 + 0.13 * len(counted))
        axes = figure.subplots()
        draw_ranks(axes, counted, strokes(group.policies))
        if width < NARROW:
            figure.legend(*axes.get_legend_handles_labels(), loc="outside lower left")
        else:
            axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def draw_shares(
    axes: Axes,
    counted: Mapping[str, Longs],
    partition: Partition | None,
    labels: Sequence[str] | None = None,
    width: float = PAGE,
) -> None:
    """A row per policy, a column per arm in the order of the blocks; darker is played more, on a log scale."""
    plays = np.stack(list(counted.values()))
    n = plays.shape[1]
    order = np.arange(n) if partition is None else np.concatenate(partition.blocks)
    shares = (plays / plays.sum(axis=1, keepdims=True))[:, order]
    least = min(max(float(shares[shares > 0].min()), 1e-5), 0.3 / n)
    shown = np.ma.masked_equal(shares, 0.0)
    picture = axes.imshow(shown, aspect="auto", cmap="Blues", norm=LogNorm(least, 1), interpolation="nearest")
    letters, arms_named = (14, 10) if width < NARROW else (26, 32)
    axes.set_yticks(range(len(plays)), [short(policy, letters) for policy in counted])
    step = -(-n // arms_named)
    if labels is None:
        axes.set_xticks(range(0, n, step), [str(arm) for arm in order[::step]])
    else:
        texts = _texts(labels)
        below = [texts[arm] for arm in order]
        axes.set_xticks(
            range(n), below, rotation=90 if _upright(labels, width) else 0, fontsize=7 if n <= 32 else 5
        )
    axes.set_xticks(np.arange(n + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(plays) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1)
    axes.tick_params(which="both", length=0)
    if partition is not None:
        for stop in np.cumsum(partition.sizes)[:-1]:
            axes.axvline(stop - 0.5, color="0.35", linewidth=0.8)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("arm" if partition is None or partition.n_blocks == 1 else "arm, blocks side by side")
    figure = axes.get_figure(root=True)
    assert figure is not None
    bar = figure.colorbar(picture, ax=axes, pad=0.02, fraction=0.05, aspect=9)
    ticks = [10.0**k for k in range(int(np.ceil(np.log10(least))), 1)]
    bar.ax.set_yticks(ticks, [_percent(tick) for tick in ticks])
    bar.ax.yaxis.set_minor_locator(NullLocator())
    bar.outline.set_visible(False)
    axes.set_title("share of plays, all seeds")


def _texts(labels: Sequence[str]) -> list[str]:
    """What stands below the columns where arms have labels."""
    return [short(f"{arm} {label}", MOST_LETTERS) for arm, label in enumerate(labels)]


def _upright(labels: Sequence[str], width: float) -> bool:
    """Must they be turned to fit below their columns?"""
    return LETTER * max(map(len, _texts(labels))) > 0.8 * width / len(labels)


def draw_ranks(axes: Axes, counted: Mapping[str, Longs], looks: Mapping[str, Stroke]) -> None:
    """Share of plays of the most played arm, the next, and so on."""
    least, n = 1.0, 2
    widths = nested_widths([np.sort(plays) for plays in counted.values()])
    for (policy, plays), width in zip(counted.items(), widths, strict=True):
        shares = np.sort(plays)[::-1] / max(int(plays.sum()), 1)
        shares = shares[shares > 0]
        n, least = max(n, plays.size), min(least, float(shares[-1]))
        ranks = np.unique(np.geomspace(1, shares.size, 400).astype(int))
        colour, dash = looks[policy]
        axes.plot(
            ranks, shares[ranks - 1], color=colour, linestyle=dash, linewidth=width, label=short(policy)
        )
    log_axis(axes, "x", 1, n)
    log_axis(axes, "y", least / 1.5, 1.5)
    ticks = [tick for tick in axes.get_yticks() if tick <= 1]
    axes.set_yticks(ticks, [_percent(tick) for tick in ticks])
    axes.axhline(1 / n, color="0.55", linestyle=":", linewidth=1, label="all arms alike")
    axes.set(xlabel="arms from the most to the least played", ylabel="share of plays")
    axes.grid(visible=True)


def _percent(share: float) -> str:
    return f"{100 * share:g} %" if share >= 1e-4 else power(round(np.log10(share)))
