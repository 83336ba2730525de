"""The auto plan against every other bound: python benchmarks/table_bounds.py [--markdown] [--sizes N …].

One row for each graph and horizon: the auto plan's bound, the best certified bound of anyone else (the paper's
theorems, CHLZ21, Exp3.G, EXP3, Hedge, Tsallis-INF, Exp3-SET, q-FTRL, uniform play), the best certified lower bound,
and the verdict: is auto ≤ each certified row? Families with n from 4 to 4096, then the graphs in ../shared/data if
that folder is there, symmetrised where their card says so and with a self-loop on every arm that nothing reveals. The
last line counts the verdicts; the exit code is 1 if one is "no". --markdown prints docs/bounds.md: the same rows
without times. --rows prints all rows of every comparison.
"""

import argparse
import json
import sys
import time
from math import isqrt
from pathlib import Path

import numpy as np

from sidelight.analysis import observability
from sidelight.graph import FeedbackGraph, families, read_graph
from sidelight.planning import compare_bounds
from sidelight.planning.bounds.comparison import OURS

DATA = Path(__file__).parents[1].parent / "shared" / "data" / "graphs"
SIZES = (4, 16, 64, 256, 1024, 4096)
HORIZONS = (10**4, 10**6, 10**8)


def looped_cliques(n):
    """√n cliques of √n arms with self-loops."""
    k = isqrt(n)
    arms = np.arange(n).reshape(k, k)
    pairs = np.concatenate([np.stack(np.meshgrid(row, row), axis=-1).reshape(-1, 2) for row in arms])
    return FeedbackGraph.from_edges(n, pairs)


def counterexample(n):
    """N − 1 arms with self-loops, arm 0 also reveals the last one: bounded out-degree, regret of order T^{2/3}."""
    return FeedbackGraph.from_edges(n, [*((i, i) for i in range(n - 1)), (0, n - 1)])


FAMILIES = {
    "bandit": families.mab,
    "full feedback": families.full,
    "loop-less clique": families.loopless_clique,
    "loopy star": families.loopy_star,
    "cliques with loops": looped_cliques,
    "cycle": families.cycle,
    "directed cycle": lambda n: families.cycle(n, directed=True),
    "disjoint cliques": lambda n: families.cliques([isqrt(n)] * isqrt(n)),
    "disjoint bicliques": lambda n: families.bicliques([isqrt(n)] * isqrt(n)),
    "hypercube": lambda n: families.hypercube(n.bit_length() - 1),
    "grid": lambda n: families.grid(isqrt(n), isqrt(n)),
    "revealing action": families.revealing_action,
    "corrupted bandit": lambda n: families.corrupted_mab(n, max(n // 16, 1)),
    "corrupted full feedback": lambda n: families.corrupted_full(n, max(n // 16, 1)),
    "bounded in-degree": lambda n: families.bounded_in_degree(n, 3, seed=0),
    "counterexample": counterexample,
    "one-sided": families.newsvendor,
}
LARGEST = {"one-sided": 1024}


def data_graph(name):
    """A graph of shared/data, made observable."""
    card = json.loads((DATA / f"{name}.json").read_text())
    pairs = read_graph(DATA / f"{name}.csv.gz").edges()
    n = card.get("N", card.get("n"))
    if not card["directed"]:
        pairs = np.concatenate([pairs, pairs[:, ::-1]])
    g = FeedbackGraph.from_edges(n, pairs)
    hidden = observability(g).unobservable
    return FeedbackGraph.from_edges(n, np.concatenate([pairs, np.column_stack([hidden, hidden])]))


def data_names():
    return sorted(path.name.removesuffix(".json") for path in DATA.glob("*.json")) if DATA.is_dir() else []


HEAD = """# The plan's bound against all others

How good is the bound of `sl.plan(g, T)`? This page compares it with every other bound that is known, graph by graph.
Printed by `python benchmarks/table_bounds.py --markdown`. For every family with 4 to 4 096 arms, every graph of the
data collection made observable, and three horizons: the bound of `sl.plan(g, T)`, the best certified bound of
`sl.compare_bounds(g, T)` that is not ours, the best certified lower bound, and whether auto ≤ each certified row
of play that learns, up to the slack of a self-tuning plan, a twentieth of the smallest bound and 3, so that "best
other" may be smaller by that. "vacuous" marks horizons at which the plan's bound is not below T: it learns all the
same, and says so (docs/theory/search.md).
"""


def show(name, g, horizon, options):
    """Print one row; True if auto ≤ each certified row."""
    start = time.perf_counter()
    found = compare_bounds(g, horizon)
    seconds = "" if options.markdown else f" {time.perf_counter() - start:.1f} s |"
    rivals = [row for row in found.upper if row.certified and row.learns and row.source != OURS]
    best = min(rivals, key=lambda row: row.value, default=None)
    other = "–" if best is None else f"{best.value:,.0f} ({best.name})"
    vacuous = "" if found.auto.informative else ", vacuous"
    verdict = "no: " + ", ".join(row.name for row in found.ahead) if found.ahead else "yes"
    print(
        f"| {name} | {g.n_arms:,} | {observability(g).graph} | {horizon:.0e} | {found.auto.value:,.0f} | "
        f"{found.plan.realization}{vacuous} | {other} | "
        f"{found.floor.value:,.1f} ({found.floor.name}) | {len(rivals)} | {verdict} |{seconds}",
        flush=True,
    )
    if options.rows:
        print(f"\n```\n{found.summary()}\n```\n")
    return not found.ahead and found.floor.value <= found.best.value * (1 + 1e-9)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="arms of the family members")
    parser.add_argument("--largest-data", type=int, default=10**6, help="most arms of a graph in shared/data")
    parser.add_argument("--horizons", type=int, nargs="+", default=HORIZONS)
    parser.add_argument("--markdown", action="store_true", help="as in docs/bounds.md")
    parser.add_argument("--rows", action="store_true", help="print the whole comparison below each row")
    options = parser.parse_args()
    if options.markdown:
        print(HEAD)
    columns = [
        "graph",
        "arms",
        "class",
        "T",
        "auto",
        "plays",
        "best other",
        "best lower",
        "others",
        "auto ≤ all",
    ]
    columns += [] if options.markdown else ["time"]
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    verdicts = []
    for name, make in FAMILIES.items():
        for n in options.sizes:
            if n <= LARGEST.get(name, n):
                g = make(n)
                verdicts += [show(name, g, T, options) for T in options.horizons]
    graphs = {name: data_graph(name) for name in data_names()}
    for name, g in sorted(graphs.items(), key=lambda item: item[1].n_arms):
        if g.n_arms <= options.largest_data:
            verdicts += [show(name, g, T, options) for T in options.horizons]
    print(f"\nauto ≤ every certified row, up to its slack, in {sum(verdicts)} of {len(verdicts)} cases")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
