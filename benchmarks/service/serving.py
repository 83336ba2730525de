"""Services to be measured and harmed: each in a process of its own, as `sidelight serve` runs it, on loopback.

They are forked off a process that has imported and compiled everything, so that fifty of them start in seconds.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import resource
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sidelight.errors import SidelightError
from sidelight.service import server
from sidelight.service.access import Limits
from sidelight.service.server import Settings
from sidelight.service.service import Service
from sidelight.service.store.base import Store

ADMIN = "an-admin-token-for-benchmarks"
NOBODY = 65534
ROOM = 16
"""Pages that a full disk still has."""


class NotStarted(Exception):
    """What a service said instead of starting."""


@dataclass(frozen=True)
class How:
    """What is different about a service."""

    writes: str = "group"  # "group" commits, a "single" transaction for each request, or to "nowhere"
    full: bool = False  # SQLite is told that the disk has little room
    most_bytes: int | None = None  # … or the system lets no file grow beyond
    memory: int | None = None  # bytes of memory that the system grants
    nobody: bool = False  # run as a user without rights
    clock: str | None = None  # a file with seconds to be added to the clock
    options: tuple[tuple[str, Any], ...] = ()  # of `Settings`


class Process:
    """A service; raises `NotStarted` with what it said where it does not start."""

    def __init__(self, store: str, how: How | None = None) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["benchmarks.service.warmed"])
        ours, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(store, how or How(), theirs), daemon=True)
        self.process.start()
        theirs.close()
        try:
            said: tuple[bool, str] = ours.recv()
        except EOFError:
            said = (False, "nothing at all")
        if not said[0]:
            self.process.join()
            raise NotStarted(said[1])
        self.address = said[1]

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()
        self.process.join()

    def stop(self) -> int | None:
        """SIGTERM, and the exit code."""
        self.process.terminate()
        self.process.join(120)
        return self.process.exitcode

    def seconds(self) -> float:
        """Processor time so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self) -> int:
        """Bytes in memory."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf(
            "SC_PAGE_SIZE"
        )


def _serve(store: str, how: How, said: Any) -> None:
    if how.most_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (how.most_bytes, how.most_bytes))
    if how.memory is not None:
        resource.setrlimit(resource.RLIMIT_AS, (how.memory, how.memory))
    if how.nobody:
        os.setuid(NOBODY)
    server.Service = partial(_made, how)  # type: ignore[assignment, misc]
    settings = Settings(store=store, port=0, environment=ADMIN, limits=Limits(rate=0.0), **dict(how.options))
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 2)  # its log: failures are what is being made here
    try:
        server.run(settings, lambda _, address: said.send((True, address)))
    except SidelightError as error:
        said.send((False, str(error)))
    except Exception as error:  # a traceback is not what a user should see
        said.send((False, f"A TRACEBACK: {error!r}"))


def _made(how: How, store: Store, *arguments: Any, **named: Any) -> Service:
    if how.writes == "single":
        named["most_writes"] = 1
    if how.clock is not None:
        shift = Path(how.clock)
        named["clock"] = lambda: time.time() + float(shift.read_text())
    service = Service(store, *arguments, **named)
    if how.writes == "nowhere":
        service.writer.submit = _accepted  # type: ignore[method-assign]
        store.find_key = lambda policy, key: []  # type: ignore[method-assign]
    if how.full:
        store.open = partial(_opened_full, store, store.open)  # type: ignore[method-assign]
    return service


def _accepted(write: Any, owner: Any) -> asyncio.Future[None]:
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    done.set_result(None)
    return done


def _opened_full(store: Any, opened: Any) -> None:
    opened()
    (pages,) = store._writing.execute("PRAGMA page_count").fetchone()
    store._writing.execute(f"PRAGMA max_page_count = {pages + ROOM}")
