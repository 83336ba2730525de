"""How fast the engine is, and against whom: python -m benchmarks.bench_engine [--quick] [--peers] [--only ...].

Prints tables and targets, and writes everything as JSON. See benchmarks/README.md for what is measured and why.
"""

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if __package__ in (None, ""):  # started as a script
    sys.path.insert(0, str(ROOT))

import numba  # noqa: E402
import numpy as np  # noqa: E402
from benchmarks.engine.instances import INSTANCES, means  # noqa: E402
from benchmarks.engine.processes import peak_memory, startup  # noqa: E402
from benchmarks.engine.targets import noted, verdicts  # noqa: E402
from benchmarks.engine.timing import Measurement, engine_start, interleaved  # noqa: E402
from benchmarks.rivals import dense_numba, peers, plain_numpy, prototypes  # noqa: E402
from benchmarks.rivals.agreement import LARGEST_DIFFERENCE, largest_difference  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

import sidelight as sl  # noqa: E402

SECTIONS = ("rounds", "asktell", "startup", "memory", "peers")
RIVALS = {"prototype": prototypes.RIVALS, "dense": dense_numba.RIVALS, "numpy": plain_numpy.RIVALS}
LARGEST_RIVAL = {"prototype": 2**20, "dense": 100_000, "numpy": 10_000}

console = Console(width=118 if not sys.stdout.isatty() else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="n ≤ 10⁴, short repetitions, nothing cold: under a minute"
    )
    parser.add_argument(
        "--peers", action="store_true", help="install other libraries under .benchmarks/ first"
    )
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), metavar="SECTION")
    parser.add_argument("--instances", default="ABCDE", help="which instances, such as AC")
    parser.add_argument("--repetitions", type=int, help="of every measurement; the least counts")
    parser.add_argument("--seconds", type=float, help="at most, per repetition of the engine")
    parser.add_argument("--json", type=Path, default=ROOT / ".benchmarks" / "engine.json", metavar="FILE")
    options = parser.parse_args()
    options.repetitions = options.repetitions or (2 if options.quick else 4)
    options.seconds = options.seconds or (0.3 if options.quick else 5.0)
    options.largest = 10_000 if options.quick else 2**20

    began = time.perf_counter()
    results = {"machine": machine(), "options": {k: str(v) for k, v in vars(options).items()}}
    console.print(f"{results['machine']['cpu']}, {results['machine']['cores']} cores", highlight=False)
    if "rounds" in options.only:
        check_rivals(options.instances)
        check_product_path()
        results["rounds"] = rounds_section(options)
        show_rounds(results["rounds"])
    if "asktell" in options.only:
        results["ask_tell"] = ask_tell_section(options)
        show_ask_tell(results["ask_tell"])
    if "startup" in options.only:
        results["startup"] = startup(2 if options.quick else 4, cold=not options.quick)
        show_startup(results["startup"])
    if "memory" in options.only and not options.quick:
        results["memory"] = memory_section(options)
        show_memory(results["memory"])
    if "peers" in options.only and (options.peers or not options.quick):
        results["peers"] = peers_section(options)
        show_peers(results["peers"], results.get("rounds", []))
    results["machine"]["load_at_end"] = os.getloadavg()
    results["seconds"] = time.perf_counter() - began
    found = verdicts(results)
    results["targets"] = [vars(verdict) | {"outcome": verdict.outcome} for verdict in found]
    show_targets(found, results["machine"])
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=1, default=str))
    console.print(f"{results['seconds']:.0f} s; written to {options.json}", highlight=False)


def machine():
    cpu = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].split(":")[1].strip() if names else cpu
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "load_at_start": os.getloadavg(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "sidelight": sl.__version__,
    }


# -- rounds -------------------------------------------------------------------------------------------


def check_rivals(instances):
    """Nobody is raced who does not do the same job."""
    for who, by_instance in RIVALS.items():
        for name in sorted(set(instances) & set(by_instance)):
            for n in (10, 40):
                instance = INSTANCES[name]
                graph = instance.graph(n)
                partition = instance.partition(graph)
                plan = sl.plan(graph, 5_000, partition=partition, realization=instance.realization)
                difference = largest_difference(by_instance[name](plan, means(n), 1), plan, means(n))
                if not difference <= LARGEST_DIFFERENCE:
                    sys.exit(f"{who} rival of {name} is off by {difference:.1e} at n = {n}: not the same job")


def check_product_path():
    """The loop that is timed is the one that `sl.simulate` runs."""
    for name, instance in INSTANCES.items():
        n = instance.sizes[1]
        plan, environment = instance.plan(n), sl.environments.bernoulli(means(n))
        run = engine_start(plan, environment)(1)
        run(2_000)
        simulated = sl.simulate(plan, environment, seeds=[1], horizon=2_000, checkpoints=[2_000], jobs=1)
        if run.cost != simulated.cost[0, -1]:
            sys.exit(f"{name}: the timed loop cost {run.cost}, sl.simulate {simulated.cost[0, -1]}")


def rounds_section(options):
    rows = []
    for name in options.instances:
        instance = INSTANCES[name]
        measurements = []
        for n in (n for n in instance.sizes if n <= options.largest):
            plan, chances = instance.plan(n), means(n)
            start = engine_start(plan, sl.environments.bernoulli(chances))
            horizon = instance.horizon(n)
            measurements.append(Measurement("engine", name, n, start, horizon, options.seconds))
            for who, by_instance in RIVALS.items():
                if name in by_instance and n <= LARGEST_RIVAL[who]:
                    start = rival_start(by_instance[name], plan, chances)
                    seconds = options.seconds if who == "prototype" else min(0.5, options.seconds)
                    measurements.append(Measurement(who, name, n, start, horizon, seconds))
        with console.status(f"{name}: {instance.about}"):
            interleaved(measurements, options.repetitions)
        rows += [
            {
                "who": m.who,
                "instance": name,
                "n": m.n,
                "ns": m.nanoseconds,
                "rounds": m.rounds,
                "each": m.each,
            }
            for m in measurements
        ]
    return rows


def rival_start(rival, plan, chances):
    return lambda seed: rival(plan, chances, seed).play


def show_rounds(rows):
    table = Table(title="ns per round")
    columns = ("", "n", "rounds", "engine", "prototype", "÷ proto.", "notes", "÷ notes")
    for column in (*columns, "dense", "÷ engine", "NumPy", "÷ engine"):
        table.add_column(column, justify="right")
    by_key = {(row["who"], row["instance"], row["n"]): row for row in rows}
    for (who, name, n), row in by_key.items():
        if who != "engine":
            continue
        cells = [name, f"{n:,}", f"{row['rounds']:,}", figure(row["ns"])]
        made = by_key.get(("prototype", name, n))
        cells += [figure(made["ns"]), f"{row['ns'] / made['ns']:.2f}"] if made else ["", ""]
        cells += [figure(noted(name, n)), f"{row['ns'] / noted(name, n):.2f}"]
        for rival in ("dense", "numpy"):
            other = by_key.get((rival, name, n))
            cells += [figure(other["ns"]), figure(other["ns"] / row["ns"])] if other else ["", ""]
        table.add_row(*cells, end_section=n == max(key[2] for key in by_key if key[1] == name))
    console.print(table)


def figure(value):
    """Three digits, thousands as k and millions as M."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= 10 * size or (letter == "M" and value >= size):
            return f"{value / size:.4g}{letter}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


# -- one decision at a time ---------------------------------------------------------------------------


def ask_tell_section(options):
    rows = []
    for name in options.instances:
        instance = INSTANCES[name]
        for n in (n for n in instance.sizes if n <= 1_024):
            policy = instance.plan(n).policy(seed=1)
            rng = np.random.default_rng(1)
            degrees = policy.graph.out_degree
            told = {d: (rng.random((64, d)) < 0.5).astype(np.float64) for d in set(degrees.tolist())}
            losses = [told[int(d)] for d in degrees]
            pairs(policy, losses, 200)  # a warm-up
            times = [pairs(policy, losses, 1_000) for _ in range(3 * options.repetitions)]
            by_name = [dictionaries(policy) for _ in range(options.repetitions)]
            rows.append({"instance": name, "n": n, "us": min(times) * 1e6, "us_mapping": min(by_name) * 1e6})
    return rows


def pairs(policy, losses, count):
    """Seconds per ask and tell; the losses of every arm are at hand as arrays."""
    before = time.thread_time()
    for i in range(count):
        arm = policy.ask()
        policy.tell(losses[arm][i & 63])
    return (time.thread_time() - before) / count


def dictionaries(policy, count=300):
    """The same with losses told as {arm: loss}; making the dictionary is not counted."""
    spent = 0.0
    for _ in range(count):
        before = time.thread_time()
        arm = policy.ask()
        spent += time.thread_time() - before
        feedback = dict.fromkeys(policy.graph.out_neighbors(arm).tolist(), 1.0)
        before = time.thread_time()
        policy.tell(feedback)
        spent += time.thread_time() - before
    return spent / count


def show_ask_tell(rows):
    table = Table(title="ask + tell, µs per pair")
    for column in ("", "n", "array", "mapping"):
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(row["instance"], f"{row['n']:,}", f"{row['us']:.1f}", f"{row['us_mapping']:.1f}")
    console.print(table)


# -- fresh processes ----------------------------------------------------------------------------------


def show_startup(times):
    table = Table(title="from starting Python, seconds")
    for column in ("to", "wall clock", "processor"):
        table.add_column(column, justify="right")
    for name, clocks in times.items():
        table.add_row(name, f"{clocks['wall']:.2f}", f"{clocks['cpu']:.2f}")
    console.print(table)


def memory_section(options):
    played = {"D": 100}
    rows = []
    for name in options.instances:
        with console.status(f"memory of {name}"):
            rows.append({"instance": name} | peak_memory(name, played.get(name, 100_000)))
    return rows


def show_memory(rows):
    table = Table(title="peak resident memory, MiB")
    for column in ("", "n", "imported", "planned", "played", "bytes per arm"):
        table.add_column(column, justify="right")
    for row in rows:
        cells = [f"{row[key]:,.0f}" for key in ("n", "imported", "planned", "played")]
        table.add_row(row["instance"], *cells, f"{(row['played'] - row['imported']) * 2**20 / row['n']:,.0f}")
    console.print(table)


# -- peers --------------------------------------------------------------------------------------------


def peers_section(options):
    rows = []
    for job, (_, instance, sizes) in peers.JOBS.items():
        for n in sizes:
            with console.status(f"{job}, {n} arms"):
                told = peers.measure(job, n, 0.5 if options.quick else 2.0, options.peers)
            row = {"peer": job, "instance": instance, "n": n} | told
            if "rounds" in told:
                row["ns"] = told["seconds"] / told["rounds"] * 1e9
            rows.append(row)
    return rows


def show_peers(rows, ours):
    engine = {(row["instance"], row["n"]): row["ns"] for row in ours if row["who"] == "engine"}
    table = Table(title="other libraries, the same job")
    for column in ("", "version", "as", "n", "rounds/s", "engine, rounds/s", "engine ÷ peer"):
        table.add_column(column, justify="right")
    for row in rows:
        key = (row["instance"], row["n"])
        cells = [row["peer"], row.get("version", ""), row["instance"], f"{row['n']:,}"]
        if "missing" in row:
            table.add_row(*cells, row["missing"], "", "")
            continue
        cells.append(f"{1e9 / row['ns']:,.1f}")
        cells += [f"{1e9 / engine[key]:,.0f}", figure(row["ns"] / engine[key])] if key in engine else ["", ""]
        table.add_row(*cells)
    console.print(table)


# -- targets ------------------------------------------------------------------------------------------


def show_targets(found, about):
    table = Table(title="targets")
    for column in ("", "measured", "target", "outcome"):
        table.add_column(column, justify="left" if not column else "right")
    colours = {"PASS": "green", "miss": "red", "not measured": "dim"}
    for verdict in found:
        measured = "" if verdict.value is None else f"{verdict.value:,.3g}{verdict.unit}"
        sign = "≤" if verdict.at_most else "≥"
        outcome = f"[{colours[verdict.outcome]}]{verdict.outcome}"
        table.add_row(verdict.what, measured, f"{sign} {verdict.limit:g}{verdict.unit}", outcome)
    console.print(table)
    reached = sum(verdict.outcome == "PASS" for verdict in found)
    measured = sum(verdict.outcome != "not measured" for verdict in found)
    load = f"{about['load_at_start'][0]:.1f} at the start, {about['load_at_end'][0]:.1f} at the end"
    console.print(
        f"{reached} of {measured} measured targets reached; load average {load} on {about['cores']} cores"
    )


if __name__ == "__main__":
    main()
