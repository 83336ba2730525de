"""The partition type: what it derives, what it refuses, when two are the same."""

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sidelight.errors import IllegalPartition, InvalidOption, SidelightError
from sidelight.graph import FeedbackGraph
from sidelight.graph.edges import Edges
from sidelight.partition import Partition, legality_violations


@pytest.fixture
def mixed():
    """0 and 1 loops; 2 loop-less and universal; 3 ↔ 4 a weak pair; 0 → 3 crosses."""
    universal = [(v, 2) for v in (0, 1, 3, 4)]
    return FeedbackGraph.from_edges(5, [(0, 0), (1, 1), *universal, (3, 4), (4, 3), (0, 3)])


@st.composite
def legal_partitions(draw):
    n = draw(st.integers(1, 6))
    A = np.array(draw(st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=n, max_size=n)))
    for v in draw(st.sets(st.integers(0, n - 1), max_size=3)):
        A[np.arange(n) != v, v] = True
    labels = draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))
    blocks = [[v for v in range(n) if labels[v] == k] for k in set(labels)]
    graph = FeedbackGraph.from_adjacency(A)
    assume(not legality_violations(graph, blocks))
    return A, Partition(graph, blocks)


def test_blocks_are_sorted_and_keep_their_order(mixed):
    partition = Partition(mixed, [[4, 3], [2], [1], [0]])
    assert [block.tolist() for block in partition.blocks] == [[3, 4], [2], [1], [0]]
    assert all(block.dtype == np.int64 for block in partition.blocks)
    assert partition.block_of.tolist() == [3, 2, 1, 0, 0]
    assert partition.sizes.tolist() == [2, 1, 1, 1]
    assert partition.n_blocks == 4


def test_blocks_are_classified(mixed):
    partition = Partition(mixed, [[4, 3], [2], [1], [0]])
    assert partition.strong_loop.tolist() == [2, 3]
    assert partition.strong_loopless.tolist() == [1]
    assert partition.weak.tolist() == [0]
    assert repr(partition) == "Partition(n_arms=5, n_blocks=4, U1S=2, U1N=1, U2=1)"


@given(legal_partitions())
@settings(deadline=None, derandomize=True)
def test_classes_split_the_blocks_as_defined(case):
    A, partition = case
    for k, block in enumerate(partition.blocks):
        expected = "weak" if len(block) > 1 else "strong_loop" if A[block[0], block[0]] else "strong_loopless"
        for name in ("weak", "strong_loop", "strong_loopless"):
            assert (k in getattr(partition, name)) == (name == expected)
        assert (partition.block_of[block] == k).all()
        assert partition.sizes[k] == len(block)
    assert sorted(np.concatenate(partition.blocks)) == list(range(len(A)))


@given(legal_partitions())
@settings(deadline=None, derandomize=True)
def test_incidence_graph_joins_blocks_that_an_edge_joins(case):
    A, partition = case
    incidence = partition.incidence_graph()
    assert incidence.n_arms == partition.n_blocks
    for k, source in enumerate(partition.blocks):
        for other, target in enumerate(partition.blocks):
            joined = k != other and bool(A[np.ix_(source, target)].any())
            assert incidence.reveals(k, other) == joined


def test_incidence_graph_of_a_large_clique_stays_small():
    n = 100_000
    arms = np.arange(n)
    clique = FeedbackGraph._of(
        Edges(n, arms[:0], arms[:0], universal=arms, universal_loops=np.zeros(n, dtype=bool))
    )
    incidence = Partition.from_labels(clique, arms // 2).incidence_graph()
    assert incidence.n_arms == n // 2
    assert incidence.n_edges == (n // 2) * (n // 2 - 1)
    assert incidence.out_indices.size == 0


@given(legal_partitions(), st.randoms(use_true_random=False))
@settings(deadline=None, derandomize=True)
def test_equal_means_same_graph_and_same_set_of_blocks(case, random):
    A, partition = case
    shuffled = [block.tolist() for block in partition.blocks]
    random.shuffle(shuffled)
    again = Partition(FeedbackGraph.from_adjacency(A), shuffled)
    assert again == partition
    assert hash(again) == hash(partition)


def test_different_blocks_or_graphs_are_not_equal(two_pairs, mixed):
    halves = Partition(two_pairs, [[0, 1], [2, 3]])
    assert halves != Partition(two_pairs, [[0, 1, 2, 3]])
    more = FeedbackGraph.from_edges(4, [(0, 1), (1, 0), (2, 3), (3, 2), (0, 2)])
    assert halves != Partition(more, [[0, 1], [2, 3]])
    assert halves != "halves"
    apart = FeedbackGraph.from_adjacency(~np.eye(4, dtype=bool))
    assert Partition(apart, [[0, 1], [2, 3]]) != Partition(apart, [[0, 2], [1, 3]])


def test_from_labels_orders_blocks_by_label(two_pairs):
    partition = Partition.from_labels(two_pairs, [9, 9, -3, -3])
    assert [block.tolist() for block in partition.blocks] == [[2, 3], [0, 1]]
    assert Partition.from_labels(two_pairs, partition.block_of).block_of.tolist() == [1, 1, 0, 0]


@given(legal_partitions())
@settings(deadline=None, derandomize=True)
def test_labels_and_blocks_are_two_ways_to_say_the_same(case):
    _, partition = case
    again = Partition.from_labels(partition.graph, partition.block_of)
    assert again == partition
    assert all(np.array_equal(a, b) for a, b in zip(again.blocks, partition.blocks, strict=True))


@pytest.mark.parametrize("labels", [[0, 0, 1], [[0, 0, 1, 1]], [0.0, 0.0, 1.0, 1.0], "aabb", 3])
def test_labels_that_do_not_fit_are_refused(two_pairs, labels):
    with pytest.raises(InvalidOption, match="one whole number for each of the 4 arms"):
        Partition.from_labels(two_pairs, labels)


def test_refusal_lists_every_reason(two_pairs):
    with pytest.raises(IllegalPartition) as refusal:
        Partition(two_pairs, [[0], [], [1, 9], [2, 3, 2]])
    assert isinstance(refusal.value, SidelightError)
    kinds = {v.kind for v in refusal.value.violations}
    assert kinds == {"out-of-range", "empty", "repeated", "not-strong"}
    for reason in refusal.value.violations:
        assert str(reason) in str(refusal.value)


def test_refusal_cuts_a_long_message_but_not_the_list():
    cycle = FeedbackGraph.from_edges(500, [(i, (i + 1) % 500) for i in range(500)])
    with pytest.raises(IllegalPartition, match="and 490 more") as refusal:
        Partition(cycle, [[i] for i in range(500)])
    assert len(refusal.value.violations) == 500
    assert len(str(refusal.value)) < 1500


def test_refusal_from_labels_names_block_and_arms(two_pairs):
    with pytest.raises(IllegalPartition, match="block 0: nothing inside reveals arms 0, 2"):
        Partition.from_labels(two_pairs, [0, 1, 0, 1])


def test_partition_cannot_be_changed(mixed):
    mine = np.array([3, 4])
    partition = Partition(mixed, [mine, [0], [1], [2]])
    mine[0] = 0
    assert partition.blocks[0].tolist() == [3, 4]
    partition.incidence_graph()
    arrays = [*partition.blocks, partition.block_of, partition.sizes, partition.strong_loop]
    for array in [*arrays, partition.strong_loopless, partition.weak]:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        partition.blocks = ()
