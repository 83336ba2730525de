"""EXP3.G++: exponential weights that explore arms as their gaps need, where no explored arm reveals them anyway."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from sidelight._types import Floats
from sidelight.analysis import observability
from sidelight.engine._numba.jit import internal
from sidelight.engine.rules import (
    ADDED,
    add_estimates,
    draw,
    least_sum,
    list_revealed,
    normalise,
    note_seen,
    numbers_of,
    rule_kernels,
    seen,
)
from sidelight.errors import InfeasibleRequest
from sidelight.graph.names import names
from sidelight.planning.baselines.algorithms import need_observable
from sidelight.policy.rule import Rule

EXPLORED, SHOWN, HIDDEN = -1.0, 0.0, 1.0
"""Marks while arms are chosen: it is explored, an explored arm reveals it, none does."""
WIDTH, PATIENCE = 3.0, 256.0
"""α of the confidence bounds and β of ε, as in EXP3++ (Seldin & Lugosi 2017)."""


@internal()
def note(state, count, record):
    """Estimates are ℓ/P; the round's θ is added to the total, whatever is seen."""
    note_seen(state, count, record)
    for i in range(state.probabilities.size):
        # What others reveal, and itself does not, is seen with probability 1 − p: (1 − p)p/P is p.
        record[ADDED] += state.probabilities[i] / (seen(state, i) if state.loops[i] else 1.0)


@internal()
def update(state, count, record):
    """Add estimates to the sums, and losses as they are to the sums in `own`."""
    add_estimates(state, count, record)
    for index in range(count):
        state.own[state.targets[index]] += state.losses[index]


@internal()
def estimate_needs(state):
    """ε of every arm by itself, behind the sums in `own`: min(1/(2N), ½√(log N/(tN²)), 256 log t/(tΔ̂²))."""
    n, t = state.sums.size, numbers_of(state).round + 1.0
    most = min(0.5, 0.5 * math.sqrt(math.log(n) / t)) / n
    spread = 0.5 * (WIDTH * math.log(t) + math.log(n))
    highest = 1.0  # what the best arm loses at most, as far as is known
    for i in range(n):
        if state.counts[i] > 0.0:
            mean = state.own[i] / state.counts[i]
            highest = min(highest, mean + math.sqrt(spread / state.counts[i]))
    for i in range(n):
        gap = -1.0
        if state.counts[i] > 0.0:
            gap = state.own[i] / state.counts[i] - math.sqrt(spread / state.counts[i]) - highest
        state.own[n + i] = min(most, PATIENCE * math.log(t) / (t * gap * gap)) if gap > 0.0 else most


@internal()
def neediest(state, least_mark, most_mark):
    """The first arm of greatest ε among those with a mark in this range; −1 without any."""
    n, found, most = state.sums.size, -1, -1.0
    for i in range(n):
        if least_mark <= state.probabilities[i] <= most_mark and state.own[n + i] > most:
            found, most = i, state.own[n + i]
    return found


@internal()
def choose_explored(state):
    """Mark, from the greatest ε down, the arms that no arm marked before them reveals as explored."""
    for i in range(state.probabilities.size):
        state.probabilities[i] = HIDDEN
    first = arm = neediest(state, HIDDEN, HIDDEN)
    chosen = 0
    while arm >= 0:
        chosen += 1
        for index in range(list_revealed(state, arm)):
            target = state.targets[index]
            state.probabilities[target] = min(state.probabilities[target], SHOWN)
        state.probabilities[arm] = EXPLORED
        arm = neediest(state, HIDDEN, HIDDEN)
    if chosen == 1 and not state.loops[first]:
        arm = neediest(state, SHOWN, HIDDEN)  # reveals it, as every other arm does
        state.own[state.sums.size + arm] = state.own[state.sums.size + first]
        state.probabilities[arm] = EXPLORED


@internal()
def weigh(state):
    """p = (1 − Σε)ρ + ε, ρ ∝ exp(−η_t L)."""
    n, least = state.sums.size, least_sum(state)
    estimate_needs(state)
    choose_explored(state)
    explored = 0.0
    for i in range(n):
        state.own[n + i] = state.own[n + i] if state.probabilities[i] == EXPLORED else 0.0
        explored += state.own[n + i]
    rate = 0.5 * math.sqrt(math.log(n) / (n + numbers_of(state).total))
    for i in range(n):
        state.probabilities[i] = math.exp(-rate * (state.sums[i] - least))
    normalise(state)
    for i in range(n):
        state.probabilities[i] = (1.0 - explored) * state.probabilities[i] + state.own[n + i]


class exp3gpp(Rule):
    """p = (1 − Σε_t)ρ + ε_t, ρ ∝ exp(−η_t L), ε_t by gap and graph; any number of rounds.

        ε_t(i) = min(1/(2N), ½√(log N/(tN²)), 256 log t/(tΔ̂_i²)) where i is explored, else 0
        Δ̂_i = max(0, ℓ̄_i − w_i − min_j min(1, ℓ̄_j + w_j)),  w_i = √((3 log t + log N)/(2O_i)),  O_i observations

    EXP3.G++ (Rouyer, van der Hoeven, Cesa-Bianchi & Seldin 2022) for strongly observable graphs. From the greatest ε
    down, arms are explored unless one that is explored already reveals them. Its authors promise Õ(√(αT)) regret, and
    O(log²T·max_S Σ_S 1/Δ_i), S independent, on stochastic losses. Beyond its abstract the paper was not read, and
    nothing is claimed of a policy. Constants as read here: those of EXP3++ (Seldin & Lugosi 2017), with which gaps
    lower ε only after some 10¹⁰ rounds; η_t = ½√(log N/(N + Σ_{s<t} θ_s)), θ = Σp/P over arms with self-loops and Σp
    over the others, on a bandit the rate of EXP3++; and a second arm is explored where the only one does not reveal
    itself.

    >>> import sidelight as sl
    >>> sl.baselines.exp3gpp(sl.families.mab(4)).policy(seed=1).probabilities.tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    name = "exp3gpp"
    kernels = rule_kernels(name, draw, note, update=update, weigh=weigh)
    needs_loops = False
    remembers = True

    def __post_init__(self) -> None:
        super().__post_init__()
        weak = observability(need_observable(self.graph, self.name)).weak.tolist()
        if weak:
            raise InfeasibleRequest(
                f"{self.name} needs a strongly observable graph, but {names(self.graph, weak)} are weakly "
                "observable; use spb_ftrl or exp3g_weak"
            )

    @cached_property
    def own(self) -> Floats:
        """Room for sums of observed losses, and for ε."""
        return np.zeros(2 * self.graph.n_arms)
