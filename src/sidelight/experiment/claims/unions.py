"""Claims: disjoint unions of cliques and of complete bipartite graphs."""

from __future__ import annotations

from math import cbrt, log

from sidelight.experiment.claims.claim import Claim, Curve, Estimate, Evidence, Prediction, Sizes
from sidelight.experiment.claims.sweeps import (
    EXPONENT_SIZE,
    EXPONENT_SIZE_BOUND,
    REGRET_BOUND,
    against_horizon,
    against_size,
    formula,
)
from sidelight.experiment.claims.two_level import FULL, QUICK, growth, with_partition
from sidelight.graph import families
from sidelight.partition import natural as partitions

GROUP = "unions of dense graphs"
SOURCE = ("thm:union-of-cliques intro", "thm:union-of-cliques")
RIVALS = {"rivals": ("chlz21", "exp3g")}

paper = with_partition(partitions.components, "clustered")

COUNT = (
    Prediction.near(EXPONENT_SIZE, 1 / 3, 0.1, "(Σ log n_k)^{1/3} = m^{1/3}(log n)^{1/3}"),
    Prediction.near(EXPONENT_SIZE_BOUND, 1 / 3, 0.02, "the bound at T = 10¹⁶"),
    Prediction.most(REGRET_BOUND, 1.0, "expected regret is at most the bound"),
)


def measure_count(sizes: Sizes) -> Evidence:
    """Regret against the number of cliques."""
    graphs = {float(m): families.cliques([4] * m) for m in sizes["cliques"]}
    return against_size(graphs, paper, sizes, 1 / 3, "m, cliques of 4 arms")


def measure_bicliques(sizes: Sizes) -> Evidence:
    """Regret against the number of complete bipartite graphs."""
    graphs = {float(m): families.bicliques([6] * m) for m in sizes["cliques"]}
    return against_size(graphs, paper, sizes, 1 / 3, "m, complete bipartite graphs of 3 + 3 arms")


def measure_clique_size(sizes: Sizes) -> Evidence:
    """The terms of the bound against log n, for 8 cliques of n arms."""
    T = 10**12
    restriction, total, logs = [], [], []
    for n in sizes["sizes"]:
        terms = paper(families.cliques([n] * 8), T).bound.terms
        logs.append(8 * log(n))
        restriction.append(terms["restriction"] + terms["global exploration"])
        total.append(sum(terms.values()))
    x_label = "Σ log n_k of 8 cliques"
    return formula(logs, {"restriction": restriction, "bound": total}, 1 / 3, x_label, "bound at T = 10¹²")


def measure_horizon(sizes: Sizes) -> Evidence:
    """Regret against T."""
    return against_horizon(families.cliques([2, 2, 4, 8]), paper, sizes, 2 / 3)


def measure_rivalry(sizes: Sizes) -> Evidence:
    """Bounds with every constant on m isolated edges: the paper's over CHLZ21's."""
    ratios = []
    for m in sizes["pairs"]:
        printed = 3 * 4 ** (1 / 3) * cbrt(2 * m) + 3 * 2 ** (-1 / 3) * cbrt(2 * m * log(2))
        ratios.append(printed / (3 * 2 ** (-1 / 3) * cbrt(2 * m * log(2 * m))))
    small = families.cliques([2] * 8)
    T = 10**16
    checked = paper(small, T).bound.value / cbrt(T) ** 2
    formula_value = 3 * 4 ** (1 / 3) * cbrt(16) + 3 * 2 ** (-1 / 3) * cbrt(16 * log(2))
    crossing = next((m for m, ratio in zip(sizes["pairs"], ratios, strict=True) if ratio < 1), None)
    x = tuple(float(m) for m in sizes["pairs"])
    at = (
        "beyond all m computed"
        if crossing is None
        else f"between the m computed, at most at m = {crossing:.3g}"
    )
    return Evidence(
        rows=tuple(
            {"m": m, "paper / CHLZ21": ratio} for m, ratio in zip(sizes["pairs"], ratios, strict=True)
        ),
        estimates={
            "ratio at the largest m": Estimate.exact(ratios[-1]),
            "formula / plan at m = 8": Estimate.exact(formula_value / checked),
        },
        curves=(
            Curve("paper's bound / CHLZ21's bound", "measured", x, tuple(ratios)),
            Curve("equal", "bound", x, (1.0,) * len(x)),
        ),
        x_label="m, isolated edges",
        y_label="ratio of the bounds",
        rivals={"CHLZ21's bound at a million edges": Estimate.exact(ratios[sizes["pairs"].index(10**6)])},
        notes=(f"The printed constants win {at}: log 2m must exceed 24.",),
    )


CLAIMS = (
    Claim(
        "cliques-count",
        GROUP,
        "m loop-less cliques of equal size have regret of order m^{1/3}T^{2/3}.",
        SOURCE,
        "cliques:Mx4",
        COUNT,
        measure_count,
        {"cliques": (8, 16, 32), "horizon": 262_144, "seeds": 6} | RIVALS,
        {"cliques": (8, 16, 32, 64), "horizon": 2_097_152, "seeds": 24} | RIVALS,
    ),
    Claim(
        "cliques-size",
        GROUP,
        "The size of the cliques enters as (Σ log n_k)^{1/3}, and in the restriction terms only.",
        SOURCE,
        "cliques:8xN",
        (
            Prediction.near(
                "exponent of restriction", 1 / 3, 0.03, "(Σ δ_k log n_k)^{1/3}; δ_k = n/(n−1) → 1"
            ),
            Prediction("exponent of bound", 0.0, 1 / 3, "the projection does not grow with n"),
        ),
        measure_clique_size,
        {"sizes": (16, 32, 64, 128, 256)},
        {"sizes": (16, 32, 64, 128, 256, 512, 1024)},
    ),
    Claim(
        "cliques-horizon",
        GROUP,
        "Cliques of unequal sizes have regret of order T^{2/3}.",
        SOURCE,
        "cliques:2,2,4,8",
        growth(2 / 3),
        measure_horizon,
        QUICK | RIVALS,
        FULL | RIVALS,
    ),
    Claim(
        "cliques-against-chlz21",
        GROUP,
        "On many small cliques the bound beats the earlier (m log N)^{1/3}T^{2/3}, constants included, once m "
        "is large enough.",
        SOURCE,
        "cliques:Mx2 (isolated edges)",
        (
            Prediction.most("ratio at the largest m", 1.0, "log ∏n_k against log N^m, m → ∞"),
            Prediction.near("formula / plan at m = 8", 1.0, 0.001, "the formula is the plan's bound"),
        ),
        measure_rivalry,
        {"pairs": (10**2, 10**4, 10**6, 10**8, 10**10, 10**12, 10**14)},
        {"pairs": (10**2, 10**4, 10**6, 10**8, 10**10, 10**12, 10**14)},
    ),
    Claim(
        "bicliques-count",
        GROUP,
        "m complete bipartite graphs of equal size have regret of order m^{1/3}T^{2/3}.",
        ("sec:union",),
        "bicliques:Mx6",
        COUNT,
        measure_bicliques,
        {"cliques": (8, 16, 32), "horizon": 262_144, "seeds": 6} | RIVALS,
        {"cliques": (8, 16, 32, 64), "horizon": 2_097_152, "seeds": 24} | RIVALS,
    ),
)
