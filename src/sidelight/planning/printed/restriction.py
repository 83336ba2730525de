"""What a realization is: how the weakly observable blocks play inside, as functions of the horizon."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from sidelight._types import Floats
from sidelight.planning.potentials import Potential, Rate


class BlockTuning(NamedTuple):
    """How each weak block plays inside; arrays run over the weak blocks."""

    power: Floats
    rate: Floats  # (power, rate) of the potential, see `Tuning`
    steps: Floats  # the paper's η_k
    covering: Floats  # γ(k, j) = covering_k · x*_j
    adaptive: Floats  # γ(k, j) = adaptive_k · Σ_{i : parent(i) = j} √X_k(i)
    parameters: dict[str, float]  # the paper's names and values


class Restriction(Protocol):
    """The restriction instances: inner potentials and the global exploration that feeds them.

    `terms(T)` bounds the restriction regret of the worst block and the cost of `most(T)` for T rounds.
    Laws: total exploration is between `least(T)` and `most(T)` whatever the inner distributions, and
    `most` falls with T.
    """

    @property
    def name(self) -> str:
        """Name of the realization."""
        ...

    def theorem(self, case: int) -> str:
        """The theorem that proves the bound, and the case of it."""
        ...

    def most(self, T: float) -> float:
        """Largest total global exploration of the weak blocks."""
        ...

    def least(self, T: float) -> float:
        """Smallest total global exploration of the weak blocks."""
        ...

    def terms(self, T: float) -> dict[str, float]:
        """Restriction regret and cost of global exploration."""
        ...

    def blocks(self, T: float) -> BlockTuning:
        """Tuning of every weak block."""
        ...


class NoWeakBlocks:
    """U2 = ∅: nothing is restricted, and the top level plays alone."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def name(self) -> str:
        """The realization that was asked for; without weak blocks they all agree."""
        return self._name

    def theorem(self, case: int) -> str:
        """Theorem realized-upper-bound covers strongly observable graphs."""
        return f"Theorem realized-upper-bound, case {case}"

    def most(self, T: float) -> float:
        """0."""
        return 0.0

    def least(self, T: float) -> float:
        """0."""
        return 0.0

    def terms(self, T: float) -> dict[str, float]:
        """None."""
        return {}

    def blocks(self, T: float) -> BlockTuning:
        """None."""
        none = np.zeros(0)
        return BlockTuning(none, none, none, none, none, {})


def kernel_form(potential: Potential, n_blocks: int) -> tuple[Floats, Floats]:
    """(power, rate) of a potential with one rate per block, as arrays over the blocks."""
    rate: Rate = potential.kernel_rate
    return np.full(n_blocks, potential.power), np.broadcast_to(rate, (n_blocks,)).astype(np.float64)
