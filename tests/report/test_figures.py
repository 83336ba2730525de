"""The figure of one run: what it must show is there."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import sidelight as sl
from sidelight.report.figures.base import draw_run, run_figure, save_figure

PNG = b"\x89PNG\r\n\x1a\n"


def simulated(spec, horizon, runs, realization="auto"):
    g = sl.families.parse(spec)
    return sl.simulate(
        sl.plan(g, horizon, realization=realization), sl.environments.gap(g.n_arms), seeds=range(runs)
    )


def test_regret_shows_runs_mean_and_bound():
    run = simulated("cycle:6", 400, runs=3)
    bound = run.plan.bound
    drawn = Figure().subplots()
    draw_run(drawn, run)
    shown = [np.array(line.get_ydata()) for line in drawn.lines]
    for regret in (*run.regret, run.regret.mean(axis=0)):
        assert any(line.shape == regret.shape and np.allclose(line, regret) for line in shown)
    assert any(np.array_equal(line, [bound.value] * 2) for line in shown)
    labels = [text.get_text() for text in drawn.get_legend().get_texts()]
    assert f"bound: {bound.value:,.0f}" in labels
    assert "mean of 3 runs" in labels
    assert "400" in drawn.get_title()


def test_uncertified_bounds_are_marked():
    run = simulated("cycle:30", 5, runs=1, realization="clustered")
    assert not run.plan.bound.certified
    drawn = Figure().subplots()
    draw_run(drawn, run)
    assert any("conditions fail" in text.get_text() for text in drawn.get_legend().get_texts())


@pytest.mark.parametrize(("spec", "horizon"), [("teams:4x3", 50), ("mab:1", 1), ("cycle:200", 50)])
def test_whole_figures_are_written(spec, horizon, tmp_path):
    figure = run_figure(simulated(spec, horizon, runs=2), f"{spec}: plan and play")
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
