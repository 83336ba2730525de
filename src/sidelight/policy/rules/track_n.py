"""TRACK-N: explores as the cheapest way of telling the best arm apart does, on any graph."""

from __future__ import annotations

import math
from bisect import bisect_left
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from sidelight.analysis.long_run import long_run
from sidelight.engine._numba.jit import inlined, internal
from sidelight.engine.rules import ADDED, add_losses, note_certain, numbers_of, rule_kernels, seen
from sidelight.errors import SolverError
from sidelight.planning.baselines.algorithms import need_observable
from sidelight.policy.rule import Certain

if TYPE_CHECKING:
    from sidelight.engine.rules import RuleState

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
"""Its multiples, modulo 1, fill [0, 1] evenly: after k of them every share is met up to O(log k) draws."""

CLOSEST = 1e-3
"""Arms that seem closer to the best than this count as that far from it: programs stay solvable."""

RENEWALS = sorted({math.ceil(1.2**k) for k in range(240)})
"""Before these rounds the program is solved anew."""


@inlined()
def mean(state, i):
    """The mean loss of an arm by its observations and half a loss of 1 and of 0: never 0 or 1."""
    return (state.sums[i] + 0.5) / (state.counts[i] + 1.0)


@inlined()
def entropy(p, q):
    """kl(p, q) of coins."""
    return p * math.log(p / q) + (1.0 - p) * math.log((1.0 - p) / (1.0 - q))


@inlined()
def leading(state):
    """The first arm of least mean."""
    best, least = 0, math.inf
    for i in range(state.counts.size):
        value = mean(state, i)
        if value < least:
            best, least = i, value
    return best


@internal()
def neediest(state, best):
    """The arm that must be seen next to tell `best` from all others; −1 if none, or enough was explored."""
    n, t = state.counts.size, numbers_of(state).round + 1.0
    if numbers_of(state).total ** 3 > n * t * t:
        return -1
    level, target, least, lacking = math.log(t), -1, math.inf, False
    low, watched = mean(state, best), state.counts[best]
    anchored = state.loops[best]  # whoever plays it sees it
    edge, end = state.out_indptr[best], state.out_indptr[best + 1]
    for i in range(n):
        while edge < end and state.out_indices[edge] < i:
            edge += 1
        free = state.in_indptr[i] == state.in_indptr[i + 1] or (edge < end and state.out_indices[edge] == i)
        if i == best or (free and anchored):
            continue
        high, count = mean(state, i), state.counts[i]
        if anchored:
            told = count * entropy(high, low)
        elif free:
            told = watched * entropy(low, high)
        elif count + watched > 0.0:
            x = (count * high + watched * low) / (count + watched)
            told = count * entropy(high, x) + watched * entropy(low, x)
        else:
            told = 0.0
        if told < level or (count == 0.0 and not free):
            lacking = True
            share = seen(state, i)
            need = count / share if share > 0.0 else count
            if need < least and not free:
                target, least = i, need
    if lacking and not anchored:
        share = seen(state, best)
        if watched / (share if share > 0.0 else 1.0) < least:
            target = best
    return target


@internal()
def explorer(state, target):
    """An arm that reveals `target`: by the shares of the program, or the one of least mean if that has none."""
    first, end = state.in_indptr[target], state.in_indptr[target + 1]
    everywhere = first == end  # no explicit edges: every arm reveals it, or every other
    left = numbers_of(state).total * GOLDEN
    left = (left - math.floor(left)) * seen(state, target)
    drawn, cheapest, least = -1, -1, math.inf
    for k in range(state.counts.size if everywhere else end - first):
        j = k if everywhere else state.in_indices[first + k]
        if everywhere and j == target and not state.loops[j]:
            continue
        if state.probabilities[j] > 0.0 and left >= 0.0:
            drawn = j
            left -= state.probabilities[j]
        if mean(state, j) < least:
            cheapest, least = j, mean(state, j)
    return drawn if drawn >= 0 else cheapest


@internal()
def choose(state):
    """An arm that reveals what is needed, or the leader."""
    best = leading(state)
    target = neediest(state, best)
    return best if target < 0 else explorer(state, target)


@internal()
def note(state, count, record):
    """Rounds in which it explores are counted."""
    note_certain(state, count, record)
    if neediest(state, leading(state)) >= 0:
        record[ADDED] = 1.0


class track_n(Certain):
    """Plays the arm of least mean if enough is known of the others, or explores as the program of c* plans.

    With O_i observations of mean μ̂_i, * the leader and what it reveals seen for nothing, enough is known in round t
    if O_i·kl(μ̂_i, x) + O_*·kl(μ̂_*, x) ≥ log t for every arm i and every x between the means. Else it looks at one of
    the arms that lack, by an arm of the plan that `long_run` has for these means: at the one that was seen least,
    relative to the plan. That is solved before rounds ⌈1.2^k⌉.

    For independent losses, on any graph. It aims at c*·log T, the least long-run regret of coins (Graves & Lai 1997;
    Wu, György & Szepesvári 2015 and Atsidakou et al. 2022 are about Gaussian losses); other losses in [0, 1] count as
    coins. The steps are ours: no bound is claimed, and none exists against an adversary. At most (N·t²)^⅓ of t rounds
    explore, so ties cost T^⅔. The policy draws nothing at random.

    >>> import sidelight as sl
    >>> sl.baselines.track_n(sl.families.revealing_action(4)).policy(seed=1).ask()
    0
    """

    name = "track_n"
    kernels = rule_kernels(name, choose, note, add_losses)
    needs_loops = False
    renews = True

    def __post_init__(self) -> None:
        super().__post_init__()
        need_observable(self.graph, self.name)

    def renewal(self, t: int) -> int:
        """The next of `RENEWALS`."""
        return RENEWALS[bisect_left(RENEWALS, t)]

    def renew(self, state: RuleState) -> None:
        """Solve the program at the means, once every arm was seen."""
        if not state.counts.all():
            return
        means = ((state.sums + 0.5) / (state.counts + 1.0)).clip(0.0, 1.0)
        best = int(np.argmin(means))
        far = np.maximum(means, min(means[best] + CLOSEST, 1.0))
        far[best] = means[best]
        with suppress(SolverError):  # what was planned before stands
            plays = long_run(self.graph, far).plays
            state.probabilities[:] = plays / max(plays.sum(), 1e-300)
