"""The one thread that writes: everything that waits is committed together, then its requests are answered.

A commit to the disk takes as long for a hundred events as for one. While one commit is under way the next batch
collects, so batches grow with the load and nobody waits for a timer.

If a commit fails, the policies of that batch are ahead of the disk. They are marked as failed, here, before anything
else is written: nothing that was built on what was not stored can be stored. Whoever serves them loads them again.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from sidelight.errors import StoreError
from sidelight.service.events import OutcomeUnknown, Write
from sidelight.service.logs import failed
from sidelight.service.store.base import Store

MOST_WRITES = 2_000
"""Of one transaction."""


class Owner(Protocol):
    """Whose events are written."""

    failed: bool


class _Job(NamedTuple):
    future: asyncio.Future[Any]
    write: Write | None = None
    owner: Owner | None = None
    call: Callable[[], Any] | None = None


class Writer:
    """A thread with a queue; `submit` and `run` are called from the event loop."""

    def __init__(self, store: Store, most: int = MOST_WRITES) -> None:
        self.store, self.most = store, most
        self.commits = self.written = self.failures = 0
        self.failing = ""  # why the last commit failed; empty once one has succeeded
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._began: float | None = None  # when the present transaction did
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop

    def start(self) -> None:
        """Begin; inside a running event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._work, name="sidelight-writer", daemon=True)
        self._thread.start()

    async def stop(self) -> None:
        """Write what waits, then end."""
        if self._thread is not None:
            self._queue.put(None)
            await asyncio.to_thread(self._thread.join)

    def submit(self, write: Write, owner: Owner) -> asyncio.Future[None]:
        """Resolved once `write` is on the disk; fails with `StoreError` if it is not and will not be."""
        future: asyncio.Future[None] = self._loop.create_future()
        self._queue.put(_Job(future, write, owner))
        return future

    async def run(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Something else that writes, in a transaction of its own and in the order of the queue."""
        future: asyncio.Future[Any] = self._loop.create_future()
        self._queue.put(_Job(future, call=lambda: call(*arguments)))
        return await future

    @property
    def depth(self) -> int:
        """Requests that wait for the disk."""
        return self._queue.qsize()

    @property
    def stuck_for(self) -> float:
        """Seconds that the present transaction has taken so far."""
        began = self._began
        return 0.0 if began is None else time.monotonic() - began

    @property
    def alive(self) -> bool:
        """Is there still a thread?"""
        return self._thread is not None and self._thread.is_alive()

    # -- the thread ------------------------------------------------------------------------------------

    def _work(self) -> None:
        waiting: _Job | None = None
        while True:
            job = waiting or self._queue.get()
            waiting = None
            if job is None:
                return
            self._began = time.monotonic()
            if job.call is not None:
                self._call(job)
            else:
                batch = [job]
                with contextlib.suppress(queue.Empty):
                    while len(batch) < self.most:
                        job = self._queue.get_nowait()
                        if job is None or job.call is not None:
                            waiting = job
                            break
                        batch.append(job)
                self._commit(batch)
                if job is None:
                    self._began = None
                    return
            self._began = None

    def _call(self, job: _Job) -> None:
        assert job.call is not None
        try:
            result, error = job.call(), None
        except Exception as failure:
            result, error = None, failure
        self._answer([(job, result, error)])

    def _commit(self, batch: list[_Job]) -> None:
        sound = [job for job in batch if job.owner is None or not job.owner.failed]
        lost = StoreError("an earlier event of this policy could not be stored")
        outcome: list[tuple[_Job, None, Exception | None]] = [
            (job, None, lost) for job in batch if job.owner is not None and job.owner.failed
        ]
        error = self._append(sound)
        if error is None:
            outcome += [(job, None, None) for job in sound]
        else:
            # One policy may be the reason, such as one that another process has taken over: each on its own.
            groups: dict[int, list[_Job]] = {}
            for job in sound:
                groups.setdefault(job.write.policy if job.write else 0, []).append(job)
            for jobs in groups.values():
                alone = len(groups) == 1 or isinstance(
                    error, OutcomeUnknown
                )  # which may have stored all of it
                why = error if alone else self._append(jobs)
                if why is not None:
                    for job in jobs:
                        if job.owner is not None:
                            job.owner.failed = True
                outcome += [(job, None, why) for job in jobs]
        self._answer(outcome)

    def _append(self, jobs: list[_Job]) -> Exception | None:
        writes = [job.write for job in jobs if job.write is not None]
        if not writes:
            return None
        try:
            self.store.append(writes)
        except Exception as error:
            self.failures += 1
            self.failing = str(error) or type(error).__name__
            failed("a commit failed", self.failing, writes=len(writes))
            return error if isinstance(error, StoreError) else StoreError(f"{type(error).__name__}: {error}")
        self.commits += 1
        self.written += sum(len(write.events) for write in writes)
        self.failing = ""
        return None

    def _answer(self, outcome: list[tuple[_Job, Any, Exception | None]]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits
            self._loop.call_soon_threadsafe(_resolve, outcome)


def _resolve(outcome: list[tuple[_Job, Any, Exception | None]]) -> None:
    for job, result, error in outcome:
        if job.future.done():  # whoever waited has gone away; it is stored all the same
            continue
        if error is None:
            job.future.set_result(result)
        else:
            job.future.set_exception(error)
            job.future.exception()  # nobody may be waiting, and that is no mistake
