"""The numbers of a self-tuning plan, with all theory taken out: what the engine reads beside a flat tuning."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.engine.self_tuning import prices
from sidelight.errors import InvalidOption

if TYPE_CHECKING:
    from sidelight._types import Floats

BASE = ("start", "base_order", "base_diameter", "base_weak", "base_beside", "base_strong", "base_lean")
"""What a rule has to know of the one it falls back on."""

OWN = (
    "order", "share", "diameter", "first", "weak", "beside", "strong", "lean", "patience", "play_share", "horizon",
    "budget",
)  # fmt: skip
"""What it has to know in any case."""

MOST = 1e100
"""Numbers of a rule are below this, so that sums and products of a few stay finite."""


@dataclass(frozen=True)
class SelfTuning:
    """One simplex with entropy H of order s and temperature β, which is bought from β_1 on with a share of all costs.

    A round at β costs at most `price(β)`, whatever was learnt, if it explores with `safe_strength(β)`:

        price(β) = min(1,  strong/(β − lean·weak),  max_{0 ≤ z ≤ 1} p(1 − z) + beside·z^{1−s}/(β(1 − min(p, ½)))),
        p = √(weak/(2β)) for β ≥ 2·weak, weak/β below.

    The first is for strongly observable graphs (∞ elsewhere), the other for any. With a `horizon` the certificate
    never exceeds `budget`. Proofs: docs/theory/self-tuning.md.
    """

    order: float  # s in (0, 1]
    share: float  # c: β is never below β_1 + c·(all costs)/D, but for the factor 1 + θ
    diameter: float  # D, the largest H
    first: float  # β_1 ≥ c/D
    weak: float  # κδ^s: no g adds up to more
    beside: float = 0.0  # ½Q^s for the arms outside the cover, all with self-loops, in Q cliques
    strong: float = inf
    lean: float = 0.0  # strength of exploration is lean/β where `strong` is the smallest
    patience: float = 0.01  # θ
    play_share: float = 0.25  # c' ≤ c: how much of every cost buys temperature beyond that
    horizon: int = 0  # 0: any number of rounds
    budget: float = inf
    start: float = 0.0  # the β of round 1, where there is something to fall back on: …
    base_order: float = 0.0  # … a rule of this order, 0 for none, with these numbers
    base_diameter: float = 0.0
    base_weak: float = 0.0
    base_beside: float = 0.0
    base_strong: float = inf
    base_lean: float = 0.0
    base_price: float = 0.0  # … or a plan with fixed rates whose rounds cost at most this, 0 for none, …
    falling: tuple[float, ...] = ()  # … and what falling back on it costs beside, by β (`prices.fallen_from`)

    def __post_init__(self) -> None:
        if not 0 < self.order <= 1:
            raise InvalidOption(f"a self-tuning plan has an order s in (0, 1], got s={self.order!r}")
        if not 0 < self.share <= 1:
            raise InvalidOption(
                f"a self-tuning plan spends a share c in (0, 1] of its costs, got c={self.share!r}"
            )
        if not 0 < self.play_share <= self.share:
            raise InvalidOption(f"play_share is in (0, share], got {self.play_share!r} of {self.share!r}")
        if not self.weak > 1 - 1e-6:
            raise InvalidOption(f"a cover of one arm or more has weak ≥ 1, got {self.weak!r}")
        for name in ("diameter", "first", "weak"):
            if not 0 < getattr(self, name) < MOST:
                raise InvalidOption(
                    f"{name} must be positive and below {MOST:g}, got {getattr(self, name)!r}"
                )
        for name in ("beside", "lean"):
            if not 0 <= getattr(self, name) < MOST:
                raise InvalidOption(f"{name} must be 0 or positive, got {getattr(self, name)!r}")
        if not self.lean * self.weak <= self.strong or self.strong == 0:
            raise InvalidOption(
                f"strong = {self.strong!r} must be at least lean·weak = {self.lean * self.weak!r}"
            )
        if not 0 < self.patience <= 1:
            raise InvalidOption(f"patience θ must be in (0, 1], got {self.patience!r}")
        if self.horizon < 0 or (self.horizon == 0) != (self.budget == inf) or not self.budget > 0:
            raise InvalidOption(
                f"a budget goes with a horizon, and only with one, got {self.budget!r} for {self.horizon!r} rounds"
            )
        if self.base_order != 0:
            self._check_base()
        if self.base_price != 0 or self.falling:
            self._check_fixed_base()
        if self.first * self.diameter < self.share * (1 - 1e-9):
            raise InvalidOption(f"first = {self.first!r} is below share/diameter: caps would bind")

    def _check_base(self) -> None:
        if not self.order < self.base_order <= 1 or self.horizon == 0:
            raise InvalidOption(
                f"a rule falls back on one of larger order at a horizon, got {self.base_order!r} after {self.order!r}"
            )
        for name in ("start", "base_diameter", "base_weak"):
            if not 0 < getattr(self, name) < MOST:
                raise InvalidOption(
                    f"{name} must be positive and below {MOST:g}, got {getattr(self, name)!r}"
                )
        if not (0 <= self.base_beside < MOST and 0 <= self.base_lean < MOST and self.base_strong > 0):
            raise InvalidOption(f"no prices of a base: {self.base!r}")

    def _check_fixed_base(self) -> None:
        if self.base_order != 0 or self.horizon == 0 or not 0 < self.start < MOST:
            raise InvalidOption(
                "a rule falls back on another or on fixed rates, at a horizon and from a start"
            )
        if not 0 < self.base_price <= 1:
            raise InvalidOption(
                f"a round of fixed rates costs more than 0 and at most 1, got {self.base_price!r}"
            )
        if len(self.falling) != prices.N_FALLING or not all(0 <= cost < MOST for cost in self.falling):
            raise InvalidOption(
                f"falling back is tabulated at {prices.N_FALLING} temperatures, 0 or positive"
            )
        if any(before < after for before, after in pairwise(self.falling)):
            raise InvalidOption("falling back costs less at a higher temperature")

    @property
    def based(self) -> bool:
        """Is there something to fall back on?"""
        return self.base_order > 0 or self.base_price > 0

    @property
    def costs(self) -> tuple[float, float, float, float, float]:
        """What `prices` asks for."""
        return self.order, self.weak, self.beside, self.strong, self.lean

    def price(self, beta: float) -> float:
        """What a round at β costs at most."""
        return prices.price(beta, *self.costs)

    def safe_strength(self, beta: float) -> float:
        """The strength of exploration with which it does."""
        return prices.safe_strength(beta, *self.costs)

    @property
    def first_strength(self) -> float:
        """Lemma 2's strength at β_1: the flat tuning around this rule explores with it."""
        return prices.weak_strength(self.first, self.weak)

    def cost_to_go(self, beta: float, rounds: float) -> tuple[float, float]:
        """What so many rounds from β on cost at most, and the β at which they are played then."""
        return prices.cost_to_go(beta, rounds, self.diameter, *self.costs, beta)

    @property
    def base(self) -> tuple[float, float, float, float, float, float]:
        """What `prices` asks for of the rule that this one falls back on; its order is 0 if there is none."""
        return (
            self.base_order,
            self.base_diameter,
            self.base_weak,
            self.base_beside,
            self.base_strong,
            self.base_lean,
        )

    def cost_to_fall(self, beta: float, rounds: float, arms: int, known: float = 0.0) -> tuple[float, float]:
        """What so many rounds cost at most if the base is fallen back on at β, and its temperature then, if any."""
        if self.base_price > 0:
            return prices.fallen_from(beta, self.start, self.falling, 0) + rounds * self.base_price, known
        return prices.cost_to_fall(beta, rounds, self.order, self.diameter, arms, *self.base, known)

    def reference(self, target: float) -> float:
        """What a round of the base costs at most, at temperature `target` if it has one."""
        return self.base_price or prices.price(target, self.base_order, *self.base[2:])

    def to_array(self) -> Floats:
        """All numbers in the order of the fields; those of the base only if there is one, of fixed rates likewise."""
        numbers = np.array([getattr(self, name) for name in (*OWN, *BASE)], dtype=np.float64)
        if self.base_price > 0:
            return np.concatenate([numbers, [self.base_price], self.falling])
        return numbers if self.base_order > 0 else numbers[: len(OWN)]

    @classmethod
    def from_array(cls, numbers: Floats) -> SelfTuning:
        """The rule that `to_array` wrote."""
        names, more = (*OWN, *BASE), 1 + prices.N_FALLING
        if numbers.shape not in ((len(OWN),), (len(names),), (len(names) + more,)):
            raise InvalidOption(f"a self-tuning rule is {len(names)} numbers, got {numbers.shape}")
        known: dict[str, Any] = dict(zip(names, numbers.tolist(), strict=False))
        if numbers.size > len(names):
            price, *falling = numbers[len(names) :].tolist()
            known |= {"base_price": price, "falling": tuple(falling)}
        if not isfinite(known["horizon"]) or known["horizon"] != int(known["horizon"]):
            raise InvalidOption(f"a horizon is a whole number of rounds, got {known['horizon']!r}")
        return cls(**known | {"horizon": int(known["horizon"])})
