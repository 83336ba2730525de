"""Edges that reveal with a probability: made, read, written, compared."""

import copy
import json
import pickle

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import io as scipy_io
from scipy import sparse

from sidelight.errors import GraphFileError, InvalidGraph, InvalidOption, WeightsIgnored
from sidelight.graph import FeedbackGraph, families, read_graph, write_graph
from sidelight.graph.altered import levels, loop_probability, observable_part, sharpened, with_loops

R = np.array(
    [
        [0.5, 1.0, 1.0, 0.0, 1.0],
        [0.25, 0.0, 1.0, 0.1, 1.0],
        [0.0, 1.0, 1.0, 0.0, 1.0],
        [0.0, 0.7, 1.0, 0.0, 1.0],
        [0.0, 0.0, 1.0, 0.0, 0.3],
    ]
)
"""Arm 2 is revealed by all for certain, arm 4 by all others but by itself only now and then."""


@pytest.fixture
def graph():
    return FeedbackGraph.from_adjacency(R, probabilities=True)


def test_what_it_says(graph):
    n = len(R)
    assert not graph.certain
    assert graph.universal.tolist() == [2]  # arm 4 may fail to reveal itself, which must be written down
    assert graph.n_edges == (R > 0).sum()
    for i in range(n):
        assert_array_equal(graph.out_neighbors(i), np.flatnonzero(R[i]))
        assert_array_equal(graph.in_neighbors(i), np.flatnonzero(R[:, i]))
        assert_array_equal(graph.reveal_probabilities(i), R[i][R[i] > 0])
        assert [graph.probability(i, j) for j in range(n)] == R[i].tolist()
    assert_array_equal(graph.to_sparse().toarray(), R)
    assert_array_equal(graph.edge_probabilities(), R[tuple(graph.edges().T)])
    assert_array_equal(loop_probability(graph), np.diag(R))
    played = np.random.default_rng(0).dirichlet(np.ones(n))
    assert_allclose(graph.seen(played), R.T @ played, rtol=1e-14)
    assert "may_fail=5" in repr(graph)


def test_levels(graph):
    assert levels(graph) == [1.0, 0.7, 0.5, 0.3, 0.25, 0.1]
    for r in levels(graph):
        assert_array_equal(graph.at_least(r).to_sparse().toarray(), r <= R)
        assert graph.at_least(r).certain
    assert_allclose(sharpened(graph, 2.0).to_sparse().toarray(), R**2)
    assert sharpened(graph, 1.0) is graph
    many = FeedbackGraph.from_edges(40, [(i, i) for i in range(40)], probabilities=np.linspace(0.1, 1, 40))
    assert len(levels(many)) == 12
    assert (levels(many)[0], levels(many)[-1]) == (1.0, 0.1)


def test_certain_edges_leave_no_trace():
    plain = families.random(9, 0.4, 3, loops=True)
    edges = plain.edges()
    for same in (
        FeedbackGraph.from_edges(9, edges, probabilities=1),
        FeedbackGraph.from_edges(9, edges, probabilities=np.ones(len(edges))),
        FeedbackGraph.from_adjacency(plain.to_sparse(), probabilities=True),
        families.faulty(plain, 1),
        plain.at_least(0.5),
        sharpened(plain, 3.0),
    ):
        assert same == plain
        assert same.out_probability is None
        assert same.in_probability is None
    assert plain.certain
    assert levels(plain) == [1.0]
    assert "out_probability" not in plain.to_arrays()
    assert plain.to_sparse().dtype == np.int8


def test_probabilities_count_in_comparisons(graph):
    other = R.copy()
    other[1, 0] = 0.26
    changed = FeedbackGraph.from_adjacency(other, probabilities=True)
    assert changed != graph
    assert graph != graph.at_least(0.01)
    assert graph == FeedbackGraph.from_adjacency(R.copy(), probabilities=True)
    assert changed.digest != graph.digest
    assert graph.digest != graph.at_least(0.01).digest


@pytest.mark.parametrize(
    ("probabilities", "says"),
    [
        ([0.5, 0.0], r"edge \(1, 0\) must be in \(0, 1\], got 0.0"),
        ([1.5, 0.5], r"edge \(0, 1\) must be in \(0, 1\], got 1.5"),
        ([0.5, float("nan")], r"edge \(1, 0\) must be in \(0, 1\], got nan"),
        ([-0.5, 0.5], "got -0.5"),
        ([0.5], "2 edges need 2 probabilities"),
        ([[0.5], [0.5]], "2 edges need 2 probabilities"),
        (["a", "b"], "numbers in"),
        ([None, 0.5], "numbers in"),
        (0, "must be in"),
        (True, "numbers in"),
    ],
)
def test_bad_probabilities(probabilities, says):
    with pytest.raises(InvalidGraph, match=says):
        FeedbackGraph.from_edges(2, [(0, 1), (1, 0)], probabilities=probabilities)


def test_an_edge_has_one_probability():
    twice = [(0, 1), (1, 0), (0, 1)]
    assert FeedbackGraph.from_edges(2, twice, probabilities=[0.5, 1, 0.5]).probability(0, 1) == 0.5
    with pytest.raises(InvalidGraph, match=r"edge \(0, 1\) is given with two probabilities, 0.5 and 0.6"):
        FeedbackGraph.from_edges(2, twice, probabilities=[0.5, 1, 0.6])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_matrices_hold_probabilities_only_if_asked(form):
    with pytest.raises(InvalidGraph, match="probabilities=True"):
        FeedbackGraph.from_adjacency(form(R))
    for wrong in (1.5, -0.1, np.nan):
        bad = R.copy()
        bad[0, 0] = wrong
        with pytest.raises(InvalidGraph, match="NaN" if np.isnan(wrong) else str(wrong)):
            FeedbackGraph.from_adjacency(form(bad), probabilities=True)


def test_parts_and_unions(graph):
    kept = [4, 1, 2]
    assert_array_equal(graph.subgraph(kept).to_sparse().toarray(), R[np.ix_(kept, kept)])
    looped = with_loops(graph).to_sparse().toarray()
    assert_array_equal(looped, np.where(np.eye(5) * (R == 0), 1.0, R))
    once = FeedbackGraph.from_edges(3, [(0, 1), (2, 1)], probabilities=[0.5, 0.25])
    both = once.symmetrized()
    assert [both.probability(i, j) for i, j in ((0, 1), (1, 0), (1, 2), (2, 1))] == [0.5, 0.5, 0.25, 0.25]
    with pytest.raises(InvalidGraph, match="two probabilities"):
        FeedbackGraph.from_edges(2, [(0, 1), (1, 0)], probabilities=[0.5, 0.6]).symmetrized()
    part, gone = observable_part(FeedbackGraph.from_edges(3, [(0, 1), (1, 0), (0, 2)], probabilities=0.5))
    assert gone.size == 0
    assert part.probability(0, 2) == 0.5


# -- files ------------------------------------------------------------------------------------------------

ENDINGS = ("csv", "csv.gz", "npz", "mtx", "graphml", "json")


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("labels", [None, ["a", "b", "c, d", "e", "f"]])
def test_every_format_gives_them_back(tmp_path, graph, ending, labels):
    g = FeedbackGraph.from_adjacency(R, labels, probabilities=True)
    g = g if labels else FeedbackGraph.from_edges(6, g.edges(), probabilities=g.edge_probabilities())
    write_graph(g, tmp_path / f"g.{ending}")
    assert read_graph(tmp_path / f"g.{ending}") == g


@pytest.mark.parametrize(
    "travel", [lambda g: pickle.loads(pickle.dumps(g)), copy.deepcopy], ids=["pickle", "copy"]
)
def test_copies(graph, travel):
    again = travel(graph)
    assert again == graph
    assert not again.out_probability.flags.writeable


def test_networkx(graph):
    assert FeedbackGraph.from_networkx(graph.to_networkx()) == graph
    undirected = nx.Graph([(0, 1, {"probability": 0.5}), (1, 2)])
    g = FeedbackGraph.from_networkx(undirected)
    assert [g.probability(0, 1), g.probability(1, 0), g.probability(2, 1)] == [0.5, 0.5, 1.0]
    undirected[0][1]["probability"] = 2
    with pytest.raises(InvalidGraph, match="got 2"):
        FeedbackGraph.from_networkx(undirected)


def test_csv_with_names_and_further_columns(tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("src,dst,note,probability\nx,y,one,0.5\ny,x,,1\n")
    g = read_graph(path)
    assert g.labels == ("x", "y")
    assert [g.probability(0, 1), g.probability(1, 0)] == [0.5, 1.0]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("src,dst,probability\n0,1,0.5\n1,0,0\n", "line 3: a probability is a number in"),
        ("src,dst,probability\n0,1,often\n", "line 2: a probability is a number in"),
        ("src,dst,probability\n0,1,nan\n", "line 2: a probability is a number in"),
        ("src,dst,probability\n0,1,\n", "line 2: a probability is a number in"),
        ("src,dst,probability,probability\n0,1,1,1\n", "two columns"),
        ("src,dst,probability\n0,1,0.5\n0,1,0.4\n1,0,1\n", "two probabilities"),
    ],
)
def test_bad_csv(tmp_path, content, says):
    (tmp_path / "g.csv").write_text(content)
    with pytest.raises(GraphFileError, match=says):
        read_graph(tmp_path / "g.csv")


def test_json(tmp_path):
    path = tmp_path / "g.json"
    links = [{"source": "a", "target": "b", "probability": 0.5}, {"source": "b", "target": "a"}]
    nodes = [{"id": "a"}, {"id": "b"}]
    path.write_text(json.dumps({"directed": True, "nodes": nodes, "links": links}))
    assert [read_graph(path).probability(0, 1), read_graph(path).probability(1, 0)] == [0.5, 1.0]
    for wrong, says in ([0.5], "2 edges"), ("often", "list of numbers"), ([True, 0.5], "list of numbers"):
        path.write_text(json.dumps({"edges": [[0, 1], [1, 0]], "probabilities": wrong}))
        with pytest.raises(GraphFileError, match=says):
            read_graph(path)


def test_matrices_of_other_programs_are_probabilities_if_asked(tmp_path, graph):
    path = tmp_path / "m.mtx"
    scipy_io.mmwrite(path, sparse.coo_array(R))
    assert read_graph(path, probabilities=True) == graph
    with pytest.warns(WeightsIgnored):
        assert read_graph(path) == graph.at_least(0.01)
    scipy_io.mmwrite(path, sparse.coo_array(3 * R))
    with pytest.raises(GraphFileError, match=r"\[0, 1\]"):
        read_graph(path, probabilities=True)
    sparse.save_npz(tmp_path / "m.npz", sparse.csr_array(R))
    assert read_graph(tmp_path / "m.npz", probabilities=True) == graph
    write_graph(graph, tmp_path / "g.csv")
    with pytest.raises(GraphFileError, match="column"):
        read_graph(tmp_path / "g.csv", probabilities=True)


def test_versions_of_npz(tmp_path, graph):
    for g, version in (graph, 2), (graph.at_least(0.5), 1):
        write_graph(g, tmp_path / "g.npz")
        assert int(np.load(tmp_path / "g.npz")["sidelight_graph"]) == version
    arrays = graph.to_arrays()
    for wrong in (arrays["out_probability"][:-1], np.zeros_like(arrays["out_probability"])):
        with pytest.raises(InvalidGraph, match="out_probability"):
            FeedbackGraph.from_arrays(arrays | {"out_probability": wrong})


# -- families ---------------------------------------------------------------------------------------------


def test_families():
    g = families.parse("cycle:5:directed:works=0.25")
    assert g == families.faulty(families.cycle(5, directed=True), 0.25)
    assert families.parse("lossy_probe:6,0.5") == families.faulty(families.ring_probe(6), 0.5)
    screens = families.shared_screens(5, 0.5)
    assert_array_equal(loop_probability(screens), 1.0)
    assert_array_equal(screens.reveal_probabilities(0), [1.0, 0.5, 0.5])
    assert families.faulty(families.faulty(families.cycle(5), 0.5), 0.5).probability(0, 1) == 0.25
    for wrong in (0, 1.5, float("nan"), "x", True):
        with pytest.raises(InvalidOption, match="probability in"):
            families.faulty(families.cycle(5), wrong)
    for text in ("cycle:5:works=2", "cycle:5:works=x", "cycle:5:works=0.5:directed"):
        with pytest.raises(InvalidOption):
            families.parse(text)
