"""Tables of numbers in csv and csv.gz files, read row by row, with errors that say where."""

from __future__ import annotations

import csv
import gzip
import os
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from sidelight._types import Floats
from sidelight.errors import InvalidOption


class Table(NamedTuple):
    """Columns of a file."""

    names: tuple[str, ...]  # of the columns, "0", "1", … without a header
    values: Floats  # (rows, columns)


def read_table(
    path: str | os.PathLike[str],
    *,
    skip: Collection[str] = (),
    rows: int | None = None,
    least: float = -np.inf,
    most: float = np.inf,
) -> Table:
    """The numbers of a file, but columns named in `skip`; at most the first `rows` rows are read.

    A first line that is not all numbers is the header. A field that is no number, not finite, or outside
    least..most, and a line with more or fewer fields than the first, is an error naming row and column.
    """
    file = Path(path)
    found: list[Floats] = []
    try:
        with _opened(file) as text:
            lines = _lines(csv.reader(text))
            first = next(lines, None)
            if first is None:
                raise InvalidOption(f"{file} is empty: it must hold one line of losses per round")
            header = not all(_is_number(field) for field in first[1])
            names = tuple(first[1]) if header else tuple(str(i) for i in range(len(first[1])))
            kept = [i for i, name in enumerate(names) if name.strip() not in skip]
            if not header:
                found.append(_numbers(file, 0, first, names, kept, least, most))
            while rows is None or len(found) < rows:
                line = next(lines, None)
                if line is None:
                    break
                found.append(_numbers(file, len(found), line, names, kept, least, most))
    except FileNotFoundError as error:
        raise InvalidOption(f"{file} does not exist") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidOption(f"{file} is damaged or was cut off: {error}; fetch it again") from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidOption(f"{file} cannot be read: {error}") from error
    if not found or not kept:
        raise InvalidOption(f"{file} has no rows of numbers below its header")
    return Table(tuple(names[i].strip() for i in kept), np.array(found))


def _opened(file: Path) -> IO[str]:
    if file.suffix.lower() == ".gz":
        return gzip.open(file, "rt", encoding="utf-8-sig", newline="")
    return file.open(encoding="utf-8-sig", newline="")


def _lines(reader: Iterator[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """Lines that are not blank, with their number in the file."""
    for fields in reader:
        if fields:
            yield reader.line_num, fields  # type: ignore[attr-defined]


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _numbers(
    file: Path,
    row: int,
    line: tuple[int, list[str]],
    names: tuple[str, ...],
    kept: list[int],
    least: float,
    most: float,
) -> Floats:
    number, fields = line
    where = f"{file}: row {row} (line {number})"
    if len(fields) != len(names):
        raise InvalidOption(f"{where} has {len(fields)} columns, the first line has {len(names)}")
    try:
        values = np.array([float(fields[i]) for i in kept])
    except ValueError:
        wrong = next(i for i in kept if not _is_number(fields[i]))
        raise InvalidOption(
            f"{where}, column {wrong} ({names[wrong].strip()!r}) must be a number, got {fields[wrong]!r}"
        ) from None
    inside = np.isfinite(values) & (values >= least) & (values <= most)
    if not inside.all():
        wrong = kept[int(np.argmin(inside))]
        allowed = f"in [{least:g}, {most:g}]" if np.isfinite([least, most]).all() else "finite"
        raise InvalidOption(
            f"{where}, column {wrong} ({names[wrong].strip()!r}) must be {allowed}, got {fields[wrong]}"
        )
    return values
