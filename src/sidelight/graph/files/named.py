"""Labels beside an edge list: `<name>.nodes.csv` or `.nodes.csv.gz` with the header `id,label`."""

import csv
import io
from pathlib import Path
from typing import IO, BinaryIO, cast

from sidelight._files import replacing, unpacking
from sidelight.errors import GraphFileError


def nodes_paths(path: Path) -> tuple[Path, Path]:
    """Where the labels of the edge list `path` may be: first the file that `write_nodes` would write."""
    name = path.name
    for ending in (".csv.gz", ".csv", ".mtx"):
        if name.lower().endswith(ending):
            name = name[: -len(ending)]
            break
    plain, packed = path.with_name(f"{name}.nodes.csv"), path.with_name(f"{name}.nodes.csv.gz")
    return (packed, plain) if path.suffix.lower() == ".gz" else (plain, packed)


def open_text(path: Path, limit: int | None = None) -> IO[str]:
    """A text file, plain or gzipped, with line ends untouched (labels may contain them).

    Bytes that are not UTF-8 come through as lone surrogates, for `is_utf8` to find on their line.
    """
    return io.TextIOWrapper(
        cast(BinaryIO, unpacking(path, limit)), encoding="utf-8-sig", errors="surrogateescape", newline=""
    )


def is_utf8(fields: list[str]) -> bool:
    """Was every byte behind these fields UTF-8?"""
    try:
        "".join(fields).encode()
    except UnicodeEncodeError:
        return False
    return True


def read_nodes(path: Path, limit: int | None = None) -> list[str] | None:
    """Labels of arms 0..n−1 from the file beside the edge list `path`, None when there is none."""
    beside = next((file for file in nodes_paths(path) if file.exists()), None)
    if beside is None:
        return None
    labels: dict[int, str] = {}
    try:
        with open_text(beside, limit) as file:
            rows = csv.reader(file, strict=True)
            header = next(rows, [])
            if [name.strip().lower() for name in header[:2]] != ["id", "label"]:
                raise GraphFileError(
                    f"{beside}, line 1: the header must be id,label, got {','.join(header)!r}"
                )
            for row in rows:
                if not row:
                    continue
                if not is_utf8(row):
                    raise GraphFileError(f"{beside}, line {rows.line_num}: not UTF-8 text")
                if len(row) != len(header) or not (row[0].strip().isascii() and row[0].strip().isdigit()):
                    raise GraphFileError(
                        f"{beside}, line {rows.line_num}: expected id,label, got {row!r:.200}"
                    )
                arm = int(row[0])
                if arm in labels:
                    raise GraphFileError(f"{beside}, line {rows.line_num}: arm {arm} has a label already")
                labels[arm] = row[1]
    except GraphFileError:
        raise
    except (OSError, EOFError, ValueError, csv.Error) as error:
        raise GraphFileError(f"{beside} cannot be read as labels id,label: {error}") from error
    missing = next((arm for arm in range(len(labels)) if arm not in labels), None)
    if missing is not None or not labels:
        raise GraphFileError(
            f"{beside}: the ids must be 0..{max(len(labels) - 1, 0)}, arm {missing or 0} has no label"
        )
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
