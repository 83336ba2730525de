"""Connections that ask and tell without a pause: plain sockets, since a client library would need more time."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import msgspec
import numpy as np
from benchmarks.service.serving import ADMIN

PATIENCE = 60.0
"""Seconds after which a request without an answer counts as hanging."""

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class Connection:
    """One kept-alive connection."""

    def __init__(self, address: str) -> None:
        found = urlsplit(address)
        self.host, self.port = found.hostname, found.port
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter | None = None

    async def send(self, method: str, path: str, body: bytes = b"", headers: str = "") -> tuple[int, bytes]:
        """Status and body of the answer; raises `OSError` or `EOFError` where there is none."""
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {ADMIN}\r\n"
            f"{headers}Content-Length: {len(body)}\r\n\r\n"
        )
        return await asyncio.wait_for(self.raw(head.encode("latin-1") + body), PATIENCE)

    async def raw(self, data: bytes) -> tuple[int, bytes]:
        """The answer to any bytes."""
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(self.host, self.port)
        self._writer.write(data)
        head = await self._reader.readuntil(b"\r\n\r\n")
        status = int(head[9:12])
        fields = dict(line.split(b": ", 1) for line in head.lower().split(b"\r\n")[1:] if b": " in line)
        if fields.get(b"transfer-encoding") == b"chunked":
            body = b""
            while size := int(await self._reader.readuntil(b"\r\n"), 16):
                body += (await self._reader.readexactly(size + 2))[:-2]
            await self._reader.readexactly(2)
        else:
            bare = status == 204 or data.startswith(
                b"HEAD "
            )  # answers without a body, whatever length they state
            length = 0 if bare else int(fields.get(b"content-length", b"0"))
            body = await self._reader.readexactly(length)
        if fields.get(b"connection") == b"close":
            self.close()
        return status, body

    async def json(self, method: str, path: str, value: Any = None, key: str = "") -> Any:
        """A request that must succeed."""
        headers = f"Idempotency-Key: {key}\r\n" if key else ""
        status, body = await self.send(method, path, b"" if value is None else _encode(value), headers)
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {status} {body[:300]!r}")
        return _decode(body) if body else None

    def close(self) -> None:
        """Hang up."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


@dataclass
class Measured:
    """What came of some seconds of load."""

    pairs: int = 0
    spent: float = 0.0
    waits: list[float] = field(default_factory=list)  # of each request

    @property
    def rate(self) -> float:
        """Pairs a second."""
        return self.pairs / self.spent

    def wait(self, share: float) -> float:
        """Milliseconds that this share of the requests took at most."""
        return float(np.quantile(self.waits, share)) * 1e3


def loaded(
    address: str | Mapping[str, Sequence[str]], names: Sequence[str], seconds: float, connections: int = 32
) -> Measured:
    """Pairs of decide and observe for some seconds, from several connections at once.

    Where there are several processes `address` has those of each policy, of which every request takes any.
    """
    found = Measured()

    async def one(number: int) -> None:
        rng, turn, stamp = random.Random(number), 0, time.time_ns()
        kept: dict[str, Connection] = {}

        def connection(name: str) -> Connection:
            wanted = address if isinstance(address, str) else rng.choice(address[name])
            return kept.setdefault(wanted, Connection(wanted))

        while time.perf_counter() < until:
            name = names[rng.randrange(len(names))]
            path = f"/v1/policies/{name}"
            began = time.perf_counter()
            made = await connection(name).json(
                "POST", f"{path}/decisions", {}, key=f"{stamp}-{number}-{turn}"
            )
            between = time.perf_counter()
            (decision,) = made["decisions"]
            losses = [rng.random() for _ in decision["reveals"]]
            body = {"observations": [{"decision": decision["id"], "losses": losses}]}
            await connection(name).json("POST", f"{path}/observations", body)
            found.waits += [between - began, time.perf_counter() - between]
            turn += 1
        found.pairs += turn
        for each in kept.values():
            each.close()

    async def all_() -> None:
        await asyncio.gather(*(one(number) for number in range(connections)))

    began = time.perf_counter()
    until = began + seconds
    run(all_)
    found.spent = time.perf_counter() - began
    return found


def run(main: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """In an event loop of its own, the fastest there is."""
    try:
        import uvloop
    except ModuleNotFoundError:
        return asyncio.run(main())
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main())


def ask(address: str, method: str, path: str, value: Any = None) -> tuple[int, Any]:
    """One request, by itself: its status and what it says."""

    async def once() -> tuple[int, Any]:
        connection = Connection(address)
        try:
            status, body = await connection.send(method, path, b"" if value is None else _encode(value))
        finally:
            connection.close()
        return status, _decode(body) if body[:1] in (b"{", b"[") else body

    found: tuple[int, Any] = run(once)
    return found
