"""An independent check of a plan's bound, from the graph, the partition and the numbers that are played.

Nothing of the planner is used: coverage, exploration, cliques and the right-hand side of Theorem general regret
are evaluated anew from the arrays of the tuning, with exact diameters. What takes a search to find, a cover by
cliques, the plan supplies, and it is verified here. The proofs are in docs/theory/.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import e, exp, expm1, inf, log, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sidelight._types import Floats, Longs
from sidelight.errors import InvalidOption
from sidelight.graph.altered import loop_probability
from sidelight.planning.bounds.bound import Condition
from sidelight.planning.bounds.checker_facts import ACCURACY, Facts, at_most, leaning_price, sides_of
from sidelight.planning.bounds.checker_tuned import self_tuning_conditions
from sidelight.planning.bounds.independent_sets import independence, is_symmetric, mutual_independence
from sidelight.planning.tuning import Tuning

if TYPE_CHECKING:
    from sidelight.planning.plan import Plan


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
    facts = Facts(plan.graph, plan.tuning)
    listed = [*_blocks_agree(plan, facts), *facts.conditions()]
    if facts.n == 1:
        claimed = plan.curve.value_at(plan.horizon or 1)
        return (*listed, at_most("one arm, computed ≤ claimed", 0.0, claimed))
    if plan.tuning.self_tuning is not None:
        listed += self_tuning_conditions(plan, plan.tuning.self_tuning, facts)
        return tuple(listed)
    if plan.horizon is None:
        return (*listed, Condition("rounds of a plan at fixed rates, without end", inf, MOST_ROUNDS))
    least, more = min(_totals(facts, float(plan.horizon), plan), key=lambda total: total[0])
    listed += more
    return (*listed, at_most("computed bound ≤ claimed bound", least, plan.curve.value_at(plan.horizon)))


# -- what the tuning says, read off the graph ---------------------------------------------------------------


def _blocks_agree(plan: Plan, facts: Facts) -> list[Condition]:
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


def _costs(facts: Facts, groups: list[_Group], plan: Plan) -> Iterator[float]:
    """What a round costs at most, exploration included, by all ways to account for the groups of one simplex."""
    if facts.m == 1:
        unlifted = facts.gamma_bar - facts.lifted_mass
        for covered, sides, play in sides_of(plan, facts):
            if unlifted > ACCURACY * facts.gamma_bar and not covered.any():
                continue  # these prices know no exploration but for covered arms
            yield float(sides.price(play)[0])
            yield float(leaning_price(plan, covered, sides, play, float(play.strength[0] * play.beta[0]))[0])
    if facts.tuning.shift > 0 or facts.tuning.floor > 0:
        return
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


def _by_roles(facts: Facts, groups: list[_Group], roles: tuple[str, ...]) -> float:
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


def _by_coverage(facts: Facts, group: _Group) -> float:
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


def _by_cliques(facts: Facts, group: _Group, evidence: Any) -> float:
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


def _totals(facts: Facts, T: float, plan: Plan) -> Iterator[Total]:
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
        signed = Condition("several blocks whose estimates are shifted", tuning.shift + tuning.floor, 0.0)
        yield _two_levels(facts, T) if signed.holds else (inf, [signed])
    if groups and facts.m in (1, facts.n) and all(group.rate > 0 for group in groups):
        height = _height([(len(group.arms), group.power, group.rate) for group in groups], tuning.corners)
        size = height - (0.0 if tuning.corners else min(group.corner for group in groups))
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


def _two_levels(facts: Facts, T: float) -> Total:
    """Theorem general regret: docs/theory/fixed-rates.md, section 6."""
    tuning = facts.tuning
    rho = 1 / (1 - facts.gamma_bar) if facts.gamma_bar < 1 else inf
    first = tuning.block_arms[tuning.block_start[:-1]]
    single, loop = facts.sizes == 1, facts.graph.has_loop[first]
    weak, looped, loopless = (np.flatnonzero(kind) for kind in (~single, single & loop, single & ~loop))
    listed: list[Condition] = []
    if weak.size:
        listed.append(at_most("local exploration α_k ≤ 1", float(facts.local_total[weak].max()), 1.0))
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


def _height(groups: list[tuple[int, float, float]], lines: bool = False) -> float:
    """max of −potential over the simplex, from above, by weak duality; with `lines` each is 0 at the corners.

    For every λ it is at most λ + Σ max_x (f(x) − λx); the best λ is where the maximisers add up to one.
    """

    def line(power: float, rate: float) -> float:
        return _corner(power, rate) if lines else 0.0

    def point(power: float, rate: float, lam: float) -> float:
        if power:
            up = rate * (lam + line(power, rate))
            return 1.0 if up <= 1 else float(up**-power)
        return exp(min(-1 - rate * lam, 0.0))

    def slope(power: float, rate: float, x: float) -> float:
        return float(x ** (-1 / power)) / rate - line(power, rate) if power else -(1 + log(x)) / rate

    def value(power: float, rate: float, x: float) -> float:
        if power:
            return float(x ** (1 - 1 / power)) * _corner(power, rate) - x * line(power, rate)
        return -x * log(x) / rate if x > 0 else 0.0

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
