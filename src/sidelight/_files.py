"""Files: written completely or not at all, read within bounds, locked and hashed in one way."""

from __future__ import annotations

import contextlib
import errno
import gzip
import hashlib
import io
import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import numpy.typing as npt

IN_MEMORY = 2**24
"""Bytes for a pipe or device that are prepared in memory; more of them in a temporary file."""

LONGEST_LINE = 2**20
"""Bytes of a line at the head of a file; nobody writes longer ones."""

LEAST_LIMIT, TRUSTED_PACKING = 2**28, 64
"""What a file may unpack to without being asked: these many bytes, or this many times its size."""


# -- writing ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def replacing(path: Path, pack: bool | None = None) -> Iterator[IO[bytes]]:
    """A binary file that takes the place of `path` once the block has ended well; else nothing changes.

    Only regular files are replaced. Links are followed, and stay; devices, pipes and /dev/stdout get the
    whole content once it is complete; a folder is an IsADirectoryError.

    A `.gz` path is compressed on the way, unless `pack` is False: lightly, since heavier levels take thrice
    the time for 6 % less, and without a time stamp, so that equal graphs give equal files.
    """
    packed = path.suffix.lower() == ".gz" if pack is None else pack
    if is_replaced(path):
        with _replaced(Path(os.path.realpath(path))) as file, _packing(file, packed) as stream:
            yield stream
        return
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as spool:
        with _packing(cast(IO[bytes], spool), packed) as stream:
            yield stream
        spool.seek(0)
        with _opened(path) as file:
            shutil.copyfileobj(spool, file)


def is_replaced(path: Path) -> bool:
    """Whether writing `path` makes or replaces a regular file; False for devices, pipes and open files."""
    if _descriptor(path) is not None:
        return False
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return True
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return stat.S_ISREG(mode)


@contextlib.contextmanager
def _replaced(path: Path) -> Iterator[IO[bytes]]:
    temporary = path.with_name(f".sidelight-{secrets.token_hex(8)}.tmp")  # same folder: replace is atomic
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            shutil.copymode(path, temporary)  # what was private stays private
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _packing(file: IO[bytes], packed: bool) -> Iterator[IO[bytes]]:
    if not packed:
        yield file
        return
    with gzip.GzipFile("", "wb", compresslevel=1, fileobj=file, mtime=0) as stream:
        yield cast(IO[bytes], stream)


def _opened(path: Path) -> IO[bytes]:
    """A device or pipe, to be written to."""
    number = _descriptor(path)
    if number is None:
        return open(path, "wb")
    sys.stdout.flush()  # what was printed before comes before
    return os.fdopen(os.dup(number), "wb")


def _descriptor(path: Path) -> int | None:
    """The number of the output of this process that `path` is, such as /dev/stdout and links to it.

    Opening such a path anew would start at the beginning of the file behind it, over what is there.
    """
    for number in (1, 2):
        with contextlib.suppress(OSError):
            if os.path.samestat(os.stat(path), os.fstat(number)):
                return number
    return None


# -- reading ----------------------------------------------------------------------------------------------


def allowed(path: Path, limit: int | None = None) -> int:
    """Bytes that `path` may unpack to: `limit`, by default 64 times its size, and at least 256 MiB.

    Real graphs compress up to 9 times; a file made to exhaust memory, a thousand times.
    """
    return max(LEAST_LIMIT, TRUSTED_PACKING * path.stat().st_size) if limit is None else limit


def unpacking(path: Path, limit: int | None = None) -> IO[bytes]:
    """The bytes of a file, unpacked if it ends with .gz; ValueError once that gives more than is allowed."""
    if path.suffix.lower() != ".gz":
        return open(path, "rb")
    return io.BufferedReader(_Limited(path, allowed(path, limit)), buffer_size=2**17)


class _Limited(io.RawIOBase):
    def __init__(self, path: Path, limit: int) -> None:
        self.file, self.limit, self.left = gzip.GzipFile(path), limit, limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self.file.readinto(buffer)
        self.left -= count
        if self.left < 0:
            raise ValueError(f"it unpacks to more than {self.limit:,} bytes; pass a larger limit if it may")
        return count

    def close(self) -> None:
        self.file.close()
        super().close()


# -- locks and digests ------------------------------------------------------------------------------------


@contextlib.contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Hold the lock file `path`, or yield False if another process does; let go of however this one ends."""
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        yield False
        return
    except NotImplementedError:  # a file system without locks: whoever shares a folder there takes care
        pass
    try:
        yield True
    finally:
        lock.release()


def digest(*parts: str | bytes | npt.NDArray[Any]) -> str:
    """SHA-256 of the parts one after another, as 64 hex digits; arrays by their bytes."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        whole.update(data if isinstance(data, bytes) else data.tobytes())
    return whole.hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of a file of any size, as 64 hex digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
