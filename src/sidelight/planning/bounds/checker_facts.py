"""What the numbers of a tuning say on its graph, read off anew: part of the independent check of certificates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import exp, inf, pow
from typing import TYPE_CHECKING

import numpy as np

from sidelight._types import Bools, Floats, Longs
from sidelight.engine.constants import EXACT_SPREAD
from sidelight.graph import FeedbackGraph
from sidelight.graph.altered import levels, loop_probability
from sidelight.planning.bounds.bound import Condition
from sidelight.planning.bounds.checker_rounds import Recipes, Sides, lifted_mass, paid
from sidelight.planning.bounds.independent_sets import mutual_independence, plain_independence
from sidelight.planning.tuning import LAZY_FACTOR, Tuning

if TYPE_CHECKING:
    from sidelight.planning.plan import Plan

ACCURACY = 1e-8
"""Relative accuracy granted to sums and roots: rounding, and the tolerance of covers."""


def at_most(name: str, left: float, right: float) -> Condition:
    """left ≤ right up to the accuracy of sums, which `right` is granted."""
    return Condition(name, left, right + ACCURACY * max(abs(right), exp(-9)))


class Facts:
    """Coverage and exploration of one tuning, and which arms are seen how."""

    def __init__(self, graph: FeedbackGraph, tuning: Tuning) -> None:
        self.graph, self.tuning = graph, tuning
        self.n, self.m, self.sizes = tuning.n_arms, tuning.n_blocks, tuning.sizes
        self.owner = np.empty(self.n, dtype=np.int64)
        for k in range(self.m):
            self.owner[self.arms(k)] = k
        self.source = np.repeat(np.arange(self.n), np.diff(graph.out_indptr))
        self.target = graph.out_indices.astype(np.int64)
        self.h = np.where(tuning.inner_power > 0, 1 - 1 / np.maximum(tuning.inner_power, 1.0), 1.0)
        self.load = self.coverage(tuning.cover, 1 / self.h)
        self.fixed = self.coverage(tuning.global_exploration)
        self.local = self.coverage(tuning.local_exploration)
        self.local_total = np.bincount(self.owner, weights=tuning.local_exploration, minlength=self.m)
        self.gamma_bar = float(
            tuning.global_exploration.sum()
            + np.sum(tuning.adaptive * np.sqrt(self.sizes))
            + np.sum(self._spread_cost())
            + self.lifted_mass
        )

    @property
    def least_shown(self) -> float:
        """The least, over all arms, of the largest probability with which another or itself reveals it."""
        best = np.zeros(self.n)
        best[self.graph.universal] = 1.0
        r = self.graph.out_probability
        np.maximum.at(best, self.target, np.ones(self.target.size) if r is None else r)
        return float(best.min())

    def arms(self, k: int) -> Longs:
        """Arms of block k."""
        tuning = self.tuning
        return tuning.block_arms[tuning.block_start[k] : tuning.block_start[k + 1]]

    def targets(self, k: int) -> Longs:
        """The arms of block k that its spread is owed to."""
        arms = self.arms(k)
        return arms[self.tuning.load[arms] > 0]

    def coverage(self, mass: Floats, power: Floats | float = 1.0) -> Floats:
        """(n,) Σ of `mass`, times probabilities to a power, over the in-neighbours of each arm inside its block."""
        shown_mass = np.zeros(self.n)
        inside = self.owner[self.source] == self.owner[self.target]
        shown = mass[self.source]
        if self.graph.out_probability is not None:
            shown = shown * self.graph.out_probability ** np.broadcast_to(power, self.n)[self.target]
        np.add.at(shown_mass, self.target[inside], shown[inside])
        total = np.bincount(self.owner, weights=mass, minlength=self.m)
        for arm in self.graph.universal.tolist():
            shown_mass[arm] = total[self.owner[arm]] - (0.0 if self.graph.has_loop[arm] else mass[arm])
        return shown_mass

    @property
    def lifted_mass(self) -> float:
        """What is explored for lifted arms at most; all of them have one order."""
        lifted = self.tuning.lifted > 0
        if not lifted.any():
            return 0.0
        order = float(self.tuning.temperatures[0][lifted][0])
        return float(lifted_mass(int(lifted.sum()), self.n, self.tuning.floor, order))

    def _spread_cost(self) -> Floats:
        """(m,) spread_k·κ_k·δ_k^h: Hölder's inequality needs 1 ≤ load, which `conditions` lists."""
        cost = np.zeros(self.m)
        mass = np.bincount(self.owner, weights=self.tuning.cover, minlength=self.m)
        for k in np.flatnonzero(self.tuning.spread > 0).tolist():
            lazy = LAZY_FACTOR if self.sizes[k] > EXACT_SPREAD else 1.0
            cost[k] = self.tuning.spread[k] * lazy * mass[k] ** self.h[self.targets(k)].max()
        return cost

    def watch(self, arms: Longs) -> float:
        """β with P_i ≥ β·X_i^{1−h} for each of these arms of one block, by exploration alone; 0 for none."""
        k, tuning = int(self.owner[arms[0]]), self.tuning
        constant = float(self.fixed[arms].min())  # X^{1−h} ≤ 1
        targets = tuning.load[arms] > 0
        follows = 0.0
        if targets.all() and tuning.spread[k] > 0:
            follows = float(tuning.spread[k] * (self.load[arms] / tuning.load[arms]).min())
        elif tuning.adaptive[k] > 0 and (self.h[arms] == 0.5).all():
            follows = float(tuning.adaptive[k]) if self._parents_are_right(arms) else 0.0
        return constant + follows

    def _parents_are_right(self, arms: Longs) -> bool:
        return all(
            self.tuning.parent[i] >= 0
            and self.owner[self.tuning.parent[i]] == self.owner[i]
            and self.graph.reveals(int(self.tuning.parent[i]), int(i))
            for i in arms
        )

    def conditions(self) -> list[Condition]:
        """What a legal partition and its exploration must satisfy."""
        targets = self.tuning.load > 0
        wrong = np.abs(self.load[targets] / self.tuning.load[targets] - 1)
        listed = [Condition("γ̄ ≤ 1/2", self.gamma_bar, 0.5)]
        if self.m == 1:
            alone = float(self.local_total[0])
            listed.append(Condition("local exploration of a block without others", alone, 0.0))
        if targets.any():
            listed.append(Condition("loads are the sums of their cover", float(wrong.max()), ACCURACY))
            least = float(self.load[targets].min())
            listed.append(at_most("every load is at least 1 (LP, Hölder)", 1.0, least))
        return listed

    def seen_loopless(self, arms: Longs) -> float:
        """Least chance to see one of these loop-less universal arms by exploration."""
        constant = self.tuning.global_exploration
        least = float((constant.sum() - constant[arms]).min())
        outside = np.ones(self.m, dtype=bool)
        outside[self.owner[arms]] = False
        least += float(np.sum(self.tuning.adaptive[outside]))  # Σ √X ≥ 1
        for k in np.flatnonzero(outside & (self.tuning.spread > 0)).tolist():
            targets = self.targets(k)
            if targets.size == self.sizes[k]:  # some arm has X ≥ 1/n, and is watched for it
                least += float(self.tuning.spread[k] * self.sizes[k] ** (self.h[targets].max() - 1))
        return least


# -- one simplex of covered arms and others ------------------------------------------------------------------


def sides_of(plan: Plan, facts: Facts) -> Iterator[tuple[Bools, Sides, Recipes]]:
    """Ways to see one simplex as covered arms and others, each of one order and one temperature, and its play."""
    graph, tuning = facts.graph, facts.tuning
    order, temperature = tuning.temperatures
    lifted, certain, constant = tuning.lifted > 0, loop_probability(graph) == 1, tuning.global_exploration
    tried = [~lifted]
    if not lifted.any():
        alike = np.unique(np.column_stack([order, temperature]), axis=0, return_inverse=True)[1].ravel()
        tried += [lifted, tuning.load > 0, ~graph.has_loop, ~certain, *(alike == k for k in np.unique(alike))]
    for covered in {mask.tobytes(): mask for mask in tried}.values():
        masks = [mask for mask in (covered, ~covered) if mask.any()]
        if any(np.ptp(each[mask]) > 0 for each in (order, temperature) for mask in masks):
            continue
        (h, beta), (s, beta_S) = (
            (float(order[mask][0]), float(temperature[mask][0])) for mask in (masks[0], masks[-1])
        )
        b = facts.watch(np.flatnonzero(covered)) if covered.any() else 0.0
        sides = Sides(
            int(covered.sum()),
            int((~covered).sum()),
            h,
            s,
            weak=(facts.gamma_bar - facts.lifted_mass) / b if b > 0 else 0.0,
            seen=looped(plan, s, ~covered) ** (1 / s) if not covered.all() else 0.0,
            lifted=bool(np.array_equal(lifted, ~covered) and certain[lifted].all()),
            even=is_even(graph, constant) and not tuning.spread.any(),
        )
        K = 1 / (tuning.floor * beta_S) if tuning.floor > 0 else inf
        numbers = (np.array([x], dtype=np.float64) for x in (beta, beta_S / beta, b, K, tuning.shift))
        yield covered, sides, Recipes(*numbers)


def is_even(graph: FeedbackGraph, constant: Floats) -> bool:
    """Does every arm always see all others, but not itself, and is each explored for evenly?"""
    everyone = graph.certain and graph.universal.size == graph.n_arms and not graph.has_loop.any()
    return bool(everyone and np.ptp(constant) <= ACCURACY * constant.max())


def looped(plan: Plan, s: float, arms: Bools) -> float:
    """Σ X^{2−s}/P over these arms is at most this, by cliques of some probability or by self-loops; ∞ for none."""
    g, most = plan.graph, inf
    for r in levels(g):
        likely = g.at_least(r)
        if likely.has_loop[arms].all():
            most = min(most, float(mutual_independence(likely, plan.details.evidence_at(r))) ** s / r)
    if not g.certain:
        own = loop_probability(g)[arms]
        most = min(most, float((own ** (-1 / s)).sum()) ** s if own.all() else inf)
    return most


def leaning_price(plan: Plan, covered: Bools, sides: Sides, play: Recipes, lean: float) -> Floats:
    """(rows,) where strength is lean/β, and all arms have one order and one temperature: Lemma 4; ∞ elsewhere."""
    z, room = strong(plan, sides.h, lean, sides.weak, covered), play.beta - lean * sides.weak
    plain = (play.shift == 0) & np.isinf(play.lift) & (play.ratio == 1) & (sides.h == sides.s)
    applies = plain & (np.abs(play.strength * play.beta - lean) <= ACCURACY * lean) & (room > 0)
    with np.errstate(divide="ignore"):
        return np.where(applies, z / room, inf)


def strong(plan: Plan, s: float, lean: float, weak: float, covered: Bools) -> float:
    """A number z with cost ≤ z/(β − lean·weak) at strength lean/β, order s and no shift; ∞ where none is known."""
    return min(_strong_at(plan, s, lean, weak, covered, r) for r in levels(plan.graph))


def _strong_at(plan: Plan, s: float, k: float, weak: float, covered: Bools, r: float) -> float:
    """From edges that reveal with probability r or more."""
    certain = plan.graph.certain
    if plan.graph.has_loop.all():
        if k > 0:
            return inf
        full = certain and s == 1 and plan.graph.universal.size == plan.graph.n_arms
        return 1 / 8 if full else looped(plan, s, np.ones(plan.graph.n_arms, dtype=bool)) / 2
    g: FeedbackGraph = plan.graph.at_least(r)
    hidden = ~g.has_loop
    if not g.is_universal[hidden].all() or not covered[hidden].all() or k <= 1 - s:
        return inf
    if not certain and not covered.all():
        return inf
    evidence = plan.details.evidence_at(r)
    plain, seen = float(plain_independence(g, evidence)), float(mutual_independence(g, evidence))
    explored, loops = k * weak, plain**s / (2 * r)

    def proved(tau: float) -> float:
        """Lemma 4; any threshold proves a bound. The first half falls in τ, the other rises."""
        apart = max(explored, pow(1 - tau, 1 - s) / (2 * tau * r)) + loops
        rest = pow(tau, 2 - s) / (2 * (1 - tau) * r) + loops * pow(tau, 1 - s)
        shift = _shift(pow(tau / (1 - tau), 1 - s) / k, s) * pow(tau, 1 - s) / r
        return float(max(apart, rest + max(explored, explored * tau + shift)))

    least = proved(_least(proved, 0.02, 0.5))
    steep = _shift(1 / k, s)
    return min(least, steep * (seen - 1) + max(steep, explored)) if s == 1 and certain else least


def _shift(r: float, s: float) -> float:
    """ψ₋(r)/r."""
    return float(paid(-1.0, r, s)) / r


def _least(value: Callable[[float], float], start: float, end: float) -> float:
    """Where a function of start..end is smallest: the best of a grid, then halves of its step around that."""
    u, step = min((start + (end - start) * k / 480 for k in range(481)), key=value), (end - start) / 960
    while step > 1e-12:
        u, step = min((max(u - step, start), u, min(u + step, end)), key=value), step / 2
    return u
