"""Times rounds of the sources of one checkout: worker.py CHECKOUT, then one JSON request a line on stdin.

A process per checkout lets old and new sources be compared in one run, repetition by repetition. A request names
a case and the number of rounds; the answer is ns per round, and at first what is played.
"""

import inspect
import json
import sys
import time
from pathlib import Path

CHECKOUT = Path(sys.argv[1]).resolve()
sys.path[:0] = [str(CHECKOUT), str(CHECKOUT / "src")]

import numpy as np  # noqa: E402
from benchmarks.engine.instances import INSTANCES, clique_sizes, means  # noqa: E402
from benchmarks.engine.timing import environment_key  # noqa: E402
from benchmarks.rivals import prototypes  # noqa: E402

import sidelight as sl  # noqa: E402

GRAPHS = {
    "cliques": lambda n: sl.families.cliques(clique_sizes(n)),
    "cycle": sl.families.cycle,
    "bandit": sl.families.mab,
    "hypercube": lambda n: sl.families.hypercube((n - 1).bit_length()),
    "random": lambda n: sl.families.random(n, 10 / n, seed=1),
}


def main():
    started = {}
    for line in sys.stdin:
        request = json.loads(line)
        key = request["kind"], request["name"], request["n"]
        if key not in started:
            started[key] = START[request["kind"]](request["name"], request["n"])
        about, start = started[key]
        if request["rounds"] == 0:
            answer = about
        else:
            run = start(request["seed"])
            before = time.thread_time()
            run(request["rounds"])
            answer = (time.thread_time() - before) / request["rounds"] * 1e9
        print(json.dumps(answer), flush=True)


def plan_start(plan):
    """Rounds as `sl.simulate` plays them."""
    n = plan.graph.n_arms
    environment = sl.environments.bernoulli(means(n))
    policy = plan.policy(seed=0)

    def start(seed):
        clone, key = policy.copy(seed), environment_key(seed)
        plays = np.zeros(n if n <= 100_000 else 0, dtype=np.int64)
        given = environment.world, environment.function, key, 0
        late = [None] * _required(clone._play, len(given) + 3)
        return lambda rounds: clone._play(*given, rounds, 0.0, plays, *late)

    return described(plan), start


def _required(call, given):
    """How many arguments after the first so many have no default: older checkouts want a calendar, or none."""
    rest = list(inspect.signature(call).parameters.values())[given:]
    return sum(each.default is each.empty for each in rest)


def described(plan):
    """Which plan that is: realization, simplices, potential, exploration."""
    tuning = plan.tuning
    one = tuning.n_blocks == 1
    powers = tuning.inner_power if one else tuning.top_power
    potentials = {"entropy" if q == 0 else f"Tsallis h = {1 - 1 / q:.2f}" for q in powers.tolist()}
    kinds = {"spread": tuning.spread, "adaptive": tuning.adaptive, "constant": tuning.global_exploration}
    explored = [name for name, values in kinds.items() if (np.asarray(values) > 0).any()]
    shape = "one simplex" if one or tuning.n_blocks == tuning.n_arms else f"{tuning.n_blocks} blocks"
    potential = " and ".join(sorted(potentials))
    return f"{plan.realization}: {shape}, {potential}, {', '.join(explored) or 'no'} exploration"


def horizon_of(n):
    return max(1_000_000, 100 * n)


def auto(name, n):
    return plan_start(default_plan(name, n))


def default_plan(name, n):
    """`sl.plan(graph, T)`; checkouts that call the slack a premium, and have none by default, get the same."""
    old = "slack" not in inspect.signature(sl.plan).parameters
    return sl.plan(GRAPHS[name](n), horizon_of(n), **({"premium": 0.1} if old else {}))


def self_tuning(name, n):
    return plan_start(sl.plan(GRAPHS[name](n), realization="self-tuning"))


def flat(name, n):
    return plan_start(sl.plan(GRAPHS[name](n), horizon_of(n), realization="flat"))


def named(name, n):
    return plan_start(INSTANCES[name].plan(n))


def prototype(name, n):
    plan, chances = INSTANCES[name].plan(n), means(n)
    return f"prototype of {name}", lambda seed: prototypes.RIVALS[name](plan, chances, seed).play


def pairs(name, n):
    """ask and tell from Python."""
    policy = default_plan(name, n).policy(seed=1)
    rng = np.random.default_rng(1)
    degrees = policy.graph.out_degree
    told = {d: (rng.random((64, d)) < 0.5).astype(np.float64) for d in set(degrees.tolist())}
    losses = [told[int(d)] for d in degrees]

    def run(count):
        for i in range(count):
            policy.tell(losses[policy.ask()][i & 63])

    run(100)
    return "ask and tell", lambda seed: run


START = {
    "auto": auto,
    "self-tuning": self_tuning,
    "flat": flat,
    "named": named,
    "prototype": prototype,
    "pairs": pairs,
}

if __name__ == "__main__":
    main()
