"""Growth rates: slopes on log-log axes, exact for formulas, with bootstrap intervals for played regret."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sidelight._types import Floats
from sidelight.experiment.claims.claim import Estimate

REPLICATES = 2_000
LEVEL = 0.99
"""Intervals cover this share of the bootstrap: claims are many, so each has to be surer than 95 %."""


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Least-squares slope of log y against log x: the exponent of y ~ x^slope.

    >>> round(slope([1, 10, 100], [5, 50, 500]), 6)
    1.0
    """
    logs = np.log(np.asarray(x, dtype=np.float64))
    centred = logs - logs.mean()
    return float(centred @ np.log(np.asarray(y, dtype=np.float64)) / (centred @ centred))


def resampled_means(regret: Floats, rng: np.random.Generator) -> Floats:
    """(REPLICATES,) means of bootstrap samples of the seeds."""
    draws = rng.integers(regret.size, size=(REPLICATES, regret.size))
    means: Floats = regret[draws].mean(axis=1)
    return means


def resampled_worst(regrets: Sequence[Floats], rng: np.random.Generator) -> Floats:
    """(REPLICATES,) worst mean over environments, each resampled on its own."""
    worst: Floats = np.stack([resampled_means(regret, rng) for regret in regrets]).max(axis=0)
    return worst


def interval(value: float, replicates: Floats) -> Estimate:
    """The value with the percentile interval of its replicates."""
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(replicates, [tail, 1 - tail])
    return Estimate(value, min(float(low), value), max(float(high), value))


def fitted_exponent(x: Sequence[float], values: Sequence[float], replicates: Sequence[Floats]) -> Estimate:
    """Slope of log values against log x; replicates[i] are those of values[i].

    NaN, hence inconclusive, where a mean is not positive: regret near zero has no growth rate.
    """
    table = np.stack(replicates, axis=1)  # (REPLICATES, points)
    if min(values) <= 0 or table.min() <= 0:
        return Estimate(float("nan"), float("nan"), float("nan"))
    logs = np.log(np.asarray(x, dtype=np.float64))
    centred = logs - logs.mean()
    return interval(slope(x, values), np.log(table) @ centred / (centred @ centred))
