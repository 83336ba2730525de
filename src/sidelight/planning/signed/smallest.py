"""The smallest bound for a known number of rounds, and its potential: Theorem D of docs/theory/signed.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, inf, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from sidelight._types import Floats
from sidelight.planning.potentials import diameter
from sidelight.planning.signed import recipes
from sidelight.planning.signed.arms import Arms, Costs, Recipe
from sidelight.planning.signed.minimise import minimised
from sidelight.planning.signed.prices import price, proved_price
from sidelight.planning.signed.table import STEP, Table

COVERED = tuple(round(0.05 * k, 2) for k in range(10, 21))
"""Orders that are tried on W, and those of graphs without shift."""

LOOPED = tuple(round(0.05 * k, 2) for k in range(6, 20))
"""Orders that are tried on S: beside covered arms less than ½ may be better."""

Pairs = Sequence[tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Base:
    """R ≤ β·D(1, ratio) + T·w: order h and temperature β on W, order s and ratio·β on S, one recipe in all rounds."""

    h: float
    s: float
    beta: float
    ratio: float
    recipe: Recipe
    w: float
    diameter: float  # D(1, ratio), from above
    rounds: int

    @classmethod
    def known(
        cls, arms: Arms, h: float, s: float, beta: float, ratio: float, recipe: Recipe, rounds: int
    ) -> Base:
        """With what follows from these numbers."""
        costs = arms.costs([h], [s])
        w = float(price(costs, beta, ratio, recipe)[0])
        return cls(h, s, beta, ratio, recipe, w, float(ray_diameter(costs, ratio)[0]), rounds)

    @property
    def terms(self) -> dict[str, float]:
        """What temperature costs, and what the rounds do."""
        return {"temperature": self.beta * self.diameter, "rounds": self.rounds * self.w}

    @property
    def value(self) -> float:
        """The bound."""
        return sum(self.terms.values())

    def table(self, arms: Arms, first: float, largest: float) -> Table:
        """Prices along the ray β·(1, ratio), from about `first` to about `largest`; β is a row."""
        below, above = (
            ceil(max(0.0, number) / log(STEP))
            for number in (log(self.beta / first), log(largest / self.beta))
        )
        beta = self.beta * np.float64(STEP) ** np.arange(-below, above + 1)
        return Table.on(arms, self.h, self.s, self.ratio, beta, {below: self.recipe})


def smallest(arms: Arms, T: int, h: Sequence[float] = COVERED, s: Sequence[float] = LOOPED) -> Base:
    """The least of D(β, β_S) + T·w over these orders, temperatures and recipes that a search finds."""
    found = [_strong(arms, T, order) for order in h if arms.strong(order)[0] < inf]
    if arms.signed:
        found.append(_searched(arms, T, h, s))
    if not arms.signed or found[-1].recipe.shift < 0.1:  # where lifts cost more than shifts save
        found.append(_searched(replace(arms, signed=False), T, h, (*s, 1.0)))
    if arms.universal and arms.signed:
        search = _Search(arms, T, even=True)
        near, _ = search.least([(1.0, 1.0)], search.start([(1.0, 1.0)], recipes.even))
        found.append(search.base((1.0, 1.0), search.least([(1.0, 1.0)], near)[0]))
    best = min(found, key=lambda base: base.value)
    if best.value <= T and best.w < 1:
        return best
    # Of so few rounds nothing is proved: they are played at next to no temperature.
    idle = Base.known(arms, best.h, best.s, 1.0, 1.0, Recipe(0.0, inf, 0.0), T)
    return replace(idle, beta=0.01 / idle.diameter, w=1.0)


def ray_diameter(costs: Costs, ratio: Any) -> Floats:
    """D(1, ratio) = min_μ μ + n_W·max_x {φ_h(x) − μx} + n_S·max_x {ratio·φ_s(x) − μx}, every μ being a bound.

    φ_s(x) = (x^s − x)/(s(1−s)), and τφ_s(x) − μx is largest, τx^s/s, at x = (1/s + (1−s)μ/τ)^{−1/(1−s)}.
    """
    groups: list[tuple[int, Any, Any]] = [(costs.covered, costs.h, 1.0), (costs.looped, costs.s, ratio)]
    groups = [group for group in groups if group[0]]
    # Σx is convex in μ and falls: Newton's steps, from where one group alone adds up to 1, never go too far.
    alone = []
    for n, s, tau in groups:
        eps = np.maximum(1 - s, 1e-300)
        alone.append(tau * np.where(s < 1, (n**eps - 1 / s) / eps, np.log(n) - 1))
    mu = np.asarray(np.max(np.broadcast_arrays(*alone), axis=0))
    for turn in range(13):
        excess, slope, value = -1.0 + np.zeros(mu.shape), np.zeros(mu.shape), mu
        for n, s, tau in groups:
            eps = 1 - s
            with np.errstate(all="ignore"):
                x = np.where(
                    eps > 0, np.maximum(1 / s + eps * mu / tau, 0.0) ** (-1 / eps), np.exp(-1 - mu / tau)
                )
            excess, slope, value = excess + n * x, slope + n * x ** (2 - s) / tau, value + n * tau * x**s / s
        mu = mu + excess / slope if turn < 12 else mu
    return np.asarray(value)


def _strong(arms: Arms, T: int, order: float) -> Base:
    """One order, one temperature and no shift: β·D + T·strong/(β − lean·weak) at its least."""
    costs = arms.costs([order], [order])
    cost, lean, weak = (float(each[0]) for each in (costs.strong, costs.lean, costs.weak))
    beta = lean * weak + sqrt(T * cost / float(diameter(order, arms.covered + arms.looped)))
    return Base.known(arms, order, order, beta, 1.0, Recipe(lean / beta, inf, 0.0), T)


class _Search(NamedTuple):
    """For the best temperatures and recipes at several pairs of orders: log β, log ratio if any, those of `Free`."""

    arms: Arms
    T: int
    even: bool = False

    @property
    def both(self) -> bool:
        return self.arms.covered > 0 and self.arms.looped > 0

    def least(self, pairs: Pairs, start: Floats) -> tuple[Floats, Floats]:
        """The best numbers found for each pair, (numbers, pairs), and their bounds."""
        costs = self.arms.costs(*zip(*pairs, strict=True))._replace(universal=self.even)
        alone = ray_diameter(costs, 1.0)

        def value(numbers: Floats) -> Floats:
            beta, ratio, recipe = self.decoded(numbers)
            D = ray_diameter(costs, ratio) if self.both else alone
            return np.asarray(beta * D + self.T * proved_price(costs, beta, ratio, recipe, 3))

        widths = np.concatenate([[0.3] * (1 + self.both), recipes.Free.of(self.arms).widths])
        return minimised(value, start, widths, 40 + 20 * self.both)

    def decoded(self, numbers: Floats) -> tuple[Any, Any, Recipe]:
        """β, ratio and recipe."""
        ratio = np.exp(numbers[1]) if self.both else 1.0
        return np.exp(numbers[0]), ratio, recipes.Free.of(self.arms).recipe(numbers[1 + self.both :])

    def base(self, pair: tuple[float, float], numbers: Floats) -> Base:
        """That of one pair."""
        beta, ratio, recipe = self.decoded(numbers[:, 0])
        return Base.known(self.arms, *pair, float(beta), float(ratio), Recipe(*map(float, recipe)), self.T)

    def start(self, pairs: Pairs, recipe: Callable[[Costs, Any, Any], Recipe]) -> Floats:
        """Where the leading terms of the bounds are least."""
        n, m, T, costs = (
            self.arms.covered,
            self.arms.looped,
            self.T,
            self.arms.costs(*zip(*pairs, strict=True)),
        )
        D, D_S = (np.maximum(diameter(order, max(k, 2)), 0.5) for order, k in ((costs.h, n), (costs.s, m)))
        covered = (T * np.sqrt(2 * costs.weak / 27) / D) ** (2 / 3)
        looped = np.sqrt(T * costs.seen**costs.s / (8 * D_S))
        if self.even:
            covered = np.sqrt(0.26 * T / D)
        beta = covered if n else looped
        temperatures = [np.log(beta), np.log(looped / beta)] if self.both else [np.log(beta)]
        return np.array(
            [
                *temperatures,
                *recipes.Free.of(self.arms).numbers(recipe(costs, beta, looped / beta), len(pairs)),
            ]
        )


def _searched(arms: Arms, T: int, h: Sequence[float], s: Sequence[float]) -> Base:
    """A few pairs of orders first, then those near the best of them, then the best of these for longer."""
    search = _Search(arms, T)
    first = h if arms.covered else s
    pairs = {
        (i, j): (a, s[j] if search.both else a)
        for i, a in enumerate(first)
        for j in range(len(s) if search.both else 1)
    }
    few = [(i, j) for i, j in pairs if (i + 1 - len(first)) % 3 == 0 and j % 3 == 0]
    start = search.start([pairs[place] for place in few], recipes.shifted)
    if not arms.covered:
        start = np.hstack([start, search.start([pairs[place] for place in few], recipes.cliques)])
        few = few + few
    numbers, values = search.least([pairs[place] for place in few], start)
    if search.both:  # some are far from their minimum yet
        numbers, values = search.least([pairs[place] for place in few], numbers)
    for distance in (2, 0, 0):
        best = int(values.argmin())
        reach = range(-distance, distance + 1)
        few = [(few[best][0] + i, few[best][1] + j) for i, j in product(reach, reach)]
        few = [place for place in few if place in pairs]
        start = np.repeat(numbers[:, best : best + 1], len(few), axis=1)
        numbers, values = search.least([pairs[place] for place in few], start)
    return search.base(pairs[few[0]], numbers)
