"""Saved policies: one file that holds what the theory needs, without pickle.

Format, version 7. An uncompressed `.npz` archive (a zip of `.npy` arrays, readable by NumPy with
`allow_pickle=False`) with these members:

    header        UTF-8 bytes of a JSON object: format ("sidelight-policy"), version, sidelight (the version
                  that wrote it), digest, kind ("plan", "rule", or "changing": a plan on graphs that change) and what
                  that kind needs; unit (kind, low, high) unless losses in [0, 1] are told
    graph.*       the arrays of a graph, as in .npz graphs (`sidelight.graph.files.npz`)
    state.round   rounds of a plan that it learnt from, of a rule that were decided
    state.open    the arm that was drawn last, if nothing has happened since, or none
    state.words   the random stream
    decisions.*   counts: decisions made, lost (cancelled, or answered too late), the one that was asked for, those
                  that a plan learnt from late;  ids, arms and kept of the open ones, all they need one after another;
                  graphs, where some are on graphs of their own: the number of each one's graph, 0 for the policy's
    graphs.I.*    the arrays of these graphs, I = 1, 2, …
    …             of a plan tuning.* and what it has learnt (`saved_plan`, `saved_changing`), of a rule counts and
                  sums (`rule_policy`)

`digest` is the SHA-256 of the header without it and of the names, types, shapes and bytes of all other members.
Nothing of the engine's own is kept: whoever reads the file rebuilds it, and so does the policy that wrote the file.
Every member is checked for type, shape and range before use, and no member may be there that has no meaning.
The file is written to a temporary name in the same folder, flushed to disk and renamed, so a crash leaves the old
file or the new one. Why it is so: docs/decisions/0004. Version 6, in which no graph changed, is read as well, and so
is version 5, which had no decisions.*: at most the arm that was drawn last is open there.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn, Protocol, TypeVar

import numpy as np

from sidelight import _files
from sidelight._archive import ArchiveError, Arrays, read_arrays, unpack_arrays, what_is
from sidelight._check import MOST_ROUNDS
from sidelight._types import Floats, Longs
from sidelight._version import __version__
from sidelight.engine.random import DRAWS, NEXT_DRAW, STEP
from sidelight.errors import SavedStateError, SidelightError
from sidelight.graph import FeedbackGraph
from sidelight.log.unit import Unit
from sidelight.policy.decision import Draw

FORMAT = "sidelight-policy"
VERSION, ONE_GRAPH, WITHOUT_DECISIONS = 7, 6, 5

MOST_SUM = 1e100
"""More than sums of estimates can reach: what two numbers of 53 bits draw has a probability of 2⁻¹⁰⁶ or more."""
LEAST_DRAWN = 1e-40
"""Less than the probability of anything that a few numbers of 53 bits draw."""
MOST_COUNTED = 2**52
"""Rounds are counted in doubles, which tell whole numbers apart for twice as long."""

_ADVICE = (
    "older files hold the inner state of the engine of their time: play on with the Sidelight that wrote it"
)

_Read = TypeVar("_Read")
_Made = TypeVar("_Made", bound="_Arranged")


class _Arranged(Protocol):
    """What can be taken apart into arrays."""

    def to_arrays(self) -> Arrays: ...


def write(path: Path, graph: FeedbackGraph, about: dict[str, Any], arrays: Arrays) -> None:
    """Save a policy to `path`, replacing it atomically."""
    try:
        with _files.replacing(path, pack=False) as stream:
            pack(stream, graph, about, arrays)
    except OSError as error:
        raise SavedStateError(f"cannot save the policy to {path}: {error.strerror or error}") from error


def pack(stream: IO[bytes], graph: FeedbackGraph, about: dict[str, Any], arrays: Arrays) -> None:
    """Write a saved policy to a stream."""
    members = {f"graph.{name}": array for name, array in graph.to_arrays().items()} | arrays
    header = {"format": FORMAT, "version": VERSION, "sidelight": __version__, **about}
    header["digest"] = digest(header, members)
    encoded = np.frombuffer(json.dumps(header, allow_nan=False).encode(), dtype=np.uint8)
    np.savez(stream, header=encoded, **members)  # type: ignore[arg-type]


def turn_arrays(rounds: int, pending: int, words: Any) -> Arrays:
    """Where a policy stands, as members of a file."""
    return {
        "round": np.array([rounds], dtype=np.int64),
        "open": np.array([pending] if pending >= 0 else [], dtype=np.int64),
        "words": words,
    }


def decision_arrays(made: int, lost: int, asked: int, late: int, draws: Mapping[int, Draw]) -> Arrays:
    """Decisions, as members of a file; one that waits to be told of is not among the open ones but `state.open`."""
    noted = {number: draw for number, draw in draws.items() if draw.kept is not None}
    kept = [draw.kept for draw in noted.values() if draw.kept is not None]
    graphs = {draw.graph.content: draw.graph for draw in noted.values() if draw.graph is not None}
    numbers = {content: 1 + at for at, content in enumerate(graphs)}
    more: Arrays = {}
    if graphs:
        which = [0 if draw.graph is None else numbers[draw.graph.content] for draw in noted.values()]
        more["decisions.graphs"] = np.array(which, dtype=np.int64)
    for content, graph in graphs.items():
        more |= {f"graphs.{numbers[content]}.{name}": array for name, array in graph.to_arrays().items()}
    return more | {
        "decisions.counts": np.array([made, lost, asked if asked in noted else 0, late], dtype=np.int64),
        "decisions.ids": np.array(list(noted), dtype=np.int64),
        "decisions.arms": np.array([draw.arm for draw in noted.values()], dtype=np.int64),
        "decisions.kept": np.concatenate([np.zeros(0), *kept]),
    }


class Decisions(NamedTuple):
    """The decisions of a file."""

    made: int
    lost: int
    asked: int
    late: int
    draws: dict[int, Draw]

    def progress(self) -> dict[str, Any]:
        """What a policy that goes on from here keeps of them."""
        return {"_made": self.made, "_lost": self.lost, "_asked": self.asked, "_open": self.draws}


def digest(header: Mapping[str, Any], arrays: Arrays) -> str:
    """SHA-256, in hexadecimal, of everything but itself."""
    rest = {name: value for name, value in header.items() if name != "digest"}
    parts: list[Any] = [json.dumps(rest, sort_keys=True)]
    for name in sorted(arrays):
        parts += [f"{name} {arrays[name].dtype.str} {arrays[name].shape}\n", arrays[name]]
    return _files.digest(*parts)


def read(path: Path, limit: int | None) -> Contents:
    """The members of a saved policy of this version, undamaged; what they say is checked as it is asked for."""
    try:
        arrays = read_arrays(path, limit)
    except FileNotFoundError as error:
        raise SavedStateError(f"{path} does not exist") from error
    except OSError as error:
        raise SavedStateError(
            f"{path} cannot be read, it is {_looks(path)}: {error.strerror or error}"
        ) from error
    except ArchiveError as error:
        raise SavedStateError(f"{path} cannot be loaded, it is {_looks(path)}: {error}") from error
    return _understood(path, arrays, _files.allowed(path, limit))


def unpack(data: bytes, where: str) -> Contents:
    """`read` of the bytes of such a file; `where` names them in messages."""
    limit = max(_files.LEAST_LIMIT, _files.TRUSTED_PACKING * len(data))
    try:
        arrays = unpack_arrays(io.BytesIO(data), limit)
    except ArchiveError as error:
        raise SavedStateError(f"{where} cannot be loaded: {error}") from error
    return _understood(Path(where), arrays, limit)


def _understood(path: Path, arrays: Arrays, limit: int) -> Contents:
    header = _header(path, arrays)
    if header.get("version") not in (VERSION, ONE_GRAPH, WITHOUT_DECISIONS):
        version, writer = header.get("version"), header.get("sidelight")
        raise SavedStateError(
            f"{path} was written by Sidelight {writer!s:.20} in format version {version!s:.20}, and this one reads"
            f" versions {WITHOUT_DECISIONS} to {VERSION};"
            f" {_ADVICE if version in (1, 2, 3, 4) else 'it may be newer than this one'}"
        )
    if header.get("digest") != digest(header, arrays):
        raise SavedStateError(f"{path} is damaged: its contents do not match their digest")
    return Contents(path, header, arrays, limit)


def _looks(path: Path) -> str:
    try:
        return what_is(path)
    except OSError:
        return "unreadable"


def _header(path: Path, arrays: Arrays) -> dict[str, Any]:
    raw = arrays.pop("header", None)
    if raw is None:
        raise SavedStateError(f"{path} is not a saved policy but {_looks(path)}")
    try:
        header = json.loads(raw.tobytes().decode(), parse_constant=no_number)
    except (ValueError, RecursionError) as error:
        raise SavedStateError(f"{path} is damaged: its header is no JSON ({error})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise SavedStateError(f"{path} is an archive, but not a saved policy")
    return header


def no_number(text: str) -> NoReturn:
    """Refuse the numbers that JSON does not have."""
    raise ValueError(f"{text} is not a number")


class Contents:
    """A saved policy as it is read: each member is checked when it is taken, and all must have been taken."""

    WHAT = "policy"

    def __init__(self, path: Path, header: dict[str, Any], arrays: Arrays, limit: int) -> None:
        self.path, self.header, self.limit = path, header, limit
        self._arrays = arrays
        self.graph: FeedbackGraph

    def refuse(self, why: object) -> NoReturn:
        """Raise the error that this file deserves."""
        raise SavedStateError(f"{self.path} is not a consistent saved {self.WHAT}: {why}")

    def understood(self, kinds: Mapping[str, Callable[[Contents], _Read]]) -> _Read:
        """What the reader of this file's kind makes of it; every error on the way is the file's."""
        try:
            kind = self.text("kind")
            if kind not in kinds:
                self.refuse(f"{kind!r} is no kind of policy")
            self.graph = self.rebuilt("graph.", FeedbackGraph.from_arrays)
            return kinds[kind](self)
        except SavedStateError:
            raise
        except (SidelightError, KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
            self.refuse(error if isinstance(error, SidelightError) else repr(error))

    # -- the header -----------------------------------------------------------------------------------

    def text(self, name: str) -> str:
        """A field of the header that is a string."""
        value = self.header.get(name)
        if not isinstance(value, str):
            self.refuse(f"{name} must be text, got {value!r:.50}")
        return value

    def section(self, name: str) -> dict[str, Any]:
        """A field of the header that is an object."""
        value = self.header.get(name)
        if not isinstance(value, dict):
            self.refuse(f"{name} must be an object, got {value!r:.50}")
        return value

    def unit(self) -> Unit:
        """What is told, and in what range; losses in [0, 1] unless the header says otherwise."""
        value = self.header.get("unit")
        if value is None:
            return Unit()
        if not isinstance(value, dict) or set(value) != {"kind", "low", "high"}:
            self.refuse(f"the unit must have kind, low and high, got {value!r:.50}")
        ends = (value["low"], value["high"])
        if value["kind"] not in ("losses", "rewards") or any(isinstance(end, bool) for end in ends):
            self.refuse(f"{value!r:.80} is no unit")
        try:
            return Unit.of(**{value["kind"]: ends})
        except SidelightError as error:
            self.refuse(error)

    def horizon(self, fields: Mapping[str, Any]) -> int | None:
        """A number of rounds, or none."""
        value = fields.get("horizon")
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_ROUNDS:
            self.refuse(f"the horizon {value!r:.50} is not a number of rounds")
        return value

    # -- arrays ---------------------------------------------------------------------------------------

    def rebuilt(self, prefix: str, make: Callable[[Arrays], _Made]) -> _Made:
        """What `make` makes of the members whose names begin so, which must be just how it would be saved."""
        names = [name for name in self._arrays if name.startswith(prefix)]
        given = {name.removeprefix(prefix): self._arrays.pop(name) for name in names}
        made = make(given)
        expected = made.to_arrays()
        for name in given.keys() | expected.keys():
            one, two = given.get(name), expected.get(name)
            if one is None or two is None or one.dtype != two.dtype or not np.array_equal(one, two):
                self.refuse(f"{prefix}{name} is not as Sidelight writes it")
        return made

    def fingerprint(self, fields: Iterable[str], prefixes: tuple[str, ...]) -> str:
        """A digest of the graph, these fields of the header and the members whose names begin so."""
        about: dict[str, Any] = {"graph": self.graph.content, "labels": self.graph.labels}
        about |= {name: self.header.get(name) for name in fields}
        return digest(about, {name: each for name, each in self._arrays.items() if name.startswith(prefixes)})

    @property
    def members(self) -> Arrays:
        """All arrays that were not taken yet, to be brought up to date."""
        return self._arrays

    def skip(self, prefixes: tuple[str, ...]) -> None:
        """The members whose names begin so have been read before."""
        self._arrays = {name: each for name, each in self._arrays.items() if not name.startswith(prefixes)}

    def floats(
        self, name: str, shape: tuple[int, ...], *, most: float = MOST_SUM, least: float = 0.0
    ) -> Floats:
        """An array of doubles in least..most."""
        array: Floats = self._taken(name, np.dtype(np.float64), shape)
        if not ((array >= least) & (array <= most)).all():  # also NaN
            self.refuse(f"{name} must be in {least:g}..{most:g}")
        return array

    def turn(self, n_arms: int) -> tuple[int, int, Any]:
        """Completed rounds, the pending arm or −1, and the random stream."""
        rounds = int(self._whole("state.round", (1,), 0, MOST_COUNTED)[0])
        size = self._arrays["state.open"].size if "state.open" in self._arrays else 0
        pending = self._whole("state.open", (min(size, 1),), 0, n_arms - 1)
        words = self._taken("state.words", np.dtype(np.uint64), (4,))
        if int(words[STEP]) % 2 == 0 or int(words[DRAWS]) % NEXT_DRAW:
            self.refuse("state.words is no random stream")
        return rounds, int(pending[0]) if pending.size else -1, words

    def decisions(
        self,
        rounds: int,
        pending: int,
        room: Callable[[int], int],
        check: Callable[[int, Floats, FeedbackGraph], bool],
        changing: bool = False,
    ) -> Decisions:
        """Decisions made and open: `rounds` of them were learnt from, `pending` is the arm drawn last, or −1.

        room(degree) is how many numbers are kept of one that reveals so many arms, and check(arm, kept, graph) says
        whether they can have been. Graphs of their own, if `changing`, have the plan's arms.
        """
        waits = int(pending >= 0)
        if self.header["version"] == WITHOUT_DECISIONS:
            made = rounds + waits
            return Decisions(made, 0, made * waits, 0, {made: Draw(pending, 0)} if waits else {})
        counts = self._whole("decisions.counts", (4,), 0, MOST_COUNTED)
        made, lost, asked, late = counts.tolist()
        size = self._arrays["decisions.ids"].size if "decisions.ids" in self._arrays else 0
        ids = self._whole("decisions.ids", (size,), 1, made - waits)
        arms = self._whole("decisions.arms", (size,), 0, self.graph.n_arms - 1)
        graphs = self._graphs(size) if changing else [self.graph] * size
        degrees = [int(graph.out_degree[arm]) for graph, arm in zip(graphs, arms.tolist(), strict=True)]
        ends = np.cumsum([room(degree) for degree in degrees])
        kept = self.floats("decisions.kept", (int(ends[-1]) if size else 0,), least=-1.0)
        if (np.diff(ids) <= 0).any() or (asked and (waits or asked not in ids)):
            self.refuse("decisions.ids must rise, and hold the decision that was asked for")
        if lost + size + waits > made or late > rounds:
            self.refuse(f"of {made} decisions {size + waits} cannot be open, {lost} lost and {late} late")
        draws = {}
        parts = zip(ids.tolist(), arms.tolist(), np.split(kept, ends[:-1]), graphs, strict=False)
        for number, arm, part, graph in parts:
            if not check(arm, part, graph):
                self.refuse(f"decisions.kept of decision {number} are no probabilities of a draw")
            draws[number] = Draw(arm, -1, part.copy(), None if graph is self.graph else graph)
        if waits:
            draws[made] = Draw(pending, 0)
        return Decisions(made, lost, made if waits else asked, late, draws)

    @property
    def late(self) -> int:
        """Answers that came after others, as far as the file can be believed before its decisions are checked."""
        counts = self._arrays.get("decisions.counts")
        return int(counts[3]) if counts is not None and counts.shape == (4,) else 0

    def _graphs(self, size: int) -> list[FeedbackGraph]:
        """The graphs of `size` open decisions: the plan's own, unless the file says otherwise."""
        if "decisions.graphs" not in self._arrays:
            return [self.graph] * size
        which = self._whole("decisions.graphs", (size,), 0, size)
        graphs = [self.graph]
        for at in range(1, int(which.max(initial=0)) + 1):
            graph = self.rebuilt(f"graphs.{at}.", FeedbackGraph.from_arrays)
            if graph.n_arms != self.graph.n_arms:
                self.refuse(f"graph {at} has {graph.n_arms} arms, the policy {self.graph.n_arms}")
            graphs.append(graph)
        return [graphs[at] for at in which.tolist()]

    def _whole(self, name: str, shape: tuple[int, ...], least: int, most: int) -> Longs:
        array: Longs = self._taken(name, np.dtype(np.int64), shape)
        if array.size and not (least <= array.min() and array.max() <= most):
            self.refuse(f"{name} must be in {least}..{most}, got {array[:5].tolist()}")
        return array

    def _taken(self, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
        array = self._arrays.pop(name, None)
        if array is None:
            self.refuse(f"{name} is missing")
        if array.dtype != dtype or array.shape != shape:
            self.refuse(f"{name} must be {dtype} of shape {shape}, got {array.dtype} of shape {array.shape}")
        return array

    def finish(self) -> None:
        """Refuse members that nobody asked for."""
        if self._arrays:
            self.refuse(f"{', '.join(sorted(self._arrays)[:5])} has no meaning here")


def is_share(values: Floats, least: float = 0.0) -> bool:
    """Can these be probabilities, of at least so much?"""
    return bool(((values >= least) & (values <= 1.0 + 1e-9)).all())


def finite_json(value: object) -> bool:
    """Are all numbers in there finite?"""
    if isinstance(value, dict):
        return all(finite_json(item) for item in value.values())
    if isinstance(value, list):
        return all(finite_json(item) for item in value)
    return not isinstance(value, float) or isfinite(value)
