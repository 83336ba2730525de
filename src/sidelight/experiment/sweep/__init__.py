"""Sweeps: a spec, a folder, and an engine that fills the one from the other, on all cores or a cluster."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Generator, Iterator, Mapping
from typing import Any

from sidelight._check import checked_jobs
from sidelight._version import __version__
from sidelight.errors import InvalidOption, WorkerError
from sidelight.experiment.cells import Outcome, Part, collected, here_and_now
from sidelight.experiment.folder import Graphs, ResultsFolder, manifest
from sidelight.experiment.results import Results, results_of
from sidelight.experiment.spec import Spec
from sidelight.experiment.sweep.dask import on_cluster
from sidelight.experiment.sweep.local import GUARD, on_processes


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
    finished seeds.

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
    workers = checked_jobs(jobs)
    address, made_by = _address(engine), {"spec": asked.hash}

    def play(parts: Iterator[Part]) -> Generator[Outcome, None, None]:
        """By workers, and last what only this process can play."""
        staying: list[Part] = []
        travelling = _travelling(parts, staying)
        if address != "":
            yield from on_cluster(list(travelling), made_by, address, workers)
        elif workers > 1:
            yield from on_processes(travelling, made_by, workers)
        else:
            yield from here_and_now(travelling, made_by)
        yield from here_and_now(staying, made_by)

    with ResultsFolder(folder, manifest(asked), asked.text) as store:
        outcomes, damaged = collected(asked, play, store, progress=progress)
    provenance = {"sidelight": __version__, **made_by, "folder": str(folder)}
    return results_of(
        outcomes,
        title=asked.title,
        provenance={**provenance, "redone": damaged} if damaged else provenance,
        graphs=Graphs({source.name: source.build for source in asked.graphs}),
        manifest=manifest(asked),
    )


def _travelling(parts: Iterator[Part], staying: list[Part]) -> Iterator[Part]:
    """Parts that other processes can play, as they are asked for; the rest is `staying`."""
    for part in parts:
        if part.cell.policy.travels:
            yield part
        else:
            staying.append(part)


def _read(spec: object) -> Spec:
    if isinstance(spec, Mapping):
        return Spec.from_dict(spec)
    if isinstance(spec, str | os.PathLike):
        return Spec.read(spec)
    raise InvalidOption(f"a sweep is given by a TOML file, a dict or a Spec, got {spec!r}")


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
