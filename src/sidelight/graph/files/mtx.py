"""Matrix Market (.mtx): a square matrix whose non-zero entries are edges, labels in `<name>.nodes.csv`.

Entries are probabilities where the caller says so, or the comment that we write above them ourselves.

Written through SciPy, but read by ourselves with NumPy: SciPy's reader crashes the interpreter on some damaged
files (scipy issue 19949 is one way), and a graph file may come from anywhere.
"""

import math
import re
from io import BytesIO
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from scipy import io as scipy_io
from scipy import sparse

from sidelight._files import LONGEST_LINE, replacing
from sidelight._formats import Options
from sidelight._types import Floats, Ints
from sidelight.errors import GraphFileError
from sidelight.graph.edges import Edges, edges_of_matrix, plausible_arm_count
from sidelight.graph.feedback_graph import FeedbackGraph

LIKELY = "entries are probabilities"
"""The comment above entries that say how likely an edge reveals."""

FIELDS = {"pattern": 0, "real": 1, "double": 1, "integer": 1, "unsigned-integer": 1}
"""Kinds of entries, and how many numbers follow the position of one."""

SYMMETRIES = ("general", "symmetric", "skew-symmetric")


class _Head(NamedTuple):
    values: int  # numbers per entry: 0 for pattern
    symmetry: str
    size: int
    entries: int
    lines: int
    likely: bool = False  # are entries probabilities?


def write(graph: FeedbackGraph, path: Path) -> None:
    """A `pattern general` coordinate matrix; `real general` where reveals may fail."""
    matrix = sparse.coo_array(graph.to_sparse())
    with replacing(path) as file:
        if graph.certain:
            scipy_io.mmwrite(file, matrix, field="pattern", symmetry="general")
        else:
            scipy_io.mmwrite(file, matrix, LIKELY, field="real", precision=17, symmetry="general")


def read(path: Path, options: Options) -> Edges:
    """The edges of a coordinate matrix of real numbers or none; NaN is an error."""
    with open(path, "rb") as file:
        head = _read_head(path, file)
        body = file.read() + b"\n"
    if head.entries > len(body) / len("1 1\n"):
        raise GraphFileError(f"the head announces {head.entries:,} entries, more than there are: cut off?")
    plausible_arm_count(head.size, head.entries, options.n_arms is not None)
    likely = options.probabilities or head.likely
    if likely and (head.values != 1 or head.symmetry not in ("general", "symmetric")):
        raise GraphFileError("probabilities are real numbers in a general or symmetric matrix")
    places, values = _entries(path, head, body)
    matrix = sparse.coo_array((values, tuple(places)), shape=(head.size, head.size))
    edges = edges_of_matrix(matrix, probabilities=likely, weights=True)
    return edges if head.symmetry == "general" else edges.both_ways()  # only one triangle is stored


def _read_head(path: Path, file: IO[bytes]) -> _Head:
    banner = file.readline(LONGEST_LINE).decode("latin-1").lower().split()
    if len(banner) != 5 or banner[:2] != ["%%matrixmarket", "matrix"]:
        raise GraphFileError(
            f"{path}, line 1: not a Matrix Market matrix, it starts {' '.join(banner)[:80]!r}"
        )
    layout, field, symmetry = banner[2:]
    if layout != "coordinate" or field not in FIELDS or symmetry not in SYMMETRIES:
        raise GraphFileError(
            f"{path}, line 1: a matrix {layout} {field} {symmetry} is not read as a graph; load it with"
            " scipy.io.mmread and use FeedbackGraph.from_adjacency"
        )
    lines, likely = 1, False
    while True:
        raw = file.readline(LONGEST_LINE)
        lines += 1
        line = raw.decode("latin-1").strip()
        likely = likely or line.lstrip("% ") == LIKELY
        if not raw or (line and not line.startswith("%")):
            break
    sizes = line.split()
    if len(sizes) != 3 or not all(re.fullmatch("[0-9]{1,18}", size) for size in sizes):
        raise GraphFileError(f"{path}, line {lines}: expected 3 whole numbers, got {line[:80]!r}")
    rows, cols, entries = (int(size) for size in sizes)
    if rows != cols:
        raise GraphFileError(f"{path}, line {lines}: the matrix must be square, got {rows} x {cols}")
    return _Head(FIELDS[field], symmetry, rows, entries, lines, likely)


def _entries(path: Path, head: _Head, body: bytes) -> tuple[Ints, Floats]:
    """((2, entries) rows and columns from 0, what stands there)."""
    kind = np.dtype([("row", np.int64), ("column", np.int64), *[("value", np.float64)] * head.values])
    table = np.empty(0, dtype=kind)
    try:
        if any(line.strip() and not line.lstrip().startswith(b"%") for line in BytesIO(body)):
            table = np.loadtxt(BytesIO(body), dtype=kind, comments="%", ndmin=1)
    except ValueError:
        raise _complaint(path, head, body) from None
    places = np.stack([table["row"], table["column"]])
    values = table["value"] if head.values else np.ones(table.size)
    if table.size and not (places.min() >= 1 and places.max() <= head.size and np.isfinite(values).all()):
        raise _complaint(path, head, body)
    if table.size != head.entries:
        raise GraphFileError(
            f"the head announces {head.entries:,} entries, there are {table.size:,}: cut off?"
        )
    return places.astype(np.int32) - 1, values


def _complaint(path: Path, head: _Head, body: bytes) -> GraphFileError:
    """What is wrong, at the first line that is no entry."""
    what = f"two positions in 1..{head.size}" + " and a number" * head.values
    for number, line in enumerate(body.split(b"\n"), head.lines + 1):
        words = line.split()
        if not words or words[0].startswith(b"%"):
            continue
        try:
            fine = len(words) == 2 + head.values and all(1 <= int(word) <= head.size for word in words[:2])
            fine = fine and all(math.isfinite(float(word)) for word in words[2:])
        except ValueError:
            fine = False
        if not fine:
            shown = line[:100].decode("utf-8", errors="replace")
            return GraphFileError(f"{path}, line {number}: expected {what}, got {shown!r}")
    return GraphFileError(f"{path}: expected {what} on every line")
