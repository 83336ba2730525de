"""Seconds to plan the larger graphs: python benchmarks/bench_planning.py [NAME …] [--horizon T].

Three graphs of ../shared/data as table_bounds.py makes them observable, which must be planned within 60 s each, and
made ones with 10⁵ arms. Wall clock of `sl.plan`; small graphs are planned first, so that nothing is compiled then.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from table_bounds import data_graph, data_names

from sidelight.graph import FeedbackGraph, families
from sidelight.planning import plan

LIMITS = {"ego_facebook": 60.0, "cit_HepTh": 60.0, "soc_Slashdot0902": 60.0}


def random_undirected(n, degree, seed=0):
    """Self-loops and n·degree/2 random edges in both directions."""
    ends = np.random.default_rng(seed).integers(n, size=(n * degree // 2, 2))
    loops = np.column_stack([np.arange(n)] * 2)
    return FeedbackGraph.from_edges(n, np.concatenate([ends, ends[:, ::-1], loops]))


MADE = {
    "random, loops, degree 6": lambda: random_undirected(10**5, 6),
    "random, loops, degree 20": lambda: random_undirected(10**5, 20),
    "in-degree 8": lambda: families.bounded_in_degree(10**5, 8, 1),
    "cycle": lambda: families.cycle(10**5),
    "disjoint cliques": lambda: families.cliques([10] * 10**4),
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="graphs to plan; all of them if none is named")
    parser.add_argument("--horizon", type=int, default=10**8)
    options = parser.parse_args()
    for n in (40, 3_000):
        plan(random_undirected(n, 6), options.horizon)
        plan(families.bounded_in_degree(n, 8, 1), options.horizon)
    known = [*(name for name in LIMITS if name in data_names()), *MADE]
    kept = True
    for name in options.names or known:
        g = MADE[name]() if name in MADE else data_graph(name)
        start = time.perf_counter()
        made = plan(g, options.horizon)
        seconds = time.perf_counter() - start
        late = seconds > LIMITS.get(name, np.inf)
        kept &= not late
        print(
            f"{name:26} {g.n_arms:>8,} arms {g.n_edges:>10,} edges {seconds:>7.1f} s{' TOO LONG' if late else ''}"
            f"  bound {made.bound.value:>14,.0f}  {made.realization}",
            flush=True,
        )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
