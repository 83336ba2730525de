"""JSON (.json): our own lists of edges, or node-link data as networkx writes them."""

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from sidelight._files import replacing
from sidelight.errors import GraphFileError
from sidelight.graph.edges import Edges, checked_probabilities, likely_edges, pairs_of
from sidelight.graph.feedback_graph import FeedbackGraph
from sidelight.graph.files.shared import Options, plausible_arm_count


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
    """The object that `read` documents, written edge block by edge block."""
    with replacing(path) as file:
        file.write(f'{{"n_arms": {graph.n_arms}, "edges": ['.encode())
        for number, (block, _) in enumerate(graph.edge_blocks()):
            file.write((b",\n" if number else b"\n") + json.dumps(block.tolist())[1:-1].encode())
        file.write(b"]")
        if not graph.certain:
            file.write(b',\n"probabilities": [')
            for number, (_, chances) in enumerate(graph.edge_blocks()):
                file.write((b",\n" if number else b"\n") + json.dumps(chances.tolist())[1:-1].encode())
            file.write(b"]")
        if graph.labels is not None:
            file.write(b',\n"labels": ' + json.dumps(graph.labels).encode())
        file.write(b"}\n")


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
    pairs = pairs_of(edges)
    likely = None if chances is None else checked_probabilities(chances, pairs)
    return Edges(stated, pairs[:, 0], pairs[:, 1], labels, probabilities=likely)


def _node_link(content: dict[str, Any]) -> Edges:
    nodes = content["nodes"]
    links = content.get("links", content.get("edges"))
    if not (isinstance(nodes, list) and isinstance(links, list)):
        raise GraphFileError('node-link data need the lists "nodes" and "links" (or "edges")')
    try:
        ids = [node["id"] for node in nodes]
        names = [node.get("label") for node in nodes]
        ends = [(link["source"], link["target"]) for link in links]
        return edges_of_nodes(ids, names, ends, links, directed=bool(content.get("directed", False)))
    except (KeyError, TypeError, AttributeError) as error:
        raise GraphFileError(f"not node-link data: {error!r}") from error


def edges_of_nodes(
    ids: Sequence[Hashable],
    names: Sequence[object],
    ends: Iterable[tuple[Hashable, Hashable]],
    attributes: Sequence[Mapping[str, Any]],
    *,
    directed: bool,
) -> Edges:
    """Arms from node ids: the numbers themselves where they are 0..n−1, else in the order given."""
    n = len(ids)
    if n == 0:
        raise GraphFileError("there are no nodes")
    numbered = {str(node) for node in ids} == {str(arm) for arm in range(n)}
    arm_of = {node: int(str(node)) if numbered else arm for arm, node in enumerate(ids)}
    if len(arm_of) != n:
        raise GraphFileError("node ids must be distinct")
    pairs = np.array([(arm_of[u], arm_of[v]) for u, v in ends], dtype=np.int64).reshape(-1, 2)
    given = likely_edges(attributes)
    chances = None if given is None else checked_probabilities(given, pairs)
    if not directed:
        pairs = np.concatenate([pairs, pairs[:, ::-1]])
        chances = None if chances is None else np.concatenate([chances, chances])
    weighted = any("weight" in edge for edge in attributes)
    unread = "the weights of edges are not read, every edge counts" if weighted else None
    labels = _labels(ids, names, arm_of if numbered else None)
    return Edges(n, pairs[:, 0], pairs[:, 1], labels, probabilities=chances, unread=unread)


def _labels(
    ids: Sequence[Hashable], names: Sequence[object], numbers: Mapping[Hashable, int] | None
) -> list[str] | None:
    """The names of the nodes if all have different ones; else their ids, unless these are the `numbers` of arms."""
    usable = [name for name in names if isinstance(name, str)]
    if not len(usable) == len(ids) == len(set(usable)):
        return None if numbers is not None else [str(node) for node in ids]
    if numbers is None:
        return usable
    by_arm = {numbers[node]: name for node, name in zip(ids, usable, strict=True)}
    return [by_arm[arm] for arm in range(len(ids))]
