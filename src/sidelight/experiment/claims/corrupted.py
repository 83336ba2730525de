"""Claims: C-corrupted strongly observable graphs, where the size of the graph drops out."""

from __future__ import annotations

from dataclasses import replace
from math import cbrt

from sidelight.experiment.claims.claim import Claim, Estimate, Evidence, Prediction, Sizes
from sidelight.experiment.claims.hard import strong_environments, weak_environments
from sidelight.experiment.claims.playing import play
from sidelight.experiment.claims.sweeps import (
    EXPONENT_SIZE,
    EXPONENT_SIZE_BOUND,
    REGRET_BOUND,
    against_horizon,
    against_size,
    curves,
    formula,
    worst_exponent,
)
from sidelight.experiment.claims.two_level import FULL, QUICK, growth, with_partition
from sidelight.graph import FeedbackGraph, families
from sidelight.partition import natural as partitions
from sidelight.planning.bounds.bound import first

GROUP = "corrupted graphs"
SOURCE = ("thm:c-corrupted intro", "thm:c-corrupted")
RIVALS = {"rivals": ("chlz21", "exp3g")}

paper = with_partition(partitions.corrupted, "adaptive")


def measure_horizon(sizes: Sizes) -> Evidence:
    """Regret against T."""
    return against_horizon(families.corrupted_mab(20, 4), paper, sizes, 2 / 3)


def measure_arms(sizes: Sizes) -> Evidence:
    """Regret against C."""
    graphs = {float(c): families.corrupted_mab(sizes["n"], c) for c in sizes["corrupted"]}
    return against_size(graphs, paper, sizes, 1 / 3, "C, corrupted arms")


def measure_size(sizes: Sizes) -> Evidence:
    """Regret against N."""
    graphs = {float(n): families.corrupted_mab(n, 4) for n in sizes["arms"]}
    return against_size(graphs, paper, sizes, 0.0, "N, arms of which 4 are corrupted")


def measure_constant(sizes: Sizes) -> Evidence:
    """The bound over 9(4C)^{1/3}T^{2/3} where T is large, for pairs and for corrupted full feedback."""
    T = 10**16
    rows, worst = [], 0.0
    for c in sizes["corrupted"]:
        for name, graph in (
            ("corrupted_mab", families.corrupted_mab(4 * c, c)),
            ("corrupted_full", families.corrupted_full(4 * c, c)),
        ):
            share = paper(graph, T).bound.value / (9 * cbrt(4 * c) * cbrt(T) ** 2)
            worst = max(worst, share)
            rows.append({"C": c, "family": name, "bound / 9(4C)^{1/3}T^{2/3}": share})
    x = [float(c) for c in sizes["corrupted"]]
    drawn = formula(
        x,
        {
            name: [row["bound / 9(4C)^{1/3}T^{2/3}"] for row in rows if row["family"] == name]
            for name in ("corrupted_mab", "corrupted_full")
        },
        0.0,
        "C, corrupted arms",
        "bound / printed bound at T = 10¹⁶",
    )
    return Evidence(
        tuple(rows), {"largest ratio": Estimate.exact(worst)}, drawn.curves, drawn.x_label, drawn.y_label
    )


def measure_threshold(sizes: Sizes) -> Evidence:
    """The horizon from which the bound of the adaptive theorem is below 9(4C)^{1/3}T^{2/3}."""
    C, reached = 4, []
    for n in sizes["arms"]:
        graph = families.corrupted_mab(n, C)

        def below(T: int, graph: FeedbackGraph = graph) -> bool:
            return paper(graph, T).bound.value <= 9 * cbrt(4 * C) * cbrt(T) ** 2

        reached.append(float(first(below, n**3 // C**2)))
    arms = [float(n) for n in sizes["arms"]]
    return formula(arms, {"threshold": reached}, 3.0, "N, arms of which 4 are corrupted", "T, rounds")


def measure_abrupt(sizes: Sizes) -> Evidence:
    """Exponents in T with no corrupted arm and with one."""
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
    return Evidence(tuple(rows), estimates, tuple(drawn), "T, rounds", "regret")


CLAIMS = (
    Claim(
        "corrupted-horizon",
        GROUP,
        "A graph with C arms that are not strongly observable has regret of order T^{2/3}.",
        SOURCE,
        "corrupted_mab:20,4",
        growth(2 / 3),
        measure_horizon,
        QUICK | RIVALS,
        FULL | RIVALS,
    ),
    Claim(
        "corrupted-arms",
        GROUP,
        "Its regret grows like C^{1/3} with the number C of corrupted arms.",
        SOURCE,
        "corrupted_mab:N,C",
        (
            Prediction.near(EXPONENT_SIZE, 1 / 3, 0.1, "regret of order C^{1/3}T^{2/3}"),
            Prediction.near(EXPONENT_SIZE_BOUND, 1 / 3, 0.02, "leading term of the bound at T = 10¹⁶"),
            Prediction.most(REGRET_BOUND, 1.0, "expected regret is at most the bound"),
        ),
        measure_arms,
        {"n": 40, "corrupted": (4, 8, 16, 32), "horizon": 262_144, "seeds": 6} | RIVALS,
        {"n": 160, "corrupted": (4, 8, 16, 32, 64, 128), "horizon": 2_097_152, "seeds": 24} | RIVALS,
    ),
    Claim(
        "corrupted-size",
        GROUP,
        "At fixed C the number N of arms drops out of the leading term.",
        SOURCE,
        "corrupted_mab:N,4",
        (
            Prediction.near(EXPONENT_SIZE, 0.0, 0.1, "no N in front of T^{2/3}; √(NT) is of lower order"),
            Prediction.near(EXPONENT_SIZE_BOUND, 0.0, 0.02, "leading term of the bound at T = 10¹⁶"),
            Prediction.most(REGRET_BOUND, 1.0, "expected regret is at most the bound"),
        ),
        measure_size,
        {"arms": (8, 16, 32, 64), "horizon": 262_144, "seeds": 6} | RIVALS,
        {"arms": (8, 16, 32, 64, 128), "horizon": 2_097_152, "seeds": 24} | RIVALS,
    ),
    Claim(
        "corrupted-constant",
        GROUP,
        "For large T the constant is 9·4^{1/3} at most.",
        SOURCE,
        "corrupted_mab:4C,C and corrupted_full:4C,C",
        (Prediction.most("largest ratio", 1.0, "9(4C)^{1/3}T^{2/3} as printed"),),
        measure_constant,
        {"corrupted": (2, 4, 8, 16, 32)},
        {"corrupted": (2, 4, 8, 16, 32, 64, 128, 256)},
    ),
    Claim(
        "corrupted-threshold",
        GROUP,
        "“Sufficiently large T” means T of order N³/C²: below it √(NT) is larger than the printed bound.",
        ("thm:c-corrupted", "docs/theory/readings.md"),
        "corrupted_mab:N,4",
        (Prediction.near("exponent of threshold", 3.0, 0.15, "4√(NT) ≤ c·C^{1/3}T^{2/3} from T = c'·N³/C²"),),
        measure_threshold,
        {"arms": (64, 128, 256, 512, 1024)},
        {"arms": (64, 128, 256, 512, 1024, 2048, 4096)},
    ),
    Claim(
        "abrupt-change",
        GROUP,
        "One arm that loses its loop turns √T into T^{2/3}.",
        ("thm:c-corrupted intro",),
        "corrupted_mab:4,0 and corrupted_mab:4,1",
        (
            Prediction.near("exponent in T, C = 0", 1 / 2, 0.07, "strongly observable: √T"),
            Prediction.near("exponent in T, C = 1", 2 / 3, 0.07, "one weakly observable arm: T^{2/3}"),
        ),
        measure_abrupt,
        QUICK | {"seeds": 32},
        FULL | {"seeds": 96},
    ),
)
