"""What the engine is held to, and how far it is."""

from dataclasses import dataclass

from benchmarks.engine.instances import CUBES, SIZES

NOTED = {
    "A": (151, 164, 183, 185, 182, 291),
    "B": (59.2, 71.1, 81.9, 105, 86.1, 152),
    "C": (32.4, 36.4, 49.7, 91.1, 77.7, 118),
    "D": (48.2, 297, 1897, 10.6e3, 92.9e3, 936.1e3),
    "E": (170, 274, 405, 587, 1353, 3554),
}
"""ns per round of hand-written kernels on another machine: column "Numba best" of the project's performance notes.

`rivals.prototypes` are such kernels too, one per instance, measured in the same run.
"""


@dataclass(frozen=True)
class Verdict:
    """One target: `value` should be at most (`limit` > 0, at_most) or at least `limit`."""

    what: str
    value: float | None  # None: not measured in this run
    limit: float
    at_most: bool
    unit: str = "×"

    @property
    def outcome(self) -> str:
        if self.value is None:
            return "not measured"
        reached = self.value <= self.limit if self.at_most else self.value >= self.limit
        return "PASS" if reached else "miss"


def noted(instance: str, n: int) -> float:
    sizes = tuple(2**d for d in CUBES) if instance == "E" else SIZES
    return NOTED[instance][sizes.index(n)]


def verdicts(results: dict) -> list[Verdict]:
    """Every target, from what `bench_engine` collected."""
    rounds = {(row["who"], row["instance"], row["n"]): row["ns"] for row in results.get("rounds", [])}

    def ns(who, instance, n):
        return rounds.get((who, instance, n))

    def ratio(above, below):
        return above / below if above is not None and below is not None else None

    found = []
    for name in "ABC":
        value = ratio(ns("engine", name, 1_000_000), ns("engine", name, 1_000))
        found.append(Verdict(f"{name}: n = 10⁶ over n = 10³", value, 3, at_most=True))
    for name, limit in (("A", 35), ("B", 150), ("C", 150)):
        value = ratio(ns("dense", name, 10_000), ns("engine", name, 10_000))
        found.append(
            Verdict(f"{name}: dense compiled loop over engine, n = 10⁴", value, limit, at_most=False)
        )
    for name in "ABC":
        value = ratio(ns("numpy", name, 1_000), ns("engine", name, 1_000))
        found.append(Verdict(f"{name}: plain NumPy over engine, n = 10³", value, 100, at_most=False))
    value = ratio(ns("dense", "D", 1_000), ns("engine", "D", 1_000))
    found.append(Verdict("D: loop with one exp per arm over engine, n = 10³", value, 4, at_most=False))
    for (who, name, n), measured in sorted(rounds.items()):
        if who == "engine":
            value = ratio(measured, ns("prototype", name, n))
            found.append(Verdict(f"{name}: engine over prototype, n = {n:,}", value, 2, at_most=True))
            value = measured / noted(name, n)
            found.append(Verdict(f"{name}: engine over the notes' figure, n = {n:,}", value, 2, at_most=True))
    return found + peer_verdicts(results, ns) + python_verdicts(results)


def peer_verdicts(results, ns):
    found = []
    for row in results.get("peers", []):
        ours = ns("engine", row["instance"], row["n"])
        if row["n"] == (1_000 if row["instance"] == "C" else 10):
            value = row["ns"] / ours if row.get("ns") and ours else None
            what = f"{row['peer']} over engine ({row['instance']}), n = {row['n']:,}"
            found.append(Verdict(what, value, 100, at_most=False))
    return found


def python_verdicts(results):
    found = []
    pairs = {(row["instance"], row["n"]): row["us"] for row in results.get("ask_tell", [])}
    for name in "ABCDE":
        sizes = [n for instance, n in pairs if instance == name]
        value = max((pairs[name, n] for n in sizes), default=None)
        what = f"{name}: ask + tell, worst n ≤ 10³"
        found.append(Verdict(what, value, 15, at_most=True, unit=" µs"))
    river = next(
        (row["ns"] for row in results.get("peers", []) if row["peer"] == "river Exp3" and row["n"] == 1_000),
        None,
    )
    ours = pairs.get(("C", 1_000))
    value = river / 1e3 / ours if river and ours else None
    found.append(Verdict("river Exp3 over ask + tell (C), n = 10³", value, 5, at_most=False))
    warm = results.get("startup", {}).get("first round, caches warm")
    value = warm["wall"] if warm else None
    found.append(Verdict("process start to first round, caches warm", value, 2, at_most=True, unit=" s"))
    return found
