"""Models of the values for doubly robust estimates: m_t(i), a guess of arm i's value in decision t, in [0, 1].

An estimate is unbiased whatever the model says, as long as the model of decision t does not know what that decision
revealed. "past" looks at earlier decisions only, so this also holds where the logging policy learns from the answers.
"folds" looks at the other folds, which contain later decisions: unbiased where the logging policy does not learn.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol

import numpy as np

from sidelight._types import Floats
from sidelight.errors import InvalidOption
from sidelight.evaluation.target import Target
from sidelight.log import Log

FOLDS = 5
PRIOR = 0.5
"""The first guess. It counts like one value in the mean of all arms, and that like one in the mean of each arm."""
Named = Literal["past", "folds"]
Looks = Literal["none", "earlier", "others"]


class Model(Protocol):
    """What a doubly robust estimate needs of a model."""

    looks_at: Looks  # which decisions of the log it was fitted to

    def at_rows(self) -> Floats:
        """(rows,) m for every revealed value."""

    def expected(self, target: Target) -> Floats:
        """(n,) Σ_i π_t(i) m_t(i) for every decision."""


def model_of(log: Log, values: Floats, given: Any) -> Model:
    """The model of a name, or of values in the log's unit: one per arm, or one per decision and arm."""
    if isinstance(given, str):
        if given == "past":
            return Past(log, values)
        if given == "folds":
            return Folds(log, values)
        raise InvalidOption(f"model must be 'past', 'folds' or an array of values, got {given!r}")
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
    return Given(log, np.broadcast_to(unit.to_unit_interval(table), (log.n_rounds, log.n_arms)))


class Given:
    """A table of the user's."""

    looks_at: Looks = "none"

    def __init__(self, log: Log, table: Floats) -> None:
        self.log, self.table = log, table

    def at_rows(self) -> Floats:
        """(rows,) m for every revealed value."""
        found: Floats = self.table[self.log.round_of_row, self.log.revealed]
        return found

    def expected(self, target: Target) -> Floats:
        """(n,) Σ_i π_t(i) m_t(i)."""
        found = np.empty(self.log.n_rounds)
        for first, last, block in target.blocks(self.log.n_arms):
            found[first:last] = np.einsum(
                "ti,ti->t", np.broadcast_to(block, (last - first, block.shape[1])), self.table[first:last]
            )
        return found


class Folds:
    """Means of every arm over the decisions of the other folds; decision t is of fold t mod `FOLDS`."""

    looks_at: Looks = "others"

    def __init__(self, log: Log, values: Floats) -> None:
        self.log, self.fold = log, np.arange(log.n_rounds) % FOLDS
        at = self.fold[log.round_of_row] * log.n_arms + log.revealed
        shape = FOLDS, log.n_arms
        sums = np.bincount(at, weights=values, minlength=FOLDS * log.n_arms).reshape(shape)
        counts = np.bincount(at, minlength=FOLDS * log.n_arms).reshape(shape)
        sums, counts = sums.sum(axis=0) - sums, counts.sum(axis=0) - counts
        overall = _mean(PRIOR, sums.sum(axis=1), counts.sum(axis=1))
        self.means: Floats = _mean(overall[:, None], sums, counts)

    def at_rows(self) -> Floats:
        """(rows,) m for every revealed value."""
        found: Floats = self.means[self.fold[self.log.round_of_row], self.log.revealed]
        return found

    def expected(self, target: Target) -> Floats:
        """(n,) Σ_i π_t(i) m_t(i)."""
        found = np.empty(self.log.n_rounds)
        for first, last, block in target.blocks(self.log.n_arms):
            by_fold = np.broadcast_to(block @ self.means.T, (last - first, FOLDS))
            found[first:last] = by_fold[np.arange(last - first), self.fold[first:last]]
        return found


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
            known = chosen * ((self.sums + self.values) / (2 + self.counts) - self.sums / (1 + self.counts))
            lost, won = (
                np.bincount(of_row, weights=each, minlength=log.n_rounds) for each in (spread, known)
            )
            expected: Floats = self.overall * (1 + _before(lost)) + _before(won)
            return expected
        found, sums, counts = np.empty(log.n_rounds), np.zeros(log.n_arms), np.zeros(log.n_arms)
        for first, last, block in target.blocks(log.n_arms):
            rows = slice(log.start[first], log.start[last])
            at = of_row[rows] - first + 1, log.revealed[rows]
            added = np.zeros((2, last - first + 1, log.n_arms))
            added[0][at], added[1][at] = self.values[rows], 1.0
            added[:, 0] = sums, counts
            running = np.cumsum(added, axis=1)
            means = _mean(self.overall[first:last, None], running[0, :-1], running[1, :-1])
            found[first:last] = np.einsum("ti,ti->t", block, means)
            sums, counts = running[:, -1]
        return found


def _mean(guess: Any, sums: Any, counts: Any) -> Floats:
    """Of values that add up to `sums`, with a guess that counts like one more; in [0, 1]."""
    mean: Floats = np.clip((guess + sums) / (1 + counts), 0.0, 1.0)
    return mean


def _before(changes: Any) -> Floats:
    """(n,) the sum of all earlier changes."""
    return np.concatenate([[0.0], np.cumsum(changes)[:-1]])
