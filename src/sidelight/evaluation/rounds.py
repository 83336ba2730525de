"""What every logged decision says about a target, one number each: the terms that estimates are means of.

With y in [0, 1] the revealed values, P the probability that an arm was to be seen, O_t what decision t revealed and
w(P) = 1/P, or less:

    weight   W_t = Σ_{i∈O_t} π_t(i) w(P_i)                                   E W_t = 1 where all of π can be seen
    IPS      X_t = Σ_{i∈O_t} π_t(i) w(P_i) y_i                               E X_t = ⟨π_t, y_t⟩
    DR       D_t = Σ_i π_t(i) m_t(i) + Σ_{i∈O_t} π_t(i) w(P_i) (y_i − m_t(i))     E D_t = ⟨π_t, y_t⟩

Expectations are over the draw of decision t given everything before it, for w = 1/P: arm i is among the revealed
ones with probability P_i, whichever arms reveal it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight._check import checked_number
from sidelight._types import Floats
from sidelight.errors import InvalidOption
from sidelight.evaluation.model import Model
from sidelight.evaluation.target import Target
from sidelight.log import Log


@dataclass(frozen=True)
class Weighting:
    """w(P) = 1/P, or something smaller that trades bias for variance: at most one of the three."""

    clip: float | None = None  # min(1/P, clip)
    shrinkage: float | None = None  # λ/P / (λ + 1/P²): Su et al. 2020
    ix: float | None = None  # 1/(P + γ), implicit exploration: Neu 2015

    def __post_init__(self) -> None:
        given = {name: value for name, value in vars(self).items() if value is not None}
        if len(given) > 1:
            raise InvalidOption(f"weights are changed in one way at a time, got {given}")
        for name, value in given.items():
            checked_number(name, value, above=0.0)
        if self.clip is not None and self.clip < 1:
            raise InvalidOption(f"clip must be at least 1, since 1/P is, got clip={self.clip}")

    @property
    def exact(self) -> bool:
        """Is it 1/P, so that nothing is biased?"""
        return self.clip is None and self.shrinkage is None and self.ix is None

    def __call__(self, seen: Floats) -> Floats:
        """w(P) ≤ 1/P for every P."""
        if self.clip is not None:
            return np.minimum(1 / seen, self.clip)
        if self.shrinkage is not None:
            return self.shrinkage * seen / (self.shrinkage * seen**2 + 1)
        return 1 / (seen + (self.ix or 0.0))

    def __str__(self) -> str:
        for name, value in vars(self).items():
            if value is not None:
                return f"{name} {value:g}"
        return "1/P"


@dataclass(frozen=True, eq=False)
class Terms:
    """Everything about one target that estimates and intervals need; values on the scale of [0, 1]."""

    weight: Floats  # (n,) W_t
    ips: Floats  # (n,) X_t
    dr: Floats  # (n,) D_t
    complement: Floats  # (n,) X_t of the values 1 − y
    played: Floats | None  # (n,) X_t of the played arms alone; None where not every decision shows its own
    mean: Floats  # (n_arms,) the target on average


def at_rows(log: Log, target: Target) -> tuple[Floats, Floats]:
    """π for every revealed row, and its mean over the decisions."""
    found, total, of_row = np.empty(log.n_rows), np.zeros(log.n_arms), log.round_of_row
    for first, last, block in target.blocks(log.n_arms):
        rows = slice(log.start[first], log.start[last])
        at = 0 if target.fixed is not None else of_row[rows] - first
        found[rows] = block[at, log.revealed[rows]]
        total += block.sum(axis=0) * ((last - first) / len(block))
    return found, total / log.n_rounds


def by_round(log: Log, rows: Floats) -> Floats:
    """(n,) sums over the rows of each decision."""
    return np.bincount(log.round_of_row, weights=rows, minlength=log.n_rounds).astype(np.float64)


def terms_of(log: Log, values: Floats, target: Target, model: Model, weighting: Weighting) -> Terms:
    """The terms of every decision; `values` are those of the log on the scale of [0, 1]."""
    chosen, mean = at_rows(log, target)
    weights = chosen * weighting(log.seen)
    weight, ips = by_round(log, weights), by_round(log, weights * values)
    dr = model.expected(target) + by_round(log, weights * (values - model.at_rows()))
    own = log.revealed == log.arm[log.round_of_row]
    played = None
    if own.sum() == log.n_rounds and not np.isnan(log.probability).any():
        alone = chosen[own] * weighting(log.probability) * values[own]
        played = alone
    return Terms(weight, ips, dr, np.maximum(weight - ips, 0.0), played, mean)
