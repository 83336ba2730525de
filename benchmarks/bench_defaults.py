"""What users get by default: python -m benchmarks.bench_defaults [--against CHECKOUT] [--quick].

`sl.plan(g, T)` and plans without a horizon against hand-written kernels of each graph's named plan, a million arms
against a thousand, the named realizations, and one decision at a time. With `--against`, another checkout plays the
same in turns. Prints Markdown; docs/performance.md begins with it.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORKER = ROOT / "benchmarks" / "engine" / "worker.py"
NAMED = {"cliques": "A", "cycle": "B", "bandit": "C", "hypercube": "E", "random": "E"}
"""Whose hand-written kernel a default plan is compared with; random graphs with that of the hypercube, as dense."""
SIZES = {"hypercube": 1_024, "E": 1_024}
BUDGET = 3e8
"""ns per repetition, about."""


class Worker:
    """A process that times the sources of one checkout."""

    def __init__(self, checkout):
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER), str(checkout)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=checkout,
        )

    def ask(self, case, rounds, seed=1):
        kind, name, n = case
        request = {"kind": kind, "name": name, "n": n, "rounds": rounds, "seed": seed}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def measured(workers, cases, repetitions, at_least=lambda case: 0):
    """{(who, case): least ns}, {case: what is played}; all take turns, for `at_least(case)` rounds or more."""
    told, rounds, ns = {}, {}, {}
    for case in cases:
        for who, worker in workers.items():
            if who != "here" and case[0] == "prototype":
                continue
            told[who, case] = worker.ask(case, 0)
            short = worker.ask(case, 200)
            short = worker.ask(case, max(int(2e7 / short), 1))
            rounds[case] = min(rounds.get(case, 1_000_000), int(BUDGET / short) + 1)
            ns[who, case] = []
            rounds[case] = max(rounds[case], at_least(case))
    for repetition in range(repetitions):
        for who, case in ns:
            ns[who, case].append(workers[who].ask(case, rounds[case], repetition + 1))
        print(f"repetition {repetition + 1} of {repetitions}", file=sys.stderr)
    return {key: min(each) for key, each in ns.items()}, told


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, help="another checkout, measured in turns with this one")
    parser.add_argument("--quick", action="store_true", help="at most 1,024 arms")
    parser.add_argument("--only", nargs="*", help="kinds of cases: auto self-tuning named pairs")
    parser.add_argument("--graphs", nargs="*", default=list(NAMED))
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    kinds = options.only or ["auto", "self-tuning", "named", "pairs"]
    workers = {"here": Worker(ROOT)}
    if options.against:
        workers["before"] = Worker(options.against)

    def size(name):
        return SIZES.get(name, 1_000)

    cases = [
        (kind, name, size(name))
        for kind in kinds
        for name in ("ABCDE" if kind == "named" else options.graphs)
    ]
    if not options.quick:
        if "auto" in kinds:
            cases += [
                ("auto", name, 10**6) for name in ("cliques", "cycle", "bandit") if name in options.graphs
            ]
        if "named" in kinds:
            cases += [("named", name, 10**6) for name in "ABC"]
    protos = sorted({NAMED[name] for name in options.graphs}) if {"auto", "self-tuning"} & set(kinds) else []
    cases += [("prototype", name, size(name)) for name in protos]
    ns, told = measured(workers, cases, options.repetitions)

    head = ["default plan", "n", "ns a round", "÷ hand-written", "÷ its own at 10³"]
    print_row(*head, *(["before", "÷ before"] if options.against else []), "what is played")
    print_row(*["---"] * (6 + 2 * bool(options.against)))
    for case in cases:
        kind, name, n = case
        if kind == "prototype":
            continue
        mine, unit = ns["here", case], 1_000 if kind == "pairs" else 1
        label = {"auto": f"{name}", "self-tuning": f"{name}, no horizon", "named": f"named {name}"}.get(
            kind, f"{name}, ask and tell (µs)"
        )
        proto = ns.get(("here", ("prototype", NAMED.get(name, ""), n)))
        small = ns.get(("here", (kind, name, 1_000))) if n == 10**6 else None
        cells = [label, f"{n:,}", figure(mine / unit)]
        cells += [
            f"{mine / proto:.2f}" if proto and kind != "pairs" else "",
            f"{mine / small:.2f}" if small else "",
        ]
        if options.against:
            cells += [figure(ns["before", case] / unit), f"{mine / ns['before', case]:.2f}"]
        print_row(*cells, told["here", case])
    for name in protos:
        print_row(
            f"hand-written {name}", f"{size(name):,}", figure(ns["here", ("prototype", name, size(name))])
        )


def print_row(*cells):
    print(f"| {' | '.join(cells)} |")


def figure(value):
    return f"{value:,.0f}" if value >= 20 else f"{value:.1f}"


if __name__ == "__main__":
    main()
