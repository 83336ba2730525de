"""Claims: hypercubes, where the partition has to be found."""

from __future__ import annotations

from dataclasses import replace
from math import cbrt, log

import numpy as np

from sidelight.analysis import block_dominations
from sidelight.experiment.claims.claim import Claims, Curve, Estimate, Evidence, Prediction, Sizes
from sidelight.experiment.claims.measures import (
    FULL,
    QUICK,
    RIVALS,
    against_horizon,
    formula,
    growth,
    ratios,
    with_partition,
)
from sidelight.graph import families
from sidelight.partition import natural as partitions
from sidelight.planning import plan

claims = Claims("hypercubes")
paper = with_partition(partitions.hypercube, "clustered")


@claims.add(
    "hypercube-partition",
    "hypercube:D",
    ("lem: hypercube ind set", "thm:hypercube"),
    Prediction.near("blocks / 2^{d−k}", 1.0, 1e-9, "one block for each pair of the dominating set"),
    Prediction.most("largest block / 2d", 1.0, "a pair and the neighbours of both"),
    Prediction.most("largest δ", 2 + 1e-6, "the pair dominates its block"),
    quick={"dimensions": tuple(range(2, 11))},
    full={"dimensions": tuple(range(2, 15))},
)
def partition(sizes: Sizes) -> Evidence:
    """Perfect codes split the hypercube into 2^{d−k} blocks of at most 2d arms that two arms dominate."""
    rows = []
    for d in sizes["dimensions"]:
        graph = families.hypercube(d)
        found = partitions.hypercube(graph)
        k = (d + 1).bit_length() - 1  # 2^k − 1 ≤ d < 2^{k+1} − 1
        row = {"d": d, "blocks": found.n_blocks, "blocks / 2^{d−k}": found.n_blocks / 2 ** (d - k)}
        row["largest block / 2d"] = float(np.max(found.sizes)) / (2 * d)
        rows.append(row | {"largest δ": max(block.value for block in block_dominations(graph, found.blocks))})
    names = ("blocks / 2^{d−k}", "largest block / 2d", "largest δ")
    return Evidence(
        rows,
        {name: Estimate.exact(max(row[name] for row in rows)) for name in names},
        [Curve(name, "measured", sizes["dimensions"], [row[name] for row in rows]) for name in names],
        "d, dimension",
        "largest over the blocks",
    )


@claims.add(
    "hypercube-dimension",
    "hypercube:D",
    ("thm:hypercube",),
    Prediction.near("exponent of bound", 1 / 3, 0.03, "Theorem hypercube"),
    quick={"dimensions": tuple(range(4, 12))},
    full={"dimensions": tuple(range(4, 15))},
)
def dimension(sizes: Sizes) -> Evidence:
    """The bound grows like ((N/d)·log d)^{1/3}."""
    T = 10**14
    demand = [2**d / d * log(d) for d in sizes["dimensions"]]
    bounds = [paper(families.hypercube(d), T).bound.value for d in sizes["dimensions"]]
    chlz21 = [3 * 2 ** (-1 / 3) * cbrt(2**d / d * log(2**d)) * cbrt(T) ** 2 for d in sizes["dimensions"]]
    found = formula(demand, {"bound": bounds}, 1 / 3, "(N/d)·log d, N = 2^d", "bound at T = 10¹⁴")
    return replace(
        found,
        curves=(*found.curves, Curve("CHLZ21's bound", "baseline", demand, chlz21)),
        rivals={"CHLZ21's bound, largest d": Estimate.exact(bounds[-1] / chlz21[-1])},
        notes=("CHLZ21's bound is 3·2^{−1/3}(δ* log N)^{1/3}T^{2/3} with δ* = N/d.",),
    )


@claims.add(
    "hypercube-horizon",
    "hypercube:5",
    ("thm:hypercube",),
    *growth(2 / 3),
    quick=QUICK | RIVALS,
    full=FULL | RIVALS,
)
def horizon(sizes: Sizes) -> Evidence:
    """With this partition regret grows like T^{2/3}."""
    return against_horizon(families.hypercube(5), paper, sizes, 2 / 3)


@claims.add(
    "hypercube-one-block",
    "hypercube:D",
    ("docs/theory/flat.md", "thm:hypercube"),
    Prediction.most("largest ratio", 1.0, "2.39(δ*(1 + log(N/δ*)))^{1/3} with δ* = N/d"),
    quick={"dimensions": tuple(range(3, 11))},
    full={"dimensions": tuple(range(3, 14))},
)
def one_block(sizes: Sizes) -> Evidence:
    """No partition is needed: one flat block has a smaller bound than the codes in every dimension computed."""
    T, rows = 10**14, []
    for d in sizes["dimensions"]:
        graph = families.hypercube(d)
        flat = plan(graph, T, realization="flat").bound.value
        rows.append({"d": d, "flat / partition": flat / paper(graph, T).bound.value})
    label, y_label = "flat bound / bound of the partition", "ratio of the bounds at T = 10¹⁴"
    return ratios(rows, "flat / partition", label, "d, dimension", y_label, sizes["dimensions"])
