import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import INSTANCES, both, clique, cycle, loops, universal

from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition
from sidelight.planning import exploration
from sidelight.planning.exploration import parents


def check(partition, blocks, parent):
    """One in-neighbour inside the block for every arm of `blocks`, −1 for all others."""
    for arm in range(partition.graph.n_arms):
        k = partition.block_of[arm]
        if k in blocks:
            assert partition.block_of[parent[arm]] == k
            assert partition.graph.reveals(int(parent[arm]), arm)
        else:
            assert parent[arm] == -1


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda instance: instance.name)
def test_parents_are_inside_the_block(instance):
    partition = Partition(FeedbackGraph.from_edges(instance.n_arms, instance.edges), instance.blocks)
    check(partition, set(partition.weak.tolist()), parents(partition, partition.weak))
    for k in partition.weak:
        check(partition, {k}, parents(partition, np.array([k])))


@settings(deadline=None, derandomize=True)
@given(st.integers(2, 12), st.data())
def test_any_observable_block(n, data):
    arms = st.integers(0, n - 1)
    edges = [(data.draw(arms), v) for v in range(n)]  # everyone is revealed by someone, maybe by itself
    edges += data.draw(st.lists(st.tuples(arms, arms), max_size=30))
    partition = Partition(FeedbackGraph.from_edges(n, edges), [list(range(n))])
    check(partition, {0}, parents(partition, np.array([0])))


@pytest.mark.parametrize("rounds", [1, 2])
def test_stopping_early_is_still_a_pruning(rounds, monkeypatch):
    monkeypatch.setattr(exploration, "MOST_VOTES", rounds)
    partition = Partition(FeedbackGraph.from_edges(50, both(cycle(range(50)))), [list(range(50))])
    check(partition, {0}, parents(partition, np.array([0])))


def test_few_parents():
    def count(n, edges):
        partition = Partition(FeedbackGraph.from_edges(n, edges), [list(range(n))])
        return len(set(parents(partition, np.array([0])).tolist()))

    assert count(6, [(0, v) for v in range(6)]) == 1
    assert count(7, [(0, v) for v in range(1, 7)] + [(3, 0)]) == 2
    assert count(6, cycle(range(6))) == 6
    assert count(8, clique(range(8))) == 2
    assert count(9, both((u, v) for u in range(3) for v in range(3, 9))) == 2
    assert count(100, both(cycle(range(100)))) <= 60  # 50 is the least, every arm its own would be 100


def test_universal_arms_join_the_busiest_parent():
    n = 6  # arms 4 and 5 are revealed by all others; 3 reveals 0, 1, 2
    edges = universal([4], n) + universal([5], n) + loops([5]) + [(3, 0), (3, 1), (3, 2), (0, 3)]
    partition = Partition(FeedbackGraph.from_edges(n, edges), [list(range(n))])
    assert parents(partition, np.array([0])).tolist() == [3, 3, 3, 0, 3, 3]


def test_large_blocks_are_quick():
    n = 200_000
    arms = np.arange(n)
    edges = np.concatenate([np.stack([arms, (arms + 1) % n], 1), np.stack([(arms + 1) % n, arms], 1)])
    partition = Partition(FeedbackGraph.from_edges(n, edges), [arms])
    parent = parents(partition, np.array([0]))
    assert set(np.unique((parent - arms) % n).tolist()) <= {1, n - 1}
