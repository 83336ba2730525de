"""Claims: hypercubes, where the partition has to be found."""

from __future__ import annotations

from math import cbrt, log

import numpy as np

from sidelight.analysis import block_dominations
from sidelight.experiment.claims.claim import Claim, Curve, Estimate, Evidence, Prediction, Sizes
from sidelight.experiment.claims.sweeps import against_horizon, formula
from sidelight.experiment.claims.two_level import FULL, QUICK, growth, with_partition
from sidelight.graph import families
from sidelight.partition import natural as partitions
from sidelight.planning import plan

GROUP = "hypercubes"
RIVALS = {"rivals": ("chlz21", "exp3g")}

paper = with_partition(partitions.hypercube, "clustered")


def measure_partition(sizes: Sizes) -> Evidence:
    """Number and size of blocks and their domination numbers, dimension by dimension."""
    rows = []
    for d in sizes["dimensions"]:
        graph = families.hypercube(d)
        found = partitions.hypercube(graph)
        k = (d + 1).bit_length() - 1  # 2^k − 1 ≤ d < 2^{k+1} − 1
        deltas = [block.value for block in block_dominations(graph, found.blocks)]
        rows.append(
            {
                "d": d,
                "blocks": found.n_blocks,
                "blocks / 2^{d−k}": found.n_blocks / 2 ** (d - k),
                "largest block / 2d": float(np.max(found.sizes)) / (2 * d),
                "largest δ": max(deltas),
            }
        )
    x = tuple(float(row["d"]) for row in rows)
    names = ("blocks / 2^{d−k}", "largest block / 2d", "largest δ")
    return Evidence(
        rows=tuple(rows),
        estimates={name: Estimate.exact(max(row[name] for row in rows)) for name in names},
        curves=tuple(Curve(name, "measured", x, tuple(row[name] for row in rows)) for name in names),
        x_label="d, dimension",
        y_label="largest over the blocks",
    )


def measure_dimension(sizes: Sizes) -> Evidence:
    """The bound against (N/d)·log d."""
    T = 10**14
    demand, bounds, chlz21 = [], [], []
    for d in sizes["dimensions"]:
        n = 2**d
        demand.append(n / d * log(d))
        graph = families.hypercube(d)
        bounds.append(paper(graph, T).bound.value)
        chlz21.append(3 * 2 ** (-1 / 3) * cbrt(n / d * log(n)) * cbrt(T) ** 2)
    found = formula(demand, {"bound": bounds}, 1 / 3, "(N/d)·log d, N = 2^d", "bound at T = 10¹⁴")
    x = tuple(demand)
    return Evidence(
        found.rows,
        found.estimates,
        (*found.curves, Curve("CHLZ21's bound", "baseline", x, tuple(chlz21))),
        found.x_label,
        found.y_label,
        rivals={"CHLZ21's bound, largest d": Estimate.exact(bounds[-1] / chlz21[-1])},
        notes=("CHLZ21's bound is 3·2^{−1/3}(δ* log N)^{1/3}T^{2/3} with δ* = N/d.",),
    )


def measure_horizon(sizes: Sizes) -> Evidence:
    """Regret against T."""
    return against_horizon(families.hypercube(5), paper, sizes, 2 / 3)


def measure_one_block(sizes: Sizes) -> Evidence:
    """The flat bound over the bound of the partition."""
    T = 10**14
    ratios = []
    for d in sizes["dimensions"]:
        graph = families.hypercube(d)
        ratios.append(plan(graph, T, realization="flat").bound.value / paper(graph, T).bound.value)
    x = tuple(float(d) for d in sizes["dimensions"])
    return Evidence(
        rows=tuple(
            {"d": d, "flat / partition": ratio} for d, ratio in zip(sizes["dimensions"], ratios, strict=True)
        ),
        estimates={"largest ratio": Estimate.exact(max(ratios))},
        curves=(
            Curve("flat bound / bound of the partition", "measured", x, tuple(ratios)),
            Curve("equal", "bound", x, (1.0,) * len(x)),
        ),
        x_label="d, dimension",
        y_label="ratio of the bounds at T = 10¹⁴",
    )


CLAIMS = (
    Claim(
        "hypercube-partition",
        GROUP,
        "Perfect codes split the hypercube into 2^{d−k} blocks of at most 2d arms that two arms dominate.",
        ("lem: hypercube ind set", "thm:hypercube"),
        "hypercube:D",
        (
            Prediction.near("blocks / 2^{d−k}", 1.0, 1e-9, "one block for each pair of the dominating set"),
            Prediction.most("largest block / 2d", 1.0, "a pair and the neighbours of both"),
            Prediction.most("largest δ", 2 + 1e-6, "the pair dominates its block"),
        ),
        measure_partition,
        {"dimensions": tuple(range(2, 11))},
        {"dimensions": tuple(range(2, 15))},
    ),
    Claim(
        "hypercube-dimension",
        GROUP,
        "The bound grows like ((N/d)·log d)^{1/3}.",
        ("thm:hypercube",),
        "hypercube:D",
        (Prediction.near("exponent of bound", 1 / 3, 0.03, "Theorem hypercube"),),
        measure_dimension,
        {"dimensions": tuple(range(4, 12))},
        {"dimensions": tuple(range(4, 15))},
    ),
    Claim(
        "hypercube-horizon",
        GROUP,
        "With this partition regret grows like T^{2/3}.",
        ("thm:hypercube",),
        "hypercube:5",
        growth(2 / 3),
        measure_horizon,
        QUICK | RIVALS,
        FULL | RIVALS,
    ),
    Claim(
        "hypercube-one-block",
        GROUP,
        "No partition is needed: one flat block has a smaller bound than the codes in every dimension computed.",
        ("docs/theory/flat.md", "thm:hypercube"),
        "hypercube:D",
        (Prediction.most("largest ratio", 1.0, "3.78(δ*(1 + log(N/δ*)))^{1/3} with δ* = N/d"),),
        measure_one_block,
        {"dimensions": tuple(range(3, 11))},
        {"dimensions": tuple(range(3, 14))},
    ),
)
