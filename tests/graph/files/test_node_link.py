"""GraphML and JSON of other programs, and damaged ones."""

import json

import networkx as nx
import pytest
from graph_files import put

from sidelight.errors import GraphFileError, WeightsIgnored
from sidelight.graph import FeedbackGraph, families, read_graph, write_graph


def test_graphml_of_other_programs(tmp_path):
    graph = nx.Graph([("x", "y"), ("y", "z")])
    nx.write_graphml(graph, tmp_path / "g.graphml")
    read = read_graph(tmp_path / "g.graphml")
    assert read == FeedbackGraph.from_edges(3, [(0, 1), (1, 0), (1, 2), (2, 1)], "xyz")
    shuffled = nx.DiGraph()
    shuffled.add_nodes_from([(2, {"label": "c"}), (0, {"label": "a"}), (1, {"label": "b"})])
    shuffled.add_edge(2, 0)
    nx.write_graphml(shuffled, tmp_path / "s.graphml")
    assert read_graph(tmp_path / "s.graphml") == FeedbackGraph.from_edges(3, [(2, 0)], "abc")


@pytest.mark.parametrize("ending", ["graphml", "json"])
def test_weights_are_not_read_and_said_so(tmp_path, ending):
    weighted, path = (
        nx.DiGraph([(0, 1, {"weight": 0.5}), (1, 1, {"colour": "red"})]),
        tmp_path / f"g.{ending}",
    )
    if ending == "graphml":
        nx.write_graphml(weighted, path)
    else:
        path.write_text(json.dumps(nx.node_link_data(weighted, edges="links")))
    with pytest.warns(WeightsIgnored, match="the weights of edges are not read") as said:
        graph = read_graph(path)
    assert graph == FeedbackGraph.from_edges(2, [(0, 1), (1, 1)])
    assert [warning.filename for warning in said] == [__file__]


@pytest.mark.parametrize("content", ["", "<graphml>", "<graphml/>", "<html></html>", b"\x00\xff", "{}"])
def test_bad_graphml(tmp_path, content):
    with pytest.raises(GraphFileError, match=r"bad\.graphml"):
        read_graph(put(tmp_path, "bad.graphml", content))


def test_empty_graphml(tmp_path):
    nx.write_graphml(nx.DiGraph(), tmp_path / "none.graphml")
    with pytest.raises(GraphFileError, match="at least one arm"):
        read_graph(tmp_path / "none.graphml")


@pytest.mark.parametrize("label", ["", "bell \x07", "return \r"])
def test_labels_that_xml_cannot_hold(tmp_path, label):
    with pytest.raises(GraphFileError, match="GraphML cannot hold the label"):
        write_graph(FeedbackGraph.from_edges(1, [], [label]), tmp_path / "g.graphml")
    assert not list(tmp_path.iterdir())


def test_json_of_other_programs(tmp_path):
    path = put(tmp_path, "g.json", '{"edges": [[0, 1], [1, 1]]}')
    assert read_graph(path) == FeedbackGraph.from_edges(2, [(0, 1), (1, 1)])
    assert read_graph(path, n_arms=4).n_arms == 4
    for graph, expected in [
        (nx.path_graph(["x", "y"]), FeedbackGraph.from_edges(2, [(0, 1), (1, 0)], "xy")),
        (nx.DiGraph([(0, 1), (2, 0)]), FeedbackGraph.from_edges(3, [(0, 1), (2, 0)])),
        (families.teams([2, 3]).to_networkx(), families.teams([2, 3])),
    ]:
        path = put(tmp_path, "link.json", json.dumps(nx.node_link_data(graph, edges="links")))
        assert read_graph(path) == expected
        path = put(tmp_path, "link.json", json.dumps(nx.node_link_data(graph, edges="edges")))
        assert read_graph(path) == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "cannot be read"),
        ("{", "cannot be read"),
        ('{"n_arms": 3, "edges": [[0, 1]', "cannot be read"),
        ("[1, 2]", "expected an object"),
        ("{}", 'expected "edges"'),
        ('{"n_arms": 3}', 'expected "edges"'),
        ('{"n_arms": 3, "edges": {}}', 'expected "edges"'),
        ('{"n_arms": 3, "edges": [[0, 1.5]]}', "whole numbers"),
        ('{"n_arms": 3, "edges": [[0, true]]}', "whole numbers"),
        ('{"n_arms": 3, "edges": [[0, NaN]]}', "whole numbers"),
        ('{"n_arms": 3, "edges": ["01"]}', "pair"),
        ('{"n_arms": 3, "edges": [7]}', "pair"),
        ('{"n_arms": 3, "edges": [[0, 1, 2]]}', "pairs"),
        ('{"n_arms": 3, "edges": [[0], [1, 2]]}', "pairs"),
        ('{"n_arms": 3, "edges": [[0, 3]]}', r"\(0, 3\)"),
        ('{"n_arms": 3, "edges": [[0, -1]]}', r"\(0, -1\)"),
        ('{"n_arms": "3", "edges": []}', "'3'"),
        ('{"n_arms": 0, "edges": []}', "at least one arm"),
        ('{"n_arms": 3, "edges": [], "labels": ["a"]}', "contradictory"),
        ('{"n_arms": 1, "edges": [], "labels": [1]}', "list of texts"),
        ('{"n_arms": 2, "edges": [], "labels": ["a", "a"]}', "repeated: a"),
        ('{"edges": []}', "pass n_arms"),
        ('{"edges": [[0, 99999999999999999999999]]}', "mistake in the ids"),
        ('{"n_arms": 3000000000, "edges": []}', "mistake in the ids"),
        ('{"nodes": [], "links": []}', "at least one arm"),
        ('{"nodes": [{"id": 1}, {"id": 1}], "links": []}', "distinct"),
        ('{"nodes": [{"id": 0}], "links": [{"source": 0, "target": 9}]}', "node-link"),
        ('{"nodes": [{"id": 0}], "links": [[0, 0]]}', "node-link"),
        ('{"nodes": [{"id": [0]}], "links": []}', "node-link"),
        ('{"nodes": [1], "links": []}', "node-link"),
        ('{"nodes": 1, "links": []}', "node-link"),
        (b"\xff\xff\xff", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_bad_json(tmp_path, content, message):
    with pytest.raises(GraphFileError, match=message):
        read_graph(put(tmp_path, "bad.json", content))


@pytest.mark.parametrize("text", ["[" * 10**6, '{"edges": ' + "[" * 10**6, '{"a":' * 10**6])
def test_json_is_nested_in_vain(tmp_path, text):
    with pytest.raises(GraphFileError, match=r"cannot be read as \.json"):
        read_graph(put(tmp_path, "g.json", text))
