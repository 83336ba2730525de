"""Formats that name their nodes: GraphML (.graphml) and JSON (.json)."""

import json
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from sidelight._files import replacing
from sidelight.errors import GraphFileError
from sidelight.graph.arm_count import agreed_arm_count, plausible_arm_count
from sidelight.graph.feedback_graph import FeedbackGraph
from sidelight.graph.files.weights import warn_of_weights

# -- GraphML ----------------------------------------------------------------------------------------------

_NOT_IN_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_graphml(path: Path, n_arms: int | None, limit: int | None = None) -> FeedbackGraph:
    """Nodes 0..n−1 are arms of that number, other nodes are arms in file order, labelled by their ids.

    An edge may have a `probability`.
    """
    import networkx as nx

    graph: Any = nx.read_graphml(path)
    names = [data.get("label") for _, data in graph.nodes(data=True)]
    links = [data for _, _, data in graph.edges(data=True)]
    _look_for_weights(path, links)
    return _from_nodes(list(graph.nodes), names, graph.edges(), graph.is_directed(), _probabilities(links))


def write_graphml(graph: FeedbackGraph, path: Path) -> None:
    """Nodes 0..n−1, labels as the node attribute `label`."""
    import networkx as nx

    for label in graph.labels or ():
        if not label or _NOT_IN_XML.search(label):
            raise GraphFileError(f"GraphML cannot hold the label {label!r}; write .json or .npz instead")
    with replacing(path) as file:
        nx.write_graphml(graph.to_networkx(), file)


# -- JSON -------------------------------------------------------------------------------------------------


def read_json(path: Path, n_arms: int | None, limit: int | None = None) -> FeedbackGraph:
    """{"n_arms": 3, "edges": [[0, 1], …], "labels": […], "probabilities": […]}, or node-link data as networkx has it.

    `n_arms` may be left out where labels or edges tell it, `labels` and `probabilities` (one for each edge) always. A
    link of node-link data may have a `probability`.
    """
    content = json.loads(path.read_bytes())  # UTF-8, -16 or -32
    if not isinstance(content, dict):
        raise GraphFileError(f"expected an object with edges, got {type(content).__name__}")
    if "nodes" in content:
        return _from_node_link(path, content)
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
    known = agreed_arm_count(
        {"n_arms asked for": n_arms, "n_arms": stated, "labels": None if labels is None else len(labels)}
    )
    if known is None and not edges:
        raise GraphFileError("there are no edges, so the number of arms is unknown; pass n_arms")
    n = max(chain.from_iterable(edges)) + 1 if known is None else known
    chances = content.get("probabilities")
    if chances is not None and not (isinstance(chances, list) and set(map(type, chances)) <= {int, float}):
        raise GraphFileError('"probabilities" must be a list of numbers, one for each edge')
    return FeedbackGraph.from_edges(
        plausible_arm_count(n, len(edges), n_arms), edges, labels, probabilities=chances
    )


def write_json(graph: FeedbackGraph, path: Path) -> None:
    """The object that `read_json` documents, written edge block by edge block."""
    with replacing(path) as file:
        file.write(f'{{"n_arms": {graph.n_arms}, "edges": ['.encode())
        for number, block in enumerate(graph.edge_blocks()):
            file.write((b",\n" if number else b"\n") + json.dumps(block.tolist())[1:-1].encode())
        file.write(b"]")
        if not graph.certain:
            file.write(b',\n"probabilities": [')
            for number, (_, chances) in enumerate(graph.likely_edge_blocks()):
                file.write((b",\n" if number else b"\n") + json.dumps(chances.tolist())[1:-1].encode())
            file.write(b"]")
        if graph.labels is not None:
            file.write(b',\n"labels": ' + json.dumps(graph.labels).encode())
        file.write(b"}\n")


def _from_node_link(path: Path, content: dict[str, Any]) -> FeedbackGraph:
    nodes = content["nodes"]
    links = content.get("links", content.get("edges"))
    if not (isinstance(nodes, list) and isinstance(links, list)):
        raise GraphFileError('node-link data need the lists "nodes" and "links" (or "edges")')
    try:
        ids = [node["id"] for node in nodes]
        names = [node.get("label") for node in nodes]
        ends = [(link["source"], link["target"]) for link in links]
        _look_for_weights(path, links, depth=2)
        return _from_nodes(ids, names, ends, bool(content.get("directed", False)), _probabilities(links))
    except (KeyError, TypeError, AttributeError) as error:
        raise GraphFileError(f"not node-link data: {error!r}") from error


# -- shared -----------------------------------------------------------------------------------------------


def _look_for_weights(path: Path, edges: Iterable[Mapping[str, object]], depth: int = 1) -> None:
    if any("weight" in edge for edge in edges):
        warn_of_weights(path, "the weights of edges are not read, every edge counts", depth + 1)


def _probabilities(edges: Iterable[Mapping[str, Any]]) -> list[Any] | None:
    """How likely each edge reveals, if any of them says so."""
    given = [edge.get("probability") for edge in edges]
    if all(value is None for value in given):
        return None
    return [1.0 if value is None else value for value in given]


def _from_nodes(
    ids: Sequence[Hashable],
    names: Sequence[object],
    ends: Iterable[tuple[Hashable, Hashable]],
    directed: bool,
    probabilities: list[Any] | None,
) -> FeedbackGraph:
    """Arms from node ids: the numbers themselves where they are 0..n−1, else in the order given."""
    n = len(ids)
    if n == 0:
        raise GraphFileError("there are no nodes")
    numbered = {str(node) for node in ids} == {str(arm) for arm in range(n)}
    arm_of = {node: int(str(node)) if numbered else arm for arm, node in enumerate(ids)}
    if len(arm_of) != n:
        raise GraphFileError("node ids must be distinct")
    usable = [name for name in names if isinstance(name, str)]
    labels: list[str] | None = None if numbered else [str(node) for node in ids]
    if len(usable) == n == len(set(usable)):
        labels = usable
        if numbered:
            by_arm = dict(zip((arm_of[node] for node in ids), usable, strict=True))
            labels = [by_arm[arm] for arm in range(n)]
    pairs = np.array([(arm_of[u], arm_of[v]) for u, v in ends], dtype=np.int64).reshape(-1, 2)
    if not directed:
        pairs = np.concatenate([pairs, pairs[:, ::-1]])
        probabilities = None if probabilities is None else 2 * probabilities
    return FeedbackGraph.from_edges(n, pairs, labels, probabilities=probabilities)
