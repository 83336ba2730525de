"""What every logged decision says about a target, one number each: the terms that estimates are means of.

With y in [0, 1] the revealed values, P the probability that an arm was to be seen, O_t what decision t revealed,
m_t(i) a model's guess of arm i's value in decision t, and w(P) = 1/P, or less:

    weight   W_t = Σ_{i∈O_t} π_t(i) w(P_i)                                   E W_t = 1 where all of π can be seen
    IPS      X_t = Σ_{i∈O_t} π_t(i) w(P_i) y_i                               E X_t = ⟨π_t, y_t⟩
    DR       D_t = Σ_i π_t(i) m_t(i) + Σ_{i∈O_t} π_t(i) w(P_i) (y_i − m_t(i))     E D_t = ⟨π_t, y_t⟩

Expectations are over the draw of decision t given everything before it, for w = 1/P: arm i is among the revealed
ones with probability P_i, whichever arms reveal it. DR is unbiased whatever the model says, as long as the model of
decision t does not know what that decision revealed. "past" looks at earlier decisions only, so this also holds where
the logging policy learns from the answers. "folds" looks at the other folds, which contain later decisions: unbiased
where the logging policy does not learn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sidelight._check import checked_number
from sidelight._types import Floats, Longs
from sidelight.errors import InvalidOption
from sidelight.evaluation.target import Target
from sidelight.log import Log

# -- models -------------------------------------------------------------------------------------------------


FOLDS = 5
PRIOR = 0.5
"""The first guess. It counts like one value in the mean of all arms, and that like one in the mean of each arm."""
Named = Literal["past", "folds"]
Looks = Literal["none", "earlier", "others"]


def model_of(log: Log, values: Floats, given: Any) -> Model:
    """The model of a name, or of values in the log's unit: one per arm, or one per decision and arm."""
    if isinstance(given, str) and given in ("past", "folds"):
        return Past(log, values) if given == "past" else Table.folds(log, values)
    try:
        table = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.shape not in ((log.n_arms,), (log.n_rounds, log.n_arms)):
        raise InvalidOption(
            f"model must be 'past', 'folds', or values of shape ({log.n_arms},) or ({log.n_rounds}, {log.n_arms}), "
            f"got {given!r:.100}"
        )
    unit = log.unit
    if not ((table >= unit.low) & (table <= unit.high)).all():
        raise InvalidOption(f"model values must be in [{unit.low:g}, {unit.high:g}], as those of the log")
    guesses = np.atleast_2d(unit.to_unit_interval(table))
    of_round = np.arange(log.n_rounds) if table.ndim == 2 else np.zeros(log.n_rounds, dtype=np.int64)
    return Table(log, guesses, of_round, "none")


class Table:
    """Guesses from a table: m_t = guesses[of_round[t]]."""

    def __init__(self, log: Log, guesses: Floats, of_round: Longs, looks_at: Looks) -> None:
        self.log, self.guesses, self.of_round, self.looks_at = log, guesses, of_round, looks_at

    @classmethod
    def folds(cls, log: Log, values: Floats) -> Table:
        """Means of every arm over the decisions of the other folds; decision t is of fold t mod `FOLDS`."""
        fold, shape = np.arange(log.n_rounds) % FOLDS, (FOLDS, log.n_arms)
        at = fold[log.round_of_row] * log.n_arms + log.revealed
        sums = np.bincount(at, weights=values, minlength=FOLDS * log.n_arms).reshape(shape)
        counts = np.bincount(at, minlength=FOLDS * log.n_arms).reshape(shape)
        sums, counts = sums.sum(axis=0) - sums, counts.sum(axis=0) - counts
        overall = _mean(PRIOR, sums.sum(axis=1), counts.sum(axis=1))
        return cls(log, _mean(overall[:, None], sums, counts), fold, "others")

    def at_rows(self) -> Floats:
        """(rows,) m for every revealed value."""
        guesses: Floats = self.guesses[self.of_round[self.log.round_of_row], self.log.revealed]
        return guesses

    def expected(self, target: Target) -> Floats:
        """(n,) Σ_i π_t(i) m_t(i)."""
        parts = [
            np.einsum("ti,ti->t", block, self.guesses[self.of_round[first:last]])
            for first, last, block in target.blocks(self.log.n_arms)
        ]
        return np.concatenate(parts)


class Past:
    """Means of every arm over the earlier decisions."""

    looks_at: Looks = "earlier"

    def __init__(self, log: Log, values: Floats) -> None:
        self.log, self.values = log, values
        totals = np.concatenate([[0.0], np.cumsum(values)])[log.start[:-1]]
        self.overall: Floats = _mean(PRIOR, totals, log.start[:-1])  # (n,) of all arms before each decision
        order = np.argsort(log.revealed, kind="stable")  # rows come in the order of decisions
        arms = log.revealed[order]
        heads = np.searchsorted(arms, arms)  # where the run of this arm begins
        running = np.concatenate([[0.0], np.cumsum(values[order])])
        self.sums, self.counts = np.empty(arms.size), np.empty(arms.size)  # of this row's arm before this row
        self.sums[order] = running[:-1] - running[heads]
        self.counts[order] = np.arange(arms.size) - heads

    def at_rows(self) -> Floats:
        """(rows,) m for every revealed value."""
        return _mean(self.overall[self.log.round_of_row], self.sums, self.counts)

    def expected(self, target: Target) -> Floats:
        """(n,) Σ_i π_t(i) m_t(i) = overall_t · Σ_i π_t(i)/(1 + counts) + Σ_i π_t(i) sums/(1 + counts)."""
        log, of_row = self.log, self.log.round_of_row
        if target.fixed is not None:  # both sums change only by what is revealed: O(rows), however many arms
            chosen = target.fixed[log.revealed]
            spread = chosen * (1 / (2 + self.counts) - 1 / (1 + self.counts))
            gained = chosen * ((self.sums + self.values) / (2 + self.counts) - self.sums / (1 + self.counts))
            lost, won = by_round(log, spread), by_round(log, gained)
            expected: Floats = self.overall * (1 + _before(lost)) + _before(won)
            return expected
        result, sums, counts = np.empty(log.n_rounds), np.zeros(log.n_arms), np.zeros(log.n_arms)
        for first, last, block in target.blocks(log.n_arms):
            rows = slice(log.start[first], log.start[last])
            at = of_row[rows] - first + 1, log.revealed[rows]
            added = np.zeros((2, last - first + 1, log.n_arms))
            added[0][at], added[1][at] = self.values[rows], 1.0
            added[:, 0] = sums, counts
            running = np.cumsum(added, axis=1)
            means = _mean(self.overall[first:last, None], running[0, :-1], running[1, :-1])
            result[first:last] = np.einsum("ti,ti->t", block, means)
            sums, counts = running[:, -1]
        return result


def _mean(guess: Any, sums: Any, counts: Any) -> Floats:
    """Of values that add up to `sums`, with a guess that counts like one more; in [0, 1]."""
    mean: Floats = np.clip((guess + sums) / (1 + counts), 0.0, 1.0)
    return mean


def _before(changes: Any) -> Floats:
    """(n,) the sum of all earlier changes."""
    return np.concatenate([[0.0], np.cumsum(changes)[:-1]])


Model = Table | Past
"""What a doubly robust estimate needs: m for every revealed row, Σ_i π_t(i) m_t(i), and what it was fitted to."""


# -- weights and terms --------------------------------------------------------------------------------------


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
    if target.fixed is not None:
        return target.fixed[log.revealed], target.fixed
    chosen, total, of_row = np.empty(log.n_rows), np.zeros(log.n_arms), log.round_of_row
    for first, last, block in target.blocks(log.n_arms):
        rows = slice(log.start[first], log.start[last])
        chosen[rows] = block[of_row[rows] - first, log.revealed[rows]]
        total += block.sum(axis=0)
    return chosen, total / log.n_rounds


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
        played = chosen[own] * weighting(log.probability) * values[own]
    return Terms(weight, ips, dr, np.maximum(weight - ips, 0.0), played, mean)
