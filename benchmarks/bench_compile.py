"""What the first decision costs on an empty cache: python -m benchmarks.bench_compile [--repetitions R].

For each instance a fresh process with an empty cache of machine code; seconds of its processor time, the least of R,
for making a policy with its first ask and tell, and for the first simulation after that. Time for importing the
library and for planning is not in them. The last column is what a second process needs for both, from the cache.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]

INSTANCES = (
    ("teams:3,3,4", "fixed"),
    ("teams:3,3,4", "self_tuning"),
    ("mab:20", "fixed"),
    ("cliques:100x10", "fixed"),
    ("mab:1000", "fixed"),
    ("cycle:1000", "fixed"),
    ("cycle:1000", "self_tuning"),
    ("mab:20", "ucb_n"),
    ("mab:20", "tsallis_inf"),
    ("mab:20", "exp3_ix"),
)

CHILD = """
import json, sys, time
import sidelight as sl
from sidelight.policy.names import make
graph = sl.families.parse(sys.argv[1])
plan = make(sys.argv[2], graph, 100_000)
coins = sl.environments.bernoulli([0.3] + [0.5] * (graph.n_arms - 1))
before = time.process_time()
policy = plan.policy(seed=1)
policy.tell([0.5] * int(graph.out_degree[policy.ask()]))
decided = time.process_time()
sl.simulate(plan, coins, seeds=[0], horizon=1000)
print(json.dumps([decided - before, time.process_time() - decided]))
"""


def measured(family: str, player: str, cache: str) -> list[float]:
    """Processor seconds of deciding and of simulating, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, family, player],
        env=os.environ | {"SIDELIGHT_CACHE_DIR": cache, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    seconds: list[float] = json.loads(done.stdout)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=3)
    repetitions = parser.parse_args().repetitions
    print("| instance | policy, ask, tell | first simulation after it | both, compiled before |")
    print("|---|---|---|---|")
    for family, player in INSTANCES:
        cold, warm = [], []
        for _ in range(repetitions):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(measured(family, player, cache))
                warm.append(sum(measured(family, player, cache)))
        decide, simulate = (min(times) for times in zip(*cold, strict=True))
        print(f"| `{family}`, {player} | {decide:.1f} s | {simulate:.1f} s | {min(warm):.1f} s |", flush=True)


if __name__ == "__main__":
    main()
