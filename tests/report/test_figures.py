"""Figures are drawn from finished results; what they must show is there."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

import sidelight as sl
from sidelight.report.figures import MOST_ARMS_DRAWN, draw_partition, draw_regret, run_figure, save_figure

PNG = b"\x89PNG\r\n\x1a\n"


def axes() -> Axes:
    return Figure().subplots()


def simulated(spec, horizon, runs, realization="auto"):
    g = sl.families.parse(spec)
    return sl.simulate(
        sl.plan(g, horizon, realization=realization), sl.environments.gap(g.n_arms), seeds=range(runs)
    )


def arrows(drawn):
    return [text for text in drawn.texts if getattr(text, "arrow_patch", None)]


def dots(drawn):
    return [found for found in drawn.collections if isinstance(found, PathCollection)]


def test_small_graphs_are_drawn_arm_by_arm():
    g = sl.families.cliques([3, 4])
    drawn = axes()
    draw_partition(drawn, sl.partitions.components(g))
    (arms,) = dots(drawn)  # no arm has a loop, so there are no rings
    assert len(arms.get_offsets()) == g.n_arms
    assert len(np.unique(arms.get_facecolors(), axis=0)) == 2  # a colour for each block
    assert len(np.unique(np.round(arms.get_offsets(), 9), axis=0)) == g.n_arms  # no arm hides another
    assert [text.get_text() for text in drawn.texts if not text.arrow_patch] == [str(i) for i in range(7)]
    assert arrows(drawn)
    assert "2 weak blocks" in drawn.get_title()


def test_loops_are_rings():
    g = sl.families.corrupted_mab(6, 2)
    drawn = axes()
    draw_partition(drawn, sl.partitions.corrupted(g))
    sizes = sorted(len(found.get_offsets()) for found in dots(drawn))
    assert sizes == [4, 6]  # a ring for each of the four arms that reveal themselves, a dot for every arm
    assert "4 strong singletons" in drawn.get_title()


@pytest.mark.parametrize(
    ("spec", "n_arrows"), [("cycle:5:directed", 5), ("mab:4", 0), ("revealing_action:4", 3)]
)
def test_an_arrow_for_every_edge_between_arms(spec, n_arrows):
    drawn = axes()
    draw_partition(drawn, sl.partitions.single(sl.families.parse(spec)))
    assert len(arrows(drawn)) == n_arrows


def test_large_graphs_are_described():
    g = sl.families.cycle(MOST_ARMS_DRAWN + 1)
    drawn = axes()
    draw_partition(drawn, sl.partitions.single(g))
    assert not dots(drawn)
    assert not arrows(drawn)
    (text,) = drawn.texts
    assert text.get_text() == "121 arms in 1 blocks"


def test_the_largest_graph_that_is_drawn():
    drawn = axes()
    draw_partition(drawn, sl.partitions.single(sl.families.cycle(MOST_ARMS_DRAWN)))
    assert len(dots(drawn)[0].get_offsets()) == MOST_ARMS_DRAWN


def test_regret_shows_runs_mean_and_bound():
    run = simulated("cycle:6", 400, runs=3)
    bound = run.plan.bound
    drawn = axes()
    draw_regret(drawn, run)
    shown = [line.get_ydata() for line in drawn.lines]
    for regret in (*run.regret, run.regret.mean(axis=0)):
        assert any(line.shape == regret.shape and np.allclose(line, regret) for line in map(np.array, shown))
    assert any(np.array_equal(line, [bound.value] * 2) for line in shown)
    labels = [text.get_text() for text in drawn.get_legend().get_texts()]
    assert f"bound: {bound.value:,.0f}" in labels
    assert "mean of 3 runs" in labels
    assert "400" in drawn.get_title()


def test_uncertified_bounds_are_marked():
    run = simulated("cycle:30", 5, runs=1, realization="clustered")
    assert not run.plan.bound.certified
    drawn = axes()
    draw_regret(drawn, run)
    assert any("conditions fail" in text.get_text() for text in drawn.get_legend().get_texts())


@pytest.mark.parametrize("spec", ["teams:4x3", "mab:1", "full:6", "cycle:200", "corrupted_full:9,3"])
def test_whole_figures_are_written(spec, tmp_path):
    figure = run_figure(simulated(spec, 50, runs=2), f"{spec}: plan and play")
    assert isinstance(figure, Figure)
    assert len(figure.axes) == 2
    assert figure.get_suptitle() == f"{spec}: plan and play"
    save_figure(figure, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(PNG)
    save_figure(figure, str(tmp_path / "figure.svg"))
    assert b"<svg" in (tmp_path / "figure.svg").read_bytes()


def test_drawing_leaves_no_global_state():
    """Figures are not registered with pyplot, which would keep them all in memory."""
    from matplotlib import pyplot

    before = pyplot.get_fignums()
    run_figure(simulated("cycle:4", 20, runs=1), "")
    assert pyplot.get_fignums() == before
