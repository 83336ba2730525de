"""A sweep as data: policies × graphs × environments × horizons, each cell with the same seeds.

Randomness is fixed by construction. The player of seed s draws from `SeedSequence(s)`, the losses of seed s
from `SeedSequence(s, spawn_key=(1,))`; nothing else enters. Hence two policies with the same seed meet the
same losses, seeds are independent of one another, and adding, removing or reordering cells changes the
result of no other cell.

Every mistake is found when a spec is read, before anything runs.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path
from reprlib import Repr
from typing import Any, NoReturn, TypeVar

import numpy as np

from sidelight._check import MOST_ROUNDS, MOST_SEEDS, checked_path, suggestion
from sidelight._files import digest
from sidelight._types import Longs
from sidelight.errors import SidelightError, SpecError, listing
from sidelight.experiment.simulation import logarithmic_checkpoints
from sidelight.experiment.sources import LOOPS, GraphSource, LossSource, PolicySource, Source, is_file
from sidelight.graph import FeedbackGraph

_Value = TypeVar("_Value")
_Named = TypeVar("_Named", bound=Source)

ID_FORMAT = 2
"""Raised when cells of the same content begin to mean something else; 2: the random streams of all players."""
REQUIRED = ("policies", "graphs", "environments", "horizons", "seeds")
FAMILY_KEYS = ("name", "undirected", "loops")
FILE_KEYS = (*FAMILY_KEYS, "n_arms", "named")
MOST_CELLS = 1_000_000
DEFAULT_CHECKPOINTS = 80


@dataclass(frozen=True)
class CellSpec:
    """What one cell is; `id` depends on nothing else."""

    graph: GraphSource
    policy: PolicySource
    environment: LossSource
    horizon: int
    seeds: tuple[int, ...]
    checkpoints: int | tuple[int, ...]  # how many on a logarithmic scale, or which

    @cached_property
    def id(self) -> str:
        """Sixteen hexadecimal digits: a hash of the content."""
        content = {
            "format": ID_FORMAT,
            "graph": self.graph.identity,
            "policy": self.policy.identity,
            "environment": self.environment.identity,
            "horizon": self.horizon,
            "seeds": self.seeds,
            "checkpoints": self.checkpoints,
        }
        return _hash(content)[:16]

    @property
    def rounds(self) -> Longs:
        """The checkpoints as rounds."""
        if isinstance(self.checkpoints, int):
            return logarithmic_checkpoints(self.horizon, self.checkpoints)
        return np.array(self.checkpoints, dtype=np.int64)

    @property
    def names(self) -> dict[str, Any]:
        """What a reader calls this cell, and its id."""
        return {
            "id": self.id,
            "graph": self.graph.name,
            "policy": self.policy.name,
            "environment": self.environment.name,
            "horizon": self.horizon,
        }


@dataclass(frozen=True, repr=False)
class Spec:
    """A whole sweep, valid by construction: made by `Spec.read` or `Spec.from_dict`."""

    policies: tuple[PolicySource, ...]
    graphs: tuple[GraphSource, ...]
    environments: tuple[LossSource, ...]
    horizons: tuple[int, ...]
    seeds: tuple[int, ...]
    checkpoints: int | tuple[int, ...]
    title: str = ""
    text: str = ""  # of the file it was read from

    @classmethod
    def read(cls, path: str | os.PathLike[str], limit: int = 2**20) -> Spec:
        """The spec in a TOML file of at most `limit` bytes; a `SpecError` names file, key and value."""
        file = checked_path("a spec", path, SpecError)
        try:
            with open(file, "rb") as stream:
                content = stream.read(limit + 1)  # whatever it is: a device has no end
            if len(content) > limit:
                raise SpecError(
                    f"{file} is longer than {limit:,} bytes; if it is meant, Spec.read(path, limit=…)"
                )
            text = content.decode("utf-8")
            values = tomllib.loads(text)
        except FileNotFoundError:
            raise SpecError(f"{file} does not exist") from None
        except (OSError, UnicodeDecodeError) as error:
            raise SpecError(f"{file} cannot be read as text: {error}") from None
        except RecursionError:
            raise SpecError(f"{file} is nested too deeply; a spec has lists, and tables in lists") from None
        except ValueError as error:  # also numbers of thousands of digits
            raise SpecError(f"{file} is not valid TOML: {error}") from None
        return _checked(values, file.parent, str(file), text)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], folder: str | os.PathLike[str] = ".") -> Spec:
        """The spec with the keys of the TOML file; files are looked up in `folder`.

        >>> spec = Spec.from_dict({"policies": ["auto", "flat"], "graphs": ["cycle:6"],
        ...                        "environments": ["gap"], "horizons": [1000], "seeds": 5})
        >>> len(spec.cells)
        2
        """
        return _checked(values, checked_path("the folder of the spec", folder, SpecError), "the spec")

    @cached_property
    def cells(self) -> tuple[CellSpec, ...]:
        """Every cell: by graph, then environment, then horizon, then policy."""
        return tuple(
            CellSpec(graph, policy, environment, horizon, self.seeds, self._points(horizon))
            for graph in self.graphs
            for environment in self.environments
            for horizon in self.horizons
            for policy in self.policies
        )

    @cached_property
    def hash(self) -> str:
        """Of the set of cells and their names: order, title, comments and layout do not matter."""
        return _hash(sorted(_known(cell) for cell in self.cells))

    def __repr__(self) -> str:
        kinds = ("policies", "graphs", "environments", "horizons")
        counted = " × ".join(f"{len(getattr(self, kind))} {kind}" for kind in kinds)
        return f"Spec({counted} = {len(self.cells):,} cells of {len(self.seeds):,} seeds)"

    def _points(self, horizon: int) -> int | tuple[int, ...]:
        if isinstance(self.checkpoints, int):
            return self.checkpoints
        return (*(point for point in self.checkpoints if point < horizon), horizon)


def _known(cell: CellSpec) -> list[str]:
    """Its id and its names; a policy that is called what it is needs no other."""
    called = [] if cell.policy.name == cell.policy.identity else [cell.policy.name]
    return [cell.id, cell.graph.name, cell.environment.name, *called]


def _hash(content: object) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return digest(text)


# -- from what is given to a valid spec ----------------------------------------------------------------------


def _checked(values: object, folder: Path, where: str, text: str = "") -> Spec:
    """`values` as a spec, or an error that begins with `where`, then the key, then the value."""
    if not isinstance(values, Mapping):
        raise SpecError(f"{where} must be a table of keys and values, got {shown(values)}")
    reader = Reader(where)
    reader.keys(values, REQUIRED, ("title", "checkpoints"))
    many = REQUIRED[:4]
    counts = [len(reader.entries(key, values[key])) for key in many]
    if (cells := prod(counts)) > MOST_CELLS:
        reader.fail(" × ".join(many), f"at most {MOST_CELLS:,} cells, got {cells:,}; split the spec")
    horizons = reader.listed("horizons", values["horizons"], reader.horizon)
    home = folder.absolute()
    sources, graphs = reader.graphs(values["graphs"], home)
    return Spec(
        policies=reader.policies(values["policies"], home),
        graphs=sources,
        environments=reader.environments(values["environments"], home, graphs, horizons),
        horizons=horizons,
        seeds=reader.seeds(values["seeds"]),
        checkpoints=reader.checkpoints(values.get("checkpoints", DEFAULT_CHECKPOINTS), max(horizons)),
        title=reader.text("title", values.get("title", "")),
        text=text,
    )


_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 200


def shown(value: object) -> str:
    """`value` as errors show it, cut short where it is long or deep."""
    return _SHORT.repr(value)


class Reader:
    """Checks of the values of a spec; every message begins with `where`, if that is given, and the key.

    On the command line `options` says what the keys are called there.
    """

    def __init__(self, where: str = "", options: Mapping[str, str] | None = None) -> None:
        self.where, self.options = where, options or {}

    def fail(self, key: str, message: str) -> NoReturn:
        """Refuse."""
        called = self.options.get(key) or self.options.get(key.partition("[")[0], key)
        raise SpecError(f"{self.where}: {called}: {message}" if self.where else f"{called}: {message}")

    def keys(
        self, table: Mapping[Any, Any], required: Sequence[str], optional: Sequence[str], at: str = ""
    ) -> None:
        """Refuse unknown keys, saying which one was probably meant, then missing ones."""
        allowed = [*required, *optional]
        for key in table:
            if key not in allowed:
                meant = suggestion(str(key), allowed, "keys")
                self.fail(f"{at}{key}", f"unknown key (its value is {shown(table[key])}); {meant}")
        for key in required:
            if key not in table:
                self.fail(f"{at}{key}", "this key is missing")

    def refuse(self, key: str, wanted: str, value: object) -> NoReturn:
        """Refuse a value that is not what is wanted."""
        self.fail(key, f"must be {wanted}, got {shown(value)}")

    def text(self, key: str, value: object) -> str:
        """A text."""
        return value if isinstance(value, str) else self.refuse(key, "a text", value)

    def flag(self, key: str, value: object) -> bool:
        """True or false."""
        return value if isinstance(value, bool) else self.refuse(key, "true or false", value)

    def whole(self, key: str, value: object, least: int, most: int) -> int:
        """A whole number in a range; true and false are none."""
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        return self.refuse(key, f"a whole number from {least} to {most}", value)

    def entries(self, key: str, value: object) -> list[tuple[str, str, Any]]:
        """A list with something in it: place, name and value of each entry. Only policies may be given with names."""
        if isinstance(value, Mapping) and key == "policies":
            listed = [(f"{key}[{name!r}]", str(name), entry) for name, entry in value.items()]
        elif isinstance(value, list | tuple):
            listed = [(f"{key}[{i}]", "", entry) for i, entry in enumerate(value)]
        else:
            self.refuse(key, "a list", value)
        return listed or self.fail(key, "must not be empty")

    def sources(self, key: str, value: object, read: Callable[[str, str, Any], _Named]) -> tuple[_Named, ...]:
        """A list of sources that differ in what they are and in what they are called."""
        sources = tuple(read(*entry) for entry in self.entries(key, value))
        self.distinct(key, [source.known for source in sources], [source.name for source in sources])
        return sources

    def listed(self, key: str, value: object, read: Callable[[str, object], _Value]) -> tuple[_Value, ...]:
        """A list without repetitions, each entry read by `read`."""
        entries = tuple(read(at, entry) for at, _, entry in self.entries(key, value))
        self.distinct(key, entries, entries)
        return entries

    def distinct(self, key: str, identities: Sequence[Hashable], names: Sequence[Hashable]) -> None:
        """Refuse entries with equal identities, then those that are only called alike."""
        for i, j in _repeated(identities):
            same = f"{names[i]!r}" if names[i] == names[j] else f"{names[j]!r} and {names[i]!r}"
            if key in self.options:
                self.fail(key, f"{same} is given twice; leave one out")
            self.fail(f"{key}[{i}]", f"the same as {key}[{j}] ({same}); leave one out")
        for i, j in _repeated(names):
            how = "give a table such as {mine: …, other: …} in place of the list"
            how = f"name them: {how}" if key == "policies" else "give it another name"
            self.fail(f"{key}[{i}]", f"called {names[i]!r} like {key}[{j}]; {how}")

    def tried(self, key: str, make: Callable[..., _Value], *arguments: object) -> _Value:
        """make(*arguments), whose errors are about the key."""
        try:
            return make(*arguments)
        except SidelightError as error:
            self.fail(key, str(error))

    # -- one key each ---------------------------------------------------------------------------------

    def horizon(self, key: str, value: object) -> int:
        """A number of rounds."""
        return self.whole(key, value, 1, MOST_ROUNDS)

    def policies(self, value: object, folder: Path, stored: bool = True) -> tuple[PolicySource, ...]:
        """A list, or a table from what results call each policy to what it is: see `PolicySource.given`.

        If results are `stored` in a folder, what cannot be known again is refused.
        """

        def source(key: str, name: str, entry: Any) -> PolicySource:
            made = self.tried(key, PolicySource.given, entry, folder, name)
            if stored and not made.lasting:
                self.fail(
                    key,
                    f"{made.name} cannot be told from another policy of that name when the folder is read again:"
                    " give a class or a plain function whose source is in a file or a notebook, or FILE.py:NAME",
                )
            return made

        return self.sources("policies", value, source)

    def environments(
        self, value: object, folder: Path, graphs: Sequence[FeedbackGraph], horizons: Sequence[int]
    ) -> tuple[LossSource, ...]:
        """Environments that exist for one graph and horizon at least: elsewhere they do not apply."""

        def source(key: str, name: str, entry: Any) -> LossSource:
            made = LossSource.from_text(self.text(key, entry), folder)
            self.tried(key, _check_anywhere, made, graphs, horizons)
            return made.checked()

        return self.sources("environments", value, source)

    def seeds(self, value: object) -> tuple[int, ...]:
        """A number of seeds 0, 1, …; or a table with `first` and `count`; or the seeds themselves."""
        if isinstance(value, Mapping):
            self.keys(value, ("first", "count"), (), "seeds.")
            count = self.whole("seeds.count", value["count"], 1, MOST_SEEDS)
            first = self.whole("seeds.first", value["first"], 0, MOST_ROUNDS - count)
            return tuple(range(first, first + count))
        if isinstance(value, list | tuple):
            return self.listed("seeds", value, lambda key, seed: self.whole(key, seed, 0, MOST_ROUNDS))
        if isinstance(value, bool) or not isinstance(value, int):
            self.refuse("seeds", "a number of seeds, a list, or a table with first and count", value)
        return tuple(range(self.whole("seeds", value, 1, MOST_SEEDS)))

    def checkpoints(self, value: object, longest: int) -> int | tuple[int, ...]:
        """How many on a logarithmic scale, or the rounds themselves."""
        if isinstance(value, list | tuple):
            points = self.listed("checkpoints", value, lambda key, point: self.whole(key, point, 1, longest))
            return tuple(sorted(points))
        if isinstance(value, bool) or not isinstance(value, int):
            self.refuse("checkpoints", "a number of checkpoints or a list of rounds", value)
        return self.whole("checkpoints", value, 1, 1_000_000)

    def graphs(self, value: object, folder: Path) -> tuple[tuple[GraphSource, ...], list[FeedbackGraph]]:
        """Sources that know what their files hold, and the graphs."""
        graphs = []

        def source(key: str, name: str, entry: Any) -> GraphSource:
            made, graph = self.tried(key, self.source(key, entry, folder).checked)
            graphs.append(graph)
            return made

        return self.sources("graphs", value, source), graphs

    def source(self, key: str, entry: object, folder: Path) -> GraphSource:
        """A family such as "cycle:100", a file, or a table with one of these and options."""
        if isinstance(entry, str):
            entry = {"file" if is_file(entry) else "family": entry}
        if not isinstance(entry, Mapping):
            self.refuse(key, 'a family such as "cycle:100", a file, or a table', entry)
        if ("file" in entry) == ("family" in entry):
            self.fail(key, f"must have either a file or a family, got {listing(list(entry)) or 'neither'}")
        kind = "file" if "file" in entry else "family"
        self.keys(entry, (kind,), FILE_KEYS if kind == "file" else FAMILY_KEYS, f"{key}.")
        text = self.text(f"{key}.{kind}", entry[kind])
        loops = entry.get("loops", "")
        if "loops" in entry and loops not in LOOPS:
            self.refuse(f"{key}.loops", f"one of {', '.join(map(repr, LOOPS))}", loops)
        n_arms, named = entry.get("n_arms"), entry.get("named")
        return GraphSource(
            name=self.text(f"{key}.name", entry.get("name", text)),
            family=text if kind == "family" else "",
            path=folder / text if kind == "file" else None,
            undirected=self.flag(f"{key}.undirected", entry.get("undirected", False)),
            loops=loops,
            n_arms=None if n_arms is None else self.whole(f"{key}.n_arms", n_arms, 1, 2**31 - 1),
            named=None if named is None else self.flag(f"{key}.named", named),
        )


def _repeated(values: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Where each value stands that is not the first of its kind, and where that does."""
    first: dict[Hashable, int] = {}
    for i, value in enumerate(values):
        if (j := first.setdefault(value, i)) != i:
            yield i, j


def _check_anywhere(source: LossSource, graphs: Sequence[FeedbackGraph], horizons: Sequence[int]) -> None:
    """Refuse an environment that exists for no graph and horizon, as it does for the first."""
    errors = []
    for graph, horizon in product(graphs, horizons):
        try:
            source.make(graph, horizon)
            return
        except SidelightError as error:
            errors.append(error)
    raise errors[0]
