"""Claims: the regret decomposition and the two realizations of it, in every case of their theorems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sidelight.experiment.claims.claim import Claim, Curve, Evidence, Prediction, Sizes
from sidelight.experiment.claims.fitting import interval, resampled_means
from sidelight.experiment.claims.hard import strong_environments, weak_environments
from sidelight.experiment.claims.playing import BOOTSTRAP_SEED, Make
from sidelight.experiment.claims.sweeps import (
    EXPONENT_T,
    EXPONENT_T_BOUND,
    REGRET_BOUND,
    Environments,
    against_horizon,
)
from sidelight.experiment.simulation import simulate
from sidelight.graph import FeedbackGraph, families
from sidelight.partition import Partition
from sidelight.partition import natural as partitions
from sidelight.planning import Plan, plan

GROUP = "two-level algorithm"
QUICK = {"horizons": (16_384, 65_536, 262_144), "seeds": 8}
FULL = {"horizons": (16_384, 65_536, 262_144, 1_048_576, 2_097_152), "seeds": 32}


def with_partition(partition: Callable[[FeedbackGraph], Partition], realization: str) -> Make:
    """Plans of the paper: this partition, this realization."""
    return lambda graph, T: plan(graph, T, partition=partition(graph), realization=realization)


def loops_and_loopless(n_loop: int, n_loopless: int, n_pairs: int = 0) -> FeedbackGraph:
    """Self-loop arms, then loop-less arms that all others reveal, then pairs that reveal each other."""
    n = n_loop + n_loopless + 2 * n_pairs
    edges = [(i, i) for i in range(n_loop)]
    edges += [(i, j) for j in range(n_loop, n_loop + n_loopless) for i in range(n) if i != j]
    for k in range(n_pairs):
        first = n_loop + n_loopless + 2 * k
        edges += [(first, first + 1), (first + 1, first)]
    return FeedbackGraph.from_edges(n, edges)


def weak_block(graph: FeedbackGraph) -> Partition:
    """Strongly observable arms alone, all others in one block."""
    return partitions.corrupted(graph)


def growth(power: float, within: float = 0.07) -> tuple[Prediction, ...]:
    """What a theorem "R ≤ c·T^power for large T", tight on hard instances, predicts."""
    return (
        Prediction.near(EXPONENT_T, power, within, f"regret of order T^{power:.3g} on the hardest losses"),
        Prediction.near(EXPONENT_T_BOUND, power, 0.01, "the leading term of the bound, at T = 10¹⁴ to 10¹⁶"),
        Prediction.most(REGRET_BOUND, 1.0, "expected regret is at most the bound"),
    )


def _theorem(
    name: str,
    statement: str,
    source: tuple[str, ...],
    family: str,
    graph: Callable[[], FeedbackGraph],
    make: Make,
    power: float,
    rivals: tuple[str, ...],
    environments: Environments = weak_environments,
    seeds: int = 1,
) -> Claim:
    """A claim about growth in T; `seeds` multiplies their number where runs differ much."""

    def measure(sizes: Sizes) -> Evidence:
        return against_horizon(graph(), make, sizes, power, environments)

    quick, full = (
        sizes | {"rivals": rivals, "seeds": seeds * sizes["seeds"]}  # type: ignore[operator]
        for sizes in (QUICK, FULL)
    )
    return Claim(name, GROUP, statement, source, family, growth(power), measure, quick, full)


# -- decomposition -----------------------------------------------------------------------------------------

LEDGER_COVERS = "regret / sum of the ledger"
PARTS_COVERED = "largest part of the ledger / its terms in the bound"


def _instances() -> dict[str, Plan]:
    """Plans whose bounds name what each part of the ledger may cost."""
    T = 65_536
    cliques, corrupted = families.cliques([4, 4, 4, 4]), families.corrupted_mab(12, 4)
    return {
        "cliques:4x4, clustered": plan(cliques, T, partitions.components(cliques), "clustered"),
        "cliques:4x4, adaptive": plan(cliques, T, partitions.components(cliques), "adaptive"),
        "corrupted_mab:12,4, clustered": plan(corrupted, T, partitions.corrupted(corrupted), "clustered"),
        "corrupted_mab:12,4, adaptive": plan(corrupted, T, partitions.corrupted(corrupted), "adaptive"),
    }


def measure_decomposition(sizes: Sizes) -> Evidence:
    """Ledgers of played runs: they must add up to the regret or more, and stay below the terms of the bound."""
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    rows: list[dict[str, Any]] = []
    sums, parts = [], []
    for name, chosen in _instances().items():
        worlds = weak_environments(chosen.graph, chosen.bound.horizon, (1.0,))
        allowed = _allowed(chosen.bound.terms)
        for world, environment in worlds.items():
            run = simulate(
                chosen,
                environment,
                seeds=range(sizes["seeds"]),
                checkpoints=[chosen.bound.horizon],
                progress=False,
            )
            if not run.complete:
                raise KeyboardInterrupt
            ledger, regret = run.ledger[:, -1], run.regret[:, -1]
            total = ledger.sum(axis=1)
            ratio = float(regret.mean() / total.mean())
            draws = rng.integers(regret.size, size=(2_000, regret.size))
            sums.append(interval(ratio, regret[draws].mean(axis=1) / total[draws].mean(axis=1)))
            for part, cap in allowed.items():
                value = ledger[:, part]
                share = interval(float(value.mean()) / cap, resampled_means(value, rng) / cap)
                parts.append(share)
            rows.append(
                {
                    "plan": name,
                    "environment": world,
                    "regret": float(regret.mean()),
                    "projection": float(ledger[:, 0].mean()),
                    "restriction": float(ledger[:, 1].mean()),
                    "global exploration": float(ledger[:, 2].mean()),
                    "local exploration": float(ledger[:, 3].mean()),
                    "bound": chosen.bound.value,
                }
            )
    at = tuple(float(i + 1) for i in range(len(rows)))
    return Evidence(
        rows=tuple(rows),
        estimates={
            LEDGER_COVERS: max(sums, key=lambda e: e.high),
            PARTS_COVERED: max(parts, key=lambda e: e.high),
        },
        curves=(
            Curve("regret", "measured", at, tuple(row["regret"] for row in rows)),
            Curve(
                "sum of the ledger",
                "predicted",
                at,
                tuple(
                    row["projection"]
                    + row["restriction"]
                    + row["global exploration"]
                    + row["local exploration"]
                    for row in rows
                ),
            ),
            Curve("bound", "bound", at, tuple(row["bound"] for row in rows)),
        ),
        x_label="instance (see the table)",
        y_label="regret",
        notes=("Both ratios are the largest over all plans and environments.",),
    )


def _allowed(terms: dict[str, float]) -> dict[int, float]:
    """Part of the ledger → what the bound grants it: the terms of the top level are the projection's."""
    top = ("projection of weak blocks", "self-loop arms", "loop-less arms", "loop-less shift on weak blocks")
    return {
        0: sum(terms.get(name, 0.0) for name in top),
        1: terms["restriction"],
        2: terms["global exploration"],
        3: terms["local exploration"],
    }


CLAIMS = (
    Claim(
        name="decomposition",
        group=GROUP,
        statement="Regret is at most the sum of four parts: regret of the projection, regret inside the block of "
        "the best arm, global and local exploration; and each part stays below its own term of the bound.",
        source=(
            "thm:decomp-informal",
            "thm:general regret",
            "prop:osmd",
            "lem:regret",
            "lem:regretY",
            "lem:regretX",
            "lem:realized-regretY",
            "lem:realized-regretX",
            "lem:adapt-realized-regretX",
        ),
        family="cliques:4x4 and corrupted_mab:12,4",
        predictions=(
            Prediction.most(LEDGER_COVERS, 1.0, "Lemma regret: the four parts cover the regret"),
            Prediction.most(
                PARTS_COVERED,
                1 + 1e-9,
                "the lemmas bound the expectation of each part; constant exploration meets its term, up to rounding",
            ),
        ),
        measure=measure_decomposition,
        quick={"seeds": 16},
        full={"seeds": 1_000},
    ),
    _theorem(
        "clustered-self-loops",
        "Case 1: with self-loop arms only, regret is at most 2√(2NT).",
        ("thm:realized-upper-bound",),
        "mab:10",
        lambda: families.mab(10),
        with_partition(partitions.singletons, "clustered"),
        1 / 2,
        ("exp3", "tsallis_inf"),
        strong_environments,
        seeds=8,
    ),
    _theorem(
        "clustered-strong",
        "Case 2: with loop-less arms that all others reveal as well, regret is still of order √T.",
        ("thm:realized-upper-bound",),
        "4 self-loop arms and 4 loop-less arms that every other arm reveals",
        lambda: loops_and_loopless(4, 4),
        with_partition(partitions.singletons, "clustered"),
        1 / 2,
        ("exp3g",),
        strong_environments,
    ),
    _theorem(
        "clustered-weak",
        "Case 3: weak blocks cost (m·Σδ²)^{1/6} and (Σδ log n)^{1/3} times T^{2/3}.",
        ("thm:realized-upper-bound",),
        "cliques:4x4, one block per clique",
        lambda: families.cliques([4, 4, 4, 4]),
        with_partition(partitions.components, "clustered"),
        2 / 3,
        ("chlz21", "exp3g"),
    ),
    _theorem(
        "clustered-mixed",
        "Case 4: self-loop arms, loop-less strong arms and weak blocks together are of order T^{2/3}.",
        ("thm:realized-upper-bound",),
        "4 self-loop arms, 2 loop-less strong arms, one weak pair",
        lambda: loops_and_loopless(4, 2, 1),
        with_partition(weak_block, "clustered"),
        2 / 3,
        ("chlz21", "exp3g"),
    ),
    _theorem(
        "adaptive-weak",
        "Adaptive exploration without loop-less strong arms: (Σ√n)^{1/3}·n^{1/6}·T^{2/3} inside the blocks.",
        ("thm:adapt-realized-upper-bound",),
        "corrupted_mab:12,4, the corrupted arms in one block",
        lambda: families.corrupted_mab(12, 4),
        with_partition(weak_block, "adaptive"),
        2 / 3,
        ("chlz21", "exp3g"),
    ),
    _theorem(
        "adaptive-mixed",
        "Adaptive exploration beside loop-less strong arms keeps the order T^{2/3}.",
        ("thm:adapt-realized-upper-bound",),
        "4 self-loop arms, 2 loop-less strong arms, one weak pair",
        lambda: loops_and_loopless(4, 2, 1),
        with_partition(weak_block, "adaptive"),
        2 / 3,
        ("chlz21", "exp3g"),
    ),
)
