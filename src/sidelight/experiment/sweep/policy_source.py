"""Where the policy of a cell comes from: a name, a file of Python, a saved plan, or something that the caller made.

What a name means is the library's business. A file counts by its bytes, which travel with the cell, so a worker plays
what the sweep was given even where the file is not; what the file imports counts by name alone. A class or a function
counts by its source, a plan by what it plays; whatever else a caller has made counts by the name it was given.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import pickle
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from sidelight._files import digest
from sidelight.errors import InvalidOption
from sidelight.graph import FeedbackGraph
from sidelight.planning import Plan
from sidelight.policy import names as registry
from sidelight.policy import plan_file
from sidelight.policy.own import TURNS, is_own, playable, takes_no_turns
from sidelight.policy.own_file import own_from_source, own_source

NAMED, FILE, PLAN, OBJECT = "named", "file", "plan", "object"


@dataclass(frozen=True)
class PolicySource:
    """A policy as a spec names it; `make` makes it anywhere."""

    name: str  # as tables and figures show it
    kind: str = NAMED
    text: str = ""  # of NAMED the name that the library knows, of FILE what is looked for in it
    path: Path | None = None
    content: bytes = field(default=b"", repr=False)  # of a file its bytes, of OBJECT as workers unpack it
    digest: str = ""  # what makes two sources the same policy, where that is not the name
    value: Any = field(default=None, repr=False, compare=False)  # of OBJECT, in the process of its maker

    @classmethod
    def named(cls, text: str, name: str = "") -> PolicySource:
        """One that the library knows."""
        return cls(name or text, NAMED, text)

    @classmethod
    def from_file(cls, text: str, folder: Path, name: str = "") -> PolicySource:
        """ "FILE.py:NAME", looked up in `folder`; the file is run, so that mistakes are found at once."""
        file, _, wanted = (part.strip() for part in text.rpartition(":"))
        path = folder / file
        content = own_source(path)
        _check_turns(own_from_source(path, content, wanted), wanted)
        return cls(name or f"{file}:{wanted}", FILE, wanted, path, content, digest(content))

    @classmethod
    def from_plan(cls, text: str, folder: Path, name: str = "") -> PolicySource:
        """ "FILE.json", a saved plan, looked up in `folder`; it is read, so that mistakes are found at once."""
        path = folder / text.strip()
        content = own_source(path, "the path of a plan that `plan.save` or `sidelight plan -o` wrote")
        plan_file.unpack(content, path)
        return cls(name or text.strip(), PLAN, "", path, content, digest(content))

    @classmethod
    def of(cls, value: Any, name: str = "") -> PolicySource:
        """A class or a function of (graph, horizon, seed), a plan, or a policy."""
        shown = name or getattr(value, "__name__", "") or type(value).__name__
        _check_turns(value, shown)
        return cls(shown, OBJECT, content=_shipped(value), digest=_fingerprint(value), value=value)

    @property
    def identity(self) -> Any:
        """What makes two sources the same policy."""
        if self.kind == NAMED:
            return self.text
        return [self.kind, self.text, self.digest] if self.digest else [self.kind, self.name]

    @property
    def own(self) -> bool:
        """May it change while its name stays?"""
        return self.kind != NAMED

    @property
    def travels(self) -> bool:
        """Can other processes make it?"""
        return self.kind != OBJECT or bool(self.content)

    @property
    def lasting(self) -> bool:
        """Can results of it be told from those of another policy of the same name, in another process?"""
        return self.kind == NAMED or bool(self.digest)

    def make(self, graph: FeedbackGraph, horizon: int) -> Any:
        """What is to be simulated; it may not apply to the graph."""
        if self.kind == NAMED:
            return registry.make(self.text, graph, horizon)
        value = self._own
        if is_own(value):
            return playable(value, self.name, graph, horizon)
        if value.graph != graph:
            raise InvalidOption(f"{self.name} is for another graph: {value.graph!r}, not {graph!r}")
        return value

    @cached_property
    def _own(self) -> Any:
        if self.kind == PLAN:
            return plan_file.unpack(self.content, self.path or Path(self.name)).plan
        if self.path is not None:
            return own_from_source(self.path, self.content, self.text)
        return self.value if self.value is not None else pickle.loads(self.content)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("value", "_own")} | {
            "value": None
        }


def _check_turns(value: object, name: str) -> None:
    """A class whose players cannot play is refused before anything is played."""
    if takes_no_turns(value):
        raise InvalidOption(f"{name} is a class that plays nothing: {TURNS}")


def _shipped(value: Any) -> bytes:
    """As workers unpack it: by cloudpickle where that is installed, else by pickle where they can import it."""
    if importlib.util.find_spec("cloudpickle") is not None:
        import cloudpickle

        dumps = cloudpickle.dumps
    elif getattr(value, "__module__", type(value).__module__) != "__main__" or _main_is_file():
        dumps = pickle.dumps
    else:
        return b""  # a notebook's own: workers could not find it
    try:
        data: bytes = dumps(value)
        return data
    except Exception:  # whatever it may hold: open files, locks, generators
        return b""


def _main_is_file() -> bool:
    """Do workers import the script that is running?"""
    return hasattr(sys.modules.get("__main__"), "__file__")


def _fingerprint(value: Any) -> str:
    """A hash of what it is, the same in every process; "" where it cannot be known."""
    if isinstance(value, Plan):
        about = json.dumps(value.to_dict(), sort_keys=True, default=str)
        arrays = [*value.graph.to_arrays().values(), *value.tuning.to_arrays().values()]
        return digest(about, *arrays)
    if not is_own(value) or getattr(value, "__name__", "<lambda>") == "<lambda>":
        return ""  # of a lambda only the lines are known
    try:
        source = inspect.getsource(value)
    except (OSError, TypeError):
        return ""
    if getattr(value, "__closure__", None) or getattr(value, "__defaults__", None):
        return ""  # what it holds besides its source is not known
    return digest(source)
