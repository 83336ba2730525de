"""Large stores: how long a start takes, what a policy and an open decision take, and whether others slow one down.

Stores are filled by the same code that serves requests (`Served`, `Store.append`), without HTTP and with transactions
of thousands of events: a million events over HTTP would take an hour and be the same bytes.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from benchmarks.service.load import Connection, Measured, ask, loaded, run
from benchmarks.service.serving import ADMIN, Process

import sidelight as sl
from sidelight.service.access import Limits
from sidelight.service.events import PolicyRow
from sidelight.service.messages import Observation
from sidelight.service.served import Served
from sidelight.service.store.base import make_store

GRAPH = "cycle:20"


def filled(address: str, events: int) -> None:
    """A store with one policy that has so many events."""
    store = make_store(address)
    store.open()
    try:
        policy = sl.plan(sl.families.parse(GRAPH)).policy(seed=1)
        about = {"created": 0.0, "expires": None, "arms": 20}
        served = Served(PolicyRow(0, "p", about), policy, Limits())
        served.row = store.create("p", about, [served.snapshot_now()])
        values = np.random.default_rng(1).random((997, 2)).tolist()
        while served.seq < events:
            made = served.decide(1000, None, 0.0)
            told = [Observation(each.id, values[each.id % 997]) for each in made]
            served.observe(told, {}, 0.0)
            write = served.taken()
            assert write is not None
            store.append([write])
            served.committed(served.seq)
    finally:
        store.close()


def start(address: str) -> tuple[float, float]:
    """Seconds from nothing to a service that is ready, and to its first decision; a fresh interpreter."""
    command = [sys.executable, "-m", "sidelight", "serve", "--store", address, "--port", "0", "--json"]
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**_environment()}
    ) as process:
        try:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            ready = time.perf_counter() - began
            ask(told["address"], "POST", "/v1/policies/p/decisions", {})
            return ready, time.perf_counter() - began
        finally:
            process.kill()


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "SIDELIGHT_ADMIN_TOKEN": ADMIN, "PYTHONPATH": ":".join(p for p in sys.path if p)}


def starts(folder: Path, events: int) -> list[list[str]]:
    """Rows: a store with one event, and one with many."""
    rows = []
    for count in (1, events):
        address = f"sqlite:///{folder}/start{count}.db"
        began = time.perf_counter()
        filled(address, count)
        spent = time.perf_counter() - began
        size = (folder / f"start{count}.db").stat().st_size / 2**20
        ready, first = start(address)
        rows.append([f"{max(count, 2000):,}", f"{size:,.1f}", f"{spent:.1f}", f"{ready:.2f}", f"{first:.2f}"])
    return rows


START_HEADS = ("events", "MiB", "s to fill it", "s until ready", "s until a decision")


def many(folder: Path, policies: int, open_each: int, seconds: float, repetitions: int) -> list[list[str]]:
    """Rows: with one policy in memory, with all of them, and with many open decisions in each.

    Requests to one policy and to all of them take turns, so that a machine that slows down slows both.
    """
    address = f"sqlite:///{folder}/many.db"
    store = make_store(address)
    store.open()
    policy = sl.plan(sl.families.parse(GRAPH)).policy(seed=1)
    names = [f"p{number:05d}" for number in range(policies)]
    for number, name in enumerate(names):
        about = {"created": 0.0, "expires": None, "arms": 20}
        made = Served(PolicyRow(0, name, about), policy.copy(seed=number), Limits())
        store.create(name, about, [made.snapshot_now()])
    store.close()
    rows = []

    def row(name: str, process: Process, per: float, unit: str) -> None:
        found: list[tuple[Measured, Measured]] = []
        for _ in range(repetitions):
            one, all_ = (loaded(process.address, wanted, seconds) for wanted in (names[:1], names))
            found.append((one, all_))
        slower = statistics.median(one.rate / all_.rate for one, all_ in found)
        rates = [statistics.median(each[k].rate for each in found) for k in (0, 1)]
        waits = [statistics.median(each[k].wait(0.99) for each in found) for k in (0, 1)]
        rows.append(
            [
                name,
                f"{process.resident() / 2**20:,.0f}",
                f"{per / 2**10:,.1f} {unit}",
                f"{rates[0]:,.0f} ({waits[0]:.0f})",
                f"{rates[1]:,.0f} ({waits[1]:.0f})",
                f"{slower:.2f}",
            ]
        )

    with Process(address) as process:
        loaded(process.address, names[:1], 0.5)
        half = policies // 2
        before = process.resident()
        run(lambda: _decided(process.address, names[1:half], 1))
        between = process.resident()
        began = time.perf_counter()
        run(lambda: _decided(process.address, names[half:], 1))
        read = (time.perf_counter() - began) / (policies - half)
        after = process.resident()
        loaded(process.address, names, seconds)
        first, second = (between - before) / (half - 1), (after - between) / (policies - half)
        row(f"{policies:,} policies", process, second, f"KiB a policy (the first half {first / 2**10:,.1f})")
        before = process.resident()
        run(lambda: _decided(process.address, names, open_each))
        total = policies * open_each
        per = (process.resident() - before) / total
        row(f"and {total:,} open decisions", process, per, "KiB a decision")
    rows.append([f"reading a policy from the store: {read * 1e3:.0f} ms", *[""] * 5])
    return rows


MANY_HEADS = (
    "in memory",
    "MiB",
    "each more takes",
    "pairs/s of one policy (p99 ms)",
    "of all",
    "all are slower by",
)


async def _decided(address: str, names: list[str], count: int) -> None:
    connection = Connection(address)
    for name in names:
        await connection.json("POST", f"/v1/policies/{name}/decisions", {"count": count})
    connection.close()
