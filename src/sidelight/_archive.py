"""Archives of arrays (.npz) read within bounds, without pickle, and what a file is that is none."""

from __future__ import annotations

import io
import zipfile
import zlib
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from sidelight._files import allowed

MOST_MEMBERS = 1000
LONGEST_HEADER = 10_000
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Those that NumPy writes; others may ask for much memory to be unpacked."""

Arrays = dict[str, npt.NDArray[Any]]


class ArchiveError(ValueError):
    """An archive that is damaged, hostile or none; the message says what is wrong, not where."""


def read_arrays(path: Path, limit: int | None = None) -> Arrays:
    """All arrays of an .npz file by name, numbers, booleans and text only, within `limit` bytes of memory.

    OSError where the file cannot be opened.
    """
    limit = allowed(path, limit)
    if path.exists() and not (path.is_file() or path.is_dir()):  # opening a pipe would wait for its writer
        raise ArchiveError("an archive is read from its end, which takes a regular file")
    return unpack_arrays(path, limit)


def unpack_arrays(source: Path | IO[bytes], limit: int) -> Arrays:
    """`read_arrays` of a regular file or a stream that can be searched."""
    try:
        with zipfile.ZipFile(source) as archive:
            members = archive.infolist()
            size = sum(info.file_size for info in members)
            if len(members) > MOST_MEMBERS or size > limit:
                raise ArchiveError(
                    f"it has {len(members)} members and asks for {size:,} bytes of memory, more than"
                    f" {MOST_MEMBERS} or the limit of {limit:,}"
                )
            return {info.filename.removesuffix(".npy"): _read(archive, info) for info in members}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ArchiveError(f"the archive is damaged ({error!s:.100})") from error


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> npt.NDArray[Any]:
    if not info.filename.endswith(".npy") or info.compress_type not in COMPRESSIONS:
        raise ArchiveError(f"its member {info.filename!r} is no array as NumPy writes them")
    with archive.open(info) as member:
        data = member.read(info.file_size)  # to the end would inflate a member that is larger than it says
    stream = io.BytesIO(data)
    try:
        first = np.lib.format.read_magic(stream) == (1, 0)
        header = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
        shape, _, dtype = header(stream, max_header_size=LONGEST_HEADER)
        if prod(shape) * dtype.itemsize != len(data) - stream.tell():  # before that is allocated
            raise ValueError(f"the shape {shape} does not fit its size")
        stream.seek(0)
        array: npt.NDArray[Any] = np.lib.format.read_array(stream, max_header_size=LONGEST_HEADER)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError, OverflowError) as error:
        raise ArchiveError(f"its member {info.filename!r} is no array ({error!s:.100})") from error
    if array.dtype.kind not in "biufSU":
        raise ArchiveError(f"its member {info.filename!r} holds {array.dtype}, not numbers or text")
    return array


_BEGINNINGS = (
    (b"PK", "damaged, or cut short"),
    (b"PAR1", "a parquet file, perhaps results of a sweep"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\x93NUMPY", "a single NumPy array"),
    (b"\x80", "a pickle, which is never loaded here"),
    (b"{", "JSON text, perhaps a plan, which sl.Plan.load reads"),
    (b"<", "XML or an HTML page"),
    (b"", "no archive of arrays"),
)


def what_is(path: Path) -> str:
    """What `path` looks like, for messages about files of the wrong kind."""
    if not path.is_file():
        return "a folder" if path.is_dir() else "a device or a pipe" if path.exists() else "nothing"
    if path.stat().st_size == 0:
        return "an empty file"
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError):
        with open(path, "rb") as file:
            begin = file.read(512).lstrip()
        return next(kind for magic, kind in _BEGINNINGS if begin.startswith(magic))
    if {"sidelight_graph.npy", "indptr.npy"} & set(names):
        return "a graph: read it with sl.read_graph"
    if {"header.npy", "graph.n_arms.npy"} <= set(names):
        return "a saved policy"
    return f"an archive that holds {', '.join(names[:5]) or 'nothing'}"
