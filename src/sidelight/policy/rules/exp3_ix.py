"""Exp3-IX: exponential weights with implicit exploration; it needs no horizon and no independence number."""

from __future__ import annotations

import math
from functools import cached_property

from sidelight.engine._numba.jit import inlined, internal
from sidelight.engine.rules import (
    ADDED,
    arm_in,
    draw,
    least_sum,
    normalise,
    note_seen,
    numbers_of,
    rule_kernels,
    seen,
)
from sidelight.planning.baselines.rules import exp3_ix_bound, exp3_ix_likely
from sidelight.planning.cliques import clique_cover
from sidelight.policy.rule import Rule


@inlined()
def rate_of(state):
    """η_t = γ_t = √(log N/(N + Σ_{s<t} Q_s))."""
    n = float(state.sums.size)
    return math.sqrt(math.log(n) / (n + numbers_of(state).total))


@internal()
def note(state, count, kept):
    """Losses are divided by P + γ; the round's Q = Σ p/(P + γ) is added to the total, whatever is seen."""
    bias = rate_of(state)
    note_seen(state, count, kept)
    for index in range(count):
        arm_in(kept, index).divisor += bias
    for i in range(state.probabilities.size):
        kept[ADDED] += state.probabilities[i] / (seen(state, i) + bias)


@internal()
def weigh(state):
    """p ∝ exp(−η_t L)."""
    rate, least = rate_of(state), least_sum(state)
    for i in range(state.sums.size):
        state.probabilities[i] = math.exp(-rate * (state.sums[i] - least))
    normalise(state)


class exp3_ix(Rule):
    """Exponential weights on ℓ/(P + γ_t), η_t = γ_t = √(log N/(N + Σ_{s<t} Q_s)), Q = Σ p/(P + γ).

        R_T ≤ 4√((N + Σ_t Q_t) log N),   Q_t ≤ min(q, 2αH_T + 2),   H_T = log(1 + (⌈N²√(NT/log N)⌉ + N)/α)

    by Kocák, Neu, Valko & Munos 2014, Theorem 1 and Lemma 1; q is the number of cliques, of arms that all
    reveal each other, that cover the graph. Every arm must reveal itself; edges may go one way. The graph may change
    from round to round, and be shown before or after playing.
    `bound_at(t, confidence)` has a bound that holds with that probability.

    >>> import sidelight as sl
    >>> round(sl.baselines.exp3_ix(sl.families.mab(4)).bound_at(10_000).value)
    942
    """

    name = "exp3_ix"
    kernels = rule_kernels(name, draw, note, weigh=weigh)
    theorem = "Exp3-IX: 4√((N + ΣQ_t) log N)"
    changes_graphs = True
    likely_theorem = "Exp3-IX (Neu 2015), docs/theory/high-probability.md"

    @cached_property
    def _cliques_and_independence(self) -> tuple[int, int]:
        """q and α, from above; only the bound needs them, so playing a large graph does not wait for them."""
        cover = clique_cover(self.graph)
        return cover.value, cover.alpha

    def terms(self, t: float) -> dict[str, float]:
        """The first bound with the second inside."""
        if self.graph.n_arms == 1:
            return {"one arm": 0.0}
        return {"regret": exp3_ix_bound(self.graph.n_arms, *self._cliques_and_independence, t)}

    def likely_terms(self, t: float, doubt: float) -> dict[str, float]:
        """Implicit exploration keeps estimates small enough for high probability (Neu 2015); constants are ours."""
        if self.graph.n_arms == 1:
            return {"one arm": 0.0}
        return exp3_ix_likely(self.graph.n_arms, *self._cliques_and_independence, t, doubt)
