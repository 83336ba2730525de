"""The game's linear program: sequence form of the player, one row per loss matrix, both up to symmetry."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from sidelight._types import Floats, Longs
from sidelight.analysis.minimax.game import Game, words
from sidelight.analysis.minimax.symmetry import automorphism_generators, orbits
from sidelight.errors import SolverError

Method = Literal["highs-ds", "highs-ipm"]

REACHED = 1e-9
"""Weight below which a history counts as one that the player never reaches."""


class Size(NamedTuple):
    """How large a linear program is."""

    rows: int  # loss matrices, plus one balance per history
    columns: int  # history followed by an arm, plus the value
    nonzeros: int

    def __str__(self) -> str:
        return f"{self.rows:,} rows × {self.columns:,} columns, {self.nonzeros:,} non-zeros"


def estimated_size(game: Game) -> Size:
    """About how large the program will be: counts without symmetry, divided by the order of the group.

    Exact without automorphisms, but for losses and balances that fall on the same entry. With them, matrices
    and histories that some automorphism leaves in place have smaller orbits: there are a few more of them.
    """
    _, order = automorphism_generators(game.reveals)
    n, kinds = game.n_arms, len(game.revealed_sets)
    states = sum(game.n_states(rounds) for rounds in range(game.horizon))
    paths = sum(kinds**rounds for rounds in range(game.horizon))
    losses = game.n_matrices * paths * n // 2  # half of the bits are ones
    return Size(
        -(-(game.n_matrices + states) // order),
        -(-states * n // order) + 1,
        -(-(losses + game.n_matrices + 2 * states * n) // order),
    )


@dataclass(frozen=True, eq=False)
class Program:
    """min v over x ≥ 0 with x(h, ·) summing to what reaches h, and regret(x, ℓ) ≤ v for every ℓ.

    x(h, a) is the product of the player's own probabilities along history h and arm a. Automorphisms of the
    graph permute histories and loss matrices; averaging an optimal x over them keeps it optimal, so one column
    per orbit of (h, a) and one row per orbit of ℓ are enough.
    """

    game: Game

    @cached_property
    def generators(self) -> list[Longs]:
        """Automorphisms of the graph that generate all of them."""
        return automorphism_generators(self.game.reveals)[0]

    @cached_property
    def matrix_orbits(self) -> tuple[Longs, Longs]:
        """(orbit of each loss matrix, one matrix of each orbit)."""
        game = self.game
        moved = [words(game.moved_digits(arms), game.horizon) for arms in self.generators]
        return orbits(moved, game.n_matrices)

    @cached_property
    def state_orbits(self) -> list[tuple[Longs, Longs]]:
        """For each round, (orbit of each history, one history of each orbit)."""
        symbols = [self.game.moved_symbols(arms) for arms in self.generators]
        return [
            orbits([words(each, rounds) for each in symbols], self.game.n_states(rounds))
            for rounds in range(self.game.horizon)
        ]

    @cached_property
    def columns(self) -> list[Longs]:
        """For each round, (states, N) the column of history followed by arm."""
        game, found, start = self.game, [], 0
        for rounds in range(game.horizon):
            moved = [
                (words(game.moved_symbols(arms), rounds)[:, None] * game.n_arms + arms).ravel()
                for arms in self.generators
            ]
            label, members = orbits(moved, game.n_states(rounds) * game.n_arms)
            found.append(start + label.reshape(-1, game.n_arms))
            start += len(members)
        return found

    @cached_property
    def n_sequences(self) -> int:
        """How many columns there are without the value's."""
        return int(self.columns[-1].max()) + 1

    @cached_property
    def regret_rows(self) -> sparse.csr_array:
        """(orbits of loss matrices, columns + 1) expected loss − v; at most the best arm's total."""
        _, matrices = self.matrix_orbits
        every = np.arange(len(matrices))
        rows, columns = [every], [np.full(len(matrices), self.n_sequences)]
        values = [np.full(len(matrices), -1.0)]
        for table, (digit, states) in zip(self.columns, self.game.histories(matrices), strict=True):
            for arm in range(self.game.n_arms):
                pays = np.flatnonzero(self.game.bits[digit, arm])
                found = table[states[:, pays], arm].ravel()
                rows.append(np.tile(pays, len(states)))
                columns.append(found)
                values.append(np.ones(len(found)))
        return self._sparse(rows, columns, values, len(matrices))

    @cached_property
    def balance_rows(self) -> sparse.csr_array:
        """(orbits of histories, columns + 1) weight that leaves a history − weight that enters it."""
        game = self.game
        kind_of_symbol = np.empty(game.n_symbols, dtype=np.int64)
        for c in range(len(game.revealed_sets)):
            kind_of_symbol[game.symbol[c]] = c
        rows, columns, values, start = [], [], [], 0
        for rounds, (_, members) in enumerate(self.state_orbits):
            here = start + np.arange(len(members))
            for arm in range(game.n_arms):
                rows.append(here)
                columns.append(self.columns[rounds][members, arm])
                values.append(np.ones(len(members)))
                if rounds:
                    before, symbol = np.divmod(members, game.n_symbols)
                    enters = np.flatnonzero(kind_of_symbol[symbol] == game.kind[arm])
                    rows.append(here[enters])
                    columns.append(self.columns[rounds - 1][before[enters], arm])
                    values.append(np.full(len(enters), -1.0))
            start += len(members)
        return self._sparse(rows, columns, values, start)

    def _sparse(
        self, rows: list[Longs], columns: list[Longs], values: list[Floats], n_rows: int
    ) -> sparse.csr_array:
        where = np.concatenate(rows), np.concatenate(columns)
        return sparse.coo_array((np.concatenate(values), where), shape=(n_rows, self.n_sequences + 1)).tocsr()

    @property
    def size(self) -> Size:
        """Of the program as built."""
        regret, balance = self.regret_rows, self.balance_rows
        return Size(regret.shape[0] + balance.shape[0], self.n_sequences + 1, regret.nnz + balance.nnz)

    def solved(self, method: Method) -> tuple[list[Floats], Floats]:
        """(player's probabilities by round and history, adversary's probability of every loss matrix)."""
        from scipy.optimize import linprog  # slow to import, and plans do without

        objective = np.zeros(self.n_sequences + 1)
        objective[-1] = 1.0
        label, matrices = self.matrix_orbits
        total = np.zeros(self.balance_rows.shape[0])
        total[0] = 1.0
        regret: Any = self.regret_rows
        balance: Any = self.balance_rows
        found = linprog(
            objective,
            A_ub=regret,
            b_ub=self.game.best_totals(matrices),
            A_eq=balance,
            b_eq=total,
            bounds=[(0.0, None)] * self.n_sequences + [(None, None)],
            method=method,
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if found.x is None:
            raise SolverError(f"HiGHS did not solve the game of {self.size}: {found.message}")
        mixture = np.maximum(-np.asarray(found.ineqlin.marginals), 0.0) / np.bincount(label)
        return [_conditional(found.x[table]) for table in self.columns], mixture[label] / mixture[label].sum()


def _conditional(weights: Floats) -> Floats:
    """Probabilities given each history; uniform at histories that the player's own choices never reach."""
    weights = np.maximum(weights, 0.0)
    reached = weights.sum(axis=1, keepdims=True)
    table = np.full(weights.shape, 1.0 / weights.shape[1])
    np.divide(weights, reached, out=table, where=reached > REACHED)
    return table
