"""Put the figures of the last `bench_engine` into docs/performance.md: python -m benchmarks.performance_page.

Whatever stands between `<!-- name -->` and `<!-- end -->` there is replaced by the table of that name.
"""

import json
import re
from pathlib import Path

from benchmarks.engine.instances import CUBES, INSTANCES, SIZES
from benchmarks.engine.targets import noted

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "performance.md"
RESULTS = ROOT / ".benchmarks" / "engine.json"
TITLES = {
    "A": "A cliques of ten, clustered",
    "B": "B cycle as one block, adaptive",
    "C": "C bandit over singletons",
    "D": "D loop-less clique, everything revealed",
}


def main() -> None:
    results = json.loads(RESULTS.read_text())
    text = PAGE.read_text()
    for name, table in (
        ("rounds", rounds_table(results)),
        ("cubes", cubes_table(results)),
        ("ratios", ratios(results)),
        ("prototype", prototype_table(results)),
        ("peers", peers_table(results)),
    ):
        text, found = re.subn(
            rf"(<!-- {name} -->\n).*?(<!-- end -->)", lambda m, t=table: m[1] + t + m[2], text, flags=re.S
        )
        assert found == 1, f"{PAGE} has no place for {name}"
    PAGE.write_text(text)


def figures(results):
    return {(row["who"], row["instance"], row["n"]): row["ns"] for row in results["rounds"]}


def short(ns):
    if ns >= 1e6:
        return f"{ns / 1e6:.1f}M"
    return f"{ns / 1e3:.0f}k" if ns >= 1e4 else f"{ns:,.0f}".replace(",", " ")


def rounds_table(results):
    ns = figures(results)
    lines = [
        "| instance | n = 10 | 100 | 10³ | 10⁴ | 10⁵ | 10⁶ | dense compiled loop, 10⁴ | plain NumPy, 10³ |",
        "|---" * 9 + "|",
    ]
    for name, title in TITLES.items():
        ours = [ns["engine", name, n] for n in SIZES]
        dense, numpy = ns["dense", name, 10_000], ns["numpy", name, 1_000]
        cells = [short(value) for value in ours]
        cells += [f"{short(dense)} ({dense / ours[3]:.0f}×)", f"{short(numpy)} ({numpy / ours[2]:.0f}×)"]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def cubes_table(results):
    ns = figures(results)
    cells = [short(ns["engine", "E", 2**d]) for d in CUBES]
    return (
        "| instance | n = 16 | 128 | 1 024 | 8 192 | 2¹⁷ | 2²⁰ |\n|---|---|---|---|---|---|---|\n"
        f"| E hypercube in Hamming blocks | {' | '.join(cells)} |\n"
    )


def ratios(results):
    ns = figures(results)
    growth = [f"{ns['engine', k, 1_000_000] / ns['engine', k, 1_000]:.1f} ({k})" for k in "ABC"]
    faster = ns["dense", "D", 1_000] / ns["engine", "D", 1_000]
    pairs = [row["us"] for row in results["ask_tell"] if row["n"] <= 1024]
    start = results["startup"]
    warm, cold = start["first round, caches warm"]["wall"], start["first round, nothing compiled"]["wall"]
    met = sum(target["outcome"] == "PASS" for target in results["targets"])
    measured = sum(target["outcome"] in ("PASS", "miss") for target in results["targets"])
    least, most = f"{min(pairs):.0f}", f"{max(pairs):.0f}"
    return (
        f"A million arms cost {growth[0]}, {growth[1]} and {growth[2]} times as much per round as a thousand.\n"
        f"D is {faster:.2f} times as fast as a loop with one exponential per arm. `ask` and `tell` from Python\n"
        f"take {least} to {most} µs a pair up to 10³ arms. A new process reaches its first simulated round\n"
        f"in {warm:.1f} s when kernels are cached, and in {cold:.0f} s when everything has to be compiled.\n"
        f"{met} of {measured} targets are met.\n"
    )


def prototype_table(results):
    ns = figures(results)
    lines = ["| engine over | smallest n | | | | | largest n |", "|---" * 7 + "|"]
    for name, instance in INSTANCES.items():
        for what, figure in (
            ("the prototype in this run", lambda n, name=name: ns["prototype", name, n]),
            ("the notes' figure", lambda n, name=name: noted(name, n)),
        ):
            cells = [f"{ns['engine', name, n] / figure(n):.1f}" for n in instance.sizes]
            lines.append(f"| {name}: {what} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def peers_table(results):
    ns = figures(results)
    lines = ["| library | n | rounds per second | the engine is faster by |", "|---|---|---|---|"]
    for row in results.get("peers", []):
        if row.get("ns"):
            ours = ns["engine", row["instance"], row["n"]]
            cells = [f"{row['peer']} {row.get('version', '')}".strip(), f"{row['n']:,}"]
            cells += [f"{1e9 / row['ns']:,.0f}", f"{row['ns'] / ours:,.0f}×"]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n" if len(lines) > 2 else "(not measured in the last run)\n"


if __name__ == "__main__":
    main()
