"""Frozen games and bounds: what every kind of plan and rule plays with fixed seeds, and what it promises.

    python tests/golden/traces.py --check     compare with the frozen file, exactly, and list what differs
    python tests/golden/traces.py --write     freeze anew: only when the change that moves a number is meant

A restructuring must leave every number as it is. `test_golden.py` compares to eight digits, as processors may differ
in the last ones; `--check` compares all of them. Games in which such a difference breaks a tie between arms that are
alike are not frozen: they are others on another processor. A row is one game: the arms of a few hundred decisions (as
a digest), the distribution after them, the regret, certificate and plays of compiled games, and the bound.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import sidelight as sl

FILE = Path(__file__).with_name("traces.json")
ROUNDS, DECISIONS, SEEDS = 3000, 200, 2

families, baselines, environments = sl.families, sl.baselines, sl.environments


def looped(sizes: list[int]) -> Any:
    """Cliques whose arms reveal themselves too."""
    g = families.cliques(sizes)
    loops = [(i, i) for i in range(g.n_arms)]
    return sl.FeedbackGraph.from_edges(g.n_arms, [*map(tuple, g.edges()), *loops])


def mixed() -> Any:
    """Weak arms beside arms that reveal themselves."""
    edges = [(0, 0), (1, 1), (2, 2), (0, 3), (1, 4), (3, 5), (5, 3), (4, 5)]
    return sl.FeedbackGraph.from_edges(6, edges)


def failing(g: Any, chance: float) -> Any:
    """The same edges, each of which reveals with this probability."""
    return sl.FeedbackGraph.from_edges(g.n_arms, g.edges(), probabilities=np.full(g.n_edges, chance))


PLANS: dict[str, Callable[[], Any]] = {
    "fixed hypercube:5": lambda: sl.plan(families.hypercube(5), 20_000, realization="fixed"),
    "fixed mab:40": lambda: sl.plan(families.mab(40), 5000, realization="fixed"),
    "fixed full:20": lambda: sl.plan(families.full(20), 5000, realization="fixed"),
    "fixed revealing_action:9": lambda: sl.plan(families.revealing_action(9), 5000, realization="fixed"),
    "fixed corrupted_mab:12,3": lambda: sl.plan(families.corrupted_mab(12, 3), 5000, realization="fixed"),
    "fixed loopless_clique:6": lambda: sl.plan(families.loopless_clique(6), 3000, realization="fixed"),
    "fixed mixed": lambda: sl.plan(mixed(), 5000, realization="fixed"),
    "clustered bicliques:4,6": lambda: sl.plan(families.bicliques([4, 6]), 5000, realization="clustered"),
    "adaptive bicliques:4,6": lambda: sl.plan(families.bicliques([4, 6]), 5000, realization="adaptive"),
    "clustered components": lambda: _in_components("clustered"),
    "adaptive components": lambda: _in_components("adaptive"),
    "interpolated components": lambda: _in_components("interpolated"),
    "hybrid hypercube:4": lambda: sl.plan(families.hypercube(4), 50_000, realization="hybrid"),
    "interpolated cycle:40": lambda: sl.plan(families.cycle(40), 5000, realization="interpolated"),
    "flat cycle:30": lambda: sl.plan(families.cycle(30), 5000, realization="flat"),
    "uniform cycle:5": lambda: sl.plan(families.cycle(5), 3000, realization="uniform"),
    "confident cycle:6": lambda: sl.plan(families.cycle(6), 5000, confidence=0.99),
    "self-tuning cycle:8": lambda: sl.plan(families.cycle(8)),
    "self-tuning cycle:30": lambda: sl.plan(families.cycle(30)),
    "self-tuning directed": lambda: sl.plan(families.cycle(7, directed=True)),
    "self-tuning mab:20": lambda: sl.plan(families.mab(20)),
    "self-tuning mab:60": lambda: sl.plan(families.mab(60)),
    "self-tuning full:20": lambda: sl.plan(families.full(20)),
    "self-tuning loopless_clique:7": lambda: sl.plan(families.loopless_clique(7)),
    "self-tuning loopy_star:12": lambda: sl.plan(families.loopy_star(12)),
    "self-tuning corrupted_mab:12,3": lambda: sl.plan(families.corrupted_mab(12, 3)),
    "self-tuning cliques with loops": lambda: sl.plan(looped([5, 5, 5])),
    "self-tuning mixed": lambda: sl.plan(mixed()),
    "self-tuning newsvendor:9": lambda: sl.plan(families.newsvendor(9)),
    "self-tuning hypercube:5": lambda: sl.plan(families.hypercube(5)),
    "self-tuning teams:3,4": lambda: sl.plan(families.teams([3, 4])),
    "self-tuning failing": lambda: sl.plan(failing(families.cycle(6), 0.7)),
    "fixed failing": lambda: sl.plan(failing(families.cycle(6), 0.7), 5000, realization="fixed"),
    "budget cliques:3,4": lambda: sl.plan(families.cliques([3, 4]), 3000, realization="self-tuning"),
    "budget mab:20": lambda: sl.plan(families.mab(20), 3000, realization="self-tuning"),
    "auto cycle:8": lambda: sl.plan(families.cycle(8), 3000),
    "auto full:20": lambda: sl.plan(families.full(20), 3000),
    "auto mixed": lambda: sl.plan(mixed(), 3000),
    "hedge full:7": lambda: baselines.hedge(families.full(7), 3000),
    "exp3 mab:6": lambda: baselines.exp3(families.mab(6), 3000),
    "exp3g revealing_action:6": lambda: baselines.exp3g(families.revealing_action(6), 3000),
    "chlz21 cycle:7": lambda: baselines.chlz21(families.cycle(7), 5000),
    "q_ftrl cliques": lambda: baselines.q_ftrl(looped([4, 4]), 3000),
    "ftl cycle:5": lambda: baselines.ftl(families.cycle(5)),
    "ucb_n cliques": lambda: baselines.ucb_n(looped([2, 3]), 3000),
    "ts_n mab:4": lambda: baselines.ts_n(families.mab(4)),
    "exp3_ix cliques": lambda: baselines.exp3_ix(looped([3, 2])),
    "tsallis_inf full:5": lambda: baselines.tsallis_inf(families.full(5), 3000),
    "uniform rule": lambda: baselines.uniform(families.cycle(5)),
}

ON_CHANGING_GRAPHS = ("self-tuning cycle:8", "self-tuning mab:20", "self-tuning failing", "exp3_ix cliques")
"""Plans and rules that are proved for graphs that change."""

BOUNDS = (
    "mab:20", "full:20", "loopless_clique:20", "loopy_star:20", "cycle:20", "cycle:20:directed", "teams:5x4",
    "hypercube:7", "revealing_action:20", "corrupted_mab:20,1", "corrupted_mab:100,1", "bicliques:4x8",
    "grid:6,6", "newsvendor:26", "cliques:5x8",
)  # fmt: skip
HORIZONS = (10**4, 10**6)


def _in_components(realization: str) -> Any:
    two = families.bicliques([(3, 3), (2, 4)])
    return sl.plan(two, 10**7, partition=sl.partitions.components(two), realization=realization)


def _digest(numbers: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(numbers, dtype=np.int64).tobytes()).hexdigest()[:16]


def _coins(n: int) -> Any:
    return environments.bernoulli([0.5] * (n - 1) + [0.25])


def _decisions(plan: Any, graphs: list[Any] | None = None, shown: str = "before") -> dict[str, Any]:
    """Decisions one at a time, two open at once in the second half; then the distribution of the next one."""
    policy, n = plan.policy(seed=7), plan.graph.n_arms
    losses, arms, held = _coins(n), [], None
    for t in range(DECISIONS):
        graph = None if graphs is None else graphs[t % len(graphs)]
        before, after = ({}, {}) if graph is None else ({"graph": graph}, {})
        if shown == "after" and graph is not None:
            before, after = {}, {"graph": graph}
        decision = policy.decide(**before)
        arms.append(decision.arm)
        answered = decision
        if t >= DECISIONS // 2 and graph is None:
            held, answered = decision, held
        if answered is not None:
            on = plan.graph if graph is None else graph
            heard = losses.heard(7, answered.id, on, answered.arm)
            policy.observe(answered, heard, **after)
    if held is not None:
        policy.observe(held, losses.heard(7, held.id, plan.graph, held.arm))
    return {
        "arms": _digest(arms),
        "next": policy.probabilities[: min(n, 6)].tolist(),
        "certificate": float(policy.certificate().value),
    }


def _games(plan: Any, environment: Any, **options: Any) -> dict[str, Any]:
    """Compiled games."""
    run = sl.simulate(
        plan,
        environment,
        seeds=range(SEEDS),
        horizon=ROUNDS,
        checkpoints=[100, ROUNDS],
        progress=False,
        **options,
    )
    found = {"regret": run.regret.tolist(), "plays": _digest(run.plays)}
    certificate = np.asarray(run.certificate, dtype=float)
    if np.isfinite(certificate).all():
        found["certificate"] = certificate[:, -1].tolist()
    return found


def rows() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every frozen row, by name."""
    for name, make in PLANS.items():
        plan = make()
        n = plan.graph.n_arms
        bound = plan.bound_at(ROUNDS) if plan.horizon is None else plan.bound_at(plan.horizon)
        row = {"decisions": _decisions(plan), "games": _games(plan, _coins(n))}
        if bound is not None:
            row["bound"] = float(bound.value)
        row["late"] = _games(plan, _coins(n), delay=7)
        row["geometric"] = _games(plan, _coins(n), delay=("geometric", 5.0))
        yield name, row
    for name in ON_CHANGING_GRAPHS:
        plan = PLANS[name]()
        g, n = plan.graph, plan.graph.n_arms
        everything = families.full(n)
        wider = sl.FeedbackGraph.from_edges(
            n, sorted({*map(tuple, g.edges().tolist()), (0, 1), (1, 1), (2, 1)})
        )
        for shown, graphs in (("before", [everything, g, families.mab(n)]), ("after", [everything, wider])):
            if g.out_probability is not None and shown == "after":
                continue  # nothing is shown afterwards where reveals may fail
            if shown == "after" and name.startswith("exp3_ix"):
                graphs = [everything]
            world = environments.changing(_coins(n), graphs, shown=shown)
            row = {"games": _games(plan, world), "late": _games(plan, world, delay=5)}
            row["decisions"] = _decisions(plan, graphs, shown)
            yield f"{name}, graphs change, shown {shown}", row
    for family in BOUNDS:
        for horizon in HORIZONS:
            found = sl.compare_bounds(family, horizon)
            values = {}
            for kind in ("upper", "lower"):
                values |= {
                    f"{kind} {row.name}": row.value for row in getattr(found, kind) if row.value is not None
                }
            yield f"bounds of {family} at {horizon}", values


def flattened(row: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every number of a row with the way to it."""
    if isinstance(row, dict):
        for key, value in row.items():
            yield from flattened(value, f"{path}/{key}")
    elif isinstance(row, list):
        for index, value in enumerate(row):
            yield from flattened(value, f"{path}[{index}]")
    else:
        yield path, row


def differences(frozen: dict[str, Any], now: dict[str, Any], within: float = 0.0) -> list[str]:
    """What differs by more than this, relative to the frozen number."""
    before, after = dict(flattened(frozen)), dict(flattened(now))
    found = [
        f"{path}: {'gone' if path in before else 'new'}" for path in sorted(before.keys() ^ after.keys())
    ]
    for path in before.keys() & after.keys():
        a, b = before[path], after[path]
        same = (
            a == b if isinstance(a, str) else abs(a - b) <= within * max(abs(a), 1.0) or (a != a and b != b)
        )
        if not same:
            found.append(f"{path}: {a!r} -> {b!r}")
    return sorted(found)


def main() -> int:
    """Check or write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="freeze what is played now")
    parser.add_argument("--check", action="store_true", help="compare exactly with what is frozen")
    parser.add_argument("--within", type=float, default=0.0, help="a relative difference that counts as none")
    options = parser.parse_args()
    now = dict(rows())
    if options.write:
        FILE.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{len(now)} rows are frozen")
        return 0
    found = differences(json.loads(FILE.read_text(encoding="utf-8")), now, options.within)
    print("\n".join(found) or f"all {len(now)} rows are as they were")
    return 1 if found else 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
