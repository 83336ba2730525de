"""Graphs from files and to files: `sidelight._formats` is the table of formats, with one module here for each.

Where reveals may fail, the probability of an edge is a column of csv, a list of .json, or an attribute `probability`
of edges. Weights are not read: a warning, `WeightsIgnored`, says so once. Every entry of a matrix other than 0 is an
edge, unless `probabilities` says what entries are.
Every format gives back an equal graph, labels and isolated arms included. Formats without room for labels
keep them beside the file in `<name>.nodes.csv[.gz]` with the header `id,label`.
"""

import os
import warnings
import zipfile
import zlib
from importlib import import_module
from pathlib import Path
from typing import Any

from sidelight._check import MOST_ROUNDS, checked_count, checked_path
from sidelight._formats import ENDINGS, FORMATS, Format, Options, format_of
from sidelight.errors import GraphFileError, InvalidGraph, WeightsIgnored
from sidelight.graph.edges import Edges, checked_arm_count, plausible_arm_count, refuse_outside
from sidelight.graph.feedback_graph import MAX_MATERIALIZED_EDGES, FeedbackGraph
from sidelight.graph.files.csv import read_nodes, write_nodes

__all__ = ["read_graph", "write_graph"]


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
    file, form, ending = _located(path)
    wanted = None if n_arms is None else checked_arm_count(n_arms)
    if limit is not None:
        checked_count("limit", limit, most=MOST_ROUNDS)
    if named is not None:
        _refuse_unknown(file, form, "named", "csv names its arms so, other files hold their labels")
    if probabilities:
        instead = "csv has a column `probability`, other files an attribute of that name"
        _refuse_unknown(file, form, "probabilities", instead)
    try:
        labels = read_nodes(file, limit) if form.labels_beside else None
        options = Options(wanted, limit, named, probabilities, labels)
        edges: Edges = _module(form).read(file, options)
        graph = _built(edges, options)
        graph = graph.symmetrized() if undirected else graph
    except InvalidGraph as error:
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
    if edges.unread is not None:
        warnings.warn(f"{file}: {edges.unread}", WeightsIgnored, stacklevel=2)
    return graph


def write_graph(graph: FeedbackGraph, path: str | os.PathLike[str]) -> None:
    """Write `graph` in the format that the ending of `path` names; the file appears whole or not at all."""
    file, form, _ = _located(path)
    if form.edge_by_edge and graph.n_edges > MAX_MATERIALIZED_EDGES:
        raise GraphFileError(f"{file}: {graph.n_edges:,} edges are too many to write one by one; use .npz")
    try:
        if form.labels_beside:
            write_nodes(file, graph.labels)
        _module(form).write(graph, file)
    except GraphFileError:
        raise
    except (OSError, UnicodeError, InvalidGraph, MemoryError) as error:
        raise GraphFileError(f"{file} cannot be written: {_text(error)}") from error


def _built(edges: Edges, options: Options) -> FeedbackGraph:
    """The graph of what a file and its labels say, if they agree with each other and with what was asked for."""
    labels = edges.labels if options.labels is None else options.labels
    claims = {
        "n_arms": options.n_arms,
        "the file": edges.n_arms,
        "labels": None if labels is None else len(labels),
    }
    counts = {source: count for source, count in claims.items() if count is not None}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{source} {count}" for source, count in counts.items())
        raise GraphFileError(f"the number of arms is contradictory: {listed}")
    if not counts and edges.sources.size == 0:
        raise GraphFileError("there are no edges, so the number of arms is unknown; pass n_arms")
    largest = [int(ends.max(initial=-1)) for ends in (edges.sources, edges.targets)]
    n = next(iter(counts.values()), 1 + max(largest))
    if edges.universal is None:
        plausible_arm_count(n, edges.sources.size, options.n_arms is not None or labels is not None)
    refuse_outside(checked_arm_count(n), edges.sources, edges.targets)
    return FeedbackGraph._of(edges._replace(n_arms=n, labels=labels))


def _module(form: Format) -> Any:
    """The reader and writer of a format, imported when it is first met."""
    return import_module(f"sidelight.graph.files.{form.module}")


def _located(path: object) -> tuple[Path, Format, str]:
    """The path, its format and the ending that names it."""
    file = checked_path("a graph file", path, GraphFileError)
    known_format = format_of(file.name)
    if known_format is None:
        endings = ", ".join(ENDINGS)
        raise GraphFileError(
            f"{file} is a folder; name a graph file (its name ends with one of {endings})"
            if file.is_dir()
            else f"{file}: unknown ending {file.suffix!r}, use one of {endings}"
        )
    return file, *known_format


def _refuse_unknown(file: Path, form: Format, option: str, instead: str) -> None:
    """An error where the format does not know an option."""
    if option in form.options:
        return
    able = ", ".join(ending for each in FORMATS if option in each.options for ending in each.endings)
    raise GraphFileError(f"{file}: {option} applies to {able} files only; {instead}")


def _text(error: BaseException) -> str:
    return str(error) or type(error).__name__
