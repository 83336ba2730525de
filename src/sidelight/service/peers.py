"""Requests to other processes of the service: HTTP/1.1 on connections that are kept open.

A client library would need more of the processor for passing a decision on than its owner needs to make it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

IDLE = 2.0
"""Seconds for which a connection is kept that nobody uses; the other side hangs up after five."""
PATIENCE = 30.0
"""Seconds for which the other side may be silent; a stream is never quiet for so long."""
CONNECTING = 5.0

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Unreachable(Exception):
    """Nobody has heard the request."""


class BrokenOff(Exception):
    """The request was sent, and its answer did not come, or not all of it."""


class Answer(NamedTuple):
    """What another process answers: the pieces of the body come as they are sent."""

    status: int
    headers: dict[str, str]
    pieces: AsyncGenerator[bytes, None]


class Peers:
    """Connections to other processes, those that are free by address."""

    def __init__(self) -> None:
        self._free: dict[str, list[tuple[float, Connection]]] = {}

    async def ask(
        self, address: str, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> Answer:
        """The answer as it begins."""
        parts = urlsplit(address)
        fields = {"host": parts.netloc, **headers, "content-length": str(len(body))}
        lines = [f"{method} {parts.path}{target} HTTP/1.1", *(f"{k}: {v}" for k, v in fields.items()), "", ""]
        request = "\r\n".join(lines).encode("latin-1") + body
        reader, writer = connection = await self._connected(address)
        with _hung_up(writer):
            writer.write(request)
            head = await _soon(reader.readuntil(b"\r\n\r\n"))
            first, *rest = head.decode("latin-1").split("\r\n")
            found = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
            status = int(first[9:12])
        return Answer(status, found, self._pieces(address, connection, status, found))

    async def close(self) -> None:
        """Hang up."""
        for free in self._free.values():
            for _, (_, writer) in free:
                writer.close()
        self._free.clear()

    async def _connected(self, address: str) -> Connection:
        free, oldest = self._free.get(address, []), time.monotonic() - IDLE
        while free:
            since, connection = free.pop()
            if since > oldest and not connection[0].at_eof() and not connection[1].is_closing():
                return connection
            connection[1].close()
        parts = urlsplit(address)
        secure = parts.scheme == "https"
        try:
            async with asyncio.timeout(CONNECTING):
                port = parts.port or (443 if secure else 80)
                return await asyncio.open_connection(parts.hostname, port, ssl=secure or None)
        except (OSError, ValueError):
            raise Unreachable from None

    async def _pieces(
        self, address: str, connection: Connection, status: int, headers: dict[str, str]
    ) -> AsyncGenerator[bytes, None]:
        reader, writer = connection
        with _hung_up(writer):
            if headers.get("transfer-encoding") == "chunked":
                while size := int(await _soon(reader.readuntil(b"\r\n")), 16):
                    yield (await _soon(reader.readexactly(size + 2)))[:-2]
                await _soon(reader.readexactly(2))
            elif (length := int(headers.get("content-length", "0"))) and status != 204:
                yield await _soon(reader.readexactly(length))
            if headers.get("connection", "").lower() == "close":
                writer.close()
            self._free.setdefault(address, []).append((time.monotonic(), connection))


async def _soon(reading: Awaitable[bytes]) -> bytes:
    async with asyncio.timeout(PATIENCE):
        return await reading


@contextmanager
def _hung_up(writer: asyncio.StreamWriter) -> Iterator[None]:
    """Where what is read ends before its time the connection is of no use any more."""
    try:
        yield
    except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:
        writer.close()
        raise BrokenOff(str(error) or type(error).__name__) from None
    except BaseException:
        writer.close()
        raise
