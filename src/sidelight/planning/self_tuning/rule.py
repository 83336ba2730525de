"""The numbers of a self-tuning plan, with all theory taken out: what the engine reads beside a flat tuning."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.engine.self_tuning import prices
from sidelight.errors import InvalidOption

if TYPE_CHECKING:
    from sidelight._types import Floats

MOST = 1e100
"""Numbers of a rule are below this, so that sums and products of a few stay finite."""


@dataclass(frozen=True)
class SelfTuning:
    """One simplex with entropy H of order s and temperature β, which a share of all costs raises from β_1 on.

    A round at β costs at most `round_cost(β)`, whatever was learnt, if it explores with `safe_strength(β)`:

        cost(β) = min(1,  strong/(β − lean·weak),  max_{0 ≤ z ≤ 1} p(1 − z) + beside·z^{1−s}/(β(1 − min(p, ½)))),
        p = √(weak/(2β)) for β ≥ 2·weak, weak/β below.

    The first is for strongly observable graphs (∞ elsewhere), the other for any. With a `horizon` the certificate
    never exceeds `budget`. Proofs: docs/theory/self-tuning.md.
    """

    # Names of fields are those of saved files. In the words of the lemmas: `weak` is G, what exploring through the
    # cover costs (Lemma 2), `beside` the term of the arms that it does not cover, `strong` and `lean` are z and k,
    # the cost and the coefficient of exploration on strongly observable graphs (Lemma 4).
    order: float  # s in (0, 1]
    share: float  # c: β is never below β_1 + c·(all costs)/D, but for the factor 1 + θ
    diameter: float  # D, the largest H
    first: float  # β_1 ≥ c/D
    weak: float  # κδ^s: no g adds up to more
    beside: float = 0.0  # ½Q^s for the arms outside the cover, all with self-loops, in Q cliques
    strong: float = inf
    lean: float = 0.0  # strength of exploration is lean/β where `strong` is the smallest
    patience: float = 0.01  # θ
    play_share: float = 0.25  # c' ≤ c: how much of every cost raises the temperature beyond that
    horizon: int = 0  # 0: any number of rounds
    budget: float = inf

    def __post_init__(self) -> None:
        # Rules come from files too: what the kernels divide by must be positive, and products of a few stay finite.
        most = {"order": 1.0, "share": 1.0, "play_share": self.share, "patience": 1.0}
        for name in (*most, "diameter", "first", "weak", "beside", "lean"):
            value, top = getattr(self, name), most.get(name, MOST)
            if not 0 <= value <= top or (value == 0 and name not in ("beside", "lean")):
                raise InvalidOption(f"{name} of a self-tuning plan is in (0, {top:g}], got {value!r}")
        # With β_1 ≥ c/D no raise of the temperature has to more than double it, on which Theorem 2 relies.
        laws = {
            f"a cover of one arm or more has weak ≥ 1, got {self.weak!r}": self.weak > 1 - 1e-6,
            f"strong = {self.strong!r} must be at least lean·weak = {self.lean * self.weak!r}": (
                self.lean * self.weak <= self.strong and self.strong != 0
            ),
            f"a budget goes with a horizon, and only with one, got {self.budget!r} for {self.horizon!r} rounds": (
                self.horizon >= 0 and (self.horizon == 0) == (self.budget == inf) and self.budget > 0
            ),
            f"first = {self.first!r} is below share/diameter: steps of β would more than double it": (
                self.first * self.diameter >= self.share * (1 - 1e-9)
            ),
        }
        for law, holds in laws.items():
            if not holds:
                raise InvalidOption(law)

    @property
    def costs(self) -> tuple[float, float, float, float, float]:
        """What `prices` asks for."""
        return self.order, self.weak, self.beside, self.strong, self.lean

    def round_cost(self, beta: float) -> float:
        """What a round at β costs at most."""
        return prices.price(beta, *self.costs)

    def safe_strength(self, beta: float) -> float:
        """The strength of exploration with which it does."""
        return prices.safe_strength(beta, *self.costs)

    @property
    def first_strength(self) -> float:
        """Lemma 2's strength at β_1: the flat tuning around this rule explores with it."""
        # The arrays of a tuning hold what round 1 plays; the engine scales them by the strength in use.
        return prices.weak_strength(self.first, self.weak)

    def cost_to_go(self, beta: float, rounds: float) -> tuple[float, float]:
        """What so many rounds from β on cost at most, and the β at which they are played then."""
        return prices.cost_to_go(beta, rounds, self.diameter, *self.costs, beta)

    def to_array(self) -> Floats:
        """All numbers in the order of the fields."""
        # This is an array of saved files, and what the engine copies: the order of the fields is their format.
        return np.array([getattr(self, name) for name in OWN], dtype=np.float64)

    @classmethod
    def from_array(cls, numbers: Floats) -> SelfTuning:
        """The rule that `to_array` wrote."""
        if numbers.shape != (len(OWN),):
            raise InvalidOption(f"a self-tuning rule is {len(OWN)} numbers, got {numbers.shape}")
        values: dict[str, Any] = dict(zip(OWN, numbers.tolist(), strict=True))
        if not isfinite(values["horizon"]) or values["horizon"] != int(values["horizon"]):
            raise InvalidOption(f"a horizon is a whole number of rounds, got {values['horizon']!r}")
        return cls(**values | {"horizon": int(values["horizon"])})


OWN = tuple(field.name for field in fields(SelfTuning))
"""Its numbers in the order in which they are saved."""
