"""Gap of the search to the best of all partitions, and its time: python benchmarks/bench_search.py [--large].

Gaps: every observable digraph with 4 arms up to isomorphism (2 340 of the 3 044 digraphs with loops allowed), and 200
random ones with 5 to 8 arms. "moves alone" is the gap when natural partitions and made starts are left out and the
search starts from the legal partition with the largest floor. --large: time and gains on large graphs.
"""

import argparse
import time
from itertools import permutations

import numpy as np

import sidelight.planning.search as home
from sidelight.graph import FeedbackGraph, families
from sidelight.partition import Partition
from sidelight.planning import plan
from sidelight.planning.search import by_floor, searched

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
    """(gap, gap of the moves alone, does the optimum beat every natural partition?) by graph, horizons in turn."""
    result = []
    for i, reveals in enumerate(matrices):
        g, T = FeedbackGraph.from_adjacency(reveals), horizons[i % len(horizons)]
        best = searched(g, T, exact=True)
        found = searched(g, T, exact=False, moves=moves, budget=600)
        natural = min(t.value for t in best.history if t.name != "enumerated")
        alone = moves_alone(g, T, moves).bound
        result.append(
            (found.bound / best.bound - 1, alone / best.bound - 1, best.bound < natural * (1 - 1e-9))
        )
    return np.array(result)


def moves_alone(g, T, moves):
    """The search from the legal partition with the largest floor and nothing else."""
    start = Partition(g, by_floor(g, T)[0][-1][1])
    kept = home.natural_starts, home.hubs
    home.natural_starts, home.hubs = lambda *_: [("start", start)], lambda *_: []
    try:
        return searched(g, T, exact=False, moves=moves, budget=600)
    finally:
        home.natural_starts, home.hubs = kept


def report(name, matrices, moves):
    start = time.perf_counter()
    found = gaps(matrices, HORIZONS, moves)
    for column, what in ((0, "search"), (1, "moves alone")):
        gap = found[:, column]
        print(
            f"{name:22} {len(gap):>5} graphs, {what:11}  gap: median {np.median(gap):.2%}, mean {gap.mean():.3%},"
            f" most {gap.max():.2%}, none {np.mean(gap < 1e-9):.1%}",
            flush=True,
        )
    print(
        f"{name:22} optimum is not natural: {int(found[:, 2].sum())}; {time.perf_counter() - start:.0f} s",
        flush=True,
    )


def linked(n, c):
    """Bandit of n arms whose last c reveal nothing themselves, each watched by an arm; a path links all others."""
    edges = [(i, i) for i in range(n - c)] + [(i, n - c + i) for i in range(c)]
    return FeedbackGraph.from_edges(n, edges + [(i, i + 1) for i in range(n - c - 1)])


def hidden_star(leaves, loops):
    """A bandit on a path, at the end of which one arm reveals `leaves` others; names are shuffled."""
    n = 1 + leaves + loops
    edges = [(i, i) for i in range(n)] + [(0, j) for j in range(1, leaves + 1)]
    edges += [(i, i + 1) for i in range(leaves, n - 1)]
    return FeedbackGraph.from_edges(n, np.random.default_rng(0).permutation(n)[np.array(edges)])


LARGE = {
    "hidden star 10⁴": lambda: hidden_star(9_000, 999),
    "hidden star 10⁵": lambda: hidden_star(95_000, 4_999),
    "linked bandit 500": lambda: linked(500, 20),
    "linked bandit 10⁴": lambda: linked(10**4, 50),
    "cycle 10⁴": lambda: families.cycle(10**4),
    "in-degree 8, 10⁴": lambda: families.bounded_in_degree(10**4, 8, 1),
    "cliques 10⁵": lambda: families.cliques([10] * 10**4),
    "cycle 10⁵": lambda: families.cycle(10**5),
    "bandit 10⁵": lambda: families.mab(10**5),
    "corrupted bandit 10⁵": lambda: families.corrupted_mab(10**5, 500),
}
NATURAL = {
    "single",
    "singletons",
    "corrupted",
    "components",
    "hypercube",
    "strongly connected",
    "communities",
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", action="store_true", help="time and gain on large graphs instead")
    parser.add_argument("--budget", type=float, default=10.0, help="seconds for each large graph")
    parser.add_argument("--horizon", type=int, default=10**7, help="rounds for the large graphs")
    parser.add_argument("--every", type=int, default=1, help="only every so-manieth small graph")
    parser.add_argument("--moves", type=int, default=300, help="moves for each small graph")
    options = parser.parse_args()
    if not options.large:
        report("all with 4 arms", four_arms()[:: options.every], options.moves)
        report(
            "random, 5 to 8 arms", random_graphs(200, (5, 6, 7, 8), seed=0)[:: options.every], options.moves
        )
        return
    searched(linked(50, 2), 1000, exact=False, moves=50)  # compiles what there is to compile
    for name, make in LARGE.items():
        g = make()
        auto = plan(g, options.horizon).bound.value
        start = time.perf_counter()
        found = searched(g, options.horizon, budget=options.budget)
        seconds = time.perf_counter() - start
        natural = min(t.value for t in found.history if t.name in NATURAL)
        scored = max(t.seconds for t in found.history if t.name in NATURAL)
        print(
            f"{name:22} {seconds:>6.1f} s (natural ones after {scored:.1f} s)  bound {found.bound:>13,.0f}"
            f"  gain on natural {1 - found.bound / natural:>6.2%}, on plan {max(1 - found.bound / auto, 0):>6.2%}"
            f"  {found.moves:,} moves, {found.stopped}",
            flush=True,
        )


if __name__ == "__main__":
    main()
