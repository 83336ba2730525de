"""Pairs a second of one process: with its store, without, and with a transaction for each request."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from benchmarks.service.load import Measured, ask, loaded
from benchmarks.service.serving import How, Process

import sidelight as sl

GRAPH = "cycle:20"
KINDS = {
    "SQLite, group commit": "group",
    "without a store": "nowhere",
    "a transaction a request": "single",
}


def measured(folder: Path, seconds: float, repetitions: int, connections: int) -> list[list[str]]:
    """Rows of the table; the three take turns, and the ratios are of medians of the same run."""
    processes = {
        name: Process(f"sqlite:///{folder}/{kind}.db", How(writes=kind)) for name, kind in KINDS.items()
    }
    found: dict[str, list[Measured]] = {name: [] for name in KINDS}
    spent = dict.fromkeys(KINDS, 0.0)
    try:
        for process in processes.values():
            ask(process.address, "POST", "/v1/policies", {"name": "p", "graph": GRAPH, "seed": 1})
            loaded(process.address, ["p"], min(seconds, 0.5), connections)
        for _ in range(repetitions):
            for name, process in processes.items():
                before = process.seconds()
                found[name].append(loaded(process.address, ["p"], seconds, connections))
                spent[name] += process.seconds() - before
    finally:
        for process in processes.values():
            process.kill()
    rates = {name: float(np.median([each.rate for each in each_of])) for name, each_of in found.items()}
    first = next(iter(rates.values()))
    rows, library = [], _library()
    for name, runs in found.items():
        all_ = Measured(
            sum(run.pairs for run in runs),
            sum(run.spent for run in runs),
            [w for run in runs for w in run.waits],
        )
        cost = spent[name] / all_.pairs * 1e6
        rows.append(
            [
                name, f"{rates[name]:,.0f}", f"{first / rates[name]:.2f}", f"{all_.wait(0.5):.1f}",
                f"{all_.wait(0.99):.1f}", f"{cost:,.0f}", f"{library / cost:.1%}",
            ]
        )  # fmt: skip
    return rows


HEADS = (
    "",
    "pairs/s",
    "group against it",
    "p50 ms",
    "p99 ms",
    "processor µs a pair",
    "of it decide + observe",
)


def _library() -> float:
    """Microseconds of the processor for a pair of decide and observe, by the library alone."""
    policy = sl.plan(sl.families.parse(GRAPH)).policy(seed=1)
    values = np.random.default_rng(1).random((1000, 20))
    least = np.inf
    for _ in range(6):
        began = time.process_time()
        for t in range(1000):
            decision = policy.decide()
            policy.observe(decision, values[t, decision.reveals])
        least = min(least, (time.process_time() - began) * 1e3)
    return float(least)
