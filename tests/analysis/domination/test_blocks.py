import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sidelight.analysis import block_dominations, fractional_domination
from sidelight.errors import InvalidGraph, InvalidOption, UnobservableGraph
from sidelight.graph import FeedbackGraph


def same(ours, theirs):
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert one.value == other.value
        assert one.method == other.method
        for name in ("weights", "packing", "arms", "cover"):
            assert_array_equal(getattr(one, name), getattr(other, name))


@given(st.integers(1, 14), st.sampled_from([0.3, 0.6, 0.95]), st.integers(0, 10**6))
@settings(deadline=None, derandomize=True, max_examples=150)
def test_equals_a_loop(n, density, seed):
    rng = np.random.default_rng(seed)
    adjacency = rng.random((n, n)) < density
    adjacency[:, rng.random(n) < 0.3] = True
    np.fill_diagonal(adjacency, rng.random(n) < 0.5)
    g = FeedbackGraph.from_adjacency(adjacency)
    owner = rng.integers(-1, 4, n)
    blocks = [np.flatnonzero(owner == k) for k in range(4) if (owner == k).any()]
    if seed % 2:
        blocks = [rng.permutation(block) for block in blocks]
    blind = [[u for u in np.sort(block) if not adjacency[block, u].any()] for block in blocks]
    first = next((tuple(arms) for arms in blind if arms), None)
    if first is None:
        same(block_dominations(g, blocks), [fractional_domination(g, block) for block in blocks])
    else:
        with pytest.raises(UnobservableGraph) as error:
            block_dominations(g, blocks)
        assert error.value.arms == first


def test_overlapping_blocks_are_refused():
    g = FeedbackGraph.from_edges(4, [(i, j) for i in range(4) for j in range(4) if i != j])
    with pytest.raises(InvalidGraph, match=r"more than once: 0, 1, 3"):
        block_dominations(g, [[0, 1], [1, 2, 3], [3, 0]])


def test_no_blocks():
    assert block_dominations(FeedbackGraph.from_edges(1, []), []) == []


@pytest.mark.parametrize(
    "blocks", [[[]], [[0], np.array([], dtype=int)], [[0], [9]], [[0, 0]], [[0.5]], [[[0, 1]]]]
)
def test_blocks_are_checked(blocks):
    g = FeedbackGraph.from_edges(2, [(0, 0), (1, 1)])
    with pytest.raises(InvalidGraph):
        block_dominations(g, blocks)


def test_tolerance_is_checked():
    with pytest.raises(InvalidOption):
        block_dominations(FeedbackGraph.from_edges(1, [(0, 0)]), [[0]], tolerance=-1)


def test_many_cliques_cost_one():
    n_blocks, size = 20_000, 10
    i, j = np.nonzero(~np.eye(size, dtype=bool))
    shift = np.repeat(np.arange(n_blocks) * size, len(i))
    g = FeedbackGraph.from_edges(
        n_blocks * size, np.column_stack([np.tile(i, n_blocks) + shift, np.tile(j, n_blocks) + shift])
    )
    blocks = list(np.arange(n_blocks * size).reshape(n_blocks, size))
    start = time.process_time()
    found = block_dominations(g, blocks)
    elapsed = time.process_time() - start
    assert len(found) == n_blocks
    assert {d.value for d in found} == {found[0].value}
    assert found[0].value == pytest.approx(10 / 9, rel=1e-12)
    assert found[-1].arms.tolist() == list(range(199_990, 200_000))
    assert all(found[k].verify(g) for k in (0, 1, 12_345, n_blocks - 1))
    assert elapsed < 4.0
