"""What commands need: places to write, refused at once when it cannot be, and packages that only some of them use."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from sidelight._check import reason
from sidelight._check import written as written
from sidelight._files import is_replaced, replacing
from sidelight.errors import InvalidOption


def writable_folder(path: str) -> Path:
    """The folder, made if need be; called before the long work, so that an unwritable place costs little."""
    folder = Path(path)
    with written(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _try(folder)
    return folder


def writable_file(path: str) -> Path:
    """A place for a file, in a folder that exists, or a pipe or device."""
    file = Path(path)
    with _to(file):
        if is_replaced(file):
            _try(Path(os.path.realpath(file)).parent)
    return file


def write_file(file: Path, text: str) -> None:
    """`text` in the place of `file`, or an error and what was there before."""
    with _to(file), replacing(file, pack=False) as stream:
        stream.write(text.encode())


@contextlib.contextmanager
def _to(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidOption(f"cannot write {file}: {reason(error)}") from None


def _try(folder: Path) -> None:
    """Raise what writing a small file into `folder` raises."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".sidelight-") as probe:
        probe.write(b"\n")
        probe.flush()


def needs(extra: str, *packages: str) -> None:
    """Refuse, with the way out, where a package of an extra is missing."""
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise InvalidOption(
            f"this command needs {', '.join(missing)}, which a plain installation leaves out:"
            f" pip install 'sidelight[{extra}]'"
        )
