"""Regret curves: what they show, and how they keep apart."""

from dataclasses import replace

import numpy as np
import pytest
from drawn_figures import group, overlapping, tick_labels
from finished_cells import bound, curve_cell, eight, final_cell, results

from sidelight.analysis import LongRun
from sidelight.report.figures.regret import regret_figure, scaling_figure
from sidelight.report.groups import regret_curves, scalings_of
from sidelight.report.style import strokes


def test_regret_shows_means_bands_bounds_and_exponents():
    cells = [
        curve_cell("auto", seeds=8),
        curve_cell("flat", exponent=0.75, bound=bound(9_000, certified=False)),
    ]
    drawn = regret_curves(group(*cells))
    (axes,) = regret_figure(group(*cells), floor=20.0).axes
    curves = [line for line in axes.lines if len(line.get_xdata()) > 2]
    for one, curve in zip(cells, curves, strict=True):
        np.testing.assert_allclose(curve.get_ydata(), one.mean)
        assert curve.get_color() == strokes(["auto", "flat"])[one.policy].colour
    assert len(axes.collections) == 2  # bands
    marks = {
        (line.get_marker(), float(line.get_ydata()[0])): line
        for line in axes.lines
        if line.get_marker() != "None"
    }
    assert marks["v", cells[0].bound["value"]].get_markerfacecolor() == strokes(["auto"])["auto"].colour
    assert marks["v", 9_000.0].get_markerfacecolor() == "white"  # its conditions fail
    assert ("^", 20.0) in marks
    assert [text.get_text() for text in axes.texts] == [curve.label for curve in drawn]
    assert drawn[0].label == "auto  t^0.50 [0.50, 0.50]"
    assert drawn[1].label == "flat  t^0.75"  # four seeds are too few for an interval
    (legend,) = axes.figure.legends
    labels = {text.get_text() for text in legend.get_texts()}
    assert {"95 % interval of the mean", "bound at T, certified", "bound at T, conditions fail"} < labels


def test_the_long_run_of_coins_is_a_line():
    one = group(curve_cell("auto"))
    (plain,), (axes,) = regret_figure(one).axes, regret_figure(one, limit=LongRun(7.1, 7.0, np.zeros(2))).axes
    (line,) = (line for line in axes.lines if line.get_linestyle() == "-.")
    np.testing.assert_allclose(line.get_ydata(), 7 * np.log(line.get_xdata()))
    assert (axes.get_xlim(), axes.get_ylim()) == (plain.get_xlim(), plain.get_ylim())
    assert line.get_label() in {text.get_text() for text in axes.figure.legends[0].get_texts()}
    (bounded,) = regret_figure(one, limit=LongRun(0.0, 0.0, np.zeros(2))).axes
    assert len(bounded.lines) == len(plain.lines)


def test_the_running_certificate_is_dotted_in_the_colour_of_its_policy():
    one = curve_cell("auto")
    one = replace(one, certificate=2 * one.regret + 10)
    (axes,) = regret_figure(group(one, curve_cell("flat"))).axes
    (dotted,) = [line for line in axes.lines if line.get_linestyle() == ":" or line.get_linewidth() == 0.9]
    np.testing.assert_allclose(dotted.get_ydata(), one.certificate.mean(axis=0))
    assert dotted.get_color() == strokes(["auto", "flat"])["auto"].colour
    assert "running certificate, mean" in {text.get_text() for text in axes.figure.legends[0].get_texts()}


def test_one_seed_has_no_band():
    (axes,) = regret_figure(group(curve_cell(seeds=1))).axes
    assert not axes.collections
    assert all("interval" not in text.get_text() for text in axes.figure.legends[0].get_texts())


def test_regret_below_zero_leaves_a_gap():
    falling = curve_cell(seeds=2)
    falling.regret[:, 30:40] = -5.0
    (axes,) = regret_figure(group(falling)).axes
    curve = np.asarray(axes.lines[0].get_ydata(), dtype=float)
    assert np.isnan(curve[30:40]).all()
    assert np.isfinite(np.delete(curve, range(30, 40))).all()
    assert axes.get_ylim()[0] > 0


def test_names_of_eight_policies_do_not_overlap():
    (axes,) = (figure := regret_figure(group(*eight()))).axes
    figure.draw_without_rendering()
    figure.draw_without_rendering()
    assert overlapping(axes.texts) == []
    assert overlapping(tick_labels(axes.xaxis)) == []
    assert overlapping(tick_labels(axes.yaxis)) == []


def test_coinciding_curves_are_drawn_as_stripes():
    first = curve_cell("auto")
    second = curve_cell("flat", regret=first.regret)
    (axes,) = regret_figure(group(first, second, curve_cell("other", scale=2))).axes
    widths = [line.get_linewidth() for line in axes.lines if len(line.get_xdata()) > 2]
    assert widths[0] > widths[1] == widths[2]


# -- final regret against the horizon --------------------------------------------------------------------


def test_points_and_certified_bounds_are_drawn():
    cells = [final_cell(10**k, bound=bound(5.0 * 10**k, certified=k > 1)) for k in (1, 2, 3)]
    (axes,) = scaling_figure(*scalings_of(results(*cells))).axes
    points, *_, bounds = axes.lines
    np.testing.assert_allclose(points.get_ydata(), [one.mean[-1] for one in cells])
    assert list(bounds.get_xdata()) == [100, 1000]
    assert [text.get_text() for text in axes.texts] == ["auto  T^0.67"]  # three seeds: no interval


@pytest.mark.parametrize("factors", [(1.0,), (-1.0, 0.5), (0.0, 0.0)])
def test_odd_results_are_drawn_all_the_same(factors):
    cells = [final_cell(10**k, factors=factors) for k in (1, 2, 3)]
    scaling_figure(*scalings_of(results(*cells))).draw_without_rendering()
