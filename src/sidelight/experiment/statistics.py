"""What a few seeds can tell: bands of a mean, growth exponents, and policies compared on the same losses.

Every interval here covers the mean over *seeds*. None says anything about other graphs or environments.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sidelight._types import Floats
from sidelight.errors import InvalidOption
from sidelight.experiment.results import Cell

LEVEL = 0.95
"""Coverage of every interval unless told otherwise."""
DECADES = 2.0
"""A growth exponent is fitted to the last two decades of rounds."""
RESAMPLES = 2000
"""Bootstrap samples of seeds behind the interval of an exponent."""
LEAST_SEEDS = 8
"""Below, that interval is withheld: it covers far less often than it says."""
BEND = 0.1
"""Exponents of the two halves of a curve that differ by more, beyond the noise of the seeds, are not one exponent."""


@dataclass(frozen=True, eq=False)
class Band:
    """A mean and its confidence interval, point by point; NaN limits where a single seed gives none."""

    mean: Floats  # (C,)
    low: Floats  # (C,)
    high: Floats  # (C,)
    level: float


@dataclass(frozen=True)
class GrowthExponent:
    """Mean regret grows like t^value between rounds `first` and `last`, unless it bends there.

    `low` and `high` are the percentile bootstrap over seeds, NaN below `LEAST_SEEDS` seeds, where it would be much
    too narrow. `early` and `late` are the exponents of the first and of the second half of those rounds, on the
    log axis. Where they differ by more than `BEND`, and by more than the seeds explain, the curve `bends`: it is no
    power of t, and `value` describes none of it.
    """

    value: float
    low: float
    high: float
    early: float
    late: float
    bends: bool
    first: int
    last: int
    n_seeds: int
    level: float

    def of(self, variable: str) -> str:
        """In short, `variable` being what regret grows with: "t^0.50 [0.48, 0.53]", or "bends 0.91→0.42"."""
        if self.bends:
            halves = ("≤ 0" if np.isnan(slope) else f"{slope:z.2f}" for slope in (self.early, self.late))
            return f"bends {'→'.join(halves)}"
        interval = "" if np.isnan(self.low) else f" [{self.low:.2f}, {self.high:.2f}]"
        return f"{variable}^{self.value:z.2f}{interval}"


@dataclass(frozen=True)
class PairedDifference:
    """Mean of (first − second) over seeds on which both met the same losses, with its t interval."""

    mean: float
    low: float
    high: float
    n_seeds: int
    wins: int  # seeds on which the first lost less
    level: float

    @property
    def decided(self) -> bool:
        """Is zero outside the interval? Never for a single seed."""
        return bool(self.low > 0 or self.high < 0)


def mean_band(values: npt.ArrayLike, level: float = LEVEL) -> Band:
    """Mean over the rows of `values` (S, C) with Student's t interval of that mean.

    mean ± t_{S−1, (1+level)/2} · s/√S, with s the standard deviation of the rows (S − 1 in its denominator).

    >>> band = mean_band([[1.0], [3.0]], level=0.5)
    >>> float(band.mean[0]), float(band.high[0])  # t_{1, ¾} = 1 and s/√2 = 1
    (2.0, 3.0)
    """
    table = _table(values)
    mean: Floats = table.mean(axis=0)
    half = _half_width(table, level)
    return Band(mean, mean - half, mean + half, level)


def growth_exponent(
    rounds: npt.ArrayLike,
    regret: npt.ArrayLike,
    *,
    decades: float = DECADES,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> GrowthExponent | None:
    """Slope of log(mean regret) against log(round) over the last `decades`, with a bootstrap over seeds.

    Weighted least squares; a checkpoint weighs as much of the log axis as it stands for, so that the answer
    does not depend on how densely curves were recorded. The same arguments give the same interval; below
    `LEAST_SEEDS` seeds there is none. None where there is nothing to fit: the mean ends at or below zero, or is
    positive at fewer than three checkpoints.

    The two halves are fitted as well. With `LEAST_SEEDS` seeds or more, they must differ by more than `BEND` *and*
    zero must lie outside the bootstrap interval of their difference for the curve to bend; with fewer, or where a
    half has too few positive means for a slope, nothing shows that it is straight.

    >>> t = np.geomspace(1, 10**6, 61)
    >>> growth_exponent(t, [3 * t**0.5, 5 * t**0.5]).of("t")
    't^0.50'
    >>> growth_exponent(t, [3 * t**0.5, 5 * t**0.5] * 4).of("t")
    't^0.50 [0.50, 0.50]'
    >>> growth_exponent(t, [np.minimum(t, 10**5)] * 4).of("t")
    'bends 1.00→0.00'
    """
    _check_level(level)
    table, t = _table(regret), np.asarray(rounds, dtype=np.float64)
    if t.shape != table.shape[1:] or (np.diff(t) <= 0).any() or (t <= 0).any():
        raise InvalidOption(f"{table.shape[1]} columns of regret need as many increasing rounds, got {t!r}")
    if not decades > 0:
        raise InvalidOption(f"decades must be positive, got {decades}")
    late_rounds = t >= t[-1] / 10**decades * (1 - 1e-12)
    t, table = t[late_rounds], table[:, late_rounds]
    mean = table.mean(axis=0)
    if mean[-1] <= 0 or (mean > 0).sum() < 3:
        return None
    x = np.log(t)
    weights = np.gradient(x)
    middle = (x[0] + x[-1]) / 2
    halves = x <= middle + 1e-9, x >= middle - 1e-9  # a checkpoint in the middle belongs to both

    def fits(curves: Floats) -> tuple[Floats, Floats, Floats]:
        early, late = (_slopes(x[half], curves[:, half], weights[half]) for half in halves)
        return _slopes(x, curves, weights), early, late

    value, early, late = (float(slopes[0]) for slopes in fits(mean[None, :]))
    low = high = float("nan")
    bends = not abs(late - early) <= BEND  # NaN: a half without a slope
    if len(table) >= LEAST_SEEDS:
        slopes, first, second = fits(resampled_means(table, resamples, np.random.default_rng(seed)))
        low, high = _interval(slopes, level)
        least, most = _interval(second - first, level)
        bends = bends and not least <= 0 <= most
    return GrowthExponent(value, low, high, early, late, bends, int(t[0]), int(t[-1]), len(table), level)


def _interval(samples: Floats, level: float) -> tuple[float, float]:
    """Percentiles of bootstrap samples; NaN where too many samples of seeds have no positive mean to fit."""
    if np.isfinite(samples).mean() < level:
        return float("nan"), float("nan")
    low, high = np.nanquantile(samples, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def resampled_means(table: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """(resamples, ...) means over the first axis of bootstrap samples of `table`: the seeds, drawn again."""
    n = len(table)
    draws = rng.integers(n, size=(resamples, n)) + n * np.arange(resamples)[:, None]
    counts = np.bincount(draws.ravel(), minlength=n * resamples).reshape(resamples, n)
    means: Floats = counts @ table / n
    return means


def paired_difference(first: npt.ArrayLike, second: npt.ArrayLike, level: float = LEVEL) -> PairedDifference:
    """Compare two policies seed by seed: entry s of both is one number from the same losses.

    The losses' own luck cancels in first − second, so the t interval of the mean difference is usually much
    narrower than the two intervals of the means would suggest.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape or a.size == 0:
        raise InvalidOption(
            f"paired values must be two equally long rows, got shapes {a.shape} and {b.shape}"
        )
    band = mean_band((a - b)[:, None], level)
    mean, low, high = float(band.mean[0]), float(band.low[0]), float(band.high[0])
    return PairedDifference(mean, low, high, a.size, int((a < b).sum()), level)


def compare_cells(first: Cell, second: Cell, level: float = LEVEL) -> PairedDifference:
    """Paired difference of the final regret of two cells, over the seeds that both have."""
    for name in ("graph", "environment", "horizon"):
        if getattr(first, name) != getattr(second, name):
            raise InvalidOption(
                f"cells are paired only where they met the same losses; {name} is "
                f"{getattr(first, name)!r} for {first.id} and {getattr(second, name)!r} for {second.id}"
            )
    shared, at, to = np.intersect1d(first.seeds, second.seeds, return_indices=True)
    if shared.size == 0:
        raise InvalidOption(f"{first.id} and {second.id} have no seed in common")
    return paired_difference(first.regret[at, -1], second.regret[to, -1], level)


def _table(values: npt.ArrayLike) -> Floats:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.size == 0:
        raise InvalidOption(
            f"expected a row for each seed and a column for each checkpoint, got shape {table.shape}"
        )
    if not np.isfinite(table).all():
        raise InvalidOption("values must be finite; an interrupted run has NaN: resume it first")
    return table


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise InvalidOption(f"level must be between 0 and 1, got {level}")


def _half_width(table: Floats, level: float) -> Floats:
    from scipy.special import stdtrit  # the quantile alone: scipy.stats takes half a second to import

    _check_level(level)
    n = len(table)
    if n < 2:
        return np.full(table.shape[1], np.nan)
    half: Floats = float(stdtrit(n - 1, (1 + level) / 2)) * table.std(axis=0, ddof=1) / np.sqrt(n)
    return half


def _slopes(x: Floats, curves: Floats, weights: Floats) -> Floats:
    """Weighted least-squares slope of log(curve) on x for each row; points at or below zero weigh nothing."""
    positive = curves > 0
    w = np.where(positive, weights, 0.0)
    y = np.log(np.where(positive, curves, 1.0))
    total = np.maximum(w.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    dx = x - (w * x).sum(axis=1, keepdims=True) / total
    spread = (w * dx * dx).sum(axis=1)
    enough = positive.sum(axis=1) >= 2
    slopes: Floats = np.full(len(curves), np.nan)
    np.divide((w * dx * y).sum(axis=1), spread, out=slopes, where=enough)
    return slopes
