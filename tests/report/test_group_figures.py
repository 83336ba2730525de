"""Regret curves, ledgers, plays and timings of comparable cells."""

import numpy as np
import pytest
from finished_cells import bound, cell, curve_cell, results
from matplotlib.text import Text

import sidelight as sl
from sidelight.report.figures.ledger import ledger_figure, stacked
from sidelight.report.figures.plays import plays_figure
from sidelight.report.figures.regret import curve_label, regret_figure
from sidelight.report.figures.timing import timing_figure
from sidelight.report.groups import groups_of
from sidelight.report.style import strokes


def group(*cells):
    (only,) = groups_of(results(*cells))
    return only


def texts_outside(figure):
    """Texts of the figure that its canvas cuts off."""
    figure.draw_without_rendering()
    figure.draw_without_rendering()
    canvas = figure.bbox
    found = []
    for axes in figure.axes:
        for text in (*axes.texts, axes.title, axes.xaxis.label, axes.yaxis.label, *tick_labels(axes.yaxis)):
            box = Text.get_window_extent(text)  # without the line that leads to it
            inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= canvas.x1 + 1 and box.y1 <= canvas.y1 + 1
            if text.get_text() and not inside:
                found.append(text.get_text())
    return found


def tick_labels(axis):
    """Labels that are drawn: a locator may offer ticks beyond the limits."""
    low, high = sorted(axis.get_view_interval())
    return [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]


def overlapping(texts):
    boxes = [(text.get_text(), Text.get_window_extent(text)) for text in texts if text.get_text()]
    return [(a, b) for k, (a, one) in enumerate(boxes) for b, other in boxes[k + 1 :] if one.overlaps(other)]


EIGHT = [
    curve_cell(name, horizon=10**7, exponent=e, seeds=8)
    for name, e in zip(
        ("auto", "exp3g", "chlz21", "hedge", "a name that is far too long for any figure $x$", "f", "g", "h"),
        (0.5, 0.5, 0.5, 0.52, 0.6, 0.66, 0.66, 1.0),
        strict=True,
    )
]


def test_groups_share_graph_environment_and_horizon():
    cells = [cell("a"), cell("b"), cell("a", horizon=7), cell("a", graph="mab:3"), cell("c")]
    found = groups_of(results(*cells))
    assert [[c.policy for c in one.cells] for one in found] == [["a", "b", "c"], ["a"], ["a"]]
    assert [(one.graph, one.horizon) for one in found] == [("cycle:4", 100), ("cycle:4", 7), ("mab:3", 100)]


def test_ranked_from_the_least_regret():
    ranked = group(cell("a", final=[5.0, 7.0]), cell("b", final=[1.0, 2.0])).ranked
    assert [one.policy for one in ranked] == ["b", "a"]


def test_regret_shows_means_bands_bounds_and_exponents():
    cells = [
        curve_cell("auto", seeds=8),
        curve_cell("flat", exponent=0.75, bound=bound(9_000, certified=False)),
    ]
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
    assert [text.get_text() for text in axes.texts] == [curve_label(one) for one in cells]
    assert curve_label(cells[0]) == "auto  t^0.50 [0.50, 0.50]"
    assert curve_label(cells[1]) == "flat  t^0.75"  # four seeds are too few for an interval
    (legend,) = axes.figure.legends
    labels = {text.get_text() for text in legend.get_texts()}
    assert {"95 % interval of the mean", "bound at T, certified", "bound at T, conditions fail"} < labels


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


@pytest.mark.parametrize(
    "cells",
    [
        [curve_cell(horizon=100, seeds=1)],
        [curve_cell(horizon=1, seeds=2, bound=None)],
        [curve_cell(horizon=2, seeds=1, exponent=0)],
        [curve_cell(scale=0.0)],
        [curve_cell(scale=-1.0, bound=None)],
        EIGHT,
    ],
    ids=["short", "one round", "two rounds", "no regret", "negative", "eight"],
)
def test_figures_of_all_kinds_fit_their_canvas(cells):
    one = group(*cells)
    for figure in (regret_figure(one, floor=0.5), ledger_figure(one), plays_figure(one), timing_figure(one)):
        assert texts_outside(figure) == []


def test_names_of_eight_policies_do_not_overlap():
    (axes,) = (figure := regret_figure(group(*EIGHT))).axes
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


# -- ledger -----------------------------------------------------------------------------------------------


def test_parts_pile_up_to_their_sums():
    parts = np.random.default_rng(0).normal(size=(4, 50))
    starts = stacked(parts)
    ends = starts + parts
    up, down = np.where(parts > 0, parts, 0).sum(axis=0), np.where(parts < 0, parts, 0).sum(axis=0)
    np.testing.assert_allclose(np.maximum(ends, 0).max(axis=0), up)
    np.testing.assert_allclose(np.minimum(ends, 0).min(axis=0), down)


def test_ledger_bars_are_the_mean_parts():
    cells = [curve_cell("auto"), curve_cell("flat"), curve_cell("keeps none", ledger=None)]
    left, right = ledger_figure(group(*cells)).axes
    assert [label.get_text() for label in left.get_yticklabels()] == ["auto", "flat"]
    drawn = np.array([[bar.get_width() for bar in part] for part in left.containers]).T
    np.testing.assert_allclose(drawn, [one.ledger[:, -1].mean(axis=0) for one in cells[:2]])
    assert "auto" in right.get_title(loc="left")


def test_policies_far_apart_get_their_own_units():
    left, _ = ledger_figure(group(curve_cell("auto"), curve_cell("huge", scale=1000.0))).axes
    assert "own regret" in left.get_xlabel()
    drawn = np.array([[bar.get_width() for bar in part] for part in left.containers]).T
    np.testing.assert_allclose(drawn, [[0.5, 0.4, 0.3, -0.1]] * 2)


def test_without_ledger_plays_or_times_there_is_no_figure():
    bare = group(curve_cell(ledger=None, plays=None, nanoseconds_per_round=float("nan")))
    assert ledger_figure(bare) is plays_figure(bare) is timing_figure(bare) is None


# -- plays and timings ------------------------------------------------------------------------------------


def test_few_arms_are_shown_one_by_one_in_the_order_of_blocks():
    g = sl.FeedbackGraph.from_edges(4, [(0, 2), (2, 0), (1, 3), (3, 1)])
    one = group(curve_cell(plays=np.array([10, 20, 30, 40])))
    axes = plays_figure(one, partition=sl.Partition(g, [[0, 2], [1, 3]])).axes[0]
    np.testing.assert_allclose(axes.images[0].get_array(), [[0.1, 0.3, 0.2, 0.4]])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "2", "1", "3"]


def test_many_arms_are_shown_by_rank():
    plays = np.random.default_rng(0).permutation(np.arange(1, 1001))
    (axes,) = plays_figure(group(curve_cell(plays=plays))).axes
    ranks, shares = axes.lines[0].get_data()
    np.testing.assert_allclose(shares, (1001 - np.asarray(ranks)) / plays.sum())


@pytest.mark.parametrize(("times", "scale"), [((100.0, 200.0), "linear"), ((100.0, 1e6), "log")])
def test_timings(times, scale):
    cells = [curve_cell(name, nanoseconds_per_round=time) for name, time in zip("ab", times, strict=True)]
    (axes,) = timing_figure(group(*cells)).axes
    assert axes.get_xscale() == scale
    assert [bar.get_width() for bar in axes.patches] == list(times)
