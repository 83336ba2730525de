"""Where the graph, the policy and the losses of a cell come from: made anywhere, and known again.

A name means what the library means by it. Files count by what they hold: a graph file by its graph, recorded losses
and data sets by their bytes, a file of Python by its own bytes, which travel with the cell, while what it imports
counts by name alone. A class or a function counts by its source, a plan by what it plays; whatever else a caller has
made counts by the name it was given.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import pickle
import sys
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Self

from sidelight._check import suggestion
from sidelight._files import digest, file_digest
from sidelight._formats import ENDINGS
from sidelight.environment import Environment
from sidelight.environment import names as environments
from sidelight.environment.data import dataset_files
from sidelight.errors import InvalidOption, ResultsError
from sidelight.graph import FeedbackGraph, families, read_graph
from sidelight.graph.altered import with_loops
from sidelight.planning import Plan
from sidelight.policy import names as policies
from sidelight.policy import plan_file
from sidelight.policy.own import is_own, own_from_source, own_source, playable
from sidelight.policy.player import Playable, Player

LOOPS = ("unobservable", "all")
"""Which arms may be given a self-loop: those that no arm reveals, or all."""
CHANGED = "has changed since the sweep began; start the sweep again"


@dataclass(frozen=True)
class Source:
    """Something that a spec names. Equal identities are the same thing, whatever they are called."""

    name: str  # as tables and figures show it
    path: Path | None = None  # of its file, if it has one
    digest: str = ""  # of what it holds, where that is not the name

    @property
    def identity(self) -> Any:
        """What makes two sources the same, in plain values: the id of a cell depends on it."""
        return self.digest or self.name

    @property
    def known(self) -> Hashable:
        """The same for equal sources, within one process."""
        return str(self.identity)


@dataclass(frozen=True)
class GraphSource(Source):
    """A graph: a family, or a file."""

    family: str = ""  # instead of the path
    undirected: bool = False  # reveal both ways along every edge
    loops: str = ""  # one of LOOPS, or "" for the graph as it is
    n_arms: int | None = None  # as for `read_graph`, files only
    named: bool | None = None
    value: FeedbackGraph | None = field(default=None, repr=False, compare=False)  # that the caller has made

    def build(self) -> FeedbackGraph:
        """The graph; a file that no longer holds the graph it did is an error."""
        if self.value is not None:
            return self.value
        if self.path is None:
            graph = families.parse(self.family)
            graph = graph.symmetrized() if self.undirected else graph
        else:
            graph = read_graph(self.path, n_arms=self.n_arms, undirected=self.undirected, named=self.named)
        if self.loops:
            graph = with_loops(graph, unobservable_only=self.loops == "unobservable")
        if self.digest and graph.digest != self.digest:
            raise ResultsError(f"{self.path} {CHANGED}")
        return graph

    def checked(self) -> tuple[Self, FeedbackGraph]:
        """The same source knowing what its file holds, and the graph."""
        graph = self.build()
        return (self if self.path is None else replace(self, digest=graph.digest)), graph

    @property
    def identity(self) -> Mapping[str, Any]:
        """What makes two sources the same graph: the family as written, or what the file holds."""
        if self.digest:
            return {"digest": self.digest}
        name, _, rest = self.family.partition(":")
        text = ":".join([name.strip().lower().replace("-", "_"), *([rest] if rest else [])])
        return {"family": "".join(text.split()), "undirected": self.undirected, "loops": self.loops}


@lru_cache(maxsize=4)
def built(source: GraphSource) -> FeedbackGraph:
    """`source.build()`, remembered: neighbouring cells share their graph."""
    return source.build()


def is_file(text: str) -> bool:
    """Does `text` name a graph file rather than a family?"""
    return text.lower().endswith(ENDINGS)


@dataclass(frozen=True)
class LossSource(Source):
    """An environment: by name, perhaps with files, or one that the caller has made.

    Files are the one in its name ("replay:FILE", "FILE.py:FUNCTION"), or all that a data set ("dataset:NAME") is read
    from. "python:MODULE.FUNCTION" counts by name alone.
    """

    before: str = ""  # the text around the path of the file, or around the name of the data set
    after: str = ""
    data: str = ""  # the name of the data set
    value: Environment | None = field(default=None, repr=False, compare=False)  # that the caller has made

    @classmethod
    def from_text(cls, text: str, folder: Path) -> LossSource:
        """The environment in its usual spelling; a file is looked up in `folder`.

        >>> LossSource.from_text(" Gap: 0.2 , 3", Path()).name
        'gap:0.2,3'
        """
        if ".py:" in text:
            file, _, function = (part.strip() for part in text.rpartition(":"))
            return cls(f"{file}:{function}", folder / file, after=f":{function}")
        kind, _, rest = text.partition(":")
        kind = kind.strip().lower().replace("-", "_")
        words = [word.strip() for word in rest.split(",")] if rest.strip() else []
        name = f"{kind}:{','.join(words)}" if words else kind
        after = "".join(f",{word}" for word in words[1:])
        if kind == "replay" and words:
            return cls(name, folder / words[0], before="replay:", after=after)
        if kind == "dataset" and words:
            return cls(name, before="dataset:", after=after, data=words[0])
        return cls(name)

    def make(self, graph: FeedbackGraph, horizon: int) -> Environment:
        """The environment for this graph; it may not apply to it."""
        return self.value or environments.parse(self._text, graph, horizon)

    def in_words_of_spec(self, message: str) -> str:
        """A message about this environment as the spec names it: results do not depend on the folder."""
        return message.replace(self._text, self.name)

    @property
    def _text(self) -> str:
        return self.name if self.path is None else f"{self.before}{self.path}{self.after}"

    def checked(self) -> Self:
        """The same source knowing what its files hold."""
        return replace(self, digest=self._found())

    def verify(self) -> None:
        """Refuse files that are not there, or not the same any more."""
        current = self._found()
        if self.digest and current != self.digest:
            what = self.path or f"the data set {self.data!r}"
            raise ResultsError(f"{what} {CHANGED}")

    def _found(self) -> str:
        """A hash of the files as they are now; "" if there are none."""
        if self.path is not None:
            return _digest(self.path)
        if not self.data:
            return ""
        digests = [_digest(file) for file in dataset_files(self.data)]
        return digest(" ".join(digests))

    @property
    def identity(self) -> Any:
        """What makes two sources the same losses."""
        return [self.before, self.digest, self.after] if self.digest else self.name


def _digest(path: Path) -> str:
    try:
        status = path.stat()
        return _hashed(path, status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise ResultsError(f"{path} cannot be read: {error.strerror or error}") from error


@lru_cache(maxsize=64)
def _hashed(path: Path, size: int, modified: int) -> str:
    """Losses may be gigabytes: hashed again only if the file looks different."""
    return file_digest(path)


NAMED, FILE, PLAN, OBJECT = "named", "file", "plan", "object"


@dataclass(frozen=True)
class PolicySource(Source):
    """A policy: a name, a file of Python, a saved plan, or something that the caller has made."""

    kind: str = NAMED
    text: str = ""  # of NAMED the name that the library knows, of FILE what is looked for in it
    content: bytes = field(default=b"", repr=False)  # of a file its bytes, of OBJECT as workers unpack it
    value: Any = field(default=None, repr=False, compare=False)  # of OBJECT, in the process of its maker

    @classmethod
    def given(cls, entry: object, folder: Path, name: str = "") -> PolicySource:
        """From what a caller or a spec gives, called `name` if that is not empty; files are looked up in `folder`.

        A name, a file of Python as FILE.py:NAME, a saved plan as FILE.json, and in Python a class, a function of
        (graph, horizon, seed), a plan or a policy.
        """
        if not isinstance(entry, str):
            if is_own(entry) or isinstance(entry, Playable | Player):
                return cls.of(entry, name)
            wanted = "a name, FILE.py:NAME, a class or function of (graph, horizon, seed), or a plan"
            raise InvalidOption(f"must be {wanted}, got {entry!r:.200}")
        if ".py:" in entry:
            return cls.from_file(entry, folder, name)
        if entry.strip().lower().endswith(".json"):
            return cls.from_plan(entry, folder, name)
        text = entry.strip().lower().replace("-", "_")
        if text not in policies.names():
            hint = _in_file(entry.strip(), folder) or suggestion(text, policies.names(), "policies")
            raise InvalidOption(f"unknown policy {entry!r}; {hint}")
        return cls(name or text, text=text)

    @classmethod
    def from_file(cls, text: str, folder: Path, name: str = "") -> PolicySource:
        """ "FILE.py:NAME", looked up in `folder`; the file is run, so that mistakes are found at once."""
        file, _, wanted = (part.strip() for part in text.rpartition(":"))
        path = folder / file
        content = own_source(path)
        own_from_source(path, content, wanted)
        return cls(name or f"{file}:{wanted}", path, digest(content), FILE, wanted, content)

    @classmethod
    def from_plan(cls, text: str, folder: Path, name: str = "") -> PolicySource:
        """ "FILE.json", a saved plan, looked up in `folder`; it is read, so that mistakes are found at once."""
        path = folder / text.strip()
        content = own_source(path, "the path of a plan that `plan.save` or `sidelight plan -o` wrote")
        plan_file.unpack(content, path)
        return cls(name or text.strip(), path, digest(content), PLAN, content=content)

    @classmethod
    def of(cls, value: Any, name: str = "") -> PolicySource:
        """A class or a function of (graph, horizon, seed), a plan, or a policy."""
        shown = name or getattr(value, "__name__", "") or type(value).__name__
        return cls(shown, None, _fingerprint(value), OBJECT, content=_shipped(value), value=value)

    @property
    def identity(self) -> Any:
        """What makes two sources the same policy."""
        if self.kind == NAMED:
            return self.text
        return [self.kind, self.text, self.digest] if self.digest else [self.kind, self.name]

    @property
    def known(self) -> Hashable:
        """What cannot be known again, such as a lambda, is the same as itself only."""
        return super().known if self.lasting else id(self.value)

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
            return policies.make(self.text, graph, horizon)
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


def _in_file(text: str, folder: Path) -> str:
    """What to write for a policy in a file of Python whose name alone was given; "" if it is none."""
    file = text if text.lower().endswith(".py") else f"{text}.py"
    if (folder / file).is_file():
        return f"for a policy in a file of Python write {file}:NAME, what it is called there"
    if file == text:
        return f"{file} does not exist; write FILE.py:NAME, the path of a Python file and a name in it"
    return ""


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
        description = json.dumps(value.to_dict(), sort_keys=True, default=str)
        arrays = [*value.graph.to_arrays().values(), *value.tuning.to_arrays().values()]
        return digest(description, *arrays)
    if not is_own(value) or getattr(value, "__name__", "<lambda>") == "<lambda>":
        return ""  # of a lambda only the lines are known
    try:
        source = inspect.getsource(value)
    except (OSError, TypeError):
        return ""
    if getattr(value, "__closure__", None) or getattr(value, "__defaults__", None):
        return ""  # what it holds besides its source is not known
    return digest(source)
