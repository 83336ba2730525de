"""The Hamming-code partition: the lemma's promises for every dimension up to 12."""

import numpy as np
import pytest
from scipy.optimize import linprog

from sidelight.errors import InfeasibleRequest
from sidelight.graph import FeedbackGraph, families
from sidelight.partition import legality_violations
from sidelight.partition.natural import hypercube

DIMENSIONS = range(1, 13)


def cube(d):
    arms = np.arange(2**d)
    edges = [np.column_stack([arms, arms ^ (1 << b)]) for b in range(d)]
    return FeedbackGraph.from_edges(2**d, np.concatenate(edges))


def adjacent(block):
    """(n, n) do two arms of the block differ in exactly one bit?"""
    changed = block[:, None] ^ block[None, :]
    return (changed != 0) & (changed & (changed - 1) == 0)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_the_family_is_numbered_as_expected_here(d):
    assert families.hypercube(d) == cube(d)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_block_count_is_the_lemmas(d):
    k = max(k for k in range(1, 5) if 2**k - 1 <= d)
    assert hypercube(cube(d)).n_blocks == 2 ** (d - k)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_partition_is_legal_and_all_blocks_are_weak(d):
    graph = cube(d)
    partition = hypercube(graph)
    assert legality_violations(graph, partition.blocks) == ()
    assert partition.weak.size == partition.n_blocks


@pytest.mark.parametrize("d", DIMENSIONS)
def test_blocks_are_equal_and_at_most_2d(d):
    sizes = hypercube(cube(d)).sizes
    assert sizes.max() <= 2 * d
    assert sizes.min() == sizes.max()


@pytest.mark.parametrize("d", DIMENSIONS)
def test_two_adjacent_arms_of_weight_one_cover_every_block(d):
    """A feasible solution of the block's LP with value 2: δ ≤ 2."""
    for block in hypercube(cube(d)).blocks:
        A = adjacent(block)
        pairs = np.argwhere(np.triu(A))
        assert any((A[i] | A[j]).all() for i, j in pairs)


@pytest.mark.parametrize("d", range(1, 7))
def test_domination_is_at_most_two_by_lp(d):
    for block in hypercube(cube(d)).blocks:
        A = adjacent(block).astype(float)
        ones = np.ones(len(block))
        solved = linprog(ones, A_ub=-A.T, b_ub=-ones)
        assert solved.success
        assert solved.fun <= 2 + 1e-9


@pytest.mark.parametrize("d", DIMENSIONS)
def test_cores_are_the_extended_hamming_code(d):
    """…1 → …01, …10 and …0 → …00, …11 extend the pairs of Q_{2^k−1}; they dominate and are all used."""
    k = max(k for k in range(1, 5) if 2**k - 1 <= d)
    base = 2**k - 1
    syndrome = lambda v: int(np.bitwise_xor.reduce([b + 1 for b in range(base) if v >> b & 1] or [0]))  # noqa: E731
    core = {v for v in range(2**base) if syndrome(v) in (0, 1)}
    for width in range(base, d):  # bit width−1 is the last one; its two extensions keep its parity
        last = 1 << (width - 1)
        core = {
            new
            for v in core
            for new in ([v, v ^ last | last << 1] if v & last else [v, v | last | last << 1])
        }
    assert len(core) == 2 * 2 ** (d - k)
    for block in hypercube(cube(d)).blocks:
        pair = [v for v in block.tolist() if v in core]
        assert len(pair) == 2
        A = adjacent(block)
        i, j = np.searchsorted(block, pair)
        assert A[i, j]
        assert (A[i] | A[j]).all()


NOT_CUBES = {
    "one arm": FeedbackGraph.from_edges(1, [(0, 0)]),
    "six arms": FeedbackGraph.from_edges(6, [(i, (i + 1) % 6) for i in range(6)]),
    "a loop": FeedbackGraph.from_edges(2, [(0, 1), (1, 0), (0, 0)]),
    "one edge short": FeedbackGraph.from_edges(4, [(0, 1), (1, 0), (2, 3), (3, 2), (0, 2), (2, 0), (1, 3)]),
    "a directed cycle": FeedbackGraph.from_edges(4, [(0, 1), (1, 3), (3, 2), (2, 0)]),
    "a clique": FeedbackGraph.from_adjacency(~np.eye(4, dtype=bool)),
    "no edge": FeedbackGraph.from_edges(2, []),
    "one way": FeedbackGraph.from_edges(2, [(0, 1)]),
}


@pytest.mark.parametrize("name", NOT_CUBES)
def test_other_graphs_are_refused(name):
    with pytest.raises(InfeasibleRequest, match="hypercube"):
        hypercube(NOT_CUBES[name])


def test_universal_arms_are_no_cube():
    """Out-degrees are right, but arms 0 and 1 are revealed by everyone."""
    graph = FeedbackGraph.from_edges(4, [(0, 1), (0, 2), (1, 0), (1, 3), (2, 0), (2, 1), (3, 0), (3, 1)])
    assert (graph.out_degree == 2).all()
    with pytest.raises(InfeasibleRequest, match="arm 3 reveals 0, 1, not 1, 2"):
        hypercube(graph)


def test_a_cube_numbered_otherwise_is_refused_with_the_arm():
    cycle = FeedbackGraph.from_edges(4, [e for i in range(4) for e in ((i, (i + 1) % 4), ((i + 1) % 4, i))])
    with pytest.raises(InfeasibleRequest, match="arm 0 reveals 1, 3, not 1, 2; number the arms"):
        hypercube(cycle)
