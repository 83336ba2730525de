"""A sweep of 200 cells, killed −9 at random moments and resumed, against an uninterrupted one.

    python benchmarks/bench_sweep.py [--kills 3] [--seed 0] [--jobs 2] [--engine local]

Exits with 1 unless both folders hold the same cells byte for byte.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import sidelight as sl

SPEC = {
    "policies": ["auto", "flat", "clustered", "adaptive", "interpolated"],
    "graphs": ["cycle:12", "mab:10", "cliques:3,4,5", "loopless_clique:6", "hypercube:3"],
    "environments": ["gap:0.2", "gap:0.4", "switching:100,0.3", "switching:250,0.4"],
    "horizons": [500, 2000],
    "seeds": 3,
    "checkpoints": 20,
}
RUN = """
import json, sys
import sidelight as sl
results = sl.sweep(json.loads(sys.argv[1]), sys.argv[2], engine=sys.argv[3], jobs=int(sys.argv[4]))
sys.exit(0 if results.complete else 1)
"""


def start(folder: Path, engine: str, jobs: int) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "PYTHONPATH": str(Path(sl.__file__).parents[1])}
    command = [sys.executable, "-c", RUN, json.dumps(SPEC), str(folder), engine, str(jobs)]
    return subprocess.Popen(command, env=environment)


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (folder / "cells").glob("*.parquet")}


def killed(folder: Path, cells: int, arguments: argparse.Namespace) -> float:
    """Run until at least `cells` are finished, wait a little, kill; the seconds it was alive."""
    begun = time.monotonic()
    process = start(folder, arguments.engine, arguments.jobs)
    while len(list((folder / "cells").glob("*.parquet"))) < cells and process.poll() is None:
        time.sleep(0.002)
    time.sleep(arguments.chance.uniform(0, 0.1))
    if process.poll() is not None:
        sys.exit(f"the sweep ended with {process.returncode} before it could be killed")
    process.kill()
    process.wait()
    return time.monotonic() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--engine", default="local")
    arguments = parser.parse_args()
    arguments.chance = random.Random(arguments.seed)
    count = len(sl.Spec.from_dict(SPEC).cells)
    with tempfile.TemporaryDirectory() as scratch:
        whole, broken = Path(scratch, "whole"), Path(scratch, "broken")
        begun = time.monotonic()
        if start(whole, arguments.engine, arguments.jobs).wait():
            sys.exit("the uninterrupted sweep failed")
        print(f"uninterrupted: {count} cells in {time.monotonic() - begun:.1f} s, {arguments.jobs} workers")
        for moment in sorted(arguments.chance.sample(range(1, count - 10), arguments.kills)):
            alive = killed(broken, moment, arguments)
            print(f"killed after {alive:.1f} s with {len(contents(broken))} of {count} cells finished")
        begun = time.monotonic()
        if start(broken, arguments.engine, arguments.jobs).wait():
            sys.exit("the resumed sweep failed")
        print(f"resumed to the end in {time.monotonic() - begun:.1f} s")
        same = contents(whole) == contents(broken) and len(contents(whole)) == count
        size = sum(map(len, contents(whole).values()))
        print(f"{len(contents(broken))} files, {size:,} bytes: {'the same' if same else 'DIFFERENT'}")
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
