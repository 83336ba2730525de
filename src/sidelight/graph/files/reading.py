"""Graphs from files and to files.

    .csv, .csv.gz   header `src,dst[,probability]` (further columns are ignored), one edge per line
    .npz            arrays, quickest for large graphs; also files of `scipy.sparse.save_npz`
    .mtx            Matrix Market
    .graphml        GraphML, through networkx
    .json           {"n_arms": …, "edges": [[i, j], …], "labels": […], "probabilities": […]}, or node-link data

Where reveals may fail, the probability of an edge is a column of csv, a list of .json, or an attribute `probability`
of edges. Weights are not read: a warning, `WeightsIgnored`, says so once. Every entry of a matrix other than 0 is an
edge, unless `probabilities` says what entries are.
Every format gives back an equal graph, labels and isolated arms included. Formats without room for labels
(csv, mtx) keep them beside the file in `<name>.nodes.csv[.gz]` with the header `id,label`.
"""

import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from sidelight._check import MOST_ROUNDS, checked_count, checked_path
from sidelight.errors import GraphFileError, InvalidGraph, WeightsIgnored
from sidelight.graph.arm_count import agreed_arm_count
from sidelight.graph.feedback_graph import MAX_MATERIALIZED_EDGES, FeedbackGraph, checked_arm_count
from sidelight.graph.files.csv import read_csv, write_csv
from sidelight.graph.files.mtx import read_mtx, write_mtx
from sidelight.graph.files.node_link import read_graphml, read_json, write_graphml, write_json
from sidelight.graph.files.npz import read_npz, write_npz

_MATRICES: dict[str, Callable[[Path, int | None, int | None, bool], FeedbackGraph]] = {
    ".npz": read_npz,
    ".mtx": read_mtx,
}
_READERS: dict[str, Callable[[Path, int | None, int | None], FeedbackGraph]] = {
    ".graphml": read_graphml,
    ".json": read_json,
}
_WRITERS: dict[str, Callable[[FeedbackGraph, Path], None]] = {
    ".csv": write_csv,
    ".csv.gz": write_csv,
    ".npz": write_npz,
    ".mtx": write_mtx,
    ".graphml": write_graphml,
    ".json": write_json,
}
ENDINGS = tuple(_WRITERS)
"""How the names of graph files end."""


def read_graph(
    path: str | os.PathLike[str],
    *,
    n_arms: int | None = None,
    undirected: bool = False,
    named: bool | None = None,
    limit: int | None = None,
    probabilities: bool = False,
) -> FeedbackGraph:
    """The graph in a file; whatever is wrong with the file raises `GraphFileError` naming it.

    `n_arms`: number of arms, where a csv file does not tell (isolated last arms), or to confirm a surprising
    one. `undirected`: every edge reveals both ways, for data that hold each undirected edge once. `named`
    (csv): ids are names, numbered by the labels in the nodes file or else in order of first appearance; None
    decides by the first edge, so that a stray word in a file of numbers is an error and not a new arm.
    `limit`: bytes that a packed file (gz, npz) may unpack to, by default 64 times its size and at least 256 MiB.
    `probabilities` (mtx, matrices in npz): entries say how likely an edge reveals.
    """
    file, ending = _located(path)
    wanted = None if n_arms is None else checked_arm_count(n_arms)
    if limit is not None:
        checked_count("limit", limit, most=MOST_ROUNDS)
    if named is not None and ending not in (".csv", ".csv.gz"):
        raise GraphFileError(f"{file}: named applies to csv files only")
    if probabilities and ending not in _MATRICES:
        raise GraphFileError(
            f"{file}: probabilities=True is for entries of matrices (.mtx, .npz); csv has a column `probability`,"
            " other files an attribute of that name"
        )
    try:
        if ending in (".csv", ".csv.gz"):
            graph = read_csv(file, wanted, limit, named)
        elif ending in _MATRICES:
            graph = _MATRICES[ending](file, wanted, limit, probabilities)
        else:
            graph = _READERS[ending](file, wanted, limit)
        agreed_arm_count({"n_arms asked for": wanted, "the file": graph.n_arms})
        return graph.symmetrized() if undirected else graph
    except WeightsIgnored:
        raise  # where warnings are errors
    except GraphFileError as error:
        if str(error).startswith(str(file)):
            raise
        raise GraphFileError(f"{file}: {error}") from error
    except FileNotFoundError as error:
        raise GraphFileError(f"{file} does not exist") from error
    except IsADirectoryError as error:
        raise GraphFileError(f"{file} is a folder, not a graph file") from error
    except (EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise GraphFileError(f"{file} is damaged or was cut off: {error}; fetch it again") from error
    except Exception as error:  # readers of other projects raise all kinds on damaged input
        raise GraphFileError(f"{file} cannot be read as {ending}: {_text(error)}") from error


def write_graph(graph: FeedbackGraph, path: str | os.PathLike[str]) -> None:
    """Write `graph` in the format that the ending of `path` names; the file appears whole or not at all."""
    file, ending = _located(path)
    if ending != ".npz" and graph.n_edges > MAX_MATERIALIZED_EDGES:
        raise GraphFileError(f"{file}: {graph.n_edges:,} edges are too many to write one by one; use .npz")
    try:
        _WRITERS[ending](graph, file)
    except GraphFileError:
        raise
    except (OSError, UnicodeError, InvalidGraph, MemoryError) as error:
        raise GraphFileError(f"{file} cannot be written: {_text(error)}") from error


def _located(path: object) -> tuple[Path, str]:
    """The path and its ending, one of those above."""
    file = checked_path("a graph file", path, GraphFileError)
    name = file.name.lower()
    ending = next((known for known in _WRITERS if name.endswith(known)), None)
    if ending is None:
        known = ", ".join(_WRITERS)
        raise GraphFileError(
            f"{file} is a folder; name a graph file (its name ends with one of {known})"
            if file.is_dir()
            else f"{file}: unknown ending {file.suffix!r}, use one of {known}"
        )
    return file, ending


def _text(error: BaseException) -> str:
    return str(error) or type(error).__name__
