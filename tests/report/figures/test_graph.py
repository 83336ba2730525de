"""Graphs are drawn arm by arm where that can be read, and as matrices where not."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.figure import Figure

import sidelight as sl
from sidelight.report.figures import graph as module
from sidelight.report.figures.graph import (
    draw_graph,
    draw_incidence,
    graph_figure,
    is_drawable,
)
from sidelight.report.figures.layout import block_layout, layout


def axes() -> Axes:
    return Figure().subplots()


def dots(drawn):
    return [found for found in drawn.collections if isinstance(found, PathCollection)]


def lines(drawn):
    return sum(len(found.get_segments()) for found in drawn.collections if isinstance(found, LineCollection))


def arrows(drawn):
    return [
        path for found in drawn.collections if isinstance(found, PolyCollection) for path in found.get_paths()
    ]


def test_small_graphs_show_every_arm_edge_and_block():
    g = sl.families.cliques([3, 4])
    drawn = axes()
    draw_graph(drawn, g, sl.partitions.components(g))
    (arms,) = [found for found in dots(drawn) if len(found.get_offsets())]
    assert len(arms.get_offsets()) == g.n_arms
    assert len(np.unique(arms.get_facecolors(), axis=0)) == 2
    assert [text.get_text() for text in drawn.texts] == [str(arm) for arm in range(7)]
    assert lines(drawn) == 9  # both ways at once
    assert drawn.get_title(loc="left") + drawn.get_title() == "7 arms, 18 edges"


def test_loops_are_rings_and_single_arms_are_white():
    g = sl.families.corrupted_mab(6, 2)
    drawn = axes()
    draw_graph(drawn, g, sl.partitions.corrupted(g))
    rings, arms = dots(drawn)
    assert len(rings.get_offsets()) == 4
    assert (arms.get_facecolors() == 1).all(axis=1).sum() == 4


@pytest.mark.parametrize(
    ("spec", "n_arrows", "n_lines"),
    [("cycle:5:directed", 5, 5), ("mab:4", 0, 0), ("revealing_action:4", 3, 3), ("cycle:6", 0, 6)],
)
def test_a_line_for_every_pair_and_a_head_where_it_goes_one_way(spec, n_arrows, n_lines):
    drawn = axes()
    draw_graph(drawn, sl.families.parse(spec))
    assert (len(arrows(drawn)), lines(drawn)) == (n_arrows, n_lines)


def test_incidence_shows_blocks_by_size_and_kind():
    g = sl.families.corrupted_full(9, 3)
    p = sl.partitions.corrupted(g)
    drawn = axes()
    draw_incidence(drawn, p)
    (discs,) = [found for found in dots(drawn) if len(found.get_offsets())]
    assert len(discs.get_offsets()) == p.n_blocks
    assert len(np.unique(discs.get_sizes())) == len(np.unique(p.sizes))
    assert sorted(text.get_text() for text in drawn.texts) == sorted(str(size) for size in p.sizes)
    labels = {text.get_text() for text in drawn.get_legend().get_texts()}
    assert labels == {"reveals itself", "weak block"}


@pytest.mark.parametrize(
    ("spec", "partition", "panels"),
    [
        ("mab:1", "singletons", 1),
        ("cycle:4", "single", 1),
        ("teams:4x3", "components", 2),
        ("mab:5", "singletons", 1),  # as many blocks as arms: the incidence graph is the graph
        ("cycle:1000", "single", 1),  # regular: degrees fit in the title
        ("cliques:100x5", "components", 2),
        ("loopy_star:500", None, 2),
    ],
)
def test_figures_have_the_panels_that_say_something(spec, partition, panels):
    g = sl.families.parse(spec)
    figure = graph_figure(g, partition and getattr(sl.partitions, partition)(g))
    assert len(figure.axes) == panels
    figure.draw_without_rendering()


@pytest.mark.parametrize("spec", ["cycle:100000", "full:100000", "cliques:10000x10"])
def test_large_graphs_take_seconds(spec):
    g = sl.families.parse(spec)
    assert not is_drawable(g)
    p = sl.partitions.components(g) if spec.startswith("cliques") else None
    start = time.process_time()
    graph_figure(g, p).draw_without_rendering()
    assert time.process_time() - start < 10


def test_a_thicket_of_arrows_is_not_drawn():
    assert is_drawable(sl.families.parse("random:40,0.1,1"))
    assert not is_drawable(sl.families.parse("random:100,0.2,1"))
    assert is_drawable(sl.families.parse("cliques:5x20"))  # as many edges, but both ways


# -- pictures of large graphs count every edge -----------------------------------------------------------


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(1, 30), st.floats(0, 1), st.integers(0, 10**6), st.integers(1, 12))
def test_matrix_picture_counts_every_edge(n, density, seed, pixels):
    rng = np.random.default_rng(seed)
    adjacency = rng.random((n, n)) < density
    if n > 1 and seed % 2:
        adjacency[:, 0] = True  # an arm that everyone reveals is stored apart
        adjacency[0, 0] = seed % 3 == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PIXELS", pixels)
        shares = module.matrix_shares(sl.FeedbackGraph.from_adjacency(adjacency))
    cells = min(n, pixels)
    cell = np.arange(n) * cells // n
    expected = [[adjacency[np.ix_(cell == a, cell == b)].mean() for b in range(cells)] for a in range(cells)]
    np.testing.assert_allclose(shares, expected)


def test_matrix_is_ordered_by_block():
    g = sl.FeedbackGraph.from_edges(4, [(0, 2), (2, 0), (1, 3), (3, 1)])
    shares = module.matrix_shares(g, sl.Partition(g, [[0, 2], [1, 3]]))
    assert shares.tolist() == [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]


# -- where arms are drawn --------------------------------------------------------------------------------


def nearest(at):
    apart = np.linalg.norm(at[:, None] - at[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    return apart.min()


@pytest.mark.parametrize(
    "spec",
    ["cycle:12", "cliques:5x20", "hypercube:5", "mab:7", "full:9", "corrupted_full:9,3", "loopy_star:20"],
)
def test_no_arm_hides_another(spec):
    at = layout(sl.families.parse(spec))
    assert np.isfinite(at).all()
    assert nearest(at) > 0.15


def test_a_cycle_is_drawn_as_one():
    at = layout(sl.families.cycle(12))
    radius = np.linalg.norm(at - at.mean(axis=0), axis=1)
    assert np.ptp(radius) < 0.05 * radius.mean()
    steps = np.linalg.norm(at - np.roll(at, 1, axis=0), axis=1)
    assert np.ptp(steps) < 0.1 * steps.mean()


def test_layouts_are_the_same_every_time():
    g = sl.families.parse("random:30,0.2,1")
    assert np.array_equal(layout(g), layout(g))


def test_arms_of_a_block_sit_together():
    p = sl.partitions.components(sl.families.cliques([4, 4, 4, 4]))
    at = block_layout(p)
    centres = np.array([at[block].mean(axis=0) for block in p.blocks])
    for k, block in enumerate(p.blocks):
        own = np.linalg.norm(at[block] - centres[k], axis=1).max()
        assert own < np.delete(np.linalg.norm(at[block][:, None] - centres[None], axis=2), k, axis=1).min()
