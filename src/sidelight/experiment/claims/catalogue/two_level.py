"""Claims: the regret decomposition and the two realizations of it, in every case of their theorems."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.experiment.claims.claim import Evidence, Prediction
from sidelight.experiment.claims.measures import (
    BOOTSTRAP_SEED,
    REPLICATES,
    Claims,
    columns,
    finished,
    interval,
    ratio_of_means,
    strong_environments,
    weak_environments,
    with_partition,
)
from sidelight.experiment.run import LEDGER
from sidelight.experiment.statistics import resampled_means
from sidelight.graph import FeedbackGraph, families
from sidelight.partition import natural as partitions
from sidelight.planning import plan

claims = Claims("two-level algorithm")
LEDGER_COVERS = "regret / sum of the ledger"
PARTS_COVERED = "largest part of the ledger / its terms in the bound"
PROJECTION = (
    "projection of weak blocks", "self-loop arms", "loop-less arms", "loop-less shift on weak blocks"
)  # fmt: skip
"""The terms of a bound for the top level."""
LEMMAS = (
    "thm:decomp-informal", "thm:general regret", "prop:osmd", "lem:regret", "lem:regretY", "lem:regretX",
    "lem:realized-regretY", "lem:realized-regretX", "lem:adapt-realized-regretX",
)  # fmt: skip


@claims.add(
    "decomposition",
    "cliques:4x4 and corrupted_mab:12,4",
    LEMMAS,
    Prediction.most(LEDGER_COVERS, 1.0, "Lemma regret: the four parts cover the regret"),
    Prediction.most(
        PARTS_COVERED,
        1 + 1e-9,
        "the lemmas bound the expectation of each part; constant exploration meets its term, up to rounding",
    ),
    seeds=(16, 1_000),
)
def decomposition(seeds: int) -> Evidence:
    """Regret is at most the sum of four parts: regret of the projection, regret inside the block of the best arm,
    global and local exploration; and each part stays below its own term of the bound.
    """
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    rows: list[dict[str, Any]] = []
    sums, parts, T = [], [], 65_536
    for spec, split in (("cliques:4x4", partitions.components), ("corrupted_mab:12,4", partitions.corrupted)):
        graph = families.parse(spec)
        for realization in ("clustered", "adaptive"):
            chosen = plan(graph, T, split(graph), realization)
            terms = chosen.bound.terms
            projection = sum(terms.get(name, 0.0) for name in PROJECTION)
            granted = [projection, *(terms[name] for name in LEDGER[1:])]
            for name, environment in weak_environments(graph, T, (1.0,)).items():
                run = finished(chosen, environment, seeds, T)
                ledger, regret = run.ledger[:, -1], run.regret[:, -1]
                sums.append(ratio_of_means(regret, ledger.sum(axis=1), rng))
                for value, cap in zip(ledger.T, granted, strict=True):
                    drawn = resampled_means(value, REPLICATES, rng)
                    parts.append(interval(float(value.mean()) / cap, drawn / cap))
                row = {"plan": f"{spec}, {realization}", "environment": name, "regret": float(regret.mean())}
                row |= dict(zip(LEDGER, ledger.mean(axis=0).tolist(), strict=True))
                rows.append(
                    row | {"sum of the ledger": ledger.mean(axis=0).sum(), "bound": chosen.bound.value}
                )
    return Evidence(
        rows,
        {LEDGER_COVERS: max(sums, key=lambda e: e.high), PARTS_COVERED: max(parts, key=lambda e: e.high)},
        columns(rows, {"regret": "measured", "sum of the ledger": "predicted", "bound": "bound"}),
        "instance (see the table)",
        "regret",
        notes=("Both ratios are the largest over all plans and environments.",),
    )


# -- the cases of the theorems ------------------------------------------------------------------------------


def loops_and_loopless(n_loop: int, n_loopless: int, n_pairs: int = 0) -> FeedbackGraph:
    """Self-loop arms, then loop-less arms that all others reveal, then pairs that reveal each other."""
    n, strong = n_loop + n_loopless + 2 * n_pairs, n_loop + n_loopless
    edges = [(i, i) for i in range(n_loop)]
    edges += [(i, j) for j in range(n_loop, strong) for i in range(n) if i != j]
    for first in range(strong, n, 2):
        edges += [(first, first + 1), (first + 1, first)]
    return FeedbackGraph.from_edges(n, edges)


CLUSTERED, ADAPTIVE = ("thm:realized-upper-bound",), ("thm:adapt-realized-upper-bound",)

claims.growth(
    "clustered-self-loops", "mab:10", CLUSTERED,
    "Case 1: with self-loop arms only, regret is at most 2√(2NT).",
    with_partition(partitions.singletons, "clustered"), power=1 / 2, rivals=("exp3", "tsallis_inf"),
    environments=strong_environments, seeds=(64, 256),
)  # fmt: skip
claims.growth(
    "clustered-strong", "4 self-loop arms and 4 loop-less arms that every other arm reveals", CLUSTERED,
    "Case 2: with loop-less arms that all others reveal as well, regret is still of order √T.",
    with_partition(partitions.singletons, "clustered"), lambda: loops_and_loopless(4, 4), power=1 / 2,
    rivals=("exp3g",), environments=strong_environments,
)  # fmt: skip
claims.growth(
    "clustered-weak", "cliques:4x4, one block per clique", CLUSTERED,
    "Case 3: weak blocks cost (m·Σδ²)^{1/6} and (Σδ log n)^{1/3} times T^{2/3}.",
    with_partition(partitions.components, "clustered"), lambda: families.cliques([4, 4, 4, 4]),
)  # fmt: skip
claims.growth(
    "clustered-mixed", "4 self-loop arms, 2 loop-less strong arms, one weak pair", CLUSTERED,
    "Case 4: self-loop arms, loop-less strong arms and weak blocks together are of order T^{2/3}.",
    with_partition(partitions.corrupted, "clustered"), lambda: loops_and_loopless(4, 2, 1),
)  # fmt: skip
claims.growth(
    "adaptive-weak", "corrupted_mab:12,4, the corrupted arms in one block", ADAPTIVE,
    "Adaptive exploration without loop-less strong arms: (Σ√n)^{1/3}·n^{1/6}·T^{2/3} inside the blocks.",
    with_partition(partitions.corrupted, "adaptive"), lambda: families.corrupted_mab(12, 4),
)  # fmt: skip
claims.growth(
    "adaptive-mixed", "4 self-loop arms, 2 loop-less strong arms, one weak pair", ADAPTIVE,
    "Adaptive exploration beside loop-less strong arms keeps the order T^{2/3}.",
    with_partition(partitions.corrupted, "adaptive"), lambda: loops_and_loopless(4, 2, 1),
)  # fmt: skip
