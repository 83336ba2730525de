"""Time to a certified domination number: python benchmarks/bench_domination.py [--million] [--real FOLDER].

Every row is verified against the graph after the clock stops. `--real` takes a folder of `name.csv.gz` edge
lists with `name.json` cards (N, directed); arms that nothing reveals are dropped first.
"""

import argparse
import gzip
import json
import resource
import time
from pathlib import Path

import numpy as np

from sidelight.analysis import block_dominations, fractional_domination, observability
from sidelight.graph import FeedbackGraph
from sidelight.graph.edges import Edges

GAPS = (0.01, 0.001)


def cycle(n):
    arms = np.arange(n)
    return edges_to_graph(n, np.tile(arms, 2), np.concatenate([(arms + 1) % n, (arms - 1) % n]))


def hypercube(d):
    arms = np.arange(2**d)
    return edges_to_graph(2**d, np.tile(arms, d), np.concatenate([arms ^ (1 << bit) for bit in range(d)]))


def loopless_clique(n):
    none = np.empty(0, dtype=np.int64)
    return FeedbackGraph._of(
        Edges(n, none, none, universal=np.arange(n), universal_loops=np.zeros(n, dtype=bool))
    )


def random_graph(n, degree):
    rng = np.random.default_rng(0)
    return edges_to_graph(n, rng.integers(0, n, n * degree), np.repeat(np.arange(n), degree))


def power_law(n, degree, exponent=3.0):
    """Out-degrees follow a power law, every arm has about `degree` in-neighbours."""
    rng = np.random.default_rng(0)
    weight = np.arange(1, n + 1) ** (-1 / (exponent - 1))
    return edges_to_graph(
        n, rng.choice(n, n * degree, p=weight / weight.sum()), np.repeat(np.arange(n), degree)
    )


def edges_to_graph(n, sources, targets):
    return FeedbackGraph.from_edges(n, np.column_stack([sources, targets]))


def real(folder):
    for card in sorted(Path(folder).glob("*.json")):
        about = json.loads(card.read_text())
        with gzip.open(card.with_suffix(".csv.gz"), "rt") as file:
            edges = np.loadtxt(file, delimiter=",", skiprows=1, usecols=(0, 1), dtype=np.int64, ndmin=2)
        if not about["directed"]:
            edges = np.concatenate([edges, edges[:, ::-1]])
        g = FeedbackGraph.from_edges(about["N"], edges)
        while 0 < (blind := observability(g).unobservable).size < g.n_arms:
            g = g.subgraph(np.setdiff1d(np.arange(g.n_arms), blind))
        if blind.size == 0:
            yield card.stem, g


def clock(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def show(name, g):
    cells = []
    for gap in GAPS:
        seconds, found = clock(lambda gap=gap: fractional_domination(g, tolerance=gap))
        check, _ = clock(lambda found=found: found.verify(g))
        cells.append(f"{seconds:8.3f} s {found.gap:7.4%}")
        if found.exact:
            cells.append(f"{'':>18}")
            break
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{name:28} {g.n_arms:>9,} {g.n_edges:>14,} {found.value:>12.3f} {cells[0]} {cells[1]}"
        f" {check:7.3f} s {memory:6.2f} GB  {found.method}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--million", action="store_true", help="also graphs of a million arms")
    parser.add_argument("--real", help="folder of real graphs")
    options = parser.parse_args()

    fractional_domination(random_graph(3000, 8))  # compile first
    head = ("graph", "arms", "edges", "δ", "to 1 %", "to 0.1 %", "verify", "peak")
    print("{:28} {:>9} {:>14} {:>12} {:>18} {:>18} {:>9} {:>9}  method".format(*head))
    show("cycle", cycle(100_000))
    for d in (10, 12, 14, 16):
        show(f"hypercube {d}", hypercube(d))
    show("loop-less clique", loopless_clique(100_000))
    for n in (1_000, 10_000, 100_000, *([1_000_000] if options.million else [])):
        for degree in (5, 20):
            show(f"random, degree {degree}", random_graph(n, degree))
        show("power law (3), degree 10", power_law(n, 10))
    if options.real:
        for name, g in real(options.real):
            show(name, g)

    size, count = 10, 100_000
    i, j = np.nonzero(~np.eye(size, dtype=bool))
    shift = np.repeat(np.arange(count) * size, len(i))
    g = edges_to_graph(count * size, np.tile(i, count) + shift, np.tile(j, count) + shift)
    blocks = list(np.arange(count * size).reshape(count, size))
    seconds, found = clock(lambda: block_dominations(g, blocks))
    print(f"block_dominations: {len(found):,} cliques of {size} in {seconds:.2f} s")


if __name__ == "__main__":
    main()
