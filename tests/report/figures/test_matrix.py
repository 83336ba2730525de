"""Pictures of large graphs count every edge."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sidelight as sl
from sidelight.report.figures import graph as module


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
