"""Claims: graphs of bounded degree, cycles among them, and the counterexample to the printed theorem."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sidelight.analysis import packing_independent_set
from sidelight.experiment.claims.claim import Claim, Estimate, Evidence, Prediction, Sizes
from sidelight.experiment.claims.playing import Make
from sidelight.experiment.claims.sweeps import (
    EXPONENT_SIZE,
    EXPONENT_SIZE_BOUND,
    REGRET_BOUND,
    against_horizon,
    against_size,
    formula,
)
from sidelight.experiment.claims.two_level import FULL, QUICK, growth, with_partition
from sidelight.graph import FeedbackGraph, families
from sidelight.partition import natural as partitions
from sidelight.planning import plan
from sidelight.planning.bounds import lower

GROUP = "bounded degree"
RIVALS = {"rivals": ("chlz21", "exp3g")}
PLAYED = {"arms": (24, 48, 96), "horizon": 262_144, "seeds": 16} | RIVALS
PLAYED_FULL = {"arms": (24, 48, 96, 192), "horizon": 2_097_152, "seeds": 32} | RIVALS

paper = with_partition(partitions.single, "adaptive")

SIZE = (
    Prediction.near(EXPONENT_SIZE, 1 / 3, 0.1, "regret of order N^{1/3}T^{2/3}"),
    Prediction.near(EXPONENT_SIZE_BOUND, 1 / 3, 0.02, "the bound at T = 10¹⁶"),
    Prediction.most(REGRET_BOUND, 1.0, "expected regret is at most the bound"),
)


def _sized(family: Callable[[int], FeedbackGraph]) -> Callable[[Sizes], Evidence]:
    def measure(sizes: Sizes) -> Evidence:
        graphs = {float(n): family(n) for n in sizes["arms"]}
        return against_size(graphs, paper, sizes, 1 / 3, "N, arms")

    return measure


def _on_horizon(graph: Callable[[], FeedbackGraph]) -> Callable[[Sizes], Evidence]:
    return lambda sizes: against_horizon(graph(), paper, sizes, 2 / 3)


def _theta(graphs: Mapping[float, FeedbackGraph], x_label: str, make: Make = plan) -> Evidence:
    """Upper and lower bounds with their constants at one huge horizon."""
    T = 10**16
    upper, below = [], []
    for graph in graphs.values():
        upper.append(make(graph, T).bound.value)
        found = packing_independent_set(graph, exact=False)
        forced = lower.packing_set(len(found.arms), found.t, T) if len(found.arms) > 1 else 0.0
        below.append(max(forced, lower.weak_arm(T)))
    return formula(
        list(graphs), {"upper bound": upper, "lower bound": below}, 1 / 3, x_label, "regret at T = 10¹⁶"
    )


def measure_theta(sizes: Sizes) -> Evidence:
    """Both bounds on loop-less graphs whose out-degree is 2."""
    return _theta({float(n): families.cycle(n) for n in sizes["arms"]}, "N, arms", paper)


def measure_counterexample(sizes: Sizes) -> Evidence:
    """The upper bound on N−1 self-loop arms and one loop-less arm that arm 0 reveals."""
    graphs = {float(n): families.corrupted_mab(n, 1) for n in sizes["arms"]}
    degrees = max(int(graph.out_degree.max()) for graph in graphs.values())
    found = _theta(graphs, "N, arms")
    return Evidence(
        found.rows,
        {
            "exponent of the minimax regret in N": found.estimates["exponent of upper bound"],
            "largest out-degree": Estimate.exact(degrees),
        },
        found.curves,
        found.x_label,
        found.y_label,
        notes=(
            "Out-degrees are at most 2 and the theorem says N^{1/3}, but a certified upper bound does not grow.",
            "The theorem is false as printed; out-degree-repaired has what is true.",
        ),
    )


def measure_repaired(sizes: Sizes) -> Evidence:
    """Both bounds against C in graphs of out-degree at most 2."""
    return _theta({float(c): families.corrupted_mab(4_096, c) for c in sizes["corrupted"]}, "C, weak arms")


CLAIMS = (
    Claim(
        "in-degree",
        GROUP,
        "Graphs of bounded in-degree, hence all weakly observable graphs, have regret of order N^{1/3}T^{2/3}.",
        ("thm:bounded-degree",),
        "bounded_in_degree:N,3,1",
        SIZE,
        _sized(lambda n: families.bounded_in_degree(n, 3, 1)),
        PLAYED,
        PLAYED_FULL,
    ),
    Claim(
        "directed-cycle-size",
        GROUP,
        "On directed cycles regret grows like N^{1/3}.",
        ("thm:directed-bounded-degree", "thm:bounded-degree"),
        "cycle:N:directed",
        SIZE,
        _sized(lambda n: families.cycle(n, directed=True)),
        PLAYED,
        PLAYED_FULL,
    ),
    Claim(
        "directed-cycle-horizon",
        GROUP,
        "On directed cycles regret grows like T^{2/3}.",
        ("thm:directed-bounded-degree", "thm:adapt-realized-upper-bound"),
        "cycle:16:directed",
        growth(2 / 3),
        _on_horizon(lambda: families.cycle(16, directed=True)),
        QUICK | RIVALS,
        FULL | RIVALS,
    ),
    Claim(
        "undirected-cycle-size",
        GROUP,
        "On undirected cycles regret grows like N^{1/3}: no log N.",
        ("cor:undirected-bounded-degree",),
        "cycle:N",
        SIZE,
        _sized(lambda n: families.cycle(n)),
        PLAYED,
        PLAYED_FULL,
    ),
    Claim(
        "undirected-cycle-horizon",
        GROUP,
        "On undirected cycles regret grows like T^{2/3}.",
        ("cor:undirected-bounded-degree", "thm:adapt-realized-upper-bound"),
        "cycle:16",
        growth(2 / 3),
        _on_horizon(lambda: families.cycle(16)),
        QUICK | RIVALS,
        FULL | RIVALS,
    ),
    Claim(
        "cycle-theta",
        GROUP,
        "On undirected cycles upper and lower bound both grow like N^{1/3}.",
        ("cor:undirected-bounded-degree", "thm:directed-bounded-degree"),
        "cycle:N",
        (
            Prediction.near("exponent of upper bound", 1 / 3, 0.03, "one block, T = 10¹⁶"),
            Prediction.near("exponent of lower bound", 1 / 3, 0.05, "a 1-packing of N/3 arms or more"),
        ),
        measure_theta,
        {"arms": (120, 240, 480, 960)},
        {"arms": (120, 240, 480, 960, 1920, 3840)},
    ),
    Claim(
        "out-degree-as-printed",
        GROUP,
        "As printed: every weakly observable graph of bounded out-degree has minimax regret Θ(N^{1/3}T^{2/3}).",
        ("thm:out-bounded-theta", "thm:directed-bounded-degree"),
        "corrupted_mab:N,1 (N−1 self-loop arms, one loop-less arm that arm 0 reveals)",
        (
            Prediction.near(
                "exponent of the minimax regret in N", 1 / 3, 0.1, "Θ(N^{1/3}T^{2/3}) as printed"
            ),
            Prediction.most("largest out-degree", 2.0, "the family satisfies the premise"),
        ),
        measure_counterexample,
        {"arms": (16, 32, 64, 128, 256)},
        {"arms": (16, 32, 64, 128, 256, 512, 1024)},
        known_false=True,
    ),
    Claim(
        "out-degree-repaired",
        GROUP,
        "With C, the arms that are not strongly observable, in place of N: Θ(C^{1/3}T^{2/3}).",
        ("thm:out-bounded-theta", "docs/theory/readings.md"),
        "corrupted_mab:4096,C",
        (
            Prediction.near("exponent of upper bound", 1 / 3, 0.05, "T = 10¹⁶ ≫ N³"),
            Prediction.near("exponent of lower bound", 1 / 3, 0.05, "a 1-packing of C/2 arms"),
        ),
        measure_repaired,
        {"corrupted": (32, 64, 128, 256, 512)},
        {"corrupted": (32, 64, 128, 256, 512, 1024, 2048)},
    ),
)
