"""Tables of numbers in csv and csv.gz files, read row by row, with errors that say where."""

from __future__ import annotations

import csv
import gzip
import io
import os
import zlib
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from sidelight._check import checked_path
from sidelight._files import unpacking
from sidelight._types import Floats
from sidelight.errors import InvalidOption


class Table(NamedTuple):
    """Columns of a file."""

    names: tuple[str, ...]  # of the columns, "0", "1", … without a header
    values: Floats  # (rows, columns)

    def column(self, name: str) -> Floats:
        """The numbers of one column."""
        values: Floats = self.values[:, self.names.index(name)]
        return values


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
    file = checked_path("a table", path)
    try:
        with io.TextIOWrapper(unpacking(file), encoding="utf-8-sig", newline="") as text:
            lines = _lines(text)
            first = next(lines, None)
            if first is None:
                raise InvalidOption(f"{file} is empty: it must hold one line of losses per round")
            header = not all(map(_is_number, first[1]))
            names = [name.strip() if header else str(i) for i, name in enumerate(first[1])]
            kept = [i for i, name in enumerate(names) if name not in skip]
            body = lines if header else chain([first], lines)
            found = [
                _numbers(f"{file}: row {row} (line {line})", fields, names, kept, least, most)
                for row, (line, fields) in enumerate(islice(body, rows))
            ]
    except FileNotFoundError as error:
        raise InvalidOption(f"{file} does not exist") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidOption(f"{file} is damaged or was cut off: {error}; fetch it again") from error
    except InvalidOption:
        raise
    except (OSError, ValueError, csv.Error) as error:  # also bytes that are no text, or far too many of them
        raise InvalidOption(f"{file} cannot be read: {error}") from error
    if not found or not kept:
        raise InvalidOption(f"{file} has no rows of numbers below its header")
    return Table(tuple(names[i] for i in kept), np.array(found))


def _lines(text: io.TextIOWrapper) -> Iterator[tuple[int, list[str]]]:
    """Lines that are not blank, with their number in the file."""
    reader = csv.reader(text)
    for fields in reader:
        if fields:
            yield reader.line_num, fields


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _numbers(
    where: str, fields: list[str], names: Sequence[str], kept: list[int], least: float, most: float
) -> Floats:
    if len(fields) != len(names):
        raise InvalidOption(f"{where} has {len(fields)} columns, the first line has {len(names)}")
    try:
        values = np.array([float(fields[i]) for i in kept])
    except ValueError:
        wrong, allowed = next(i for i in kept if not _is_number(fields[i])), "a number"
    else:
        inside = np.isfinite(values) & (values >= least) & (values <= most)
        if inside.all():
            return values
        wrong = kept[int(np.argmin(inside))]
        allowed = f"in [{least:g}, {most:g}]" if np.isfinite([least, most]).all() else "finite"
    raise InvalidOption(
        f"{where}, column {wrong} ({names[wrong]!r}) must be {allowed}, got {fields[wrong]!r}"
    )
