"""A player from a file of Python, "FILE.py:NAME": the file is run as a module of its own, once for each content."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from sidelight._check import checked_path, suggestion
from sidelight._files import digest
from sidelight.errors import InvalidOption, PolicyError
from sidelight.policy.own import is_own, line_of
from sidelight.policy.player import MinimalPlayer, Playable


def own_source(path: Path, wanted: str = "FILE.py:NAME, the path of a Python file and a name in it") -> bytes:
    """What the file holds."""
    file = checked_path("a policy", path)
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise InvalidOption(f"{file} does not exist; write {wanted}") from None
    except OSError as error:
        raise InvalidOption(f"{file} cannot be read: {error.strerror or error}") from None


def own_from_source(path: Path, source: bytes, name: str) -> Any:
    """What is called `name` in the file: a class, a function, a plan or a policy. The file is run for it."""
    found = vars(_module(path, source))
    if name not in found:
        offered = [key for key, value in found.items() if not key.startswith("_") and _offered(value)]
        if not offered:
            raise InvalidOption(f"{path} has nothing called {name!r}, nor any class or function of its own")
        raise InvalidOption(f"{path} has nothing called {name!r}; {suggestion(name, offered, 'names')}")
    value = found[name]
    if not is_own(value) and not isinstance(value, Playable | MinimalPlayer):
        raise InvalidOption(
            f"{name} of {path} is {type(value).__name__}, not a class or function of (graph, horizon, seed), nor a"
            " plan"
        )
    return value


def _offered(value: object) -> bool:
    return callable(value) and getattr(value, "__module__", "").startswith(_PREFIX)


_PREFIX = "sidelight_own_"


def _module(path: Path, source: bytes) -> ModuleType:
    """The file as a module that Python knows, so that its classes can be copied; run when first asked for."""
    name = f"{_PREFIX}{path.stem}_{digest(str(path), source)[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    try:
        with _beside(path):
            exec(compile(source, str(path), "exec"), vars(module))
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        where = line_of(error, module)
        raise PolicyError(f"{path} cannot be run: {type(error).__name__}: {error}{where}") from error
    return module


@contextmanager
def _beside(path: Path) -> Iterator[None]:
    """Modules in the same folder can be imported, as by `python FILE.py`."""
    folder = str(path.absolute().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
