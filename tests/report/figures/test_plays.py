"""Shares of plays, arm by arm or by rank."""

import numpy as np
from drawn_figures import group
from finished_cells import curve_cell

import sidelight as sl
from sidelight.report.figures.plays import plays_figure


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
