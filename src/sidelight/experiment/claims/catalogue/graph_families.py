"""Claims: the graph families of the paper, which are corrupted graphs, unions, bounded degree and hypercubes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import cbrt, log

from sidelight.analysis import block_dominations
from sidelight.experiment.claims.claim import Evidence, Prediction
from sidelight.experiment.claims.measures import (
    HORIZONS,
    Claims,
    Make,
    Row,
    curves,
    doubled,
    packing_bound,
    play,
    strong_environments,
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

corrupted.growth(
    "corrupted-horizon", "corrupted_mab:20,4", CORRUPTED,
    "A graph with C arms that are not strongly observable has regret of order T^{2/3}.", corrupted_plan,
)  # fmt: skip
corrupted.growth(
    "corrupted-arms", "corrupted_mab:N,C", CORRUPTED,
    "Its regret grows like C^{1/3} with the number C of corrupted arms.", corrupted_plan,
    lambda c, n: families.corrupted_mab(n, c), power=1 / 3, x_label="C, corrupted arms",
    reason="regret of order C^{1/3}T^{2/3}", bound=LEADING, seeds=(6, 24), sizes=(doubled(4, 32), doubled(4, 128)),
    n=(40, 160),
)  # fmt: skip
corrupted.growth(
    "corrupted-size", "corrupted_mab:N,4", CORRUPTED,
    "At fixed C the number N of arms drops out of the leading term.", corrupted_plan,
    lambda n: families.corrupted_mab(n, 4), power=0.0, x_label="N, arms of which 4 are corrupted",
    reason="no N in front of T^{2/3}; √(NT) is of lower order", bound=LEADING, seeds=(6, 24),
    sizes=(doubled(8, 64), doubled(8, 128)),
)  # fmt: skip


@corrupted.cases(
    "corrupted-constant",
    "corrupted_mab:4C,C and corrupted_full:4C,C",
    CORRUPTED,
    Prediction.most("largest ratio", 1.0, "9(4C)^{1/3}T^{2/3} as printed"),
    unit="bound / printed bound at T = 10¹⁶",
    corrupted=(doubled(2, 32), doubled(2, 256)),
)
def constant(c: int) -> list[Row]:
    """For large T the constant is 9·4^{1/3} at most."""
    T, rows = 10**16, []
    for family in (families.corrupted_mab, families.corrupted_full):
        share = corrupted_plan(family(4 * c, c), T).bound.value / (9 * cbrt(4 * c) * cbrt(T) ** 2)
        rows.append({"C, corrupted arms": c, "family": family.__name__, "ratio": share})
    return rows


@corrupted.cases(
    "corrupted-threshold",
    "corrupted_mab:N,4",
    ("thm:c-corrupted", "docs/theory/readings.md"),
    Prediction.near("exponent of threshold", 3.0, 0.15, "4√(NT) ≤ c·C^{1/3}T^{2/3} from T = c'·N³/C²"),
    unit="T, rounds",
    arms=(doubled(64, 1024), doubled(64, 4096)),
)
def threshold(n: int) -> Row:
    """“Sufficiently large T” means T of order N³/C²: below it √(NT) is larger than the printed bound."""
    C, graph = 4, families.corrupted_mab(n, 4)

    def below(T: int) -> bool:
        return corrupted_plan(graph, T).bound.value <= 9 * cbrt(4 * C) * cbrt(T) ** 2

    return {"N, arms of which 4 are corrupted": n, "threshold": first(below, n**3 // C**2)}


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
    unions.growth,
    power=1 / 3,
    reason="(Σ log n_k)^{1/3} = m^{1/3}(log n)^{1/3}",
    seeds=(6, 24),
    sizes=(doubled(8, 32), doubled(8, 64)),
)

count_claim(
    "cliques-count", "cliques:Mx4", UNIONS,
    "m loop-less cliques of equal size have regret of order m^{1/3}T^{2/3}.", union_plan,
    lambda m: families.cliques([4] * m), x_label="m, cliques of 4 arms",
)  # fmt: skip


@unions.cases(
    "cliques-size",
    "cliques:8xN",
    UNIONS,
    Prediction.near("exponent of restriction", 1 / 3, 0.03, "(Σ δ_k log n_k)^{1/3}; δ_k = n/(n−1) → 1"),
    Prediction("exponent of bound", 0.0, 1 / 3, "the projection does not grow with n"),
    unit="bound at T = 10¹²",
    sizes=(doubled(16, 256), doubled(16, 1024)),
)
def clique_size(n: int) -> Row:
    """The size of the cliques enters as (Σ log n_k)^{1/3}, and in the restriction terms only."""
    terms = union_plan(families.cliques([n] * 8), 10**12).bound.terms
    restriction = terms["restriction"] + terms["global exploration"]
    return {"Σ log n_k of 8 cliques": 8 * log(n), "restriction": restriction, "bound": sum(terms.values())}


unions.growth(
    "cliques-horizon", "cliques:2,2,4,8", UNIONS, "Cliques of unequal sizes have regret of order T^{2/3}.",
    union_plan,
)  # fmt: skip


def _against_chlz21(m: float) -> float:
    """The printed bound on m isolated edges over CHLZ21's, at large T."""
    return _printed(m) / (3 * 2 ** (-1 / 3) * cbrt(2 * m * log(2 * m)))


def _printed(m: float) -> float:
    return 3 * 4 ** (1 / 3) * cbrt(2 * m) + 3 * 2 ** (-1 / 3) * cbrt(2 * m * log(2))


@unions.cases(
    "cliques-against-chlz21",
    "cliques:Mx2 (isolated edges)",
    UNIONS,
    Prediction.most("ratio at the largest m", 1.0, "log ∏n_k against log N^m, m → ∞"),
    Prediction.near("formula / plan at m = 8", 1.0, 0.001, "the formula is the plan's bound"),
    unit="paper's bound / CHLZ21's bound",
    rivals={"CHLZ21's bound at a million edges": _against_chlz21(10**6)},
    notes=("The printed constants win where log 2m exceeds 24.",),
    pairs=(tuple(10**k for k in range(2, 16, 2)),) * 2,
)
def rivalry(m: int) -> Row:
    """On many small cliques the bound beats the earlier (m log N)^{1/3}T^{2/3}, constants included, once m is
    large enough.
    """
    T = 10**16
    checked = union_plan(families.cliques([2] * 8), T).bound.value / cbrt(T) ** 2
    return {
        "m, isolated edges": m,
        "ratio": _against_chlz21(m),
        "formula / plan at m = 8": _printed(8) / checked,
    }


count_claim(
    "bicliques-count", "bicliques:Mx6", ("sec:union",),
    "m complete bipartite graphs of equal size have regret of order m^{1/3}T^{2/3}.", union_plan,
    lambda m: families.bicliques([6] * m), x_label="m, complete bipartite graphs of 3 + 3 arms",
)  # fmt: skip


# -- bounded degree: cycles, and the counterexample to the printed theorem ----------------------------------

bounded = Claims("bounded degree")
DIRECTED, UNDIRECTED = "thm:directed-bounded-degree", "cor:undirected-bounded-degree"
ADAPTIVE = "thm:adapt-realized-upper-bound"
one_block_plan = with_partition(partitions.single, "adaptive")
arms_claim = partial(
    bounded.growth,
    power=1 / 3,
    x_label="N, arms",
    reason="regret of order N^{1/3}T^{2/3}",
    seeds=(16, 32),
    sizes=(doubled(24, 96), doubled(24, 192)),
)

arms_claim(
    "in-degree", "bounded_in_degree:N,3,1", ("thm:bounded-degree",),
    "Graphs of bounded in-degree, hence all weakly observable graphs, have regret of order N^{1/3}T^{2/3}.",
    one_block_plan, lambda n: families.bounded_in_degree(n, 3, 1),
)  # fmt: skip
arms_claim(
    "directed-cycle-size", "cycle:N:directed", (DIRECTED, "thm:bounded-degree"),
    "On directed cycles regret grows like N^{1/3}.", one_block_plan, lambda n: families.cycle(n, directed=True),
)  # fmt: skip
bounded.growth(
    "directed-cycle-horizon", "cycle:16:directed", (DIRECTED, ADAPTIVE),
    "On directed cycles regret grows like T^{2/3}.", one_block_plan,
)  # fmt: skip
arms_claim(
    "undirected-cycle-size", "cycle:N", (UNDIRECTED,),
    "On undirected cycles regret grows like N^{1/3}: no log N.", one_block_plan, families.cycle,
)  # fmt: skip
bounded.growth(
    "undirected-cycle-horizon", "cycle:16", (UNDIRECTED, ADAPTIVE),
    "On undirected cycles regret grows like T^{2/3}.", one_block_plan,
)  # fmt: skip


def _both_bounds(label: str, size: int, graph: FeedbackGraph, make: Make = plan) -> Row:
    """Upper and lower bound with their constants at one huge horizon."""
    T = 10**16
    bounds = {"upper bound": make(graph, T).bound.value, "lower bound": packing_bound(graph, T)}
    return {label: size, **bounds}


@bounded.cases(
    "cycle-theta",
    "cycle:N",
    (UNDIRECTED, DIRECTED),
    Prediction.near("exponent of upper bound", 1 / 3, 0.03, "one block, T = 10¹⁶"),
    Prediction.near("exponent of lower bound", 1 / 3, 0.05, "a 1-packing of N/3 arms or more"),
    unit="regret at T = 10¹⁶",
    arms=(doubled(120, 960), doubled(120, 3840)),
)
def theta(n: int) -> Row:
    """On undirected cycles upper and lower bound both grow like N^{1/3}."""
    return _both_bounds("N, arms", n, families.cycle(n), one_block_plan)


@bounded.cases(
    "out-degree-as-printed",
    "corrupted_mab:N,1 (N−1 self-loop arms, one loop-less arm that arm 0 reveals)",
    ("thm:out-bounded-theta", DIRECTED),
    Prediction.near("exponent of the minimax regret in N", 1 / 3, 0.1, "Θ(N^{1/3}T^{2/3}) as printed"),
    Prediction.most("largest out-degree", 2.0, "the family satisfies the premise"),
    unit="regret at T = 10¹⁶",
    notes=(
        "Out-degrees are at most 2 and the theorem says N^{1/3}, but a certified upper bound does not grow.",
        "The theorem is false as printed; out-degree-repaired has what is true.",
    ),
    known_false=True,
    arms=(doubled(16, 256), doubled(16, 1024)),
)
def counterexample(n: int) -> Row:
    """As printed: every weakly observable graph of bounded out-degree has minimax regret Θ(N^{1/3}T^{2/3})."""
    graph = families.corrupted_mab(n, 1)
    both = _both_bounds("N, arms", n, graph)
    return both | {"the minimax regret in N": both["upper bound"], "out-degree": int(graph.out_degree.max())}


@bounded.cases(
    "out-degree-repaired",
    "corrupted_mab:4096,C",
    ("thm:out-bounded-theta", "docs/theory/readings.md"),
    Prediction.near("exponent of upper bound", 1 / 3, 0.05, "T = 10¹⁶ ≫ N³"),
    Prediction.near("exponent of lower bound", 1 / 3, 0.05, "a 1-packing of C/2 arms"),
    unit="regret at T = 10¹⁶",
    corrupted=(doubled(32, 512), doubled(32, 2048)),
)
def repaired(c: int) -> Row:
    """With C, the arms that are not strongly observable, in place of N: Θ(C^{1/3}T^{2/3})."""
    return _both_bounds("C, weak arms", c, families.corrupted_mab(4_096, c))


# -- hypercubes, where the partition has to be found --------------------------------------------------------

hypercubes = Claims("hypercubes")
HYPERCUBE = "thm:hypercube"
cube_plan = with_partition(partitions.hypercube, "clustered")


@hypercubes.cases(
    "hypercube-partition",
    "hypercube:D",
    ("lem: hypercube ind set", HYPERCUBE),
    Prediction.near("blocks / 2^{d−k}", 1.0, 1e-9, "one block for each pair of the dominating set"),
    Prediction.most("largest block / 2d", 1.0, "a pair and the neighbours of both"),
    Prediction.most("largest δ", 2 + 1e-6, "the pair dominates its block"),
    unit="largest over the blocks",
    dimensions=(tuple(range(2, 11)), tuple(range(2, 15))),
)
def partition(d: int) -> Row:
    """Perfect codes split the hypercube into 2^{d−k} blocks of at most 2d arms that two arms dominate."""
    graph = families.hypercube(d)
    blocks = partitions.hypercube(graph)
    k = (d + 1).bit_length() - 1  # 2^k − 1 ≤ d < 2^{k+1} − 1
    return {
        "d, dimension": d,
        "blocks": blocks.n_blocks,
        "blocks / 2^{d−k}": blocks.n_blocks / 2 ** (d - k),
        "block / 2d": int(blocks.sizes.max()) / (2 * d),
        "δ": max(each.value for each in block_dominations(graph, blocks.blocks)),
    }


@hypercubes.cases(
    "hypercube-dimension",
    "hypercube:D",
    (HYPERCUBE,),
    Prediction.near("exponent of bound", 1 / 3, 0.03, "Theorem hypercube"),
    unit="bound at T = 10¹⁴",
    rivals={"CHLZ21's bound, largest d": "bound / CHLZ21's bound"},
    notes=("CHLZ21's bound is 3·2^{−1/3}(δ* log N)^{1/3}T^{2/3} with δ* = N/d.",),
    dimensions=(tuple(range(4, 12)), tuple(range(4, 15))),
)
def dimension(d: int) -> Row:
    """The bound grows like ((N/d)·log d)^{1/3}."""
    T = 10**14
    bound = cube_plan(families.hypercube(d), T).bound.value
    chlz21 = 3 * 2 ** (-1 / 3) * cbrt(2**d / d * log(2**d)) * cbrt(T) ** 2
    return {
        "(N/d)·log d, N = 2^d": 2**d / d * log(d),
        "bound": bound,
        "bound / CHLZ21's bound": bound / chlz21,
    }


hypercubes.growth(
    "hypercube-horizon", "hypercube:5", (HYPERCUBE,), "With this partition regret grows like T^{2/3}.",
    cube_plan,
)  # fmt: skip


@hypercubes.cases(
    "hypercube-one-block",
    "hypercube:D",
    ("docs/theory/fixed-rates.md", HYPERCUBE),
    Prediction.most("largest ratio", 1.0, "2.39(δ*(1 + log(N/δ*)))^{1/3} with δ* = N/d"),
    unit="flat bound / bound of the partition at T = 10¹⁴",
    dimensions=(tuple(range(3, 11)), tuple(range(3, 14))),
)
def one_block(d: int) -> Row:
    """No partition is needed: one flat block has a smaller bound than the codes in every dimension computed."""
    T, graph = 10**14, families.hypercube(d)
    flat = plan(graph, T, realization="flat").bound.value
    return {"d, dimension": d, "ratio": flat / cube_plan(graph, T).bound.value}
