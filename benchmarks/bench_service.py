"""How the decision service bears load, kills, faults and nonsense: python -m benchmarks.bench_service [--quick].

Prints a table for each part (--only names some). Everything runs on this machine, over loopback, in temporary
folders, and ends by itself.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if __package__ in (None, ""):  # started as a script
    sys.path.insert(0, str(ROOT))

from benchmarks.service import faults, fuzz, hostile, kills, processes, size, speed, streams  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

PARTS = ("speed", "streams", "processes", "kills", "start", "many", "takeover", "faults", "fuzz", "hostile")
console = Console(width=140 if not sys.stdout.isatty() else None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a short run of everything")
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help=", ".join(PARTS)
    )
    parser.add_argument("--seconds", type=float, help="of load for each measurement (5; quick 1)")
    parser.add_argument("--repetitions", type=int, help="of each measurement (5; quick 2)")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--kills", type=int, help="50; quick 5; 1000 for a night")
    parser.add_argument(
        "--events", type=int, help="in the store that is started with (1,000,000; quick 20,000)"
    )
    parser.add_argument("--policies", type=int, help="1,000; quick 50")
    parser.add_argument("--open", type=int, default=100, help="decisions of each of them")
    parser.add_argument("--fuzz", type=int, help="requests (100,000; quick 2,000)")
    options = parser.parse_args()
    quick = options.quick
    seconds, repetitions = (
        options.seconds or (1.0 if quick else 5.0),
        options.repetitions or (2 if quick else 5),
    )
    failures: list[str] = []

    def begin(part: str) -> bool:
        if part not in options.only:
            return False
        load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
        console.print(
            f"\n[bold]{part}[/bold]  {time.strftime('%H:%M:%S')}, {os.cpu_count()} cores, load {load}",
            highlight=False,
        )
        return True

    with tempfile.TemporaryDirectory(prefix="bench-service-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        if begin("speed"):
            rows = speed.measured(folder, seconds, repetitions, options.connections)
            show(
                f"{options.connections} connections, {speed.GRAPH}, {repetitions} × {seconds:g} s each",
                speed.HEADS,
                rows,
            )
        if begin("streams"):
            rows = streams.measured(folder, seconds, repetitions, options.connections)
            title = f"{options.connections} connections and streams, {repetitions} × {seconds:g} s each"
            show(f"{title}, {streams.GRAPH}", streams.HEADS, rows)
        if begin("processes"):
            rows = processes.measured(seconds, repetitions, options.connections)
            title = f"{processes.POLICIES} policies, {options.connections} connections, {repetitions} × {seconds:g} s"
            show(f"PostgreSQL, {title} each, {processes.GRAPH}", processes.HEADS, rows)
        if begin("kills"):
            found = kills.killed(f"sqlite:///{folder}/kills.db", options.kills or (5 if quick else 50))
            heads = (
                "kills",
                "decisions",
                "observations",
                "stored, not answered",
                "lost",
                "twice",
                "state identical",
            )
            row = [
                f"{value:,}" if not isinstance(value, bool) else str(value) for value in vars(found).values()
            ]
            show("kill −9 under load: what was answered", heads, [row])
            if found.lost or found.twice or not found.identical:
                failures.append("kills")
        if begin("start"):
            rows = size.starts(folder, options.events or (20_000 if quick else 1_000_000))
            show("a cold start, imports included", size.START_HEADS, rows)
        if begin("many"):
            policies = options.policies or (50 if quick else 1_000)
            rows = size.many(folder, policies, options.open, seconds, repetitions)
            show(f"{policies:,} policies of {size.GRAPH}", size.MANY_HEADS, rows)
        if begin("takeover"):
            times = faults.takeover(2 if quick else 5)
            row = [str(len(times)), f"{statistics.median(times):.2f}", f"{max(times):.2f}"]
            show("PostgreSQL: seconds until another process decides", ("deaths", "median", "longest"), [row])
        if begin("faults"):
            show("faults", faults.HEADS, faults.faults(folder))
        if begin("fuzz"):
            requests = options.fuzz or (2_000 if quick else 100_000)
            counts, failed = fuzz.fuzzed(f"sqlite:///{folder}/fuzz.db", requests)
            if answered(f"{requests:,} requests that nobody would send", counts, failed):
                failures.append("fuzz")
        if begin("hostile"):
            counts, failed = hostile.probed(f"sqlite:///{folder}/hostile.db")
            if answered(f"{counts.total():,} hostile requests, 4 GiB of memory", counts, failed):
                failures.append("hostile")
    console.print(
        f"failed: {', '.join(failures)}" if failures else "\nnothing lost, nothing twice, no failure"
    )
    return 1 if failures else 0


def answered(title: str, counts: Counter[int], failed: list[str]) -> bool:
    """Show how requests were answered; did any fail?"""
    named = {0: "hangs", 1: "hung up"}
    rows = [[named.get(status, str(status)), f"{count:,}"] for status, count in sorted(counts.items())]
    show(title, ("answer", "how often"), rows)
    for each in failed[:10]:
        console.print(each, markup=False)
    return bool(failed)


def show(title: str, heads: tuple[str, ...], rows: list[list[str]]) -> None:
    table = Table(title=title, title_justify="left")
    for at, head in enumerate(heads):
        table.add_column(
            head, justify="left" if at == 0 or head.startswith("what") else "right", overflow="fold"
        )
    for row in rows:
        table.add_row(*row)
    console.print(table, highlight=False)


if __name__ == "__main__":
    sys.exit(main())
