"""What it costs to go on with fixed rates: the largest difference of two potentials (docs/theory/self-tuning.md, 7).

A plan of order s at temperature β that goes on with the potential Σ_i φ_i of another plan pays at most

    K(β) = max_x {Σ_i φ_i(x_i) − β·H(x)} − least corner,     φ(x) = b·x^{s′}/(s′(1−s′)), or −b·x·ln x,

over all distributions x; a corner is φ_i(1). For every λ it is at most λ + Σ_i max_{0≤x≤1} {φ_i(x) − βh(x) − λx}.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight._types import Floats
from sidelight.engine.self_tuning.prices import N_FALLING, OCTAVES_BELOW, PER_OCTAVE
from sidelight.planning.tuning import Tuning

BISECTIONS = 40
"""Halvings of an interval of ln x; half as many more of λ."""

LEAST = -80.0
"""ln x from here on: less than that is nothing."""

ROUNDED = 1 + 1e-7
"""What is computed is raised by this factor, more than rounding and halvings leave open."""


class Kind(NamedTuple):
    """Arms that share a potential."""

    arms: int
    order: float  # s′
    weight: float  # b

    @property
    def corner(self) -> float:
        """φ(1)."""
        return self.weight / (self.order * (1 - self.order)) if self.order < 1 else 0.0


def kinds_of(tuning: Tuning) -> list[Kind]:
    """The potentials of a tuning with one block: x = (rate·(L + λ))^{−1/(1−s′)}, so that b = (1 − s′)/rate."""
    rows = np.column_stack([tuning.inner_power, tuning.inner_rate])
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    found = []
    for (power, rate), count in zip(distinct.tolist(), counts.tolist(), strict=True):
        order = 1 - 1 / power if power else 1.0
        found.append(Kind(count, order, ((1 - order) if power else 1.0) / rate))
    return found


def costs_to_fall(kinds: list[Kind], order: float, betas: Floats) -> Floats:
    """K at each β, from above."""
    low = np.full(betas.shape, -8.0 * max(kind.weight for kind in kinds) - 8.0 * betas.max())
    high = -low + sum(kind.arms * kind.weight * 64.0 for kind in kinds)
    for _ in range(3 * BISECTIONS // 2):
        middle = (low + high) / 2
        mass = sum(kind.arms * _peak(kind, order, betas, middle)[0] for kind in kinds)
        low, high = np.where(mass > 1, middle, low), np.where(mass > 1, high, middle)
    tried = [
        lam + sum(kind.arms * _peak(kind, order, betas, lam)[1] for kind in kinds) for lam in (low, high)
    ]
    found: Floats = np.minimum(*tried) - min(kind.corner for kind in kinds)
    return np.maximum(ROUNDED * found, 0.0)


def _peak(kind: Kind, s: float, beta: Floats, lam: Floats) -> tuple[Floats, Floats]:
    """(x, value): where φ(x) − βh(x) − λx is largest in 0..1.

    φ″ − βh″ = βx^{s−2} − bx^{s′−2} changes its sign once, at x₀ = (β/b)^{1/(s′−s)}: the largest is at an end, or
    where the derivative falls through 0 on the concave side of x₀.
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        log_beta = np.log(beta / kind.weight)
    if kind.order == s:
        begin, end = np.full(beta.shape, LEAST), np.where(log_beta < 0, 0.0, LEAST)
    else:
        turn = np.clip(log_beta / (kind.order - s), LEAST, 0.0)
        begin, end = (turn, np.zeros_like(turn)) if kind.order > s else (np.full(beta.shape, LEAST), turn)
    for _ in range(BISECTIONS):
        middle = (begin + end) / 2
        rises = _slope(kind, s, beta, middle) > lam
        begin, end = np.where(rises, middle, begin), np.where(rises, end, middle)
    points = [np.zeros(beta.shape), np.exp(begin), np.exp(end), np.ones(beta.shape)]
    values = [_value(kind, s, beta, x) - lam * x for x in points]
    best = np.argmax(values, axis=0)
    return np.choose(best, points), np.choose(best, values)


def _slope(kind: Kind, s: float, beta: Floats, y: Floats) -> Floats:
    """φ′ − βh′ at x = e^y."""
    t = kind.order
    own = -(y + 1) if t == 1 else np.exp((t - 1) * y) / (1 - t)
    played = -(y + 1) if s == 1 else (s * np.exp((s - 1) * y) - 1) / (s * (1 - s))
    return np.asarray(kind.weight * own - beta * played)


def _value(kind: Kind, s: float, beta: Floats, x: Floats) -> Floats:
    """φ − βh."""
    t = kind.order
    entropy = -x * np.log(np.where(x > 0, x, 1.0))
    own = entropy if t == 1 else x**t / (t * (1 - t))
    played = entropy if s == 1 else (x**s - x) / (s * (1 - s))
    return np.asarray(kind.weight * own - beta * played)


class FallingCosts:
    """K at many temperatures: what falling back costs at most from there, of a rule with so large an entropy."""

    def __init__(self, kinds: list[Kind], order: float, diameter: float, most: float) -> None:
        self.diameter = diameter
        self.last = PER_OCTAVE * (
            OCTAVES_BELOW + 10
        )  # position of the highest start that is tried: start·D ≤ most
        steps = np.arange(-self.last, N_FALLING) / PER_OCTAVE
        self.betas = max(most, 1.0) / diameter * 2.0**steps
        found = costs_to_fall(kinds, order, np.append(self.betas, 0.0))
        self.costs, self.whole = found[:-1], float(found[-1])

    def highest(self, most: float) -> tuple[float, tuple[float, ...]]:
        """The highest start with start·D + K(start) ≤ `most`, 0 if there is none, and its table."""
        below = PER_OCTAVE * OCTAVES_BELOW
        fits = np.flatnonzero((self.betas * self.diameter + self.costs)[below : self.last + 1] <= most)
        if fits.size == 0:
            return 0.0, ()
        first = int(fits[-1])
        table = np.concatenate([[self.whole], self.costs[first : first + N_FALLING - 1]])
        return float(self.betas[first + below]), tuple(np.maximum.accumulate(table[::-1])[::-1].tolist())
