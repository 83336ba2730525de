"""Decisions from Python with many of them open: microseconds a pair of decide and observe, and memory.

    python benchmarks/bench_decisions.py [--decisions 1000000] [--open 1000]

Answers come in random order: one of the open decisions, drawn evenly, is answered after every new one. Losses are
coins. Times are of the processor; memory is what the process grows by after the first tenth.
"""

from __future__ import annotations

import argparse
import random
import resource
import time

import numpy as np

import sidelight as sl

GRAPHS = ("cycle:20", "cliques:5x4", "mab:20", "revealing_action:20", "cycle:1000")


def peak() -> int:
    """Bytes that the process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def pairs(policy: sl.Policy, count: int, n_open: int, seed: int = 0) -> tuple[float, float]:
    """(microseconds a pair, MiB by which the process grew) of `count` decisions with `n_open` of them open."""
    rng = random.Random(seed)
    coins = np.random.default_rng(seed).integers(0, 2, size=(1000, policy.graph.n_arms)).astype(float)
    waiting = policy.decide(count=n_open)
    began, grown, tenth = time.process_time(), 0, count // 10
    for t in range(count):
        if t == tenth:
            grown = peak()
        at = rng.randrange(n_open)
        decision = waiting[at]
        policy.observe(decision, coins[decision.round % 1000, decision.reveals])
        waiting[at] = policy.decide()
    return (time.process_time() - began) / count * 1e6, (peak() - grown) / 2**20


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--decisions", type=int, default=1_000_000)
    parser.add_argument("--open", type=int, default=1_000)
    parser.add_argument("--graphs", nargs="*", default=GRAPHS)
    options = parser.parse_args()
    print(f"{options.decisions:,} decisions, {options.open:,} open")
    print(f"{'graph':<22}{'plan':<16}{'µs a pair':>10}{'more MiB':>10}")
    for name in options.graphs:
        plan = sl.plan(sl.families.parse(name))
        pairs(plan.policy(seed=1), 100, 10)  # compiled
        spent, grown = pairs(plan.policy(seed=1), options.decisions, options.open)
        print(f"{name:<22}{plan.realization:<16}{spent:>10.1f}{grown:>10.1f}", flush=True)


if __name__ == "__main__":
    main()
