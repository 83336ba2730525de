"""What a realization of the paper is: how the weakly observable blocks play inside, as functions of the horizon."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from sidelight._types import Floats
from sidelight.planning.potentials import Potential


class BlockTuning(NamedTuple):
    """How each weak block plays inside; arrays run over the weak blocks."""

    potential: Potential
    steps: Floats  # the paper's η_k
    covering: Floats  # γ(k, j) = covering_k · x*_j
    adaptive: Floats  # γ(k, j) = adaptive_k · Σ_{i : parent(i) = j} √X_k(i)
    parameters: dict[str, float]  # the paper's names and values


@dataclass(frozen=True, eq=False)
class Restriction(ABC):
    """The restriction instances: inner potentials and the global exploration that feeds them.

    `terms(T)` bounds the restriction regret of the worst block and the cost of `most(T)` for T rounds.
    Laws: total exploration is between `least(T)` and `most(T)` whatever the inner distributions, and
    `most` falls with T.
    """

    sizes: Floats  # (m2,) n_k
    deltas: Floats  # (m2,) δ_k

    name: ClassVar[str]

    @abstractmethod
    def theorem(self, case: int) -> str:
        """The theorem that proves the bound, and the case of it."""

    @abstractmethod
    def most(self, T: float) -> float:
        """Largest total global exploration of the weak blocks."""

    @abstractmethod
    def least(self, T: float) -> float:
        """Smallest total global exploration of the weak blocks."""

    @abstractmethod
    def terms(self, T: float) -> dict[str, float]:
        """Restriction regret and cost of global exploration."""

    @abstractmethod
    def blocks(self, T: float) -> BlockTuning:
        """Tuning of every weak block."""

    @cached_property
    def delta_bar(self) -> float:
        """δ̄ = Σ δ_k."""
        return float(np.sum(self.deltas))


class NoWeakBlocks(Restriction):
    """U2 = ∅: nothing is restricted, and the top level plays alone, whatever the realization."""

    name = "clustered"

    def __init__(self) -> None:
        super().__init__(np.zeros(0), np.zeros(0))

    def theorem(self, case: int) -> str:
        """Theorem realized-upper-bound covers strongly observable graphs."""
        return f"Theorem realized-upper-bound, case {case}"

    def most(self, T: float) -> float:
        """0."""
        return 0.0

    least = most

    def terms(self, T: float) -> dict[str, float]:
        """None."""
        return {}

    def blocks(self, T: float) -> BlockTuning:
        """None."""
        none = np.zeros(0)
        return BlockTuning(Potential(none, none), none, none, none, {})
