"""What only a fresh process can tell: start-up, compilation, memory."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

IMPORT = "import sidelight"
PLAN = "import sidelight as sl; sl.plan(sl.families.cycle(10), horizon=100_000)"
FIRST_ROUND = """
import json, time
import sidelight as sl
plan = sl.plan(sl.families.cycle(10), horizon=100_000)
sl.simulate(plan, sl.environments.gap(10), seeds=[0], horizon=1, jobs=1)
print(json.dumps({"at": time.time()}))
"""
PEAK = """
import json, sys
sys.path.insert(0, {root!r})
import sidelight as sl
from benchmarks.engine.instances import INSTANCES, means
from benchmarks.engine.processes import peak
imported = peak()
instance = INSTANCES[{name!r}]
n = instance.sizes[-1]
plan = instance.plan(n)
planned = peak()
sl.simulate(plan, sl.environments.bernoulli(means(n)), seeds=[0], horizon={rounds}, jobs=1)
print(json.dumps({{"n": n, "imported": imported, "planned": planned, "played": peak()}}))
"""


def peak():
    """MiB of resident memory that this process had at its peak."""
    status = Path("/proc/self/status")
    if status.exists():  # elsewhere a child starts with the peak of its parent
        lines = status.read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) / 1024
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def child(code, **variables):
    """Run code in a fresh interpreter; its last line of output, and seconds of wall clock and processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    began, before = time.time(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=os.environ | variables,
    )
    wall = time.perf_counter() - before
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = done.stdout.splitlines()
    told = json.loads(lines[-1]) if lines else {}
    if "at" in told:
        wall = told["at"] - began  # up to the first round; leaving takes a moment too
    return told, {"wall": wall, "cpu": now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime}


def startup(repetitions, cold):
    """Seconds from starting Python to `import sidelight`, a plan, the first simulated round, warm and cold."""
    child(FIRST_ROUND)  # fills the cache that the next ones find
    times = {}
    for name, code in (("import", IMPORT), ("plan", PLAN), ("first round, caches warm", FIRST_ROUND)):
        runs = [child(code)[1] for _ in range(repetitions)]
        times[name] = {clock: min(run[clock] for run in runs) for clock in ("wall", "cpu")}
    if not cold:
        return times
    with tempfile.TemporaryDirectory() as empty:
        times["first round, nothing compiled"] = child(FIRST_ROUND, NUMBA_CACHE_DIR=empty)[1]
    return times


def peak_memory(name, rounds):
    """MiB of resident memory at its peak: after importing, after planning, after playing the largest n."""
    return child(PEAK.format(root=str(ROOT), name=name, rounds=rounds))[0]
