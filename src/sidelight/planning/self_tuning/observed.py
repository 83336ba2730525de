"""What rounds of self-tuning play cost on a graph: the arms it may explore for, and its worst-case costs then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import inf

import numpy as np

from sidelight._types import Bools, Floats, Longs
from sidelight.analysis import Domination, observability
from sidelight.graph.altered import loop_probability
from sidelight.planning.exploration import Solved, shared
from sidelight.planning.potentials import Potential, diameter
from sidelight.planning.self_tuning.rule import SelfTuning
from sidelight.planning.tuning import Tuning, lazy_factor

SPENT = 0.5
"""Of the share c that the bound grants, so much raises the temperature beyond need: more seldom helps."""

PATIENT = 1000
"""Larger graphs raise their temperature more rarely, as looking at them takes longer."""


@dataclass(frozen=True, eq=False)
class ExploredArms:
    """The arms of a graph that play explores for; all others have self-loops, and see each other in cliques."""

    name: str  # what is covered
    solved: Solved
    targets: Longs

    def domination(self, s: float) -> Domination:
        """The cover that entropy of order s explores through."""
        return self.solved.cover(self.targets, s)

    def costs(self, s: float) -> tuple[float, float, float, float, float]:
        """(order, weak, beside, strong, lean) of rounds with entropy of order s.

        Proof: docs/theory/self-tuning.md, section 3. Where reveals may fail, each level of their probabilities proves
        something (docs/theory/failing-reveals.md).
        """
        n = self.solved.graph.n_arms
        # Below s = 1 exploration follows X; on many arms the engine refreshes it lazily, which costs a factor.
        lazy = float(lazy_factor(n)) if s < 1 else 1.0
        weak = lazy * float(self.domination(s).value) ** s
        whole = self.targets.size == n
        outside = np.ones(n, dtype=bool)
        outside[self.targets] = False
        beside = (
            0.0
            if whole
            else min(self._self_loop_cost(r, level, s, outside) for r, level in self.solved.levels)
        )
        # Each level of probabilities proves a pair (strong, lean); the least cost counts, whatever its exploration.
        proved = [self._strong_cost(r, level, s, weak, whole) for r, level in self.solved.levels]
        return s, weak, beside, *min(proved)

    def _self_loop_cost(self, r: float, level: Solved, s: float, arms: Bools) -> float:
        """½Q^s: Σ X^{2−s}/P over these arms is at most Q^s, by cliques or self-loops alone; ∞ if some have none."""
        # A clique of level r shows its arms to each other r times as often as if it were certain; without cliques an
        # arm counts by its own loop alone, P ≥ r_ii·X (Hölder with 1/s).
        g, cost = self.solved.graph, inf
        if level.graph.has_loop[arms].all():
            cost = float(level.cliques.value) ** s / (2 * r)
        if not g.certain and g.has_loop[arms].all():
            cost = min(cost, float((loop_probability(g)[arms] ** (-1 / s)).sum()) ** s / 2)
        return cost

    def _strong_cost(
        self, r: float, level: Solved, s: float, weak: float, whole: bool
    ) -> tuple[float, float]:
        """(strong, lean) as a level of probabilities proves them."""
        g, n = level.graph, level.graph.n_arms
        everywhere = self.solved.graph.certain and g.universal.size == n
        if self.solved.graph.has_loop.all():
            # Nothing has to be explored for. With full feedback and entropy nothing is even estimated, and the
            # lemma of Hoeffding gives 1/8.
            full = s == 1 and everywhere
            return (1 / 8 if full else self._self_loop_cost(r, level, s, np.ones(n, dtype=bool))), 0.0
        # Lemma 4 needs loop-less arms that all others show, and where reveals may fail a cover of all arms.
        if observability(g).graph != "strong" or not (whole or self.solved.graph.certain):
            return inf, 0.0
        # The shift by the mean loss of loop-less arms is proved where no reveal fails, on no level of others.
        mutual, seen = level.cliques.mutual, float(level.cliques.value) if self.solved.graph.certain else inf
        return loopless_cost(s, weak, 0.0 if mutual is None else float(mutual.upper), seen, r)

    def rule(self, s: float, c: float) -> SelfTuning:
        """The numbers of the plan without a horizon, from a temperature near which rounds cost less than 1."""
        n = self.solved.graph.n_arms
        order, weak, beside, strong, lean = self.costs(s)
        D, patience = float(diameter(s, n)), 0.01 if n <= PATIENT else 0.05
        # Below these the bounds on a round are 1 or near it: a lower start would save D·β_1 and learn nothing there.
        first = max(weak / 2, beside, c / D)
        # strong/(β − lean·weak) is 2 at most here; θ is how far β may lag behind.
        if lean > 0:
            first = max(first, (1 + patience) * lean * weak + strong / 2)
        return SelfTuning(order, c, D, first, weak, beside, strong, lean, patience, SPENT * c)

    def tuning(self, rule: SelfTuning) -> Tuning:
        """One simplex at the first temperature, exploring as Lemma 2 says."""
        g, n, cover = self.solved.graph, self.solved.graph.n_arms, self.domination(rule.order)
        targets, weights = np.zeros(n, dtype=bool), np.zeros(n)
        targets[cover.cover] = True
        weights[cover.arms] = cover.weights
        # At order 1 exploration does not depend on X: it is written out as a constant, which the engine scales.
        entropy, b = rule.order == 1, rule.first_strength
        one_block, constant = np.zeros(n, dtype=np.int64), np.full(n, entropy)
        played = shared(g, one_block, weights, targets, np.full(n, b), constant, rule.order)
        return Tuning.flat(
            n,
            Potential(rule.order, 1 / rule.first),
            constant=played.constant,
            spread=0.0 if entropy else b,
            cover=played.cover,
            load=played.load,
            self_tuning=rule,
        )


def covers(solved: Solved) -> Iterator[ExploredArms]:
    """All arms, and where some have self-loops those without."""
    g = solved.graph
    solved.observability  # noqa: B018 - an error if some arm cannot be observed
    yield ExploredArms("all arms", solved, np.arange(g.n_arms))
    # Arms that show themselves need no exploration: the cover is cheaper, but they cost something beside it. Which is
    # better depends on the horizon, so both are weighed. Levels often agree on who has a loop.
    seen = set()
    for r, level in solved.levels:
        loopless = np.flatnonzero(~level.graph.has_loop)
        if 0 < loopless.size < g.n_arms and loopless.tobytes() not in seen:
            seen.add(loopless.tobytes())
            name = "loop-less arms" if g.certain else f"arms with self-loop below {r:g}"
            yield ExploredArms(name, solved, loopless)


# -- loop-less arms of strongly observable graphs -----------------------------------------------------------


@cache
def loopless_cost(
    s: float, weak: float, loops: float, seen: float, level: float = 1.0
) -> tuple[float, float]:
    """(strong, lean): with exploration of strength lean/β a round costs at most strong/(β − lean·weak).

    The cover includes all loop-less arms, Σ x/P ≤ `loops` over the arms that are not universal, all with self-loops,
    and Σ x/P ≤ `seen` over all, where a loop-less arm counts with x. Every lean and every threshold τ prove a bound
    (`loopless_costs`); the least of a grid is taken. Edges reveal with probability `level` or more, and all arms are
    covered where that is below 1.
    """
    # Where exactly the minimum lies does not matter for the proof, only for the constant.
    ends, tau_ends = (-4.0, 2.0), (0.02, 0.5)  # lean = 1 − s + e^x
    for _ in range(4):  # a grid, then finer ones around its best point
        x, tau = np.linspace(*ends, 61), np.linspace(*tau_ends, 25)
        costs = loopless_costs(s, weak, loops, seen, (1 - s) + np.exp(x)[:, None], tau[None, :], level)
        i, j = divmod(int(np.argmin(costs)), tau.size)
        ends = x[max(i - 1, 0)], x[min(i + 1, x.size - 1)]
        tau_ends = tau[max(j - 1, 0)], tau[min(j + 1, tau.size - 1)]
    return float(costs[i, j]), float((1 - s) + np.exp(x[i]))


def loopless_costs(
    s: float, weak: float, loops: float, seen: float, lean: Floats, tau: Floats, level: float = 1.0
) -> Floats:
    """`strong` for lean > 1 − s and τ ∈ (0, ½]: Lemma 4 of docs/theory/self-tuning.md."""
    # Either no universal arm has mass above 1 − τ, and all of them are seen often; or one has, and estimates are
    # shifted by its own, which the others pay for with their mass τ at most. A round costs the larger of the two.
    explored, looped = lean * weak, loops**s / (2 * level)
    shift = _steepness((tau / (1 - tau)) ** (1 - s) / lean, s) / level
    others = tau ** (2 - s) / (2 * (1 - tau) * level) + looped * tau ** (1 - s)
    spread_out = np.maximum(explored, (1 - tau) ** (1 - s) / (2 * tau * level)) + looped
    costs: Floats = np.maximum(
        spread_out, np.maximum(explored, explored * tau + shift * tau ** (1 - s)) + others
    )
    if s == 1 and level == 1:  # shifted by the mean loss of the loop-less arms instead
        steep = _steepness(1 / lean, s)
        costs = np.minimum(costs, steep * (seen - 1) + np.maximum(steep, explored))
    return costs


def _steepness(r: Floats, s: float) -> Floats:
    """ψ₋(r)/r, which rises in r: ψ₋(r) = ((1−εr)^{−s/ε} − 1)/(sr) − 1 with ε = 1 − s; ∞ from εr = 1 on."""
    # From εr = 1 on the point would leave the simplex: no bound there, which ∞ says.
    with np.errstate(divide="ignore", over="ignore"):
        if s == 1:
            return np.asarray((np.expm1(r) - r) / (r * r))
        rest = np.log1p(-np.minimum((1 - s) * r, 1.0))
        return np.asarray((np.expm1(-s / (1 - s) * rest) / (s * r) - 1) / r)
