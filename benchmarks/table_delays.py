"""Regret with answers that come late, against the bound: the table of docs/theory/delays.md.

python benchmarks/table_delays.py [--rounds 100000] [--seeds 20]
"""

from __future__ import annotations

import argparse

import numpy as np

import sidelight as sl

DELAYS = (0, 10, 100, 1000)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    T, graph = options.rounds, sl.families.cycle(10)
    environment = sl.environments.gap(10, gap=0.2)
    plans = {"chlz21": sl.baselines.chlz21(graph, T), "sl.plan(g)": sl.plan(graph)}
    print(f"cycle:10, gap 0.2, {T:,} rounds, {options.seeds} seeds; regret ± standard error\n")
    print("| delay | bound of chlz21 | chlz21 | its certificate | sl.plan(g) | its certificate |")
    print("|---|---|---|---|---|---|")
    for delay in DELAYS:
        cells = [f"{plans['chlz21'].bound_at(T, delay=delay).value:,.0f}"]
        for plan in plans.values():
            run = sl.simulate(
                plan, environment, seeds=range(options.seeds), horizon=T, delay=delay, checkpoints=[T]
            )
            last = run.regret[:, -1]
            cells.append(f"{last.mean():,.0f} ± {last.std(ddof=1) / np.sqrt(last.size):,.0f}")
            cells.append(f"{run.certificate[:, -1].mean():,.0f}")
        print(f"| {delay:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
