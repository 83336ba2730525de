"""Strongly observable graphs without a horizon: one simplex, rates and exploration that fall like t^{−1/2}."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from math import ceil, inf, isfinite, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sidelight._types import Floats
from sidelight.errors import InvalidOption
from sidelight.partition import Partition
from sidelight.planning.bounds.bound import Bound, Condition, below_trivial, first
from sidelight.planning.cliques import clique_cover, directed_bound, growth
from sidelight.planning.minimised.interpolation import diameter
from sidelight.planning.minimised.minimise import Vector, minimise
from sidelight.planning.minimised.strong import Strong, StrongLevers, powers, strong_problem
from sidelight.planning.schedule import EPOCHS, Schedule
from sidelight.planning.tuning import MOST_EXPLORATION, Tuning

THEOREM = "Anytime plan on a strongly observable graph"

AIM = 2**20
"""The number of rounds at which the parameters are best. The bound holds at every t; only the tuning is aimed."""

SHOWN = (10**3, 10**6, 10**9)
"""Rounds at which `summary` tells the coefficient of √t."""

_STARTS = np.array([float(t) for t in EPOCHS[:-1]])
_LENGTHS = np.array([float(after - t) for t, after in pairwise(EPOCHS)])


# -- the bound ---------------------------------------------------------------------------------------------


class _Sums(NamedTuple):
    """What epochs cost: (epochs,) per round of each, and all that was paid before each."""

    stability: Floats
    exploration: Floats
    stability_before: Floats
    exploration_before: Floats


@dataclass(frozen=True)
class StrongAnytimeBound:
    """Regret after t rounds on a strongly observable graph, for every t ≥ 1 at the same time.

        R_t ≤ D_h(n)/η_{t+1} + Σ_{u ≤ t} [η_u·stability(h, η_u, γ_u) + γ_u]

    with η_u = η·s(u)^{−1/2} and γ_u = γ·s(u)^{−1/2}, s(u) the first round of the epoch of u, or `start` before
    that, and `Strong.stability`. Proof: docs/theory/anytime.md.

    >>> hedge = StrongAnytimeBound(Strong(64, 0, True, 1, 0), StrongLevers(1.0, 4.0))
    >>> round(hedge.value_at(10**6))
    2035
    """

    KIND: ClassVar[str] = "anytime_strong"  # the key under which it is saved

    problem: Strong
    levers: StrongLevers  # η and γ are the coefficients of s^{−1/2}

    def __post_init__(self) -> None:
        h, eta, gamma = self.levers.h, self.levers.eta, self.levers.gamma
        if not (0 < h <= 1 and 0 < eta < inf and 0 <= gamma < inf):
            raise InvalidOption(f"an anytime bound needs h in (0, 1], η > 0 and γ ≥ 0, got {self.levers}")

    @property
    def start(self) -> int:
        """First round with γ_t ≤ ½; until then everything stays as it is here."""
        return max(ceil((self.levers.gamma / MOST_EXPLORATION) ** 2), 1)

    @property
    def exponent(self) -> float:
        """The power of t, logarithms aside."""
        return 1 / 2

    @property
    def valid_from(self) -> int:
        """1: it holds in every round, whatever their number."""
        return 1

    def value_at(self, t: int) -> float:
        """The bound after t rounds."""
        return sum(self.terms(t).values())

    def terms(self, t: int) -> dict[str, float]:
        """The bound after t rounds, term by term; O(1) once the epochs are summed."""
        if self.problem.n == 1:
            return {"one arm": 0.0}
        epoch, following = (bisect_right(EPOCHS, u) - 1 for u in (t, t + 1))
        rounds = float(t - EPOCHS[epoch] + 1)
        sums, slow = self._sums, sqrt(max(EPOCHS[following], self.start))
        terms = {
            "diameter": float(diameter(self.levers.h, self.problem.n)) * slow / self.levers.eta,
            "stability": float(sums.stability_before[epoch] + rounds * sums.stability[epoch]),
        }
        if self.levers.gamma > 0:
            explored = sums.exploration_before[epoch] + rounds * sums.exploration[epoch]
            terms["exploration"] = float(explored)
        return terms

    def at(self, t: int) -> Bound:
        """The bound after t rounds, with what it rests on."""
        return Bound(t, self.terms(t), THEOREM, self.conditions, 1, self._informative_from)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What the parameters must satisfy: the most that is ever explored."""
        return (Condition("γ̄ ≤ 1/2", self.levers.gamma / sqrt(self.start), MOST_EXPLORATION),)

    @cached_property
    def _sums(self) -> _Sums:
        with np.errstate(all="ignore"):  # parameters without a finite bound have an infinite one
            slow = 1 / np.sqrt(np.maximum(_STARTS, self.start))
            eta, gamma = self.levers.eta * slow, self.levers.gamma * slow
            stability = np.nan_to_num(eta * stabilities(self.problem, self.levers, slow), nan=inf)
            before = [np.concatenate([[0.0], np.cumsum(_LENGTHS * each)[:-1]]) for each in (stability, gamma)]
        return _Sums(stability, gamma, *before)

    @cached_property
    def _informative_from(self) -> int:
        """Least t from which on the bound is always below t.

        Inside an epoch bound − t is linear, but for the last round, which has the next epoch's diameter.
        """

        def says(t: int) -> bool:
            return below_trivial(self.value_at(t), t)

        last = len(EPOCHS) - 2
        while last >= 0:
            begins, ends = EPOCHS[last], EPOCHS[last + 1] - 1
            if not says(ends):
                return ends + 1
            if not says(begins):
                return first(lambda t, begins=begins: says(begins + t - 1)) + begins - 1  # type: ignore[misc]
            last -= 1
        return 1

    def summary(self) -> str:
        """The bound as the coefficient of √t, which hardly changes with t."""
        shown = [f"{self.value_at(t) / sqrt(t):.4g} at {_power(t)}" for t in SHOWN]
        return f"regret after t rounds ≤ c·t^(1/2) for every t, c = {', '.join(shown)} ({THEOREM})"

    def __str__(self) -> str:
        return self.summary()

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON; the bound follows from them."""
        p, x = self.problem, self.levers
        known = {"n_loop": p.n_loop, "n_loopless": p.n_loopless, "full": p.full, "cliques": p.cliques}
        return {self.KIND: known | {"alpha": p.alpha, "h": x.h, "eta": x.eta, "gamma": x.gamma}}

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> StrongAnytimeBound:
        """The bound that `to_dict` wrote."""
        try:
            found = saved[cls.KIND]
            counts = {name: int(found[name]) for name in ("n_loop", "n_loopless", "cliques", "alpha")}
            levers = StrongLevers(float(found["h"]), float(found["eta"]), float(found["gamma"]))
            return cls(Strong(full=bool(found["full"]), **counts), levers)
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidOption(f"not a saved anytime bound: {error!r}") from None


def _power(t: int) -> str:
    return "10" + str(len(str(t)) - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def stabilities(problem: Strong, levers: StrongLevers, slow: Floats) -> Floats:
    """`Strong.stability` at the rates η·slow and the exploration γ·slow, many at once.

    Both fall alike, so η/p, on which the shift by loop-less arms depends, is the same in every round.
    """
    gamma, h = levers.gamma * slow, levers.h
    rho = 1 / (1 - gamma)
    if problem.n_loopless:
        p = problem.hidden(levers.gamma)
        if p <= 0:
            return np.full(slow.shape, inf)
        loops = _seen(problem, gamma) if problem.n_loop else 0.0
        return np.asarray(0.5 * rho * growth(levers.eta / p) * (loops + 1))
    if problem.full and h == 1:
        return np.full(slow.shape, 0.125)
    return np.asarray(0.5 * rho ** (2 - h) * _seen(problem, gamma) ** h)


def _seen(problem: Strong, gamma: Floats) -> Floats:
    """`Strong.seen` of many γ."""
    cliques = np.full(gamma.shape, float(problem.cliques))
    if not (problem.alpha and problem.n_loop and (gamma > 0).all()):
        return cliques
    return np.asarray(
        np.minimum(cliques, directed_bound(problem.alpha, problem.n_loop, gamma / problem.n_loop))
    )


# -- the parameters ----------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def anytime_levers(problem: Strong) -> StrongLevers:
    """The coefficients with the smallest bound found at `AIM` rounds."""
    if problem.n == 1:
        return StrongLevers(1.0, 1.0)
    tried = _with_shift(problem) if problem.n_loopless else _without_shift(problem)
    return min(tried, key=lambda levers: _aimed(problem, levers))


def _aimed(problem: Strong, levers: StrongLevers) -> float:
    value = StrongAnytimeBound(problem, levers).value_at(AIM)
    return value if isfinite(value) else inf


def _without_shift(problem: Strong) -> list[StrongLevers]:
    """The best η for h and γ is known: the bound is a/η + bη + c."""

    def tuned(h: float, gamma: float) -> StrongLevers:
        terms = StrongAnytimeBound(problem, StrongLevers(h, 1.0, gamma)).terms(AIM)
        return StrongLevers(h, sqrt(terms["diameter"] / terms["stability"]), gamma)

    tried = [tuned(h, 0.0) for h in powers(problem.n, float(problem.cliques))]
    if problem.alpha:
        start = problem.levers(float(AIM)).gamma or 1 / sqrt(problem.alpha * AIM)
        for h in powers(problem.n, problem.seen(start)):

            def value(point: Vector, h: float = h) -> float:
                return _aimed(problem, tuned(h, point[0]))

            tried.append(tuned(h, minimise(value, (start * sqrt(AIM),))[0]))
    return tried


def _with_shift(problem: Strong) -> list[StrongLevers]:
    def made(point: Vector) -> StrongLevers:
        return StrongLevers(1.0, *point)

    known = problem.levers(float(AIM))
    start = (known.eta * sqrt(AIM), known.gamma * sqrt(AIM))
    return [made(start), made(minimise(lambda point: _aimed(problem, made(point)), start))]


# -- the candidate -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class StrongAnytimeCandidate:
    """All arms in one block with one potential, played from a schedule."""

    partition: Partition  # one block
    name: str = "single"
    realization: str = "flat"

    @cached_property
    def bound(self) -> StrongAnytimeBound:
        """The bound as a function of the round."""
        graph = self.partition.graph
        problem = strong_problem(clique_cover(graph))
        return StrongAnytimeBound(problem, anytime_levers(problem))

    @property
    def choices(self) -> tuple[str, ...]:
        """How the block plays."""
        return (f"flat h={self.bound.levers.h:.4g}",) if self.partition.weak.size else ()

    def tune(self) -> tuple[Tuning, dict[str, Any]]:
        """The tuning in round 1, with its schedule, and the numbers of that round by name."""
        g, n = self.partition.graph, self.partition.graph.n_arms
        bound = self.bound
        problem, h, start = bound.problem, bound.levers.h, bound.start
        eta, gamma = bound.levers.eta / sqrt(start), bound.levers.gamma / sqrt(start)
        carriers = g.has_loop if problem.n_loop else np.ones(n, dtype=bool)
        rate = ((1 - h) * eta if h < 1 else eta) if n > 1 else 0.0
        tuning = Tuning.one_block(
            power=np.full(n, 1 / (1 - h) if h < 1 else 0.0),
            rate=np.full(n, rate),
            constant=np.where(carriers, gamma / int(carriers.sum()), 0.0),
            spread=0.0,
            cover=np.zeros(n),
            load=np.zeros(n),
            schedule=Schedule(np.full(n, -1 / 2), -1 / 2, start),
        )
        parameters: dict[str, Any] = {"h": h, "start": start, "eta": eta}
        parameters |= {"alpha_upper": float(problem.alpha)} if problem.alpha else {}
        return tuning, parameters | {"gamma_bar": gamma}
