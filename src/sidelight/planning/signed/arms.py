"""What prices of rounds are made of: which arms are covered, which lifted, and how well they are seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np

from sidelight.engine.constants import EXACT_SPREAD, LARGEST_REACH


class Recipe(NamedTuple):
    """How rounds are played: Z = (1−γ)X + b·g + ℓ with estimates (loss − c)/P, γ the mass of b·g + ℓ.

    g explores for the covered arms W, ℓ lifts the others, S, to X^{1−s}/(β_S·K) or a little more. Numbers or arrays.
    """

    strength: Any  # b
    lift: Any  # K, ∞ where nothing is lifted
    shift: Any  # c


class Costs(NamedTuple):
    """The numbers of `Arms` at pairs of orders, arrays with an entry for each pair."""

    covered: int  # n_W
    looped: int  # n_S
    h: Any
    s: Any
    weak: Any
    seen: Any  # Q
    strong: Any
    lean: Any
    above: float  # a₁: ℓ ≤ [a₁X^{1−s}/(β_S·K) − mX]₊
    below: Any  # m
    loop: float
    universal: bool


def _unknown(order: float) -> tuple[float, float]:
    return inf, 0.0


@dataclass(frozen=True)
class Arms:
    """The arms of a graph: W are covered, the others, S, have self-loops. Functions are of the order of the entropy.

    `strong` = (strong, lean): where all arms have one order and one temperature, rounds without shift that explore
    with b = lean/β cost strong/(β − lean·weak) at most (docs/theory/self-tuning.md; full feedback, order 1: 1/8, 0).
    """

    covered: int  # n_W
    looped: int  # n_S
    weak: Callable[[float], float]  # no g adds up to more: δ^h, times the factor of lazy play
    seen: Callable[[float], float]  # Q ≥ Σ_S (x/P(x))^{1/s} for all x; Σ_S x/P(x) where reveals are certain
    strong: Callable[[float], tuple[float, float]] = _unknown
    loop: float = 1.0  # loops of S work with this probability at least
    signed: bool = True  # may estimates be shifted?
    universal: bool = (
        False  # all arms are covered, evenly at order 1, and all others reveal each, but not itself
    )

    def costs(self, h: Sequence[float], s: Sequence[float]) -> Costs:
        """At these pairs of orders."""
        one = [a == b or not self.covered or not self.looped for a, b in zip(h, s, strict=True)]
        orders = h if self.covered else s
        strong = [self.strong(order) if same else (inf, 0.0) for order, same in zip(orders, one, strict=True)]
        looped = np.array(s, dtype=np.float64)
        above, below = lazy_lift(self.covered + self.looped, looped)
        return Costs(
            self.covered,
            self.looped,
            np.array(h, dtype=np.float64),
            looped,
            np.array([self.weak(order) if self.covered else 0.0 for order in h]),
            np.array([self.seen(order) if self.looped else 0.0 for order in s]),
            np.array([pair[0] for pair in strong]),
            np.array([pair[1] for pair in strong]),
            above,
            below,
            self.loop,
            self.universal and self.signed,
        )


def lazy_lift(n: int, order: Any) -> tuple[float, Any]:
    """(a₁, m): of n arms those that are lifted are lifted by [a₁·floor·x^{1−order} − m·x]₊ at most."""
    above = 1.0 if n <= EXACT_SPREAD else (1 + LARGEST_REACH) / (1 - LARGEST_REACH)
    with np.errstate(divide="ignore"):
        return above, np.power(above, -1 / (1 - np.asarray(order)))  # order 1 lifts nothing
