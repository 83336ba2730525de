"""One process and two on one PostgreSQL store: with every policy sent to one of them, and to either.

The load generator and the database need the processor too. On a machine with few cores pairs a second say little, and
what the processes themselves spend says what two machines could do. Each process has as many connections as one
alone.
"""

from __future__ import annotations

from statistics import median

from benchmarks.service.faults import postgres
from benchmarks.service.load import ask, loaded
from benchmarks.service.serving import Process

GRAPH = "cycle:20"
POLICIES = 10
HEADS = (
    "",
    "pairs/s",
    "processor µs a pair",
    "of the busier process",
    "pairs for a core of each, against one",
)


def measured(seconds: float, repetitions: int, connections: int) -> list[list[str]]:
    """Rows of the table; the ways take turns, and their figures are medians."""
    together, apart = ([f"{letter}{number}" for number in range(POLICIES)] for letter in "pq")
    with postgres() as store, Process(store) as one, Process(store) as two:
        owners = dict.fromkeys(together, one) | {name: (one, two)[at % 2] for at, name in enumerate(apart)}
        for seed, (name, owner) in enumerate(owners.items()):
            ask(one.address, "POST", "/v1/policies", {"name": name, "graph": GRAPH, "seed": seed})
            ask(owner.address, "GET", f"/v1/policies/{name}")  # who is asked first owns it
        ways = {
            "one process": ({name: [one.address] for name in together}, 1),
            "two, each policy sent to its own": ({name: [owners[name].address] for name in apart}, 2),
            "two, requests sent to either": ({name: [one.address, two.address] for name in apart}, 2),
            "two, all sent to the wrong one": ({name: [two.address] for name in together}, 1),
        }
        found: dict[str, list[tuple[float, float, float]]] = {way: [] for way in ways}
        for turn in range(repetitions + 1):
            for way, (addresses, processes) in ways.items():
                before = one.seconds(), two.seconds()
                load = loaded(addresses, list(addresses), seconds if turn else 0.5, connections * processes)
                spent = [each.seconds() - then for each, then in zip((one, two), before, strict=True)]
                if turn:
                    costs = [each / load.pairs * 1e6 for each in spent]
                    found[way].append((load.rate, sum(costs), max(costs)))
    medians = {way: [median(values) for values in zip(*each, strict=True)] for way, each in found.items()}
    alone = medians["one process"][2]
    return [
        [way, f"{rate:,.0f}", f"{cost:,.0f}", f"{most:,.0f}", f"{alone / most:.2f}"]
        for way, (rate, cost, most) in medians.items()
    ]
