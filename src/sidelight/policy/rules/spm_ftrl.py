"""SPM: leader following with a rate that makes stability and penalty match, on undirected graphs with self-loops."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from sidelight._types import Floats
from sidelight.analysis import fractional_domination
from sidelight.engine._numba.bundles import record_of
from sidelight.engine._numba.jit import inlined, internal
from sidelight.engine.rules import ADDED, draw, least_sum, normalise, note_seen, numbers_of, rule_kernels
from sidelight.errors import InfeasibleRequest
from sidelight.graph import FeedbackGraph
from sidelight.planning.cliques import CliqueCover, clique_cover
from sidelight.policy.rule import Rule

MATCHED = ("order", "first", "beside", "spread", "step")
"""Behind the distribution that is explored with, in RuleState.own: α, β₁, β̄, what bounds the variance of estimates
(α(G) or δ*), and by how much β grows after this round."""
MOST_STEPS = 100
"""Newton steps; about five are used."""

matched_in = record_of("matched", MATCHED)


@inlined()
def matched_of(state):
    """The numbers of `MATCHED`."""
    return matched_in(state.own, state.sums.size)


@inlined()
def rate_of(state):
    """β_t, the inverse rate: β₁ and all that it grew by."""
    return matched_of(state).first + numbers_of(state).total


@internal()
def note(state, count, record):
    """Estimates are ℓ/P; β grows by the step of the round that was drawn."""
    note_seen(state, count, record)
    record[ADDED] = matched_of(state).step


@inlined()
def slope(beta, beside, order, u):
    """−F'(u)."""
    return (1.0 - order) * beta * math.exp((order - 1.0) * u) + order * beside * math.exp(-order * u)


@internal()
def log_share(beta, beside, order, height):
    """u = log x with F(u) = βx^{α−1} + β̄x^{−α} = height.

    log F is convex and falls, and F is too large where one of its terms is the height alone: from there Newton's
    method rises to u, and cannot pass it.
    """
    u = max(math.log(height / beta) / (order - 1.0), math.log(height / beside) / -order)
    for _ in range(MOST_STEPS):
        reached = beta * math.exp((order - 1.0) * u) + beside * math.exp(-order * u)
        move = reached * math.log(reached / height) / slope(beta, beside, order, u)
        u += move
        if not move > 1e-14:
            break
    return u


@internal()
def lead(state):
    """The x that minimises ⟨x, L⟩ − βH_α(x) − β̄H_{1−α}(x), H_α(x) = Σ(x^α − x)/α.

    The shares of all arms, convex logarithms of their common height, add up to one: Newton's method on the logarithm
    of their sum, which is convex too, from the height at which the leader alone has everything.
    """
    beta, beside, order = rate_of(state), matched_of(state).beside, matched_of(state).order
    least, height = least_sum(state), beta + beside
    for _ in range(MOST_STEPS):
        total, falls = 0.0, 0.0
        for i in range(state.sums.size):
            u = log_share(beta, beside, order, state.sums[i] - least + height)
            state.probabilities[i] = math.exp(u)
            total += state.probabilities[i]
            falls += state.probabilities[i] / slope(beta, beside, order, u)
        move = total * math.log(total) / falls
        height += move
        if not move > 1e-15 * height:
            break
    normalise(state)


@internal()
def smaller_side(state):
    """min(max x, 1 − max x), the latter as a sum, which keeps its digits."""
    best = 0
    for i in range(state.probabilities.size):
        if state.probabilities[i] > state.probabilities[best]:
            best = i
    others = 0.0
    for i in range(state.probabilities.size):
        others += state.probabilities[i] if i != best else 0.0
    return min(state.probabilities[best], others)


@internal()
def entropy(state):
    """H_α(x)."""
    order, total = matched_of(state).order, 0.0
    for i in range(state.probabilities.size):
        total += state.probabilities[i] ** order - state.probabilities[i]
    return total / order


@inlined()
def explore(state, share):
    """p = (1 − γ)x + γu."""
    for i in range(state.probabilities.size):
        state.probabilities[i] = (1.0 - share) * state.probabilities[i] + share * state.own[i]


@internal()
def weigh(state):
    """p, and the step z/(βH_α(x))."""
    lead(state)
    matched, beta, height = matched_of(state), rate_of(state), entropy(state)
    rest = 1.0 - matched.order
    z = matched.spread * smaller_side(state) ** rest / rest
    matched.step = z / (beta * height) if height > 0.0 else 0.0
    explore(state, 4.0 * z / beta)


def dominating(graph: FeedbackGraph) -> tuple[Floats, float]:
    """x*/δ* and δ*: (n,) the least weights that dominate all arms, as a distribution, and their sum."""
    cover, weights = fractional_domination(graph), np.zeros(graph.n_arms)
    weights[cover.arms] = cover.weights
    return weights / weights.sum(), float(weights.sum())


class spm_ftrl(Rule):
    """p = (1 − γ_t)x + γ_t·x*/δ*, x = argmin ⟨x, L⟩ − β_tH_α(x) − β̄H_{1−α}(x); any number of rounds.

        β_{t+1} = β_t + z_t/(β_tH_α(x)),  γ_t = 4z_t/β_t
        z_t = α(G)·min(max x, 1 − max x)^{1−α}/(1 − α),  H_α(x) = Σ(x^α − x)/α,  α = 1 − 1/(4 log N)

    Stability-penalty matching (Ito, Tsuchiya & Honda 2024), for undirected graphs on which every arm reveals itself.
    α(G) ≥ Σp/P is the certified upper bound on the independence number; x* dominates all arms, δ* = Σx* ≤ α(G). Its
    authors promise O(√T) regret, and O(log T) on stochastic losses. The paper was not read, and nothing is
    claimed of a policy. Constants as read here: β₁ = 8α(G)/(1 − α) and β̄ = 32α(G)/((1 − α)²β₁), those of their
    algorithm for linear bandits as others quote it, with α(G) for the dimension.

    >>> import sidelight as sl
    >>> sl.baselines.spm_ftrl(sl.families.mab(4)).policy(seed=1).probabilities.round(9).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    name = "spm_ftrl"
    kernels = rule_kernels(name, draw, note, weigh=weigh)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self._cliques.symmetric:
            raise InfeasibleRequest(
                f"{self.name} needs an undirected graph: some arm reveals another that does not reveal it; "
                "use exp3_ix or exp3gpp, or make it undirected with graph.symmetrized() if that is meant"
            )

    @cached_property
    def _cliques(self) -> CliqueCover:
        """Cliques that cover the graph, at least as many as independent arms."""
        return clique_cover(self.graph)

    @cached_property
    def own(self) -> Floats:
        """With α(G) for the spread."""
        rest, spread = 0.25 / math.log(max(self.graph.n_arms, 2)), float(self._cliques.value)
        return np.array(
            [*dominating(self.graph)[0], 1.0 - rest, 8.0 * spread / rest, 4.0 / rest, spread, 0.0]
        )
