"""FeedbackGraph against the dense adjacency matrix it stands for."""

import copy
import pickle
from dataclasses import FrozenInstanceError, fields

import hypothesis.extra.numpy as hnp
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sidelight._check import MAX_ARMS
from sidelight.errors import InvalidGraph
from sidelight.graph import FeedbackGraph, families

lawful = settings(deadline=None, derandomize=True, max_examples=60)


@st.composite
def matrices(draw):
    """Adjacency matrices of 1 to 8 arms in which full columns (universal arms) are common."""
    n = draw(st.integers(1, 8))
    matrix = draw(hnp.arrays(bool, (n, n)))
    for arm in draw(st.sets(st.integers(0, n - 1))):
        loop = matrix[arm, arm]
        matrix[:, arm] = True
        matrix[arm, arm] = loop
    return matrix


def dense(graph):
    matrix = np.zeros((graph.n_arms, graph.n_arms), dtype=bool)
    for i in range(graph.n_arms):
        matrix[i, graph.out_neighbors(i)] = True
    return matrix


@lawful
@given(matrices())
def test_reads_like_its_matrix(matrix):
    graph = FeedbackGraph.from_adjacency(matrix)
    n = len(matrix)
    assert graph.n_arms == n
    assert graph.n_edges == matrix.sum()
    assert np.array_equal(graph.has_loop, matrix.diagonal())
    assert np.array_equal(graph.out_degree, matrix.sum(axis=1))
    assert np.array_equal(graph.in_degree, matrix.sum(axis=0))
    for i in range(n):
        assert np.array_equal(graph.out_neighbors(i), np.flatnonzero(matrix[i]))
        assert np.array_equal(graph.in_neighbors(i), np.flatnonzero(matrix[:, i]))
        for j in range(n):
            assert graph.reveals(i, j) == matrix[i, j]
    assert np.array_equal(graph.edges(), np.argwhere(matrix))
    assert np.array_equal(graph.to_sparse().toarray(), matrix)


@lawful
@given(matrices())
def test_stores_universal_arms_once(matrix):
    graph = FeedbackGraph.from_adjacency(matrix)
    n = len(matrix)
    others = matrix | np.eye(n, dtype=bool)
    expected = np.flatnonzero(others.all(axis=0)) if n >= 2 else []
    assert np.array_equal(graph.universal, expected)
    assert np.array_equal(np.flatnonzero(graph.is_universal), expected)
    explicit = matrix.copy()
    explicit[:, graph.universal] = False
    assert graph.out_indices.size == graph.in_indices.size == explicit.sum()


@lawful
@given(matrices(), st.randoms(use_true_random=False))
def test_every_way_of_making_one_agrees(matrix, random):
    graph = FeedbackGraph.from_adjacency(matrix)
    n = len(matrix)
    pairs = np.argwhere(matrix).tolist() * 2  # duplicates count once
    random.shuffle(pairs)
    same = [
        FeedbackGraph.from_edges(n, pairs),
        FeedbackGraph.from_edges(n, np.array(pairs, dtype=np.int32).reshape(-1, 2)),
        FeedbackGraph.from_edges(n, iter(pairs)),
        FeedbackGraph.from_adjacency(matrix.astype(float)),
        FeedbackGraph.from_adjacency(sparse.csr_array(matrix)),
        FeedbackGraph.from_adjacency(sparse.csc_matrix(matrix.astype(int))),
        FeedbackGraph.from_networkx(graph.to_networkx()),
        FeedbackGraph.from_networkx(nx.from_numpy_array(matrix, create_using=nx.DiGraph)),
    ]
    for other in same:
        assert other == graph
        assert hash(other) == hash(graph)
        assert np.array_equal(other.in_indptr, graph.in_indptr)
        assert np.array_equal(other.in_indices, graph.in_indices)


@lawful
@given(matrices(), matrices())
def test_equal_exactly_when_the_matrices_are(one, two):
    equal = one.shape == two.shape and np.array_equal(one, two)
    assert (FeedbackGraph.from_adjacency(one) == FeedbackGraph.from_adjacency(two)) == equal


@lawful
@given(matrices(), st.data())
def test_subgraph_is_the_submatrix(matrix, data):
    n = len(matrix)
    arms = data.draw(st.permutations(range(n)).flatmap(lambda p: st.integers(1, n).map(lambda k: p[:k])))
    graph = FeedbackGraph.from_adjacency(matrix, labels=[f"arm {i}" for i in range(n)])
    part = graph.subgraph(arms)
    assert part == FeedbackGraph.from_adjacency(matrix[np.ix_(arms, arms)], [f"arm {i}" for i in arms])


@lawful
@given(matrices())
def test_symmetrized_adds_every_reverse(matrix):
    graph = FeedbackGraph.from_adjacency(matrix)
    assert graph.symmetrized() == FeedbackGraph.from_adjacency(matrix | matrix.T)


def test_an_undirected_networkx_graph_reveals_both_ways():
    graph = FeedbackGraph.from_networkx(nx.path_graph(["x", "y", "z"]))
    assert graph.labels == ("x", "y", "z")
    assert graph.edges().tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]


def test_labels_survive_networkx():
    graph = families.teams([2, 3])
    assert FeedbackGraph.from_networkx(graph.to_networkx()) == graph
    assert graph.to_networkx().nodes[2]["label"] == "team 2 / member 1"


def test_foreign_label_attributes_are_used_only_when_they_tell_arms_apart():
    graph = nx.DiGraph([(0, 1)])
    nx.set_node_attributes(graph, "same", "label")
    assert FeedbackGraph.from_networkx(graph).labels is None


def test_labels_count_in_equality():
    named = FeedbackGraph.from_edges(2, [(0, 1)], labels=["a", "b"])
    assert named != FeedbackGraph.from_edges(2, [(0, 1)])
    assert named != "a graph"


def test_nothing_can_be_changed():
    matrix = np.array([[1, 1, 0], [0, 0, 1], [0, 1, 0]], dtype=bool)
    graph = FeedbackGraph.from_adjacency(matrix)
    with pytest.raises(FrozenInstanceError):
        graph.n_arms = 5
    arrays = [getattr(graph, field.name) for field in fields(graph)]
    arrays += [graph.is_universal, graph.out_degree, graph.in_degree]
    assert sum(isinstance(array, np.ndarray) for array in arrays) == 9
    for array in arrays:
        if isinstance(array, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
    matrix[:] = False
    assert graph.n_edges == 4  # a copy was taken


def test_dense_graphs_stay_small():
    for graph in (families.full(100_000), families.loopless_clique(100_000)):
        stored = sum(array.nbytes for array in vars(graph).values() if isinstance(array, np.ndarray))
        assert stored < 3_000_000
        assert graph.n_edges in (100_000**2, 100_000 * 99_999)
        assert graph.out_neighbors(7).size == graph.out_degree[7] == graph.in_degree[7]
        assert graph.reveals(5, 6)
        with pytest.raises(InvalidGraph, match="too many to write out"):
            graph.edges()
    assert families.full(100_000).symmetrized() == families.full(100_000)
    part = families.loopless_clique(100_000).subgraph([5, 3, 99_999])
    assert part == families.loopless_clique(3)


def test_symmetrizing_refuses_to_fill_memory():
    half = families.corrupted_full(200_000, 100_000)
    with pytest.raises(InvalidGraph, match="reversing"):
        half.symmetrized()


def test_one_arm():
    alone, seen = FeedbackGraph.from_edges(1, []), FeedbackGraph.from_edges(1, [(0, 0)])
    assert alone.n_edges == 0
    assert seen.n_edges == 1
    assert alone != seen
    assert seen.in_neighbors(0).tolist() == seen.out_neighbors(0).tolist() == [0]
    assert seen.universal.size == 0


def test_repr_names_the_size():
    assert repr(families.cycle(5)) == "FeedbackGraph(n_arms=5, n_edges=10)"


@pytest.mark.parametrize(
    ("n_arms", "edges", "message"),
    [
        (0, [], "at least one arm"),
        (-3, [], "-3"),
        (2.0, [], "2.0"),
        (True, [], "True"),
        (MAX_ARMS + 1, [], "at most"),
        (3, [(0, 3)], r"\(0, 3\)"),
        (3, [(-1, 0)], r"\(-1, 0\)"),
        (3, [(0, 1, 2)], "shape"),
        (3, [(0, 1), (2,)], "pairs"),
        (3, [(0.5, 1.0)], "float64"),
        (3, [("0", "1")], "type"),
        (3, 7, "pairs"),
        (3, np.array([[2**63, 0]], dtype=np.uint64), "too large"),
    ],
)
def test_bad_edges(n_arms, edges, message):
    with pytest.raises(InvalidGraph, match=message):
        FeedbackGraph.from_edges(n_arms, edges)


@pytest.mark.parametrize(
    ("adjacency", "message"),
    [
        (np.ones((2, 3)), r"\(2, 3\)"),
        (np.ones(4), "square"),
        (np.array([["a"]]), "numbers"),
        (np.array([[np.nan]]), "NaN"),
        (sparse.csr_array(np.ones((2, 3))), r"\(2, 3\)"),
        (sparse.csr_array(np.array([[np.nan]])), "NaN"),
        (np.array([[0, 0.5], [1, 1]]), r"0 and 1 only, got 0\.5; .* A != 0"),
        (sparse.coo_array(np.array([[0, -1], [1, 1]])), "0 and 1 only, got -1"),
        (np.empty((0, 0)), "at least one arm"),
    ],
)
def test_bad_matrices(adjacency, message):
    with pytest.raises(InvalidGraph, match=message):
        FeedbackGraph.from_adjacency(adjacency)


class Frame:
    """As much of a pandas DataFrame as is used, for where pandas is not installed."""

    def __init__(self, matrix, index=None, columns=None):
        self.matrix = np.asarray(matrix)
        self.index, self.columns = (
            range(size) if names is None else names
            for size, names in zip(self.matrix.shape, (index, columns), strict=True)
        )

    def to_numpy(self):
        return self.matrix


@pytest.mark.parametrize("library", ["pandas", None])
def test_a_frame_keeps_its_names(library):
    frame = pytest.importorskip(library).DataFrame if library else Frame
    names, matrix = ["bread", "rolls", "cake"], np.array([[1, 0, 1], [0, 1, 0], [0, 0, 1]])
    expected = FeedbackGraph.from_adjacency(matrix, names)
    named = frame(matrix, index=names, columns=names)
    assert FeedbackGraph.from_adjacency(named) == expected
    assert FeedbackGraph.from_adjacency(frame(matrix == 1, index=names, columns=names)) == expected
    assert FeedbackGraph.from_adjacency(named, labels=["a", "b", "c"]).labels == ("a", "b", "c")
    assert FeedbackGraph.from_adjacency(frame(matrix)).labels is None
    with pytest.raises(InvalidGraph, match="row 1 is 'rolls' and column 1 is 'cake'"):
        FeedbackGraph.from_adjacency(frame(matrix, index=names, columns=["bread", "cake", "rolls"]))
    with pytest.raises(InvalidGraph, match="row 0 is 0 and column 0 is 'bread'"):
        FeedbackGraph.from_adjacency(frame(matrix, columns=names))
    with pytest.raises(InvalidGraph, match="square"):
        FeedbackGraph.from_adjacency(frame(matrix[:, :1], index=names, columns=["bread"]))


def test_arrays_give_the_graph_back():
    for graph in (
        families.full(5),
        families.cycle(4),
        families.mab(1),
        FeedbackGraph.from_edges(2, [(0, 1)], "äb"),
    ):
        arrays = graph.to_arrays()
        assert all(array.dtype.kind in "biu" for array in arrays.values())
        assert FeedbackGraph.from_arrays(arrays) == graph


def test_bad_networkx():
    with pytest.raises(InvalidGraph, match="networkx"):
        FeedbackGraph.from_networkx([(0, 1)])
    with pytest.raises(InvalidGraph, match="at least one arm"):
        FeedbackGraph.from_networkx(nx.DiGraph())
    with pytest.raises(InvalidGraph, match="distinct"):
        FeedbackGraph.from_networkx(nx.DiGraph([(1, "1")]))


def test_bad_labels():
    with pytest.raises(InvalidGraph, match="2 arms need 2 labels, got 1"):
        FeedbackGraph.from_edges(2, [], labels=["a"])
    with pytest.raises(InvalidGraph, match="repeated: a"):
        FeedbackGraph.from_edges(3, [], labels=["a", "b", "a"])


@pytest.mark.parametrize("arm", [-1, 3, 1.0, "1", True, None])
def test_bad_arm(arm):
    graph = families.mab(3)
    for call in (graph.out_neighbors, graph.in_neighbors, lambda a: graph.reveals(a, 0)):
        with pytest.raises(InvalidGraph, match=str(arm)):
            call(arm)


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        ([], "empty"),
        ([0, 5], "5"),
        ([-1], "-1"),
        ([1, 1], "more than once: 1"),
        ([0.5], "0.5"),
        ([[0]], "flat"),
    ],
)
def test_bad_sets_of_arms(arms, message):
    with pytest.raises(InvalidGraph, match=message):
        families.mab(3).subgraph(arms)


@pytest.mark.parametrize(
    "travel", [lambda g: pickle.loads(pickle.dumps(g)), copy.deepcopy], ids=["pickle", "copy"]
)
def test_a_copy_is_as_immutable_as_the_graph(travel):
    g = families.corrupted_full(6, 2)
    there = travel(g)
    assert there == g
    arrays = [getattr(there, field.name) for field in fields(there)]
    arrays = [array for array in arrays if isinstance(array, np.ndarray)]
    assert len(arrays) == 6
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
