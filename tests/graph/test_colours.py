"""Colours follow the arms through every relabelling, and tell apart what differs."""

import numpy as np
import pytest

from sidelight.graph import FeedbackGraph, families
from sidelight.graph.colours import colours


@pytest.mark.parametrize("seed", range(12))
def test_colours_do_not_depend_on_labels(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    A, marked = rng.random((n, n)) < rng.uniform(0.02, 0.9), rng.random(n) < 0.3
    if seed % 2:
        A[:, 0] = True  # universal, with and without a self-loop
        A[0, 0] = seed % 4 == 1
    order = rng.permutation(n)
    found = colours(FeedbackGraph.from_adjacency(A), marked)
    relabelled = colours(FeedbackGraph.from_adjacency(A[np.ix_(order, order)]), marked[order])
    np.testing.assert_array_equal(found[order], relabelled)
    assert ((found >= 0) & (found < 1)).all()


def test_arms_that_look_alike_share_a_colour_and_others_do_not():
    assert np.unique(colours(families.hypercube(4))).size == 1
    assert np.unique(colours(families.full(7))).size == 1
    assert np.unique(colours(families.loopy_star(7))).size == 2
    assert np.unique(colours(families.newsvendor(9))).size == 9
    marked = np.arange(9) == 4
    found = colours(families.cycle(9), marked)
    assert np.unique(found).size == 5
    np.testing.assert_array_equal(found[:4], found[:4:-1])
