"""Requests to other processes, and what becomes of them where the other side does not answer as it should."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest

from sidelight.service.peers import BrokenOff, Peers, Unreachable


@asynccontextmanager
async def answering(*answers: bytes):
    """A server that gives these answers, and hangs up after the last; (address, heads of requests by connection)."""
    left, heard = list(answers), []

    async def serve(reader, writer):
        heads = []
        heard.append(heads)
        while left and (head := await reader.readuntil(b"\r\n\r\n")):
            heads.append(head.decode())
            writer.write(left.pop(0))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", heard


async def told(peers, address):
    answer = await peers.ask(address, "POST", "/v1/policies/p?x=1", {"accept": "text/plain"}, b"")
    return answer.status, answer.headers.get("x-note"), [piece async for piece in answer.pieces]


def test_one_connection_for_many_requests():
    async def main():
        whole = b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\nX-Note: a:b\r\n\r\nok"
        pieces = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n"
        nothing = b"HTTP/1.1 204 No Content\r\n\r\n"
        last = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
        async with answering(whole, pieces, nothing, last, nothing) as (address, heard):
            peers = Peers()
            assert await told(peers, address) == (201, "a:b", [b"ok"])
            assert await told(peers, address) == (200, None, [b"abc", b"d"])
            assert await told(peers, address) == (204, None, [])
            assert await told(peers, address) == (200, None, [])
            assert await told(peers, address) == (204, None, [])
            await peers.close()
        assert [len(heads) for heads in heard] == [4, 1]
        host = address.removeprefix("http://")
        lines = heard[0][0].split("\r\n")
        assert lines[0] == "POST /v1/policies/p?x=1 HTTP/1.1"
        assert {f"host: {host}", "accept: text/plain", "content-length: 0"} <= set(lines)

    asyncio.run(main())


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nshor",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n",
    ],
)
def test_an_answer_that_breaks_off(answer):
    async def main():
        async with answering(answer) as (address, _):
            with pytest.raises(BrokenOff):
                await told(Peers(), address)

    asyncio.run(main())


def test_nobody_there():
    async def main():
        async with answering() as (address, _):
            pass
        for nowhere in (address, "http://127.0.0.1:1", "nonsense", "http://127.0.0.1:99999"):
            with pytest.raises(Unreachable):
                await told(Peers(), nowhere)

    asyncio.run(main())
