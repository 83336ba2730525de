"""The independence number: brute force, closed forms, and certificates that prove themselves."""

import itertools
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from brute_force import independence as brute_force
from certified import certified
from hypothesis import given, settings
from hypothesis import strategies as st
from real_graphs import NAMES, real_graph

import sidelight as sl
from sidelight.analysis import independence_number
from sidelight.analysis.independence import number as independence
from sidelight.analysis.independence.search import adjacency
from sidelight.graph import FeedbackGraph, families


def check(matrix):
    g = FeedbackGraph.from_adjacency(np.asarray(matrix))
    found = certified(independence_number, g)
    assert found.exact
    assert found.lower == found.upper == len(found.arms) == brute_force(matrix)
    assert set(np.concatenate(found.cover).tolist()) == set(range(g.n_arms))


def random_matrix(rng, n):
    return rng.random((n, n)) < rng.uniform(0.02, 0.6)


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
    found = certified(independence_number, g)
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
        found = certified(independence_number, g)
        assert found.lower <= brute_force(matrix) <= found.upper
        gaps.append(found.upper - found.lower)
    assert max(gaps) <= 2
    assert np.mean(np.array(gaps) == 0) >= 0.5


def test_without_the_program_the_bracket_still_holds(monkeypatch):
    monkeypatch.setattr(independence, "NODES", 0)
    monkeypatch.setattr(independence, "PROGRAM_EDGES", 0)
    rng = np.random.default_rng(2)
    for _ in range(40):
        matrix = random_matrix(rng, 12)
        g = FeedbackGraph.from_adjacency(matrix)
        found = certified(independence_number, g)
        assert found.lower <= brute_force(matrix) <= found.upper
        assert (found.weights == 1.0).all()


# -- closed forms -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "number"),
    [
        *((f"cycle:{n}", n // 2) for n in (3, 4, 5, 6, 7, 50, 51, 1001, 20_001)),
        *((f"cycle:{n}:directed", n // 2) for n in (3, 8, 9)),
        *((f"hypercube:{d}", 2 ** (d - 1)) for d in (1, 2, 3, 6, 10)),
        ("cliques:2,3,50,7", 4),
        ("cliques:20x40", 20),
        ("mab:1", 1),
        ("mab:300", 300),
        ("full:1", 1),
        ("full:5", 1),
        ("loopless_clique:70", 1),
        ("loopy_star:60", 59),
        ("revealing_action:60", 59),
        ("complete_bipartite:30,45", 45),
        ("grid:7,9", 32),
        ("full:100000", 1),
        ("loopless_clique:100000", 1),
        ("mab:100000", 100_000),
        ("cycle:100000", 50_000),
        ("cliques:10000x10", 10_000),
        ("hypercube:14", 8192),
    ],
)
def test_known_families(family, number):
    g = families.parse(family)
    found = certified(independence_number, g)
    assert (found.lower, found.upper) == (number, number)


@pytest.mark.parametrize("seed", range(5))
def test_trees_are_bipartite(seed):
    """α = n − maximum matching; peeling leaves finds it."""
    rng = np.random.default_rng(seed)
    n = 400
    parents = [int(rng.integers(0, v)) for v in range(1, n)]
    tree = nx.Graph(zip(range(1, n), parents, strict=True))
    g = FeedbackGraph.from_edges(n, list(tree.edges()))
    found = certified(independence_number, g)
    assert found.lower == found.upper == n - len(nx.max_weight_matching(tree, maxcardinality=True))


@pytest.mark.parametrize("seed", range(5))
def test_bipartite_graphs_are_exact(seed):
    rng = np.random.default_rng(seed)
    matrix = np.zeros((300, 300), dtype=bool)
    matrix[:140, 140:] = rng.random((140, 160)) < 0.03
    g = FeedbackGraph.from_adjacency(matrix)
    found = certified(independence_number, g)
    assert found.exact


@pytest.mark.parametrize("n", [40, 60])
@pytest.mark.parametrize("p", [0.1, 0.3, 0.6])
def test_search_against_networkx(n, p):
    g = families.random(n, p, seed=3)
    matrix = g.to_sparse().toarray().astype(bool)
    apart = nx.complement(nx.from_numpy_array(matrix | matrix.T))
    number = len(nx.max_weight_clique(apart, weight=None)[0])
    found = certified(independence_number, g)
    assert (found.lower, found.upper) == (number, number)


# -- large graphs -----------------------------------------------------------------------------------------


def test_a_large_random_graph_is_bracketed():
    rng = np.random.default_rng(0)
    n = 20_000
    g = FeedbackGraph.from_edges(n, np.column_stack([rng.integers(0, n, 3 * n), np.repeat(np.arange(n), 3)]))
    found = certified(independence_number, g)
    assert n / (1 + np.mean(adjacency(g)[1].degree)) <= found.lower <= found.upper  # Turán


@pytest.mark.parametrize("name", NAMES)
def test_real_graphs(name):
    g = real_graph(name)
    found = certified(independence_number, g)
    loose = {"cit_HepTh": 1.03, "ego_facebook": 1.05, "movielens_knn10": 1.3}
    assert found.upper <= loose.get(name, 1.0) * found.lower


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
        with pytest.raises(sl.errors.SolverError, match=words):
            claim.verify(graph)
    with pytest.raises(sl.errors.SolverError, match="revealed by every other"):
        replace(found, arms=np.array([0, 1])).verify(families.full(10))


def test_the_same_answer_every_time(monkeypatch):
    monkeypatch.setattr(independence, "NODES", 1000)
    g = families.random(150, 0.03, seed=1)
    first, second = independence_number(g), independence_number(g)
    assert first.arms.tolist() == second.arms.tolist()
    assert first.upper == second.upper
    assert not first.exact  # the search stopped by its nodes


def test_repr():
    assert repr(independence_number(families.cycle(6))) == "IndependenceNumber(3, exact, 3 cliques)"
