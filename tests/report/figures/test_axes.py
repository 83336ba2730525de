"""Ticks that can be read, and names that keep apart."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

import sidelight as sl
from sidelight.report.figures import layout as placing
from sidelight.report.figures.axes import log_axis, spread_labels
from sidelight.report.figures.canvas import new_figure
from sidelight.report.figures.layout import packed_layout


@settings(deadline=None, derandomize=True)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.01, 0.08))
def test_labels_keep_their_order_and_distance(wanted, gap):
    placed = spread_labels(wanted, gap)
    order = np.argsort(wanted, kind="stable")
    assert (np.diff(placed[order]) >= gap - 1e-12).all()
    assert placed.min() >= -1e-12
    assert placed.max() <= 1 + 1e-12  # twelve labels of 0.08 fit
    alone = spread_labels(wanted[:1], gap)
    assert alone[0] == pytest.approx(wanted[0])


def test_labels_that_are_apart_stay_where_they_are():
    assert spread_labels([0.9, 0.1, 0.5], 0.1).tolist() == pytest.approx([0.9, 0.1, 0.5])


@pytest.mark.parametrize(
    "span", [(1, 100), (0.1, 1e7), (5, 9), (0.5, 1.5), (1e-6, 1e9), (1000, 1001), (3, 30)]
)
def test_log_axes_have_a_few_labelled_ticks_inside(span):
    figure = new_figure()
    axes = figure.subplots()
    log_axis(axes, "x", *span)
    figure.draw_without_rendering()
    labels = [tick.get_text() for tick in axes.get_xticklabels()]
    low, high = span[0], max(span[1], 2 * span[0])  # at least a factor of two is shown
    assert axes.get_xlim() == (low, high)
    assert 2 <= len(labels) <= 9
    assert all(labels)
    assert all(low * 0.999 <= at <= high * 1.001 for at in axes.get_xticks())


# -- ten thousand arms on a page: apart from each other, blocks together ---------------------------------


@pytest.mark.parametrize("spec", ["cycle:500", "cliques:40x10", "full:300", "random:400,0.02,3", "mab:200"])
def test_arms_are_apart(spec):
    g = sl.families.parse(spec)
    at = packed_layout(g)
    assert at.shape == (g.n_arms, 2)
    nearest = cKDTree(at).query(at, k=2)[0][:, 1]
    assert nearest.min() > 0.5
    assert np.median(nearest) < 1.5


def test_blocks_are_together():
    g = sl.families.parse("cliques:20x15")
    partition = sl.partitions.components(g)
    at = packed_layout(g, partition)
    centres = np.array([at[block].mean(axis=0) for block in partition.blocks])
    owner = cKDTree(centres).query(at)[1]
    np.testing.assert_array_equal(owner, partition.block_of)


def test_too_many_blocks_share_one_disc(monkeypatch):
    g = sl.families.parse("cliques:20x15")
    monkeypatch.setattr(placing, "MOST_DISCS", 10)
    at = packed_layout(g, sl.partitions.components(g))
    assert np.ptp(at, axis=0).max() < 30
