"""The instances behind the lower bounds: the best arm hides, by as much as the horizon makes hardest.

Every function chooses the gap for which the proof of its bound is strongest (docs/theory/strong.md, "Lower
bounds"); `gap` overrides it. Proofs average over the hidden arm: `seed` draws it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sidelight._check import checked_count, checked_horizon, checked_number, checked_seed
from sidelight._types import Longs
from sidelight.environment.base import checked_arms
from sidelight.environment.means import Coins
from sidelight.errors import InfeasibleRequest, InvalidOption
from sidelight.graph import GivenGraph, graph_of
from sidelight.planning.bounds import lower
from sidelight.planning.bounds.lower import KL_ONE, KL_TWO, LARGEST_BIAS

if TYPE_CHECKING:
    from sidelight.analysis import PackingSet


def hard(graph: GivenGraph, horizon: int, seed: int = 0) -> Coins:
    """The hardest of the instances below for this graph and horizon: that which forces the most regret.

    One of `hard_experts`, `hard_bandit` on an independent set, and, if some arm is weakly observable,
    `hard_packing` and `hard_weak_arm`.

    >>> import sidelight as sl
    >>> hard(sl.families.mab(10), horizon=10_000).name, hard(sl.families.cycle(10), horizon=10_000).name
    ('hard_bandit', 'hard_packing')
    """
    from sidelight.analysis import independence_number, observability, packing_independent_set

    graph, horizon = graph_of(graph, "hard"), checked_horizon(horizon)
    n = graph.n_arms
    if n < 2:
        raise InfeasibleRequest("one arm has no regret: a hard instance needs a graph with at least two arms")
    instances: list[tuple[float, Callable[[], Coins]]]  # with the regret that each forces
    instances = [(_experts(n, horizon)[0], partial(hard_experts, n, horizon, seed))]
    apart = independence_number(graph).arms
    if apart.size >= 2:
        value = lower.independent_set(apart.size, horizon)
        instances.append((value, partial(hard_bandit, n, horizon, seed, arms=apart.tolist())))
    if observability(graph).graph == "weak":
        instances.append((lower.weak_arm(horizon), partial(hard_weak_arm, graph, horizon, seed)))
        for members in (packing_independent_set(graph), packing_independent_set(graph, t=1)):
            if members.arms.size >= 2:
                value = lower.packing_set(members.arms.size, members.t, horizon)
                instances.append((value, partial(hard_packing, n, members, horizon, seed)))
    return max(instances, key=lambda instance: instance[0])[1]()


def hard_experts(n_arms: int, horizon: int, seed: int = 0, gap: float | None = None) -> Coins:
    """Fair coins and one hidden better arm, hard even where everything is revealed: regret of order √(T log n).

    With κ = 8·log(4/3), Pinsker's and Fano's inequalities say of a player who sees all n coins

        R ≥ ε·T(1 − 1/n − ε√(½κT)),      R ≥ ε·T(1 − (κTε² + log 2)/log n)      for every ε ≤ ¼;

    the gap is the maximiser of the first, or √(log n/(3κT)) where the second then says more.
    """
    checked_count("n_arms", n_arms, least=2)
    width = _gap(gap, _experts(n_arms, horizon)[1])
    return _hiding(n_arms, np.arange(n_arms), _drawn(n_arms, seed), width, "hard_experts")


def _experts(n: int, horizon: int) -> tuple[float, float]:
    """Forced regret, and the gap that forces it."""
    rounds = checked_horizon(horizon)
    share = 1 - 1 / n
    steep = sqrt(KL_ONE / 2 * rounds)
    few = min(share / (2 * steep), LARGEST_BIAS)
    many = min(sqrt(log(n) / (3 * KL_ONE * rounds)), LARGEST_BIAS)
    unknown = 1 - (KL_ONE * rounds * many**2 + log(2)) / log(n)
    return max((few * rounds * (share - few * steep), few), (many * rounds * unknown, many))


def hard_bandit(
    n_arms: int, horizon: int, seed: int = 0, arms: Sequence[int] | None = None, gap: float | None = None
) -> Coins:
    """The best arm hides among `arms` (all by default) that reveal nothing of each other: regret √(NT).

    Members are fair coins, the hidden one loses less by the gap, all other arms always lose. The gap is the
    maximiser of ε·T(1 − 1/a − ε√(½κ(T/a + 2R))), R the bound itself; about √(a/(2κT)) for a arms.
    """
    checked_count("n_arms", n_arms, least=2)
    members = np.arange(n_arms) if arms is None else checked_arms(arms, n_arms, "arms")
    size = np.unique(members).size
    if size < 2 or size < members.size:
        raise InvalidOption(f"arms must be at least two different arms, got {arms!r}")
    forced = lower.independent_set(size, checked_horizon(horizon))
    width = _gap(gap, (1 - 1 / size) / (2 * sqrt(KL_ONE / 2 * (horizon / size + 2 * forced))))
    return _hiding(n_arms, members, _drawn(size, seed), width, "hard_bandit")


def hard_packing(
    n_arms: int, packing_set: PackingSet, horizon: int, seed: int = 0, gap: float | None = None
) -> Coins:
    """The best arm hides in a t-packing independent set S, all else always loses: regret (|S|/t)^{1/3}T^{2/3}.

    The gap is (max{(|S|−1)/t, log|S|}/(2κT))^{1/3}. Cliques give one arm each and t = 1, bicliques a side
    each: whatever `sl.packing_independent_set` finds. Source: Proposition packing-lb.
    """
    checked_count("n_arms", n_arms, least=2)
    if not (hasattr(packing_set, "arms") and hasattr(packing_set, "t")):
        raise InvalidOption(f"a packing set is made by sl.packing_independent_set, got {packing_set!r}")
    size, t = len(packing_set.arms), packing_set.t
    if size < 2:
        raise InvalidOption(f"the packing set must have at least two arms to hide among, got {packing_set!r}")
    rate = max((size - 1) / t, log(size))
    width = _gap(gap, (rate / (2 * KL_ONE * checked_horizon(horizon))) ** (1 / 3))
    members = checked_arms(packing_set.arms, n_arms, "the packing set")
    return _hiding(n_arms, members, _drawn(size, seed), width, "hard_packing")


def hard_weak_arm(graph: GivenGraph, horizon: int, seed: int = 0, gap: float | None = None) -> Coins:
    """One arm that is not strongly observable is better or worse than one that does not reveal it: T^{2/3}.

    All other arms always lose. The gap is (κ'T)^{−1/3}, κ' = 8·log 3; the seed draws arm and sign.
    """
    from sidelight.analysis import observability

    graph = graph_of(graph, "hard_weak_arm")
    weak = observability(graph).weak
    if not weak.size:
        raise InfeasibleRequest("every arm is strongly observable or unobservable: no weak arm to hide")
    width = _gap(gap, (KL_TWO * checked_horizon(horizon)) ** (-1 / 3))
    draw = _drawn(2 * weak.size, seed)
    arm, sign = int(weak[draw // 2]), 2 * (draw % 2) - 1
    blind = np.ones(graph.n_arms, dtype=bool)
    blind[graph.in_neighbors(arm)] = False
    blind[arm] = False  # the arm itself has no loop: it is weak
    means = np.ones(graph.n_arms)
    means[np.flatnonzero(blind)[0]] = 0.5
    means[arm] = 0.5 + sign * width
    return Coins(means[None, :], name="hard_weak_arm")


def packing(n_arms: int, packing_set: PackingSet | Sequence[int], hidden: int = 0, gap: float = 0.1) -> Coins:
    """The instance behind Proposition packing-lb: the best arm hides in a packing set, all else is costly.

    Arms of the set lose with probability ½, the hidden one (index `hidden` of the set) with ½ − gap, and
    every other arm always: what reveals the set is expensive to play.
    """
    checked_count("n_arms", n_arms)
    arms = checked_arms(getattr(packing_set, "arms", packing_set), n_arms, "the packing set")
    checked_arms([hidden], arms.size, "hidden")
    return _hiding(n_arms, arms, hidden, checked_number("gap", gap), "packing")


def _hiding(n_arms: int, members: Longs, hidden: int, gap: float, name: str) -> Coins:
    """Fair coins, of which members[hidden] loses less by `gap`; all but the members always lose."""
    means = np.ones(n_arms)
    means[members] = 0.5
    means[members[hidden]] = 0.5 - gap
    return Coins(means[None, :], name=name)


def _gap(asked: float | None, tuned: float) -> float:
    """The gap asked for, else the tuned one, at most ¼: beyond, the proofs' constants do not hold."""
    return min(tuned, LARGEST_BIAS) if asked is None else checked_number("gap", asked)


def _drawn(size: int, seed: int) -> int:
    """Uniform on 0..size−1, the same in every version of everything."""
    word = np.random.SeedSequence(checked_seed(seed), spawn_key=(2,)).generate_state(1, np.uint64)[0]
    return int(word) * size >> 64
