"""The Hamming-code partition: the lemma's promises for every dimension up to 12."""

import numpy as np
import pytest

from sidelight.errors import InfeasibleRequest
from sidelight.graph import FeedbackGraph, families
from sidelight.partition import legality_violations
from sidelight.partition.natural import hypercube


def cube(d):
    arms = np.arange(2**d)
    edges = [np.column_stack([arms, arms ^ (1 << b)]) for b in range(d)]
    return FeedbackGraph.from_edges(2**d, np.concatenate(edges))


def adjacent(block):
    """(n, n) do two arms of the block differ in exactly one bit?"""
    changed = block[:, None] ^ block[None, :]
    return (changed != 0) & (changed & (changed - 1) == 0)


@pytest.mark.parametrize("d", range(1, 13))
def test_blocks_are_those_of_the_lemma(d):
    """2^{d−k} legal blocks of one size, at most 2d, each covered by the two arms of the extended Hamming code in it.

    …1 → …01, …10 and …0 → …00, …11 extend the pairs of Q_{2^k−1}. Weight 1 on two arms is a cover: δ ≤ 2.
    """
    graph = cube(d)
    assert families.hypercube(d) == graph
    partition = hypercube(graph)
    assert legality_violations(graph, partition.blocks) == ()
    k = max(k for k in range(1, 5) if 2**k - 1 <= d)
    assert partition.weak.size == partition.n_blocks == 2 ** (d - k)
    assert partition.sizes.min() == partition.sizes.max() <= 2 * d
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
    for block in partition.blocks:
        pair = [v for v in block.tolist() if v in core]
        assert len(pair) == 2
        A = adjacent(block)
        i, j = np.searchsorted(block, pair)
        assert A[i, j]
        assert (A[i] | A[j]).all()


NOT_CUBES = {
    "one arm": (1, [(0, 0)], "hypercube"),
    "six arms": (6, [(i, (i + 1) % 6) for i in range(6)], "hypercube"),
    "a loop": (2, [(0, 1), (1, 0), (0, 0)], "hypercube"),
    "one edge short": (4, [(0, 1), (1, 0), (2, 3), (3, 2), (0, 2), (2, 0), (1, 3)], "hypercube"),
    "a directed cycle": (4, [(0, 1), (1, 3), (3, 2), (2, 0)], "hypercube"),
    "a clique": (4, [(i, j) for i in range(4) for j in range(4) if i != j], "hypercube"),
    "no edge": (2, [], "hypercube"),
    "one way": (2, [(0, 1)], "hypercube"),
    "universal arms": (
        4,
        [(0, 1), (0, 2), (1, 0), (1, 3), (2, 0), (2, 1), (3, 0), (3, 1)],
        "arm 3 reveals 0, 1, not 1, 2",
    ),
    "other numbers": (
        4,
        [e for i in range(4) for e in ((i, (i + 1) % 4), ((i + 1) % 4, i))],
        "arm 0 reveals 1, 3, not 1, 2; number the arms",
    ),
}


@pytest.mark.parametrize("name", NOT_CUBES)
def test_other_graphs_are_refused(name):
    n, edges, message = NOT_CUBES[name]
    with pytest.raises(InfeasibleRequest, match=message):
        hypercube(FeedbackGraph.from_edges(n, edges))
