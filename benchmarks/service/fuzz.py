"""Requests that nobody would send: every one gets an answer, in time, and none is a failure of the service."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from typing import Any

from benchmarks.service.load import Connection, ask, run
from benchmarks.service.serving import ADMIN, Process

PATIENCE = 20.0
"""Seconds after which a request without an answer counts as hanging."""

PATHS = (
    "/v1/policies", "/v1/policies/p", "/v1/policies/p/decisions", "/v1/policies/p/decisions/1",
    "/v1/policies/p/observations", "/v1/policies/p/log", "/v1/policies/p/export", "/v1/policies/q/import",
    "/v1/tokens", "/v1/tokens/0123456789ab", "/healthz", "/readyz", "/metrics", "/openapi.json", "/", "/nowhere",
)  # fmt: skip
METHODS = ("GET", "POST", "POST", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS")
ROUTES = (
    ("POST", "/v1/policies"), ("POST", "/v1/policies/p/decisions"), ("POST", "/v1/policies/p/observations"),
    ("POST", "/v1/policies/q/import"), ("POST", "/v1/tokens"), ("DELETE", "/v1/policies/q"),
    ("DELETE", "/v1/policies/p/decisions/3"), ("GET", "/v1/policies/p/log"), ("GET", "/v1/policies"),
)  # fmt: skip
BODIES: tuple[Any, ...] = (
    {"name": "q", "graph": "cycle:4", "seed": 1},
    {"name": "q", "graph": {"n": 3, "edges": [[0, 1], [1, 2], [2, 0]], "labels": ["a", "b", "c"]}},
    {"count": 2},
    {"observations": [{"decision": 1, "losses": [0.5, 0.5]}]},
    {"observations": [{"decision": 2, "losses": {"1": 0.1, "3": 0.2}}]},
    {"scopes": ["read"], "policy": "p", "note": "fuzz"},
    {"format": "sidelight-export", "version": 1},
)
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2**31, 2**63, -(2**63), 10**30, 0.5, -0.0, 1e308, "", "p", "cycle:4", "cycle:0", "x" * 300,
    "\x00", "é\ud800", "../..", [], {}, [[]], [None], {"": None}, [1, [2, [3]]], "NaN", "1e400",
)  # fmt: skip
QUERIES = (
    "",
    "",
    "?limit=1",
    "?limit=0",
    "?after=%00",
    "?format=csv",
    "?x=1&x=2",
    "?limit=" + "9" * 50,
    "?%ff",
)
HEADERS = (
    "", "", "Idempotency-Key: a\r\n", "Idempotency-Key: " + "k" * 300 + "\r\n", "Content-Type: text/plain\r\n",
    "Accept: application/vnd.apache.parquet\r\n", "X-Request-Id: \x7f\r\n", "Expect: 100-nothing\r\n",
    "X-Sidelight-Forwarded: 1\r\n",
)  # fmt: skip


def fuzzed(store: str, requests: int, connections: int = 8) -> tuple[Counter[int], list[str]]:
    """How many answers of each status, 0 for none at all; and the requests that failed."""
    counts: Counter[int] = Counter()
    failed: list[str] = []

    async def one(address: str, number: int) -> None:
        rng, connection = random.Random(number), Connection(address)
        for _ in range(requests // connections):
            data = request(rng)
            status, body = await answer_to(connection, data)
            counts[status] += 1
            if status == 0 or status >= 500:
                failed.append(f"{status} {body[:200]!r} to {data[:400]!r}")

    with Process(store) as process:
        ask(process.address, "POST", "/v1/policies", {"name": "p", "graph": "cycle:4", "seed": 1})
        ask(process.address, "POST", "/v1/policies/p/decisions", {"count": 50})

        async def all_() -> None:
            await asyncio.gather(*(one(process.address, number) for number in range(connections)))

        run(all_)
        if ask(process.address, "GET", "/healthz")[0] != 200:
            failed.append("it is not healthy afterwards")
        if process.stop() != 0:
            failed.append("it does not stop as it should")
    return counts, failed


async def answer_to(connection: Connection, data: bytes) -> tuple[int, bytes]:
    """Status and body; 0 where no answer came in time, 1 where the service hung up."""
    try:
        return await asyncio.wait_for(connection.raw(data), PATIENCE)
    except TimeoutError:
        connection.close()
        return 0, b"no answer in time"
    except (OSError, EOFError, ValueError) as error:  # hung up on, which is an answer to what is no HTTP
        connection.close()
        return 1, repr(error).encode()


def request(rng: random.Random) -> bytes:
    """One request, as bytes."""
    method, path = rng.choice(ROUTES) if rng.random() < 0.8 else (rng.choice(METHODS), rng.choice(PATHS))
    if method == "DELETE" and path == "/v1/policies/p":
        path = "/v1/policies/q"  # what the others are about stays
    if rng.random() < 0.1:
        path = "".join(rng.choice("/%abp.\\?#&=;~0\t") for _ in range(rng.randrange(1, 40))) or "/"
    value = altered(rng.choice(BODIES), rng)
    text = json.dumps(value).encode()
    chance = rng.random()
    if chance < 0.1:
        text = text[: rng.randrange(len(text) + 1)]
    elif chance < 0.2:
        text = bytes(rng.randrange(256) for _ in range(rng.randrange(60)))
    elif chance < 0.22:
        text = b"[" * rng.randrange(1, 5000)
    elif chance < 0.24:
        text = b"{" + b'"a":' * 200 + b"1" + b"}"
    token = (
        f"Bearer {ADMIN}"
        if rng.random() < 0.9
        else rng.choice(("", "Bearer", "Bearer x", "Basic eA==", "Bearer " + "s" * 200))
    )
    head = f"{method} {path.replace(' ', '')}{rng.choice(QUERIES)} HTTP/1.1\r\nHost: localhost\r\n"
    head += f"Authorization: {token}\r\n{rng.choice(HEADERS)}"
    length = len(text) if rng.random() < 0.98 else rng.choice((-1, "x", 10**20))
    return f"{head}Content-Length: {length}\r\n\r\n".encode("latin-1", "replace") + text


def altered(value: Any, rng: random.Random) -> Any:
    """A value with something in it replaced, left out or added."""
    if rng.random() < 0.3:
        return value
    if isinstance(value, dict) and value and rng.random() < 0.8:
        made = dict(value)
        key = rng.choice(list(made))
        chance = rng.random()
        if chance < 0.15:
            del made[key]
        elif chance < 0.25:
            made["unknown"] = rng.choice(ODD)
        else:
            made[key] = altered(made[key], rng)
        return made
    if isinstance(value, list) and value and rng.random() < 0.8:
        made_list = list(value)
        at = rng.randrange(len(made_list))
        made_list[at] = altered(made_list[at], rng)
        return made_list * rng.choice((1, 1, 1, 2, 50))
    return rng.choice(ODD)
