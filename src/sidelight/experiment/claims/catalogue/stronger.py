"""Claims: the stronger realizations of docs/theory."""

from __future__ import annotations

from collections.abc import Sequence
from math import cbrt, log

import numpy as np

from sidelight.analysis import fractional_domination
from sidelight.environment import gap
from sidelight.experiment.claims.claim import Curve, Estimate, Evidence, Prediction
from sidelight.experiment.claims.measures import (
    AT_MOST_THE_BOUND,
    REGRET_BOUND,
    Claims,
    Row,
    columns,
    doubled,
    finished,
    play,
    play_rivals,
    slope,
)
from sidelight.graph import FeedbackGraph, families
from sidelight.partition import natural as partitions
from sidelight.planning import plan

claims = Claims("stronger realizations")
FAMILIES = (
    "cycle:20", "cycle:50:directed", "cliques:3,4,5,12", "bicliques:4,6,8", "hypercube:5",
    "corrupted_mab:30,6", "corrupted_full:20,5", "revealing_action:12", "grid:5,6",
    "bounded_in_degree:40,3,1", "random:30,0.2,3",
)  # fmt: skip
SPECS = (
    FAMILIES,
    (*FAMILIES, "cycle:400", "hypercube:9", "cliques:200x4", "grid:20,20", "random:300,0.05,3"),
)


@claims.cases(
    "interpolation-lemma",
    "random graphs, distributions and h",
    ("docs/theory/fixed-rates.md",),
    Prediction.least("least Σ g_j / X_i^{1−h}", 1 - 1e-9, "Lemma 1 (a), up to rounding"),
    Prediction.most("largest Σ g_j / δ^h", 1 + 1e-6, "Lemma 1 (b), up to the tolerance of the LP"),
    unit="coverage, which must stay above 1, and cost, which must stay below",
    graphs=(100, 2_000),
)
def lemma(draw: int) -> list[Row]:
    """Exploration g_j = max w_ji·X_i^{1−h} covers every arm as X_i^{1−h} needs and costs δ^h at most."""
    rng, rows = np.random.default_rng([7, draw]), []
    n = int(rng.integers(3, 30))
    graph = families.bounded_in_degree(n, int(rng.integers(1, n)), draw)
    x = fractional_domination(graph).weights
    A = graph.to_sparse().toarray().astype(float)  # A[j, i]: j reveals i
    load = A.T @ x
    for h in (0.1, 0.5, 0.8, 1.0):
        X = rng.dirichlet(np.full(n, rng.choice([0.05, 0.3, 1.0, 10.0])))
        powers = np.ones(n) if h == 1.0 else X ** (1 - h)
        g = x * (A * (powers / load)).max(axis=1)
        covered = float(np.min((A.T @ g + 1e-12) / (powers + 1e-12)))
        row = {"draw": draw, "n": n, "h": h, "Σ g_j / X_i^{1−h}": covered}
        rows.append(row | {"Σ g_j / δ^h": float(g.sum() / x.sum() ** h)})
    return rows


@claims.cases(
    "interpolated-never-worse",
    "eleven families, their natural partitions",
    ("docs/theory/fixed-rates.md",),
    Prediction.most("largest ratio", 1 + 1e-9, "h = 1 is clustered, h = ½ at most adaptive"),
    Prediction.most("least ratio", 0.95, "a real gain somewhere"),
    unit="interpolated / better printed bound at T = 10¹²",
    specs=SPECS,
)
def never_worse(spec: str) -> list[Row]:
    """Interpolated blocks have a bound at most that of the better printed realization of the same partition."""
    T, graph, rows = 10**12, families.parse(spec), []
    for name in ("single", "components", "corrupted"):
        partition = getattr(partitions, name)(graph)
        if partition.weak.size:
            ours = plan(graph, T, partition, "interpolated").bound.value
            printed = min(plan(graph, T, partition, way).bound.value for way in ("clustered", "adaptive"))
            rows.append({"family": spec, "partition": name, "ratio": ours / printed})
    return rows


def _cycle_and_pairs(n: int) -> FeedbackGraph:
    """A directed cycle of n arms and n isolated edges: very unequal domination numbers."""
    edges = [(i, (i + 1) % n) for i in range(n)]
    for first in range(n, 3 * n, 2):
        edges += [(first, first + 1), (first + 1, first)]
    return FeedbackGraph.from_edges(3 * n, edges)


@claims.cases(
    "weighted-projection",
    "a directed cycle of n arms beside n isolated edges: (Σδ)^{1/3} ~ n^{1/3}, (m·Σδ²)^{1/6} ~ n^{1/2}",
    ("docs/theory/fixed-rates.md",),
    Prediction.near("exponent of weighted projection", 1 / 3, 0.04, "(Σδ)^{1/3}, Σδ = 3n"),
    Prediction.near("exponent of printed projection", 1 / 2, 0.04, "(m·Σδ²)^{1/6}, m = n+1"),
    Prediction.most("largest weighted / printed", 1 + 1e-9, "(Σδ)² ≤ m·Σδ²"),
    unit="projection terms at T = 10¹⁵",
    arms=(doubled(32, 512), doubled(32, 2048)),
)
def weighted(n: int) -> Row:
    """Rates weighted by δ_k turn (m·Σδ²)^{1/6} of the projection into (Σδ)^{1/3}."""
    T, graph = 10**15, _cycle_and_pairs(n)
    blocks = partitions.components(graph)
    old = plan(graph, T, blocks, "clustered").bound.terms
    new = plan(graph, T, blocks, "interpolated").bound.terms
    printed = old["projection of weak blocks"] + old["local exploration"]
    ours = new["projection"] + new["local exploration"]
    row = {"n, arms of the cycle beside n isolated edges": n, "weighted projection": ours}
    return row | {"printed projection": printed, "weighted / printed": ours / printed}


@claims.cases(
    "flat-universal",
    "eleven families",
    ("docs/theory/fixed-rates.md",),
    Prediction.most("largest ratio", 1.0, "min_h D_h(N)δ*^h ≤ 4δ*(1 + log(N/δ*))"),
    unit="flat bound / closed form at T = 10¹²",
    specs=SPECS,
)
def flat(spec: str) -> Row:
    """One block, no partition: at most 2.39(δ*(1 + log(N/δ*)))^{1/3}T^{2/3} on every observable graph."""
    T, graph = 10**12, families.parse(spec)
    delta = fractional_domination(graph).value
    claimed = 2.39 * cbrt(delta * (1 + log(graph.n_arms / delta))) * cbrt(T) ** 2
    ours = plan(graph, T, partitions.single(graph), "interpolated").bound.value
    return {"family": spec, "N": graph.n_arms, "δ*": delta, "ratio": ours / claimed}


@claims.add(
    "flat-strong-arms",
    "corrupted_mab:20,1, four gaps of the corrupted arm",
    ("docs/theory/fixed-rates.md", "docs/theory/signed.md"),
    Prediction.most("flat / paper", 1.0, "smaller exploration, one simplex"),
    AT_MOST_THE_BOUND,
    Prediction.near("exponent of the bound in N", 0.0, 0.02, "√(NT) is of lower order at T = 10¹⁶"),
    horizon=(20_000, 20_000),
    seeds=(48, 2_000),
    rivals=(("exp3g", "chlz21"),) * 2,
)
def strong_arms(horizon: int, seeds: int, rivals: Sequence[str]) -> Evidence:
    """One simplex with potentials of their own for weak arms and for arms with self-loops explores for the former:
    less regret than the paper's two-level plan on the 1-corrupted bandit.
    """
    graph, x = families.corrupted_mab(20, 1), (0.05, 0.1, 0.2, 0.4)
    worlds = {f"gap {width:g}": gap(20, best=19, gap=width) for width in x}
    chosen = plan(graph, horizon, realization="flat")
    ours = play(chosen, worlds, seeds, horizon)
    theirs = play(plan(graph, horizon, partitions.corrupted(graph), "adaptive"), worlds, seeds, horizon)
    baselines, skipped = play_rivals(rivals, graph, worlds, seeds, horizon)
    others = {"paper, adaptive": theirs} | baselines
    arms = [16, 64, 256]
    bounds = [plan(families.corrupted_mab(n, 1), 10**16, realization="flat").bound.value for n in arms]
    return Evidence(
        [
            {"player": name, "regret": each.worst} | each.means
            for name, each in ({"flat": ours} | others).items()
        ],
        {
            "flat / paper": ours.over(theirs),
            REGRET_BOUND: ours.share_of(chosen.bound.value),
            "exponent of the bound in N": slope(arms, bounds),
        },
        (
            Curve("flat with strong arms", "measured", x, list(ours.means.values())),
            *(Curve(name, "baseline", x, list(each.means.values())) for name, each in others.items()),
            Curve("flat bound", "bound", x, [chosen.bound.value] * len(x)),
        ),
        "gap of the corrupted arm",
        f"regret after {horizon:,} rounds",
        {name: ours.over(each) for name, each in baselines.items()},
        skipped,
    )


@claims.cases(
    "tight-constants",
    "eleven families, four horizons",
    ("docs/theory/fixed-rates.md",),
    Prediction.most("largest ratio", 1 + 1e-9, "the printed parameters are feasible"),
    Prediction.most("least ratio", 0.9, "a real gain somewhere"),
    unit="minimised / printed bound, both certified",
    specs=SPECS,
)
def tight(spec: str) -> list[Row]:
    """Minimising the right-hand side at T is never worse than the printed constants where these are certified."""
    graph, rows = families.parse(spec), []
    for T in (10**3, 10**5, 10**8, 10**12):
        printed = [plan(graph, T, realization=way).bound for way in ("clustered", "adaptive", "hybrid")]
        certified = [bound.value for bound in printed if bound.certified]
        if certified:
            rows.append({"family": spec, "T": T, "ratio": plan(graph, T).bound.value / min(certified)})
    return rows


@claims.add(
    "a-posteriori",
    "cycle:N, one block with negative entropy",
    ("docs/theory/fixed-rates.md", "prop:osmd"),
    Prediction.most("certificate / a priori", 1.0, "Σ X/P ≤ 1/β in every round"),
    Prediction.most("mean regret / mean certificate", 1.0, "Proposition osmd"),
    n=(50, 50),
    horizon=(5_000, 50_000),
    seeds=(3, 10),
)
def certificate(n: int, horizon: int, seeds: int) -> Evidence:
    """What is added up while playing, log N/η + Σ[γ̄ + (η/2)Σ X/P], is a smaller certificate than the bound."""
    graph = families.cycle(n)
    chosen = plan(graph, horizon, partitions.single(graph), "clustered")
    explored = chosen.tuning.global_exploration
    gamma, eta = float(explored.sum()), float(chosen.parameters["eta_blocks"][0])
    seen_by = graph.to_sparse().toarray().T.astype(float)
    world = gap(n, best=n // 2, gap=0.1)
    regret = finished(chosen, world, seeds, horizon).regret[:, -1]
    rows = []
    for seed in range(seeds):
        policy, stability = chosen.policy(seed), 0.0
        for t in range(horizon):
            Z = policy.probabilities
            X = (Z - explored) / (1 - gamma)
            stability += float((X / (seen_by @ Z)).sum())
            arm = policy.ask()
            policy.tell(world.losses(seed, t, graph.out_neighbors(arm)))
        row = {"seed": seed, "regret": float(regret[seed])}
        row["certificate"] = log(n) / eta + gamma * horizon + eta / 2 * stability
        rows.append(row | {"a priori": chosen.bound.value})
    proofs = np.array([row["certificate"] for row in rows])
    shares = proofs / chosen.bound.value
    return Evidence(
        rows,
        {
            "certificate / a priori": Estimate(float(shares.mean()), min(shares), max(shares)),
            "mean regret / mean certificate": float(regret.mean() / proofs.mean()),
        },
        columns(rows, {"regret": "measured", "certificate": "predicted", "a priori": "bound"}),
        "run",
        f"regret after {horizon:,} rounds",
        notes=("The interval of the first number is the range over the runs.",),
    )
