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

from sidelight._files import replacing
from sidelight._types import Ints
from sidelight.errors import GraphFileError
from sidelight.graph.edges import Edges, edges_of_matrix
from sidelight.graph.feedback_graph import FeedbackGraph
from sidelight.graph.files.shared import LONGEST_LINE, Options, plausible_arm_count

LIKELY = "entries are probabilities"
"""The comment above entries that say how likely an edge reveals."""


class _Head(NamedTuple):
    layout: str  # "coordinate" or "array"
    values: int  # numbers per entry: 0 for pattern, 2 for complex
    symmetry: str
    size: int
    entries: int  # stated (coordinate), or implied by the symmetry (array)
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
    """The edges of a coordinate or array matrix of any field and symmetry; NaN is an error."""
    with open(path, "rb") as file:
        head = _read_head(path, file)
        body = file.read() + b"\n"
    shortest = len("1 1\n") if head.layout == "coordinate" else len("0\n")
    if head.entries > len(body) / shortest:
        raise GraphFileError(f"the head announces {head.entries:,} entries, more than there are: cut off?")
    plausible_arm_count(head.size, head.entries, options.n_arms is not None)
    likely = options.probabilities or head.likely
    if likely and (head.values != 1 or head.symmetry not in ("general", "symmetric")):
        raise GraphFileError("probabilities are real numbers in a general or symmetric matrix")
    places, values = _dense(head, body) if head.layout == "array" else _entries(path, head, body)
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
    values = {"pattern": 0, "real": 1, "double": 1, "integer": 1, "unsigned-integer": 1, "complex": 2}.get(
        field
    )
    symmetries = ("general", "symmetric", "skew-symmetric", "hermitian")
    if layout not in ("coordinate", "array") or values is None or symmetry not in symmetries:
        raise GraphFileError(f"{path}, line 1: unknown kind of matrix {layout} {field} {symmetry}")
    if layout == "array" and values == 0:
        raise GraphFileError(f"{path}, line 1: an array cannot be a pattern")
    lines, likely = 1, False
    while True:
        raw = file.readline(LONGEST_LINE)
        lines += 1
        line = raw.decode("latin-1").strip()
        likely = likely or line.lstrip("% ") == LIKELY
        if not raw or (line and not line.startswith("%")):
            break
    sizes = line.split()
    wanted = 3 if layout == "coordinate" else 2
    if len(sizes) != wanted or not all(re.fullmatch("[0-9]{1,18}", size) for size in sizes):
        raise GraphFileError(f"{path}, line {lines}: expected {wanted} whole numbers, got {line[:80]!r}")
    rows, cols, *stated = (int(size) for size in sizes)
    if rows != cols:
        raise GraphFileError(f"{path}, line {lines}: the matrix must be square, got {rows} x {cols}")
    stored = {"general": rows * rows, "skew-symmetric": rows * (rows - 1) // 2}
    implied = stored.get(symmetry, rows * (rows + 1) // 2)
    return _Head(layout, values, symmetry, rows, stated[0] if stated else implied, lines, likely)


def _entries(path: Path, head: _Head, body: bytes) -> tuple[Ints, np.ndarray]:
    """((2, entries) rows and columns from 0, what stands there)."""
    numbers = [(f"value{k}", np.float64) for k in range(head.values)]
    kind = np.dtype([("row", np.int64), ("column", np.int64), *numbers])
    found = np.empty(0, dtype=kind)
    try:
        if any(line.strip() and not line.lstrip().startswith(b"%") for line in BytesIO(body)):
            found = np.loadtxt(BytesIO(body), dtype=kind, comments="%", ndmin=1)
    except ValueError:
        raise _complaint(path, head, body) from None
    places = np.stack([found["row"], found["column"]])
    values = np.stack([found[name] for name, _ in numbers], axis=1) if numbers else np.ones((found.size, 1))
    if found.size and not (places.min() >= 1 and places.max() <= head.size and np.isfinite(values).all()):
        raise _complaint(path, head, body)
    if found.size != head.entries:
        raise GraphFileError(
            f"the head announces {head.entries:,} entries, there are {found.size:,}: cut off?"
        )
    return places.astype(np.int32) - 1, _joined(values)


def _complaint(path: Path, head: _Head, body: bytes) -> GraphFileError:
    """What is wrong, at the first line that is no entry."""
    what = f"two positions in 1..{head.size}" + (f" and {head.values} numbers" if head.values else "")
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


def _joined(values: np.ndarray) -> np.ndarray:
    """(entries, 1) or (entries, 2) numbers as one each, of which two make a complex one."""
    return (values if values.shape[1] == 1 else np.ascontiguousarray(values).view(np.complex128))[:, 0]


def _dense(head: _Head, body: bytes) -> tuple[Ints, np.ndarray]:
    """The same of an array: column by column; of a symmetric matrix the lower triangle only."""
    words = [word for line in body.split(b"\n") if not line.startswith(b"%") for word in line.split()]
    if len(words) != head.entries * head.values:
        raise GraphFileError(
            f"{head.entries * head.values:,} numbers expected, there are {len(words):,}: cut off?"
        )
    values = np.array(words).astype(float).reshape(head.entries, head.values)
    if head.symmetry == "general":
        cols, rows = np.divmod(np.arange(head.entries), head.size)
    else:
        cols, rows = np.triu_indices(head.size, 1 if head.symmetry == "skew-symmetric" else 0)
    return np.stack([rows, cols]).astype(np.int32), _joined(values)
