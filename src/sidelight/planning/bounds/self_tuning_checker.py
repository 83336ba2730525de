"""An independent check of self-tuning plans, from the graph and the numbers that are played.

Cover, prices, diameter, and the right-hand side of Theorem 2 or the budget of Theorem 3 are derived anew; like the
checker of other plans it uses nothing of the planner. The proofs are in docs/theory/self-tuning.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil, exp, expm1, inf, log, log1p, pow, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sidelight._types import Bools, Floats
from sidelight.engine.constants import GROWTH, LARGEST_LIST, LARGEST_REACH, ROOM, SLACK
from sidelight.graph import FeedbackGraph
from sidelight.graph.failing import levels
from sidelight.planning.bounds.bound import Condition
from sidelight.planning.bounds.independent_sets import mutual_independence, plain_independence
from sidelight.planning.self_tuning.rule import SelfTuning

if TYPE_CHECKING:
    from sidelight.planning.plan import Plan

ACCURACY = 1e-8
"""Relative accuracy granted to sums, roots and integrals."""

SUMMED, POINTS = 1000, 32
"""Rounds that are summed one by one, and points of the integral between two of the rounds that are checked."""


def self_tuning_conditions(plan: Plan, rule: SelfTuning, fixed: Floats) -> Iterator[Condition]:
    """What the bound rests on; fixed (n,) is the constant exploration that shows each arm."""
    g, tuning = plan.graph, plan.tuning
    n, s = g.n_arms, rule.order
    size = log(n) if s == 1 else expm1((1 - s) * log(n)) / (s * (1 - s))
    temperature = (1 if s == 1 else 1 - s) / float(tuning.inner_rate[0])
    yield _at_most("D, the largest entropy, computed ≤ claimed", size, rule.diameter)
    yield Condition("first temperature, played/claimed − 1", abs(temperature / rule.first - 1), ACCURACY)
    yield _at_most("c/D ≤ β₁", rule.share / rule.diameter, rule.first)
    strength = min(1 / sqrt(2 * rule.first * rule.weak), 1 / (2 * rule.weak))
    if s == 1:
        covered, most = fixed >= strength * (1 - ACCURACY), float(tuning.global_exploration.sum()) / strength
    else:
        lazy = (1 - LARGEST_REACH) ** -2 if n > LARGEST_LIST else 1.0
        covered, most = tuning.load > 0, lazy * float(tuning.cover.sum()) ** s
    yield _at_most("exploration: computed ≤ weak", most, rule.weak)
    yield Condition(
        "arms that neither the cover nor a self-loop shows", float((~covered & ~g.has_loop).sum()), 0.0
    )
    if not covered.all():
        yield _at_most("arms beside the cover: ½Q^s ≤ beside", _looped(plan, s, ~covered) / 2, rule.beside)
    if rule.strong < inf:
        found = min(_strong(plan, rule, covered, r) for r in levels(g))
        yield _at_most("price on strongly observable graphs", found, rule.strong)
    if plan.horizon is not None:
        yield Condition("rounds of another horizon", float(abs(rule.horizon - plan.horizon)), 0.0)
        yield _at_most("budget ≤ claimed bound", rule.budget, plan.curve.value_at(plan.horizon))
        found = rule.first * rule.diameter + _needed(rule)
        yield _at_most("β₁·D + cost to go ≤ budget", found, rule.budget - ROOM)
    else:
        yield Condition("budgets without a horizon", float(rule.horizon), 0.0)
        yield _every_round(rule, plan.curve.value_at)


def _looped(plan: Plan, s: float, arms: Bools) -> float:
    """Σ X^{2−s}/P over these arms is at most this, by cliques of some probability or by self-loops; ∞ for none."""
    g, found = plan.graph, inf
    for r in levels(g):
        likely = g.at_least(r)
        if likely.has_loop[arms].all():
            found = min(found, float(mutual_independence(likely, plan.details.evidence_at(r))) ** s / r)
    if not g.certain:
        own = np.array([g.probability(i, i) for i in np.flatnonzero(arms).tolist()])
        found = min(found, float((own ** (-1 / s)).sum()) ** s if own.all() else inf)
    return found


def _strong(plan: Plan, rule: SelfTuning, covered: Bools, r: float) -> float:
    """A number z with cost ≤ z/(β − lean·weak) at strength lean/β; ∞ where none is known.

    From edges that reveal with probability r or more.
    """
    s, k, certain = rule.order, rule.lean, plan.graph.certain
    if plan.graph.has_loop.all():
        if k > 0:
            return inf
        full = certain and s == 1 and plan.graph.universal.size == plan.graph.n_arms
        return 1 / 8 if full else _looped(plan, s, np.ones(plan.graph.n_arms, dtype=bool)) / 2
    g: FeedbackGraph = plan.graph.at_least(r)
    hidden = ~g.has_loop
    if not g.is_universal[hidden].all() or not covered[hidden].all() or k <= 1 - s:
        return inf
    if not certain and not covered.all():
        return inf
    plain, seen = (
        float(most(g, plan.details.evidence_at(r))) for most in (plain_independence, mutual_independence)
    )
    explored, loops = k * rule.weak, plain**s / (2 * r)

    def proved(tau: float) -> float:
        """Lemma 4; any threshold proves a price. The first half falls in τ, the other rises."""
        apart = max(explored, pow(1 - tau, 1 - s) / (2 * tau * r)) + loops
        rest = pow(tau, 2 - s) / (2 * (1 - tau) * r) + loops * pow(tau, 1 - s)
        shift = _shift(pow(tau / (1 - tau), 1 - s) / k, s) * pow(tau, 1 - s) / r
        return float(max(apart, rest + max(explored, explored * tau + shift)))

    low, high = 0.02, 0.5
    for _ in range(60):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if proved(left) <= proved(right) else (left, high)
    found = min(proved(low), proved(high))
    steep = _shift(1 / k, s)
    return min(found, steep * (seen - 1) + max(steep, explored)) if s == 1 and certain else found


def _shift(r: float, s: float) -> float:
    """ψ₋(r)/r."""
    if (1 - s) * r >= 1:
        return inf
    grown = expm1(r) if s == 1 else expm1(-s / (1 - s) * log1p(-(1 - s) * r)) / s
    return (grown / r - 1) / r


def _price(rule: SelfTuning, beta: float) -> float:
    """What a round at β costs at most, with the claimed numbers."""
    s, weak = rule.order, rule.weak
    p = sqrt(weak / (2 * beta)) if beta >= 2 * weak else weak / beta
    alone = rule.beside / (beta * (1 - min(p, 0.5)))
    z = min(1.0, pow((1 - s) * alone / p, 1 / s))
    best = p * (1 - z) + alone * pow(z, 1 - s)
    room = beta - rule.lean * weak
    return min(1.0, best, rule.strong / room if room > 0 and rule.strong < inf else inf)


def _least(value: Callable[[float], float], end: float) -> float:
    """Where a function of 0..end is smallest: the best of a grid, then halves of its step around that."""
    u, step = min((end * k / 480 for k in range(481)), key=value), end / 960
    while step > 1e-12:
        u, step = min((u - step, u, u + step), key=value), step / 2
    return u


def _needed(rule: SelfTuning) -> float:
    """The least (β − β₁)·D + T·price(β) over β ≥ β₁ that a search finds."""

    def value(u: float) -> float:
        beta = rule.first * exp(abs(u))
        return (beta - rule.first) * rule.diameter + rule.horizon * _price(rule, beta)

    return value(_least(value, 60.0))


def _every_round(rule: SelfTuning, claimed: Callable[[int], float]) -> Condition:
    """Theorem 2 after 1, 2, 4, … rounds: rounds one by one, then the integral of 1/r up to what is claimed."""

    def beta(v: float) -> float:
        return rule.first + rule.share * max(v - 1, 0.0) / rule.diameter

    def step(v: float) -> float:
        return (1 + SLACK) * _price(rule, beta(v) / (1 + rule.patience))

    def bound(v: float, t: int) -> float:
        spent = min((1 + GROWTH) * v + ROOM + 1 + SLACK, float(t))
        return rule.first * rule.diameter + (1 + rule.share) * spent

    powers, worst, where = [2**k for k in range(63)], 0.0, 1
    waited = ceil(1 / step(0.0))  # until v exceeds 1, β stays at β₁
    summed = {t: t * step(0.0) for t in powers if t <= waited}
    v, done = waited * step(0.0), waited
    while done < waited + SUMMED:
        v, done = v + step(v), done + 1
        if done.bit_count() == 1:
            summed[done] = v
    for t, climbed in summed.items():
        if bound(climbed, t) > worst * claimed(t):
            worst, where = bound(climbed, t) / claimed(t), t
    start, at, took, r = v, v, 0.0, step(v)
    above = beta(start) - (1 + rule.patience) * rule.lean * rule.weak
    ratio = (1 + rule.share * r / (rule.diameter * above)) ** 1.5 if above > 0 else inf
    for t in (power for power in powers if power > done):
        spent = (claimed(t) - rule.first * rule.diameter) / (1 + rule.share)
        if spent >= t:
            continue  # no round costs more than 1
        end = (spent - ROOM - 1 - SLACK) / (1 + GROWTH)
        if end > at:
            took += _integral(lambda y: 1 / step(y), at, end)
            at = end
        rounds = t - done + (ratio * log(r / step(start + (t - done) * r)) if ratio < inf else inf)
        if rounds > worst * took:
            worst, where = rounds / took if took > 0 else inf, t
    return _at_most(f"bound in every round, here after {where:,} rounds: computed/claimed", worst, 1.0)


def _integral(slow: Callable[[float], float], low: float, high: float) -> float:
    """Simpson's rule on a geometric grid; low ≥ 1."""
    u = np.linspace(log(low), log(high), 2 * POINTS + 1)
    values = np.array([slow(y) * y for y in np.exp(u)])
    weights = np.full(u.size, 2.0)
    weights[1::2], weights[[0, -1]] = 4.0, 1.0
    return float(values @ weights * (u[1] - u[0]) / 3)


def _at_most(name: str, left: float, right: float) -> Condition:
    """left ≤ right up to `ACCURACY`."""
    return Condition(name, left, right + ACCURACY * abs(right))
