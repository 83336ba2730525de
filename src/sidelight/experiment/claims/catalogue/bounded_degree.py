"""Claims: graphs of bounded degree, cycles among them, and the counterexample to the printed theorem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sidelight.analysis import packing_independent_set
from sidelight.experiment.claims.claim import Claims, Estimate, Evidence, Prediction, Sizes
from sidelight.experiment.claims.measures import (
    FULL,
    QUICK,
    RIVALS,
    Make,
    against_horizon,
    against_size,
    formula,
    growth,
    size_growth,
    with_partition,
)
from sidelight.graph import FeedbackGraph, families
from sidelight.partition import natural as partitions
from sidelight.planning import plan
from sidelight.planning.bounds import lower

claims = Claims("bounded degree")
PLAYED = {"arms": (24, 48, 96), "horizon": 262_144, "seeds": 16} | RIVALS
PLAYED_FULL = {"arms": (24, 48, 96, 192), "horizon": 2_097_152, "seeds": 32} | RIVALS
SIZE = size_growth(1 / 3, "regret of order N^{1/3}T^{2/3}")

paper = with_partition(partitions.single, "adaptive")


def _both_bounds(graphs: Mapping[int, FeedbackGraph], x_label: str, make: Make = plan) -> Evidence:
    """Upper and lower bounds with their constants at one huge horizon."""
    T = 10**16
    below = []
    for graph in graphs.values():
        found = packing_independent_set(graph, exact=False)
        forced = lower.packing_set(len(found.arms), found.t, T) if len(found.arms) > 1 else 0.0
        below.append(max(forced, lower.weak_arm(T)))
    series = {"upper bound": [make(graph, T).bound.value for graph in graphs.values()], "lower bound": below}
    return formula(graphs, series, 1 / 3, x_label, "regret at T = 10¹⁶")


@claims.add(
    "in-degree", "bounded_in_degree:N,3,1", ("thm:bounded-degree",), *SIZE, quick=PLAYED, full=PLAYED_FULL
)
def in_degree(sizes: Sizes) -> Evidence:
    """Graphs of bounded in-degree, hence all weakly observable graphs, have regret of order N^{1/3}T^{2/3}."""
    graphs = {n: families.bounded_in_degree(n, 3, 1) for n in sizes["arms"]}
    return against_size(graphs, paper, sizes, 1 / 3, "N, arms")


@claims.add(
    "directed-cycle-size",
    "cycle:N:directed",
    ("thm:directed-bounded-degree", "thm:bounded-degree"),
    *SIZE,
    quick=PLAYED,
    full=PLAYED_FULL,
)
def directed_size(sizes: Sizes) -> Evidence:
    """On directed cycles regret grows like N^{1/3}."""
    graphs = {n: families.cycle(n, directed=True) for n in sizes["arms"]}
    return against_size(graphs, paper, sizes, 1 / 3, "N, arms")


@claims.add(
    "directed-cycle-horizon",
    "cycle:16:directed",
    ("thm:directed-bounded-degree", "thm:adapt-realized-upper-bound"),
    *growth(2 / 3),
    quick=QUICK | RIVALS,
    full=FULL | RIVALS,
)
def directed_horizon(sizes: Sizes) -> Evidence:
    """On directed cycles regret grows like T^{2/3}."""
    return against_horizon(families.cycle(16, directed=True), paper, sizes, 2 / 3)


@claims.add(
    "undirected-cycle-size",
    "cycle:N",
    ("cor:undirected-bounded-degree",),
    *SIZE,
    quick=PLAYED,
    full=PLAYED_FULL,
)
def undirected_size(sizes: Sizes) -> Evidence:
    """On undirected cycles regret grows like N^{1/3}: no log N."""
    return against_size({n: families.cycle(n) for n in sizes["arms"]}, paper, sizes, 1 / 3, "N, arms")


@claims.add(
    "undirected-cycle-horizon",
    "cycle:16",
    ("cor:undirected-bounded-degree", "thm:adapt-realized-upper-bound"),
    *growth(2 / 3),
    quick=QUICK | RIVALS,
    full=FULL | RIVALS,
)
def undirected_horizon(sizes: Sizes) -> Evidence:
    """On undirected cycles regret grows like T^{2/3}."""
    return against_horizon(families.cycle(16), paper, sizes, 2 / 3)


@claims.add(
    "cycle-theta",
    "cycle:N",
    ("cor:undirected-bounded-degree", "thm:directed-bounded-degree"),
    Prediction.near("exponent of upper bound", 1 / 3, 0.03, "one block, T = 10¹⁶"),
    Prediction.near("exponent of lower bound", 1 / 3, 0.05, "a 1-packing of N/3 arms or more"),
    quick={"arms": (120, 240, 480, 960)},
    full={"arms": (120, 240, 480, 960, 1920, 3840)},
)
def theta(sizes: Sizes) -> Evidence:
    """On undirected cycles upper and lower bound both grow like N^{1/3}."""
    return _both_bounds({n: families.cycle(n) for n in sizes["arms"]}, "N, arms", paper)


@claims.add(
    "out-degree-as-printed",
    "corrupted_mab:N,1 (N−1 self-loop arms, one loop-less arm that arm 0 reveals)",
    ("thm:out-bounded-theta", "thm:directed-bounded-degree"),
    Prediction.near("exponent of the minimax regret in N", 1 / 3, 0.1, "Θ(N^{1/3}T^{2/3}) as printed"),
    Prediction.most("largest out-degree", 2.0, "the family satisfies the premise"),
    quick={"arms": (16, 32, 64, 128, 256)},
    full={"arms": (16, 32, 64, 128, 256, 512, 1024)},
    known_false=True,
)
def counterexample(sizes: Sizes) -> Evidence:
    """As printed: every weakly observable graph of bounded out-degree has minimax regret Θ(N^{1/3}T^{2/3})."""
    graphs = {n: families.corrupted_mab(n, 1) for n in sizes["arms"]}
    found = _both_bounds(graphs, "N, arms")
    return replace(
        found,
        estimates={
            "exponent of the minimax regret in N": found.estimates["exponent of upper bound"],
            "largest out-degree": Estimate.exact(max(int(g.out_degree.max()) for g in graphs.values())),
        },
        notes=(
            "Out-degrees are at most 2 and the theorem says N^{1/3}, but a certified upper bound does not grow.",
            "The theorem is false as printed; out-degree-repaired has what is true.",
        ),
    )


@claims.add(
    "out-degree-repaired",
    "corrupted_mab:4096,C",
    ("thm:out-bounded-theta", "docs/theory/readings.md"),
    Prediction.near("exponent of upper bound", 1 / 3, 0.05, "T = 10¹⁶ ≫ N³"),
    Prediction.near("exponent of lower bound", 1 / 3, 0.05, "a 1-packing of C/2 arms"),
    quick={"corrupted": (32, 64, 128, 256, 512)},
    full={"corrupted": (32, 64, 128, 256, 512, 1024, 2048)},
)
def repaired(sizes: Sizes) -> Evidence:
    """With C, the arms that are not strongly observable, in place of N: Θ(C^{1/3}T^{2/3})."""
    return _both_bounds({c: families.corrupted_mab(4_096, c) for c in sizes["corrupted"]}, "C, weak arms")
