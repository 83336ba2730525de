"""Formats of graph files: one table for reading, writing, the command line and the tests.

It stands apart from `sidelight.graph` because `sidelight --help` shows it and must not wait for NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Format:
    """A format: its `module` in `sidelight.graph.files` has read(path, options) → Edges and write(graph, path)."""

    endings: tuple[str, ...]
    module: str
    about: str
    options: tuple[str, ...] = ()  # of `read_graph`, which not every format knows: `named`, `probabilities`
    labels_beside: bool = False  # has no room for labels: they are in <name>.nodes.csv
    edge_by_edge: bool = True  # cannot hold graphs with billions of edges


class Options(NamedTuple):
    """What `read_graph` was asked for, and what it found beside the file."""

    n_arms: int | None = None
    limit: int | None = None  # bytes that the file may unpack to
    named: bool | None = None
    probabilities: bool = False
    labels: Sequence[str] | None = None  # from the file beside it


FORMATS = (
    Format(
        endings=(".csv", ".csv.gz"),
        module="csv",
        about="a header `src,dst[,probability]`, one edge per line; further columns are ignored",
        options=("named",),
        labels_beside=True,
    ),
    Format(
        endings=(".npz",),
        module="npz",
        about="arrays, quickest for large graphs; also files of `scipy.sparse.save_npz`",
        options=("probabilities",),
        edge_by_edge=False,
    ),
    Format(
        endings=(".mtx",),
        module="mtx",
        about="Matrix Market",
        options=("probabilities",),
        labels_beside=True,
    ),
    Format(endings=(".graphml",), module="graphml", about="GraphML, through networkx"),
    Format(
        endings=(".json",),
        module="node_link",
        about='`{"n_arms": …, "edges": [[i, j], …], "labels": […], "probabilities": […]}`, or node-link data',
    ),
)

ENDINGS = tuple(ending for each in FORMATS for ending in each.endings)
"""How the names of graph files end."""


def format_of(name: str) -> tuple[Format, str] | None:
    """The format of a file with this name and the ending that says so, None if there is none."""
    lower = name.lower()
    return next(
        ((each, ending) for each in FORMATS for ending in each.endings if lower.endswith(ending)), None
    )
