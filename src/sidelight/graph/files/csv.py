"""Edge lists as csv or csv.gz: a header `src,dst`, one edge per line. A column `probability` says how likely an edge
reveals; further columns are ignored (a column `weight` with a warning).

A file of numbers is read by pyarrow. Names, and whatever pyarrow refuses, take the slower way through the csv module,
which reads it or says which line is wrong. Comment lines may precede the header; `# n_arms=…` tells the number of
arms where the edges do not.

Labels lie beside an edge list, also one of another format, in `<name>.nodes.csv` or `.nodes.csv.gz` with the header
`id,label`.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple, cast

import numpy as np

from sidelight._check import MAX_ARMS, number_in
from sidelight._files import LONGEST_LINE, replacing, unpacking
from sidelight._formats import Options, format_of
from sidelight.errors import GraphFileError
from sidelight.graph.edges import Edges
from sidelight.graph.feedback_graph import FeedbackGraph

WEIGHTS = (
    "the column 'weight' is not read, every line is an edge whatever its weight;"
    " leave out the lines that are none"
)


class _Head(NamedTuple):
    """What precedes the edges."""

    columns: list[str]
    lines: int
    declared: int | None  # from the comment # n_arms=…

    @property
    def likely(self) -> int | None:
        """The column of probabilities."""
        return self.columns.index("probability") if "probability" in self.columns else None


def read(path: Path, options: Options) -> Edges:
    """The edges of a list; `named` says whether ids are names, None decides by the first edge."""
    with unpacking(path, options.limit) as file:
        head = _read_head(path, file)
        body = file.read()
    if _starts_with_a_name(body) if options.named is None else options.named:
        edges = _read_names(path, head, body, options)
    else:
        edges = _read_numbers(head, body) or _read_lines(path, head, body, _numbered)
    return edges._replace(n_arms=head.declared, unread=WEIGHTS if "weight" in head.columns else None)


def write(graph: FeedbackGraph, path: Path) -> None:
    """Write ids as `src,dst[,probability]` lines."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    columns = dict(zip(("src", "dst"), graph.edges().T, strict=True))
    if not graph.certain:
        columns["probability"] = graph.edge_probabilities()
    isolated = graph.out_degree[-1] == 0 and graph.in_degree[-1] == 0
    with replacing(path) as file:
        file.write(f"# n_arms={graph.n_arms}\n".encode() if isolated else b"")
        arrow.write_csv(pa.table(columns), file, arrow.WriteOptions(quoting_style="none"))


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
    if columns.count("probability") > 1:
        raise GraphFileError(f"{path}, line {lines}: two columns are called probability")
    return _Head(columns, lines, declared)


# -- numbers ----------------------------------------------------------------------------------------------


def _read_numbers(head: _Head, body: bytes) -> Edges | None:
    """The edges of a file of plain numbers, None where anything is not plainly an edge."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    if b"0x" in body or b"0X" in body:  # pyarrow would take 0x10 for 16
        return None
    names = [str(at) for at in range(len(head.columns))]
    wanted = {"0": pa.int32(), "1": pa.int32()}
    if head.likely is not None:
        wanted[str(head.likely)] = pa.float64()
    try:
        table = arrow.read_csv(
            pa.BufferReader(body),
            arrow.ReadOptions(column_names=names, use_threads=False),
            arrow.ParseOptions(newlines_in_values=True),
            arrow.ConvertOptions(column_types=wanted, include_columns=list(wanted), null_values=[]),
        )
    except pa.ArrowInvalid:
        return None
    sources, targets, *chances = (column.to_numpy() for column in table.columns)
    for ends in (sources, targets):
        if ends.size and not (ends.min() >= 0 and ends.max() < MAX_ARMS):
            return None
    if chances and not ((chances[0] > 0) & (chances[0] <= 1)).all():
        return None
    return Edges(None, sources, targets, probabilities=chances[0] if chances else None)


def _numbered(field: str) -> int:
    """The arm whose number a field holds, or a ValueError that says what is wrong."""
    digits = field.strip()
    # The length first: converting a million digits would take for ever.
    if digits.isascii() and digits.isdigit() and len(digits.lstrip("0")) < 19 and int(digits) < MAX_ARMS:
        return int(digits)
    raise ValueError(
        f"{digits[:40]!r} is not an arm: ids are whole numbers from 0 to {MAX_ARMS - 1};"
        " if they are names, pass named=True"
    )


# -- names ------------------------------------------------------------------------------------------------


def _starts_with_a_name(body: bytes) -> bool:
    """Is an end of the first edge a name, that is neither empty nor any kind of number?"""
    start = body[:LONGEST_LINE].lstrip().split(b"\n", 1)[0].decode("utf-8", errors="replace")
    fields = next(csv.reader([start]), [])[:2] if start else []
    return any(field.strip() and number_in(field) is None for field in fields)


def _read_names(path: Path, head: _Head, body: bytes, options: Options) -> Edges:
    """Arms are those of the labels beside the file, or else numbered in order of first appearance."""
    arm_of = {label: arm for arm, label in enumerate(options.labels or [])}

    def arm(field: str) -> int:
        name = field.strip()
        if not name or "\0" in name:
            raise ValueError(f"a name is missing, got {name[:40]!r}")
        if options.named is None and number_in(name) is not None and not name.isdigit():
            raise ValueError(f"{name[:40]!r} is a number, not a name; if not, pass named=True")
        if options.labels is not None and name not in arm_of:
            raise ValueError(f"{name[:40]!r} is not a label of the nodes file")
        return arm_of.setdefault(name, len(arm_of))

    edges = _read_lines(path, head, body, arm)
    return edges._replace(labels=list(arm_of) or None)


def _read_lines(path: Path, head: _Head, body: bytes, arm: Callable[[str], int]) -> Edges:
    """The edges by the csv module, where `arm` says which arm a field names."""
    ends: list[int] = []
    chances: list[float] = []
    for line, row in read_rows(path, io.BytesIO(body), head.lines):
        if len(row) != len(head.columns):
            raise GraphFileError(
                f"{path}, line {line}: {len(row)} columns where the header has {len(head.columns)}"
            )
        try:
            ends += [arm(row[0]), arm(row[1])]
            if head.likely is not None:
                chances.append(_checked_probability(row[head.likely]))
        except ValueError as error:
            raise GraphFileError(f"{path}, line {line}: {error}") from error
    pairs = np.array(ends, dtype=np.int32).reshape(-1, 2)
    likely = None if head.likely is None else np.array(chances, dtype=np.float64)
    return Edges(None, pairs[:, 0], pairs[:, 1], probabilities=likely)


def _checked_probability(field: str) -> float:
    """The probability that a field holds, or a ValueError that says what is wrong."""
    chance = number_in(field)
    if chance is None or not 0 < chance <= 1:
        raise ValueError(
            f"a probability is a number in (0, 1], got {field.strip()[:40]!r}; leave out edges that never reveal"
        )
    return chance


# -- labels beside an edge list -----------------------------------------------------------------------------


def nodes_paths(path: Path) -> tuple[Path, Path]:
    """Where the labels of the edge list `path` may be: first the file that `write_nodes` would write."""
    form = format_of(path.name)
    name = path.name if form is None else path.name[: -len(form[1])]
    plain, packed = path.with_name(f"{name}.nodes.csv"), path.with_name(f"{name}.nodes.csv.gz")
    return (packed, plain) if path.suffix.lower() == ".gz" else (plain, packed)


def read_rows(path: Path, stream: IO[bytes], skipped: int = 0) -> Iterator[tuple[int, list[str]]]:
    """(line number, fields) of the rows of csv text, after `skipped` lines of `path`; blank ones left out.

    Line ends are untouched, since labels may contain them. Bytes that are not UTF-8 are an error on their line.
    """
    text = io.TextIOWrapper(
        cast(BinaryIO, stream), encoding="utf-8-sig", errors="surrogateescape", newline=""
    )
    rows = csv.reader(text, strict=True)
    try:
        for row in rows:
            if any(field.strip() for field in row) or len(row) > 1:
                "".join(row).encode()
                yield skipped + rows.line_num, row
    except UnicodeEncodeError:
        raise GraphFileError(f"{path}, line {skipped + rows.line_num}: not UTF-8 text") from None
    except csv.Error as error:
        raise GraphFileError(f"{path}, line {skipped + rows.line_num}: not csv ({error})") from error


def read_nodes(path: Path, limit: int | None = None) -> list[str] | None:
    """Labels of arms 0..n−1 from the file beside the edge list `path`, None when there is none."""
    beside = next((file for file in nodes_paths(path) if file.exists()), None)
    if beside is None:
        return None
    labels: dict[int, str] = {}
    try:
        with unpacking(beside, limit) as stream:
            rows = read_rows(beside, stream)
            _, header = next(rows, (1, []))
            if [name.strip().lower() for name in header[:2]] != ["id", "label"]:
                raise GraphFileError(
                    f"{beside}, line 1: the header must be id,label, got {','.join(header)!r}"
                )
            for line, row in rows:
                number = row[0].strip()
                if len(row) != len(header) or not (number.isascii() and number.isdigit()):
                    raise GraphFileError(f"{beside}, line {line}: expected id,label, got {row!r:.200}")
                if int(number) in labels:
                    raise GraphFileError(f"{beside}, line {line}: arm {number} has a label already")
                labels[int(number)] = row[1]
    except (OSError, EOFError, ValueError) as error:
        raise GraphFileError(f"{beside} cannot be read as labels id,label: {error}") from error
    if sorted(labels) != list(range(len(labels))) or not labels:
        missing = next(arm for arm in range(len(labels) + 1) if arm not in labels)
        raise GraphFileError(f"{beside}: the ids must be 0, 1, 2, …, arm {missing} has no label")
    return [labels[arm] for arm in range(len(labels))]


def write_nodes(path: Path, labels: tuple[str, ...] | None) -> None:
    """Write the labels beside the edge list `path`; without labels, refuse to leave foreign ones there."""
    if labels is None:
        for beside in nodes_paths(path):
            if beside.exists():
                raise GraphFileError(
                    f"{beside} would be read as the labels of {path}, but this graph has none;"
                    " remove that file or write under another name"
                )
        return
    with replacing(nodes_paths(path)[0]) as file:
        text = io.TextIOWrapper(cast(BinaryIO, file), encoding="utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["id", "label"])
        writer.writerows(enumerate(labels))
        text.detach()  # flushed, but left open for the caller of `replacing`
