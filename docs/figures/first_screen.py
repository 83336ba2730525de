"""Draw the picture at the top of README.md again: `python docs/figures/first_screen.py` (some seconds).

The game is that of the first example: three teams, ten arms, the last of which is better by 0.3.
"""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import sidelight as sl
from sidelight.report.figures.canvas import new_figure, save_figure, styled
from sidelight.report.style import COLOURS, GREY, INK

TEAMS, HORIZON, SEEDS = [3, 3, 4], 20_000, range(20)
NAMES = {
    "sl.plan(graph, T)": lambda graph: sl.plan(graph, HORIZON),
    "CHLZ21": lambda graph: sl.baselines.chlz21(graph, HORIZON),
    "Exp3.G": lambda graph: sl.baselines.exp3g(graph, HORIZON),
    "uniform": lambda graph: sl.baselines.uniform(graph, HORIZON),
}


def main() -> None:
    """Play and draw."""
    graph = sl.families.teams(TEAMS)
    coins = sl.environments.bernoulli([0.5] * 9 + [0.2])
    rounds = np.arange(200, HORIZON + 1, 200)
    runs = {
        name: sl.simulate(make(graph), coins, seeds=SEEDS, horizon=HORIZON, checkpoints=rounds)
        for name, make in NAMES.items()
    }
    with styled():
        figure = drawn(graph, runs)
        save_figure(figure, Path(__file__).parent / "first-screen.png", dpi=200)


def drawn(graph: sl.FeedbackGraph, runs: dict[str, sl.Run]) -> Figure:
    """The graph, coloured by what is played in the end, beside the regret of everyone."""
    figure = new_figure(7.4, 2.9)
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.45])
    first = next(iter(runs.values()))
    draw_teams(left, graph, first.plays.sum(axis=0) / first.plays.sum())
    draw_regret(right, runs)
    return figure


def draw_teams(axes: Axes, graph: sl.FeedbackGraph, shares: np.ndarray) -> None:
    """Teams as polygons; an arm is as dark as it is played often."""
    places, arm = np.zeros((graph.n_arms, 2)), 0
    for size, centre in zip(TEAMS, ((-1.25, 0.95), (1.25, 0.95), (0.0, -0.95)), strict=True):
        for k in range(size):
            angle = 2 * np.pi * (k + 0.25) / size
            places[arm] = np.add(centre, (0.72 * np.cos(angle), 0.72 * np.sin(angle)))
            arm += 1
    for i, j in graph.edges().tolist():
        axes.plot(*places[[i, j]].T, color="#BDBDBD", lw=0.9, zorder=1)
    blue = np.array([int(COLOURS[0][k : k + 2], 16) / 255 for k in (1, 3, 5)])
    strength = np.sqrt(shares / shares.max())[:, None]
    axes.scatter(
        *places.T, s=150, c=1 - strength * (1 - blue), edgecolors="#555555", linewidths=0.8, zorder=2
    )
    for i, place in enumerate(places):
        axes.text(
            *place,
            str(i),
            ha="center",
            va="center_baseline",
            fontsize=7,
            color="w" if strength[i] > 0.6 else INK,
        )
    axes.set_title("Playing an arm shows the losses\nof its team, but not its own.", fontsize=8.5)
    best = int(shares.argmax())
    axes.annotate(
        f"arm {best}, played\n{shares[best]:.0%} of the time",
        places[best],
        (1.15, -1.35),
        fontsize=7.5,
        color=COLOURS[0],
        ha="left",
        va="center",
        arrowprops={"arrowstyle": "-", "color": COLOURS[0], "lw": 0.8, "shrinkB": 8},
    )
    axes.set_xlim(-2.1, 2.9)
    axes.set_aspect("equal", adjustable="datalim")
    axes.axis("off")


def draw_regret(axes: Axes, runs: dict[str, sl.Run]) -> None:
    """Mean regret with two standard errors, each curve named where it ends; what is promised as a dashed line."""
    ours = next(iter(runs))
    for name, run, colour in zip(
        runs, runs.values(), (COLOURS[0], COLOURS[2], COLOURS[1], GREY), strict=True
    ):
        error = 2 * run.regret.std(axis=0, ddof=1) / np.sqrt(len(run.regret))
        axes.fill_between(run.checkpoints, run.mean - error, run.mean + error, color=colour, alpha=0.15, lw=0)
        axes.plot(run.checkpoints, run.mean, color=colour, lw=2.4 if name == ours else 1.4)
        if name == "uniform":  # leaves the picture
            axes.text(5_700, 1_650, name, color=colour, fontsize=8, ha="right")
            continue
        axes.annotate(
            f"{name}  {run.mean[-1]:,.0f}",
            (HORIZON, run.mean[-1]),
            (4, 0),
            textcoords="offset points",
            color=colour,
            fontsize=8.5 if name == ours else 8,
            fontweight="bold" if name == ours else "normal",
            va="center",
            annotation_clip=False,
        )
    promised = runs[ours].bound.value
    axes.axhline(promised, color=COLOURS[0], lw=0.9, ls=(0, (4, 3)))
    axes.text(
        HORIZON,
        promised + 110,
        f"certified before round one:\nat most {promised:,.0f} (dashed)",
        color=COLOURS[0],
        fontsize=7.5,
        va="bottom",
        ha="right",
    )
    axes.set(xlim=(0, HORIZON), ylim=(0, 2_700), xlabel="rounds")
    axes.set_title("Regret: how much more was lost than by the best arm", fontsize=8.5)
    axes.set_xticks(range(0, HORIZON + 1, 5_000))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


if __name__ == "__main__":
    main()
