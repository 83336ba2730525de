"""Self-tuning: python -m benchmarks.bench_self_tuning [--quick] [--dense].

Rounds of the self-tuning plan and of the flat plan with fixed rates take turns, from ten arms to a million, two for
every arm at least: a game is timed from its first round, with all purchases and choices on the way. The aims are 3
times at ten arms, 4 times from a hundred to 10⁵, and growth of at most 4 from a thousand arms to a million.
`--dense` plays the rule of the theory beside it, as the engine does where every round has a graph of its own, here
always the same (every round chooses and raises β, no part of the leader kept, the cheapest choice whatever the
losses), and prints pseudo-regret and certificate of both; the aim is at most a tenth more regret. Prints Markdown.
"""

import argparse

import numpy as np
from benchmarks.bench_defaults import ROOT, Worker, figure, measured, print_row

import sidelight as sl

GRAPHS = ("cycle", "cliques", "bandit")
SIZES = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
DENSE = (
    "cycle:20", "cycle:20:directed", "teams:5x4", "revealing_action:20", "corrupted_mab:20,1", "mab:20",
    "loopy_star:20",
)  # fmt: skip
GAPS = (0.2, 0.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="at most 1,000 arms")
    parser.add_argument("--dense", action="store_true", help="regret beside the dense rule, instead of speed")
    parser.add_argument("--rounds", type=int, default=5_000, help="of every game of --dense")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--graphs", nargs="*", default=GRAPHS, choices=GRAPHS)
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES, help="numbers of arms")
    options = parser.parse_args()
    if options.dense:
        compare_regret(options.rounds, options.seeds)
    else:
        sizes = [n for n in options.sizes if n <= 1_000 or not options.quick]
        compare_speed(options.graphs, sizes, options.repetitions)


def compare_speed(graphs, sizes, repetitions):
    """ns a round of both, by graph and size."""
    cases = [(kind, name, n) for name in graphs for n in sizes for kind in ("self-tuning", "flat")]
    ns, _ = measured({"here": Worker(ROOT)}, cases, repetitions, lambda case: 2 * case[2])
    print_row("graph", "arms", "self-tuning, ns a round", "fixed rates", "ratio", "÷ its own at 10³")
    print_row(*["---"] * 6)
    for name in graphs:
        for n in sizes:
            tuned, fixed = (ns["here", (kind, name, n)] for kind in ("self-tuning", "flat"))
            own = ns.get(("here", ("self-tuning", name, 1_000))) if n > 1_000 else None
            grown = f"{tuned / own:.2f}" if own else ""
            print_row(name, f"{n:,}", figure(tuned), figure(fixed), f"{tuned / fixed:.2f}", grown)


def compare_regret(rounds, seeds):
    """Pseudo-regret against coins of mean ½, the last arm better by a gap."""
    print_row("graph", "gap", "lazy: regret", "certificate", "dense: regret", "certificate", "lazy ÷ dense")
    print_row(*["---"] * 7)
    logs = []
    for family in DENSE:
        graph = sl.families.parse(family)
        plan = sl.plan(graph, realization="self-tuning")
        for gap in GAPS:
            means = np.full(graph.n_arms, 0.5)
            means[-1] -= gap
            coins = sl.environments.bernoulli(means)
            each_round = sl.environments.changing(coins, [graph])
            runs = [
                sl.simulate(plan, world, seeds=range(seeds), horizon=rounds) for world in (coins, each_round)
            ]
            cells = [column[:, -1] for run in runs for column in (run.regret, run.certificate)]
            ours, theirs = (x.mean() for x in cells[::2])
            logs.append(np.log(ours / theirs))
            error = np.hypot(*(x.std(ddof=1) / seeds**0.5 / x.mean() for x in cells[::2]))
            ratio = f"{ours / theirs:.2f} ± {error * ours / theirs:.2f}"
            print_row(
                family, f"{gap}", *(f"{x.mean():,.0f} ± {x.std() / seeds**0.5:,.0f}" for x in cells), ratio
            )
    print(f"\nT = {rounds:,}, {seeds} seeds; geometric mean of lazy ÷ dense: {np.exp(np.mean(logs)):.2f}.")


if __name__ == "__main__":
    main()
