"""Labels beside an edge list: `<name>.nodes.csv` or `.nodes.csv.gz` with the header `id,label`."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO, cast

from sidelight._files import replacing, unpacking
from sidelight._formats import format_of
from sidelight.errors import GraphFileError
from sidelight.graph.files.shared import LONGEST_LINE


def nodes_paths(path: Path) -> tuple[Path, Path]:
    """Where the labels of the edge list `path` may be: first the file that `write_nodes` would write."""
    found = format_of(path.name)
    name = path.name if found is None else path.name[: -len(found[1])]
    plain, packed = path.with_name(f"{name}.nodes.csv"), path.with_name(f"{name}.nodes.csv.gz")
    return (packed, plain) if path.suffix.lower() == ".gz" else (plain, packed)


def read_rows(path: Path, stream: IO[bytes], skipped: int = 0) -> Iterator[tuple[int, list[str]]]:
    """(line number, fields) of the rows of csv text, after `skipped` lines of `path`; blank ones left out.

    Line ends are untouched, since labels may contain them. Bytes that are not UTF-8 are an error on their line.
    """
    text = io.TextIOWrapper(
        cast(BinaryIO, stream), encoding="utf-8-sig", errors="surrogateescape", newline=""
    )
    rows = csv.reader(_lines(path, text, skipped), strict=True)
    try:
        for row in rows:
            if any(field.strip() for field in row) or len(row) > 1:
                "".join(row).encode()
                yield skipped + rows.line_num, row
    except UnicodeEncodeError:
        raise GraphFileError(f"{path}, line {skipped + rows.line_num}: not UTF-8 text") from None
    except csv.Error as error:
        raise GraphFileError(f"{path}, line {skipped + rows.line_num}: not csv ({error})") from error


def _lines(path: Path, text: io.TextIOWrapper, skipped: int) -> Iterator[str]:
    for number, line in enumerate(iter(lambda: text.readline(LONGEST_LINE), ""), skipped + 1):
        if len(line) == LONGEST_LINE:
            raise GraphFileError(f"{path}, line {number}: longer than {LONGEST_LINE:,} bytes, not an edge")
        yield line


def read_nodes(path: Path, limit: int | None = None) -> list[str] | None:
    """Labels of arms 0..n−1 from the file beside the edge list `path`, None when there is none."""
    beside = next((file for file in nodes_paths(path) if file.exists()), None)
    if beside is None:
        return None
    try:
        with unpacking(beside, limit) as stream:
            labels = _labels(beside, stream)
    except GraphFileError:
        raise
    except (OSError, EOFError, ValueError) as error:
        raise GraphFileError(f"{beside} cannot be read as labels id,label: {error}") from error
    missing = next((arm for arm in range(len(labels)) if arm not in labels), None)
    if missing is not None or not labels:
        raise GraphFileError(
            f"{beside}: the ids must be 0..{max(len(labels) - 1, 0)}, arm {missing or 0} has no label"
        )
    return [labels[arm] for arm in range(len(labels))]


def _labels(beside: Path, stream: IO[bytes]) -> dict[int, str]:
    labels: dict[int, str] = {}
    rows = read_rows(beside, stream)
    _, header = next(rows, (1, []))
    if [name.strip().lower() for name in header[:2]] != ["id", "label"]:
        raise GraphFileError(f"{beside}, line 1: the header must be id,label, got {','.join(header)!r}")
    for line, row in rows:
        number = row[0].strip()
        if len(row) != len(header) or not (number.isascii() and number.isdigit()):
            raise GraphFileError(f"{beside}, line {line}: expected id,label, got {row!r:.200}")
        if int(number) in labels:
            raise GraphFileError(f"{beside}, line {line}: arm {number} has a label already")
        labels[int(number)] = row[1]
    return labels


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
