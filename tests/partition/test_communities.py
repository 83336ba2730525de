import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight import partitions
from sidelight.analysis import observability
from sidelight.errors import UnobservableGraph
from sidelight.graph import FeedbackGraph, families
from sidelight.partition import Partition, legality_violations
from sidelight.partition.natural import mended


def test_cliques_with_a_few_links_are_their_communities():
    cliques = families.cliques([6, 7, 8, 9])
    starts = [0, 6, 13, 21]
    g = FeedbackGraph.from_edges(
        30, np.concatenate([cliques.edges(), np.column_stack([starts[:-1], starts[1:]])])
    )
    assert partitions.components(g).n_blocks == 1
    assert partitions.communities(g) == Partition(g, partitions.components(cliques).blocks)
    assert partitions.communities(g, seed=5) == partitions.communities(g, seed=5)


@given(st.integers(1, 9), st.integers(0, 10**6))
@settings(deadline=None, derandomize=True, max_examples=80)
def test_always_legal(n, seed):
    rng = np.random.default_rng(seed)
    reveals = rng.random((n, n)) < rng.choice([0.1, 0.3, 0.6])
    for arm in np.flatnonzero(~reveals.any(axis=0)):
        reveals[rng.integers(n) if n > 1 else 0, arm] = True
    g = FeedbackGraph.from_adjacency(reveals)
    assert observability(g).unobservable.size == 0
    assert legality_violations(g, partitions.communities(g, seed).blocks) == ()


def test_mending_keeps_legal_blocks_and_merges_the_others():
    ring = families.cycle(6)
    kept = mended(ring, np.array([0, 0, 0, 1, 1, 1]))
    assert len(set(kept.tolist())) == 2
    merged = mended(ring, np.array([0, 1, 1, 2, 2, 2]))  # arm 0 alone is not strongly observable
    assert len(set(merged.tolist())) == 2


def test_unobservable_graphs_are_refused():
    with pytest.raises(UnobservableGraph):
        partitions.communities(FeedbackGraph.from_edges(2, [(0, 0)]))
