"""What policies certify while playing, as a markdown table: python benchmarks/table_certificate.py [--seeds 40].

One row for each plan against coins of which one is better by 0.1: mean regret, the mean and the standard deviation of
the a-posteriori certificate, the same of the largest ledger (which has no more than the regret in it, and much more
chance), the a-priori bound, and on how many runs the certificate exceeded the bound or fell below the regret.
"""

import argparse

import numpy as np

import sidelight as sl
from sidelight.policy import Policy

PLANS = (
    ("cycle:50", "flat", None), ("cycle:6", "auto", None), ("hypercube:5", "flat", None), ("mab:20", "auto", None),
    ("full:20", "auto", None), ("loopless_clique:20", "auto", None), ("corrupted_mab:20,3", "auto", None),
    ("revealing_action:20", "auto", None), ("cliques:5,5,5,5", "interpolated", "components"),
    ("cliques:" + ",".join(["4"] * 50), "interpolated", "components"),
    ("cliques:" + ",".join(["3"] * 300), "interpolated", "components"),
    ("cliques:" + ",".join(["3"] * 300), "clustered", "components"),
)  # fmt: skip


MOST_ARMS = 60
"""Ledgers of all arms are read one by one, so larger graphs show none."""


def ledger_of_the_worst(policy: Policy) -> float:
    """The largest ledger over all arms."""
    return max(float(policy._game.ledger(arm).sum()) for arm in range(policy.graph.n_arms))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=20_000)
    arguments = parser.parse_args()
    print("| plan | blocks | regret | certificate | largest ledger | bound | above bound | below regret |")
    print("|---|---|---|---|---|---|---|---|")
    for spec, realization, partition in PLANS:
        g = sl.families.parse(spec)
        chosen = None if partition is None else getattr(sl.partitions, partition)(g)
        plan = sl.plan(g, arguments.rounds, partition=chosen, realization=realization)
        environment = sl.environments.gap(g.n_arms, best=g.n_arms // 2, gap=0.1)
        run = sl.simulate(plan, environment, seeds=range(arguments.seeds))
        ledgers = []
        for seed in range(min(arguments.seeds, 10) if g.n_arms <= MOST_ARMS else 0):
            policy = plan.policy(seed=seed)
            for t in range(arguments.rounds):
                arm = policy.ask()
                policy.tell(environment.losses(seed, t, g.out_neighbors(arm)))
            ledgers.append(ledger_of_the_worst(policy))
        regret, found, bound = run.regret[:, -1], run.certificate[:, -1], plan.bound.value
        name = spec if len(spec) < 24 else f"{spec.count(',') + 1} cliques of {spec[8]}"
        shown = f"{np.mean(ledgers):,.0f} ± {np.std(ledgers):,.0f}" if ledgers else "–"
        print(
            f"| {name}, {plan.realization} | {plan.partition.n_blocks} | {regret.mean():,.0f} | "
            f"{found.mean():,.0f} ± {found.std():,.0f} | {shown} | "
            f"{bound:,.0f}{'' if plan.bound.certified else ' (not certified)'} | "
            f"{np.mean(found > bound):.0%} | {np.mean(found < regret):.0%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
