"""Edge lists as csv or csv.gz: a header `src,dst`, one edge per line. A column `probability` says how likely an edge
reveals; further columns are ignored (a column `weight` with a warning).

A file of whole numbers is parsed in chunks by a compiled kernel; names and quoted fields take the slower way
through the csv module. Comment lines may precede the header; `# n_arms=…` tells the number of arms where the
edges do not.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from sidelight._check import MAX_ARMS
from sidelight._files import replacing, unpacking
from sidelight._types import Floats, Ints
from sidelight.errors import GraphFileError
from sidelight.graph.arm_count import agreed_arm_count, largest, plausible_arm_count
from sidelight.graph.feedback_graph import FeedbackGraph
from sidelight.graph.files.named import read_nodes, read_rows, write_nodes
from sidelight.graph.files.weights import warn_of_weights

CHUNK = 1 << 23
LONGEST_LINE = 1 << 20


class _Head(NamedTuple):
    """What precedes the edges."""

    columns: int
    lines: int
    declared: int | None  # from the comment # n_arms=…
    likely: int | None  # the column of probabilities


def read_csv(path: Path, n_arms: int | None, limit: int | None, named: bool | None) -> FeedbackGraph:
    """The graph of an edge list; `named` says whether ids are names, None decides by the first edge."""
    labels = read_nodes(path, limit)
    with unpacking(path, limit) as file:
        head = _read_head(path, file)
        in_nodes = None if labels is None else len(labels)
        known = agreed_arm_count({"n_arms": n_arms, "comment": head.declared, "nodes file": in_nodes})
        chunks = _line_chunks(path, file, head.lines)
        first = next(chunks, b"")
        by_name = _starts_with_a_name(first) if named is None else named
        bound = min(known or MAX_ARMS, MAX_ARMS)
        plain = not by_name and head.likely is None
        edges = _parse_numbers(head.columns, bound, chain([first], chunks)) if plain else None
    chances = None
    if by_name:
        sources, targets, chances, labels = _read_names(
            path, limit, head, labels, known, any_name=named is True
        )
    elif edges is not None:
        sources, targets = edges
    else:
        sources, targets, chances = _read_rows(path, limit, head, lambda field: _checked_id(field, bound))
    if known is None and sources.size == 0:
        raise GraphFileError("there are no edges, so the number of arms is unknown; pass n_arms")
    n = known or largest(sources, targets) + 1
    if labels is None:
        n = plausible_arm_count(n, sources.size, n_arms)
    return FeedbackGraph._from_arrays(n, sources, targets, labels, probabilities=chances)


def write_csv(graph: FeedbackGraph, path: Path) -> None:
    """Write ids as `src,dst[,probability]` lines, labels beside them in `<name>.nodes.csv`."""
    write_nodes(path, graph.labels)
    isolated = graph.out_degree[-1] == 0 and graph.in_degree[-1] == 0
    with replacing(path) as file:
        head = "src,dst\n" if graph.certain else "src,dst,probability\n"
        file.write(f"# n_arms={graph.n_arms}\n{head}".encode() if isolated else head.encode())
        for block, chances in graph.likely_edge_blocks():
            if graph.certain:
                file.write(("%d,%d\n" * len(block) % tuple(block.ravel().tolist())).encode())
            else:
                rows = zip(block.tolist(), chances.tolist(), strict=True)
                file.write("".join(f"{i},{j},{r!r}\n" for (i, j), r in rows).encode())


# -- the fast way -----------------------------------------------------------------------------------------


def _read_head(path: Path, file: IO[bytes]) -> _Head:
    """Read comments and the header, which must begin with src,dst."""
    declared, lines = None, 0
    while True:
        raw = file.readline(LONGEST_LINE)
        lines += 1
        try:
            line = raw.decode("utf-8-sig" if lines == 1 else "utf-8").strip()
        except UnicodeDecodeError as error:
            raise GraphFileError(f"{path}, line {lines}: not UTF-8 text ({error})") from error
        if not line.startswith("#"):
            break
        if claim := re.fullmatch(r"#\s*n_arms\s*=\s*(\d{1,18})", line):
            declared = int(claim[1])
            if declared < 1:
                raise GraphFileError(f"{path}, line {lines}: a graph needs at least one arm, got {line!r}")
    columns = [name.strip().strip('"').lower() for name in line.split(",")]
    if not raw:
        raise GraphFileError(f"{path} holds no header src,dst: the file is empty or was cut off")
    if columns[:2] != ["src", "dst"]:
        raise GraphFileError(f"{path}, line {lines}: the header must begin with src,dst, got {line[:200]!r}")
    if "weight" in columns:
        warn_of_weights(
            path,
            "the column 'weight' is not read, every line is an edge whatever its weight; leave out the lines that"
            " are none",
            depth=2,
        )
    if columns.count("probability") > 1:
        raise GraphFileError(f"{path}, line {lines}: two columns are called probability")
    likely = columns.index("probability") if "probability" in columns else None
    return _Head(len(columns), lines, declared, likely)


def _line_chunks(path: Path, file: IO[bytes], line: int) -> Iterator[bytes]:
    """The rest of the file in pieces of whole lines, each ending with a newline."""
    rest = b""
    while block := file.read(CHUNK):
        cut = block.rfind(b"\n") + 1
        if cut:
            piece = rest + block[:cut]
            yield piece
            line += piece.count(b"\n")
            rest = block[cut:]
        else:
            rest += block
        if len(rest) > LONGEST_LINE:
            raise GraphFileError(f"{path}, line {line + 1}: longer than {LONGEST_LINE:,} bytes, not an edge")
    if rest:
        yield rest + b"\n"


def _starts_with_a_name(chunk: bytes) -> bool:
    """Is an end of the first edge a name, that is neither empty nor any kind of number?"""
    first = chunk.lstrip().split(b"\n", 1)[0].decode("utf-8", errors="replace")
    fields = next(csv.reader([first]), [])[:2] if first else []
    return any(field.strip() and not _is_number(field) for field in fields)


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _parse_numbers(columns: int, bound: int, chunks: Iterable[bytes]) -> tuple[Ints, Ints] | None:
    """(sources, targets), or None at a line that is not plainly an edge: the csv module reads it or says why not."""
    from sidelight.graph.files._text import parse_edges

    parts = [np.empty((2, 0), dtype=np.int32)]
    for chunk in chunks:
        text = np.frombuffer(chunk, dtype=np.uint8)
        ends = np.empty((2, text.size // 4 + 1), dtype=np.int32)  # the shortest edge is "0,0" and a newline
        edges, stop = parse_edges(text, columns, bound - 1, ends[0], ends[1])
        if stop < text.size:
            return None
        parts.append(ends[:, :edges].copy())
    sources, targets = np.concatenate(parts, axis=1)
    return sources, targets


def _checked_id(field: str, bound: int) -> int:
    """The arm that a field names, or a ValueError that says what is wrong."""
    digits = field.strip()
    if digits.isascii() and digits.isdigit():
        # The length first: converting a million digits would take for ever.
        arm = int(digits) if len(digits.lstrip("0")) < 19 else 10**19
        if arm < bound:
            return arm
        if bound < MAX_ARMS:
            raise ValueError(f"arm {digits:.40} does not exist, the file has arms 0..{bound - 1}")
        raise ValueError(
            f"id {digits:.40} is above {MAX_ARMS - 1}; pass named=True to number the arms by appearance"
        )
    if not digits:
        raise ValueError("an id is missing")
    if _is_number(digits):
        raise ValueError(f"{digits[:40]!r} is not an arm: ids are whole numbers 0, 1, 2, …")
    raise ValueError(f"{digits[:40]!r} is not a whole number; if the ids are names, pass named=True")


# -- the slow way -----------------------------------------------------------------------------------------


def _read_names(
    path: Path, limit: int | None, head: _Head, labels: list[str] | None, known: int | None, any_name: bool
) -> tuple[Ints, Ints, Floats | None, list[str]]:
    """Arms are those of the labels beside the file, or else numbered in order of first appearance."""
    arm_of = {label: arm for arm, label in enumerate(labels or [])}

    def arm(field: str) -> int:
        name = field.strip()
        if not name or "\0" in name:
            raise ValueError(f"a name is missing, got {name[:40]!r}")
        if not any_name and _is_number(name) and not name.isdigit():
            raise ValueError(f"{name[:40]!r} is a number, not a name; if not, pass named=True")
        if labels is not None and name not in arm_of:
            raise ValueError(f"{name[:40]!r} is not a label of the nodes file")
        return arm_of.setdefault(name, len(arm_of))

    sources, targets, chances = _read_rows(path, limit, head, arm)
    if labels is None:
        agreed_arm_count({"stated": known, "names in the file": len(arm_of) or None})
    return sources, targets, chances, list(arm_of)


def _read_rows(
    path: Path, limit: int | None, head: _Head, arm: Callable[[str], int]
) -> tuple[Ints, Ints, Floats | None]:
    """The edges by the csv module, where `arm` says which arm a field names, and their probabilities."""
    ends: list[int] = []
    chances: list[float] = []
    for line, row in read_rows(path, limit, head.lines):
        if len(row) != head.columns:
            raise GraphFileError(
                f"{path}, line {line}: {len(row)} columns where the header has {head.columns}"
            )
        try:
            ends += [arm(row[0]), arm(row[1])]
            if head.likely is not None:
                chances.append(_checked_probability(row[head.likely]))
        except ValueError as error:
            raise GraphFileError(f"{path}, line {line}: {error}") from error
    sources, targets = np.array(ends[::2], dtype=np.int32), np.array(ends[1::2], dtype=np.int32)
    return sources, targets, None if head.likely is None else np.array(chances, dtype=np.float64)


def _checked_probability(field: str) -> float:
    """The probability that a field holds, or a ValueError that says what is wrong."""
    if not _is_number(field) or not 0 < float(field) <= 1:
        raise ValueError(
            f"a probability is a number in (0, 1], got {field.strip()[:40]!r}; leave out edges that never reveal"
        )
    return float(field)
