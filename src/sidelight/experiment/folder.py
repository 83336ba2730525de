"""A folder of results that survives anything: every file in it is whole, or not there.

    manifest.json          what the sweep is: written first, never changed
    spec.toml              the spec as it was read, if it came from a file
    cells/<id>.parquet     one per finished cell
    parts/<id>-*.parquet   finished seeds of cells that are not finished, each file like that of a cell
    graphs/<digest>.npz    each graph, named after what it holds, so that the report can be written again
    graphs/names.json      what the results call them
    timings.jsonl          one line per finished cell; the only file that differs from run to run
    .lock                  held while a sweep is writing

Only the process that runs the sweep writes here, never its workers.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sidelight._check import checked_path, written
from sidelight._files import digest, locked, replacing
from sidelight._version import __version__
from sidelight.errors import ResultsError, SpecChanged, listing
from sidelight.experiment.parquet import decode, encode
from sidelight.experiment.results import Absent, Cell, Results, joined
from sidelight.experiment.sources import GraphSource
from sidelight.experiment.spec import Spec
from sidelight.graph import FeedbackGraph, read_graph, write_graph

FORMAT = 1
ENTRY = {"id": str, "graph": str, "policy": str, "environment": str, "horizon": int}
"""What a manifest says of each cell."""
TEMPORARY = ".sidelight-*.tmp"  # what `replacing` leaves behind when its process is killed
PARTS, GRAPHS = "parts", "graphs"
FLUSH_SECONDS = 5.0
"""How often finished seeds of unfinished cells reach the disk; an interrupt writes all of them."""

CONTINUED = "finished cells are kept, run this again once it is put right, or give another folder"


class ResultsFolder:
    """The results of one spec, open for writing; a context manager that holds the lock."""

    def __init__(
        self, folder: str | os.PathLike[str], manifest: dict[str, Any], text: str = "", then: str = CONTINUED
    ) -> None:
        self.then = then  # what to do where nothing can be written
        self.folder = checked_path("the folder of results", folder, ResultsError)
        self.manifest, self.text = manifest, text  # the spec as it was read
        self.cells = self.folder / "cells"
        self._held = contextlib.ExitStack()
        self._unwritten: dict[str, list[Cell]] = {}
        self._flushed = time.monotonic()

    def __enter__(self) -> ResultsFolder:
        with _explained(self.folder, "give another folder"):
            self.cells.mkdir(parents=True, exist_ok=True)
            self._held.enter_context(_locked(self.folder))
            try:
                self._adopt()
            except BaseException:
                self._held.close()
                raise
        return self

    def __exit__(self, *exception: object) -> None:
        self._flush()
        self._held.close()

    def finished(self) -> tuple[dict[str, Cell | Absent], list[str]]:
        """Finished cells by id, and the ids of files too damaged to be used: they are to be redone."""
        timings, outcomes, damaged = _timings(self.folder), {}, []
        for id in (entry["id"] for entry in self.manifest["cells"]):
            try:
                outcome = _read(self.folder, id, timings)
            except ResultsError:
                damaged.append(id)
                continue
            if outcome is not None:
                outcomes[id] = outcome
        return outcomes, damaged

    def write(self, outcome: Cell | Absent) -> None:
        """Keep a finished cell; on any error (a full disk) nothing that was there is touched."""
        data = encode(outcome)
        with _explained(self.folder, self.then):
            if isinstance(outcome, Cell):  # first, so that a cell is never without its timing
                line = {"id": outcome.id, "nanoseconds_per_round": outcome.nanoseconds_per_round}
                with open(self.folder / "timings.jsonl", "a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
            with replacing(self.cells / f"{outcome.id}.parquet", pack=False) as target:
                target.write(data)
            self._forget(outcome.id)

    def parts(self) -> dict[str, list[Cell]]:
        """Finished seeds of unfinished cells, by id."""
        return read_parts(self.folder)

    def keep(self, part: Cell) -> None:
        """Keep finished seeds of a cell until it is finished; where nothing can be written they are lost."""
        self._unwritten.setdefault(part.id, []).append(part)
        if time.monotonic() - self._flushed >= FLUSH_SECONDS:
            self._flush()

    def _flush(self) -> None:
        unwritten, self._unwritten, self._flushed = self._unwritten, {}, time.monotonic()
        with contextlib.suppress(OSError):  # a full disk is noticed where cells are written
            for id, parts in unwritten.items():
                part = joined(parts, sorted(int(seed) for each in parts for seed in each.seeds))
                (self.folder / PARTS).mkdir(exist_ok=True)
                with replacing(self.folder / PARTS / f"{id}-{part.seeds[0]}.parquet", pack=False) as target:
                    target.write(encode(part))

    def _forget(self, id: str) -> None:
        """Delete the parts of a cell, and a folder that is empty without them."""
        self._unwritten.pop(id, None)
        for file in (self.folder / PARTS).glob(f"{id}-*.parquet"):
            file.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # it is not empty, or was never made
            (self.folder / PARTS).rmdir()

    def _adopt(self) -> None:
        """Make the folder this spec's own, or refuse to touch what is not."""
        file = self.folder / "manifest.json"
        if file.exists():
            self._extend(_manifest(self.folder))
        elif any(self.cells.glob("*.parquet")):
            raise ResultsError(
                f"{self.folder} holds cells but no manifest.json, so it is unknown what they are of; give another"
                " folder, or delete this one to start anew"
            )
        for stray in (
            file for place in ("", "cells", PARTS) for file in (self.folder / place).glob(TEMPORARY)
        ):
            stray.unlink(missing_ok=True)
        with open(self.folder / "timings.jsonl", "ab+") as timings:
            timings.seek(max(0, timings.tell() - 1))
            if timings.read(1) not in (b"", b"\n"):
                timings.write(b"\n")  # ends what a killed run left half written
        if not file.exists() or _manifest(self.folder)["spec"] != self.manifest["spec"]:
            if self.text:
                with replacing(self.folder / "spec.toml", pack=False) as target:
                    target.write(self.text.encode())
            with replacing(file, pack=False) as target:
                text = json.dumps(self.manifest, indent=1, ensure_ascii=False)
                target.write(text.encode() + b"\n")

    def _extend(self, old: dict[str, Any]) -> None:
        """May this spec go on with what the folder holds? Whatever has results must still be asked for.

        Except for a policy of one's own that has changed since: its older results go.
        """
        wanted = {entry["id"]: entry for entry in self.manifest["cells"]}
        unwanted = [entry for entry in old["cells"] if wanted.get(entry["id"]) != entry]
        stored = [entry for entry in unwanted if (self.cells / f"{entry['id']}.parquet").exists()]
        changed = set(old.get("own") or ()) & set(self.manifest.get("own") or ())
        played = {_place(entry) for entry in self.manifest["cells"]}
        stale = [entry for entry in stored if entry["policy"] in changed and _place(entry) in played]
        if len(stale) < len(stored) or old["sidelight"] != __version__:
            raise SpecChanged(_refusal(self.folder, old, self.manifest))
        for entry in stale:
            (self.cells / f"{entry['id']}.parquet").unlink()
        for entry in unwanted:
            self._forget(entry["id"])


def _place(entry: dict[str, Any]) -> tuple[Any, ...]:
    """What a cell is by its names."""
    return tuple(entry[name] for name in ENTRY if name != "id")


def read_results(folder: str | os.PathLike[str]) -> Results:
    """What has been written to `folder` so far, in the order of its spec; damaged files are errors."""
    root = checked_path("the folder of results", folder, ResultsError)
    manifest, timings, parts = _manifest(root), _timings(root), read_parts(root)
    cells, absent = [], []
    for entry in manifest["cells"]:
        outcome = _read(root, entry["id"], timings)
        if isinstance(outcome, Cell):
            cells.append(outcome)
        elif outcome is not None:
            absent.append(outcome)
        else:
            played = sum(len(part.seeds) for part in parts.get(entry["id"], ()))
            reason = left_undone(played, len(manifest.get("seeds") or ()))
            absent.append(Absent(**entry, status="interrupted", reason=reason))
    provenance = {"sidelight": manifest["sidelight"], "spec": manifest["spec"], "folder": str(root)}
    return Results(tuple(cells), manifest["title"], provenance, tuple(absent), kept_graphs(root), manifest)


def read_parts(folder: Path) -> dict[str, list[Cell]]:
    """Finished seeds of unfinished cells, by id; files that are damaged do not count."""
    parts: dict[str, list[Cell]] = {}
    for file in sorted((folder / PARTS).glob("*-*.parquet")):
        with contextlib.suppress(OSError, ResultsError):
            part = decode(file.read_bytes(), str(file))
            if isinstance(part, Cell) and part.id == file.stem.partition("-")[0]:
                parts.setdefault(part.id, []).append(part)
    return parts


def left_undone(played: int, seeds: int) -> str:
    """How far a cell is that has no file of its own.

    >>> left_undone(3, 6)
    '3 of its 6 seeds are finished and kept; the same command or call continues'
    """
    far = f"{played} of its {seeds} seeds are finished and kept" if played else "not played yet"
    return f"{far}; the same command or call continues"


def write_cells(folder: str | os.PathLike[str], results: Results) -> None:
    """Cells of results that were not played into this folder, as if they had been; others are there already."""
    lasting = [cell for cell in results.absent if cell.status == "not applicable"]
    outcomes: list[Cell | Absent] = [*results.cells, *lasting]
    with ResultsFolder(
        folder, results.manifest or _described(results), then="put this right, or give another folder"
    ) as store:
        present, _ = store.finished()
        for outcome in outcomes:
            if outcome.id not in present:
                store.write(outcome)


def _described(results: Results) -> dict[str, Any]:
    """A manifest of results that were put together by hand."""
    cells = [cell.names for cell in (*results.cells, *results.absent)]
    content = digest(json.dumps(sorted(cells, key=lambda entry: str(entry["id"])), sort_keys=True))
    header = {"format": FORMAT, "sidelight": __version__, "spec": content, "title": results.title}
    return {**header, "cells": cells}


def manifest(spec: Spec) -> dict[str, Any]:
    """What a sweep is, in plain values."""
    return {
        "format": FORMAT,
        "sidelight": __version__,
        "spec": spec.hash,
        "title": spec.title,
        "policies": [policy.name for policy in spec.policies],
        "own": {policy.name: policy.identity for policy in spec.policies if policy.own},
        "graphs": {graph.name: dict(graph.identity) for graph in spec.graphs},
        "environments": {source.name: source.identity for source in spec.environments},
        "horizons": list(spec.horizons),
        "seeds": list(spec.seeds),
        "checkpoints": spec.checkpoints if isinstance(spec.checkpoints, int) else list(spec.checkpoints),
        "cells": [cell.names for cell in spec.cells],
    }


def _read(folder: Path, id: str, timings: dict[str, float]) -> Cell | Absent | None:
    """The cell of this id, None if there is none; an error if its file is not what it should be."""
    file = folder / "cells" / f"{id}.parquet"
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ResultsError(f"{file} cannot be read: {error.strerror or error}") from error
    outcome = decode(data, str(file), timings.get(id, float("nan")))
    if outcome.id != id:
        raise ResultsError(f"{file} holds the cell {outcome.id}; delete it and run the sweep again")
    return outcome


def _manifest(folder: Path) -> dict[str, Any]:
    file = folder / "manifest.json"
    try:
        manifest = json.loads(file.read_bytes())
        if not isinstance(manifest, dict) or manifest["format"] != FORMAT:
            raise ValueError("unknown format")
        _, _, _, cells = (manifest[key] for key in ("sidelight", "spec", "title", "cells"))
        if not isinstance(cells, list):
            raise ValueError(f"cells is not a list but {cells!r:.40}")
        for i, entry in enumerate(cells):
            if {key: type(value) for key, value in entry.items()} != ENTRY:
                raise ValueError(f"cells[{i}] is no description of a cell: {entry!r:.40}")
            if not re.fullmatch(r"\w+", entry["id"]):  # it becomes the name of a file
                raise ValueError(f"cells[{i}] has the id {entry['id']!r:.40}")
    except FileNotFoundError:
        raise ResultsError(f"{folder} holds no results: there is no manifest.json") from None
    except OSError as error:
        raise ResultsError(f"{file} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ResultsError(
            f"{file} is damaged or of another version ({error}); give another folder, or delete this one to"
            " start anew"
        ) from error
    return manifest


def _timings(folder: Path) -> dict[str, float]:
    """Nanoseconds per round by id; lines that a killed run left half written do not count."""
    timings: dict[str, float] = {}
    with contextlib.suppress(OSError, UnicodeDecodeError):
        for line in (folder / "timings.jsonl").read_text(encoding="utf-8").splitlines():
            with contextlib.suppress(ValueError, KeyError, TypeError):
                entry = json.loads(line)
                timings[entry["id"]] = float(entry["nanoseconds_per_round"])
    return timings


def _refusal(folder: Path, old: dict[str, Any], new: dict[str, Any]) -> str:
    """What differs between two manifests, and what to do about it."""
    changes = []
    if old["sidelight"] != new["sidelight"]:
        changes.append(f"sidelight was {old['sidelight']} and is {new['sidelight']}")
    for key in ("policies", "own", "graphs", "environments", "horizons", "seeds", "checkpoints"):
        before, after = _by_name(old.get(key)), _by_name(new.get(key))
        for what, names in (
            ("added {}", [name for name in after if name not in before]),
            ("removed {}", [name for name in before if name not in after]),
            (
                "{} is not what it was",
                [name for name in after if before.get(name, after[name]) != after[name]],
            ),
        ):
            changes += [f"{key}: {what.format(listing(names))}"] * bool(names)
    if not changes:
        changes.append("the same description now means other cells")
    return (
        f"{folder} holds results of another spec ({'; '.join(changes)}). Give another folder, or ask for everything"
        f" that this one holds and for more, or delete {folder} to start anew"
    )


def _by_name(values: Any) -> dict[str, Any]:
    """What a manifest has under a key, a table, a list, one value or nothing, by how it is shown."""
    if isinstance(values, dict):
        return {repr(name): value for name, value in values.items()}
    return {
        repr(value): None
        for value in (values if isinstance(values, list) else [values] * (values is not None))
    }


@contextlib.contextmanager
def _explained(folder: Path, then: str) -> Iterator[None]:
    """Errors of the file system as `ResultsError` that say what to do `then`."""
    try:
        yield
    except OSError as error:
        raise ResultsError(f"cannot write to {folder}: {error.strerror or error}; {then}") from error


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; the operating system lets go of it however this process ends."""
    with locked(folder / ".lock") as ours:
        if not ours:
            raise ResultsError(
                f"another sweep is writing to {folder}; wait until it has ended, or give another folder"
            )
        yield


# -- graphs -----------------------------------------------------------------------------------------------


class Graphs(Mapping[str, FeedbackGraph]):
    """Graphs by the names that results give them, each made when it is first asked for."""

    def __init__(self, makers: Mapping[str, Callable[[], FeedbackGraph]]) -> None:
        self._makers, self._made = dict(makers), dict[str, FeedbackGraph]()

    def __getitem__(self, name: str) -> FeedbackGraph:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __repr__(self) -> str:
        return f"Graphs({', '.join(map(repr, self._makers))})"


def source_in(folder: Path, name: str, graph: FeedbackGraph) -> GraphSource:
    """The graph as a cell of `folder` names it, where `store_graph` will put it."""
    digest = graph.digest
    return GraphSource(name, path=_graph_file(folder, digest).absolute(), digest=digest)


def store_graph(folder: Path, graph: FeedbackGraph) -> Path:
    """The file with the graph, written if need be; reports do not show it before `keep_graph` names it."""
    file = _graph_file(folder, graph.digest)
    with written(folder):
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.is_file():
            write_graph(graph, file)
    return file


def keep_graph(folder: Path, name: str, graph: FeedbackGraph) -> None:
    """Store the graph as what results call `name`: only in a folder that a sweep has accepted."""
    file = store_graph(folder, graph)
    index = file.with_name("names.json")
    with written(folder):
        names = _graph_names(index)
        if names.get(name) != file.name:
            with replacing(index, pack=False) as stream:
                stream.write(json.dumps(names | {name: file.name}, indent=1, ensure_ascii=False).encode())


def kept_graphs(folder: Path) -> Graphs:
    """The stored graphs by name."""
    place = folder / GRAPHS
    return Graphs(
        {name: partial(read_graph, place / file) for name, file in _graph_names(place / "names.json").items()}
    )


def _graph_file(folder: Path, digest: str) -> Path:
    return folder / GRAPHS / f"{digest[:16]}.npz"


def _graph_names(index: Path) -> dict[str, str]:
    try:
        names = json.loads(index.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return {str(name): str(file) for name, file in names.items()} if isinstance(names, dict) else {}
