"""Shares of plays, arm by arm or by rank."""

import numpy as np
from drawn_figures import group, texts_outside
from finished_cells import curve_cell

import sidelight as sl
from sidelight.report.figures.plays import plays_figure


def test_few_arms_are_shown_one_by_one_in_the_order_of_blocks():
    g = sl.FeedbackGraph.from_edges(4, [(0, 2), (2, 0), (1, 3), (3, 1)])
    one = group(curve_cell(plays=np.array([10, 20, 30, 40])))
    axes = plays_figure(one, partition=sl.Partition(g, [[0, 2], [1, 3]])).axes[0]
    np.testing.assert_allclose(axes.images[0].get_array(), [[0.1, 0.3, 0.2, 0.4]])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "2", "1", "3"]


def test_labels_stand_below_the_columns():
    one = group(curve_cell(plays=np.array([10, 20, 30])))
    axes = plays_figure(one, labels=["tea", "milk", "$5 soda"]).axes[0]
    shown = axes.get_xticklabels()
    assert [text.get_text() for text in shown] == ["0 tea", "1 milk", "2 $5 soda"]
    assert {text.get_rotation() for text in shown} == {0.0}
    many = group(curve_cell(plays=np.arange(1, 41)))
    figure = plays_figure(many, labels=[f"a long label {i}" for i in range(40)])
    assert {text.get_rotation() for text in figure.axes[0].get_xticklabels()} == {90.0}
    assert texts_outside(figure) == []


def test_many_arms_are_shown_by_rank():
    plays = np.random.default_rng(0).permutation(np.arange(1, 1001))
    (axes,) = plays_figure(group(curve_cell(plays=plays))).axes
    ranks, shares = axes.lines[0].get_data()
    np.testing.assert_allclose(shares, (1001 - np.asarray(ranks)) / plays.sum())
