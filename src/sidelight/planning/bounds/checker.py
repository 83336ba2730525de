"""An independent check of a plan's bound, from the graph, the partition and the numbers that are played.

Nothing of the planner is used: coverage, exploration, cliques and the right-hand side of Theorem general regret
are evaluated anew from the arrays of the tuning, with exact diameters. What takes a search to find, a cover by
cliques, the plan supplies, and it is verified here. The proofs are in docs/theory/.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import product
from math import ceil, e, exp, expm1, inf, log, log1p, pow, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sidelight._types import Bools, Floats, Longs
from sidelight.engine.constants import GROWTH, LARGEST_LIST, LARGEST_REACH, ROOM, SLACK
from sidelight.errors import InvalidOption
from sidelight.graph import FeedbackGraph
from sidelight.graph.altered import levels, loop_probability
from sidelight.planning.bounds.bound import Condition
from sidelight.planning.bounds.independent_sets import (
    independence,
    is_symmetric,
    mutual_independence,
    plain_independence,
)
from sidelight.planning.self_tuning.rule import SelfTuning
from sidelight.planning.tuning import EXACT_SPREAD, LAZY_FACTOR, Tuning

if TYPE_CHECKING:
    from sidelight.planning.plan import Plan


ACCURACY = 1e-8
"""Relative accuracy granted to sums and roots: rounding, and the tolerance of covers."""

MOST_ROUNDS = 2**63
"""Plans without a horizon are checked up to here."""


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
    if not isinstance(getattr(plan, "tuning", None), Tuning):
        raise InvalidOption(f"check_certificate needs a Plan, got {type(plan).__name__}")
    facts = _Facts(plan.graph, plan.tuning)
    listed = [*_blocks_agree(plan, facts), *facts.conditions()]
    if facts.n == 1:
        claimed = plan.curve.value_at(plan.horizon or 1)
        return (*listed, _at_most("one arm, computed ≤ claimed", 0.0, claimed))
    if plan.tuning.self_tuning is not None:
        listed += self_tuning_conditions(plan, plan.tuning.self_tuning, facts.fixed)
        return tuple(listed)
    if plan.horizon is None:
        return (*listed, Condition("rounds of a plan at fixed rates, without end", inf, MOST_ROUNDS))
    least, more = min(_totals(facts, float(plan.horizon), plan), key=lambda total: total[0])
    listed += more
    return (*listed, _at_most("computed bound ≤ claimed bound", least, plan.curve.value_at(plan.horizon)))


# -- what the tuning says, read off the graph ---------------------------------------------------------------


class _Facts:
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
        targets = self.tuning.load > 0
        wrong = np.abs(self.load[targets] / self.tuning.load[targets] - 1)
        listed = [Condition("γ̄ ≤ 1/2", self.gamma_bar, 0.5)]
        if self.m == 1:
            alone = float(self.local_total[0])
            listed.append(Condition("local exploration of a block without others", alone, 0.0))
        if targets.any():
            listed.append(Condition("loads are the sums of their cover", float(wrong.max()), ACCURACY))
            least = float(self.load[targets].min())
            listed.append(_at_most("every load is at least 1 (LP, Hölder)", 1.0, least))
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


def _blocks_agree(plan: Plan, facts: _Facts) -> list[Condition]:
    """The partition's blocks are played, and legal: arms are revealed inside theirs, or strongly observable alone."""
    blocks = [facts.arms(k) for k in range(facts.m)]
    same = facts.m == plan.partition.n_blocks and all(
        np.array_equal(np.sort(mine), theirs)
        for mine, theirs in zip(blocks, plan.partition.blocks, strict=True)
    )
    alone = facts.sizes[facts.owner] == 1
    strong = facts.graph.has_loop | facts.graph.is_universal
    hidden = np.where(alone, ~strong, facts.coverage(np.ones(facts.n)) == 0)
    return [
        Condition("blocks played that are not the partition's", 0.0 if same else 1.0, 0.0),
        Condition("violations of legality", float(hidden.sum()), 0.0),
    ]


# -- one simplex --------------------------------------------------------------------------------------------


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

    @property
    def height(self) -> float:
        """max of −potential over distributions on the group."""
        return _height([(len(self.arms), self.power, self.rate)])

    @property
    def corner(self) -> float:
        """−potential of one coordinate at 1."""
        return _corner(self.power, self.rate)


def _costs(facts: _Facts, groups: list[_Group], plan: Plan) -> Iterator[float]:
    """What a round costs at most, exploration included, by all ways to account for the groups of one simplex."""
    universal, loops = facts.graph.is_universal, loop_probability(facts.graph) == 1
    if facts.m == 1:
        options = []
        for group in groups:
            roles_of = ["covered"] if facts.watch(group.arms) > 0 else []
            roles_of += ["loop"] if group.power == 2 and loops[group.arms].all() else []
            roles_of += ["shift"] if group.power == 0 and universal[group.arms].all() else []
            options.append(roles_of)
        for roles in product(*options):
            yield _by_roles(facts, groups, roles)
        able = facts.graph.has_loop | (facts.fixed > 0)
        if len(groups) == 1 and groups[0].power == 0 and able.all():
            yield _by_coverage(facts, groups[0])
    explores_evenly = not (facts.tuning.spread.any() or facts.tuning.adaptive.any())
    if len(groups) == 1 and (universal | loops).all() and explores_evenly and facts.graph.certain:
        yield _by_cliques(facts, groups[0], plan.details.evidence)


def _by_roles(facts: _Facts, groups: list[_Group], roles: tuple[str, ...]) -> float:
    """Covered arms, arms that see themselves, loop-less arms that all others see.

    Proof: docs/theory/fixed-rates.md, Theorems 2 and 3.

    Covered and loop-less arms pay for what they lose, exploration costs γ̄ less what all arms lose: never both in
    full.
    """
    hidden = [group.arms for group, role in zip(groups, roles, strict=True) if role == "shift"]
    p = facts.seen_loopless(np.concatenate(hidden)) if hidden else 0.0
    if hidden and p <= 0:
        return inf
    rho = 1 / (1 - facts.gamma_bar)
    a, b, extra = facts.gamma_bar, 0.0, 0.0
    rates = []
    for group, role in zip(groups, roles, strict=True):
        n = len(group.arms)
        if role == "covered":
            a = max(a, group.eta / (2 * facts.watch(group.arms)))
            if hidden:
                extra += 0.5 * rho * group.eta * _shifted(group, p) * n**group.h
        elif role == "loop":
            b = sqrt(b * b + (rho * group.rate) ** 2 * n)
            rates.append((group.rate / 2, n))
        else:
            a = max(a, 0.5 * rho * exp(min(group.rate / p, 600.0)) * group.rate)
    per_round = a + b * b / (4 * a) if b < 2 * a else b
    return per_round + extra + (_shift_of_roots(rates, rho, p) if hidden else 0.0)


def _shifted(group: _Group, p: float) -> float:
    """How much x^{2−h} can grow under a shift of at most η/p."""
    u = (1 - group.h) * group.eta / p
    if group.h == 1:
        return exp(min(group.eta / p, 600.0))
    return (1 - u) ** (-(2 - group.h) / (1 - group.h)) if u < 1 else inf


def _by_coverage(facts: _Facts, group: _Group) -> float:
    """Entropy where exploration shows arms more or less, and those it shows less see themselves.

    Proof: docs/theory/fixed-rates.md, Theorem 4.

    For any b > 0 that all arms without self-loop reach, arms with one miss Σ (1 − shown/b)₊ of it. Between two values
    of `shown` the bound is monotone in b, or even at b = η/(2γ̄): the best b is one of these. What is missed counts
    1/r times, r the probability of the self-loop.
    """
    loops = facts.graph.has_loop
    order = np.argsort(facts.fixed[loops], kind="stable")
    shown, most = facts.fixed[loops][order], float(facts.fixed[~loops].min(initial=inf))
    counts = 1 / loop_probability(facts.graph)[loops][order]
    number = np.concatenate([[0.0], np.cumsum(counts)])
    total = np.concatenate([[0.0], np.cumsum(shown * counts)])
    gamma_bar, half = facts.gamma_bar, 0.5 * group.eta
    if gamma_bar == 0:
        return half * float(number[-1])
    tried = np.append(shown, [most, half / gamma_bar])
    b = tried[(tried > 0) & (tried <= most) & np.isfinite(tried)]
    below = np.searchsorted(shown, b)
    missed = number[below] - total[below] / b
    return float(np.min(np.maximum(half / b, gamma_bar) + half * missed / (1 - gamma_bar)))


def _by_cliques(facts: _Facts, group: _Group, evidence: Any) -> float:
    """One potential on a strongly observable graph: docs/theory/strong.md."""
    graph, n, given = facts.graph, facts.n, facts.tuning.global_exploration
    hidden, plain = np.flatnonzero(~graph.has_loop), np.flatnonzero(~graph.is_universal)
    generous = np.asarray(graph.out_degree) == n - 1 + graph.has_loop
    reserved = np.flatnonzero(graph.is_universal & ~generous)
    Q = mutual_independence(graph, evidence)
    # Groups of arms to which the bound for directed graphs applies, and what those that are left out add to it.
    groups = [(plain, int(reserved.size > 0))]
    groups += [(np.concatenate([plain, reserved]), 0)] if graph.has_loop[reserved].all() else []
    able = [(arms.size, float(given[arms].min()), beside) for arms, beside in groups if arms.size]
    able = [] if is_symmetric(graph) else [(size, least, beside) for size, least, beside in able if least > 0]
    directed = independence(graph, evidence) if able else n
    p = facts.seen_loopless(hidden) if hidden.size else 0.0

    copies = (1.0, 4.0, 16.0, 64.0, 256.0)  # any number proves a bound
    tried = [
        beside + 2 * (1 + 1 / k) * directed * log(1 + (k / least + size) / directed)
        for size, least, beside in able
        for k in copies
    ]
    seen = (
        min(float(Q), *tried) if tried else float(Q)
    )  # Σ x/P over arms with loops, with x for universal ones
    gamma_bar = facts.gamma_bar
    most = gamma_bar if plain.size else given[hidden].max(initial=0.0)
    rho = 1 / (1 - float(most))  # a universal arm without self-loop has X(1−X)/P ≤ X/(1−γ_i)
    if hidden.size:
        half = 0.5 * group.eta * _growth(group.eta / p if p > 0 and not group.power else inf)
        if not plain.size:  # all arms pay for what they lose, and exploration is taken from all
            return max(rho * half, gamma_bar)
        return min(rho * half * seen + gamma_bar, rho * (half * (Q - 1) + max(half, gamma_bar)))
    if not group.power and graph.universal.size == n:
        return gamma_bar + group.eta / 8  # Hoeffding: nothing is estimated
    return float(gamma_bar + 0.5 * group.eta * rho ** (2 - group.h) * seen**group.h)


def _growth(y: float) -> float:
    """2(e^y − 1 − y)/y²."""
    if y > 600:
        return inf
    return 2 * (expm1(y) - y) / (y * y) if y > 1e-3 else 1 + y / 3 + y * y / 12 + y**3 / 30


def _shift_of_roots(rates: list[tuple[float, int]], rho: float, p: float) -> float:
    """What the shift by the loop-less arms costs coordinates −√x/η, per round; ∞ where it may not converge."""
    if not rates:
        return 0.0
    u = 2 * max(rate for rate, _ in rates) * sqrt(rho / p)
    norm = sqrt(sum(rate * rate * count for rate, count in rates))
    peak = 0.64 * sqrt(0.2)  # max of y²√(1−y), at y = 4/5
    return 2 * rho * peak * norm * (1 - u) ** -3 if u < 1 else inf


# -- all rounds ---------------------------------------------------------------------------------------------

Total = tuple[float, list[Condition]]


def _totals(facts: _Facts, T: float, plan: Plan) -> Iterator[Total]:
    """The bound on T rounds with numbers that do not change, in every way that applies."""
    tuning = facts.tuning
    if facts.m == 1:
        groups = _groups(facts.arms(0), tuning.inner_power, tuning.inner_rate)
        if len(groups) == 1 and groups[0].power == 0 and facts.gamma_bar == 0:
            yield _still(facts.n, groups[0].rate / facts.least_shown, T), []
    elif not facts.graph.certain:  # proved for reveals that never fail
        groups = []
        yield inf, [Condition("blocks where reveals may fail", float(facts.m), 1.0)]
    else:
        groups = _groups(np.arange(facts.n), tuning.top_power[facts.owner], tuning.top_rate[facts.owner])
        yield _two_levels(facts, T)
    if groups and facts.m in (1, facts.n) and all(group.rate > 0 for group in groups):
        height = _height([(len(group.arms), group.power, group.rate) for group in groups])
        size = height - min(group.corner for group in groups)
        if facts.gamma_bar < 1:
            for cost in _costs(facts, groups, plan):
                yield size + T * cost, []
    yield inf, [Condition("groups of arms that nothing makes visible", 1.0, 0.0)]


def _still(n: int, rate: float, T: float) -> float:
    """Exponential weights without exploration at a rate that hardly moves them: R ≤ T·(1 − min_i X_i).

    While all weights are at least 1/(en), estimates are at most en. So they add up to at most enT, and weights are
    at least exp(−η·enT)/n, which keeps them above 1/(en) as long as η·enT ≤ 1.
    """
    drift = rate * e * n * T
    return T * (1 - exp(-drift) / n) if drift <= 1 else inf


# -- two levels ---------------------------------------------------------------------------------------------


def _two_levels(facts: _Facts, T: float) -> Total:
    """Theorem general regret: docs/theory/fixed-rates.md, section 6."""
    tuning = facts.tuning
    rho = 1 / (1 - facts.gamma_bar) if facts.gamma_bar < 1 else inf
    first = tuning.block_arms[tuning.block_start[:-1]]
    single, loop = facts.sizes == 1, facts.graph.has_loop[first]
    weak, looped, loopless = (np.flatnonzero(kind) for kind in (~single, single & loop, single & ~loop))
    listed: list[Condition] = []
    if weak.size:
        listed.append(_at_most("local exploration α_k ≤ 1", float(facts.local_total[weak].max()), 1.0))
    worst, steepness = 0.0, [tuning.top_rate[k] * rho for k in looped.tolist()]
    for k in weak.tolist():
        groups = _groups(facts.arms(k), tuning.inner_power, tuning.inner_rate)
        if len(groups) > 1:
            return inf, [*listed, Condition("potentials inside one of several blocks", 2.0, 1.0)]
        group, beta, watched = groups[0], facts.watch(facts.arms(k)), float(facts.local[facts.arms(k)].min())
        if beta <= 0 or watched <= 0 or group.rate <= 0:
            return inf, [*listed, Condition("arms of weak blocks that are not watched", 1.0, 0.0)]
        restricted = group.height - group.corner + T * group.eta / (2 * beta)
        worst = max(worst, restricted + facts.local_total[k] * T)
        steepness.append(tuning.top_rate[k] * rho / watched)  # 2η_k·ρ/λ_k, the rate being 2η_k
    roots = np.concatenate([weak, looped])
    if (tuning.top_power[roots] != 2).any() or (tuning.top_power[loopless] != 0).any():
        return inf, [*listed, Condition("top potentials of the wrong kind", 1.0, 0.0)]
    per_round = sqrt(sum(s * s for s in steepness))
    if loopless.size:
        p, rate = facts.seen_loopless(first[loopless]), float(tuning.top_rate[loopless].max())
        if p <= 0:
            return inf, listed
        per_round += 0.5 * rho * exp(min(rate / p, 600.0)) * rate
        per_round += _shift_of_roots([(float(r) / 2, 1) for r in tuning.top_rate[roots]], rho, p)
    tops = _groups(np.arange(facts.m), tuning.top_power, tuning.top_rate)
    diameter = _height([(len(top.arms), top.power, top.rate) for top in tops])
    diameter -= min(top.corner for top in tops)
    return diameter + T * (per_round + facts.gamma_bar) + worst, listed


# -- potentials ---------------------------------------------------------------------------------------------


def _groups(arms: Longs, *columns: Floats) -> list[_Group]:
    """Arms with equal entries in all columns; the first two are power and rate."""
    rows = np.column_stack([column[arms] for column in columns])
    distinct, index = np.unique(rows, axis=0, return_inverse=True)
    index = np.asarray(index).ravel()
    return [_Group(arms[index == g], float(row[0]), float(row[1])) for g, row in enumerate(distinct)]


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


# -- self-tuning plans -----------------------------------------------------------------------------------
# An independent check of self-tuning plans, from the graph and the numbers that are played.
#
# Cover, costs of rounds, diameter, and the right-hand side of Theorem 2 or the budget of Theorem 3 are derived anew;
# like the checker of other plans it uses nothing of the planner. The proofs are in docs/theory/self-tuning.md.


SUMMED, FINE = 1000, 0.005
"""Rounds that are summed one by one, and the length of a cell of the integral after them, in log β."""


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
    unseen = float((~covered & ~g.has_loop).sum())
    yield Condition("arms that neither the cover nor a self-loop shows", unseen, 0.0)
    if not covered.all():
        yield _at_most("arms beside the cover: ½Q^s ≤ beside", _looped(plan, s, ~covered) / 2, rule.beside)
    if rule.strong < inf:
        computed = min(_strong(plan, rule, covered, r) for r in levels(g))
        yield _at_most("cost on strongly observable graphs", computed, rule.strong)
    if plan.horizon is not None:
        yield Condition("rounds of another horizon", float(abs(rule.horizon - plan.horizon)), 0.0)
        yield _at_most("budget ≤ claimed bound", rule.budget, plan.curve.value_at(plan.horizon))
        computed = rule.first * rule.diameter + _needed(rule)
        yield _at_most("β₁·D + cost to go ≤ budget", computed, rule.budget - ROOM)
    else:
        yield Condition("budgets without a horizon", float(rule.horizon), 0.0)
        # Samples cannot show that a curve holds between them, where true ones have half a round to spare: so it must
        # be the function of the numbers that are played, which rise with what they allow, and samples check its code.
        claimed = plan.curve.to_dict().get("self_tuning", {})
        if {name: inf if x is None else x for name, x in claimed.items()} != asdict(rule):
            yield Condition("bound in every round: numbers of its curve that are not played", 1.0, 0.0)
        else:
            yield _every_self_tuned_round(rule, plan.curve.value_at)


def _looped(plan: Plan, s: float, arms: Bools) -> float:
    """Σ X^{2−s}/P over these arms is at most this, by cliques of some probability or by self-loops; ∞ for none."""
    g, most = plan.graph, inf
    for r in levels(g):
        likely = g.at_least(r)
        if likely.has_loop[arms].all():
            most = min(most, float(mutual_independence(likely, plan.details.evidence_at(r))) ** s / r)
    if not g.certain:
        own = np.array([g.probability(i, i) for i in np.flatnonzero(arms).tolist()])
        most = min(most, float((own ** (-1 / s)).sum()) ** s if own.all() else inf)
    return most


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
    evidence = plan.details.evidence_at(r)
    plain, seen = float(plain_independence(g, evidence)), float(mutual_independence(g, evidence))
    explored, loops = k * rule.weak, plain**s / (2 * r)

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
    if (1 - s) * r >= 1:
        return inf
    grown = expm1(r) if s == 1 else expm1(-s / (1 - s) * log1p(-(1 - s) * r)) / s
    return (grown / r - 1) / r


def _round_cost(rule: SelfTuning, beta: float) -> float:
    """What a round at β costs at most, with the claimed numbers."""
    room = beta - rule.lean * rule.weak
    strong = rule.strong / room if room > 0 and rule.strong < inf else inf
    return min(1.0, _covered_cost(rule, beta), strong)


def _covered_cost(rule: SelfTuning, beta: float) -> float:
    """The cost of the cover, and of arms beside it that see themselves."""
    s, weak = rule.order, rule.weak
    p = sqrt(weak / (2 * beta)) if beta >= 2 * weak else weak / beta
    alone = rule.beside / (beta * (1 - min(p, 0.5)))
    z = min(1.0, pow((1 - s) * alone / p, 1 / s))
    return p * (1 - z) + alone * pow(z, 1 - s)


def _least(value: Callable[[float], float], start: float, end: float) -> float:
    """Where a function of start..end is smallest: the best of a grid, then halves of its step around that."""
    u, step = min((start + (end - start) * k / 480 for k in range(481)), key=value), (end - start) / 960
    while step > 1e-12:
        u, step = min((max(u - step, start), u, min(u + step, end)), key=value), step / 2
    return u


def _needed(rule: SelfTuning) -> float:
    """The least (β − β₁)·D + T·cost(β) over β ≥ β₁ that a search finds."""

    def value(u: float) -> float:
        beta = rule.first * exp(u)
        return (beta - rule.first) * rule.diameter + rule.horizon * _round_cost(rule, beta)

    # At β = 2·weak the cost of the cover has a kink, and with it the sum may have a minimum on either side.
    kink = log(max(2 * rule.weak / rule.first, 1.0))
    return min(value(_least(value, 0.0, kink)), value(_least(value, kink, 60.0)))


def _every_self_tuned_round(rule: SelfTuning, curve: Callable[[int], float]) -> Condition:
    """Theorem 2: the first rounds one by one, then the integral of 1/r up to the claim, in rounds 1/64 apart.

    Between two of them the claim is at least that at the first, and must not fall.
    """

    def beta(v: float) -> float:
        return rule.first + rule.share * max(v - 1, 0.0) / rule.diameter

    def step(v: float) -> float:
        return (1 + SLACK) * _round_cost(rule, beta(v) / (1 + rule.patience))

    def bound(v: float, t: int) -> float:
        spent = min((1 + GROWTH) * v + ROOM + 1 + SLACK, float(t))
        return rule.first * rule.diameter + (1 + rule.share) * spent

    worst, where, highest = 0.0, 1, 0.0

    def claimed(t: int) -> float:
        nonlocal worst, where, highest
        claim = curve(t)
        if claim < highest * (1 - ACCURACY):
            worst, where = inf, t
        highest = max(highest, claim)
        return claim

    def compare(needed: float, granted: float, t: int) -> None:
        nonlocal worst, where
        if needed > worst * granted:
            worst, where = needed / granted if granted > 0 else inf, t

    waited = ceil(
        1 / step(0.0)
    )  # until v exceeds 1, β stays at β₁: what is compared is linear in t, and cut at t
    for t in _spaced(1, waited):
        compare(bound(t * step(0.0), t), claimed(t), t)
    v, done = waited * step(0.0), waited
    while done < waited + SUMMED:
        v, done = v + step(v), done + 1
        compare(bound(v, done), claimed(done), done)
    r = step(v)
    above = beta(v) - (1 + rule.patience) * rule.lean * rule.weak
    ratio = (1 + rule.share * r / (rule.diameter * above)) ** 1.5 if above > 0 else inf
    ends = {}
    for t in _spaced(done + 1, 2**62):
        spent = (claimed(t) - rule.first * rule.diameter) / (1 + rule.share)
        if spent < t * (1 - ACCURACY):  # no round costs more than 1
            ends[t] = beta(max((spent - ROOM - 1 - SLACK) / (1 + GROWTH), v))
    for t, took in zip(ends, _climbing(rule, beta(v), list(ends.values())).tolist(), strict=True):
        rounds = t - done + (ratio * log(r / step(v + (t - done) * r)) if ratio < inf else inf)
        compare(rounds, took, t)
    return _at_most(f"bound in every round, here after {where:,} rounds: computed/claimed", worst, 1.0)


def _spaced(first: int, last: int) -> Iterator[int]:
    """From `first` to `last`, each at most a 64th above the one before."""
    while first < last:
        yield first
        first += max(first // 64, 1)
    yield last


def _climbing(rule: SelfTuning, start: float, ends: list[float]) -> Floats:
    """Rounds of the integral, from below, in which β̃ climbs from `start` to each of `ends`.

    1/r is the largest of three functions whose logarithms are concave in log β, but for one kink of the second: in
    each cell the integral of a chord of one of them, a power of β, is a lower bound. The largest counts, and cells
    begin where another becomes the largest, so that little is lost.
    """
    if not ends:
        return np.zeros(0)
    farthest, kink = max(ends), 2 * rule.weak * (1 + rule.patience)
    grid = np.geomspace(start, farthest, max(2, ceil(log(farthest / start) / FINE) + 1))
    beta = np.unique(np.concatenate([grid, ends, [kink] if start < kink < farthest else []]))
    smallest = np.argmin(_costs_at(rule, beta), axis=0)
    turns = [_turn(rule, *beta[k : k + 2].tolist()) for k in np.flatnonzero(np.diff(smallest)).tolist()]
    beta = np.unique(np.concatenate([beta, turns]))
    steps, cells = np.diff(np.log(beta)), np.zeros(beta.size - 1)
    for costs in _costs_at(rule, beta):
        rounds = rule.diameter / (rule.share * (1 + SLACK) * costs)
        said = rounds[:-1] > 0  # a cost that is ∞ where the cell begins says nothing
        rounds = np.where(rounds > 0, rounds, 1.0)
        power = np.diff(np.log(rounds)) / steps + 1
        takes = rounds[:-1] * beta[:-1] * np.expm1(power * steps) / power
        cells = np.where(said, np.maximum(cells, takes), cells)
    took: Floats = np.interp(ends, beta, np.concatenate([[0.0], np.cumsum(cells)]))
    return took


def _costs_at(rule: SelfTuning, beta: Floats) -> Floats:
    """(3, ...) the bounds on the cost of a round whose least `_round_cost` is, at many β̃."""
    now = beta / (1 + rule.patience)
    room = now - rule.lean * rule.weak
    strong = np.full(now.size, inf)
    if rule.strong < inf:
        strong[room > 0] = rule.strong / room[room > 0]
    return np.stack([np.ones(now.size), [_covered_cost(rule, b) for b in now.tolist()], strong])


def _turn(rule: SelfTuning, low: float, high: float) -> float:
    """Where between two β̃ another of the bounds becomes the smallest."""
    before = np.argmin(_costs_at(rule, np.array([low])))
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        same = np.argmin(_costs_at(rule, np.array([middle]))) == before
        low, high = (middle, high) if same else (low, middle)
    return low
