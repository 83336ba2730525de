"""Services for tests: in this process, with a clock that tests turn, or in a process of its own that they kill."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidelight.policy import Policy
from sidelight.service.access import Limits
from sidelight.service.events import Kind, read_decided, read_observed
from sidelight.service.server import Server, Settings, bound, run
from sidelight.service.service import Service
from sidelight.service.store.base import Store, make_store

ADMIN = "an-admin-token-for-tests"


class Clock:
    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@dataclass
class Running:
    """A service, and a client of it that may do everything."""

    http: httpx.Client
    service: Service
    clock: Clock

    def create(
        self, name: str = "p", graph: Any = "cycle:6", seed: int | None = 7, **rest: Any
    ) -> dict[str, Any]:
        answer = self.http.post("/v1/policies", json={"name": name, "graph": graph, "seed": seed, **rest})
        assert answer.status_code == 201, answer.text
        return answer.json()

    def decide(self, name: str = "p", key: str | None = None, **body: Any) -> list[dict[str, Any]]:
        headers = {"Idempotency-Key": key} if key else {}
        answer = self.http.post(f"/v1/policies/{name}/decisions", json=body, headers=headers)
        assert answer.status_code == 201, answer.text
        return answer.json()["decisions"]

    def tell(self, *items: tuple[int, Any], name: str = "p") -> Any:
        observations = [{"decision": number, "losses": losses} for number, losses in items]
        return self.http.post(f"/v1/policies/{name}/observations", json={"observations": observations})

    def show(self, name: str = "p") -> dict[str, Any]:
        answer = self.http.get(f"/v1/policies/{name}")
        assert answer.status_code == 200, answer.text
        return answer.json()


@contextmanager
def running(
    store: str | Path | Store, *, limits: Limits | None = None, clock: Clock | None = None, **settings: Any
) -> Iterator[Running]:
    clock = clock or Clock()
    listening = bound("127.0.0.1", 0)
    base = f"http://127.0.0.1:{listening.getsockname()[1]}"
    opened = store if isinstance(store, Store) else make_store(str(store), base)
    service = Service(opened, limits, environment=ADMIN, clock=clock, **settings)
    began, failed = threading.Event(), []
    server = Server(service, began.set)

    def serve() -> None:
        try:
            asyncio.run(server.serve_all(listening))
        except BaseException as error:
            failed.append(error)
            began.set()

    thread = threading.Thread(target=serve)
    thread.start()
    began.wait()
    try:
        if failed:
            raise failed[0]
        with httpx.Client(base_url=base, headers={"Authorization": f"Bearer {ADMIN}"}, timeout=300) as http:
            yield Running(http, service, clock)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


def together(*calls: Callable[[], Any]) -> None:
    """Call all of them at once, each in a thread of its own, and wait until they have ended."""
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def eventually(check: Callable[[], Any], seconds: float = 10.0) -> Any:
    """The first answer of `check` that is not nothing."""
    until = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)
    return found


class Process:
    """A service in a process of its own, as `sidelight serve` runs it, to be killed.

    It is forked off one that has imported and compiled everything, so that fifty of them start in seconds.
    """

    def __init__(self, store: str, **settings: Any) -> None:
        context = _forkserver()
        ours, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(store, settings, theirs), daemon=True)
        self.process.start()
        theirs.close()
        try:
            self.address: str = ours.recv()
        except EOFError:
            raise RuntimeError(f"the service at {store} did not start") from None

    def kill(self) -> None:
        self.process.kill()
        self.process.join()

    def stop(self) -> int | None:
        self.process.terminate()
        self.process.join(60)
        return self.process.exitcode


@cache
def _forkserver() -> Any:
    """A process that has everything ready; it looks for modules where this one does, which it would not by itself."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["warmed"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        forkserver.ensure_running()
    return context


def _serve(store: str, settings: dict[str, Any], announced: Any) -> None:
    def announce(service: Service, address: str) -> None:
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))):  # whoever is told can connect
            announced.send(address)

    run(Settings(store=store, port=0, environment=ADMIN, **settings), announce)


def replayed(address: str, name: str = "p") -> Policy:
    """A policy rebuilt from its first snapshot and all its events, by the library alone."""
    store = make_store(address)
    store.open()
    try:
        row = store.row(name)
        first = list(store.snapshots(row.id))[-1]
        assert first.seq == 0
        policy = Policy.from_bytes(first.data)
        for event in store.events(row.id):
            if event.kind == Kind.DECIDED:
                decision, known = policy.decide(), read_decided(event.body)
                assert (decision.id, decision.arm) == (event.decision, known.arm)
                assert decision.seen.tobytes() == known.seen.tobytes()
            elif event.kind == Kind.OBSERVED:
                policy.observe(event.decision, read_observed(event.body)[1])
            else:
                policy.cancel(event.decision)
        return policy
    finally:
        store.close()
