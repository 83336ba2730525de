"""A partition played with interpolated blocks and weighted projection, its parameters minimised at the actual T."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite, sqrt
from typing import Any

import numpy as np

from sidelight._types import Floats
from sidelight.partition import Partition
from sidelight.planning.bounds.bound import Bound
from sidelight.planning.candidate import WeakBlocks
from sidelight.planning.covers import largest_revealed, loads
from sidelight.planning.minimised.interpolated import Interpolated
from sidelight.planning.minimised.minimised import least_bound, score_at
from sidelight.planning.minimised.two_level import Levers, TwoLevel
from sidelight.planning.pruning import parents
from sidelight.planning.tuning import Tuning


@dataclass(frozen=True, eq=False)
class TightCandidate:
    """Every weak block interpolated, the top level weighted by δ_k; conditions hold at every horizon."""

    weak: WeakBlocks
    inner: Interpolated
    realization: str = "interpolated"

    @property
    def name(self) -> str:
        """Name of the partition."""
        return self.weak.name

    @property
    def partition(self) -> Partition:
        """The blocks that are played."""
        return self.weak.partition

    @property
    def choices(self) -> tuple[str, ...]:
        """How each weak block plays."""
        return self.inner.choices

    @cached_property
    def problem(self) -> TwoLevel:
        """All that the bound depends on."""
        p, deltas = self.partition, self.weak.deltas
        least = float(deltas.min()) if deltas.size else 0.0
        return TwoLevel(
            n_loop=p.strong_loop.size,
            n_loopless=p.strong_loopless.size,
            deltas=(float(deltas.sum()), float((1 / deltas).sum()), least, float((deltas**2).sum())),
            n_weak=p.weak.size,
            demand=self.inner.demand,
            supply=self.inner.supply,
        )

    def score(self, horizon: int) -> tuple[float, bool]:
        """Value of the bound at `horizon` and whether it is certified."""
        return score_at(self.problem, horizon)

    def bound(self, horizon: int) -> Bound:
        """The right-hand side of Theorem general regret at its smallest."""
        return least_bound(
            self.problem, horizon, "Theorem general regret with interpolated blocks, minimised at T"
        )

    def tune(self, horizon: int) -> tuple[Tuning, dict[str, Any]]:
        """The tuning at `horizon` and its parameters by name."""
        T, p, problem = float(horizon), self.partition, self.problem
        levers = problem.levers(T)
        gamma_bar = problem.gamma_bar(levers)
        steps = self.inner.steps(levers.b, T)
        top_power, top_rate = self._top(T, levers, gamma_bar)
        spread, cover, load, constant, adaptive = self._exploration(levers)
        power, rate = self._inner(steps)
        tuning = Tuning(
            block_start=np.concatenate([[0], np.cumsum(p.sizes)]),
            block_arms=np.concatenate(p.blocks),
            top_power=top_power,
            top_rate=top_rate,
            inner_power=power,
            inner_rate=rate,
            global_exploration=constant,
            local_exploration=self._per_arm(levers.alpha / self.weak.deltas) * self._weights,
            adaptive=adaptive,
            parent=parents(p, p.weak[self.inner.pruned]),
            spread=spread,
            cover=cover,
            load=load,
        )
        parameters: dict[str, Any] = {"alpha": levers.alpha} | ({"b": levers.b} if p.weak.size else {})
        if p.weak.size and not problem.alone:
            parameters |= {"eta_top": (top_rate[p.weak] / 2).tolist(), "weighted": levers.weighted}
        if p.strong_loop.size and not problem.alone:
            parameters["eta_loop"] = float(top_rate[p.strong_loop[0]] / 2)
        if p.strong_loopless.size:
            parameters |= {"eta_loopless": levers.eta_loopless, "extra": levers.extra}
        closed = problem.closed_form(T)
        parameters |= {"closed_form": closed} if isfinite(closed) else {}
        parameters |= {"gamma_bar": gamma_bar, "rho": 1 / (1 - gamma_bar)}
        parameters |= {"h_blocks": self.inner.h.tolist(), "eta_blocks": steps.tolist()}
        return tuning, parameters | {"delta_blocks": self.weak.deltas.tolist()}

    # -- arrays -----------------------------------------------------------------------------------------

    @cached_property
    def _weights(self) -> Floats:
        """(n,) x* of the weak blocks, 0 on singletons."""
        weights = np.zeros(self.partition.graph.n_arms)
        if self.weak.dominations:
            arms = np.concatenate([found.arms for found in self.weak.dominations])
            weights[arms] = np.concatenate([found.weights for found in self.weak.dominations])
        return weights

    def _per_block(self, values: Floats) -> Floats:
        spread = np.zeros(self.partition.n_blocks)
        spread[self.partition.weak] = values
        return spread

    def _per_arm(self, values: Floats) -> Floats:
        return self._per_block(values)[self.partition.block_of]

    def _inner(self, steps: Floats) -> tuple[Floats, Floats]:
        """Potential of every arm inside its block: (1/(1−h), (1−h)η_k), or (0, η_k) at h = 1."""
        gap = 1 - self.inner.h
        entropy = gap == 0
        power = np.where(entropy, 0.0, 1 / np.where(entropy, 1.0, gap))
        return self._per_arm(power), self._per_arm(np.where(entropy, 1.0, gap) * steps)

    def _top(self, T: float, levers: Levers, gamma_bar: float) -> tuple[Floats, Floats]:
        p = self.partition
        power, rate = np.full(p.n_blocks, 2.0), np.ones(p.n_blocks)
        if not self.problem.alone:
            unit = sqrt(2 * T / (1 - gamma_bar))
            if p.weak.size:
                weights = self.weak.deltas if levers.weighted else self.problem.weights(levers)[2]
                rate[p.weak] = 2 / (levers.scale * unit) * np.sqrt(levers.alpha / weights)
            if p.strong_loop.size:
                rate[p.strong_loop] = 2 / (levers.scale_loop * unit)
            power[p.strong_loopless] = 0.0
            rate[p.strong_loopless] = levers.eta_loopless
        return power, rate

    def _exploration(self, levers: Levers) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Spread, cover, load, constant part and adaptive coefficients."""
        p, inner = self.partition, self.inner
        beta = levers.b * inner.diameters
        covered = loads(p.graph, p.block_of, self._weights)
        constant_blocks = self._per_arm(np.where(inner.h == 1, beta, 0.0))
        need = np.zeros(len(covered))
        fixed = constant_blocks > 0
        need[fixed] = 1 / covered[fixed]
        constant = constant_blocks * self._weights * largest_revealed(p.graph, p.block_of, need)
        constant += self._for_loopless(levers)
        spreading = (inner.h < 1) & ~inner.pruned
        has_spread = self._per_arm(spreading.astype(np.float64)) > 0
        return (
            self._per_block(np.where(spreading, beta, 0.0)),
            np.where(has_spread, self._weights, 0.0),
            np.where(has_spread, covered, 0.0),
            constant,
            self._per_block(np.where(inner.pruned, beta, 0.0)),
        )

    def _for_loopless(self, levers: Levers) -> Floats:
        """Exploration that every loop-less singleton sees: outside of them, if there is an outside."""
        p = self.partition
        if p.weak.size:
            return levers.extra * self._weights / float(self.weak.deltas.sum())
        carriers = p.strong_loop if p.strong_loop.size else p.strong_loopless
        shares = np.zeros(p.n_blocks)
        shares[carriers] = self.problem.paid(levers) / carriers.size
        return shares[p.block_of]
