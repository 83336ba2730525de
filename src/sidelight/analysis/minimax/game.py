"""The T-round game on a small graph: loss matrices and histories as numbers.

Arms with the same out-neighbourhood teach the player the same, so a history matters only through *what was
revealed*: one symbol per round, naming the revealed set and the bits in it. With K symbols, the histories of
t rounds are the numbers 0..K^t − 1, first round first; loss matrices are the numbers 0..2^{NT} − 1 in base
2^N, first round first, where bit i of a digit is the loss of arm i.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sidelight._types import Bools, Longs


@dataclass(frozen=True, eq=False)
class Game:
    """N arms, T rounds, binary losses; reveals[i, j] says that playing i shows the loss of j."""

    reveals: Bools  # (N, N)
    horizon: int

    @property
    def n_arms(self) -> int:
        """N."""
        return len(self.reveals)

    @property
    def n_matrices(self) -> int:
        """2^{NT}, how many loss matrices the adversary can choose from."""
        return 1 << (self.n_arms * self.horizon)

    @cached_property
    def revealed_sets(self) -> Bools:
        """(C, N) the different out-neighbourhoods."""
        return np.unique(self.reveals, axis=0)

    @cached_property
    def kind(self) -> Longs:
        """(N,) which of the `revealed_sets` each arm reveals."""
        return np.unique(self.reveals, axis=0, return_inverse=True)[1].ravel()

    @cached_property
    def bits(self) -> npt.NDArray[np.int8]:
        """(2^N, N) the losses that each digit stands for."""
        return (np.arange(1 << self.n_arms)[:, None] >> np.arange(self.n_arms) & 1).astype(np.int8)

    @cached_property
    def symbol(self) -> Longs:
        """(C, 2^N) the symbol that revealing set c shows when the losses are this digit."""
        table = np.empty((len(self.revealed_sets), 1 << self.n_arms), dtype=np.int64)
        start = 0
        for c, revealed in enumerate(self.revealed_sets):
            seen = self.bits @ (revealed.astype(np.int64) << np.arange(self.n_arms))
            values, rank = np.unique(seen, return_inverse=True)
            table[c] = start + rank
            start += len(values)
        return table

    @property
    def n_symbols(self) -> int:
        """K = Σ_c 2^{size of revealed set c}."""
        return int((1 << self.revealed_sets.sum(axis=1)).sum())

    def n_states(self, rounds: int) -> int:
        """How many histories of this many rounds the player can tell apart."""
        return int(self.n_symbols**rounds)

    def digits(self, matrices: Longs) -> Longs:
        """(T, len(matrices)) the losses of each round as one digit."""
        rounds = np.arange(self.horizon - 1, -1, -1)
        return matrices[None, :] >> (rounds[:, None] * self.n_arms) & ((1 << self.n_arms) - 1)

    def best_totals(self, matrices: Longs) -> Longs:
        """min_i Σ_t ℓ_t(i) of each loss matrix."""
        totals = self.bits[self.digits(matrices)].sum(axis=0, dtype=np.int64)
        best: Longs = totals.min(axis=1)
        return best

    def histories(self, matrices: Longs) -> Iterator[tuple[Longs, Longs]]:
        """For each round: (digit of each matrix, (C^t, len(matrices)) states reached under each matrix)."""
        states = np.zeros((1, len(matrices)), dtype=np.int64)
        for digit in self.digits(matrices):
            yield digit, states
            states = (states[:, None, :] * self.n_symbols + self.symbol[None, :, digit]).reshape(
                -1, len(matrices)
            )

    # -- symmetries -----------------------------------------------------------------------------------

    def moved_digits(self, arms: Longs) -> Longs:
        """The digit that each digit becomes when arm i is renamed arms[i]."""
        return self.bits @ (np.int64(1) << arms)

    def moved_symbols(self, arms: Longs) -> Longs:
        """The symbol that each symbol becomes when arm i is renamed arms[i], an automorphism."""
        moved = np.empty(self.n_symbols, dtype=np.int64)
        digits = self.moved_digits(arms)
        for arm, image in enumerate(arms):
            moved[self.symbol[self.kind[arm]]] = self.symbol[self.kind[image], digits]
        return moved


def words(letters: Longs, length: int) -> Longs:
    """A permutation of the alphabet, letter by letter, as a permutation of all words of this length."""
    moved = np.zeros(1, dtype=np.int64)
    for _ in range(length):
        moved = (moved[:, None] * len(letters) + letters[None, :]).ravel()
    return moved
