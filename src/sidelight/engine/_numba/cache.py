"""Machine code kept on disk, under an address that says what it was made from.

Numba's own cache notices when the file of a function changes, but not when a function it *calls* lives in another
file that changed: stale code would go on running. Here one folder holds what was compiled from exactly these kernel
sources, by this compiler, for this processor. Sources that change get another folder, so stale code cannot run,
nothing is deleted under another process, and installations with equal sources share their code.

A file holds one signature of one function, after a checksum: what was cut short or altered is compiled again. Files
appear whole or not at all, so any number of processes may write at once. Where nothing can be written, code is made
in memory; where a folder can only be read, code is read from it.
"""

import contextlib
import hashlib
import os
import pickle
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import config
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from sidelight._files import replacing
from sidelight.engine._numba.pipeline import EXPECTED

PACKAGE = Path(__file__).parents[2]
KERNEL_SOURCES = ("engine/**/*.py", "policy/rules/*.py", "**/_*kernels.py")
"""Everything that compiled functions are made from: they use nothing of ours outside of these files."""

FORGOTTEN_AFTER = 30 * 86400.0
"""Seconds after which a folder that no process has used is removed."""

_OPTIONS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT")


def source_digest(package: Path = PACKAGE) -> str | None:
    """Digest of the names and contents of all kernel sources; None where they are no files (in a zip archive)."""
    # All of them at once: which entry reaches which file is not worth finding out.
    sources = sorted({source for pattern in KERNEL_SOURCES for source in package.glob(pattern)})
    if not sources:
        return None
    digest = hashlib.sha256()
    for source in sources:
        content = source.read_bytes()
        digest.update(f"{source.relative_to(package).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


SOURCES = source_digest()
"""As they were when this process began to import them."""


def places() -> list[Path]:
    """Folders for machine code: the most wanted that can be written, after those that can only be read."""
    chosen = []
    # Places that can only be read come first in the list: code may lie there already.
    for place in _wanted():
        chosen.append(place)
        if _writable(place):
            break
    return chosen


def _wanted() -> Iterator[Path]:
    if named := os.environ.get("SIDELIGHT_CACHE_DIR"):
        yield Path(named).expanduser() / "kernels"
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(named).expanduser() / "sidelight"
    if named := os.environ.get("XDG_CACHE_HOME"):
        yield Path(named) / "sidelight" / "kernels"
    else:
        # Containers often run as a user without one.
        with contextlib.suppress(RuntimeError):  # a user without a home
            yield Path.home() / ".cache" / "sidelight" / "kernels"
    yield from _own_temporary()


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _own_temporary() -> Iterator[Path]:
    """A folder for temporary files that nobody else can write to, for code from it is run; else nothing."""
    personal = not hasattr(os, "geteuid")  # Windows: every user has temporary files apart
    try:
        folder = Path(tempfile.gettempdir()) / f"sidelight-{'user' if personal else os.geteuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return
    # Code from here is run: the folder must be ours alone, and no link to elsewhere.
    if personal or (
        stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077
    ):
        yield folder / "kernels"


@cache
def folders() -> tuple[Path, ...]:
    """Where code of exactly this kind may be: read from each in turn, written to the first that allows it."""
    if SOURCES is None:
        return ()
    # Code for one processor may crash on another that shares the disk.
    processor = numba.core.registry.cpu_target.target_context.codegen().magic_tuple()
    options = [(name, str(getattr(config, name, None))) for name in _OPTIONS]
    parts = (
        SOURCES,
        EXPECTED,
        numba.__version__,
        llvmlite.__version__,
        sys.version,
        processor,
        options,
    )
    key = hashlib.sha256(repr(parts).encode()).hexdigest()[:24]
    chosen = tuple(place / key for place in places())
    for folder in chosen:
        with contextlib.suppress(OSError):
            os.utime(folder)  # in use: not to be forgotten
    return chosen


def forget_unused(place: Path) -> None:
    """Remove folders that have not been used for long."""
    with contextlib.suppress(OSError):
        for folder in place.iterdir():
            if time.time() - folder.stat().st_mtime > FORGOTTEN_AFTER:
                shutil.rmtree(folder, ignore_errors=True)


def _write(folder: Path, name: str, content: bytes) -> None:
    """All of it or nothing, at once."""
    if not folder.is_dir():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        forget_unused(folder.parent)
    with replacing(folder / name) as file:
        file.write(content)


def _sealed(content: bytes) -> bytes:
    # Damage shows by the checksum; who may write here may run code anyway.
    return hashlib.sha256(content).digest() + content


def _opened(sealed: bytes) -> bytes | None:
    content = sealed[32:]
    return content if hashlib.sha256(content).digest() == sealed[:32] else None


class KernelCache(_Cache):
    """The machine code of one function, as a dispatcher asks for it by signature."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._enabled = True

    def _name(self, signature: Any) -> str:
        """The name of a file; kernels of others, like those of tests, are told apart by their own source too."""
        function = self._function
        ours = function.__module__.partition(".")[0] == PACKAGE.name
        source = b"" if ours else Path(function.__code__.co_filename).read_bytes()
        # Two functions of one name in a file are told apart by their lines.
        where = f"{function.__qualname__} {function.__code__.co_firstlineno} {signature}"
        return f"{function.__module__}.{function.__name__}-{hashlib.sha256(source + where.encode()).hexdigest()[:24]}"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function, or None where there is none that is whole."""
        if not self._enabled:
            return None
        target_context.refresh()
        for folder in folders():
            with contextlib.suppress(OSError):
                content = _opened((folder / self._name(sig)).read_bytes())
                if content is not None:
                    return CompileResult._rebuild(target_context, *pickle.loads(content))
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function, unless the sources have changed since this process read them."""
        # Addresses of this process are of no use to another; and code must be that of the sources it is filed under.
        if not self._enabled or data.library.has_dynamic_globals or source_digest() != SOURCES:
            return
        content = _sealed(dumps(data._reduce()))
        for folder in folders():
            with contextlib.suppress(OSError):
                _write(folder, self._name(sig), content)
                return

    @property
    def cache_path(self) -> str | None:
        """The folder that is written to."""
        return str(folders()[-1]) if folders() else None

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        """Nothing is ever out of date here."""
