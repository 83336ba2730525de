"""Claims: C-corrupted strongly observable graphs, where the size of the graph drops out."""

from __future__ import annotations

from dataclasses import replace
from math import cbrt

from sidelight.experiment.claims.claim import Claims, Estimate, Evidence, Prediction, Sizes
from sidelight.experiment.claims.measures import (
    FULL,
    QUICK,
    RIVALS,
    against_horizon,
    against_size,
    curves,
    formula,
    growth,
    play,
    size_growth,
    strong_environments,
    weak_environments,
    with_partition,
    worst_exponent,
)
from sidelight.graph import FeedbackGraph, families
from sidelight.partition import natural as partitions
from sidelight.planning.bounds.bound import first

claims = Claims("corrupted graphs")
SOURCE = ("thm:c-corrupted intro", "thm:c-corrupted")
LEADING = "leading term of the bound at T = 10¹⁶"

paper = with_partition(partitions.corrupted, "adaptive")


@claims.add(
    "corrupted-horizon",
    "corrupted_mab:20,4",
    SOURCE,
    *growth(2 / 3),
    quick=QUICK | RIVALS,
    full=FULL | RIVALS,
)
def horizon(sizes: Sizes) -> Evidence:
    """A graph with C arms that are not strongly observable has regret of order T^{2/3}."""
    return against_horizon(families.corrupted_mab(20, 4), paper, sizes, 2 / 3)


@claims.add(
    "corrupted-arms",
    "corrupted_mab:N,C",
    SOURCE,
    *size_growth(1 / 3, "regret of order C^{1/3}T^{2/3}", LEADING),
    quick={"n": 40, "corrupted": (4, 8, 16, 32), "horizon": 262_144, "seeds": 6} | RIVALS,
    full={"n": 160, "corrupted": (4, 8, 16, 32, 64, 128), "horizon": 2_097_152, "seeds": 24} | RIVALS,
)
def arms(sizes: Sizes) -> Evidence:
    """Its regret grows like C^{1/3} with the number C of corrupted arms."""
    graphs = {c: families.corrupted_mab(sizes["n"], c) for c in sizes["corrupted"]}
    return against_size(graphs, paper, sizes, 1 / 3, "C, corrupted arms")


@claims.add(
    "corrupted-size",
    "corrupted_mab:N,4",
    SOURCE,
    *size_growth(0.0, "no N in front of T^{2/3}; √(NT) is of lower order", LEADING),
    quick={"arms": (8, 16, 32, 64), "horizon": 262_144, "seeds": 6} | RIVALS,
    full={"arms": (8, 16, 32, 64, 128), "horizon": 2_097_152, "seeds": 24} | RIVALS,
)
def size(sizes: Sizes) -> Evidence:
    """At fixed C the number N of arms drops out of the leading term."""
    graphs = {n: families.corrupted_mab(n, 4) for n in sizes["arms"]}
    return against_size(graphs, paper, sizes, 0.0, "N, arms of which 4 are corrupted")


@claims.add(
    "corrupted-constant",
    "corrupted_mab:4C,C and corrupted_full:4C,C",
    SOURCE,
    Prediction.most("largest ratio", 1.0, "9(4C)^{1/3}T^{2/3} as printed"),
    quick={"corrupted": (2, 4, 8, 16, 32)},
    full={"corrupted": (2, 4, 8, 16, 32, 64, 128, 256)},
)
def constant(sizes: Sizes) -> Evidence:
    """For large T the constant is 9·4^{1/3} at most."""
    T = 10**16
    shares = {
        family.__name__: [
            paper(family(4 * c, c), T).bound.value / (9 * cbrt(4 * c) * cbrt(T) ** 2)
            for c in sizes["corrupted"]
        ]
        for family in (families.corrupted_mab, families.corrupted_full)
    }
    rows = [
        {"C": c, "family": name, "bound / 9(4C)^{1/3}T^{2/3}": series[i]}
        for i, c in enumerate(sizes["corrupted"])
        for name, series in shares.items()
    ]
    found = formula(sizes["corrupted"], shares, 0.0, "C, corrupted arms", "bound / printed bound at T = 10¹⁶")
    worst = max(max(series) for series in shares.values())
    return replace(found, rows=rows, estimates={"largest ratio": Estimate.exact(worst)})


@claims.add(
    "corrupted-threshold",
    "corrupted_mab:N,4",
    ("thm:c-corrupted", "docs/theory/readings.md"),
    Prediction.near("exponent of threshold", 3.0, 0.15, "4√(NT) ≤ c·C^{1/3}T^{2/3} from T = c'·N³/C²"),
    quick={"arms": (64, 128, 256, 512, 1024)},
    full={"arms": (64, 128, 256, 512, 1024, 2048, 4096)},
)
def threshold(sizes: Sizes) -> Evidence:
    """“Sufficiently large T” means T of order N³/C²: below it √(NT) is larger than the printed bound."""
    C, reached = 4, []
    for graph in (families.corrupted_mab(n, C) for n in sizes["arms"]):

        def below(T: int, graph: FeedbackGraph = graph) -> bool:
            return paper(graph, T).bound.value <= 9 * cbrt(4 * C) * cbrt(T) ** 2

        reached.append(float(first(below, graph.n_arms**3 // C**2)))
    return formula(
        sizes["arms"], {"threshold": reached}, 3.0, "N, arms of which 4 are corrupted", "T, rounds"
    )


@claims.add(
    "abrupt-change",
    "corrupted_mab:4,0 and corrupted_mab:4,1",
    ("thm:c-corrupted intro",),
    Prediction.near("exponent in T, C = 0", 1 / 2, 0.07, "strongly observable: √T"),
    Prediction.near("exponent in T, C = 1", 2 / 3, 0.07, "one weakly observable arm: T^{2/3}"),
    quick=QUICK | {"seeds": 32},
    full=FULL | {"seeds": 96},
)
def abrupt(sizes: Sizes) -> Evidence:
    """One arm that loses its loop turns √T into T^{2/3}."""
    horizons = [int(T) for T in sizes["horizons"]]
    estimates, drawn, rows = {}, [], []
    for c, power, make, environments in (
        (0, 1 / 2, with_partition(partitions.singletons, "clustered"), strong_environments),
        (1, 2 / 3, paper, weak_environments),
    ):
        graph = families.corrupted_mab(4, c)
        played = [play(make(graph, T), environments(graph, T), sizes["seeds"], T) for T in horizons]
        bounds = [make(graph, T).bound.value for T in horizons]
        estimates[f"exponent in T, C = {c}"] = worst_exponent(horizons, played)
        drawn += [
            replace(curve, label=f"C = {c}: {curve.label}")
            for curve in curves(horizons, played, bounds, power)
        ]
        rows += [
            {"C": c, "T": T, "regret": found.worst, "environment": found.hardest, "bound": bound}
            for T, found, bound in zip(horizons, played, bounds, strict=True)
        ]
    return Evidence(rows, estimates, drawn, "T, rounds", "regret")
