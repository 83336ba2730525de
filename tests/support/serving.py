"""Services for tests: in this process, with a clock that tests turn, or in a process of its own that they kill."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from sidelight.service.app import create_app
from sidelight.service.limits import Limits
from sidelight.service.server import bound
from sidelight.service.service import Service
from sidelight.service.store.base import Store
from sidelight.service.store.opening import make_store

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
    opened = store if isinstance(store, Store) else make_store(str(store))
    service = Service(opened, limits, environment=ADMIN, clock=clock, **settings)
    listening = bound("127.0.0.1", 0)
    config = uvicorn.Config(create_app(service), lifespan="on", log_config=None, access_log=False)
    server = uvicorn.Server(config)
    began = threading.Event()
    start, failed = service.start, []

    async def started() -> None:
        try:
            await start()
        except BaseException as error:
            failed.append(error)
            began.set()
            raise
        asyncio.get_running_loop().call_later(0.0, began.set)

    service.start = started  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    began.wait()
    try:
        if failed:
            raise failed[0]
        base = f"http://127.0.0.1:{listening.getsockname()[1]}"
        while not server.started:
            time.sleep(0.005)
        with httpx.Client(base_url=base, headers={"Authorization": f"Bearer {ADMIN}"}, timeout=60) as http:
            yield Running(http, service, clock)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


class Process:
    """`sidelight serve` in a process of its own."""

    def __init__(self, store: str, *options: str) -> None:
        command = [
            sys.executable,
            "-m",
            "sidelight",
            "serve",
            "--store",
            store,
            "--port",
            "0",
            "--json",
            *options,
        ]
        environment = {**os.environ, "SIDELIGHT_ADMIN_TOKEN": ADMIN}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(self.process.communicate()[1])
        self.about = json.loads(line)
        self.address: str = self.about["address"]

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=60)
        return self.process.returncode
