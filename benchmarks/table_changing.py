"""What graphs that change are worth: the table of docs/environments.md.

python benchmarks/table_changing.py [--rounds 20000] [--seeds 20]
"""

from __future__ import annotations

import argparse
from copy import copy

import numpy as np

import sidelight as sl

GAMES = {
    "auction, 12 bids": ("auction", sl.families.auction(12)),
    "posted prices, 10": ("posted_prices", sl.families.mab(10)),
    "online, hypercube:5": ("online", sl.families.hypercube(5)),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    print(
        "| game | graph of each round | its certificate | edges that are always there | certificate | µs a round |"
    )
    print("|---|---|---|---|---|---|")
    for name, (text, graph) in GAMES.items():
        world = sl.environments.parse(text, graph, options.rounds)
        sure = sl.families.mab(graph.n_arms) if text == "online" else graph
        cells = []
        always = copy(world)
        vars(always)["changes"] = None  # the same losses, without graphs of their own
        for losses in (world, always):
            run = sl.simulate(
                sl.plan(sure),
                losses,
                seeds=range(options.seeds),
                horizon=options.rounds,
                checkpoints=[options.rounds],
            )
            last = run.regret[:, -1]
            cells.append(f"{last.mean():,.0f} ± {last.std(ddof=1) / np.sqrt(last.size):,.0f}")
            cells.append(f"{run.certificate[:, -1].mean():,.0f}")
            if losses is world:
                time = run.seconds / (options.rounds * options.seeds)
        print(f"| {name} | {' | '.join(cells)} | {1e6 * time:.1f} |", flush=True)


if __name__ == "__main__":
    main()
