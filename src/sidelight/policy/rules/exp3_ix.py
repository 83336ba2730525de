"""Exp3-IX: exponential weights with implicit exploration; it needs no horizon and no independence number."""

from __future__ import annotations

from functools import cache

from sidelight.graph import FeedbackGraph
from sidelight.planning.bounds.comparison import exp3_ix_bound
from sidelight.planning.cliques import clique_cover
from sidelight.policy.rule_policy import Rule
from sidelight.policy.rules._common import always, need_loops


def exp3_ix(g: FeedbackGraph, horizon: int | None = None) -> Rule:
    """Exponential weights on ℓ/(P + γ_t), η_t = γ_t = √(log N/(N + Σ_{s<t} Q_s)), Q = Σ p/(P + γ).

        R_T ≤ 4√((N + Σ_t Q_t) log N),   Q_t ≤ min(q, 2αH_T + 2),   H_T = log(1 + (⌈N²√(NT/log N)⌉ + N)/α)

    by Kocák, Neu, Valko & Munos 2014, Theorem 1 and Lemma 1; q is the number of cliques, of arms that all
    reveal each other, that cover the graph. Every arm must reveal itself; edges may go one way.

    >>> import sidelight as sl
    >>> round(sl.baselines.exp3_ix(sl.families.mab(4)).bound_at(10_000).value)
    942
    """
    n = need_loops(g, "exp3_ix").n_arms

    @cache
    def numbers() -> tuple[int, int]:
        """q and α, from above; only the bound needs them, so playing a large graph does not wait for them."""
        cover = clique_cover(g)
        return cover.value, cover.alpha

    def terms(t: float) -> dict[str, float]:
        if n == 1:
            return {"one arm": 0.0}
        return {"regret": exp3_ix_bound(n, *numbers(), t)}

    return Rule(g, "exp3_ix", horizon, lambda T: always(T, "Exp3-IX: 4√((N + ΣQ_t) log N)", terms))
