"""Regret of `sl.plan(g, T)` on random graphs with weakly observable arms and self-loops: the table of docs/regret.md.

python benchmarks/table_mixed.py [--graphs 20] [--seeds 10] [--horizon 20000]. The smallest bound is usually that of a
flat plan with two potentials at fixed rates there (docs/theory/fixed-rates.md, section 4).
"""

import argparse
from math import exp, log

import numpy as np

import sidelight as sl

ENVIRONMENTS = ("gap:0.2", "gap:0.05", "hard")
TUNED = ("auto", "self_tuning")


def graphs(count):
    """Random graphs of 6 to 29 arms that mix weakly observable arms and self-loops."""
    rng = np.random.default_rng(0)
    while count:
        n, p, loops = int(rng.integers(6, 30)), rng.choice([0.1, 0.2, 0.4]), rng.choice([0.3, 0.6, 0.9])
        shown = rng.random((n, n)) < p
        np.fill_diagonal(shown, rng.random(n) < loops)
        graph = sl.FeedbackGraph.from_adjacency(shown)
        if sl.observability(graph).graph == "weak" and shown.diagonal().any():
            count -= 1
            yield graph


def mean_regret(plan, environment, T, seeds):
    """After T rounds."""
    run = sl.simulate(plan, environment, seeds=seeds, horizon=T, checkpoints=[T], progress=False)
    return float(run.regret[:, -1].mean())


def main():
    """Print the table, then geometric means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--horizon", type=int, default=20_000)
    options = parser.parse_args()
    T, tuned = options.horizon, 0
    ratios = {(policy, environment): [] for policy in TUNED for environment in ENVIRONMENTS}
    names = [f"{policy}, {environment}" for environment in ENVIRONMENTS for policy in ("fixed", *TUNED)]
    print(f"| arms, edges, loops | auto | its bound | {' | '.join(names)} |\n|{' --- |' * (3 + len(names))}")
    for graph in graphs(options.graphs):
        auto = sl.plan(graph, T)
        plans = {"fixed": sl.plan(graph, T, realization="fixed"), "auto": auto, "self_tuning": sl.plan(graph)}
        tuned += auto.realization == "self-tuning"
        row = []
        for environment in ENVIRONMENTS:
            found = {name: mean_regret(plan, environment, T, options.seeds) for name, plan in plans.items()}
            row += [f"{regret:,.0f}" for regret in found.values()]
            for name in TUNED:
                ratios[name, environment].append(log(found[name] / found["fixed"]))
        about = f"{graph.n_arms}, {graph.n_edges}, {int(graph.has_loop.sum())}"
        print(f"| {about} | {auto.realization} | {auto.bound.value:,.0f} | {' | '.join(row)} |", flush=True)
    print(f"\n{tuned} of {options.graphs} plans for T = {T:,} tune themselves.\n")
    print(
        "| regret ÷ fixed rates, geometric mean | "
        + " | ".join(ENVIRONMENTS)
        + " |\n| --- | --- | --- | --- |"
    )
    for name in TUNED:
        means = [exp(sum(ratios[name, each]) / options.graphs) for each in ENVIRONMENTS]
        print(f"| {name} | {' | '.join(f'{mean:.2f}' for mean in means)} |")


if __name__ == "__main__":
    main()
