"""Claims: disjoint unions of cliques and of complete bipartite graphs."""

from __future__ import annotations

from dataclasses import replace
from math import cbrt, log

from sidelight.experiment.claims.claim import Claims, Estimate, Evidence, Prediction, Sizes
from sidelight.experiment.claims.measures import (
    FULL,
    QUICK,
    RIVALS,
    against_horizon,
    against_size,
    formula,
    growth,
    ratios,
    size_growth,
    with_partition,
)
from sidelight.graph import families
from sidelight.partition import natural as partitions

claims = Claims("unions of dense graphs")
SOURCE = ("thm:union-of-cliques intro", "thm:union-of-cliques")
COUNT = size_growth(1 / 3, "(Σ log n_k)^{1/3} = m^{1/3}(log n)^{1/3}")
PLAYED = {"cliques": (8, 16, 32), "horizon": 262_144, "seeds": 6} | RIVALS
PLAYED_FULL = {"cliques": (8, 16, 32, 64), "horizon": 2_097_152, "seeds": 24} | RIVALS

paper = with_partition(partitions.components, "clustered")


@claims.add("cliques-count", "cliques:Mx4", SOURCE, *COUNT, quick=PLAYED, full=PLAYED_FULL)
def count(sizes: Sizes) -> Evidence:
    """m loop-less cliques of equal size have regret of order m^{1/3}T^{2/3}."""
    graphs = {m: families.cliques([4] * m) for m in sizes["cliques"]}
    return against_size(graphs, paper, sizes, 1 / 3, "m, cliques of 4 arms")


@claims.add(
    "cliques-size",
    "cliques:8xN",
    SOURCE,
    Prediction.near("exponent of restriction", 1 / 3, 0.03, "(Σ δ_k log n_k)^{1/3}; δ_k = n/(n−1) → 1"),
    Prediction("exponent of bound", 0.0, 1 / 3, "the projection does not grow with n"),
    quick={"sizes": (16, 32, 64, 128, 256)},
    full={"sizes": (16, 32, 64, 128, 256, 512, 1024)},
)
def clique_size(sizes: Sizes) -> Evidence:
    """The size of the cliques enters as (Σ log n_k)^{1/3}, and in the restriction terms only."""
    T, restriction, total = 10**12, [], []
    for n in sizes["sizes"]:
        terms = paper(families.cliques([n] * 8), T).bound.terms
        restriction.append(terms["restriction"] + terms["global exploration"])
        total.append(sum(terms.values()))
    logs = [8 * log(n) for n in sizes["sizes"]]
    series = {"restriction": restriction, "bound": total}
    return formula(logs, series, 1 / 3, "Σ log n_k of 8 cliques", "bound at T = 10¹²")


@claims.add(
    "cliques-horizon", "cliques:2,2,4,8", SOURCE, *growth(2 / 3), quick=QUICK | RIVALS, full=FULL | RIVALS
)
def horizon(sizes: Sizes) -> Evidence:
    """Cliques of unequal sizes have regret of order T^{2/3}."""
    return against_horizon(families.cliques([2, 2, 4, 8]), paper, sizes, 2 / 3)


@claims.add(
    "cliques-against-chlz21",
    "cliques:Mx2 (isolated edges)",
    SOURCE,
    Prediction.most("ratio at the largest m", 1.0, "log ∏n_k against log N^m, m → ∞"),
    Prediction.near("formula / plan at m = 8", 1.0, 0.001, "the formula is the plan's bound"),
    quick={"pairs": (10**2, 10**4, 10**6, 10**8, 10**10, 10**12, 10**14)},
)
def rivalry(sizes: Sizes) -> Evidence:
    """On many small cliques the bound beats the earlier (m log N)^{1/3}T^{2/3}, constants included, once m is
    large enough.
    """

    def printed(m: float) -> float:
        return 3 * 4 ** (1 / 3) * cbrt(2 * m) + 3 * 2 ** (-1 / 3) * cbrt(2 * m * log(2))

    def share(m: float) -> float:
        return printed(m) / (3 * 2 ** (-1 / 3) * cbrt(2 * m * log(2 * m)))

    T, pairs = 10**16, sizes["pairs"]
    checked = paper(families.cliques([2] * 8), T).bound.value / cbrt(T) ** 2
    crossing = next((m for m in pairs if share(m) < 1), None)
    at = f"between the m computed, at most at m = {crossing:.3g}" if crossing else "beyond all m computed"
    rows = [{"m": m, "paper / CHLZ21": share(m)} for m in pairs]
    label = "paper's bound / CHLZ21's bound"
    return replace(
        ratios(rows, "paper / CHLZ21", label, "m, isolated edges", "ratio of the bounds", pairs),
        estimates={
            "ratio at the largest m": Estimate.exact(share(pairs[-1])),
            "formula / plan at m = 8": Estimate.exact(printed(8) / checked),
        },
        rivals={"CHLZ21's bound at a million edges": Estimate.exact(share(10**6))},
        notes=(f"The printed constants win {at}: log 2m must exceed 24.",),
    )


@claims.add("bicliques-count", "bicliques:Mx6", ("sec:union",), *COUNT, quick=PLAYED, full=PLAYED_FULL)
def bicliques(sizes: Sizes) -> Evidence:
    """m complete bipartite graphs of equal size have regret of order m^{1/3}T^{2/3}."""
    graphs = {m: families.bicliques([6] * m) for m in sizes["cliques"]}
    return against_size(graphs, paper, sizes, 1 / 3, "m, complete bipartite graphs of 3 + 3 arms")
