"""What an attacker would try: sizes that exhaust memory, files that do not hang together, heads that do not end.

Each of these is one request of a list, not drawn at random, to a service that may have 4 GiB of memory. It must be
answered in time, by 4xx where it asks for what cannot be, and the service must be well afterwards.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from benchmarks.service.fuzz import ODD, answer_to
from benchmarks.service.load import Connection, ask, run
from benchmarks.service.serving import ADMIN, How, Process

from sidelight.graph import families

MEMORY = 4 << 30
UNFINISHED = 1_300
"""Connections that are opened, begin a request and leave it at that."""

TOO_LARGE = (
    "hypercube:25", "hypercube:21", "newsvendor:40000", "newsvendor:10000", "cliques:2x30000", "cliques:10000000x2",
    "bicliques:30000+30000", "bounded_in_degree:99999,20000,1", "grid:30000,30000", "full:30000:works=0.5",
    "random:99999,0.1,1", "random:99999,0.1,1:loops", "complete_bipartite:99999,99999", "teams:99999x99999",
)  # fmt: skip
NUMBERS = (
    "1000000", "1000000000", "999999999999999999999", "9" * 90, "9" * 4400, "-1", "-" + "9" * 90, "0", "²", "٣",
    "1e9", "0x10", "nan", "inf", "1_0_0_0_0_0_0", "",
)  # fmt: skip
NAMES = (
    "z\n", "\n", "a\nb", "z\r", "z\x00", "z\u2028", "é", "²", "..", ".", "-", "/", "a/b", "a b", "%00", "a%0a", "a?b",
    "x" * 65, "x" * 100_000, "\ud800", "con:", "a\\b", "<a>", "'; DROP TABLE policies; --", " z", "z ", "",
)  # fmt: skip
BODIES = (
    '{"name": "q", "graph": {"n": 4, "edges": [' + "[0,1]," * 2_500_000 + "[1,0]]}}",
    '{"name": "q", "graph": {"n": 4, "edges": [' + "[]," * 5_000_000 + "[1,0]]}}",
    '{"name": "q", "graph": {"n": 100001, "edges": [[0,1]]}}',
    '{"name": "q", "graph": {"n": 2147483647, "edges": [[0,1]]}}',
    '{"name": "q", "graph": {"n": 2, "edges": [[0,1],[1,0]], "labels": ["a\\n", "b"]}}',
    '{"name": "q", "graph": {"n": 2, "edges": [[0,1],[1,0]], "labels": [' + '"ab",' * 3_000_000 + '"b"]}}',
    '{"name": "q", "graph": {"n": 2, "edges": [[0,1],[1,0]], "probabilities": [' + "1," * 5_000_000 + "1]}}",
    '{"name": "q", "graph": ' + "[" * 500 + "]" * 500 + "}",
    '{"name": "q", "graph": ' + '{"a":' * 500 + "1" + "}" * 500 + "}",
    '{"name": "q", "graph": ' + "[" * 1_000_000,
)


def probed(store: str) -> tuple[Counter[int], list[str]]:
    """How many answers of each status, 0 for none at all; and the requests that failed."""
    counts: Counter[int] = Counter()
    failed: list[str] = []

    async def all_(address: str) -> None:
        connection = Connection(address)
        for data in requests(exported):
            status, body = await answer_to(connection, data)
            counts[status] += 1
            if not (200 <= status < 300 and b"/import" in data[:60]) and not 400 <= status < 500:
                failed.append(f"{status} {body[:200]!r} to {data[:200]!r}")
        held = [await asyncio.open_connection(connection.host, connection.port) for _ in range(UNFINISHED)]
        for _, writer in held:
            writer.write(b"GET /v1/policies HTTP/1.1\r\nHost: x\r\nX:")
        status, body = await answer_to(Connection(address), b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        counts[status] += 1
        if status != 200:
            failed.append(
                f"{status} {body[:200]!r} beside {UNFINISHED:,} connections without a whole request"
            )
        for _, writer in held:
            writer.close()

    with Process(store, How(memory=MEMORY)) as process:
        ask(process.address, "POST", "/v1/policies", {"name": "p", "graph": "cycle:4", "seed": 1})
        made = ask(process.address, "POST", "/v1/policies/p/decisions", {"count": 3})[1]["decisions"]
        told = [{"decision": each["id"], "losses": [0.5, 0.5]} for each in made[:2]]
        ask(process.address, "POST", "/v1/policies/p/observations", {"observations": told})
        exported = run(lambda: _exported(process.address))
        run(lambda: all_(process.address))
        if ask(process.address, "GET", "/healthz")[0] != 200:
            failed.append("it is not healthy afterwards")
        if process.stop() != 0:
            failed.append("it does not stop as it should")
    return counts, failed


async def _exported(address: str) -> list[dict[str, Any]]:
    _, text = await Connection(address).send("GET", "/v1/policies/p/export")
    return [json.loads(line) for line in text.splitlines()]


def requests(exported: list[dict[str, Any]]) -> Iterator[bytes]:
    """All of them, as bytes; `exported` are the lines of a policy that is in order."""
    for graph in (*TOO_LARGE, *_families()):
        yield _post("/v1/policies", {"name": "q", "graph": graph})
    for name in NAMES:
        yield _post("/v1/policies", {"name": name, "graph": "cycle:4"})
        yield _post("/v1/tokens", {"scopes": ["read"], "policy": name or "/"})
    for body in BODIES:
        yield _post("/v1/policies", body.encode())
    for at, line in enumerate(exported):
        for path in _paths(line):
            for value in (*ODD, 10**400, "A" * 100_000, _nested(500), base64.b64encode(b"PK").decode()):
                yield _post("/v1/policies/p/import", _altered(exported, at, path, value))
    for token in ("x", "sl_000000000000_" + "A" * 43, "s" * 60_000):
        yield f"GET /v1/policies HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        yield f"GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode()


def _families() -> Iterator[str]:
    """Every family with every number in the place of each of its arguments."""
    for usage in families.usages():
        name, _, arguments = re.sub(r"\[.*?\]| or .*|,\.\.\.", "", usage).partition(":")
        words = [word for word in re.split("[,+]", arguments) if word]
        for at in range(len(words)):
            for number in NUMBERS:
                yield f"{name}:{','.join(number if each == at else '1000000' for each in range(len(words)))}"


def _paths(line: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Where something can be put into a line of an export, of which each kind is altered once."""
    for key, value in line.items():
        yield (key,)
        if key == "event":
            yield from ((key, at) for at in range(len(value)))
        if key == "about" and isinstance(value, dict):
            yield from ((key, name) for name in value)


def _altered(lines: list[dict[str, Any]], at: int, path: tuple[Any, ...], value: Any) -> bytes:
    made = json.loads(json.dumps(lines))
    place = made[at]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return "\n".join(json.dumps(line) for line in made).encode()


def _nested(depth: int) -> Any:
    made: Any = {}
    for _ in range(depth):
        made = {"a": made}
    return made


def _post(path: str, body: Any) -> bytes:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ADMIN}\r\nContent-Length: {len(text)}\r\n\r\n"
    return head.encode() + text
