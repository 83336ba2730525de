"""Natural partitions on named graphs, and what each of them promises on random ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from sidelight.errors import IllegalPartition, UnobservableGraph
from sidelight.graph import FeedbackGraph
from sidelight.partition import natural


def blocks_of(partition):
    return [block.tolist() for block in partition.blocks]


def domination(A):
    """Least total weight covering every arm, by SciPy."""
    n = len(A)
    return linprog(np.ones(n), A_ub=-A.T.astype(float), b_ub=-np.ones(n)).fun


RING = (5, [(i, (i + 1) % 5) for i in range(5)])
LOOPS = (4, [(i, i) for i in range(4)])
REVEALING = (
    4,
    [(0, j) for j in range(4)],
)  # arm 0 reveals everyone, itself included; nothing else is revealed
TWO_UNIVERSAL = [(i, j) for i in range(4) for j in (2, 3) if i != j]

BLOCKS = {
    "single": {
        "of a ring": (*RING, [[0, 1, 2, 3, 4]]),
        "of loops": (*LOOPS, [[0, 1, 2, 3]]),
        "of one arm": (1, [(0, 0)], [[0]]),
    },
    "singletons": {
        "of loops": (*LOOPS, [[0], [1], [2], [3]]),
        "of a clique": (3, [(i, j) for i in range(3) for j in range(3) if i != j], [[0], [1], [2]]),
    },
    "components": {
        "by their smallest arm": (
            6,
            [(5, 0), (0, 5), (2, 4), (4, 4), (1, 1), (4, 2), (3, 3), (3, 2)],
            [[0, 5], [1], [2, 3, 4]],
        ),
        "joined by a universal arm": (
            4,
            [(0, 0), (1, 1), (2, 2), (0, 3), (1, 3), (2, 3)],
            [[0, 1, 2, 3]],
        ),
        "two pairs": (4, [(0, 1), (1, 0), (2, 3), (3, 2)], [[0, 1], [2, 3]]),
    },
    "strongly_connected": {
        "two cycles joined one way": (
            6,
            [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (5, 5)],
            [[0, 1, 2], [3, 4], [5]],
        ),
        "universal arms": (4, [(0, 0), (1, 1), *TWO_UNIVERSAL], [[0], [1], [2, 3]]),
    },
    "corrupted": {
        "without corruption": (*LOOPS, [[0], [1], [2], [3]]),
        "one weak arm and its in-neighbour": (5, [*LOOPS[1], (2, 4)], [[0], [1], [2, 4], [3]]),
        "the arm that helps most is shared": (
            6,
            [(0, 0), (1, 1), (2, 2), (0, 3), (1, 3), (1, 4), (1, 5), (2, 5)],
            [[0], [1, 3, 4, 5], [2]],
        ),
        "ties go to the smallest arm": (
            4,
            [(0, 0), (1, 1), (0, 2), (1, 2), (3, 3)],
            [[0, 2], [1], [3]],
        ),
        "weak arms that reveal each other": (
            4,
            [(0, 0), (1, 1), (2, 3), (3, 2), (0, 2)],
            [[0], [1], [2, 3]],
        ),
        "a weak cycle": (*RING, [[0, 1, 2, 3, 4]]),
    },
}


@pytest.mark.parametrize(("make", "name"), [(make, name) for make in BLOCKS for name in BLOCKS[make]])
def test_blocks_of_named_graphs(make, name):
    n, edges, blocks = BLOCKS[make][name]
    partition = getattr(natural, make)(FeedbackGraph.from_edges(n, edges))
    assert blocks_of(partition) == blocks
    assert make != "components" or partition.incidence_graph().n_edges == 0


@pytest.mark.parametrize("make", [natural.singletons, natural.strongly_connected])
def test_weak_arms_on_their_own_are_refused_by_name(make):
    with pytest.raises(IllegalPartition, match="single arm 1, which is not strongly observable") as refusal:
        make(FeedbackGraph.from_edges(*REVEALING))
    assert [v.arms for v in refusal.value.violations] == [(1,), (2,), (3,)]


def naive_components(A, directed):
    """Classes of mutual reachability by Warshall's closure."""
    reach = A | np.eye(len(A), dtype=bool)
    if not directed:
        reach |= A.T
    for via in range(len(A)):
        reach |= reach[:, [via]] & reach[[via], :]
    return sorted({tuple(np.flatnonzero(row).tolist()) for row in reach & reach.T})


@st.composite
def observable_matrices(draw):
    n = draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    A = rng.random((n, n)) < draw(st.sampled_from([0.05, 0.15, 0.3, 0.6]))
    for v in draw(st.sets(st.integers(0, n - 1), max_size=2)):
        A[np.arange(n) != v, v] = True
    hidden = ~A.any(axis=0)
    A[hidden, hidden] = True
    return A


@given(observable_matrices())
@settings(deadline=None, derandomize=True, max_examples=200)
def test_components_are_classes_of_reachability(A):
    graph = FeedbackGraph.from_adjacency(A)
    weak = natural.components(graph)
    assert [tuple(block) for block in blocks_of(weak)] == naive_components(A, directed=False)
    expected = naive_components(A, directed=True)
    strong = [block[0] for block in expected if len(block) == 1]
    others = [np.delete(A[:, v], v) for v in strong]
    if all(A[v, v] or (row.size and row.all()) for v, row in zip(strong, others, strict=True)):
        found = natural.strongly_connected(graph)
        assert [tuple(block) for block in blocks_of(found)] == expected
    else:
        with pytest.raises(IllegalPartition):
            natural.strongly_connected(graph)


@given(observable_matrices())
@settings(deadline=None, derandomize=True, max_examples=300)
def test_corrupted_block_is_at_most_twice_the_corruption_and_cheap(A):
    graph = FeedbackGraph.from_adjacency(A)
    n = len(A)
    weak = [v for v in range(n) if not (A[v, v] or (n > 1 and np.delete(A[:, v], v).all()))]
    partition = natural.corrupted(graph)
    if not weak:
        assert partition == natural.singletons(graph)
        return
    assert partition.weak.size == 1
    block = partition.blocks[partition.weak[0]]
    assert set(weak) <= set(block.tolist())
    assert 2 <= len(block) <= 2 * len(weak)
    assert domination(A[np.ix_(block, block)]) <= len(weak) + 1 + 1e-9


@pytest.mark.parametrize(
    "make",
    [natural.single, natural.singletons, natural.components, natural.strongly_connected, natural.corrupted],
)
def test_unobservable_graphs_are_refused_with_the_hidden_arms(make):
    graph = FeedbackGraph.from_edges(5, [(0, 1), (1, 0), (3, 0)])
    with pytest.raises(UnobservableGraph, match="no arm reveals 2, 3, 4") as refusal:
        make(graph)
    assert refusal.value.arms == (2, 3, 4)
    with pytest.raises(UnobservableGraph):
        make(FeedbackGraph.from_edges(1, []))


def test_a_hundred_thousand_arms():
    n = 100_000
    rng = np.random.default_rng(3)
    arms = np.arange(n)
    loops = arms[: n // 2]
    weak = arms[n // 2 :]
    sources = np.concatenate([loops, rng.integers(0, n, 4 * weak.size)])
    targets = np.concatenate([loops, np.repeat(weak, 4)])
    graph = FeedbackGraph.from_edges(n, np.column_stack([sources, targets]))
    assert natural.single(graph).n_blocks == 1
    assert natural.components(graph).sizes.sum() == n
    partition = natural.corrupted(graph)
    block = partition.blocks[partition.weak[0]]
    corruption = np.flatnonzero(~graph.has_loop)  # a random source may be the arm itself
    assert np.isin(corruption, block).all()
    assert block.size <= 2 * corruption.size
    assert partition.incidence_graph().n_arms == partition.n_blocks
