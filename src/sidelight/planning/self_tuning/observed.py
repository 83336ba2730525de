"""What rounds of self-tuning play cost on a graph: the arms it may explore for, and its worst-case costs then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, partial
from math import inf
from typing import Any

import numpy as np

from sidelight._types import Bools, Floats, Longs
from sidelight.analysis import Domination, observability
from sidelight.graph.altered import loop_probability
from sidelight.planning.exploration import Solved, shared
from sidelight.planning.potentials import Potential, diameter
from sidelight.planning.self_tuning.rule import SelfTuning
from sidelight.planning.signed.arms import Arms
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

    @cached_property
    def splits(self) -> tuple[Arms, ...]:
        """What prices of rounds are made of, as functions of the order of the entropy; any of them holds.

        Arms that all show themselves may be covered or not, whatever is played. Proof: docs/theory/signed.md, and
        without shifts docs/theory/self-tuning.md, section 3. Where reveals may fail, each level of their
        probabilities proves something (docs/theory/failing-reveals.md).
        """
        g, n = self.solved.graph, self.solved.graph.n_arms
        shown = loop_probability(g) == 1
        beside = np.ones(n, dtype=bool)
        beside[self.targets] = False
        weights = self.domination(1.0).weights
        # Theorem C explores evenly for all arms.
        even = bool(g.certain and g.universal.size == n and not g.has_loop.any())
        even = even and weights.size == n and float(np.ptp(weights)) <= 1e-9

        def split(covered: int, looped: Bools) -> Arms:
            signed = bool(shown[looped].all())
            seen, strong = partial(self._seen, arms=looped), self._strong_cost
            return Arms(covered, int(looped.sum()), self.weak, seen, strong, signed=signed, universal=even)

        own = split(self.targets.size, beside)
        return (own, split(0, np.ones(n, dtype=bool))) if shown.all() and not beside.any() else (own,)

    def weak(self, s: float) -> float:
        """No exploration of order s adds up to more: δ^s, times a factor where it is refreshed lazily."""
        lazy = float(lazy_factor(self.solved.graph.n_arms)) if s < 1 else 1.0
        return float(lazy * float(self.domination(s).value) ** s)

    def _seen(self, s: float, arms: Bools) -> float:
        """Q: Σ X^{2−s}/P over these arms is at most Q^s."""
        if not arms.any():
            return 0.0
        costs = (self._self_loop_cost(r, level, s, arms) for r, level in self.solved.levels)
        return float((2 * min(costs)) ** (1 / s))

    def _strong_cost(self, s: float) -> tuple[float, float]:
        """(strong, lean): the least that a level of probabilities proves, whatever its exploration."""
        whole, weak = self.targets.size == self.solved.graph.n_arms, self.weak(s)
        return min(self._strong_cost_at(r, level, s, weak, whole) for r, level in self.solved.levels)

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

    def _strong_cost_at(
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

    def leading(self, s: float) -> float:
        """What bounds of order s grow like, up to a constant and the power of T that all orders share."""
        D, arms = float(diameter(s, self.solved.graph.n_arms)), self.splits[-1]
        strong = arms.strong(s)[0]
        if not arms.covered:
            return float((D * min(strong, arms.seen(s) ** s / 2)) ** (1 / 2))
        return float((D * strong) ** (1 / 2) if strong < inf else (D * self.weak(s)) ** (1 / 3))

    def rule(self, s: float, c: float) -> SelfTuning:
        """The numbers of the plan without a horizon, from a temperature near which rounds cost less than 1."""
        n, arms = self.solved.graph.n_arms, self.splits[-1]
        weak, seen, (strong, lean) = self.weak(s), arms.seen(s), arms.strong(s)
        D, patience = float(diameter(s, n)), 0.01 if n <= PATIENT else 0.05
        # Below these the bounds on a round are 1 or near it: a lower start would save D·β_1 and learn nothing there.
        first = max(weak / 2, seen**s / 2 if arms.covered else 0.0, c / D)
        # strong/(β − lean·weak) is 2 at most here; θ is how far β may lag behind.
        if lean > 0:
            first = max(first, (1 + patience) * lean * weak + strong / 2)
        signed = arms.signed and (s < 1 or self.targets.size == n)
        more = {"covered": self.targets.size, "looped": arms.looped, "signed": signed}
        more |= {"either": len(self.splits) > 1, "universal": arms.universal}
        return SelfTuning(s, c, D, first, weak, seen, strong, lean, patience, SPENT * c, **more)

    def tuning(self, rule: SelfTuning, base: Tuning | None = None) -> Tuning:
        """One simplex at the first temperature, exploring as Lemma 2 says."""
        h, b = rule.order, rule.first_strength
        lifted = self.lifted if h < 1 else 0.0
        return self.flat(Potential(h, 1 / rule.first), h, b, lifted=lifted, self_tuning=rule, base=base)

    def flat(self, potential: Potential, h: float, b: float, **more: Any) -> Tuning:
        """One simplex that explores for the covered arms, of order h, with strength b; for none if that is 0."""
        g, n = self.solved.graph, self.solved.graph.n_arms
        targets, weights = np.zeros(n, dtype=bool), np.zeros(n)
        if b > 0:
            targets[self.targets] = True
            cover = self.domination(h)
            weights[cover.arms] = cover.weights
        # At order 1 exploration does not depend on X: it is written out as a constant, which the engine scales.
        entropy = h == 1
        one_block, constant = np.zeros(n, dtype=np.int64), np.full(n, entropy)
        played = shared(g, one_block, weights, targets, np.full(n, b), constant, h)
        return Tuning.flat(
            n,
            potential,
            constant=played.constant,
            spread=0.0 if entropy else b,
            cover=played.cover,
            load=played.load,
            **more,
        )

    @cached_property
    def lifted(self) -> Floats:
        """(n,) 1 for arms that may be explored for their own sake: all that show themselves."""
        return np.where(loop_probability(self.solved.graph) == 1, 1.0, 0.0)


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
