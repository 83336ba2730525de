"""Sweeps: a spec, a folder, and an engine that fills the one from the other."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from sidelight._check import checked_count
from sidelight._progress import Progress
from sidelight._version import __version__
from sidelight.errors import InvalidOption, WorkerError
from sidelight.experiment.results import Absent, Cell, Results
from sidelight.experiment.sweep.cell import Outcome, absent
from sidelight.experiment.sweep.dask import on_cluster
from sidelight.experiment.sweep.folder import ResultsFolder, left_undone, manifest
from sidelight.experiment.sweep.graphs import Graphs
from sidelight.experiment.sweep.local import GUARD, in_process, on_processes
from sidelight.experiment.sweep.pieces import Pieces
from sidelight.experiment.sweep.spec import CellSpec, Spec


def sweep(
    spec: Spec | Mapping[str, Any] | str | os.PathLike[str],
    folder: str | os.PathLike[str],
    engine: str = "local",
    jobs: int | None = None,
    progress: bool | None = None,
) -> Results:
    """Play every cell of `spec` that `folder` does not hold yet; return all of them.

    Running it again continues where it stopped, however that was, and ends with the same files byte for byte.
    A folder with results of another spec is refused (`SpecChanged`), a damaged file is played again. A policy
    that does not apply to a graph, or a cell whose workers keep dying, ends no sweep: `Results.absent` lists
    them with the reason. Ctrl-C returns what is done, and keeps what was played of the cells that it stopped: their
    finished seeds, and of the others the rounds so far, unless a policy of one's own played them.

    Args:
        spec: a TOML file, a dict with the same keys, or a `Spec`.
        folder: where results are kept, one parquet file per cell; made if need be.
        engine: "local" for processes on this machine, "dask" for a Dask cluster started here,
            "tcp://host:port" or "dask://host:port" for the scheduler of a running one.
        jobs: worker processes of an engine on this machine, all cores by default; 1 plays in this process.
        progress: show a bar with the time left; by default only at a terminal.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise WorkerError(f"a worker must not start a sweep of its own; {GUARD}")
    asked = spec if isinstance(spec, Spec) else _read(spec)
    workers = _cores() if jobs is None else checked_count("jobs", jobs)
    address = _address(engine)
    with ResultsFolder(folder, manifest(asked), asked.text) as store, contextlib.ExitStack() as held:
        found, damaged = store.finished()
        waiting = [cell for cell in asked.cells if cell.id not in found]
        pieces = held.enter_context(contextlib.closing(Pieces(store.folder)))
        rounds = {cell.id: cell.horizon * len(cell.seeds) for cell in asked.cells}  # horizons differ
        played = sum(rounds[id] for id in found if id in rounds)
        with (
            Progress("sweeping", sum(rounds.values()), progress) as bar,
            contextlib.suppress(KeyboardInterrupt),
        ):
            if waiting:
                bar.update(played, f"{len(found)}/{len(rounds)} cells")
            outcomes = _outcomes(_grouped(waiting), asked.hash, address, workers, pieces)
            with contextlib.closing(outcomes):
                for outcome in outcomes:
                    if isinstance(outcome, Cell) or outcome.status == "not applicable":
                        store.write(outcome)
                        pieces.drop(outcome.id)
                    found[outcome.id] = outcome
                    played += rounds[outcome.id]
                    bar.update(played, f"{len(found)}/{len(rounds)} cells")
    ordered = [found.get(cell.id) or _interrupted(cell, pieces) for cell in asked.cells]
    provenance = {"sidelight": __version__, "spec": asked.hash, "folder": str(folder)}
    return Results(
        cells=tuple(outcome for outcome in ordered if isinstance(outcome, Cell)),
        title=asked.title,
        provenance={**provenance, "redone": damaged} if damaged else provenance,
        absent=tuple(outcome for outcome in ordered if isinstance(outcome, Absent)),
        graphs=Graphs({source.name: source.build for source in asked.graphs}),
        manifest=manifest(asked),
    )


def _read(spec: object) -> Spec:
    if isinstance(spec, Mapping):
        return Spec.from_dict(spec)
    if isinstance(spec, str | os.PathLike):
        return Spec.read(spec)
    raise InvalidOption(f"a sweep is given by a TOML file, a dict or a Spec, got {spec!r}")


def _interrupted(cell: CellSpec, pieces: Pieces) -> Absent:
    about = (len(pieces.of(cell.id)), len(cell.seeds), pieces.count_games(cell.id))
    return absent(cell, "interrupted", left_undone(*about))


def _address(engine: object) -> str | None:
    """ "" for this machine, None for a Dask cluster to be started, else where its scheduler is."""
    if engine == "local":
        return ""
    if engine == "dask":
        return None
    kind, mark, place = engine.partition("://") if isinstance(engine, str) else ("", "", "")
    if mark and place and kind in ("dask", "tcp", "tls", "ws", "wss"):
        return f"{'tcp' if kind == 'dask' else kind}://{place}"
    raise InvalidOption(
        f'unknown engine {engine!r}; use "local", "dask", or the address of a scheduler, "tcp://host:port"'
    )


def _outcomes(
    cells: Sequence[CellSpec], spec_hash: str, address: str | None, jobs: int, pieces: Pieces
) -> Generator[Outcome, None, None]:
    """Cells as they are finished: by workers, and last those that only this process can play."""
    travelling = [cell for cell in cells if cell.policy.travels]
    staying = [cell for cell in cells if not cell.policy.travels]
    if not travelling:
        yield from ()
    elif address != "":
        yield from on_cluster(travelling, spec_hash, address, jobs)
    elif jobs == 1:
        yield from in_process(travelling, spec_hash, pieces)
    else:
        yield from on_processes(travelling, spec_hash, jobs, pieces)
    yield from in_process(staying, spec_hash, pieces)


def _grouped(cells: Sequence[CellSpec]) -> list[CellSpec]:
    """Cells that share their graph and their plan side by side, so that a worker makes these once."""
    first = {cell.graph: i for i, cell in reversed(list(enumerate(cells)))}
    return sorted(cells, key=lambda cell: (first[cell.graph], cell.horizon, cell.policy.name))


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
