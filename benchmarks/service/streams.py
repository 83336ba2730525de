"""What watching costs those who ask and tell: pairs a second and p99 with open streams, against none.

Streams are those of the page, which opens two: one of a policy and one of all. They are read by a process of their
own, which only counts what comes, so that the connections that ask are as quick as without.
"""

from __future__ import annotations

import multiprocessing
import selectors
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from benchmarks.service.load import Measured, ask, loaded
from benchmarks.service.serving import ADMIN, Process

GRAPH = "cycle:20"
COUNTS = (0, 1, 10, 50)
PATHS = ("/v1/policies/p/stream", "/v1/stream")
"""In turns: a page has one of each."""

HEADS = (
    "streams", "pairs/s", "of none", "p50 ms", "p99 ms", "of none", "processor µs a pair", "of none",
    "told a second", "KiB a second", "processor ms to open one",
)  # fmt: skip


def measured(folder: Path, seconds: float, repetitions: int, connections: int) -> list[list[str]]:
    """Rows of the table; the numbers of streams take turns, each time in another order, and ratios are of medians."""
    found: dict[int, list[Measured]] = {count: [] for count in COUNTS}
    spent: dict[int, list[float]] = {count: [] for count in COUNTS}
    opened: dict[int, list[float]] = {count: [] for count in COUNTS}
    told: dict[int, list[tuple[float, float]]] = {count: [] for count in COUNTS}
    with Process(f"sqlite:///{folder}/streams.db") as process:
        ask(process.address, "POST", "/v1/policies", {"name": "p", "graph": GRAPH, "seed": 1})
        loaded(process.address, ["p"], min(seconds, 0.5), connections)
        for turn in range(repetitions):
            at = turn % len(COUNTS)
            for count in (*COUNTS[at:], *COUNTS[:at]):
                idle = process.seconds()
                with watched(process.address, count) as total:
                    before, first = process.seconds(), total()
                    run = loaded(process.address, ["p"], seconds, connections)
                    last = total()
                    spent[count].append((process.seconds() - before) / run.pairs * 1e6)
                opened[count].append((before - idle) / max(count, 1) * 1e3)
                told[count].append(((last[0] - first[0]) / run.spent, (last[1] - first[1]) / run.spent))
                found[count].append(run)
    rates = {count: median(run.rate for run in found[count]) for count in COUNTS}
    waits = {count: median(run.wait(0.99) for run in found[count]) for count in COUNTS}
    costs = {count: median(spent[count]) for count in COUNTS}
    return [
        [
            str(count),
            f"{rates[count]:,.0f}",
            f"{rates[count] / rates[0]:.2f}",
            f"{median(run.wait(0.5) for run in found[count]):.1f}",
            f"{waits[count]:.1f}",
            f"{waits[count] / waits[0]:.2f}",
            f"{costs[count]:,.0f}",
            f"{costs[count] / costs[0]:.2f}",
            f"{median(events for events, _ in told[count]):,.0f}",
            f"{median(size for _, size in told[count]) / 2**10:,.0f}",
            f"{median(opened[count]):.1f}",
        ]
        for count in COUNTS
    ]


@contextmanager
def watched(address: str, count: int) -> Iterator[Any]:
    """So many streams, read until the end; yields what tells how many events and bytes have come so far."""
    if not count:
        yield lambda: (0, 0)
        return
    context = multiprocessing.get_context("forkserver")
    ours, theirs = context.Pipe()
    reader = context.Process(target=_read, args=(address, count, theirs), daemon=True)
    reader.start()
    theirs.close()

    def total() -> tuple[int, int]:
        ours.send(None)
        answer: tuple[int, int] = ours.recv()
        return answer

    try:
        ours.recv()  # every stream has told how the policies stand
        yield total
    finally:
        reader.kill()
        reader.join()


def _read(address: str, count: int, asked: Any) -> None:
    place, chosen = urlsplit(address), selectors.DefaultSelector()
    events = size = 0
    silent = set()
    for number in range(count):
        made = socket.create_connection((place.hostname, place.port))
        path = PATHS[number % len(PATHS)]
        made.sendall(
            f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {ADMIN}\r\n\r\n".encode()
        )
        chosen.register(made, selectors.EVENT_READ)
        silent.add(made)
    chosen.register(asked, selectors.EVENT_READ)
    while True:
        for key, _ in chosen.select():
            if key.fileobj is asked:
                asked.recv()
                asked.send((events, size))
                continue
            data = key.fileobj.recv(1 << 16)
            if not data:
                raise SystemExit("a stream has ended")
            events, size = events + data.count(b"event: "), size + len(data)
            if key.fileobj in silent and b"event: polic" in data:
                silent.discard(key.fileobj)
                if not silent:
                    asked.send(True)
