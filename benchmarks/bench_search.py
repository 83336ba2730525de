"""Gap of the search to the best of all partitions, and its time: python benchmarks/bench_search.py [--large].

Gaps: every observable digraph with 4 arms up to isomorphism, and 200 random ones with 5 to 8 arms.
"""

import argparse
import time
from itertools import permutations

import numpy as np

from sidelight.graph import FeedbackGraph, families
from sidelight.planning.search import searched

HORIZONS = (10**4, 10**6, 10**9)


def four_arms():
    """Adjacency of the observable digraphs with 4 arms, one of each isomorphism class: the least code."""
    codes = np.arange(1 << 16)
    bits = (codes[:, None] >> np.arange(16)) & 1
    least = codes.copy()
    for order in permutations(range(4)):
        moved = bits.reshape(-1, 4, 4)[:, order][:, :, order].reshape(-1, 16)
        least = np.minimum(least, moved @ (1 << np.arange(16)))
    kept = codes[(least == codes) & bits.reshape(-1, 4, 4).any(axis=1).all(axis=1)]
    return [((code >> np.arange(16)) & 1).reshape(4, 4) for code in kept.tolist()]


def random_graphs(count, sizes, seed):
    """Observable random digraphs, from sparse with many self-loops to dense."""
    rng = np.random.default_rng(seed)
    made = []
    while len(made) < count:
        n = int(rng.choice(sizes))
        reveals = rng.random((n, n)) < rng.choice([0.1, 0.2, 0.4])
        np.fill_diagonal(reveals, rng.random(n) < rng.choice([0.0, 0.5, 0.9]))
        if reveals.any(axis=0).all():
            made.append(reveals)
    return made


def gaps(matrices, horizons, moves):
    """(gap to the optimum, does the optimum beat every natural partition?) of each graph, horizons in turn."""
    result = []
    for i, reveals in enumerate(matrices):
        g, T = FeedbackGraph.from_adjacency(reveals), horizons[i % len(horizons)]
        best = searched(g, T, exact=True)
        found = searched(g, T, exact=False, moves=moves, budget=600)
        natural = min(t.value for t in best.history if t.name != "enumerated")
        result.append((found.bound / best.bound - 1, best.bound < natural * (1 - 1e-9)))
    return np.array(result)


def report(name, matrices, moves):
    start = time.perf_counter()
    found = gaps(matrices, HORIZONS, moves)
    gap, novel = found[:, 0], int(found[:, 1].sum())
    print(
        f"{name:24} {len(gap):>5} graphs  gap: median {np.median(gap):.2%}, mean {gap.mean():.3%},"
        f" most {gap.max():.2%};"
        f" optimum is not natural: {novel}; {time.perf_counter() - start:.0f} s",
        flush=True,
    )


def linked(n, c):
    """Bandit of n arms whose last c reveal nothing themselves, each watched by an arm; a path links all others."""
    edges = [(i, i) for i in range(n - c)] + [(i, n - c + i) for i in range(c)]
    return FeedbackGraph.from_edges(n, edges + [(i, i + 1) for i in range(n - c - 1)])


LARGE = {
    "linked bandit 500": lambda: linked(500, 20),
    "linked bandit 10⁴": lambda: linked(10**4, 50),
    "cycle 10⁴": lambda: families.cycle(10**4),
    "in-degree 8, 10⁴": lambda: families.bounded_in_degree(10**4, 8, 1),
    "cliques 10⁵": lambda: families.cliques([10] * 10**4),
    "cycle 10⁵": lambda: families.cycle(10**5),
    "bandit 10⁵": lambda: families.mab(10**5),
    "corrupted bandit 10⁵": lambda: families.corrupted_mab(10**5, 500),
}
NATURAL = {"single", "singletons", "corrupted", "components", "hypercube", "strongly connected"}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", action="store_true", help="time and gain on large graphs instead")
    parser.add_argument("--budget", type=float, default=10.0, help="seconds for each large graph")
    parser.add_argument("--moves", type=int, default=300, help="moves for each small graph")
    options = parser.parse_args()
    if not options.large:
        report("all with 4 arms", four_arms(), options.moves)
        report("random, 5 to 8 arms", random_graphs(200, (5, 6, 7, 8), seed=0), options.moves)
        return
    for name, make in LARGE.items():
        g = make()
        start = time.perf_counter()
        found = searched(g, 10**8, budget=options.budget)
        natural = min(t.value for t in found.history if t.name in NATURAL)
        print(
            f"{name:22} {time.perf_counter() - start:>6.1f} s  bound {found.bound:>14,.0f}"
            f"  best natural {natural:>14,.0f}  gain {1 - found.bound / natural:.2%}"
            f"  {found.moves:,} moves, {found.stopped}",
            flush=True,
        )


if __name__ == "__main__":
    main()
