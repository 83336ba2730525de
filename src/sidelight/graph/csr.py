"""Rows of patterns in compressed form (CSR), many at a time."""

import numpy as np

from sidelight._types import Floats, Indices, Longs


def grouped(part: Indices, n_parts: int) -> tuple[Indices, Indices]:
    """(members sorted by part, start of each part); entries with part −1 belong nowhere."""
    order = np.argsort(part, kind="stable")
    order = order[np.searchsorted(part[order], 0) :]
    return order, pointers(np.bincount(part[order], minlength=n_parts))


def pointers(counts: Indices) -> Longs:
    """Starts of consecutive runs of the given lengths, and the end."""
    indptr = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=indptr[1:])
    return indptr


def gather_rows(indptr: Indices, indices: Indices, rows: Indices) -> tuple[Indices, Indices]:
    """(length of each of `rows`, their entries one after the other) of a CSR pattern."""
    counts, where = _entries(indptr, rows)
    return counts, indices[where]


def gather_values(indptr: Indices, values: Floats, rows: Indices) -> Floats:
    """The values of the entries that `gather_rows` gives."""
    return values[_entries(indptr, rows)[1]]


def _entries(indptr: Indices, rows: Indices) -> tuple[Indices, Indices]:
    """(length of each of `rows`, where their entries are)."""
    starts = indptr[rows]
    counts = indptr[np.asarray(rows) + 1] - starts
    offsets = np.repeat(starts - pointers(counts)[:-1], counts)
    return counts, offsets + np.arange(len(offsets))
