"""Models of the values for doubly robust estimates: m_t(i), a guess of arm i's value in decision t, in [0, 1].

An estimate is unbiased whatever the model says, as long as the model of decision t does not know what that decision
revealed. "past" looks at earlier decisions only, so this also holds where the logging policy learns from the answers.
"folds" looks at the other folds, which contain later decisions: unbiased where the logging policy does not learn.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol

import numpy as np

from sidelight._types import Floats, Longs
from sidelight.errors import InvalidOption
from sidelight.evaluation.target import Target
from sidelight.log import Log

FOLDS = 5
PRIOR = 0.5
"""What is guessed of an arm that nothing is known about; it counts like one observation."""
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
        self.means: Floats = (PRIOR + sums.sum(axis=0) - sums) / (1 + counts.sum(axis=0) - counts)

    def at_rows(self) -> Floats:
        """(rows,) m for every revealed value."""
        found: Floats = self.means[self.fold[self.log.round_of_row], self.log.revealed]
        return found

    def expected(self, target: Target) -> Floats:
        """(n,) Σ_i π_t(i) m_t(i)."""
        found = np.empty(self.log.n_rounds)
        for first, last, block in target.blocks(self.log.n_arms):
            by_fold = block @ self.means.T  # (1 or t, folds)
            found[first:last] = np.broadcast_to(by_fold, (last - first, FOLDS))[
                np.arange(last - first), self.fold[first:last]
            ]
        return found


class Past:
    """Means of every arm over the earlier decisions."""

    looks_at: Looks = "earlier"

    def __init__(self, log: Log, values: Floats) -> None:
        self.log, self.values = log, values
        order = np.argsort(log.revealed, kind="stable")  # rows come in the order of decisions
        arms, sorted_values = log.revealed[order], values[order]
        heads: Longs = np.searchsorted(arms, arms)  # where the run of this arm begins
        totals = np.concatenate([[0.0], np.cumsum(sorted_values)])
        sums = totals[:-1] - totals[heads]
        counts = np.arange(arms.size) - heads
        before, after = np.empty(arms.size), np.empty(arms.size)
        before[order] = np.clip((PRIOR + sums) / (1 + counts), 0, 1)
        after[order] = np.clip((PRIOR + sums + sorted_values) / (2 + counts), 0, 1)
        self.before: Floats = before
        self.after: Floats = after

    def at_rows(self) -> Floats:
        """(rows,) m for every revealed value."""
        return self.before

    def expected(self, target: Target) -> Floats:
        """(n,) Σ_i π_t(i) m_t(i)."""
        log, of_row = self.log, self.log.round_of_row
        if target.fixed is not None:  # changes only by what is revealed: O(rows), whatever the number of arms
            change = target.fixed[log.revealed] * (self.after - self.before)
            gained = np.bincount(of_row, weights=change, minlength=log.n_rounds)
            return PRIOR + np.concatenate([[0.0], np.cumsum(gained)[:-1]])
        found, means = np.empty(log.n_rounds), np.full(log.n_arms, PRIOR)
        for first, last, block in target.blocks(log.n_arms):
            rows = slice(log.start[first], log.start[last])
            change = np.zeros((last - first + 1, log.n_arms))
            change[of_row[rows] - first + 1, log.revealed[rows]] = self.after[rows] - self.before[rows]
            running = means + np.cumsum(change, axis=0)
            found[first:last] = np.einsum("ti,ti->t", block, running[:-1])
            means = running[-1]
        return found
