"""Weakly observable graphs without a horizon: rates and exploration follow the round, and so does the bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import cbrt, ceil, sqrt
from typing import Any

import numpy as np

from sidelight.analysis import Domination
from sidelight.errors import InvalidOption
from sidelight.partition import Partition, natural
from sidelight.planning.bounds.bound import Bound, Condition, ShownCurve, bound_at
from sidelight.planning.exploration import Cover, Solved
from sidelight.planning.minimised.flat import flat_tuning
from sidelight.planning.minimised.interpolated import one_best_h
from sidelight.planning.minimised.price import price
from sidelight.planning.plan import Details, Plan
from sidelight.planning.potentials import diameter, height
from sidelight.planning.schedule import STRETCH, Schedule
from sidelight.planning.tuning import MOST_EXPLORATION, lazy_factor

THEOREM = "Anytime flat plan"


@dataclass(frozen=True, repr=False)
class AnytimeBound(ShownCurve):
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


def covering_plans(solved: Solved) -> list[Plan]:
    """All arms covered, or those without self-loop, if there are both kinds."""
    g = solved.graph
    loopless = np.flatnonzero(~g.has_loop)
    sets = [np.arange(g.n_arms)] + ([loopless] if 0 < loopless.size < g.n_arms else [])
    return [_covering(natural.single(g), solved.cover(arms)) for arms in sets]


def _covering(partition: Partition, domination: Domination) -> Plan:
    """One simplex: covered arms W with η_t ∝ t^{−2/3} and β_t ∝ t^{−1/3}, self-loop arms S with η_t ∝ t^{−1/2}.

        R_t ≤ t^{2/3}·(D/η₁ + (3/2)r·max(η₁/(2β₁), β₁κδ^h)) + t^{1/2}·(√n_S/η_S + 4ρr'·η_S√n_S)

    with r = (17/16)^{1/3} and r' = (17/16)^{1/2}, the price of rates that change by epochs, and D the diameter of W
    alone, its height beside S. Minimised, the first bracket is (243/32)^{1/3}·r^{2/3}·(κDδ^h)^{1/3}, that is 1.966
    and epochs.
    `domination` covers W from any arm; all others have self-loops. Proof: docs/theory/anytime.md.
    """
    n, n_cover, delta = partition.graph.n_arms, len(domination.cover), float(domination.value)
    root, r, r_half = sqrt(n - n_cover), cbrt(1 + STRETCH), sqrt(1 + STRETCH)
    h = one_best_h(n_cover, delta, corners=n == n_cover, played=n)
    D = float((diameter if n == n_cover else height)(h, n_cover))
    cost = float(lazy_factor(n) if h < 1 else 1.0) * delta**h
    eta, eta_loop = cbrt(32 * D * D / (9 * r * r * cost)), sqrt(1 / (8 * r_half))
    beta = sqrt(eta / (2 * cost))
    start = max(ceil((beta * cost / MOST_EXPLORATION) ** 3), 1)  # exploration falls below ½ here
    weak = D / eta + 1.5 * r * price(eta / (2 * beta), beta * cost)
    bound = AnytimeBound(weak, root / eta_loop + 8 * r_half * eta_loop * root, start)

    now = float(start)  # until then everything stays as it is there
    beta, eta, eta_loop = beta / cbrt(now), eta / cbrt(now * now), eta_loop / sqrt(now)
    exponents = np.full(n, -1 / 2)
    exponents[domination.cover] = -2 / 3
    schedule = Schedule(exponents, -1 / 3, start)
    tuning = flat_tuning(partition, Cover.of(domination, n), h, beta, (eta, eta_loop, 0.0), schedule=schedule)
    parameters: dict[str, Any] = {"h": h, "start": start, "beta": beta, "eta": eta, "delta": delta}
    parameters |= {"eta_loop": eta_loop} if n > n_cover else {}
    details = Details(partition.graph, (f"flat h={h:.4g}",))
    return Plan(partition.graph, partition, None, "flat", parameters, bound, tuning, details)
