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


@pytest.fixture
def directed_cycle():
    return FeedbackGraph.from_edges(5, [(i, (i + 1) % 5) for i in range(5)])


@pytest.fixture
def loops():
    return FeedbackGraph.from_adjacency(np.eye(4))


@pytest.fixture
def revealing():
    """Arm 0 reveals everyone, itself included; nothing else is revealed."""
    return FeedbackGraph.from_edges(4, [(0, j) for j in range(4)])


class TestSingle:
    def test_is_one_block(self, directed_cycle, revealing, loops):
        for graph in (directed_cycle, revealing, loops):
            assert blocks_of(natural.single(graph)) == [list(range(graph.n_arms))]

    def test_of_one_arm_is_a_singleton(self):
        partition = natural.single(FeedbackGraph.from_edges(1, [(0, 0)]))
        assert partition.strong_loop.tolist() == [0]


class TestSingletons:
    def test_of_strongly_observable_graphs(self, loops):
        assert natural.singletons(loops).strong_loop.tolist() == [0, 1, 2, 3]
        clique = FeedbackGraph.from_adjacency(~np.eye(3, dtype=bool))
        assert natural.singletons(clique).strong_loopless.tolist() == [0, 1, 2]

    def test_of_a_weak_graph_name_the_weak_arms(self, revealing):
        with pytest.raises(IllegalPartition) as refusal:
            natural.singletons(revealing)
        assert [v.arms for v in refusal.value.violations] == [(1,), (2,), (3,)]


class TestComponents:
    def test_are_numbered_by_their_smallest_arm(self):
        graph = FeedbackGraph.from_edges(6, [(5, 0), (0, 5), (2, 4), (4, 4), (1, 1), (4, 2), (3, 3), (3, 2)])
        assert blocks_of(natural.components(graph)) == [[0, 5], [1], [2, 3, 4]]

    def test_a_universal_arm_joins_everything(self):
        edges = [(0, 0), (1, 1), (2, 2), (0, 3), (1, 3), (2, 3)]
        graph = FeedbackGraph.from_edges(4, edges)
        assert graph.universal.tolist() == [3]
        assert blocks_of(natural.components(graph)) == [[0, 1, 2, 3]]

    def test_no_edge_crosses(self, two_pairs):
        partition = natural.components(two_pairs)
        assert blocks_of(partition) == [[0, 1], [2, 3]]
        assert partition.incidence_graph().n_edges == 0


class TestStronglyConnected:
    def test_of_two_cycles_joined_one_way(self):
        edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (5, 5)]
        graph = FeedbackGraph.from_edges(6, edges)
        assert blocks_of(natural.strongly_connected(graph)) == [[0, 1, 2], [3, 4], [5]]

    def test_universal_arms_form_one_component(self):
        universal = [(i, j) for i in range(4) for j in (2, 3) if i != j]
        graph = FeedbackGraph.from_edges(4, [(0, 0), (1, 1), *universal])
        assert blocks_of(natural.strongly_connected(graph)) == [[0], [1], [2, 3]]

    def test_refuses_a_weak_arm_on_its_own(self, revealing):
        with pytest.raises(IllegalPartition, match="single arm 1, which is not strongly observable"):
            natural.strongly_connected(revealing)


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


class TestCorrupted:
    def test_without_corruption_is_singletons(self, loops):
        assert natural.corrupted(loops) == natural.singletons(loops)

    def test_one_weak_arm_pulls_in_its_in_neighbour(self):
        graph = FeedbackGraph.from_edges(5, [*((i, i) for i in range(4)), (2, 4)])
        assert blocks_of(natural.corrupted(graph)) == [[0], [1], [2, 4], [3]]

    def test_shares_the_arm_that_helps_most(self):
        """Arms 3, 4, 5 are weak; 1 reveals them all, 0 and 2 one each."""
        edges = [(0, 0), (1, 1), (2, 2), (0, 3), (1, 3), (1, 4), (1, 5), (2, 5)]
        assert blocks_of(natural.corrupted(FeedbackGraph.from_edges(6, edges))) == [[0], [1, 3, 4, 5], [2]]

    def test_ties_go_to_the_smallest_arm(self):
        graph = FeedbackGraph.from_edges(3, [(0, 0), (1, 1), (0, 2), (1, 2)])
        assert graph.universal.tolist() == [2]  # so it is strong: make it weak with one more arm
        graph = FeedbackGraph.from_edges(4, [(0, 0), (1, 1), (0, 2), (1, 2), (3, 3)])
        assert blocks_of(natural.corrupted(graph)) == [[0, 2], [1], [3]]

    def test_pulls_in_nothing_when_the_weak_arms_reveal_each_other(self):
        graph = FeedbackGraph.from_edges(4, [(0, 0), (1, 1), (2, 3), (3, 2), (0, 2)])
        assert blocks_of(natural.corrupted(graph)) == [[0], [1], [2, 3]]

    def test_of_a_weak_cycle_is_the_whole_cycle(self, directed_cycle):
        assert natural.corrupted(directed_cycle) == natural.single(directed_cycle)

    @given(observable_matrices())
    @settings(deadline=None, derandomize=True, max_examples=300)
    def test_block_is_at_most_twice_the_corruption_and_cheap(self, A):
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

    @pytest.mark.parametrize("seed", range(5))
    def test_random_large_corruption(self, seed):
        n, c = 2_000, 150
        rng = np.random.default_rng(seed)
        weak = rng.choice(n, c, replace=False)
        strong = np.setdiff1d(np.arange(n), weak)
        helpers = rng.choice(strong, (c, 3))
        edges = [(v, v) for v in strong] + [(h, v) for v, row in zip(weak, helpers, strict=True) for h in row]
        partition = natural.corrupted(FeedbackGraph.from_edges(n, edges))
        block = set(partition.blocks[partition.weak[0]].tolist())
        assert set(weak.tolist()) <= block
        assert len(block) <= 2 * c
        assert partition.n_blocks == n - len(block) + 1


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
