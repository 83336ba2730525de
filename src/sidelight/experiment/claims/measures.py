"""What claims share: hard environments, the worst regret in them with its uncertainty, and shapes of experiments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sidelight._types import Floats
from sidelight.analysis import observability, packing_independent_set
from sidelight.environment import Environment, bernoulli, gap, packing, switching
from sidelight.errors import SidelightError
from sidelight.experiment.claims.claim import Curve, Estimate, Evidence, Prediction, Sizes
from sidelight.experiment.simulation import simulate
from sidelight.experiment.statistics import BEND, resampled_means
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition
from sidelight.planning import Plan, plan
from sidelight.policy import names as registry

Make = Callable[[FeedbackGraph, int], Plan]
Environments = Callable[[FeedbackGraph, int], Mapping[str, Environment]]

QUICK = {"horizons": (16_384, 65_536, 262_144), "seeds": 8}
FULL = {"horizons": (16_384, 65_536, 262_144, 1_048_576, 2_097_152), "seeds": 32}
RIVALS = {"rivals": ("chlz21", "exp3g")}

EXPONENT_T = "exponent in T, played"
EXPONENT_T_BOUND = "exponent in T, bound"
EXPONENT_SIZE = "exponent in the size, played"
EXPONENT_SIZE_BOUND = "exponent in the size, bound"
REGRET_BOUND = "regret / bound"

REPLICATES = 2_000
LEVEL = 0.99
"""Intervals cover this share of the bootstrap: claims are many, so each has to be surer than 95 %."""
BOOTSTRAP_SEED = 20_231
LARGEST_GAP = 0.45


def with_partition(partition: Callable[[FeedbackGraph], Partition], realization: str) -> Make:
    """Plans of the paper: this partition, this realization."""
    return lambda graph, T: plan(graph, T, partition=partition(graph), realization=realization)


def growth(power: float) -> tuple[Prediction, ...]:
    """What a theorem "R ≤ c·T^power for large T", tight on hard instances, predicts."""
    return (
        Prediction.near(EXPONENT_T, power, 0.07, f"regret of order T^{power:.3g} on the hardest losses"),
        Prediction.near(EXPONENT_T_BOUND, power, 0.01, "the leading term of the bound, at T = 10¹⁴ to 10¹⁶"),
        Prediction.most(REGRET_BOUND, 1.0, "expected regret is at most the bound"),
    )


def size_growth(power: float, reason: str, bound: str = "the bound at T = 10¹⁶") -> tuple[Prediction, ...]:
    """The same for "R ≤ c·size^power"."""
    return (
        Prediction.near(EXPONENT_SIZE, power, 0.1, reason),
        Prediction.near(EXPONENT_SIZE_BOUND, power, 0.02, bound),
        Prediction.most(REGRET_BOUND, 1.0, "expected regret is at most the bound"),
    )


# -- hard environments: where lower bounds hide the best arm, with gaps that just cannot be seen in time ----


def weak_environments(
    graph: FeedbackGraph, horizon: int, multiples: Sequence[float] = (1.0, 2.0, 4.0)
) -> dict[str, Environment]:
    """Instances for weakly observable graphs, by name; gaps are multiples of (rate/T)^{1/3}, and one is wide.

    A packing set hides the best arm and everything else costs 1 (Proposition packing-lb). Without a packing set
    of two arms, a weakly observable arm is better than the rest while all that reveals it costs 1. A wide gap is
    seen at once, but makes exploration as costly as it can be.
    """
    found = packing_independent_set(graph, exact=False)
    width = (max(found.rate, 1.0) / horizon) ** (1 / 3)
    weak = observability(graph).weak[::-1]
    arm = int(weak[np.argmin(graph.in_degree[weak])])  # that fewest arms reveal; the last of them on ties
    environments: dict[str, Environment] = {}
    gaps = {f"gap ×{multiple:g}": min(multiple * width, LARGEST_GAP) for multiple in multiples}
    for name, apart in (gaps | {"wide gap": LARGEST_GAP}).items():
        if len(found.arms) >= 2:
            hidden = len(found.arms) // 2
            environments[f"packing, {name}"] = packing(graph.n_arms, found, hidden=hidden, gap=apart)
        else:
            means = np.full(graph.n_arms, 0.5)
            means[graph.in_neighbors(arm)] = 1.0
            means[arm] = 0.5 - apart
            environments[f"weak arm, {name}"] = bernoulli(means)
    return environments


def strong_environments(graph: FeedbackGraph, horizon: int) -> dict[str, Environment]:
    """Instances for strongly observable graphs: gaps are multiples of √(N/T), and the best arm may switch."""
    n = graph.n_arms
    gaps = {k: min(k * (n / horizon) ** 0.5, LARGEST_GAP) for k in (1.0, 2.0, 4.0)}
    environments: dict[str, Environment] = {
        f"gap ×{k:g}": gap(n, best=n // 2, gap=width) for k, width in gaps.items()
    }
    period = max(horizon // (2 * n), 1)
    return environments | {"switching": switching(n, period=period, arms=range(n), gap=gaps[4.0])}


# -- regret and growth rates, with bootstrap intervals ------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Played:
    """Final regret of one player in several environments, one number per seed."""

    regrets: Mapping[str, Floats]  # environment → (seeds,)

    @cached_property
    def means(self) -> dict[str, float]:
        """Mean regret by environment."""
        return {name: float(regret.mean()) for name, regret in self.regrets.items()}

    @property
    def worst(self) -> float:
        """The largest of them."""
        return max(self.means.values())

    @property
    def hardest(self) -> str:
        """Where it was suffered."""
        return max(self.means, key=lambda name: self.means[name])

    @cached_property
    def replicates(self) -> Floats:
        """Bootstrap replicates of `worst`."""
        return resampled_worst(list(self.regrets.values()), np.random.default_rng(BOOTSTRAP_SEED))

    @property
    def estimate(self) -> Estimate:
        """`worst` with its interval."""
        return interval(self.worst, self.replicates)

    def share_of(self, bound: float) -> Estimate:
        """`worst` over a bound."""
        return interval(self.worst / bound, self.replicates / bound)

    def over(self, other: Played) -> Estimate:
        """Our worst regret over theirs."""
        if min(other.worst, float(other.replicates.min())) <= 0:
            return Estimate.unknown()
        return interval(self.worst / other.worst, self.replicates / other.replicates)


def play(player: Any, environments: Mapping[str, Environment], seeds: int, horizon: int) -> Played:
    """Any player in every environment, `seeds` times each. An interrupt ends the claim, not just the run."""
    regrets = {}
    for name, environment in environments.items():
        run = simulate(
            player, environment, seeds=range(seeds), horizon=horizon, checkpoints=[horizon], progress=False
        )
        if not run.complete:
            raise KeyboardInterrupt
        regrets[name] = run.regret[:, -1]
    return Played(regrets)


def play_rivals(
    names: Iterable[str], graph: FeedbackGraph, environments: Mapping[str, Environment], seeds: int, T: int
) -> tuple[dict[str, Played], dict[str, str]]:
    """Those baselines that are known and apply to the graph, and why the others did not play."""
    played, skipped = {}, {}
    for name in names:
        if name not in registry.names():
            skipped[name] = "no policy of this name in this version"
            continue
        try:
            player = registry.make(name, graph, T)
        except SidelightError as error:
            skipped[name] = str(error)
            continue
        played[name] = play(player, environments, seeds, T)
    return played, skipped


def resampled_worst(regrets: Sequence[Floats], rng: np.random.Generator) -> Floats:
    """(REPLICATES,) worst mean over environments, each resampled on its own."""
    worst: Floats = np.stack([resampled_means(regret, REPLICATES, rng) for regret in regrets]).max(axis=0)
    return worst


def interval(value: float, replicates: Floats) -> Estimate:
    """The value with the percentile interval of its replicates."""
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(replicates, [tail, 1 - tail])
    return Estimate(value, min(float(low), value), max(float(high), value))


def slope(x: Sequence[float], y: Any) -> Any:
    """Least-squares slope of log y (or of each of its rows) against log x: the exponent of y ~ x^slope.

    >>> round(slope([1, 10, 100], [5, 50, 500]), 6)
    1.0
    """
    logs = np.log(np.asarray(x, dtype=np.float64))
    centred = logs - logs.mean()
    found = np.log(np.asarray(y, dtype=np.float64)) @ centred / (centred @ centred)
    return float(found) if found.ndim == 0 else found


def fitted_exponent(x: Sequence[float], values: Sequence[float], replicates: Sequence[Floats]) -> Estimate:
    """Slope of log values against log x; replicates[i] are those of values[i].

    NaN, hence inconclusive, where a mean is not positive: regret near zero has no growth rate. Where the exponents
    of the first and of the second half differ by more than `BEND`, beyond noise, the estimate says so.
    """
    table = np.stack(replicates, axis=1)  # (REPLICATES, points)
    if min(values) <= 0 or table.min() <= 0:
        return Estimate.unknown()
    found = interval(slope(x, values), slope(x, table))
    half = len(x) // 2  # the point in the middle belongs to both
    early, late = slice(0, len(x) - half), slice(half, len(x))
    if half == 0:
        return found
    first, second = (slope(x[part], np.asarray(values)[part]) for part in (early, late))
    change = interval(second - first, slope(x[late], table[:, late]) - slope(x[early], table[:, early]))
    bent = abs(change.value) > BEND and not change.low <= 0 <= change.high
    return replace(found, note=f"bends {first:.2f}→{second:.2f}") if bent else found


def worst_exponent(x: Sequence[float], played: Sequence[Played]) -> Estimate:
    """The growth rate of the worst regret."""
    return fitted_exponent(x, [found.worst for found in played], [found.replicates for found in played])


def share_of_bound(played: Sequence[Played], bounds: Sequence[float]) -> Estimate:
    """The largest share of its bound that the worst regret takes, over the sweep."""
    shares = [found.share_of(bound) for found, bound in zip(played, bounds, strict=True)]
    return max(shares, key=lambda share: share.value)


# -- shapes of experiments ----------------------------------------------------------------------------------


def against_horizon(
    graph: FeedbackGraph,
    make: Make,
    sizes: Sizes,
    power: float,
    environments: Environments = weak_environments,
) -> Evidence:
    """Play at growing horizons, tuned for each: exponents of regret and bound, and regret over the bound.

    `sizes`: horizons, seeds, rivals (who play at the longest horizon). `power` is drawn as the prediction.
    """
    games = {T: (graph, int(T)) for T in sizes["horizons"]}
    far = [10**14, 10**16]
    exponent = slope(far, [make(graph, T).bound.value for T in far])
    return _played(
        "T, rounds", "T", games, make, sizes, power, environments, (EXPONENT_T, EXPONENT_T_BOUND), exponent
    )


def against_size(
    graphs: Mapping[float, FeedbackGraph],
    make: Make,
    sizes: Sizes,
    power: float,
    x_label: str,
    environments: Environments = weak_environments,
) -> Evidence:
    """Play graphs of growing size at one horizon; the bound's exponent is taken where T has outgrown the size.

    `sizes`: horizon, seeds, rivals (who play on the largest graph).
    """
    games = {float(size): (graph, int(sizes["horizon"])) for size, graph in graphs.items()}
    exponent = slope(list(games), [make(graph, 10**16).bound.value for graph, _ in games.values()])
    return _played(
        x_label,
        x_label,
        games,
        make,
        sizes,
        power,
        environments,
        (EXPONENT_SIZE, EXPONENT_SIZE_BOUND),
        exponent,
    )


def _played(
    x_label: str,
    column: str,
    games: Mapping[float, tuple[FeedbackGraph, int]],
    make: Make,
    sizes: Sizes,
    power: float,
    environments: Environments,
    names: tuple[str, str],
    exponent: float,
) -> Evidence:
    """Every game by the plan made for it, the last by the rivals too."""
    rows, played, bounds = [], [], []
    for at, (graph, T) in games.items():
        chosen = make(graph, T)
        worlds = environments(graph, T)
        played.append(play(chosen, worlds, sizes["seeds"], T))
        bounds.append(chosen.bound.value)
        rows.append(_row(column, at, played[-1]) | {"bound": bounds[-1], "certified": chosen.bound.certified})
    x, (graph, T) = list(games), games[list(games)[-1]]
    rivals, skipped = play_rivals(sizes.get("rivals", ()), graph, worlds, sizes["seeds"], T)
    rows += [_row(column, x[-1], found) | {"player": name} for name, found in rivals.items()]
    y_label = f"regret after {T:,} rounds, worst environment"
    return Evidence(
        rows,
        {
            names[0]: worst_exponent(x, played),
            names[1]: Estimate.exact(exponent),
            REGRET_BOUND: share_of_bound(played, bounds),
        },
        (*curves(x, played, bounds, power), *rival_curves(x[-1], rivals)),
        x_label,
        "regret in the worst of the hard environments" if column == "T" else y_label,
        {name: played[-1].over(found) for name, found in rivals.items()},
        skipped,
    )


def formula(
    x: Iterable[float], values: Mapping[str, Sequence[float]], power: float, x_label: str, y_label: str
) -> Evidence:
    """Numbers that are computed, not played: one exact slope per series, named "exponent of <series>"."""
    at = [float(value) for value in x]
    return Evidence(
        [
            {x_label: value} | {name: float(series[i]) for name, series in values.items()}
            for i, value in enumerate(at)
        ],
        {f"exponent of {name}": Estimate.exact(slope(at, y)) for name, y in values.items()},
        [
            *(Curve(name, "measured", at, series) for name, series in values.items()),
            predicted(at, next(iter(values.values()))[-1], power),
        ],
        x_label,
        y_label,
    )


def ratios(
    rows: Sequence[dict[str, Any]],
    column: str,
    label: str,
    x_label: str,
    y_label: str,
    x: Iterable[float] | None = None,
) -> Evidence:
    """Cases in a list, each with a ratio that should be on one side of 1: its extremes, and a line at 1."""
    values = [row[column] for row in rows]
    at = range(1, len(rows) + 1) if x is None else list(x)
    extremes = {"largest ratio": Estimate.exact(max(values)), "least ratio": Estimate.exact(min(values))}
    lines = Curve(label, "measured", at, values), Curve("equal", "bound", at, [1.0] * len(rows))
    return Evidence(rows, extremes, lines, x_label, y_label)


def predicted(x: Sequence[float], last: float, power: float) -> Curve:
    """x^power through the last point."""
    label = f"predicted slope {power:.3g}"
    return Curve(label, "predicted", x, [last * (at / float(x[-1])) ** power for at in x])


def curves(
    x: Sequence[float], played: Sequence[Played], bounds: Sequence[float], power: float
) -> tuple[Curve, ...]:
    """Measured regret with its band, the bound, and the predicted slope."""
    found = [each.estimate for each in played]
    band = [e.low for e in found], [e.high for e in found]
    measured = Curve("played", "measured", x, [e.value for e in found], *band)
    return measured, Curve("bound", "bound", x, bounds), predicted(x, played[-1].worst, power)


def rival_curves(at: float, rivals: Mapping[str, Played]) -> list[Curve]:
    """One point for every rival that played."""
    return [Curve(name, "baseline", (at,), (found.worst,)) for name, found in rivals.items()]


def _row(column: str, at: float, found: Played) -> dict[str, Any]:
    estimate = found.estimate
    row = {column: at, "regret": estimate.value, "low": estimate.low, "high": estimate.high}
    return row | {"environment": found.hardest}
