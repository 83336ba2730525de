"""Size of the linear program and time to the exact value: python benchmarks/bench_minimax.py [--long].

Every row is verified after the clock stops. A refused game shows the size it was refused for.
"""

import argparse
import time

import numpy as np

from sidelight.analysis import minimax
from sidelight.errors import InfeasibleRequest
from sidelight.graph import FeedbackGraph, families


def most_histories(n):
    """Arm 0 reveals everything, every other arm all but the next one: no symmetry, no two alike."""
    reveals = np.ones((n, n))
    reveals[np.arange(1, n), (np.arange(1, n) + 1) % n] = 0
    return reveals


GRAPHS = {
    "full feedback": families.full,
    "bandit": families.mab,
    "loop-less clique": families.loopless_clique,
    "revealing action": families.revealing_action,
    "one-sided": lambda n: FeedbackGraph.from_adjacency(np.triu(np.ones((n, n)))),
    "most histories": lambda n: FeedbackGraph.from_adjacency(most_histories(n)),
    "nothing revealed": lambda n: FeedbackGraph.from_edges(n, []),
}
SIZES = [(2, 4), (2, 5), (2, 6), (3, 3), (3, 4), (4, 3), (6, 2)]
LONG = [(2, 7), (2, 8), (3, 5), (3, 6), (4, 4), (9, 2)]


def clock(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def show(name, g, horizon):
    try:
        seconds, found = clock(lambda: minimax(g, horizon))
    except InfeasibleRequest as refused:
        print(f"{name:18} {g.n_arms:>3} {horizon:>3}  refused: {refused}", flush=True)
        return
    check, _ = clock(found.verify)
    size = found.size
    print(
        f"{name:18} {g.n_arms:>3} {horizon:>3} {size.rows:>9,} {size.columns:>9,} {size.nonzeros:>11,}"
        f" {found.value:>12.9f} {found.gap:>8.1e} {len(found.adversary):>8,} {seconds:>8.2f} s {check:>7.2f} s",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--long", action="store_true", help="also games beyond the promised sizes")
    options = parser.parse_args()

    head = ("graph", "N", "T", "rows", "columns", "non-zeros", "value", "gap", "matrices", "time", "verify")
    print("{:18} {:>3} {:>3} {:>9} {:>9} {:>11} {:>12} {:>8} {:>8} {:>10} {:>9}".format(*head))
    for n, horizon in SIZES + LONG * options.long:
        for name, family in GRAPHS.items():
            show(name, family(n), horizon)


if __name__ == "__main__":
    main()
