"""Cells on local processes: a worker that dies takes nothing with it but its own cell."""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import queue
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from sidelight.engine._numba import notice
from sidelight.engine._numba.interrupts import interrupts_kept
from sidelight.errors import WorkerError
from sidelight.experiment.kept import Kept, PlayedSeed, StoppedSeed
from sidelight.experiment.results import Cell
from sidelight.experiment.sweep.cell import Outcome, absent, execute
from sidelight.experiment.sweep.pieces import Batch, Games, Pieces, Seeds
from sidelight.experiment.sweep.spec import CellSpec

MOST_ATTEMPTS = 3
"""How often a cell is tried whose worker dies."""
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Workers use all cores together, hence one each."""

COMPILING = "compiling"
"""What a worker sends when its cell has to wait for kernels."""
STOP_SECONDS = 5.0
"""How long workers are waited for that shall tell where their games stand; another ctrl-C ends that."""

Work = queue.SimpleQueue[tuple[CellSpec, Seeds, Games] | None]

GUARD = 'a script that calls sl.sweep must do so under `if __name__ == "__main__":`, or with jobs=1'


def in_process(cells: Sequence[CellSpec], spec_hash: str, pieces: Pieces) -> Generator[Outcome, None, None]:
    """One cell after the other, here."""
    for cell in cells:
        batch = Batch(functools.partial(pieces.add, cell.id))
        try:
            outcome = execute(cell, spec_hash, kept=pieces.kept(cell.id, batch))
        except KeyboardInterrupt:
            batch.hand_on()
            raise
        if not isinstance(outcome, Cell):
            batch.hand_on()
        yield outcome


def on_processes(
    cells: Sequence[CellSpec], spec_hash: str, jobs: int, pieces: Pieces
) -> Generator[Outcome, None, None]:
    """Cells in the order in which they finish.

    Closing the iterator ends the workers, once they have told how far their games are.
    """
    waiting, attempts, stillborn = deque(cells), Counter[str](), 0
    workers = [_Worker.start(spec_hash) for _ in range(min(jobs, len(cells)))]
    try:
        while workers:
            for connection in wait([worker.connection for worker in workers]):
                worker = next(worker for worker in workers if worker.connection is connection)
                try:
                    message = worker.hear()  # the outcome of its cell; None: ready
                except (EOFError, OSError):
                    code = worker.end()
                    workers.remove(worker)
                    stillborn = 0 if worker.ready else stillborn + 1
                    if stillborn >= MOST_ATTEMPTS or (stillborn and code is not None and code > 0):
                        raise WorkerError(
                            f"workers end (exit code {code}) before they are ready; {GUARD}"
                        ) from None
                    if (cell := worker.cell) is not None:
                        attempts[cell.id] += 1
                        if attempts[cell.id] < MOST_ATTEMPTS:
                            waiting.appendleft(cell)
                        else:
                            reason = f"its worker died {MOST_ATTEMPTS} times, at last with exit code {code}"
                            yield absent(cell, "failed", reason)
                    if waiting:
                        workers.append(_Worker.start(spec_hash))
                    continue
                if isinstance(message, str):  # COMPILING
                    notice.say()
                    continue
                if isinstance(message, list):  # finished seeds of its cell
                    if worker.cell is not None:
                        pieces.add(worker.cell.id, message)
                    continue
                worker.ready, worker.cell = True, None
                if waiting:
                    cell = waiting.popleft()
                    worker.give(cell, pieces.of(cell.id), pieces.games(cell.id))
                else:
                    worker.end()
                    workers.remove(worker)
                if message is not None:
                    yield message
    finally:
        try:
            _stop([worker for worker in workers if worker.cell is not None], pieces)
        finally:
            for worker in workers:
                worker.end()


def _stop(workers: list[_Worker], pieces: Pieces) -> None:
    """Let workers end between two rounds, and take note of what they have played."""
    for worker in workers:
        worker.stop()
    by_connection = {worker.connection: worker for worker in workers}
    until = time.monotonic() + STOP_SECONDS
    while by_connection and (left := until - time.monotonic()) > 0:
        for connection in wait(list(by_connection), left):
            worker = by_connection[connection]  # type: ignore[index]
            assert worker.cell is not None
            try:
                message = worker.hear()
            except (EOFError, OSError):  # that was all
                del by_connection[worker.connection]
                continue
            if isinstance(message, list):
                pieces.add(worker.cell.id, message)
            elif isinstance(message, StoppedSeed):
                pieces.add_game(worker.cell.id, message)


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    connection: Connection
    cell: CellSpec | None = None
    ready: bool = False

    @classmethod
    def start(cls, spec_hash: str) -> _Worker:
        context = multiprocessing.get_context("spawn")  # forking a process that has threads is not safe
        here, there = context.Pipe()
        process = context.Process(target=_serve, args=(there, spec_hash), daemon=True)
        try:
            with _one_thread(), _uninterrupted():
                process.start()
        except RuntimeError as error:
            raise WorkerError(f"workers cannot be started; {GUARD}") from error
        there.close()  # so that its death can be heard
        return cls(process, here)

    def give(self, cell: CellSpec, known: Seeds, begun: Games) -> None:
        self.cell = cell
        with contextlib.suppress(OSError), interrupts_kept():  # died just now: reading from it will tell
            self.connection.send((cell, known, begun))

    def hear(self) -> Any:
        """The next message, whole: half of one would make nonsense of all that follow."""
        with interrupts_kept():
            return self.connection.recv()

    def stop(self) -> None:
        """Tell it to end between two rounds."""
        with contextlib.suppress(OSError), interrupts_kept():
            self.connection.send(None)

    def end(self) -> int | None:
        self.connection.close()
        self.process.terminate()
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        return self.process.exitcode


def _serve(connection: Connection, spec_hash: str) -> None:
    """The life of a worker: it ends with its parent, even if that is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ctrl-C is the parent's business
    threading.Thread(target=_end_with_parent, daemon=True).start()
    sending = threading.Lock()

    def send(message: Outcome | list[PlayedSeed] | StoppedSeed | str | None) -> None:
        with sending:
            connection.send(message)

    notice.leave_to(functools.partial(send, COMPILING))
    given: Work = queue.SimpleQueue()
    stop = threading.Event()
    threading.Thread(target=_listen, args=(connection, given, stop), daemon=True).start()
    send(None)
    while (work := given.get()) is not None:
        cell, known, begun = work
        batch = Batch(send)
        try:
            outcome = execute(cell, spec_hash, kept=Kept(known, batch, begun, send, stop))
        except KeyboardInterrupt:  # told to stop: what was played is told, then this ends
            batch.hand_on()
            return
        if not isinstance(outcome, Cell) or stop.is_set():
            batch.hand_on()
        send(outcome)


def _listen(connection: Connection, given: Work, stop: threading.Event) -> None:
    """Pass on what the parent gives while a cell is being played; None, or the end of it, is an order to stop."""
    try:
        with contextlib.suppress(EOFError, OSError):
            while (work := connection.recv()) is not None:
                given.put(work)
    finally:
        given.put(None)
        stop.set()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """The environment in which a worker starts: libraries read these before any code of ours runs."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """A worker is born deaf to ctrl-C, so that one in its first second leaves no traceback."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
