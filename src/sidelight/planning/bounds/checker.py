"""An independent check of a plan's bound, from the graph, the partition and the numbers that are played.

Nothing of the planner is used: coverage, exploration and the right-hand side of Theorem general regret
are evaluated anew from the arrays of the tuning, with exact diameters. The proofs are in docs/theory/.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import cbrt, e, exp, inf, log, sqrt
from typing import NamedTuple

import numpy as np

from sidelight._types import Floats, Longs
from sidelight.analysis import independence_number
from sidelight.errors import InvalidOption
from sidelight.graph import FeedbackGraph
from sidelight.partition import legality_violations
from sidelight.planning.anytime.doubling import DoublingPlan
from sidelight.planning.anytime.strong import StrongAnytimeBound
from sidelight.planning.bounds.bound import Condition
from sidelight.planning.minimised.strong import directed_sight, growth, sight
from sidelight.planning.planner import AnytimePlan, Plan
from sidelight.planning.tuning import LAZY_FACTOR, Tuning

ACCURACY = 1e-8
"""Relative accuracy granted to sums and roots: rounding, and the tolerance of covers."""


def check_certificate(plan: Plan) -> tuple[Condition, ...]:
    """Every inequality that the bound of `plan` rests on, re-evaluated; the bound follows if all of them hold.

    The last one compares the bound computed here with the one claimed. These inequalities are not weaker than
    the theorems' conditions, but not the same: a plan that misses a condition of its theorem may pass.

    >>> from sidelight.graph import FeedbackGraph
    >>> from sidelight.planning import plan
    >>> ring = FeedbackGraph.from_edges(5, [(i, (i + 1) % 5) for i in range(5)])
    >>> all(condition.holds for condition in check_certificate(plan(ring, 10_000)))
    True
    """
    if not isinstance(plan, Plan):
        raise InvalidOption(f"check_certificate needs a Plan, got {type(plan).__name__}")
    if isinstance(plan, DoublingPlan):
        raise InvalidOption(
            "a doubling plan plays many plans: check plan.bound.stage(k), k = 0, 1, 2, …, instead"
        )
    facts = _Facts(plan.graph, plan.tuning)
    conditions = [*_blocks_agree(plan, facts), *facts.conditions()]
    if isinstance(plan, AnytimePlan):
        if isinstance(plan.bound, StrongAnytimeBound):
            return (*conditions, *_anytime_strong(facts, plan.bound))
        weak, strong = _anytime(facts)
        conditions.append(_at_most("coefficient of t^(2/3), computed ≤ claimed", weak, plan.bound.weak))
        conditions.append(_at_most("coefficient of t^(1/2), computed ≤ claimed", strong, plan.bound.strong))
        return tuple(conditions)
    T = float(plan.horizon)
    found, listed = _flat(facts, T) if facts.m == 1 else _two_levels(facts, T)
    if facts.m == facts.n > 1:
        found, listed = min((found, listed), _one_simplex(facts, T), key=lambda result: result[0])
    return (*conditions, *listed, _at_most("computed bound ≤ claimed bound", found, plan.bound.value))


# -- what the tuning says, read off the graph ---------------------------------------------------------------


class _Facts:
    """Coverage and exploration of one tuning, and which arms are seen how."""

    def __init__(self, graph: FeedbackGraph, tuning: Tuning) -> None:
        self.graph, self.tuning = graph, tuning
        self.n, self.m, self.sizes = tuning.n_arms, tuning.n_blocks, tuning.sizes
        self.owner = np.empty(self.n, dtype=np.int64)
        for k in range(self.m):
            self.owner[tuning.block_arms[tuning.block_start[k] : tuning.block_start[k + 1]]] = k
        self.source = np.repeat(np.arange(self.n), np.diff(graph.out_indptr))
        self.target = graph.out_indices.astype(np.int64)
        self.load = self.coverage(tuning.cover)
        self.fixed = self.coverage(tuning.global_exploration)
        self.local = self.coverage(tuning.local_exploration)
        self.h = np.where(tuning.inner_power > 0, 1 - 1 / np.maximum(tuning.inner_power, 1.0), 1.0)
        gap = np.where(tuning.inner_power > 0, 1 - self.h, 1.0)
        self.eta = tuning.inner_rate / gap  # of the normalised potential −Σ x^h/(h(1−h)η)
        self.spread_cost = self._spread_cost()
        self.gamma_bar = float(
            tuning.global_exploration.sum()
            + np.sum(tuning.adaptive * np.sqrt(self.sizes))
            + np.sum(self.spread_cost)
        )
        self.rho = 1 / (1 - self.gamma_bar) if self.gamma_bar < 1 else inf

    def coverage(self, mass: Floats) -> Floats:
        """(n,) Σ of `mass` over the in-neighbours of each arm inside its block."""
        found = np.zeros(self.n)
        inside = self.owner[self.source] == self.owner[self.target]
        np.add.at(found, self.target[inside], mass[self.source[inside]])
        total = np.zeros(self.m)
        np.add.at(total, self.owner, mass)
        for arm in self.graph.universal.tolist():
            found[arm] = total[self.owner[arm]] - (0.0 if self.graph.has_loop[arm] else mass[arm])
        return found

    def _spread_cost(self) -> Floats:
        """(m,) spread_k·κ_k·δ_k^h: Hölder's inequality needs 1 ≤ load, which `conditions` lists."""
        cost = np.zeros(self.m)
        mass = np.zeros(self.m)
        np.add.at(mass, self.owner, self.tuning.cover)
        for k in np.flatnonzero(self.tuning.spread > 0):
            owed = self.arms(int(k))
            owed = owed[self.tuning.load[owed] > 0]
            lazy = LAZY_FACTOR if self.sizes[k] > 24 else 1.0
            cost[k] = self.tuning.spread[k] * lazy * mass[k] ** self.h[owed].max()
        return cost

    def arms(self, k: int) -> Longs:
        tuning = self.tuning
        return tuning.block_arms[tuning.block_start[k] : tuning.block_start[k + 1]]

    def watch(self, arms: Longs) -> float:
        """β with P_i ≥ β·X_i^{1−h} for each of these arms of one block, by exploration alone; 0 for none."""
        k, tuning = int(self.owner[arms[0]]), self.tuning
        constant = float(self.fixed[arms].min())  # X^{1−h} ≤ 1
        owed = tuning.load[arms] > 0
        follows = 0.0
        if owed.all() and tuning.spread[k] > 0:
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
        owed = self.tuning.load > 0
        wrong = np.abs(self.load[owed] / self.tuning.load[owed] - 1)
        listed = [Condition("γ̄ ≤ 1/2", self.gamma_bar, 0.5)]
        if owed.any():
            listed.append(Condition("loads are the sums of their cover", float(wrong.max()), ACCURACY))
            listed.append(
                _at_most("every load is at least 1 (LP, Hölder)", 1.0, float(self.load[owed].min()))
            )
        return listed

    def seen_loopless(self, arms: Longs) -> float:
        """Least chance to see one of these loop-less universal arms by exploration."""
        constant = self.tuning.global_exploration
        least = float((constant.sum() - constant[arms]).min())
        outside = np.ones(self.m, dtype=bool)
        outside[self.owner[arms]] = False
        least += float(np.sum(self.tuning.adaptive[outside]))  # Σ √X ≥ 1
        for k in np.flatnonzero(outside & (self.tuning.spread > 0)):
            owed = self.arms(int(k))
            owed = owed[self.tuning.load[owed] > 0]
            if owed.size == self.sizes[k]:  # some arm has X ≥ 1/n, and is watched for it
                least += float(self.tuning.spread[k] * self.sizes[k] ** (self.h[owed].max() - 1))
        return least


def _blocks_agree(plan: Plan, facts: _Facts) -> list[Condition]:
    blocks = [facts.arms(k) for k in range(facts.m)]
    same = facts.m == plan.partition.n_blocks and all(
        np.array_equal(np.sort(mine), theirs)
        for mine, theirs in zip(blocks, plan.partition.blocks, strict=True)
    )
    return [
        Condition("blocks played that are not the partition's", 0.0 if same else 1.0, 0.0),
        Condition("violations of legality", float(len(legality_violations(plan.graph, blocks))), 0.0),
    ]


# -- the right-hand side ------------------------------------------------------------------------------------


class _Group(NamedTuple):
    """Coordinates of one simplex that share a potential."""

    arms: Longs
    power: float
    rate: float

    @property
    def h(self) -> float:
        return 1 - 1 / self.power if self.power else 1.0

    @property
    def eta(self) -> float:
        """Rate of the normalised potential −Σ x^h/(h(1−h)η)."""
        return self.rate / (1 - self.h) if self.power else self.rate


def _flat(facts: _Facts, T: float) -> tuple[float, list[Condition]]:
    """One block: the best of all ways to account for its groups."""
    if facts.n == 1:
        return 0.0, []
    groups = _groups(facts.arms(0), facts.tuning.inner_power, facts.tuning.inner_rate)
    if len(groups) == 1 and groups[0].power == 0 and facts.gamma_bar == 0:
        return _still(facts.n, groups[0].rate, T), []
    universal, loops = facts.graph.is_universal, facts.graph.has_loop
    options = []
    for group in groups:
        able = ["covered"] if facts.watch(group.arms) > 0 else []
        able += ["loop"] if group.power == 2 and loops[group.arms].all() else []
        able += ["shift"] if group.power == 0 and (universal & ~loops)[group.arms].all() else []
        options.append(able)
    tried = [_flat_as(facts, T, groups, roles) for roles in product(*options)]
    if len(groups) == 1 and groups[0].power == 0:
        tried += _watched(facts, T, groups[0].rate)
    if not tried:
        return inf, [Condition("groups of arms that nothing makes visible", 1.0, 0.0)]
    return min(tried, key=lambda result: result[0])


def _still(n: int, rate: float, T: float) -> float:
    """Exponential weights without exploration at a rate that hardly moves them: R ≤ T·(1 − min_i X_i).

    While all weights are at least 1/(en), estimates are at most en. So they add up to at most enT, and weights are
    at least exp(−η·enT)/n, which keeps them above 1/(en) as long as η·enT ≤ 1.
    """
    drift = rate * e * n * T
    return T * (1 - exp(-drift) / n) if drift <= 1 else inf


def _watched(facts: _Facts, T: float, eta: float) -> list[tuple[float, list[Condition]]]:
    """Entropy where exploration shows some arms and all others see themselves
    (planning/minimised/dominating_set.py)."""
    shown = facts.fixed > 0
    if not shown.any() or not facts.graph.has_loop[~shown].all():
        return []
    variance = 1 / float(facts.fixed[shown].min()) + facts.rho * int((~shown).sum())
    return [(log(facts.n) / eta + T * (0.5 * eta * variance + facts.gamma_bar), [])]


def _flat_as(
    facts: _Facts, T: float, groups: list[_Group], roles: tuple[str, ...]
) -> tuple[float, list[Condition]]:
    by_role: dict[str, list[_Group]] = {"covered": [], "loop": [], "shift": []}
    for group, role in zip(groups, roles, strict=True):
        by_role[role].append(group)
    rho = facts.rho
    slopes = [group.eta / (2 * facts.watch(group.arms)) for group in by_role["covered"]]
    roots = [rho * group.rate * sqrt(len(group.arms)) for group in by_role["loop"]]
    a, b = max(slopes, default=0.0), sqrt(sum(root**2 for root in roots))
    per_round = a + b * b / (4 * a) if b < 2 * a else b
    listed: list[Condition] = []
    if by_role["shift"]:
        hidden = np.concatenate([group.arms for group in by_role["shift"]])
        p = facts.seen_loopless(hidden)
        if p <= 0:
            return inf, listed
        for group in by_role["shift"]:
            per_round += 0.5 * rho * exp(group.rate / p) * group.rate
        for group in by_role["covered"]:
            u = (1 - group.h) * group.eta / p
            listed.append(Condition("(1−h)·η/p < 1", u, 1 - 1e-9))
            if u >= 1:
                return inf, listed
            growth = exp(group.eta / p) if group.h == 1 else (1 - u) ** (-(2 - group.h) / (1 - group.h))
            per_round += 0.5 * rho * group.eta * growth * len(group.arms) ** group.h
        shift, condition = _shift_of_roots([(g.rate / 2, len(g.arms)) for g in by_role["loop"]], rho, p)
        per_round += shift
        listed += condition
    height = _height([(len(group.arms), group.power, group.rate) for group in groups])
    corner = min(_corner(group.power, group.rate) for group in groups)
    return height - corner + T * (per_round + facts.gamma_bar), listed


def _two_levels(facts: _Facts, T: float) -> tuple[float, list[Condition]]:
    tuning, rho = facts.tuning, facts.rho
    weak = np.flatnonzero(facts.sizes > 1)
    first = tuning.block_arms[tuning.block_start[:-1]]
    single = facts.sizes == 1
    looped = np.flatnonzero(single & facts.graph.has_loop[first])
    loopless = np.flatnonzero(single & ~facts.graph.has_loop[first])
    listed: list[Condition] = []
    worst, steepness = 0.0, []
    totals = np.zeros(facts.m)
    np.add.at(totals, facts.owner, tuning.local_exploration)
    if weak.size:
        listed.append(_at_most("local exploration α_k ≤ 1", float(totals[weak].max()), 1.0))
    for k in weak.tolist():
        arms = facts.arms(k)
        group = _Group(arms, float(tuning.inner_power[arms[0]]), float(tuning.inner_rate[arms[0]]))
        if (tuning.inner_power[arms] != group.power).any() or (tuning.inner_rate[arms] != group.rate).any():
            return inf, [*listed, Condition("potentials inside one of several blocks", 2.0, 1.0)]
        beta, watched = facts.watch(arms), float(facts.local[arms].min())
        if beta <= 0 or watched <= 0 or group.rate <= 0:
            return inf, [*listed, Condition("arms of weak blocks that are not watched", 1.0, 0.0)]
        height = _height([(len(arms), group.power, group.rate)]) - _corner(group.power, group.rate)
        worst = max(worst, height + T * group.eta / (2 * beta) + totals[k] * T)
        steepness.append(tuning.top_rate[k] * rho / watched)  # 2η_k·ρ/λ_k, the rate being 2η_k
    steepness += [tuning.top_rate[k] * rho for k in looped.tolist()]
    right = (tuning.top_power[weak] == 2).all() and (tuning.top_power[looped] == 2).all()
    if not (right and (tuning.top_power[loopless] == 0).all()):
        return inf, [*listed, Condition("top potentials of the wrong kind", 1.0, 0.0)]
    per_round = sqrt(sum(s * s for s in steepness))
    if loopless.size:
        p = facts.seen_loopless(first[loopless])
        if p <= 0:
            return inf, listed
        rate = float(tuning.top_rate[loopless].max())
        per_round += 0.5 * rho * exp(rate / p) * rate
        roots = np.concatenate([weak, looped])
        shift, condition = _shift_of_roots([(float(r) / 2, 1) for r in tuning.top_rate[roots]], rho, p)
        per_round += shift
        listed += condition
    pairs, counts = np.unique(
        np.column_stack([tuning.top_power, tuning.top_rate]), axis=0, return_counts=True
    )
    groups = [(int(count), float(q), float(a)) for (q, a), count in zip(pairs, counts, strict=True)]
    diameter = _height(groups) - min(_corner(q, a) for _, q, a in groups)
    return diameter + T * (per_round + facts.gamma_bar) + worst, listed


def _one_simplex(facts: _Facts, T: float) -> tuple[float, list[Condition]]:
    """Singletons that all share one potential, on a strongly observable graph: docs/theory/strong.md."""
    tuning, graph, n = facts.tuning, facts.graph, facts.n
    alike = (tuning.top_power == tuning.top_power[0]).all() and (tuning.top_rate == tuning.top_rate[0]).all()
    if not alike or not (graph.has_loop | graph.is_universal).all():
        return inf, []
    group = _Group(np.arange(n), float(tuning.top_power[0]), float(tuning.top_rate[0]))
    stability, listed = _strong_stability(facts, group)
    size = _height([(n, group.power, group.rate)]) - _corner(group.power, group.rate)
    return size + T * (stability(1.0) + facts.gamma_bar), listed


def _strong_stability(facts: _Facts, group: _Group) -> tuple[Callable[[float], float], list[Condition]]:
    """What a round costs on a strongly observable graph, as a function of the factor on rates and exploration."""
    tuning, graph = facts.tuning, facts.graph
    loops, hidden = np.flatnonzero(graph.has_loop), np.flatnonzero(~graph.has_loop)
    least = float(tuning.global_exploration[loops].min()) if loops.size else 0.0
    sighted, listed = _sight(graph, least > 0)
    p = facts.seen_loopless(hidden) if hidden.size else 0.0

    def stability(factor: float) -> float:
        eta, Q, rho = factor * group.eta, sighted(factor * least), 1 / (1 - factor * facts.gamma_bar)
        if hidden.size:
            shift = growth(group.eta / p) if p > 0 and not group.power else inf  # η and p fall alike
            return 0.5 * eta * rho * shift * (Q + 1)
        if not group.power and graph.universal.size == facts.n:
            return eta / 8  # Hoeffding: nothing is estimated
        return float(0.5 * eta * rho ** (2 - group.h) * Q**group.h) if Q else inf

    return (stability if facts.gamma_bar < 1 else lambda _: inf), listed


def _sight(graph: FeedbackGraph, explored: bool) -> tuple[Callable[[float], float], list[Condition]]:
    """Q with Σ x/P ≤ Q on the arms with self-loops, from clique covers that are verified here.

    It is a function of the least chance of being explored that those arms have, if they are explored at all.
    """
    found = sight(graph)
    if found is None:
        return lambda _: 0.0, []
    listed: list[Condition] = []
    if found.mutual is not None and found.cover is not None:
        one_way = sum(
            not (graph.reveals(found.arms[i], found.arms[j]) and graph.reveals(found.arms[j], found.arms[i]))
            for i, j in found.mutual.edges()
        )
        listed.append(Condition("edges of cliques that go one way", float(one_way), 0.0))
        found.cover.verify(found.mutual)
        listed.append(
            _at_most("independent ≤ clique cover", float(found.cover.lower), float(found.cover.upper))
        )
    Q, n_loop = float(found.value), int(graph.has_loop.sum())
    if found.symmetric or not explored:
        return lambda _: Q, listed
    whole = independence_number(graph)
    whole.verify(graph)
    return lambda least: min(Q, directed_sight(whole.upper, n_loop, least)), listed


def _shift_of_roots(rates: list[tuple[float, int]], rho: float, p: float) -> tuple[float, list[Condition]]:
    """What the shift by the loop-less arms costs coordinates −√x/η, per round."""
    if not rates:
        return 0.0, []
    u = 2 * max(rate for rate, _ in rates) * sqrt(rho / p)
    condition = Condition("2·max η·√(ρ/p) < 1", u, 1 - 1e-9)
    norm = sqrt(sum(rate * rate * count for rate, count in rates))
    peak = 0.64 * sqrt(0.2)  # max of y²√(1−y), at y = 4/5
    return (2 * rho * peak * norm * (1 - u) ** -3 if u < 1 else inf), [condition]


def _anytime(facts: _Facts) -> tuple[float, float]:
    """Coefficients of t^{2/3} and t^{1/2} that the tuning and its schedule guarantee."""
    tuning, schedule = facts.tuning, facts.tuning.schedule
    if schedule is None or facts.m != 1:
        return inf, inf
    if facts.n == 1:
        return 0.0, 0.0
    start, stretch = float(schedule.start), 17 / 16
    weak = strong = 0.0
    groups = _groups(facts.arms(0), tuning.inner_power, tuning.inner_rate)
    exponents = [set(schedule.inner_rate[group.arms].tolist()) for group in groups]
    for group, exponent in zip(groups, exponents, strict=True):
        size = _height([(len(group.arms), group.power, group.rate)])
        size -= _corner(group.power, group.rate) if len(groups) == 1 else 0.0
        beta = facts.watch(group.arms)
        if exponent == {-2 / 3} and beta > 0 and schedule.exploration == -1 / 3:
            weak += size / cbrt(start * start)
            weak += 1.5 * cbrt(stretch) * cbrt(start) * (group.eta / (2 * beta) + facts.gamma_bar)
        elif exponent == {-1 / 2} and group.power == 2 and facts.graph.has_loop[group.arms].all():
            strong += size / sqrt(start) + 2 * sqrt(stretch * start) * (
                (2.0 if weak or facts.gamma_bar > 0 else 1.0) * group.rate * sqrt(len(group.arms))
            )
        else:
            return inf, inf
    return weak, strong


def _anytime_strong(facts: _Facts, claimed: StrongAnytimeBound) -> list[Condition]:
    """The sum over all rounds, epoch by epoch, against the claim.

    Both are linear in t inside an epoch, except for its last round, after which rates fall: to compare them in its
    first and its last two rounds is to compare them in every one.
    """
    tuning, schedule, n = facts.tuning, facts.tuning.schedule, facts.n
    if n == 1:
        return [_at_most("one arm, computed ≤ claimed", 0.0, claimed.value(1))]
    groups = _groups(facts.arms(0), tuning.inner_power, tuning.inner_rate)
    plain = not any(part.any() for part in (tuning.spread, tuning.adaptive, tuning.local_exploration))
    if schedule is None or facts.m > 1 or len(groups) > 1 or groups[0].rate <= 0 or not plain:
        return [Condition("tunings that are not one potential in one block, by rounds", 1.0, 0.0)]
    listed = [
        Condition("exponents that are not −1/2", float((schedule.inner_rate != -1 / 2).sum()), 0.0),
        Condition("exploration falls like t^(−1/2)", abs(schedule.exploration + 1 / 2), 0.0),
        Condition(
            "arms not strongly observable",
            float((~(facts.graph.has_loop | facts.graph.is_universal)).sum()),
            0.0,
        ),
    ]
    if not all(condition.holds for condition in listed):
        return listed
    stability, more = _strong_stability(facts, groups[0])
    size = _height([(n, groups[0].power, groups[0].rate)]) - _corner(groups[0].power, groups[0].rate)
    start, paid, begins = schedule.start, 0.0, 1
    closest, where = (0.0, 1.0), 1
    while begins < 2**63:
        following = -(-begins * 17 // 16)
        factor, next_factor = (sqrt(start / max(t, start)) for t in (begins, following))
        cost = stability(factor) + factor * facts.gamma_bar
        for t in {begins, max(following - 2, begins), following - 1}:
            diameter = size / (next_factor if t == following - 1 else factor)
            found, told = diameter + paid + cost * (t - begins + 1), claimed.value(t)
            if found * closest[1] > told * closest[0]:
                closest, where = (found, told), t
        paid += cost * (following - begins)
        begins = following
    name = f"bound in every round, here after {where:,} rounds: computed ≤ claimed"
    return [*listed, *more, _at_most(name, *closest)]


# -- potentials ---------------------------------------------------------------------------------------------


def _groups(arms: Longs, power: Floats, rate: Floats) -> list[_Group]:
    pairs, index = np.unique(np.column_stack([power[arms], rate[arms]]), axis=0, return_inverse=True)
    index = np.asarray(index).ravel()
    return [_Group(arms[index == g], float(q), float(a)) for g, (q, a) in enumerate(pairs)]


def _corner(power: float, rate: float) -> float:
    """−potential of one coordinate at 1: q/((q−1)·a), or 0 for entropy."""
    return power / ((power - 1) * rate) if power else 0.0


def _height(groups: list[tuple[int, float, float]]) -> float:
    """max of −potential over the simplex, from above, by weak duality.

    For every λ it is at most λ + Σ max_x (f(x) − λx); the best λ is where the maximisers add up to one.
    """

    def point(power: float, rate: float, lam: float) -> float:
        if power:
            return 1.0 if rate * lam <= 1 else (rate * lam) ** -power
        return exp(min(-1 - rate * lam, 0.0))

    def slope(power: float, rate: float, x: float) -> float:
        return x ** (-1 / power) / rate if power else -(1 + log(x)) / rate

    def value(power: float, rate: float, x: float) -> float:
        return x ** (1 - 1 / power) * _corner(power, rate) if power else -x * log(x) / rate if x > 0 else 0.0

    total = sum(count for count, _, _ in groups)
    low = max(slope(q, a, 1.0) for _, q, a in groups)
    high = max(slope(q, a, 1.0 / total) for _, q, a in groups)
    for _ in range(200):
        middle = (low + high) / 2
        if sum(count * point(q, a, middle) for count, q, a in groups) > 1:
            low = middle
        else:
            high = middle
    best = inf
    for lam in (low, high):
        peaks = [(count, q, a, point(q, a, lam)) for count, q, a in groups]
        best = min(best, lam + sum(count * (value(q, a, x) - lam * x) for count, q, a, x in peaks))
    return best


def _at_most(name: str, left: float, right: float) -> Condition:
    """left ≤ right up to the accuracy of sums, which `right` is granted."""
    return Condition(name, left, right + ACCURACY * max(abs(right), 1 / e**9))
