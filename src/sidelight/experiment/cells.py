"""Cells, from what they are to their numbers: the same in every process and on every machine.

A cell is played in parts, some of its seeds at a time. A part is what a worker plays at once, what an interrupt may
cost, and what a folder keeps of a cell until all of its seeds are there.
"""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sidelight._progress import Progress
from sidelight._version import __version__
from sidelight.engine._numba.interrupts import interrupts_kept
from sidelight.errors import (
    IllegalPartition,
    InfeasibleRequest,
    InvalidOption,
    MissingData,
    PolicyError,
    UnobservableGraph,
)
from sidelight.experiment.folder import ResultsFolder, left_undone
from sidelight.experiment.results import Absent, Cell, Status, cell_of, joined
from sidelight.experiment.run import MOST_NUMBERS, MOST_OF_SEED
from sidelight.experiment.simulation import simulate
from sidelight.experiment.sources import PolicySource, built
from sidelight.experiment.spec import CellSpec, Spec
from sidelight.graph import FeedbackGraph

Outcome = Cell | Absent

UNFIT = (InfeasibleRequest, UnobservableGraph, IllegalPartition)
"""What a policy or an environment says that cannot be played on this graph, whatever is tried."""
MOST_SEEDS = MOST_NUMBERS // MOST_OF_SEED
"""Of a part: with more, plays would be kept at fewer checkpoints, and parts of one cell at different ones."""
PART_ROUNDS = 1_000_000
"""Of a part, unless a single seed has more: a second or so."""


class Part(NamedTuple):
    """Some seeds of a cell."""

    cell: CellSpec
    seeds: tuple[int, ...]


Play = Callable[[Iterator[Part]], Generator[Outcome, None, None]]
"""Plays parts, and gives what came of each: the cell with these seeds, or with fewer before an interrupt."""


def execute(
    part: Part,
    provenance: dict[str, str],
    shipped: FeedbackGraph | None = None,
    jobs: int = 1,
    progress: bool | None = False,
) -> Outcome:
    """Play some seeds of a cell; the record of those that were finished.

    A policy or an environment that refuses the graph or the horizon makes the cell "not applicable", for good;
    anything else that goes wrong, missing data among it, makes it "failed", to be tried again. `shipped` is the
    graph for a worker that cannot reach its file.
    """
    cell, made_by = part.cell, {**here(), **provenance}
    try:
        graph = built(cell.graph) if shipped is None else shipped
        cell.environment.verify()
        try:
            environment = cell.environment.make(graph, cell.horizon)
            environment.check_horizon(cell.horizon)
            policy = _made(cell.policy, graph, cell.horizon)
        except InvalidOption as error:
            if not _lasting(error):
                raise
            raise InfeasibleRequest(str(error)) from error
        options: dict[str, Any] = {"checkpoints": cell.rounds, "jobs": jobs, "progress": progress}
        run = simulate(policy, environment, part.seeds, cell.horizon, **options)
    except UNFIT as error:
        return absent(cell, "not applicable", cell.environment.in_words_of_spec(str(error)), made_by)
    except PolicyError as error:
        return absent(cell, "failed", str(error), made_by)
    except Exception as error:
        return absent(cell, "failed", f"{type(error).__name__}: {error}", made_by)
    return cell_of(run, made_by, **cell.names)


def here_and_now(
    parts: Iterable[Part], provenance: dict[str, str], jobs: int = 1, progress: bool | None = False
) -> Generator[Outcome, None, None]:
    """One part after the other, in this process."""
    for part in parts:
        outcome = execute(part, provenance, None, jobs, progress)
        finished = len(part.seeds) if isinstance(outcome, Absent) else len(outcome.seeds)
        if finished:
            yield outcome
        if finished < len(part.seeds):
            raise KeyboardInterrupt  # simulate has returned what it had


def collected(
    spec: Spec,
    play: Play,
    store: ResultsFolder | None = None,
    part_rounds: int = PART_ROUNDS,
    progress: bool | None = False,
) -> tuple[list[Outcome], list[str]]:
    """Every cell of `spec` in its order, played unless `store` has it; and the ids of damaged files.

    Ctrl-C ends it early: what was finished is returned, and in `store`.
    """
    done, damaged = ({}, []) if store is None else store.finished()
    parts = {} if store is None else store.parts()
    seeds = {id: {int(seed) for part in finished for seed in part.seeds} for id, finished in parts.items()}
    waiting = [
        part
        for cell in _grouped([cell for cell in spec.cells if cell.id not in done])
        for part in _divided(cell, seeds.get(cell.id, set()), part_rounds)
    ]
    rounds = {cell.id: cell.horizon * len(cell.seeds) for cell in spec.cells}  # horizons differ
    played = sum(rounds.values()) - sum(part.cell.horizon * len(part.seeds) for part in waiting)
    cells = {cell.id: cell for cell in spec.cells}
    with Progress("sweeping", sum(rounds.values()), progress) as bar, contextlib.ExitStack() as held:
        held.enter_context(contextlib.suppress(KeyboardInterrupt))
        if waiting:
            bar.update(played, f"{len(done)}/{len(cells)} cells")
        # what is settled meanwhile, because a part of it has failed or does not apply, need not be played
        outcomes = held.enter_context(contextlib.closing(play(p for p in waiting if p.cell.id not in done)))
        for outcome in outcomes:
            # An interrupt halfway would leave a cell that counts as finished and has no file, or the reverse.
            with interrupts_kept():
                played += _taken(outcome, cells[outcome.id], done, parts, store)
            bar.update(played, f"{len(done)}/{len(cells)} cells")
    undone = "stopped before it was finished"
    for cell in spec.cells:
        if cell.id not in done:
            count = sum(len(part.seeds) for part in parts.get(cell.id, ()))
            reason = undone if store is None else left_undone(count, len(cell.seeds))
            done[cell.id] = absent(cell, "interrupted", reason)
    return [done[cell.id] for cell in spec.cells], damaged


def _taken(
    outcome: Outcome,
    cell: CellSpec,
    done: dict[str, Outcome],
    parts: dict[str, list[Cell]],
    store: ResultsFolder | None,
) -> int:
    """Add what came of a part to finished cells or to parts of others, and to `store`; how many rounds it played."""
    if isinstance(outcome, Absent):
        done[cell.id] = outcome
        if store is not None and outcome.status == "not applicable":
            store.write(outcome)
        return 0
    finished = parts.setdefault(cell.id, [])
    finished.append(outcome)
    if sum(len(part.seeds) for part in finished) == len(cell.seeds):
        done[cell.id] = whole = joined(parts.pop(cell.id), cell.seeds)
        if store is not None:
            store.write(whole)
    elif store is not None:
        store.keep(outcome)
    return cell.horizon * len(outcome.seeds)


def absent(cell: CellSpec, status: Status, reason: str, provenance: dict[str, Any] | None = None) -> Absent:
    """The record of a cell without numbers."""
    return Absent(**cell.names, status=status, reason=reason, provenance=provenance or {})


@lru_cache(maxsize=1)
def here() -> dict[str, str]:
    """What made a result: the versions that decide about it, of the process that calls this."""
    import numba
    import numpy

    return {
        "sidelight": __version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "numba": numba.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
    }


def _divided(cell: CellSpec, played: set[int], rounds: int) -> list[Part]:
    """The seeds that are left, in parts of about so many rounds."""
    left = [seed for seed in cell.seeds if seed not in played]
    size = min(max(rounds // cell.horizon, 1), MOST_SEEDS)
    return [Part(cell, tuple(left[i : i + size])) for i in range(0, len(left), size)]


def _grouped(cells: Sequence[CellSpec]) -> list[CellSpec]:
    """Cells that share their graph and their plan side by side, so that a worker makes these once."""
    order = {source: i for i, source in enumerate(s for cell in cells for s in (cell.graph, cell.policy))}
    return sorted(cells, key=lambda cell: (order[cell.graph], cell.horizon, order[cell.policy]))


def _lasting(error: InvalidOption) -> bool:
    """Is it about the cell? Not if data are missing, or if something broke while they were read."""
    cause = error.__cause__
    return not isinstance(error, MissingData) and (cause is None or type(cause) is ValueError)


@lru_cache(maxsize=16)
def _made(source: PolicySource, graph: FeedbackGraph, horizon: int) -> Any:
    """The policy, remembered: cells that differ in their environment share it."""
    return source.make(graph, horizon)
