"""Archives of arrays (.npz) read within bounds, without pickle, and what a file is that is none."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
import numpy.typing as npt

from sidelight._files import allowed

MOST_MEMBERS = 1000
LONGEST_HEADER = 10_000

Arrays = dict[str, npt.NDArray[Any]]


class ArchiveError(ValueError):
    """An archive that is damaged, hostile or none; the message says what is wrong, not where."""


def read_arrays(path: Path, limit: int | None = None) -> Arrays:
    """All arrays of an .npz file by name; nothing is allocated before its size is known and within `limit` bytes.

    Numbers, booleans and text only. OSError where the file cannot be opened.
    """
    limit = allowed(path, limit)
    if path.exists() and not (path.is_file() or path.is_dir()):  # opening a pipe would wait for its writer
        raise ArchiveError("an archive is read from its end, which takes a regular file")
    return unpack_arrays(path, limit)


def unpack_arrays(source: Path | IO[bytes], limit: int) -> Arrays:
    """`read_arrays` of a regular file or a stream that can be searched."""
    try:
        with zipfile.ZipFile(source) as archive:
            return {
                info.filename.removesuffix(".npy"): _read(archive, info) for info in _listed(archive, limit)
            }
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ArchiveError(f"the archive is damaged ({error!s:.100})") from error


def _listed(archive: zipfile.ZipFile, limit: int) -> list[zipfile.ZipInfo]:
    members = archive.infolist()
    names = {info.filename for info in members}
    if len(members) > MOST_MEMBERS:
        raise ArchiveError(f"it has {len(members)} members")
    if len(names) < len(members):
        raise ArchiveError("some of its members have the same name")
    size = sum(info.file_size for info in members)
    if size > limit:
        raise ArchiveError(f"it asks for {size:,} bytes of memory, more than the limit of {limit:,}")
    for info in members:
        if not info.filename.endswith(".npy"):
            raise ArchiveError(f"its member {info.filename!r} is no array")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArchiveError(f"its member {info.filename!r} is compressed in an unusual way")
    return members


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> npt.NDArray[Any]:
    def refuse(why: str) -> NoReturn:
        raise ArchiveError(f"its member {info.filename!r} {why}")

    with archive.open(info) as member:
        # by size: reading to the end would inflate a member that is larger than it says
        data = member.read(info.file_size)
        while len(data) < info.file_size and (more := member.read(info.file_size - len(data))):
            data += more
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in readers:
            refuse(f"has the unknown array format {version}")
        shape, by_columns, dtype = readers[version](stream, max_header_size=LONGEST_HEADER)
    except ArchiveError:
        raise
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError, OverflowError) as error:
        refuse(f"is no array ({error!s:.100})")
    if dtype.kind not in "biufSU":
        refuse(f"holds {dtype}, not numbers or text")
    count = 1
    for length in shape:
        count *= length
    if min(shape, default=0) < 0 or count * dtype.itemsize != len(data) - stream.tell():
        refuse(f"says that its shape is {shape}, which does not fit its size")
    flat = np.frombuffer(data, dtype=dtype, offset=stream.tell(), count=count)
    return flat.reshape(shape, order="F" if by_columns else "C").copy()


_BEGINNINGS = (
    (b"PAR1", "a parquet file, perhaps results of a sweep"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x89PNG", "a picture"),
    (b"\x1f\x8b", "a gzip file"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x93NUMPY", "a single NumPy array"),
    (b"%PDF", "a PDF document"),
    (b"\x80", "a pickle, which is never loaded here"),
    (b"{", "JSON text, perhaps a plan, which sl.Plan.load reads"),
    (b"[", "JSON text or TOML"),
)


def what_is(path: Path) -> str:
    """What `path` looks like, for messages about files of the wrong kind."""
    if path.is_dir():
        return "a folder"
    if not path.exists():
        return "nothing: it does not exist"
    if not path.is_file():
        return "a device or a pipe"
    with open(path, "rb") as file:
        begin = file.read(512)
    if not begin:
        return "an empty file"
    if zipfile.is_zipfile(path):
        return _which_archive(path)
    for magic, name in _BEGINNINGS:
        if begin.startswith(magic):
            return name
    text = begin.lstrip().lower()
    if text.startswith((b"<!doctype html", b"<html")):
        return "an HTML page"
    if text.startswith(b"<"):
        return "XML, perhaps a graph as .graphml"
    if b"\0" in begin:
        return "damaged, or cut short" if begin.startswith(b"PK") else "a binary file of an unknown kind"
    first = begin.split(b"\n")[0].decode(errors="replace").strip()
    return f"text that begins with {first[:40]!r}, perhaps a csv file"


def _which_archive(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, ValueError):
        return "a damaged zip archive"
    if "sidelight_graph.npy" in names:
        return "a graph: read it with sl.read_graph"
    if "header.npy" in names and "graph.n_arms.npy" in names:
        return "a saved policy"
    if "format.npy" in names and "indptr.npy" in names:
        return "a sparse matrix: read it as a graph with sl.read_graph"
    return f"a zip archive that holds {', '.join(names[:5]) or 'nothing'}"
