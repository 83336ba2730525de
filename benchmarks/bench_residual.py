"""Do errors pile up? python -m benchmarks.bench_residual [--rounds 1e8]

Plays instances for many rounds and prints how far every distribution that the engine holds is from adding up to one:
Y over the blocks, X inside each block, and Z, what is played. The target is 1e-12 after 10⁸ rounds.
"""

import argparse
import time

import numpy as np
from benchmarks.engine.instances import INSTANCES, means

import sidelight as sl
from sidelight.engine.play import play
from sidelight.environment.base import environment_key

TARGET = 1e-12


def cases():
    """A name and a plan each: the benchmark's instances, and two plans with spread or mixed potentials."""
    for name in "ABCD":
        yield f"{name}, 100 arms", INSTANCES[name].plan(100)
    yield "E, 128 arms", INSTANCES["E"].plan(128)
    yield "flat cycle, 400 arms", sl.plan(sl.families.cycle(400), horizon=10**8, realization="flat")
    yield (
        "flat corrupted bandit, 60 arms",
        sl.plan(sl.families.corrupted_mab(60, 3), 10**8, realization="flat"),
    )


def residual(policy):
    """The largest |Σ − 1| over all distributions of a policy."""
    inside = policy._game.inside_probabilities
    blocks = policy.plan.partition.blocks
    sums = [
        policy.probabilities.sum(),
        policy._game.block_probabilities.sum(),
        *(inside[b].sum() for b in blocks),
    ]
    return float(np.max(np.abs(np.array(sums) - 1.0)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=float, default=1e8)
    rounds = int(parser.parse_args().rounds)
    worst = 0.0
    print(f"{'plan':<32} {'rounds':>13} {'ns/round':>9} {'largest |Σ − 1|':>16}")
    for name, plan in cases():
        policy = plan.policy(seed=1)
        environment = sl.environments.bernoulli(means(plan.graph.n_arms))
        nothing = np.zeros(0, dtype=np.int64)
        began = time.thread_time()
        world, function, key = environment.world, environment.function, environment_key(1)
        play(policy._game.memory, world, function, key, 0, rounds, 0.0, policy._game.scratch, nothing)
        spent = (time.thread_time() - began) / rounds * 1e9
        found = residual(policy)
        worst = max(worst, found)
        print(f"{name:<32} {rounds:>13,} {spent:>9.0f} {found:>16.1e}", flush=True)
    print(f"{'PASS' if worst <= TARGET else 'miss'}: {worst:.1e}, target {TARGET:.0e}")


if __name__ == "__main__":
    main()
