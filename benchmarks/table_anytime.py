"""Not knowing the horizon, as a markdown table: python benchmarks/table_anytime.py.

One row for each graph and number of rounds t: the bound of the plan that knows t, and how many times larger the
bounds of the anytime plan and of the self-tuning plan are after t rounds. "–" where a bound is not below t, so that
it says nothing.
"""

import argparse

from sidelight.graph import families
from sidelight.planning import plan

SPECS = (
    "cycle:6", "cycle:64", "hypercube:6", "revealing_action:64", "cliques:8,8,8,8", "corrupted_mab:64,4",
    "mab:16", "mab:64", "full:64", "loopless_clique:64", "newsvendor:40",
)  # fmt: skip
ROUNDS = (10**2, 10**3, 10**4, 10**5, 10**6, 10**7, 10**8)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--specs", nargs="*", default=SPECS)
    arguments = parser.parse_args()
    print("| graph | t | known horizon | anytime | self-tuning |\n|---|---|---|---|---|")
    for spec in arguments.specs:
        g = families.parse(spec)
        rivals = (plan(g, None, realization="anytime"), plan(g))
        for t in ROUNDS:
            known = plan(g, t, realization="fixed").bound
            shown = [f"{known.value:,.1f}" if known.informative else "–"]
            for rival in rivals:
                bound = rival.bound_at(t)
                says = bound.informative and bound.certified
                shown.append(f"×{bound.value / known.value:.2f}" if says else "–")
            print(f"| {spec} | {t:,} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
