"""The codec of saved policies and plans: a JSON header, named arrays, and a digest of both.

The digest finds damage. Against strangers, who can write digests too, there is one schema: whatever is read has a
name, a type, a shape and a range that the reader asks for, nothing may be there that nobody asked for, and nothing
is allocated before its size is known and within a limit. So a stranger's file cannot crash, run code or leave its
arrays; its numbers are its author's.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf, isfinite
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from sidelight import _files
from sidelight._archive import Arrays, what_is
from sidelight._check import MOST_ROUNDS, checked_path
from sidelight.errors import SavedStateError, SidelightError
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition
from sidelight.planning import Details, Plan, Tuning, curve_from_dict
from sidelight.policy.game import Limits

MOST_NESTED = 40
"""How deep a header may be nested."""

OLDER = (
    "older files hold the inner state of the engine of their time: play on with the Sidelight that wrote it"
)

ANY = Limits(-1e150, 1e150)
"""What numbers may be unless more is known: a few of them multiplied still are numbers."""

_Made = TypeVar("_Made", bound="_Arranged")


class _Arranged(Protocol):
    """What can be taken apart into arrays."""

    def to_arrays(self) -> Arrays: ...


def digest(header: Mapping[str, Any], arrays: Arrays) -> str:
    """SHA-256, in hexadecimal, of everything but itself."""
    rest = {name: value for name, value in header.items() if name != "digest"}
    parts: list[Any] = [json.dumps(rest, sort_keys=True)]
    for name in sorted(arrays):
        parts += [f"{name} {arrays[name].dtype.str} {arrays[name].shape}\n", arrays[name]]
    return _files.digest(*parts)


def prefixed(prefix: str, arrays: Arrays) -> Arrays:
    """The same arrays under names that begin so."""
    return {prefix + name: array for name, array in arrays.items()}


def parsed(data: bytes) -> Any:
    """JSON from anywhere: ValueError where it is none, is nested deeply, or has numbers that are not finite."""
    steps = np.frombuffer(data, dtype=np.uint8)
    opening, closing = np.isin(steps, list(b"[{")), np.isin(steps, list(b"]}"))
    if np.cumsum(opening.astype(np.int64) - closing).max(initial=0) > MOST_NESTED:
        raise ValueError("it is nested too deeply")
    return json.loads(data.decode(), parse_constant=_number, parse_float=_number)


def _number(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"{text} is not a number")
    return value


# -- files --------------------------------------------------------------------------------------------------


def written(path: object, data: bytes, what: str) -> None:
    """Save a policy or a plan, replacing the file atomically."""
    file = checked_path(f"a saved {what}", path, SavedStateError)
    try:
        with _files.replacing(file, pack=False) as stream:
            stream.write(data)
    except OSError as error:
        raise SavedStateError(f"cannot save the {what} to {file}: {error.strerror or error}") from error


def bytes_of(path: object, limit: int | None, what: str) -> tuple[bytes, Path, int]:
    """What a file holds, where, and what it may unpack to: `limit`, by default much more than its size."""
    file = checked_path(f"a saved {what}", path, SavedStateError)
    try:
        most = _files.allowed(file, limit)
        if not file.is_file():  # opening a pipe would wait for its writer
            raise SavedStateError(f"{file} is not a saved {what} but {what_is(file)}")
        if file.stat().st_size > most:
            raise SavedStateError(f"{file} is {what_is(file)}: it is longer than the limit of {most:,} bytes")
        return file.read_bytes(), file, most
    except FileNotFoundError:
        raise SavedStateError(f"{file} does not exist") from None
    except OSError as error:
        raise SavedStateError(f"{file} cannot be read: {error.strerror or error}") from error


def most_unpacked(data: bytes) -> int:
    """What bytes may unpack to that are no file."""
    return max(_files.LEAST_LIMIT, _files.TRUSTED_PACKING * len(data))


def header_of(data: bytes, where: Path, what: str, versions: Sequence[int]) -> dict[str, Any]:
    """The header of a saved policy or plan, if it is of one of these versions."""
    try:
        header = parsed(data)
    except (ValueError, RecursionError) as error:
        kind = "an archive: sl.Policy.load reads policies" if data.startswith(b"PK") else "no JSON"
        raise SavedStateError(f"{where} is not a saved {what}: it is {kind} ({error!s:.100})") from None
    if not isinstance(header, dict) or header.get("format") != f"sidelight-{what}":
        raise SavedStateError(f"{where} is not a saved {what}: {what}.save(path) writes one")
    version, writer = header.get("version"), header.get("sidelight")
    if type(version) is not int or version not in versions:
        old = what == "policy" and version in range(1, versions[0])
        raise SavedStateError(
            f"{where} was written by Sidelight {writer!s:.20} in format version {version!s:.20}, and this one reads"
            f" {', '.join(map(str, versions))}; {OLDER if old else 'it may be newer than this one'}"
        )
    return header


class Contents:
    """A file as it is read: each member is checked when it is taken, and all must have been taken."""

    def __init__(self, path: Path, header: dict[str, Any], arrays: Arrays, limit: int, what: str) -> None:
        self.path, self.header, self.limit, self.what = path, header, limit, what
        self.arrays = arrays
        if header.get("digest") != digest(header, arrays):
            raise SavedStateError(f"{path} is damaged: its contents do not match their digest")

    def refuse(self, why: object) -> NoReturn:
        """Raise the error that this file deserves."""
        raise SavedStateError(f"{self.path} is not a consistent saved {self.what}: {why}")

    @contextlib.contextmanager
    def blamed(self) -> Iterator[None]:
        """Every error in here is the file's."""
        try:
            yield
        except SavedStateError:
            raise
        except (SidelightError, KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
            self.refuse(error if isinstance(error, SidelightError) else repr(error))

    # -- the header -----------------------------------------------------------------------------------

    def field(self, name: str, kind: type, fields: Mapping[str, Any] | None = None) -> Any:
        """A field of the header, or of a part of it, that is of exactly this type."""
        value = (self.header if fields is None else fields).get(name)
        if type(value) is not kind:
            self.refuse(f"{name} must be {kind.__name__}, got {value!r:.50}")
        return value

    def count(self, name: str, most: int, fields: Mapping[str, Any] | None = None) -> int:
        """A field that is a number in 0..most."""
        value: int = self.field(name, int, fields)
        if not 0 <= value <= most:
            self.refuse(f"{name} must be in 0..{most}, got {value}")
        return value

    def horizon(self, fields: Mapping[str, Any] | None = None) -> int | None:
        """A number of rounds, or none."""
        if (self.header if fields is None else fields).get("horizon") is None:
            return None
        value = self.count("horizon", MOST_ROUNDS, fields)
        return value if value else self.refuse("the horizon is 0")

    # -- arrays ---------------------------------------------------------------------------------------

    def take(self, name: str, dtype: Any, shape: tuple[int, ...], limits: Limits = ANY) -> Any:
        """The array of this name: of this type and shape, its numbers finite and within limits."""
        array = self.arrays.pop(name, None)
        if array is None:
            self.refuse(f"{name} is missing")
        if array.dtype != dtype or array.shape != shape:
            self.refuse(
                f"{name} must be {np.dtype(dtype)} of shape {shape}, got {array.dtype} of shape {array.shape}"
            )
        numbers = array.dtype.kind in "fi" and array.size
        if numbers and not (limits.least <= array.min() and array.max() <= limits.most):  # also NaN
            self.refuse(f"{name} must be in {limits.least:g}..{limits.most:g}")
        return array

    def taken(self, prefix: str, like: Arrays, limits: Mapping[str, Limits]) -> Arrays:
        """All arrays whose names begin so: types and shapes are those of `like`."""
        return {
            name: self.take(prefix + name, array.dtype, array.shape, limits.get(name, ANY))
            for name, array in like.items()
        }

    def rebuilt(self, prefix: str, make: Callable[[Arrays], _Made]) -> _Made:
        """What `make` makes of the arrays whose names begin so, which must be just how it would be saved."""
        names = [name for name in self.arrays if name.startswith(prefix)]
        given = {name.removeprefix(prefix): self.arrays.pop(name) for name in names}
        result = make(given)
        expected = result.to_arrays()
        for name in given.keys() | expected.keys():
            one, two = given.get(name), expected.get(name)
            if one is None or two is None or one.dtype != two.dtype or not np.array_equal(one, two):
                self.refuse(f"{prefix}{name} is not as Sidelight writes it")
        return result

    def skip(self, prefix: str) -> None:
        """Arrays whose names begin so are of no use here."""
        self.arrays = {name: array for name, array in self.arrays.items() if not name.startswith(prefix)}

    def finish(self) -> None:
        """Refuse arrays that nobody asked for."""
        if self.arrays:
            self.refuse(f"{', '.join(sorted(self.arrays)[:5])} has no meaning here")


# -- plans ------------------------------------------------------------------------------------------------


def plan_header(plan: Plan) -> dict[str, Any]:
    """What a header says of a plan."""
    return {
        "horizon": plan.horizon,
        "realization": plan.realization,
        "choices": list(plan.details.choices),
        "parameters": plan.parameters,
        "bound": plan.curve.to_dict(),
    }


def plan_arrays(plan: Plan) -> Arrays:
    """The graph and the tuning."""
    return prefixed("graph.", plan.graph.to_arrays()) | prefixed("tuning.", plan.tuning.to_arrays())


def read_graph(contents: Contents, prefix: str = "graph.") -> FeedbackGraph:
    """A graph of a file."""
    return contents.rebuilt(prefix, FeedbackGraph.from_arrays)


_PLANS: WeakValueDictionary[str, Plan] = WeakValueDictionary()
"""Plans from files while somebody plays them: a thousand policies of one plan share it."""


def read_plan(contents: Contents, header: Mapping[str, Any]) -> Plan:
    """The plan of a file, which its header describes; its bound is believed."""
    mine = {name: array for name, array in contents.arrays.items() if name.startswith(("graph.", "tuning."))}
    key = digest(header, mine)
    cached = _PLANS.get(key)
    if cached is not None:
        contents.arrays = {name: array for name, array in contents.arrays.items() if name not in mine}
        return cached
    plan = _PLANS[key] = _read_plan(contents, header)
    return plan


def _read_plan(contents: Contents, header: Mapping[str, Any]) -> Plan:
    graph = read_graph(contents)
    if any(name.startswith(("tuning.base.base.", "tuning.base.self_tuning")) for name in contents.arrays):
        contents.refuse("the potential behind a budget has fixed rates, and none behind it")
    tuning = contents.rebuilt("tuning.", Tuning.from_arrays)
    tuning.check_graph(graph)
    _check_base(contents, graph, tuning)
    _check_memory(contents, graph, tuning)
    choices, horizon = contents.field("choices", list, header), contents.horizon(header)
    if not all(isinstance(choice, str) for choice in choices):
        contents.refuse(f"the choices of a plan are a list of names, got {choices!r:.50}")
    rule = tuning.self_tuning
    if rule is not None and rule.horizon != (horizon or 0):
        contents.refuse(f"the plan is for {horizon} rounds, the budget of its rule for {rule.horizon}")
    if rule is None and horizon is None and graph.n_arms > 1:
        contents.refuse("a plan at fixed rates is for some number of rounds, and this one names none")
    curve = curve_from_dict(header["bound"], horizon)
    for t in (1, 1000, 10**9) if horizon is None else (horizon,):
        if not 0 <= curve.at(t).value < inf:
            contents.refuse(f"the bound after {t} rounds is {curve.at(t).value}")
    return Plan(
        graph=graph,
        partition=Partition(graph, np.split(tuning.block_arms, tuning.block_start[1:-1])),
        horizon=horizon,
        realization=contents.field("realization", str, header),
        details=Details(graph, tuple(choices)),
        parameters=contents.field("parameters", dict, header),
        curve=curve,
        tuning=tuning,
    )


def _check_base(contents: Contents, graph: FeedbackGraph, tuning: Tuning) -> None:
    """Refuse a potential behind a budget that the game could not go on with."""
    rule, base = tuning.self_tuning, tuning.base
    table = None if rule is None else rule.base_table
    if base is None and table is None:
        return
    if base is None or table is None or base.n_blocks != 1:
        contents.refuse("the potential behind the budget is not that of the rule")
    base.check_graph(graph)
    recipes = np.array([table.recipe(row) for row in range(table.costs.size)])
    for row in {0, table.best, len(recipes) - 1, *recipes.argmax(axis=0).tolist()}:
        tuning.with_base(row)


def _check_memory(contents: Contents, graph: FeedbackGraph, tuning: Tuning) -> None:
    """Refuse a plan that takes much more memory to play than its file."""
    spread = (tuning.spread > 0).any()
    needed = 16 * int((tuning.cover > 0).sum()) * graph.universal.size if spread else 0
    if needed > contents.limit:
        contents.refuse(
            f"playing it takes {needed:,} bytes of memory, more than the limit of {contents.limit:,}"
        )
