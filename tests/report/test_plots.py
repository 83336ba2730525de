"""`run.plot()` and `results.plot()`: the report's own figures."""

import numpy as np
import pytest
from finished_cells import curve_cell
from matplotlib.figure import Figure

import sidelight as sl
from sidelight.experiment.results import Results
from sidelight.report.figures import regret
from sidelight.report.style import COLOURS, strokes


@pytest.fixture(scope="module")
def run():
    return sl.simulate(sl.plan("cycle:6", 500), "gap:0.3", seeds=3)


def test_a_run_is_drawn_with_band_certificate_and_bound(run):
    figure = run.plot()
    (axes,) = figure.axes
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert len(axes.collections) == 1  # the band
    (mean,) = [line for line in axes.lines if line.get_linestyle() == "-" and len(line.get_xdata()) > 2]
    shown = np.asarray(mean.get_ydata())
    np.testing.assert_allclose(shown[-1], run.mean[-1])
    bounds = [line for line in axes.lines if line.get_marker() == "v"]
    assert [line.get_ydata()[0] for line in bounds] == [run.bound.value]


def test_axes_of_ones_own_are_drawn_on_and_returned(run):
    axes = Figure().subplots()
    assert run.plot(axes) is axes
    assert axes.get_legend() is not None
    assert run.plan.realization in [text.get_text() for text in axes.get_legend().get_texts()]


def test_an_interrupted_run_is_shown_as_far_as_it_got(run):
    from dataclasses import replace

    cost, regret = run.cost.copy(), run.regret.copy()
    cost[1, 5:] = regret[1, 5:] = np.nan
    part = replace(run, cost=cost, regret=regret)
    (axes,) = part.plot().axes
    assert axes.get_xlim()[1] == max(run.checkpoints[4], 2 * axes.get_xlim()[0])
    with pytest.raises(sl.InvalidOption, match="resume"):
        replace(run, cost=np.full_like(cost, np.nan)).plot()


def test_figures_are_pictures_in_notebooks(run):
    assert run.plot()._repr_png_().startswith(b"\x89PNG")


CELLS = tuple(
    curve_cell(policy, graph=graph, horizon=T)
    for graph in "ab"
    for T in (10**3, 10**4)
    for policy in ("auto", "x")
)


def test_one_comparison_is_drawn_as_in_the_report():
    (axes,) = Results(CELLS[:2]).plot().axes
    shown = {line.get_color() for line in axes.lines}
    assert {look.colour for look in strokes(["auto", "x"]).values()} <= shown
    assert COLOURS[0] in shown


def test_several_are_panels_with_one_legend():
    figure = Results(CELLS).plot()
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in shown] == [
        f"{graph}, gap, T = {T:,}" for graph in "ab" for T in (10**3, 10**4)
    ]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()][:2] == ["auto", "x"]
    assert len(Results(CELLS).plot(graph="a", horizon=10**3).axes) == 1
    assert len([axes for axes in Results(CELLS).plot(graph="a").axes if axes.get_visible()]) == 2


def test_what_is_not_there_is_named(monkeypatch):
    with pytest.raises(sl.InvalidOption, match=r"graph='c'; there are: a, gap, T = 1,000"):
        Results(CELLS).plot(graph="c")
    with pytest.raises(sl.InvalidOption, match="nothing to draw"):
        Results(()).plot()
    monkeypatch.setattr(regret, "MOST_PANELS", 3)
    with pytest.raises(sl.InvalidOption, match="4 comparisons"):
        Results(CELLS).plot()
