"""Two shapes of experiment that most claims share: regret against the horizon, and against a size of the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sidelight.environment import Environment
from sidelight.experiment.claims.claim import Curve, Estimate, Evidence, Sizes
from sidelight.experiment.claims.fitting import fitted_exponent, interval, slope
from sidelight.experiment.claims.hard import weak_environments
from sidelight.experiment.claims.playing import Make, Played, play, play_rivals
from sidelight.graph import FeedbackGraph

EXPONENT_T = "exponent in T, played"
EXPONENT_T_BOUND = "exponent in T, bound"
EXPONENT_SIZE = "exponent in the size, played"
EXPONENT_SIZE_BOUND = "exponent in the size, bound"
REGRET_BOUND = "regret / bound"

Environments = Callable[[FeedbackGraph, int], Mapping[str, Environment]]


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
    horizons = [int(T) for T in sizes["horizons"]]
    rows, played, bounds = [], [], []
    for T in horizons:
        plan = make(graph, T)
        worlds = environments(graph, T)
        found = play(plan, worlds, sizes["seeds"], T)
        played.append(found)
        bounds.append(plan.bound.value)
        rows.append(_row("T", T, found, plan.bound.value, plan.bound.certified))
    far = [10**14, 10**16]
    T, worlds = horizons[-1], environments(graph, horizons[-1])
    rivals, skipped = play_rivals(tuple(sizes.get("rivals", ())), graph, worlds, sizes["seeds"], T)
    for name, found in rivals.items():
        rows.append(_row("T", T, found) | {"player": name})
    return Evidence(
        rows=tuple(rows),
        estimates={
            EXPONENT_T: worst_exponent(horizons, played),
            EXPONENT_T_BOUND: Estimate.exact(slope(far, [make(graph, T).bound.value for T in far])),
            REGRET_BOUND: share_of_bound(played, bounds),
        },
        curves=(*curves(horizons, played, bounds, power), *rival_curves(T, rivals)),
        x_label="T, rounds",
        y_label="regret in the worst of the hard environments",
        rivals={name: played[-1].over(found) for name, found in rivals.items()},
        skipped=skipped,
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
    T = int(sizes["horizon"])
    x = list(graphs)
    rows, played, bounds, far = [], [], [], []
    for size, graph in graphs.items():
        plan = make(graph, T)
        found = play(plan, environments(graph, T), sizes["seeds"], T)
        played.append(found)
        bounds.append(plan.bound.value)
        far.append(make(graph, 10**16).bound.value)
        rows.append(_row(x_label, size, found, plan.bound.value, plan.bound.certified))
    largest = graphs[x[-1]]
    worlds = environments(largest, T)
    rivals, skipped = play_rivals(tuple(sizes.get("rivals", ())), largest, worlds, sizes["seeds"], T)
    for name, found in rivals.items():
        rows.append(_row(x_label, x[-1], found) | {"player": name})
    return Evidence(
        rows=tuple(rows),
        estimates={
            EXPONENT_SIZE: worst_exponent(x, played),
            EXPONENT_SIZE_BOUND: Estimate.exact(slope(x, far)),
            REGRET_BOUND: share_of_bound(played, bounds),
        },
        curves=(*curves(x, played, bounds, power), *rival_curves(x[-1], rivals)),
        x_label=x_label,
        y_label=f"regret after {T:,} rounds, worst environment",
        rivals={name: played[-1].over(found) for name, found in rivals.items()},
        skipped=skipped,
    )


def formula(
    x: Sequence[float], values: Mapping[str, Sequence[float]], power: float, x_label: str, y_label: str
) -> Evidence:
    """Numbers that are computed, not played: one exact slope per series, named "exponent of <series>"."""
    rows = tuple(
        {x_label: float(at)} | {name: float(series[i]) for name, series in values.items()}
        for i, at in enumerate(x)
    )
    drawn = [
        Curve(name, "measured", tuple(map(float, x)), tuple(map(float, series)))
        for name, series in values.items()
    ]
    first = drawn[0].y
    return Evidence(
        rows=rows,
        estimates={f"exponent of {name}": Estimate.exact(slope(x, y)) for name, y in values.items()},
        curves=(*drawn, predicted(x, first[-1], power)),
        x_label=x_label,
        y_label=y_label,
    )


# -- parts -------------------------------------------------------------------------------------------------


def share_of_bound(played: Sequence[Played], bounds: Sequence[float]) -> Estimate:
    """The largest share of its bound that the worst regret takes, over the sweep."""
    shares = [
        interval(found.worst / bound, found.replicates / bound)
        for found, bound in zip(played, bounds, strict=True)
    ]
    return max(shares, key=lambda share: share.value)


def predicted(x: Sequence[float], last: float, power: float) -> Curve:
    """x^power through the last point."""
    xs = tuple(map(float, x))
    return Curve(
        f"predicted slope {power:.3g}", "predicted", xs, tuple(last * (at / xs[-1]) ** power for at in xs)
    )


def curves(
    x: Sequence[float], played: Sequence[Played], bounds: Sequence[float], power: float
) -> tuple[Curve, ...]:
    """Measured regret with its band, the bound, and the predicted slope."""
    estimates = [found.estimate for found in played]
    xs = tuple(map(float, x))
    measured = Curve(
        "played",
        "measured",
        xs,
        tuple(e.value for e in estimates),
        tuple(e.low for e in estimates),
        tuple(e.high for e in estimates),
    )
    return measured, Curve("bound", "bound", xs, tuple(bounds)), predicted(x, played[-1].worst, power)


def rival_curves(at: float, rivals: Mapping[str, Played]) -> list[Curve]:
    """One point for every rival that played."""
    return [Curve(name, "baseline", (float(at),), (found.worst,)) for name, found in rivals.items()]


def worst_exponent(x: Sequence[float], played: Sequence[Played]) -> Estimate:
    """The growth rate of the worst regret."""
    return fitted_exponent(x, [found.worst for found in played], [found.replicates for found in played])


def _row(
    x_label: str, x: float, found: Played, bound: float | None = None, certified: bool | None = None
) -> dict[str, Any]:
    estimate = found.estimate
    row: dict[str, Any] = {x_label: x, "regret": estimate.value, "low": estimate.low, "high": estimate.high}
    row["environment"] = found.hardest
    return row | ({} if bound is None else {"bound": bound, "certified": certified})
