"""One partition with one realization: its bound at any horizon, and its tuning once it is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from sidelight._types import Floats
from sidelight.analysis import Domination
from sidelight.partition import Partition
from sidelight.planning.bounds.bound import Bound, Condition, bound_at
from sidelight.planning.potentials import NegativeEntropy, Tsallis
from sidelight.planning.printed.projection import Projection
from sidelight.planning.printed.restriction import BlockTuning, Restriction
from sidelight.planning.pruning import parents
from sidelight.planning.tuning import MOST_EXPLORATION, Tuning


@dataclass(frozen=True, eq=False)
class WeakBlocks:
    """A partition with the dominations of its weak blocks, in the order of `partition.weak`."""

    name: str  # of the partition
    partition: Partition
    dominations: Sequence[Domination]

    @cached_property
    def sizes(self) -> Floats:
        """(m2,) n_k."""
        return self.partition.sizes[self.partition.weak].astype(np.float64)

    @cached_property
    def deltas(self) -> Floats:
        """(m2,) δ_k: the mass of the covers in use, optimal or not."""
        return np.array([found.value for found in self.dominations])


class Way(Protocol):
    """A way to play one partition: everything about it is a function of the horizon."""

    @property
    def name(self) -> str:
        """Name of the partition."""
        ...

    @property
    def realization(self) -> str:
        """Name of the realization."""
        ...

    @property
    def partition(self) -> Partition:
        """The blocks that are played."""
        ...

    @property
    def choices(self) -> tuple[str, ...]:
        """How each weak block plays, in words."""
        ...

    def score(self, horizon: int) -> tuple[float, bool]:
        """Value of the bound at `horizon` and whether it is certified: `bound` without its thresholds."""
        ...

    def bound(self, horizon: int) -> Bound:
        """The bound at `horizon`."""
        ...

    def tune(self, horizon: int) -> tuple[Tuning, dict[str, Any]]:
        """The tuning at `horizon` and its parameters by name."""
        ...


@dataclass(frozen=True, eq=False)
class Candidate:
    """A partition with one of the paper's realizations."""

    weak: WeakBlocks
    projection: Projection
    restriction: Restriction

    @classmethod
    def of(cls, weak: WeakBlocks, restriction: Restriction) -> Candidate:
        """The candidate, with the top level that its partition calls for."""
        p = weak.partition
        squares = float(np.sum(weak.deltas**2))
        return cls(
            weak, Projection(p.strong_loop.size, p.strong_loopless.size, p.weak.size, squares), restriction
        )

    @property
    def name(self) -> str:
        """Name of the partition."""
        return self.weak.name

    @property
    def realization(self) -> str:
        """Name of the realization."""
        return self.restriction.name

    @property
    def partition(self) -> Partition:
        """The blocks that are played."""
        return self.weak.partition

    @property
    def choices(self) -> tuple[str, ...]:
        """(m2,) "clustered" or "adaptive"."""
        adaptive = self.restriction.blocks(1.0).adaptive > 0
        return tuple("adaptive" if follows else "clustered" for follows in adaptive)

    def score(self, horizon: int) -> tuple[float, bool]:
        """Value of the bound at `horizon` and whether it is certified."""
        T = float(horizon)
        return sum(self._terms(T).values()), all(condition.holds for condition in self._conditions(T))

    def bound(self, horizon: int) -> Bound:
        """The theorem's bound at `horizon`: its value is the formula's, whether or not it is certified."""
        theorem = self.restriction.theorem(self.projection.case)
        return bound_at(horizon, theorem, self._terms, self._conditions)

    def _terms(self, T: float) -> dict[str, float]:
        return self.projection.terms(T) | self.restriction.terms(T)

    def _conditions(self, T: float) -> tuple[Condition, ...]:
        return self.projection.conditions(T, self.restriction.most(T), self.restriction.least(T))

    def tune(self, horizon: int) -> tuple[Tuning, dict[str, Any]]:
        """The tuning at `horizon` and its parameters by name.

        Below the thresholds of the theorem it is still a tuning: all global exploration is scaled by one
        factor down to γ̄ = ½, and α is cut at 1.
        """
        T, top, p = float(horizon), self.projection, self.weak.partition
        loop, loopless = top.loop_exploration(T), top.loopless_exploration(T)
        wanted = loop + loopless + self.restriction.most(T)
        scale = min(1.0, MOST_EXPLORATION / wanted) if wanted > 0 else 1.0
        inner = self.restriction.blocks(T)
        alpha = min(top.alpha(T), 1.0)
        rates = {
            "eta": top.eta(T, alpha),
            "eta_loop": top.eta_loop(T) if top.n_loop else 0.0,
            "eta_loopless": top.eta_loopless(T),
        }

        top_power, top_rate = self._top_potential(rates, T)
        constant, local = self._explorations(inner, alpha, loop, loopless)
        tuning = Tuning(
            block_start=np.concatenate([[0], np.cumsum(p.sizes)]),
            block_arms=np.concatenate(p.blocks),
            top_power=top_power,
            top_rate=top_rate,
            inner_power=self._per_block(inner.power)[p.block_of],
            inner_rate=self._per_block(inner.rate)[p.block_of],
            global_exploration=scale * constant,
            local_exploration=local,
            adaptive=scale * self._per_block(inner.adaptive),
            parent=parents(p, p.weak[inner.adaptive > 0]),
            spread=np.zeros(p.n_blocks),
            cover=np.zeros(p.graph.n_arms),
            load=np.zeros(p.graph.n_arms),
        )
        gamma_bar = min(wanted, MOST_EXPLORATION)
        parameters: dict[str, Any] = {"alpha": alpha} | inner.parameters
        parameters |= {name: rate for name, rate in rates.items() if rate > 0}
        parameters |= {"gamma_bar": gamma_bar, "rho": 1 / (1 - gamma_bar), "exploration_scale": scale}
        parameters |= {"eta_blocks": inner.steps.tolist(), "delta_blocks": self.weak.deltas.tolist()}
        return tuning, parameters

    def _top_potential(self, rates: dict[str, float], T: float) -> tuple[Floats, Floats]:
        """(power, rate) of every block's coordinate on the top simplex."""
        p = self.weak.partition
        power, rate = np.empty(p.n_blocks), np.empty(p.n_blocks)
        # One block alone is always played: any potential does, and only its positivity matters.
        eta = rates["eta"] if not self.projection.alone else self.projection.eta_loop(T)
        for blocks, potential in (
            (p.weak, Tsallis.root(eta) if p.weak.size else None),
            (p.strong_loop, Tsallis.root(rates["eta_loop"]) if p.strong_loop.size else None),
            (p.strong_loopless, NegativeEntropy(rates["eta_loopless"]) if p.strong_loopless.size else None),
        ):
            if potential is not None:
                power[blocks], rate[blocks] = potential.power, potential.kernel_rate
        return power, rate

    def _explorations(
        self, inner: BlockTuning, alpha: float, loop: float, loopless: float
    ) -> tuple[Floats, Floats]:
        """Constant global exploration and local exploration of every arm."""
        p = self.weak.partition
        by_block = np.zeros(p.n_blocks)  # singletons share their totals evenly
        by_block[p.strong_loop] = loop / max(p.strong_loop.size, 1)
        by_block[p.strong_loopless] = loopless / max(p.strong_loopless.size, 1)
        constant = by_block[p.block_of]
        local = np.zeros_like(constant)
        if self.weak.dominations:
            arms = np.concatenate([found.arms for found in self.weak.dominations])
            x = np.concatenate([found.weights for found in self.weak.dominations])
            sizes = p.sizes[p.weak]
            constant[arms] = np.repeat(inner.covering, sizes) * x
            local[arms] = alpha * x / np.repeat(self.weak.deltas, sizes)
        return constant, local

    def _per_block(self, values: Floats) -> Floats:
        """Values of the weak blocks, spread over all blocks; 0 for singletons."""
        spread = np.zeros(self.weak.partition.n_blocks)
        spread[self.weak.partition.weak] = values
        return spread
