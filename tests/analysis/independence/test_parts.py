"""The parts of which the bracket is made: peeling, covers, local search, branch and bound, components."""

import itertools

import numpy as np
import pytest
from brute_force import independence as brute_force

from sidelight.analysis.independence import number as independence
from sidelight.analysis.independence.search import (
    Adjacency,
    Search,
    adjacency,
    greedy_cover,
    greedy_set,
    peel_exactly,
    swapped,
)
from sidelight.graph import FeedbackGraph


def undirected(n, pairs):
    return adjacency(FeedbackGraph.from_edges(n, pairs))[1]


def random_adjacency(seed, n=30, p=0.15):
    rng = np.random.default_rng(seed)
    return undirected(n, np.argwhere(np.triu(rng.random((n, n)) < p, 1)))


def independent(graph, chosen):
    return len(set(chosen)) == len(chosen) and graph.matrix()[chosen][:, chosen].nnz == 0


@pytest.mark.parametrize("seed", range(20))
def test_greedy_sets_and_swaps_are_independent_and_maximal(seed):
    graph = random_adjacency(seed)
    start = greedy_set(graph)
    better = swapped(graph, start)
    for chosen in (start, better, swapped(graph, [])):
        assert independent(graph, chosen)
        touched = set(chosen).union(*(graph.matrix()[[v]].nonzero()[1].tolist() for v in chosen))
        assert touched == set(range(graph.n))
    assert len(better) >= len(start)


@pytest.mark.parametrize("seed", range(8))
def test_no_swap_is_left(seed):
    graph = random_adjacency(seed, n=16, p=0.25)
    chosen = set(swapped(graph, greedy_set(graph)))
    for out in chosen:
        for pair in itertools.combinations(sorted(set(range(graph.n)) - chosen), 2):
            assert not independent(graph, [*(chosen - {out}), *pair])


@pytest.mark.parametrize("seed", range(20))
def test_covers_are_cliques(seed):
    graph = random_adjacency(seed, p=0.4)
    near = graph.matrix().toarray()
    whole = greedy_cover(graph, np.arange(graph.n))
    edges = independence.edge_cliques(graph)
    for clique in (*whole, *edges):
        assert near[np.ix_(clique, clique)].sum() == len(clique) * (len(clique) - 1)
    assert sorted(itertools.chain.from_iterable(whole)) == list(range(graph.n))
    inside = {pair for clique in edges for pair in itertools.permutations(clique, 2)}
    assert inside == set(zip(*(axis.tolist() for axis in near.nonzero()), strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_peeling_is_exact(seed):
    graph = random_adjacency(seed, n=14, p=0.2)
    chosen, cliques, left = peel_exactly(graph)
    near = graph.matrix().toarray().astype(bool)
    kernel = near[np.ix_(left, left)]
    assert brute_force(near) == len(chosen) + (brute_force(kernel) if len(kernel) else 0)
    gone = sorted(itertools.chain.from_iterable(cliques))
    assert sorted([*gone, *left.tolist()]) == list(range(14))


def test_a_search_out_of_nodes_says_so():
    graph = random_adjacency(0, n=60, p=0.1)
    search = Search(graph, nodes=5)
    assert not search.larger_than([])
    assert independent(graph, search.best)
    whole = Search(graph, nodes=10**6)
    assert whole.larger_than(search.best)
    assert len(whole.best) >= len(search.best)


def test_components_are_the_graph():
    graph = undirected(7, [(0, 5), (5, 3), (1, 6), (6, 4)])
    parts = [(vertices.tolist(), part.matrix().toarray()) for vertices, part in graph.components()]
    assert [vertices for vertices, _ in parts] == [[0, 3, 5], [1, 4, 6], [2]]
    for vertices, matrix in parts:
        assert (matrix == graph.matrix().toarray()[np.ix_(vertices, vertices)]).all()
    assert list(Adjacency(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64)).components()) == []


# -- the result -------------------------------------------------------------------------------------------
