"""JSON (.json): our own lists of edges, or node-link data as networkx writes them."""

import json
from itertools import chain
from pathlib import Path
from typing import IO, Any

from sidelight._files import replacing
from sidelight._formats import Options
from sidelight.errors import GraphFileError
from sidelight.graph.edges import Edges, edges_of_networkx, edges_of_pairs, plausible_arm_count
from sidelight.graph.feedback_graph import FeedbackGraph

BLOCK = 1_000_000
"""Entries of a list that are written at once."""


def read(path: Path, options: Options) -> Edges:
    """{"n_arms": 3, "edges": [[0, 1], …], "labels": […], "probabilities": […]}, or node-link data as networkx has it.

    `n_arms` may be left out where labels or edges tell it, `labels` and `probabilities` (one for each edge) always. A
    link of node-link data may have a `probability`.
    """
    content = json.loads(path.read_bytes())  # UTF-8, -16 or -32
    if not isinstance(content, dict):
        raise GraphFileError(f"expected an object with edges, got {type(content).__name__}")
    return _node_link(content) if "nodes" in content else _own(content, options)


def write(graph: FeedbackGraph, path: Path) -> None:
    """The object that `read` documents, written block by block."""
    with replacing(path) as file:
        file.write(f'{{"n_arms": {graph.n_arms}, "edges": ['.encode())
        _write_list(file, graph.edges())
        if not graph.certain:
            file.write(b',\n"probabilities": [')
            _write_list(file, graph.edge_probabilities())
        if graph.labels is not None:
            file.write(b',\n"labels": ' + json.dumps(graph.labels).encode())
        file.write(b"}\n")


def _write_list(file: IO[bytes], values: Any) -> None:
    for first in range(0, len(values), BLOCK):
        block = json.dumps(values[first : first + BLOCK].tolist())
        file.write((b",\n" if first else b"\n") + block[1:-1].encode())
    file.write(b"]")


def _own(content: dict[str, Any], options: Options) -> Edges:
    edges, labels, stated = content.get("edges"), content.get("labels"), content.get("n_arms")
    if not isinstance(edges, list):
        raise GraphFileError('expected "edges": [[i, j], …]')
    if not set(map(type, edges)) <= {list} or not set(map(type, chain.from_iterable(edges))) <= {int}:
        raise GraphFileError("every edge must be a pair [i, j] of whole numbers")
    if labels is not None and not (
        isinstance(labels, list) and all(isinstance(name, str) for name in labels)
    ):
        raise GraphFileError('"labels" must be a list of texts')
    if stated is not None and type(stated) is not int:
        raise GraphFileError(f'"n_arms" must be a whole number, got {stated!r:.40}')
    chances = content.get("probabilities")
    if chances is not None and not (isinstance(chances, list) and set(map(type, chances)) <= {int, float}):
        raise GraphFileError('"probabilities" must be a list of numbers, one for each edge')
    if edges and stated is None and labels is None and options.n_arms is None:
        largest = max(chain.from_iterable(edges))  # may not fit into 64 bits
        plausible_arm_count(largest + 1, len(edges), confirmed=False)
    return edges_of_pairs(stated, edges, labels, chances)


def _node_link(content: dict[str, Any]) -> Edges:
    import networkx as nx

    graph: Any = nx.MultiDiGraph() if content.get("directed") else nx.MultiGraph()
    try:
        graph.add_nodes_from((node["id"], node) for node in content["nodes"])
        links = content["links"] if "links" in content else content["edges"]
        graph.add_edges_from((link["source"], link["target"], link) for link in links)
        listed = len(graph) == len(content["nodes"])
    except (KeyError, TypeError, AttributeError, nx.NetworkXException) as error:
        raise GraphFileError(f'not node-link data, lists "nodes" and "links": {error!r}') from error
    if not listed:
        raise GraphFileError(
            "not node-link data: ids of nodes must be distinct, and links join nodes that are listed"
        )
    return edges_of_networkx(graph, renumbered=True)
