"""The game's linear program: sequence form of the player, one row per loss matrix, both up to symmetry.

A set of arms is a number, bit i for arm i; so are the losses of a round, and a loss matrix is its rounds in base
2^N, first round first. Arms with the same out-neighbourhood teach the player the same, so a history matters only
through *what was revealed*: one pair (revealed set, losses in it) per round.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from sidelight._types import Bools, Floats, Longs
from sidelight.analysis.minimax.symmetry import automorphism_generators, orbits
from sidelight.errors import SolverError

Method = Literal["highs-ds", "highs-ipm"]
History = tuple[tuple[int, int], ...]

REACHED = 1e-9
"""Weight below which a history counts as one that the player never reaches."""


class Size(NamedTuple):
    """How large a linear program is."""

    rows: int  # loss matrices, plus one balance per history
    columns: int  # history followed by an arm, plus the value
    nonzeros: int

    def __str__(self) -> str:
        return f"{self.rows:,} rows × {self.columns:,} columns, {self.nonzeros:,} non-zeros"


class Program:
    """min v over x ≥ 0 with x(h, ·) summing to what reaches h, and regret(x, ℓ) ≤ v for every ℓ.

    x(h, a) is the product of the player's own probabilities along history h and arm a. Automorphisms of the
    graph permute histories and loss matrices; averaging an optimal x over them keeps it optimal, so one column
    per orbit of (h, a) and one row per orbit of ℓ are enough.
    """

    def __init__(self, reveals: Bools, horizon: int) -> None:
        self.n_arms, self.horizon = len(reveals), horizon
        self.automorphisms, self.order = automorphism_generators(reveals)
        self.reveals: list[int] = (reveals @ (1 << np.arange(self.n_arms))).tolist()
        self.columns: dict[tuple[History, int], int] = {}  # of every history followed by an arm
        self.n_columns = 1  # the first is the value's

    @property
    def estimated_size(self) -> Size:
        """About how large the program will be: counts without symmetry, divided by the order of the group.

        Exact without automorphisms, but for losses and balances that fall on the same entry. With them, matrices
        and histories that some automorphism leaves in place have smaller orbits: there are a few more of them.
        """
        n, kinds = self.n_arms, set(self.reveals)
        symbols = sum(1 << kind.bit_count() for kind in kinds)
        states = sum(symbols**rounds for rounds in range(self.horizon))
        paths = sum(len(kinds) ** rounds for rounds in range(self.horizon))
        matrices = 1 << (n * self.horizon)
        losses = matrices * paths * n // 2  # half of the bits are ones
        return Size(
            -(-(matrices + states) // self.order),
            -(-states * n // self.order) + 1,
            -(-(losses + matrices + 2 * states * n) // self.order),
        )

    @cached_property
    def moves(self) -> list[tuple[list[int], list[int]]]:
        """(image of every arm, image of every set of arms) for automorphisms that generate all of them."""
        sets = np.arange(1 << self.n_arms)[:, None] >> np.arange(self.n_arms) & 1
        return [(arms.tolist(), (sets @ (1 << arms)).tolist()) for arms in self.automorphisms]

    @cached_property
    def matrix_orbits(self) -> tuple[Longs, Longs]:
        """(orbit of each loss matrix, one matrix of each orbit)."""
        moved = []
        for _, sets in self.moves:
            words = np.zeros(1, dtype=np.int64)
            for _ in range(self.horizon):
                words = (words[:, None] * len(sets) + np.array(sets)).ravel()
            moved.append(words)
        return orbits(moved, 1 << (self.n_arms * self.horizon))

    def losses(self, matrices: Longs) -> Longs:
        """(len(matrices), T) the losses of each round."""
        rounds = np.arange(self.horizon - 1, -1, -1)
        return matrices[:, None] >> rounds * self.n_arms & ((1 << self.n_arms) - 1)

    def bits(self, matrices: Longs) -> Longs:
        """(len(matrices), T, N) the loss of each arm in each round."""
        return self.losses(matrices)[:, :, None] >> np.arange(self.n_arms) & 1

    def column(self, history: History, arm: int) -> int:
        """The column of this pair; at the first question, that of its whole orbit is fixed."""
        if (history, arm) not in self.columns:
            waiting = [(history, arm)]
            self.columns[history, arm] = self.n_columns
            while waiting:
                past, last = waiting.pop()
                for arms, sets in self.moves:
                    moved = tuple((sets[kind], sets[seen]) for kind, seen in past), arms[last]
                    if moved not in self.columns:
                        self.columns[moved] = self.n_columns
                        waiting.append(moved)
            self.n_columns += 1
        return self.columns[history, arm]

    @cached_property
    def rows(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """(expected loss − v by orbit of loss matrices, weight leaving − weight entering by orbit of histories).

        Every history that one of the matrices kept can produce is visited; each orbit has such a history.
        """
        losses = self.losses(self.matrix_orbits[1])
        every = np.arange(len(losses))
        regret = [(every, np.zeros_like(every), np.full(len(every), -1.0))]
        balance: dict[
            int, tuple[list[int], list[int]]
        ] = {}  # by the least of its columns: (leaving, entering)
        waiting: list[tuple[History, list[int], Longs]] = [((), [], every)]
        while waiting:
            history, entering, alive = waiting.pop()
            leaving = [self.column(history, arm) for arm in range(self.n_arms)]
            balance.setdefault(min(leaving), (leaving, entering))
            now = losses[alive, len(history)]
            for arm, column in enumerate(leaving):
                pays = alive[now >> arm & 1 == 1]
                regret.append((pays, np.full(len(pays), column), np.ones(len(pays))))
            if len(history) + 1 < self.horizon:
                for kind in set(self.reveals):
                    enters = [leaving[arm] for arm in range(self.n_arms) if self.reveals[arm] == kind]
                    shown = now & kind
                    for seen in np.unique(shown).tolist():
                        waiting.append(((*history, (kind, seen)), enters, alive[shown == seen]))
        flow = [
            (np.full(len(columns), row), np.array(columns), np.full(len(columns), sign))
            for row, both in enumerate(balance.values())
            for columns, sign in zip(both, (1.0, -1.0), strict=True)
            if columns
        ]
        return self._sparse(regret, len(losses)), self._sparse(flow, len(balance))

    def _sparse(self, entries: list[tuple[Longs, Longs, Floats]], n_rows: int) -> sparse.csr_array:
        rows, columns, values = (np.concatenate(part) for part in zip(*entries, strict=True))
        return sparse.coo_array((values, (rows, columns)), shape=(n_rows, self.n_columns)).tocsr()

    @property
    def size(self) -> Size:
        """Of the program as built."""
        regret, balance = self.rows
        return Size(regret.shape[0] + balance.shape[0], self.n_columns, regret.nnz + balance.nnz)

    def solved(self, method: Method) -> tuple[Mapping[History, Floats], Floats]:
        """(player's probabilities after each history, adversary's probability of every loss matrix)."""
        from scipy.optimize import linprog  # slow to import, and plans do without

        regret: Any
        balance: Any
        regret, balance = self.rows
        label, matrices = self.matrix_orbits
        found = linprog(
            np.eye(1, self.n_columns).ravel(),
            A_ub=regret,
            b_ub=self.bits(matrices).sum(axis=1).min(axis=1),
            A_eq=balance,
            b_eq=np.eye(1, balance.shape[0]).ravel(),  # the empty history comes first
            bounds=[(None, None)] + [(0.0, None)] * (self.n_columns - 1),
            method=method,
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if found.x is None:
            raise SolverError(f"HiGHS did not solve the game of {self.size}: {found.message}")
        mixture = np.maximum(-np.asarray(found.ineqlin.marginals), 0.0) / np.bincount(label)
        histories = list(dict.fromkeys(history for history, _ in self.columns))
        table = np.array([[self.columns[each, arm] for arm in range(self.n_arms)] for each in histories])
        return (
            dict(zip(histories, _conditional(found.x[table]), strict=True)),
            mixture[label] / mixture[label].sum(),
        )


def _conditional(weights: Floats) -> Floats:
    """Probabilities given each history; uniform at histories that the player's own choices never reach."""
    weights = np.maximum(weights, 0.0)
    reached = weights.sum(axis=1, keepdims=True)
    table = np.full(weights.shape, 1.0 / weights.shape[1])
    np.divide(weights, reached, out=table, where=reached > REACHED)
    table.flags.writeable = False
    return table
