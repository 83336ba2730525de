"""Cells on local processes: a worker that dies takes nothing with it but what it was playing."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any

from sidelight.engine._numba import notice
from sidelight.errors import WorkerError
from sidelight.experiment.cells import Outcome, Part, absent, execute

MOST_ATTEMPTS = 3
"""How often something is tried whose worker dies."""
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Workers use all cores together, hence one each."""
LISTEN_SECONDS = 0.5
"""How long it takes at most until a word of the workers is passed on."""

GUARD = 'a script that calls sl.sweep must do so under `if __name__ == "__main__":`, or with jobs=1'


def on_processes(
    parts: Iterable[Part], provenance: dict[str, str], jobs: int
) -> Generator[Outcome, None, None]:
    """What came of the parts, in the order in which they finish; closing the iterator ends the workers."""
    waiting, running = iter(parts), dict[Future[Outcome], Part]()
    workers: Workers | None = None
    try:
        while True:
            for part in islice(waiting, 2 * jobs - len(running)):
                workers = workers or Workers(jobs)
                running[workers.submit(execute, part, provenance)] = part
            if workers is None or not running:
                return
            done, _ = wait(running, LISTEN_SECONDS, FIRST_COMPLETED)
            workers.pass_on()
            finished = [future for future in done if future.exception() is None]
            for future in finished:
                del running[future]
                yield future.result()
            if len(finished) < len(done):  # a worker has died, and the others with it
                workers.end()
                yield from _one_by_one(list(running.values()), provenance)
                running, workers = {}, None
    finally:
        if workers is not None:
            workers.end()


def _one_by_one(parts: Iterable[Part], provenance: dict[str, str]) -> Iterator[Outcome]:
    """Parts of which at least one has killed a worker: each by itself, so that the others do not suffer again."""
    for part in parts:
        code: int | None = None
        for _ in range(MOST_ATTEMPTS - 1):
            with contextlib.closing(Workers(1)) as worker:
                try:
                    outcome: Outcome = worker.submit(execute, part, provenance).result()
                    break
                except BrokenProcessPool:
                    code = worker.end()
        else:
            reason = f"its worker died {MOST_ATTEMPTS} times, at last with exit code {code}"
            outcome = absent(part.cell, "failed", reason)
        yield outcome


class Workers:
    """Processes that are deaf to ctrl-C, have one thread each, and end with this one."""

    def __init__(self, jobs: int) -> None:
        context = multiprocessing.get_context("spawn")  # forking a process that has threads is not safe
        self._jobs, self._compiling = jobs, context.Event()
        self._pool = ProcessPoolExecutor(jobs, context, _born, (self._compiling,))
        try:
            self.submit(os.getpid).result()
        except BrokenProcessPool:
            code = self.end()
            raise WorkerError(f"workers end (exit code {code}) before they are ready; {GUARD}") from None
        except RuntimeError as error:
            raise WorkerError(f"workers cannot be started; {GUARD}") from error

    def submit(self, call: Callable[..., Any], *arguments: object) -> Future[Any]:
        """Have it called by one of them, which may start now."""
        try:
            with contextlib.ExitStack() as held:
                if len(self._pool._processes or ()) < self._jobs:
                    held.enter_context(_one_thread())
                    held.enter_context(_uninterrupted())
                return self._pool.submit(call, *arguments)
        except BrokenProcessPool as error:  # one has just died: as if it had been submitted a moment earlier
            future = Future[Any]()
            future.set_exception(error)
            return future

    def pass_on(self) -> None:
        """Say what they wait for, if they compile."""
        if self._compiling.is_set():
            notice.say()

    def end(self) -> int | None:
        """Stop them, whatever they are doing; the exit code of the first."""
        # Python has a public way to the processes from 3.14 on, `kill_workers`
        processes = list((self._pool._processes or {}).values())
        watching: Any = self._pool._executor_manager_thread
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()
        for process in processes:
            process.join()
        if watching is not None:
            watching.join(10)  # where it has met the end of a process first, only it knows the exit code
        return processes[0].exitcode if processes else None

    close = end


def _born(compiling: Any) -> None:
    """What a worker does first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ctrl-C is the parent's business
    threading.Thread(target=_end_with_parent, daemon=True).start()
    notice.leave_to(compiling.set)


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
