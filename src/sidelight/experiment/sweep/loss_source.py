"""Where the losses of a cell come from: an environment by name, perhaps with files and a hash of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from sidelight._files import digest, file_digest
from sidelight.environment import Environment
from sidelight.environment import names as registry
from sidelight.environment.datasets import dataset_files
from sidelight.errors import ResultsError
from sidelight.graph import FeedbackGraph


@dataclass(frozen=True)
class LossSource:
    """An environment as a spec names it; its files count by their bytes.

    These are the one in its name ("replay:FILE", "FILE.py:FUNCTION"), or all that a data set ("dataset:NAME")
    is read from. What a file of Python imports, and "python:MODULE.FUNCTION", counts by name alone.
    """

    name: str  # as tables and figures show it
    before: str = ""  # the text around the path of the file, or around the name of the data set
    path: Path | None = None
    after: str = ""
    digest: str = ""  # of the files, once they have been read
    data: str = ""  # the name of the data set

    @classmethod
    def from_text(cls, text: str, folder: Path) -> LossSource:
        """The environment in its usual spelling; a file is looked up in `folder`.

        >>> LossSource.from_text(" Gap: 0.2 , 3", Path()).name
        'gap:0.2,3'
        """
        if ".py:" in text:
            file, _, function = (part.strip() for part in text.rpartition(":"))
            return cls(f"{file}:{function}", "", folder / file, f":{function}")
        kind, _, rest = text.partition(":")
        kind = kind.strip().lower().replace("-", "_")
        words = [word.strip() for word in rest.split(",")] if rest.strip() else []
        name = f"{kind}:{','.join(words)}" if words else kind
        if kind == "replay" and words:
            return cls(name, "replay:", folder / words[0], "".join(f",{word}" for word in words[1:]))
        if kind == "dataset" and words:
            return cls(name, "dataset:", None, "".join(f",{word}" for word in words[1:]), data=words[0])
        return cls(name)

    def make(self, graph: FeedbackGraph, horizon: int) -> Environment:
        """The environment for this graph; it may not apply to it."""
        return registry.parse(self._text, graph, horizon)

    def told(self, message: str) -> str:
        """A message about this environment as the spec names it: results do not depend on the folder."""
        return message.replace(self._text, self.name)

    @property
    def _text(self) -> str:
        return self.name if self.path is None else f"{self.before}{self.path}{self.after}"

    def checked(self) -> LossSource:
        """The same source knowing what its files hold."""
        return replace(self, digest=self._found())

    def verify(self) -> None:
        """Refuse files that are not there, or not the same any more."""
        found = self._found()
        if self.digest and found != self.digest:
            what = self.path or f"the data set {self.data!r}"
            raise ResultsError(f"{what} has changed since the sweep began; start the sweep again")

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
