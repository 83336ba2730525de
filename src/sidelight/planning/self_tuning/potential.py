"""One simplex, fixed potentials and estimates with a shift: the smallest bounds. Docs: docs/theory/signed.md."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from sidelight.engine.constants import MOST_EXPLORATION
from sidelight.partition import natural
from sidelight.planning.bounds.bound import NEVER, Bound, Condition, below_trivial, first
from sidelight.planning.exploration import Solved
from sidelight.planning.plan import Candidate, Offer
from sidelight.planning.potentials import Potential
from sidelight.planning.self_tuning.observed import ExploredArms, covers
from sidelight.planning.self_tuning.rule import ALL_COVERED, ALL_LOOPED, BOTH_SIDES
from sidelight.planning.signed.arms import Arms
from sidelight.planning.signed.prices import explored
from sidelight.planning.signed.smallest import Base, smallest
from sidelight.planning.signed.table import Table
from sidelight.planning.tuning import Tuning

LOWEST = 1e-6
"""Fewer rounds are played at lower temperatures, down to so many times the best."""

THEOREM = "One simplex, estimates with a shift: Theorem D of docs/theory/signed.md"


@dataclass(frozen=True, eq=False)
class Behind:
    """A potential with the smallest bound of a split of the arms, and which split that is."""

    base: Base
    arms: Arms
    alone: int

    @property
    def numbers(self) -> dict[str, Any]:
        """As a self-tuning rule has them."""
        h, s, beta, ratio, recipe = (
            self.base.h,
            self.base.s,
            self.base.beta,
            self.base.ratio,
            self.base.recipe,
        )
        named = {
            "h": h,
            "s": s,
            "beta": beta,
            "ratio": ratio,
            "strength": recipe.strength,
            "shift": recipe.shift,
        }
        named |= {"lift": recipe.lift if recipe.lift < inf else 0.0, "alone": self.alone}
        named |= {"weak": self.arms.weak(h) if self.arms.covered else 0.0}
        named |= {"loops": self.arms.seen(s) if self.arms.looped else 0.0}
        strong, lean = self.arms.strong(h if self.arms.covered else s) if h == s else (inf, 0.0)
        named |= {"strong": strong, "lean": lean} if strong < inf else {}
        return {f"base_{name}": value for name, value in named.items()}

    @cached_property
    def ray(self) -> Table:
        """Prices with these orders, up to these temperatures."""
        return self.base.table(self.arms, self.base.beta * LOWEST, self.base.beta)


class PotentialCandidate(Candidate):
    """Through one cover, with orders and temperatures of the covered arms and of the others as they are best."""

    def __init__(self, cover: ExploredArms) -> None:
        name = f"potential, {cover.name}"
        super().__init__(name, "flat", natural.single(cover.solved.graph), THEOREM)
        self.cover = cover
        self._bases: dict[int, Behind] = {}

    def base(self, T: float) -> Behind:
        """The potential with the smallest bound for T rounds."""
        if int(T) not in self._bases:
            splits = self.cover.splits
            kinds = (BOTH_SIDES,) if len(splits) == 1 else (ALL_COVERED, ALL_LOOPED)
            tried = [
                Behind(smallest(arms, int(T)), arms, kind) for arms, kind in zip(splits, kinds, strict=True)
            ]
            self._bases[int(T)] = min(tried, key=lambda each: each.base.value)
        return self._bases[int(T)]

    def offer(self, T: float) -> Offer:
        """What temperature costs, and the rounds at it."""
        behind = self.base(T)
        costs = behind.arms.costs([behind.base.h], [behind.base.s])
        mass = float(np.max(explored(costs, behind.base.beta * behind.base.ratio, behind.base.recipe)))
        conditions = (Condition("γ̄ ≤ 1/2", mass, MOST_EXPLORATION),)
        return Offer(behind.base.terms, lambda: (self.base_tuning(T), self._parameters(behind)), conditions)

    def near(self, t: float, horizon: int) -> float:
        """A bound for t rounds with the orders that are best at the horizon."""
        behind = self.base(horizon)
        return float(np.min(behind.base.diameter * behind.ray.beta + t * behind.ray.w))

    def bound(self, horizon: int) -> Bound:
        """The bound at `horizon`; from when on it says something is that of its orders."""
        offer = self.offer(float(horizon))
        says = below_trivial(offer.value, horizon)
        since = first(lambda t: below_trivial(self.near(t, horizon), t)) if says else NEVER
        return Bound(horizon, offer.terms, self.theorem, offer.conditions, 1, since)

    def _parameters(self, behind: Behind) -> dict[str, Any]:
        """The numbers that a reader of the plan may want."""
        base, covered = behind.base, behind.arms.covered > 0
        named: dict[str, Any] = {"h": base.h, "temperature": base.beta} if covered else {}
        named |= {"s": base.s, "temperature_loops": base.beta * base.ratio} if behind.arms.looped else {}
        named |= {"b": base.recipe.strength} if covered else {}
        named |= {"K": base.recipe.lift} if base.recipe.lift < inf else {}
        return named | {"c": base.recipe.shift, "cover": self.cover.name}

    def base_tuning(self, T: float, row: tuple[float, float, float] | None = None) -> Tuning:
        """The plan at fixed rates; with another recipe, if a table has one for this temperature."""
        behind = self.base(T)
        base, targets = behind.base, np.zeros(self.cover.solved.graph.n_arms, dtype=bool)
        if behind.alone != ALL_LOOPED:
            targets[self.cover.targets] = True
        order = np.where(targets, base.h, base.s)
        temperature = np.where(targets, base.beta, base.beta * base.ratio)
        strength, lift, shift = base.recipe
        own = strength, 1 / (base.beta * base.ratio * lift) if lift < inf else 0.0, shift
        strength, floor, shift = own if row is None else row
        return self.cover.flat(
            Potential(order, 1 / temperature),
            base.h,
            strength if targets.any() else 0.0,
            lifted=np.where(targets, 0.0, 1.0) if behind.arms.signed and base.s < 1 else 0.0,
            floor=floor,
            shift=shift,
            corners=True,
        )


def potential_candidates(solved: Solved) -> list[PotentialCandidate]:
    """One for each cover."""
    return [] if solved.graph.n_arms == 1 else [PotentialCandidate(cover) for cover in covers(solved)]
