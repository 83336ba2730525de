"""Claims: the graph families of the paper, which are corrupted graphs, unions, bounded degree and hypercubes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import cbrt, log

import numpy as np

from sidelight.analysis import block_dominations
from sidelight.experiment.claims.claim import Claims, Curve, Evidence, Prediction
from sidelight.experiment.claims.measures import (
    HORIZONS,
    Make,
    curves,
    doubled,
    formula,
    growth_claim,
    packing_bound,
    play,
    ratios,
    strong_environments,
    table,
    weak_environments,
    with_partition,
    worst_exponent,
)
from sidelight.graph import FeedbackGraph, families
from sidelight.partition import natural as partitions
from sidelight.planning import plan
from sidelight.planning.bounds.bound import first

# -- C-corrupted strongly observable graphs, where the size of the graph drops out --------------------------

corrupted = Claims("corrupted graphs")
CORRUPTED = ("thm:c-corrupted intro", "thm:c-corrupted")
LEADING = "leading term of the bound at T = 10¹⁶"
corrupted_plan = with_partition(partitions.corrupted, "adaptive")

growth_claim(
    corrupted, "corrupted-horizon", "corrupted_mab:20,4", CORRUPTED,
    "A graph with C arms that are not strongly observable has regret of order T^{2/3}.", corrupted_plan,
)  # fmt: skip
growth_claim(
    corrupted, "corrupted-arms", "corrupted_mab:N,C", CORRUPTED,
    "Its regret grows like C^{1/3} with the number C of corrupted arms.", corrupted_plan,
    lambda c, n: families.corrupted_mab(n, c), power=1 / 3, x_label="C, corrupted arms",
    reason="regret of order C^{1/3}T^{2/3}", bound=LEADING, seeds=(6, 24), sizes=(doubled(4, 32), doubled(4, 128)),
    n=(40, 160),
)  # fmt: skip
growth_claim(
    corrupted, "corrupted-size", "corrupted_mab:N,4", CORRUPTED,
    "At fixed C the number N of arms drops out of the leading term.", corrupted_plan,
    lambda n: families.corrupted_mab(n, 4), power=0.0, x_label="N, arms of which 4 are corrupted",
    reason="no N in front of T^{2/3}; √(NT) is of lower order", bound=LEADING, seeds=(6, 24),
    sizes=(doubled(8, 64), doubled(8, 128)),
)  # fmt: skip


@corrupted.add(
    "corrupted-constant",
    "corrupted_mab:4C,C and corrupted_full:4C,C",
    CORRUPTED,
    Prediction.most("largest ratio", 1.0, "9(4C)^{1/3}T^{2/3} as printed"),
    corrupted=(doubled(2, 32), doubled(2, 256)),
)
def constant(corrupted: Sequence[int]) -> Evidence:
    """For large T the constant is 9·4^{1/3} at most."""
    T = 10**16
    shares = {
        family.__name__: [
            corrupted_plan(family(4 * c, c), T).bound.value / (9 * cbrt(4 * c) * cbrt(T) ** 2)
            for c in corrupted
        ]
        for family in (families.corrupted_mab, families.corrupted_full)
    }
    rows = [
        {"C": c, "family": name, "bound / 9(4C)^{1/3}T^{2/3}": series[i]}
        for i, c in enumerate(corrupted)
        for name, series in shares.items()
    ]
    worst = {"largest ratio": max(max(series) for series in shares.values())}
    y_label = "bound / printed bound at T = 10¹⁶"
    return formula(corrupted, shares, 0.0, "C, corrupted arms", y_label, worst, rows=rows)


@corrupted.add(
    "corrupted-threshold",
    "corrupted_mab:N,4",
    ("thm:c-corrupted", "docs/theory/readings.md"),
    Prediction.near("exponent of threshold", 3.0, 0.15, "4√(NT) ≤ c·C^{1/3}T^{2/3} from T = c'·N³/C²"),
    arms=(doubled(64, 1024), doubled(64, 4096)),
)
def threshold(arms: Sequence[int]) -> Evidence:
    """“Sufficiently large T” means T of order N³/C²: below it √(NT) is larger than the printed bound."""
    C = 4

    def below(T: int, graph: FeedbackGraph) -> bool:
        return corrupted_plan(graph, T).bound.value <= 9 * cbrt(4 * C) * cbrt(T) ** 2

    graphs = [families.corrupted_mab(n, C) for n in arms]
    reached = [float(first(partial(below, graph=graph), graph.n_arms**3 // C**2)) for graph in graphs]
    return formula(arms, {"threshold": reached}, 3.0, "N, arms of which 4 are corrupted", "T, rounds")


@corrupted.add(
    "abrupt-change",
    "corrupted_mab:4,0 and corrupted_mab:4,1",
    ("thm:c-corrupted intro",),
    Prediction.near("exponent in T, C = 0", 1 / 2, 0.07, "strongly observable: √T"),
    Prediction.near("exponent in T, C = 1", 2 / 3, 0.07, "one weakly observable arm: T^{2/3}"),
    horizons=HORIZONS,
    seeds=(32, 96),
)
def abrupt(horizons: Sequence[int], seeds: int) -> Evidence:
    """One arm that loses its loop turns √T into T^{2/3}."""
    estimates, drawn, rows = {}, [], []
    for c, power, make, environments in (
        (0, 1 / 2, with_partition(partitions.singletons, "clustered"), strong_environments),
        (1, 2 / 3, corrupted_plan, weak_environments),
    ):
        graph = families.corrupted_mab(4, c)
        played = [play(make(graph, T), environments(graph, T), seeds, T) for T in horizons]
        bounds = [make(graph, T).bound.value for T in horizons]
        estimates[f"exponent in T, C = {c}"] = worst_exponent(horizons, played)
        lines = curves(horizons, played, bounds, power)
        drawn += [replace(curve, label=f"C = {c}: {curve.label}") for curve in lines]
        rows += [
            {"C": c, "T": T, "regret": each.worst, "environment": each.hardest, "bound": bound}
            for T, each, bound in zip(horizons, played, bounds, strict=True)
        ]
    return Evidence(rows, estimates, drawn, "T, rounds", "regret")


# -- disjoint unions of cliques and of complete bipartite graphs --------------------------------------------

unions = Claims("unions of dense graphs")
UNIONS = ("thm:union-of-cliques intro", "thm:union-of-cliques")
union_plan = with_partition(partitions.components, "clustered")
count_claim = partial(
    growth_claim,
    power=1 / 3,
    reason="(Σ log n_k)^{1/3} = m^{1/3}(log n)^{1/3}",
    seeds=(6, 24),
    sizes=(doubled(8, 32), doubled(8, 64)),
)

count_claim(
    unions, "cliques-count", "cliques:Mx4", UNIONS,
    "m loop-less cliques of equal size have regret of order m^{1/3}T^{2/3}.", union_plan,
    lambda m: families.cliques([4] * m), x_label="m, cliques of 4 arms",
)  # fmt: skip


@unions.add(
    "cliques-size",
    "cliques:8xN",
    UNIONS,
    Prediction.near("exponent of restriction", 1 / 3, 0.03, "(Σ δ_k log n_k)^{1/3}; δ_k = n/(n−1) → 1"),
    Prediction("exponent of bound", 0.0, 1 / 3, "the projection does not grow with n"),
    sizes=(doubled(16, 256), doubled(16, 1024)),
)
def clique_size(sizes: Sequence[int]) -> Evidence:
    """The size of the cliques enters as (Σ log n_k)^{1/3}, and in the restriction terms only."""
    terms = [union_plan(families.cliques([n] * 8), 10**12).bound.terms for n in sizes]
    series = {
        "restriction": [each["restriction"] + each["global exploration"] for each in terms],
        "bound": [sum(each.values()) for each in terms],
    }
    logs = [8 * log(n) for n in sizes]
    return formula(logs, series, 1 / 3, "Σ log n_k of 8 cliques", "bound at T = 10¹²")


growth_claim(
    unions, "cliques-horizon", "cliques:2,2,4,8", UNIONS, "Cliques of unequal sizes have regret of order T^{2/3}.",
    union_plan,
)  # fmt: skip


@unions.add(
    "cliques-against-chlz21",
    "cliques:Mx2 (isolated edges)",
    UNIONS,
    Prediction.most("ratio at the largest m", 1.0, "log ∏n_k against log N^m, m → ∞"),
    Prediction.near("formula / plan at m = 8", 1.0, 0.001, "the formula is the plan's bound"),
    pairs=(tuple(10**k for k in range(2, 16, 2)),) * 2,
)
def rivalry(pairs: Sequence[int]) -> Evidence:
    """On many small cliques the bound beats the earlier (m log N)^{1/3}T^{2/3}, constants included, once m is
    large enough.
    """

    def printed(m: float) -> float:
        return 3 * 4 ** (1 / 3) * cbrt(2 * m) + 3 * 2 ** (-1 / 3) * cbrt(2 * m * log(2))

    def share(m: float) -> float:
        return printed(m) / (3 * 2 ** (-1 / 3) * cbrt(2 * m * log(2 * m)))

    T = 10**16
    checked = union_plan(families.cliques([2] * 8), T).bound.value / cbrt(T) ** 2
    crossing = next((m for m in pairs if share(m) < 1), None)
    at = f"between the m computed, at most at m = {crossing:.3g}" if crossing else "beyond all m computed"
    return ratios(
        [{"m": m, "paper / CHLZ21": share(m)} for m in pairs],
        "paper / CHLZ21",
        "paper's bound / CHLZ21's bound",
        "m, isolated edges",
        "ratio of the bounds",
        pairs,
        {"ratio at the largest m": share(pairs[-1]), "formula / plan at m = 8": printed(8) / checked},
        rivals={"CHLZ21's bound at a million edges": share(10**6)},
        notes=(f"The printed constants win {at}: log 2m must exceed 24.",),
    )


count_claim(
    unions, "bicliques-count", "bicliques:Mx6", ("sec:union",),
    "m complete bipartite graphs of equal size have regret of order m^{1/3}T^{2/3}.", union_plan,
    lambda m: families.bicliques([6] * m), x_label="m, complete bipartite graphs of 3 + 3 arms",
)  # fmt: skip


# -- bounded degree: cycles, and the counterexample to the printed theorem ----------------------------------

bounded = Claims("bounded degree")
DIRECTED, UNDIRECTED = "thm:directed-bounded-degree", "cor:undirected-bounded-degree"
ADAPTIVE = "thm:adapt-realized-upper-bound"
one_block_plan = with_partition(partitions.single, "adaptive")
arms_claim = partial(
    growth_claim,
    power=1 / 3,
    x_label="N, arms",
    reason="regret of order N^{1/3}T^{2/3}",
    seeds=(16, 32),
    sizes=(doubled(24, 96), doubled(24, 192)),
)

arms_claim(
    bounded, "in-degree", "bounded_in_degree:N,3,1", ("thm:bounded-degree",),
    "Graphs of bounded in-degree, hence all weakly observable graphs, have regret of order N^{1/3}T^{2/3}.",
    one_block_plan, lambda n: families.bounded_in_degree(n, 3, 1),
)  # fmt: skip
arms_claim(
    bounded, "directed-cycle-size", "cycle:N:directed", (DIRECTED, "thm:bounded-degree"),
    "On directed cycles regret grows like N^{1/3}.", one_block_plan, lambda n: families.cycle(n, directed=True),
)  # fmt: skip
growth_claim(
    bounded, "directed-cycle-horizon", "cycle:16:directed", (DIRECTED, ADAPTIVE),
    "On directed cycles regret grows like T^{2/3}.", one_block_plan,
)  # fmt: skip
arms_claim(
    bounded, "undirected-cycle-size", "cycle:N", (UNDIRECTED,),
    "On undirected cycles regret grows like N^{1/3}: no log N.", one_block_plan, families.cycle,
)  # fmt: skip
growth_claim(
    bounded, "undirected-cycle-horizon", "cycle:16", (UNDIRECTED, ADAPTIVE),
    "On undirected cycles regret grows like T^{2/3}.", one_block_plan,
)  # fmt: skip


def _both_bounds(graphs: Mapping[int, FeedbackGraph], x_label: str, make: Make = plan) -> Evidence:
    """Upper and lower bounds with their constants at one huge horizon."""
    T = 10**16
    series = {
        "upper bound": [make(graph, T).bound.value for graph in graphs.values()],
        "lower bound": [packing_bound(graph, T) for graph in graphs.values()],
    }
    return formula(graphs, series, 1 / 3, x_label, "regret at T = 10¹⁶")


@bounded.add(
    "cycle-theta",
    "cycle:N",
    (UNDIRECTED, DIRECTED),
    Prediction.near("exponent of upper bound", 1 / 3, 0.03, "one block, T = 10¹⁶"),
    Prediction.near("exponent of lower bound", 1 / 3, 0.05, "a 1-packing of N/3 arms or more"),
    arms=(doubled(120, 960), doubled(120, 3840)),
)
def theta(arms: Sequence[int]) -> Evidence:
    """On undirected cycles upper and lower bound both grow like N^{1/3}."""
    return _both_bounds({n: families.cycle(n) for n in arms}, "N, arms", one_block_plan)


@bounded.add(
    "out-degree-as-printed",
    "corrupted_mab:N,1 (N−1 self-loop arms, one loop-less arm that arm 0 reveals)",
    ("thm:out-bounded-theta", DIRECTED),
    Prediction.near("exponent of the minimax regret in N", 1 / 3, 0.1, "Θ(N^{1/3}T^{2/3}) as printed"),
    Prediction.most("largest out-degree", 2.0, "the family satisfies the premise"),
    arms=(doubled(16, 256), doubled(16, 1024)),
    known_false=True,
)
def counterexample(arms: Sequence[int]) -> Evidence:
    """As printed: every weakly observable graph of bounded out-degree has minimax regret Θ(N^{1/3}T^{2/3})."""
    graphs = {n: families.corrupted_mab(n, 1) for n in arms}
    both = _both_bounds(graphs, "N, arms")
    return replace(
        both,
        estimates={
            "exponent of the minimax regret in N": both.estimates["exponent of upper bound"],
            "largest out-degree": max(int(g.out_degree.max()) for g in graphs.values()),
        },
        notes=(
            "Out-degrees are at most 2 and the theorem says N^{1/3}, but a certified upper bound does not grow.",
            "The theorem is false as printed; out-degree-repaired has what is true.",
        ),
    )


@bounded.add(
    "out-degree-repaired",
    "corrupted_mab:4096,C",
    ("thm:out-bounded-theta", "docs/theory/readings.md"),
    Prediction.near("exponent of upper bound", 1 / 3, 0.05, "T = 10¹⁶ ≫ N³"),
    Prediction.near("exponent of lower bound", 1 / 3, 0.05, "a 1-packing of C/2 arms"),
    corrupted=(doubled(32, 512), doubled(32, 2048)),
)
def repaired(corrupted: Sequence[int]) -> Evidence:
    """With C, the arms that are not strongly observable, in place of N: Θ(C^{1/3}T^{2/3})."""
    return _both_bounds({c: families.corrupted_mab(4_096, c) for c in corrupted}, "C, weak arms")


# -- hypercubes, where the partition has to be found --------------------------------------------------------

hypercubes = Claims("hypercubes")
HYPERCUBE = "thm:hypercube"
cube_plan = with_partition(partitions.hypercube, "clustered")


@hypercubes.add(
    "hypercube-partition",
    "hypercube:D",
    ("lem: hypercube ind set", HYPERCUBE),
    Prediction.near("blocks / 2^{d−k}", 1.0, 1e-9, "one block for each pair of the dominating set"),
    Prediction.most("largest block / 2d", 1.0, "a pair and the neighbours of both"),
    Prediction.most("largest δ", 2 + 1e-6, "the pair dominates its block"),
    dimensions=(tuple(range(2, 11)), tuple(range(2, 15))),
)
def partition(dimensions: Sequence[int]) -> Evidence:
    """Perfect codes split the hypercube into 2^{d−k} blocks of at most 2d arms that two arms dominate."""
    rows = []
    for d in dimensions:
        graph = families.hypercube(d)
        blocks = partitions.hypercube(graph)
        k = (d + 1).bit_length() - 1  # 2^k − 1 ≤ d < 2^{k+1} − 1
        row = {"d": d, "blocks": blocks.n_blocks, "blocks / 2^{d−k}": blocks.n_blocks / 2 ** (d - k)}
        row["largest block / 2d"] = float(np.max(blocks.sizes)) / (2 * d)
        rows.append(row | {"largest δ": max(each.value for each in block_dominations(graph, blocks.blocks))})
    names = ("blocks / 2^{d−k}", "largest block / 2d", "largest δ")
    largest = {name: max(row[name] for row in rows) for name in names}
    drawn = {name: ("measured", name) for name in names}
    return table(rows, largest, drawn, "d, dimension", "largest over the blocks", dimensions)


@hypercubes.add(
    "hypercube-dimension",
    "hypercube:D",
    (HYPERCUBE,),
    Prediction.near("exponent of bound", 1 / 3, 0.03, "Theorem hypercube"),
    dimensions=(tuple(range(4, 12)), tuple(range(4, 15))),
)
def dimension(dimensions: Sequence[int]) -> Evidence:
    """The bound grows like ((N/d)·log d)^{1/3}."""
    T = 10**14
    demand = [2**d / d * log(d) for d in dimensions]
    bounds = [cube_plan(families.hypercube(d), T).bound.value for d in dimensions]
    chlz21 = [3 * 2 ** (-1 / 3) * cbrt(2**d / d * log(2**d)) * cbrt(T) ** 2 for d in dimensions]
    grown = formula(demand, {"bound": bounds}, 1 / 3, "(N/d)·log d, N = 2^d", "bound at T = 10¹⁴")
    return replace(
        grown,
        curves=(*grown.curves, Curve("CHLZ21's bound", "baseline", demand, chlz21)),
        rivals={"CHLZ21's bound, largest d": bounds[-1] / chlz21[-1]},
        notes=("CHLZ21's bound is 3·2^{−1/3}(δ* log N)^{1/3}T^{2/3} with δ* = N/d.",),
    )


growth_claim(
    hypercubes, "hypercube-horizon", "hypercube:5", (HYPERCUBE,), "With this partition regret grows like T^{2/3}.",
    cube_plan,
)  # fmt: skip


@hypercubes.add(
    "hypercube-one-block",
    "hypercube:D",
    ("docs/theory/flat.md", HYPERCUBE),
    Prediction.most("largest ratio", 1.0, "2.39(δ*(1 + log(N/δ*)))^{1/3} with δ* = N/d"),
    dimensions=(tuple(range(3, 11)), tuple(range(3, 14))),
)
def one_block(dimensions: Sequence[int]) -> Evidence:
    """No partition is needed: one flat block has a smaller bound than the codes in every dimension computed."""
    T, rows = 10**14, []
    for d in dimensions:
        graph = families.hypercube(d)
        flat = plan(graph, T, realization="flat").bound.value
        rows.append({"d": d, "flat / partition": flat / cube_plan(graph, T).bound.value})
    label, y_label = "flat bound / bound of the partition", "ratio of the bounds at T = 10¹⁴"
    return ratios(rows, "flat / partition", label, "d, dimension", y_label, dimensions)
