"""Claims: what no algorithm can avoid."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from sidelight.analysis import PackingSet, packing_independent_set
from sidelight.environment import Environment, packing
from sidelight.experiment.claims.claim import Curve, Evidence, Prediction
from sidelight.experiment.claims.measures import (
    LARGEST_GAP,
    Claims,
    Row,
    doubled,
    packing_bound,
    play_rivals,
    predicted,
    rival_curves,
    slope,
    worst_exponent,
)
from sidelight.graph import FeedbackGraph, families
from sidelight.planning import plan
from sidelight.planning.bounds import lower

claims = Claims("lower bounds")
PLAYERS = ("auto", "adaptive", "clustered", "flat", "chlz21", "exp3g", "uniform", "ftl", "ucb_n", "ts_n")
WEAK_FAMILIES = (
    "cycle:12", "cycle:96", "cycle:48:directed", "cliques:6x4", "bicliques:4x8", "hypercube:6",
    "corrupted_mab:64,8", "revealing_action:16", "grid:6,6",
)  # fmt: skip


def _hiding_places(graph: FeedbackGraph, packing_set: PackingSet, T: int) -> dict[str, Environment]:
    """The instances of the proof: its own gap and twice of it, the best arm in two places."""
    forced = lower.packing_set(len(packing_set.arms), packing_set.t, T)
    share = 1 - 1 / len(packing_set.arms)
    gap = min(
        share / (2 * sqrt(lower.KL_ONE * packing_set.t * forced / len(packing_set.arms))), lower.LARGEST_BIAS
    )
    return {
        f"gap ×{multiple:g}, hidden at {place}": packing(
            graph.n_arms, packing_set, hidden=place, gap=min(multiple * gap, LARGEST_GAP)
        )
        for multiple in (1.0, 2.0)
        for place in (0, len(packing_set.arms) // 2)
    }


@claims.add(
    "packing-lower-bound",
    "cycle:N:directed with the packing instances of the proof",
    ("prop:packing-lb",),
    Prediction.least("least regret / lower bound", 1.0, "the lower bound with explicit constants"),
    Prediction.least(
        "exponent of the least regret", 2 / 3 - 0.07, "Ω(T^{2/3}) for the best of all players too"
    ),
    n=(16, 32),
    horizons=((16_384, 131_072), (16_384, 65_536, 262_144, 1_048_576)),
    seeds=(6, 16),
    rivals=(PLAYERS, PLAYERS),
)
def everyone(n: int, horizons: Sequence[int], seeds: int, rivals: Sequence[str]) -> Evidence:
    """Whoever plays suffers (|S|/t)^{1/3}T^{2/3} on some hiding place of the best arm in a packing set S."""
    graph = families.cycle(n, directed=True)
    packing_set = packing_independent_set(graph, t=1)
    forced = [lower.packing_set(len(packing_set.arms), packing_set.t, T) for T in horizons]
    rows, least = [], []
    for T, bound in zip(horizons, forced, strict=True):
        worlds = _hiding_places(graph, packing_set, T)
        last, skipped = play_rivals(rivals, graph, worlds, seeds, T)
        best = min(last, key=lambda name: last[name].worst)
        rows += [
            {"T": T, "player": name, "regret": each.worst, "lower bound": bound}
            for name, each in last.items()
        ]
        least.append(last.pop(best))
    shares = [each.share_of(bound) for each, bound in zip(least, forced, strict=True)]
    return Evidence(
        rows,
        {
            "least regret / lower bound": min(shares, key=lambda share: share.value),
            "exponent of the least regret": worst_exponent(horizons, least),
        },
        (
            Curve("least regret of all players", "measured", horizons, [each.worst for each in least]),
            Curve("lower bound", "bound", horizons, forced),
            predicted(horizons, least[-1].worst, 2 / 3),
            *rival_curves(horizons[-1], last),
        ),
        "T, rounds",
        "regret on the worst hiding place",
        skipped=skipped,
        notes=("Rivals are not compared with each other here: the claim is about all of them.",),
    )


@claims.cases(
    "packing-rates",
    "packing sets of 64 arms and more",
    ("prop:packing-lb",),
    Prediction.near("exponent of t = 1", 1 / 3, 0.02, "(|S|/t)^{1/3}"),
    Prediction.near("t = 1 over t = 2", 2 ** (1 / 3), 0.02, "(|S|/t)^{1/3}"),
    Prediction.near("exponent in T", 2 / 3, 0.01, "T^{2/3}"),
    unit="regret at T = 10¹⁴",
    members=(doubled(64, 1024), doubled(64, 4096)),
)
def rates(size: int) -> Row:
    """The lower bound grows like (|S|/t)^{1/3} and like T^{2/3}."""
    horizons = [10**10, 10**14]
    earlier, forced = (lower.packing_set(size, 1, T) for T in horizons)
    less = lower.packing_set(size, 2, horizons[-1])
    row = {
        "|S|, arms of the packing": size,
        "t = 1": forced,
        "t = 2": less,
        "t = 1 over t = 2": forced / less,
    }
    return row | {"exponent in T": slope(horizons, [earlier, forced])}


@claims.cases(
    "sandwich",
    "nine weakly observable families",
    ("prop:packing-lb", "thm:directed-bounded-degree"),
    Prediction.least("least ratio", 1.0, "an upper bound is at least a lower bound"),
    Prediction.most("largest ratio", 60.0, "2.39/0.30 for the cycle; log factors on dense graphs"),
    unit="upper bound / lower bound at T = 10¹⁴",
    specs=(WEAK_FAMILIES, (*WEAK_FAMILIES, "cycle:960", "hypercube:9", "cliques:100x3", "grid:20,20")),
)
def sandwich(spec: str) -> Row:
    """Certified upper and lower bounds never cross, and for constant degree they differ by a constant."""
    T, graph = 10**14, families.parse(spec)
    above, below = plan(graph, T).bound.value, packing_bound(graph, T)
    return {"family": spec, "upper": above, "lower": below, "ratio": above / below}
