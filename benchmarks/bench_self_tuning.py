"""Self-tuning: python -m benchmarks.bench_self_tuning [--quick] [--dense].

Rounds of the self-tuning plan and of the flat plan with fixed rates take turns, from ten arms to a million. The aims
are 3 times at ten arms, 4 times from a hundred to 10⁵, and growth of at most 4 from a thousand arms to a million.
`--dense` plays the rule of the theory line by line beside it (the twin of the tests: every round chooses and buys,
one share of ½, no part of the leader kept) and prints pseudo-regret and certificate of both. Prints Markdown.
"""

import argparse
import sys

import numpy as np
from benchmarks.bench_defaults import ROOT, Worker, figure, measured, print_row

import sidelight as sl

GRAPHS = ("cycle", "cliques", "bandit")
SIZES = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
DENSE = ("cycle:20", "teams:4,4,4,4,4", "mab:20", "revealing_action:20")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="at most 1,000 arms")
    parser.add_argument("--dense", action="store_true", help="regret beside the dense rule, instead of speed")
    parser.add_argument("--rounds", type=int, default=3_000, help="of every game of --dense")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    if options.dense:
        compare_regret(options.rounds, options.seeds)
    else:
        compare_speed([n for n in SIZES if n <= 1_000 or not options.quick], options.repetitions)


def compare_speed(sizes, repetitions):
    """ns a round of both, by graph and size."""
    cases = [(kind, name, n) for name in GRAPHS for n in sizes for kind in ("self-tuning", "flat")]
    ns, _ = measured({"here": Worker(ROOT)}, cases, repetitions)
    print_row("graph", "arms", "self-tuning, ns a round", "fixed rates", "ratio", "÷ its own at 10³")
    print_row(*["---"] * 6)
    for name in GRAPHS:
        for n in sizes:
            tuned, fixed = (ns["here", (kind, name, n)] for kind in ("self-tuning", "flat"))
            own = ns["here", ("self-tuning", name, 1_000)] if n > 1_000 else None
            grown = f"{tuned / own:.2f}" if own else ""
            print_row(name, f"{n:,}", figure(tuned), figure(fixed), f"{tuned / fixed:.2f}", grown)


def compare_regret(rounds, seeds):
    """Pseudo-regret against coins of mean ½, the last arm better by a gap."""
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    print_row("graph", "gap", "lazy: regret", "certificate", "dense: regret", "certificate")
    print_row(*["---"] * 6)
    for family in DENSE:
        graph = sl.families.parse(family)
        plan = sl.plan(graph, realization="self-tuning")
        for gap in (0.2, 0.05):
            means = np.full(graph.n_arms, 0.5)
            means[-1] -= gap
            run = sl.simulate(plan, sl.environments.bernoulli(means), seeds=range(seeds), horizon=rounds)
            games = np.array([dense_game(graph, plan, means, rounds, seed) for seed in range(seeds)])
            cells = [run.regret[:, -1], run.certificate[:, -1], *games.T]
            print_row(family, f"{gap}", *(f"{x.mean():,.0f} ± {x.std() / seeds**0.5:,.0f}" for x in cells))


def dense_game(graph, plan, means, rounds, seed):
    """(pseudo-regret, certificate) of one game of the dense rule, with the plan's order and cover."""
    from self_tuning_twin import SelfTuning

    A = np.zeros((graph.n_arms, graph.n_arms))
    for arm in range(graph.n_arms):
        A[arm, graph.out_neighbors(arm)] = 1.0
    game, rng = SelfTuning(A, plan.tuning.cover, s=plan.tuning.self_tuning.order), np.random.default_rng(seed)
    regret = 0.0
    for _ in range(rounds):
        Z = game.play()
        regret += float(Z @ means) - means.min()
        game.learn(rng.choice(means.size, p=Z / Z.sum()), (rng.random(means.size) < means).astype(np.float64))
    return regret, game.certificate


if __name__ == "__main__":
    main()
