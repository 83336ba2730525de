"""The flat realization: one simplex for all arms, no partition needed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from sidelight._types import Longs
from sidelight.analysis import Domination
from sidelight.partition import Partition
from sidelight.planning.bounds.bound import Bound
from sidelight.planning.covers import largest_revealed, loads
from sidelight.planning.minimised.flat_bound import Mixed
from sidelight.planning.minimised.interpolation import best_h
from sidelight.planning.minimised.minimised import least_bound, score_at
from sidelight.planning.tuning import Tuning, lazy_factor


@dataclass(frozen=True, eq=False)
class FlatCandidate:
    """Covered arms W play Tsallis-h, arms with self-loops −√x, other loop-less arms negative entropy.

    `domination` covers W from any arm. `name` says what became of loop-less strong arms: "covered" counts
    them into W, "shifted" leaves them to their own entropy.
    """

    name: str
    partition: Partition  # one block
    domination: Domination
    realization: str = "flat"

    @cached_property
    def covered(self) -> Longs:
        """W: the arms that exploration is owed to."""
        return np.asarray(self.domination.cover, dtype=np.int64)

    @cached_property
    def loops(self) -> Longs:
        """S: arms with a self-loop."""
        return np.flatnonzero(self.partition.graph.has_loop)

    @cached_property
    def loopless(self) -> Longs:
        """N: loop-less strong arms that are not covered."""
        free = ~self.partition.graph.has_loop
        free[self.covered] = False
        return np.flatnonzero(free)

    @cached_property
    def problem(self) -> Mixed:
        """All that the bound depends on."""
        n, n_cover = self.partition.graph.n_arms, self.covered.size
        delta = float(self.domination.value)
        h = float(
            best_h(np.array([float(n_cover)]), np.array([delta]), corners=False, played=np.array([float(n)]))[
                0
            ]
        )
        lazy = float(lazy_factor(n)) if h < 1 else 1.0
        return Mixed(n_cover, self.loops.size, self.loopless.size, delta, h, lazy)

    @property
    def choices(self) -> tuple[str, ...]:
        """How the block plays."""
        return (f"flat h={self.problem.h:.4g}",)

    def score(self, horizon: int) -> tuple[float, bool]:
        """Value of the bound at `horizon` and whether it is certified."""
        return score_at(self.problem, horizon)

    def bound(self, horizon: int) -> Bound:
        """The right-hand side of Theorem general regret at its smallest."""
        return least_bound(self.problem, horizon, f"Flat plan with strong arms ({self.name}), minimised at T")

    def tune(self, horizon: int) -> tuple[Tuning, dict[str, Any]]:
        """The tuning at `horizon` and its parameters by name."""
        T, p, problem = float(horizon), self.partition, self.problem
        levers, n, h = problem.levers(T), p.graph.n_arms, problem.h
        cover = np.zeros(n)
        cover[self.domination.arms] = self.domination.weights
        owed = np.zeros(n)
        owed[self.covered] = loads(p.graph, p.block_of, cover)[self.covered]
        power, rate, constant = np.zeros(n), np.zeros(n), np.zeros(n)
        power[self.covered], rate[self.covered] = (
            (1 / (1 - h), (1 - h) * levers.eta) if h < 1 else (0.0, levers.eta)
        )
        power[self.loops], rate[self.loops] = 2.0, 2 * levers.eta_loop
        rate[self.loopless] = levers.eta_loopless
        if h == 1:
            need = np.zeros(n)
            need[self.covered] = 1 / owed[self.covered]
            constant += levers.beta * cover * largest_revealed(p.graph, p.block_of, need)
            cover, owed = np.zeros(n), np.zeros(n)
        if self.loopless.size:
            others = np.setdiff1d(np.arange(n), self.loopless)
            constant[others] += levers.extra / others.size
        tuning = Tuning.one_block(
            power=power,
            rate=rate,
            constant=constant,
            spread=levers.beta if h < 1 else 0.0,
            cover=cover,
            load=owed,
        )
        gamma_bar = problem.gamma_bar(levers)
        parameters: dict[str, Any] = {"beta": levers.beta, "eta": levers.eta, "h": h, "delta": problem.delta}
        parameters |= {"eta_loop": levers.eta_loop} if self.loops.size else {}
        if self.loopless.size:
            parameters |= {"eta_loopless": levers.eta_loopless, "extra": levers.extra}
        closed = problem.closed_form(T)
        parameters |= {"closed_form": closed} if isfinite(closed) else {}
        return tuning, parameters | {"gamma_bar": gamma_bar, "rho": 1 / (1 - gamma_bar)}
