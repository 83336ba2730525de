"""Claims: what no algorithm can avoid."""

from __future__ import annotations

from math import sqrt

from sidelight.analysis import PackingSet, packing_independent_set
from sidelight.environment import Environment, packing
from sidelight.experiment.claims.claim import Claim, Curve, Estimate, Evidence, Prediction, Sizes
from sidelight.experiment.claims.fitting import interval, slope
from sidelight.experiment.claims.playing import Played, play_rivals
from sidelight.experiment.claims.sweeps import formula, predicted, rival_curves, worst_exponent
from sidelight.graph import FeedbackGraph, families
from sidelight.planning import plan
from sidelight.planning.bounds import lower

GROUP = "lower bounds"
PLAYERS = ("auto", "adaptive", "clustered", "flat", "chlz21", "exp3g", "uniform", "ftl", "ucb_n", "ts_n")


def _hiding_places(graph: FeedbackGraph, found: PackingSet, T: int) -> dict[str, Environment]:
    """The instances of the proof: its own gap and twice of it, the best arm in two places."""
    forced = lower.packing_set(len(found.arms), found.t, T)
    share = 1 - 1 / len(found.arms)
    gap = min(share / (2 * sqrt(lower.KL_ONE * found.t * forced / len(found.arms))), lower.LARGEST_BIAS)
    places = (0, len(found.arms) // 2)
    return {
        f"gap ×{multiple:g}, hidden at {place}": packing(
            graph.n_arms, found, hidden=place, gap=min(multiple * gap, 0.45)
        )
        for multiple in (1.0, 2.0)
        for place in places
    }


def measure_packing(sizes: Sizes) -> Evidence:
    """Everyone who can play the directed cycle, against the certified lower bound."""
    graph = families.cycle(sizes["n"], directed=True)
    found = packing_independent_set(graph, t=1)
    horizons = [int(T) for T in sizes["horizons"]]
    forced = [lower.packing_set(len(found.arms), found.t, T) for T in horizons]
    rows, least = [], []
    skipped: dict[str, str] = {}
    last: dict[str, Played] = {}
    for T, bound in zip(horizons, forced, strict=True):
        worlds = _hiding_places(graph, found, T)
        last, skipped = play_rivals(tuple(sizes["rivals"]), graph, worlds, sizes["seeds"], T)
        best = min(last, key=lambda name: last[name].worst)
        least.append(last[best])
        rows += [
            {"T": T, "player": name, "regret": played.worst, "lower bound": bound}
            for name, played in last.items()
        ]
    ratios = [
        interval(played.worst / bound, played.replicates / bound)
        for played, bound in zip(least, forced, strict=True)
    ]
    xs = tuple(map(float, horizons))
    return Evidence(
        rows=tuple(rows),
        estimates={
            "least regret / lower bound": min(ratios, key=lambda ratio: ratio.value),
            "exponent of the least regret": worst_exponent(horizons, least),
        },
        curves=(
            Curve("least regret of all players", "measured", xs, tuple(p.worst for p in least)),
            Curve("lower bound", "bound", xs, tuple(forced)),
            predicted(horizons, least[-1].worst, 2 / 3),
            *rival_curves(horizons[-1], _without_least(last, least[-1])),
        ),
        x_label="T, rounds",
        y_label="regret on the worst hiding place",
        skipped=skipped,
        notes=("Rivals are not compared with each other here: the claim is about all of them.",),
    )


def _without_least(played: dict[str, Played], least: Played) -> dict[str, Played]:
    return {name: found for name, found in played.items() if found is not least}


def measure_rates(sizes: Sizes) -> Evidence:
    """The certified lower bound against |S|/t at a huge horizon."""
    T = 10**14
    members = [float(size) for size in sizes["members"]]
    forced = [lower.packing_set(size, 1, T) for size in sizes["members"]]
    spread = [lower.packing_set(size, 2, T) for size in sizes["members"]]
    found = formula(
        members, {"t = 1": forced, "t = 2": spread}, 1 / 3, "|S|, arms of the packing", "regret at T = 10¹⁴"
    )
    horizons = [10**10, 10**14]
    growth = [lower.packing_set(64, 1, T) for T in horizons]
    return Evidence(
        found.rows,
        {
            **found.estimates,
            "exponent in T": Estimate.exact(slope(horizons, growth)),
            "t = 1 over t = 2": Estimate.exact(forced[-1] / spread[-1]),
        },
        found.curves,
        found.x_label,
        found.y_label,
    )


def measure_sandwich(sizes: Sizes) -> Evidence:
    """The best certified upper bound over the best certified lower bound, family by family."""
    T = 10**14
    rows, ratios = [], []
    for spec in sizes["families"]:
        graph = families.parse(spec)
        found = packing_independent_set(graph, exact=False)
        forced = lower.packing_set(len(found.arms), found.t, T) if len(found.arms) > 1 else 0.0
        below = max(forced, lower.weak_arm(T))
        above = plan(graph, T).bound.value
        ratios.append(above / below)
        rows.append({"family": spec, "upper": above, "lower": below, "upper / lower": above / below})
    at = tuple(float(i + 1) for i in range(len(rows)))
    return Evidence(
        tuple(rows),
        {"least ratio": Estimate.exact(min(ratios)), "largest ratio": Estimate.exact(max(ratios))},
        (
            Curve("upper / lower", "measured", at, tuple(ratios)),
            Curve("equal", "bound", at, (1.0,) * len(at)),
        ),
        "family (see the table)",
        "ratio of the bounds at T = 10¹⁴",
    )


WEAK_FAMILIES = (
    "cycle:12",
    "cycle:96",
    "cycle:48:directed",
    "cliques:6x4",
    "bicliques:4x8",
    "hypercube:6",
    "corrupted_mab:64,8",
    "revealing_action:16",
    "grid:6,6",
)

CLAIMS = (
    Claim(
        "packing-lower-bound",
        GROUP,
        "Whoever plays suffers (|S|/t)^{1/3}T^{2/3} on some hiding place of the best arm in a packing set S.",
        ("prop:packing-lb",),
        "cycle:N:directed with the packing instances of the proof",
        (
            Prediction.least("least regret / lower bound", 1.0, "the lower bound with explicit constants"),
            Prediction.least(
                "exponent of the least regret", 2 / 3 - 0.07, "Ω(T^{2/3}) for the best of all players too"
            ),
        ),
        measure_packing,
        {"n": 16, "horizons": (16_384, 131_072), "seeds": 6, "rivals": PLAYERS},
        {"n": 32, "horizons": (16_384, 65_536, 262_144, 1_048_576), "seeds": 16, "rivals": PLAYERS},
    ),
    Claim(
        "packing-rates",
        GROUP,
        "The lower bound grows like (|S|/t)^{1/3} and like T^{2/3}.",
        ("prop:packing-lb",),
        "packing sets of 64 arms and more",
        (
            Prediction.near("exponent of t = 1", 1 / 3, 0.02, "(|S|/t)^{1/3}"),
            Prediction.near("t = 1 over t = 2", 2 ** (1 / 3), 0.02, "(|S|/t)^{1/3}"),
            Prediction.near("exponent in T", 2 / 3, 0.01, "T^{2/3}"),
        ),
        measure_rates,
        {"members": (64, 128, 256, 512, 1024)},
        {"members": (64, 128, 256, 512, 1024, 2048, 4096)},
    ),
    Claim(
        "sandwich",
        GROUP,
        "Certified upper and lower bounds never cross, and for constant degree they differ by a constant.",
        ("prop:packing-lb", "thm:directed-bounded-degree"),
        "nine weakly observable families",
        (
            Prediction.least("least ratio", 1.0, "an upper bound is at least a lower bound"),
            Prediction.most("largest ratio", 60.0, "3.78/0.30 for the cycle; log factors on dense graphs"),
        ),
        measure_sandwich,
        {"families": WEAK_FAMILIES},
        {"families": (*WEAK_FAMILIES, "cycle:960", "hypercube:9", "cliques:100x3", "grid:20,20")},
    ),
)
