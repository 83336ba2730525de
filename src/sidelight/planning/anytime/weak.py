"""Plans that do not know their horizon: rates and exploration follow the round, and so does the bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import cbrt, ceil, sqrt
from typing import Any

import numpy as np

from sidelight._types import Longs
from sidelight.analysis import Domination
from sidelight.errors import InvalidOption
from sidelight.partition import Partition
from sidelight.planning.bounds.bound import Bound, Condition, bound_at
from sidelight.planning.covers import largest_revealed, loads
from sidelight.planning.minimised.interpolation import best_h, diameter, height
from sidelight.planning.schedule import STRETCH, Schedule
from sidelight.planning.tuning import MOST_EXPLORATION, Tuning, lazy_factor

THEOREM = "Anytime flat plan"


@dataclass(frozen=True)
class AnytimeBound:
    """Regret after t rounds is at most weak·t^{2/3} + strong·t^{1/2} for every t ≥ start, at the same time.

    >>> AnytimeBound(3.0, 0.0, 8).at(1000).value
    300.0
    """

    weak: float  # coefficient of t^{2/3}
    strong: float  # coefficient of t^{1/2}
    start: int

    @property
    def constant(self) -> float:
        """Coefficient of the leading power of t."""
        return self.weak or self.strong

    @property
    def exponent(self) -> float:
        """The leading power of t: 2/3, or 1/2 without weakly observable arms."""
        return 2 / 3 if self.weak else 1 / 2

    @property
    def valid_from(self) -> int:
        """It holds from `start` on, whatever the number of rounds."""
        return self.start

    def at(self, t: int) -> Bound:
        """The bound after t rounds."""
        return bound_at(t, THEOREM, self._terms, lambda T: (Condition("start ≤ t", float(self.start), T),))

    def value_at(self, t: int) -> float:
        """The bound after t rounds as a number."""
        return sum(self._terms(float(t)).values())

    def _terms(self, T: float) -> dict[str, float]:
        named = {"weakly observable arms": self.weak * cbrt(T * T), "self-loop arms": self.strong * sqrt(T)}
        return {name: value for name, value in named.items() if value > 0} or {"one arm": 0.0}

    def summary(self) -> str:
        """The bound as a formula."""
        parts = [f"{self.weak:.6g}·t^(2/3)"] if self.weak else []
        parts += [f"{self.strong:.6g}·t^(1/2)"] if self.strong or not parts else []
        return f"regret after t rounds ≤ {' + '.join(parts)}   for every t ≥ {self.start:,} ({THEOREM})"

    def __str__(self) -> str:
        return self.summary()

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON."""
        return {"anytime": {"weak": self.weak, "strong": self.strong, "start": self.start}}

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> AnytimeBound:
        """The bound that `to_dict` wrote."""
        try:
            found = saved["anytime"]
            return cls(float(found["weak"]), float(found["strong"]), int(found["start"]))
        except (KeyError, TypeError) as error:
            raise InvalidOption(f"not a saved anytime bound: {error!r}") from None


@dataclass(frozen=True, eq=False)
class AnytimeCandidate:
    """One simplex: covered arms W with η_t ∝ t^{−2/3} and β_t ∝ t^{−1/3}, self-loop arms with η_t ∝ t^{−1/2}.

        R_t ≤ t^{2/3}·(D/η₁ + (3/2)r·(η₁/(2β₁) + β₁κδ^h)) + t^{1/2}·(√n_S/η_S + 4ρr'·η_S√n_S)

    with r = (17/16)^{1/3} and r' = (17/16)^{1/2}, the price of rates that change by epochs. Minimised, the first
    bracket is (9/2)·3^{−1/3}·r^{2/3}·(κDδ^h)^{1/3}. Proof: docs/theory/anytime.md.
    """

    name: str
    partition: Partition  # one block
    domination: Domination  # of W from any arm
    realization: str = "flat"

    @cached_property
    def covered(self) -> Longs:
        """W: the arms that exploration is owed to."""
        return np.asarray(self.domination.cover, dtype=np.int64)

    @cached_property
    def loops(self) -> Longs:
        """S: the other arms; all of them have self-loops."""
        return np.setdiff1d(np.arange(self.partition.graph.n_arms), self.covered)

    @cached_property
    def h(self) -> float:
        """The h of the covered arms."""
        n, cover = float(self.partition.graph.n_arms), float(self.covered.size)
        delta = np.array([self.domination.value])
        found = best_h(np.array([cover]), delta, corners=self.loops.size == 0, played=np.array([n]))
        return float(found[0])

    @cached_property
    def _size(self) -> float:
        """D: the diameter of W alone, the height of W beside self-loop arms."""
        size = height if self.loops.size else diameter
        return float(size(self.h, float(self.covered.size)))

    @cached_property
    def _cost(self) -> float:
        """κδ^h."""
        lazy = float(lazy_factor(self.partition.graph.n_arms)) if self.h < 1 else 1.0
        return float(lazy * self.domination.value**self.h)

    @cached_property
    def rates(self) -> tuple[float, float, float]:
        """Coefficients of β_t = β·t^{−1/3}, η_t = η·t^{−2/3} and η_S,t = η_S·t^{−1/2}."""
        r, r_half = cbrt(1 + STRETCH), sqrt(1 + STRETCH)
        beta = cbrt(self._size / (3 * r * self._cost**2))
        eta = sqrt(4 * self._size * beta / (3 * r))
        return beta, eta, sqrt(1 / (8 * r_half))

    @cached_property
    def bound(self) -> AnytimeBound:
        """The bound as a function of the round."""
        r, r_half = cbrt(1 + STRETCH), sqrt(1 + STRETCH)
        beta, eta, eta_loop = self.rates
        weak = self._size / eta + 1.5 * r * (eta / (2 * beta) + beta * self._cost)
        root = sqrt(self.loops.size)
        return AnytimeBound(weak, root / eta_loop + 8 * r_half * eta_loop * root, self.start)

    @cached_property
    def start(self) -> int:
        """Exploration falls below ½ here; until then everything stays as it is here."""
        return max(ceil((self.rates[0] * self._cost / MOST_EXPLORATION) ** 3), 1)

    @property
    def choices(self) -> tuple[str, ...]:
        """How the block plays."""
        return (f"flat h={self.h:.4g}",)

    def tune(self) -> tuple[Tuning, dict[str, Any]]:
        """The tuning in round 1, with its schedule, and the coefficients by name."""
        p, n, h = self.partition, self.partition.graph.n_arms, self.h
        beta, eta, eta_loop = self.rates
        now = float(self.start)
        beta, eta, eta_loop = beta / cbrt(now), eta / cbrt(now * now), eta_loop / sqrt(now)
        cover, owed, constant = np.zeros(n), np.zeros(n), np.zeros(n)
        power, rate, exponent = np.full(n, 2.0), np.full(n, 2 * eta_loop), np.full(n, -1 / 2)
        cover[self.domination.arms] = self.domination.weights
        owed[self.covered] = loads(p.graph, p.block_of, cover)[self.covered]
        power[self.covered], rate[self.covered] = (1 / (1 - h), (1 - h) * eta) if h < 1 else (0.0, eta)
        exponent[self.covered] = -2 / 3
        if h == 1:
            need = np.zeros(n)
            need[self.covered] = 1 / owed[self.covered]
            constant = beta * cover * largest_revealed(p.graph, p.block_of, need)
            cover, owed = np.zeros(n), np.zeros(n)
        tuning = Tuning.one_block(
            power=power,
            rate=rate,
            constant=constant,
            spread=beta if h < 1 else 0.0,
            cover=cover,
            load=owed,
            schedule=Schedule(exponent, -1 / 3, self.start),
        )
        parameters: dict[str, Any] = {"h": h, "start": self.start, "beta": beta, "eta": eta}
        parameters["delta"] = float(self.domination.value)
        return tuning, parameters | ({"eta_loop": eta_loop} if self.loops.size else {})
