"""What claims share: hard environments, the worst regret in them with its uncertainty, and shapes of experiments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from sidelight._types import Floats
from sidelight.analysis import observability, packing_independent_set
from sidelight.environment import Environment, bernoulli, gap, packing, switching
from sidelight.errors import SidelightError
from sidelight.experiment.claims.claim import Claim, Curve, Estimate, Evidence, Prediction
from sidelight.experiment.run import Run
from sidelight.experiment.simulation import simulate
from sidelight.experiment.statistics import BEND, resampled_means
from sidelight.graph import FeedbackGraph, families
from sidelight.partition import Partition
from sidelight.planning import Plan, plan
from sidelight.planning.bounds import lower
from sidelight.policy import names as registry

Make = Callable[[FeedbackGraph, int], Plan]
Row = dict[str, Any]
Environments = Callable[[FeedbackGraph, int], Mapping[str, Environment]]

HORIZONS = ((16_384, 65_536, 262_144), (16_384, 65_536, 262_144, 1_048_576, 2_097_152))
"""Of the quick and of the full experiment."""
RIVALS = ("chlz21", "exp3g")

REGRET_BOUND = "regret / bound"
AT_MOST_THE_BOUND = Prediction.most(REGRET_BOUND, 1.0, "expected regret is at most the bound")

REPLICATES = 2_000
LEVEL = 0.99
"""Intervals cover this share of the bootstrap: claims are many, so each has to be surer than 95 %."""
BOOTSTRAP_SEED = 20_231
LARGEST_GAP = 0.45


def doubled(first: int, last: int) -> tuple[int, ...]:
    """first, 2·first, 4·first, … up to `last`."""
    return tuple(first << k for k in range((last // first).bit_length()))


def with_partition(partition: Callable[[FeedbackGraph], Partition], realization: str) -> Make:
    """Plans of the paper: this partition, this realization."""
    return lambda graph, T: plan(graph, T, partition=partition(graph), realization=realization)


# -- hard environments: where lower bounds hide the best arm, with gaps that just cannot be seen in time ----


def weak_environments(
    graph: FeedbackGraph, horizon: int, multiples: Sequence[float] = (1.0, 2.0, 4.0)
) -> dict[str, Environment]:
    """Instances for weakly observable graphs, by name; gaps are multiples of (rate/T)^{1/3}, and one is wide.

    A packing set hides the best arm and everything else costs 1 (Proposition packing-lb). Without a packing set
    of two arms, a weakly observable arm is better than the rest while all that reveals it costs 1. A wide gap is
    seen at once, but makes exploration as costly as it can be.
    """
    packing_set = packing_independent_set(graph, exact=False)
    width = (max(packing_set.rate, 1.0) / horizon) ** (1 / 3)
    weak = observability(graph).weak[::-1]
    arm = int(weak[np.argmin(graph.in_degree[weak])])  # that fewest arms reveal; the last of them on ties
    environments: dict[str, Environment] = {}
    gaps = {f"gap ×{multiple:g}": min(multiple * width, LARGEST_GAP) for multiple in multiples}
    for name, apart in (gaps | {"wide gap": LARGEST_GAP}).items():
        if len(packing_set.arms) >= 2:
            hidden = len(packing_set.arms) // 2
            environments[f"packing, {name}"] = packing(graph.n_arms, packing_set, hidden=hidden, gap=apart)
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


def packing_bound(graph: FeedbackGraph, T: int) -> float:
    """What a packing set that is found quickly forces on every player, or one weakly observable arm does."""
    packing_set = packing_independent_set(graph, exact=False)
    forced = lower.packing_set(len(packing_set.arms), packing_set.t, T) if len(packing_set.arms) > 1 else 0.0
    return max(forced, lower.weak_arm(T))


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


def finished(player: Any, environment: Environment, seeds: int, T: int, points: Sequence[int] = ()) -> Run:
    """A run of so many seeds; an interrupt ends the claim, not just the run."""
    run = simulate(player, environment, range(seeds), T, checkpoints=[*points, T], progress=False)
    if not run.complete:
        raise KeyboardInterrupt
    return run


def play(player: Any, environments: Mapping[str, Environment], seeds: int, horizon: int) -> Played:
    """Any player in every environment, `seeds` times each."""
    return Played(
        {
            name: finished(player, environment, seeds, horizon).regret[:, -1]
            for name, environment in environments.items()
        }
    )


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


def ratio_of_means(above: Floats, below: Floats, rng: np.random.Generator | None = None) -> Estimate:
    """Of two numbers of the same runs, which are drawn again together."""
    rng = np.random.default_rng(BOOTSTRAP_SEED) if rng is None else rng
    samples = resampled_means(np.stack([above, below], axis=1), REPLICATES, rng)
    return interval(float(above.mean() / below.mean()), samples[:, 0] / samples[:, 1])


def largest(estimates: Iterable[Estimate]) -> Estimate:
    """The one of the largest value."""
    return max(estimates, key=lambda estimate: estimate.value)


def slope(x: Sequence[float], y: Any) -> Any:
    """Least-squares slope of log y (or of each of its rows) against log x: the exponent of y ~ x^slope.

    >>> round(slope([1, 10, 100], [5, 50, 500]), 6)
    1.0
    """
    logs = np.log(np.asarray(x, dtype=np.float64))
    centred = logs - logs.mean()
    slopes = np.log(np.asarray(y, dtype=np.float64)) @ centred / (centred @ centred)
    return float(slopes) if slopes.ndim == 0 else slopes


def fitted_exponent(x: Sequence[float], values: Sequence[float], replicates: Sequence[Floats]) -> Estimate:
    """Slope of log values against log x; replicates[i] are those of values[i].

    NaN, hence inconclusive, where a mean is not positive: regret near zero has no growth rate. Where the exponents
    of the first and of the second half differ by more than `BEND`, beyond noise, the estimate says so.
    """
    table = np.stack(replicates, axis=1)  # (REPLICATES, points)
    if min(values) <= 0 or table.min() <= 0:
        return Estimate.unknown()
    exponent = interval(slope(x, values), slope(x, table))
    half = len(x) // 2  # the point in the middle belongs to both
    early, late = slice(0, len(x) - half), slice(half, len(x))
    if half == 0:
        return exponent
    first, second = (slope(x[part], np.asarray(values)[part]) for part in (early, late))
    change = interval(second - first, slope(x[late], table[:, late]) - slope(x[early], table[:, early]))
    bent = abs(change.value) > BEND and not change.low <= 0 <= change.high
    return replace(exponent, note=f"bends {first:.2f}→{second:.2f}") if bent else exponent


def worst_exponent(x: Sequence[float], played: Sequence[Played]) -> Estimate:
    """The growth rate of the worst regret."""
    return fitted_exponent(x, [each.worst for each in played], [each.replicates for each in played])


def share_of_bound(played: Sequence[Played], bounds: Sequence[float]) -> Estimate:
    """The largest share of its bound that the worst regret takes, over the sweep."""
    return largest(each.share_of(bound) for each, bound in zip(played, bounds, strict=True))


# -- claims that are played ---------------------------------------------------------------------------------


def _play_growing(
    games: Mapping[float, tuple[FeedbackGraph, int]],
    make: Make,
    environments: Environments,
    seeds: int,
    rivals: Sequence[str],
    column: str,
    exponent: str,
    power: float,
) -> Evidence:
    """Every game by the plan made for it, the last by the rivals too; the growth of regret is called `exponent`."""
    rows, played, bounds, x = [], [], [], list(games)
    for at, (graph, T) in games.items():
        chosen, worlds = make(graph, T), environments(graph, T)
        played.append(play(chosen, worlds, seeds, T))
        bounds.append(chosen.bound.value)
        rows.append(_row(column, at, played[-1]) | {"bound": bounds[-1], "certified": chosen.bound.certified})
    others, skipped = play_rivals(rivals, graph, worlds, seeds, T)
    rows += [_row(column, x[-1], each) | {"player": name} for name, each in others.items()]
    return Evidence(
        rows,
        {exponent: worst_exponent(x, played), REGRET_BOUND: share_of_bound(played, bounds)},
        (*curves(x, played, bounds, power), *rival_curves(x[-1], others)),
        rivals={name: played[-1].over(each) for name, each in others.items()},
        skipped=skipped,
    )


def _row(column: str, at: float, played: Played) -> dict[str, Any]:
    estimate = played.estimate
    row = {column: at, "regret": estimate.value, "low": estimate.low, "high": estimate.high}
    return row | {"environment": played.hardest}


def curves(
    x: Sequence[float], played: Sequence[Played], bounds: Sequence[float], power: float
) -> tuple[Curve, ...]:
    """Measured regret with its band, the bound, and the predicted slope."""
    worst = [each.estimate for each in played]
    band = [e.low for e in worst], [e.high for e in worst]
    measured = Curve("played", "measured", x, [e.value for e in worst], *band)
    return measured, Curve("bound", "bound", x, bounds), predicted(x, played[-1].worst, power)


def columns(rows: Sequence[Row], roles: Mapping[str, str]) -> list[Curve]:
    """Columns of cases in a list as curves, each with its role."""
    at = range(1, len(rows) + 1)
    return [Curve(name, role, at, [row[name] for row in rows]) for name, role in roles.items()]


def rival_curves(at: float, rivals: Mapping[str, Played]) -> list[Curve]:
    """One point for every rival that played."""
    return [Curve(name, "baseline", (at,), (each.worst,)) for name, each in rivals.items()]


def predicted(x: Sequence[float], last: float, power: float) -> Curve:
    """x^power through the last point."""
    label = f"predicted slope {power:.3g}"
    return Curve(label, "predicted", x, [last * (at / float(x[-1])) ** power for at in x])


# -- claims that are computed -------------------------------------------------------------------------------


_NUMBERS: dict[str, Callable[[list[float]], Any]]
_NUMBERS = {"largest ": max, "least ": min, "last ": lambda values: values[-1], "": np.median}
"""Of a column, by the first word of what is predicted; the other is "exponent of "."""


def _columns(rows: Sequence[Row], predictions: Sequence[Prediction], unit: str) -> Evidence:
    """Every predicted number from its column, and these columns as curves."""
    x_label = next(iter(rows[0]))
    at: list[Any] = [row[x_label] for row in rows]
    if any(isinstance(value, str) for value in at):
        at, x_label = list(range(1, len(rows) + 1)), f"{x_label} (see the table)"
    estimates, lines = {}, dict[str, Curve]()
    for each in predictions:
        how, column = _read(each.name)
        values = [float(row[column]) for row in rows]
        lines.setdefault(column, Curve(column, "measured", at, values))
        if how == "exponent of ":
            estimates[each.name] = Estimate.exact(slope(at, values))
            drawn = [predicted(at, values[-1], (each.low + each.high) / 2)]
        else:
            number = float(_NUMBERS[how](values))
            low, high = (number, number) if how else (min(values), max(values))
            estimates[each.name] = Estimate(number, low, high)
            ends = {end for end in (each.low, each.high) if isfinite(end)}
            drawn = [Curve(f"predicted {end:.4g}", "bound", at, [end] * len(at)) for end in sorted(ends)]
        for line in drawn:
            lines.setdefault(line.label, line)
    return Evidence(rows, estimates, list(lines.values()), x_label, unit)


def _read(name: str) -> tuple[str, str]:
    """What is taken of which column, by the name of a prediction."""
    column, last, _ = name.partition(" at the largest ")
    if last:
        return "last ", column
    how = next((how for how in ("exponent of ", *_NUMBERS) if name.startswith(how)), "")
    return how, name.removeprefix(how)


# -- the lists of claims ------------------------------------------------------------------------------------


class Claims:
    """The claims about one subject, in the order in which they are written down."""

    def __init__(self, group: str) -> None:
        self.group = group
        self.listed: list[Claim] = []

    def add(
        self,
        name: str,
        family: str,
        source: Sequence[str],
        *predictions: Prediction,
        statement: str = "",
        known_false: bool = False,
        **sizes: tuple[Any, Any],
    ) -> Callable[[Callable[..., Evidence]], Callable[..., Evidence]]:
        """The decorated function measures the claim; its docstring is the statement, unless that is given.

        It is called with the `sizes` by name: the first of each in the quick experiment, the second in the full one.
        """
        quick, full = ({key: pair[at] for key, pair in sizes.items()} for at in (0, 1))

        def listed(measure: Callable[..., Evidence]) -> Callable[..., Evidence]:
            text = " ".join((statement or measure.__doc__ or "").split())
            header = (name, self.group, text, tuple(source), family, predictions)
            self.listed.append(Claim(*header, measure, quick, full, known_false))
            return measure

        return listed

    def growth(
        self,
        name: str,
        family: str,
        source: Sequence[str],
        statement: str,
        make: Make,
        graph: Callable[..., FeedbackGraph] | None = None,
        *,
        power: float = 2 / 3,
        x_label: str = "T, rounds",
        reason: str = "",
        bound: str = "the bound at T = 10¹⁶",
        environments: Environments = weak_environments,
        rivals: tuple[str, ...] = RIVALS,
        seeds: tuple[int, int] = (8, 32),
        sizes: tuple[Sequence[int], Sequence[int]] | None = None,
        **options: Any,
    ) -> None:
        """List the claim that regret is of order T^power, or size^power with `sizes`, tight on hard instances.

        Measured are the exponents of regret and bound, and regret over the bound. What plays is tuned for each of
        several horizons on the graph that `family` names, unless `graph` makes it; or for each graph(size, **options)
        at one horizon, and the bound's exponent is taken where T has outgrown the size. Rivals play the last game.
        """
        what = "T" if sizes is None else "the size"
        played_exponent, bound_exponent = f"exponent in {what}, played", f"exponent in {what}, bound"

        def measure(
            seeds: int,
            rivals: Sequence[str],
            horizons: Sequence[int] = (),
            sizes: Sequence[int] = (),
            horizon: int = 0,
            **options: int,
        ) -> Evidence:
            games: dict[float, tuple[FeedbackGraph, int]]
            if graph is not None and sizes:
                games = {float(size): (graph(size, **options), horizon) for size in sizes}
                far = {size: (on, 10**16) for size, (on, _) in games.items()}
                column, y_label = x_label, f"regret after {horizon:,} rounds, worst environment"
            else:
                on = families.parse(family) if graph is None else graph()
                games, far = {T: (on, T) for T in horizons}, {T: (on, T) for T in (10**14, 10**16)}
                column, y_label = "T", "regret in the worst of the hard environments"
            exponent = slope(list(far), [make(*game).bound.value for game in far.values()])
            evidence = _play_growing(games, make, environments, seeds, rivals, column, played_exponent, power)
            estimates = {**evidence.estimates, bound_exponent: exponent}
            return replace(evidence, estimates=estimates, x_label=x_label, y_label=y_label)

        if sizes is None:
            reason = f"regret of order T^{power:.3g} on the hardest losses"
            bound = "the leading term of the bound, at T = 10¹⁴ to 10¹⁶"
        games = {"horizons": HORIZONS} if sizes is None else {"sizes": sizes, "horizon": (262_144, 2_097_152)}
        self.add(
            name,
            family,
            source,
            Prediction.near(played_exponent, power, 0.07 if sizes is None else 0.1, reason),
            Prediction.near(bound_exponent, power, 0.01 if sizes is None else 0.02, bound),
            AT_MOST_THE_BOUND,
            statement=statement,
            seeds=seeds,
            rivals=(rivals, rivals),
            **games,
            **options,
        )(measure)

    def cases(
        self,
        name: str,
        family: str,
        source: Sequence[str],
        *predictions: Prediction,
        unit: str,
        rivals: Mapping[str, float | str] | None = None,
        notes: Sequence[str] = (),
        known_false: bool = False,
        **sizes: tuple[Any, Any],
    ) -> Callable[[Callable[[Any], Row | list[Row]]], None]:
        """List a claim about numbers that are computed: the decorated function gives the row, or rows, of a case.

        The one of the `sizes` lists the cases, or says how many there are. What is predicted is a column: "largest
        C", "least C" and "exponent of C" are of column C, "C at the largest n" is its last number, and a column's
        own name stands for all of it, from the least number to the largest. The figure shows these columns in the
        `unit`, beside what is predicted, against the first column. Of a rival its ratio is given, or the column that
        ends with it.
        """

        def listed(row_of: Callable[[Any], Row | list[Row]]) -> None:
            def measure(**sizes: Any) -> Evidence:
                (given,) = sizes.values()
                rows: list[Row] = []
                for case in range(given) if isinstance(given, int) else given:
                    made = row_of(case)
                    rows += made if isinstance(made, list) else [made]
                ratios = {
                    name: rows[-1][ratio] if isinstance(ratio, str) else ratio
                    for name, ratio in (rivals or {}).items()
                }
                return replace(_columns(rows, predictions, unit), rivals=ratios, notes=notes)

            statement = row_of.__doc__ or ""
            more: dict[str, Any] = {"statement": statement, "known_false": known_false, **sizes}
            self.add(name, family, source, *predictions, **more)(measure)

        return listed
