"""The independence number: brute force, closed forms, and certificates that prove themselves."""

import gzip
import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sidelight as sl
from sidelight.analysis import independence_number
from sidelight.analysis.independence import bounds as independence_bounds
from sidelight.analysis.independence import number as independence
from sidelight.analysis.independence.graph import Adjacency, adjacency
from sidelight.analysis.independence.peel import greedy_cover, greedy_set, peel_exactly
from sidelight.analysis.independence.search import Search
from sidelight.analysis.independence.swap import swapped
from sidelight.graph import FeedbackGraph, families

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "graphs"
NAMES = sorted(path.stem for path in DATA.glob("*.json")) or ["absent"]


def brute_force(matrix):
    """α from all subsets of arms."""
    n = len(matrix)
    near = np.logical_or(matrix, np.transpose(matrix)) & ~np.eye(n, dtype=bool)
    masks = [sum(1 << int(j) for j in np.flatnonzero(row)) for row in near]
    best = np.zeros(1 << n, dtype=np.int8)
    for subset in range(1, 1 << n):  # without the last arm, or with it and without its neighbours
        last = subset.bit_length() - 1
        rest = subset ^ (1 << last)
        best[subset] = max(best[rest], 1 + best[rest & ~masks[last]])
    return int(best[-1])


def check(matrix):
    g = FeedbackGraph.from_adjacency(np.asarray(matrix))
    found = independence_number(g)
    assert found.verify(g)
    assert found.exact
    assert found.lower == found.upper == len(found.arms) == brute_force(matrix)
    assert set(np.concatenate(found.cover).tolist()) == set(range(g.n_arms))


def random_matrix(rng, n):
    return rng.random((n, n)) < rng.uniform(0.02, 0.6)


def undirected(n, pairs):
    return adjacency(FeedbackGraph.from_edges(n, pairs))[1]


# -- brute force ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3])
def test_every_small_digraph(n):
    for bits in itertools.product((0, 1), repeat=n * n):
        check(np.array(bits, dtype=bool).reshape(n, n))


@pytest.mark.parametrize(("n", "step"), [(4, 1), (5, 3)])
def test_undirected_graphs(n, step):
    """All 64 with four arms, a third of the 1,024 with five."""
    pairs = list(itertools.combinations(range(n), 2))
    for bits in list(itertools.product((0, 1), repeat=len(pairs)))[::step]:
        matrix = np.zeros((n, n), dtype=bool)
        for (u, v), bit in zip(pairs, bits, strict=True):
            matrix[u, v] = bit
        check(matrix)


def test_random_digraphs():
    rng = np.random.default_rng(0)
    for _ in range(200):
        check(random_matrix(rng, int(rng.integers(4, 13))))


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(0, 2**32), st.integers(2, 12), st.integers(1, 3))
def test_universal_arms_change_nothing(seed, n, extra):
    """Arms that everyone reveals join no set of two; the bracket is that of the others."""
    matrix = random_matrix(np.random.default_rng(seed), n + extra)
    matrix[:, n:] = True
    g = FeedbackGraph.from_adjacency(matrix)
    found = independence_number(g)
    assert found.verify(g)
    assert found.exact
    assert found.lower == brute_force(matrix[:n, :n])


def test_without_search_the_bracket_still_holds(monkeypatch):
    """The fractional cover and the local search alone: what large graphs get."""
    monkeypatch.setattr(independence, "NODES", 0)
    rng = np.random.default_rng(1)
    gaps = []
    for _ in range(60):
        matrix = random_matrix(rng, 12)
        g = FeedbackGraph.from_adjacency(matrix)
        found = independence_number(g)
        assert found.verify(g)
        assert found.lower <= brute_force(matrix) <= found.upper
        gaps.append(found.upper - found.lower)
    assert max(gaps) <= 2
    assert np.mean(np.array(gaps) == 0) >= 0.5


def test_without_the_program_the_bracket_still_holds(monkeypatch):
    monkeypatch.setattr(independence, "NODES", 0)
    monkeypatch.setattr(independence_bounds, "PROGRAM_EDGES", 0)
    rng = np.random.default_rng(2)
    for _ in range(40):
        matrix = random_matrix(rng, 12)
        g = FeedbackGraph.from_adjacency(matrix)
        found = independence_number(g)
        assert found.verify(g)
        assert found.lower <= brute_force(matrix) <= found.upper
        assert (found.weights == 1.0).all()


# -- closed forms -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("g", "number"),
    [
        *((families.cycle(n), n // 2) for n in (3, 4, 5, 6, 7, 50, 51, 1001, 20_001)),
        *((families.cycle(n, directed=True), n // 2) for n in (3, 8, 9)),
        *((families.hypercube(d), 2 ** (d - 1)) for d in (1, 2, 3, 6, 10)),
        (families.cliques([2, 3, 50, 7]), 4),
        (families.cliques([40] * 20), 20),
        (families.mab(1), 1),
        (families.mab(300), 300),
        (families.full(1), 1),
        (families.full(5), 1),
        (families.loopless_clique(70), 1),
        (families.loopy_star(60), 59),
        (families.revealing_action(60), 59),
        (families.complete_bipartite(30, 45), 45),
        (families.grid(7, 9), 32),
    ],
    ids=repr,
)
def test_known_families(g, number):
    found = independence_number(g)
    assert found.verify(g)
    assert (found.lower, found.upper) == (number, number)


@pytest.mark.parametrize("seed", range(5))
def test_trees_are_bipartite(seed):
    """α = n − maximum matching; peeling leaves finds it."""
    import networkx as nx

    rng = np.random.default_rng(seed)
    n = 400
    parents = [int(rng.integers(0, v)) for v in range(1, n)]
    tree = nx.Graph(zip(range(1, n), parents, strict=True))
    g = FeedbackGraph.from_edges(n, list(tree.edges()))
    found = independence_number(g)
    assert found.verify(g)
    assert found.lower == found.upper == n - len(nx.max_weight_matching(tree, maxcardinality=True))


@pytest.mark.parametrize("seed", range(5))
def test_bipartite_graphs_are_exact(seed):
    rng = np.random.default_rng(seed)
    matrix = np.zeros((300, 300), dtype=bool)
    matrix[:140, 140:] = rng.random((140, 160)) < 0.03
    g = FeedbackGraph.from_adjacency(matrix)
    found = independence_number(g)
    assert found.verify(g)
    assert found.exact


@pytest.mark.parametrize("n", [40, 60])
@pytest.mark.parametrize("p", [0.1, 0.3, 0.6])
def test_search_against_networkx(n, p):
    import networkx as nx

    g = families.random(n, p, seed=3)
    matrix = g.to_sparse().toarray().astype(bool)
    apart = nx.complement(nx.from_numpy_array(matrix | matrix.T))
    number = len(nx.max_weight_clique(apart, weight=None)[0])
    found = independence_number(g)
    assert found.verify(g)
    assert (found.lower, found.upper) == (number, number)


# -- large graphs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("g", "number"),
    [
        (families.full(100_000), 1),
        (families.loopless_clique(100_000), 1),
        (families.mab(100_000), 100_000),
        (families.cycle(100_000), 50_000),
        (families.cliques([10] * 10_000), 10_000),
        (families.hypercube(14), 8192),
    ],
    ids=repr,
)
def test_a_hundred_thousand_arms(g, number):
    found = independence_number(g)
    assert found.verify(g)
    assert (found.lower, found.upper) == (number, number)


def test_a_large_random_graph_is_bracketed():
    rng = np.random.default_rng(0)
    n = 20_000
    g = FeedbackGraph.from_edges(n, np.column_stack([rng.integers(0, n, 3 * n), np.repeat(np.arange(n), 3)]))
    found = independence_number(g)
    assert found.verify(g)
    assert n / (1 + np.mean(adjacency(g)[1].degree)) <= found.lower <= found.upper  # Turán


@pytest.mark.parametrize("name", NAMES)
def test_real_graphs(name):
    if not (DATA / f"{name}.json").exists():
        pytest.skip("shared/data is not beside the repository")
    card = json.loads((DATA / f"{name}.json").read_text())
    with gzip.open(DATA / f"{name}.csv.gz", "rt") as file:
        edges = np.loadtxt(file, delimiter=",", skiprows=1, usecols=(0, 1), dtype=np.int64, ndmin=2)
    g = FeedbackGraph.from_edges(card["N"], edges)
    found = independence_number(g)
    assert found.verify(g)
    loose = {"cit_HepTh": 1.03, "ego_facebook": 1.05, "movielens_knn10": 1.3}
    assert found.upper <= loose.get(name, 1.0) * found.lower


# -- the parts --------------------------------------------------------------------------------------------


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
    edges = independence_bounds.edge_cliques(graph)
    for clique in (*whole, *edges):
        assert near[np.ix_(clique, clique)].sum() == len(clique) * (len(clique) - 1)
    assert sorted(itertools.chain.from_iterable(whole)) == list(range(graph.n))
    inside = {pair for clique in edges for pair in itertools.permutations(clique, 2)}
    assert inside == set(zip(*(axis.tolist() for axis in near.nonzero()), strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_peeling_is_exact(seed):
    graph = random_adjacency(seed, n=14, p=0.2)
    peeled = peel_exactly(graph)
    near = graph.matrix().toarray().astype(bool)
    kernel = near[np.ix_(peeled.kernel, peeled.kernel)]
    assert brute_force(near) == len(peeled.chosen) + (brute_force(kernel) if len(kernel) else 0)
    gone = sorted(itertools.chain.from_iterable(peeled.cliques))
    assert sorted([*gone, *peeled.kernel.tolist()]) == list(range(14))


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


def test_verify_refuses_false_claims():
    g = FeedbackGraph.from_networkx(nx.petersen_graph())  # α = 4, but no cover proves less than 5
    found = independence_number(g)
    assert len(found.searched) == 1
    path = FeedbackGraph.from_edges(10, [(v, v + 1) for v in range(9)])
    for claim, graph, words in (
        (replace(found, arms=np.array([0, 1])), g, "adjacent"),
        (replace(found, upper=3), g, "not α ≤ 3"),
        (replace(found, searched=()), g, "not α ≤ 4"),
        (replace(found, searched=((np.arange(10), 3),), upper=3), g, "no proof that 3"),
        (replace(found, weights=found.weights * 0.5), g, "covered 0.5"),
        (replace(found, weights=-found.weights), g, "at least 0"),
        (replace(found, clique_arms=found.clique_arms * 3 % 10), g, "not a clique"),
        (replace(found, clique_arms=np.zeros_like(found.clique_arms)), g, "twice"),
        (found, path.subgraph([0, 2, 4, 6, 8, 1, 3, 5, 7, 9]), "not a clique|adjacent"),
    ):
        with pytest.raises(sl.SolverError, match=words):
            claim.verify(graph)
    with pytest.raises(sl.SolverError, match="revealed by every other"):
        replace(found, arms=np.array([0, 1])).verify(families.full(10))


def test_the_same_answer_every_time(monkeypatch):
    monkeypatch.setattr(independence, "NODES", 1000)
    g = families.random(150, 0.03, seed=1)
    first, second = independence_number(g), independence_number(g)
    assert first.arms.tolist() == second.arms.tolist()
    assert first.upper == second.upper
    assert not first.exact  # the search stopped by its nodes


def test_only_graphs_have_one():
    with pytest.raises(sl.InvalidGraph, match="ndarray"):
        independence_number(np.eye(3))


def test_repr():
    assert repr(independence_number(families.cycle(6))) == "IndependenceNumber(3, exact, 3 cliques)"
