"""GraphML (.graphml), through networkx."""

import re
from pathlib import Path

from sidelight._files import replacing
from sidelight._formats import Options
from sidelight.errors import GraphFileError
from sidelight.graph.edges import Edges, edges_of_networkx
from sidelight.graph.feedback_graph import FeedbackGraph

_NOT_IN_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read(path: Path, options: Options) -> Edges:
    """Nodes 0..n−1 are arms of that number, other nodes are arms in file order, labelled by their ids.

    An edge may have a `probability`.
    """
    import networkx as nx

    return edges_of_networkx(nx.read_graphml(path), renumbered=True)


def write(graph: FeedbackGraph, path: Path) -> None:
    """Nodes 0..n−1, labels as the node attribute `label`."""
    import networkx as nx

    for label in graph.labels or ():
        if not label or _NOT_IN_XML.search(label):
            raise GraphFileError(f"GraphML cannot hold the label {label!r}; write .json or .npz instead")
    with replacing(path) as file:
        nx.write_graphml(graph.to_networkx(), file)
