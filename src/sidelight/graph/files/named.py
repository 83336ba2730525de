"""Labels beside an edge list: `<name>.nodes.csv` or `.nodes.csv.gz` with the header `id,label`."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

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


def read_rows(path: Path, limit: int | None, skip: int = 0) -> Iterator[tuple[int, list[str]]]:
    """(line number, fields) of the rows of a csv file, plain or gzipped, after `skip` lines; blank ones left out.

    Line ends are untouched, since labels may contain them. Bytes that are not UTF-8 are an error on their line.
    """
    unpacked = cast(BinaryIO, unpacking(path, limit))
    with io.TextIOWrapper(unpacked, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        for _ in range(skip):
            file.readline()
        rows = csv.reader(file, strict=True)
        try:
            for row in rows:
                if any(field.strip() for field in row) or len(row) > 1:
                    "".join(row).encode()
                    yield skip + rows.line_num, row
        except UnicodeEncodeError:
            raise GraphFileError(f"{path}, line {skip + rows.line_num}: not UTF-8 text") from None
        except csv.Error as error:
            raise GraphFileError(f"{path}, line {skip + rows.line_num}: not csv ({error})") from error


def read_nodes(path: Path, limit: int | None = None) -> list[str] | None:
    """Labels of arms 0..n−1 from the file beside the edge list `path`, None when there is none."""
    beside = next((file for file in nodes_paths(path) if file.exists()), None)
    if beside is None:
        return None
    labels: dict[int, str] = {}
    try:
        rows = read_rows(beside, limit)
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
