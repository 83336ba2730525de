"""Strongly observable graphs without a horizon: one simplex, rates and exploration that fall like t^{−1/2}."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from math import ceil, inf, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sidelight._types import Floats
from sidelight.errors import InvalidOption
from sidelight.partition import natural
from sidelight.planning.bounds.bound import Bound, Condition, ShownCurve, below_trivial, first
from sidelight.planning.exploration import Solved
from sidelight.planning.minimised.problem import Problem, Start
from sidelight.planning.minimised.strong import OneSimplex, Strong, evenly, powers, with_ratio
from sidelight.planning.plan import Details, Plan
from sidelight.planning.potentials import Potential, one_diameter
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


@dataclass(frozen=True, repr=False)
class StrongAnytimeBound(ShownCurve):
    """Regret after t rounds on a strongly observable graph, for every t ≥ 1 at the same time.

        R_t ≤ D_h(n)/η_{t+1} + Σ_{u ≤ t} [η_u·stability(h, η_u, γ_u) + exploration(h, η_u, γ_u)]

    with η_u = η·s(u)^{−1/2} and γ_u = γ·s(u)^{−1/2}, s(u) the first round of the epoch of u, or `start` before
    that, and the halves of a round of `Strong`. Proof: docs/theory/anytime.md.

    >>> hedge = StrongAnytimeBound(Strong(64, 0, True, 1, 0, 0, 0, False), OneSimplex(1.0, 4.0))
    >>> round(hedge.value_at(10**6))
    2035
    """

    KIND: ClassVar[str] = "anytime_strong"  # the key under which it is saved

    problem: Strong
    x: OneSimplex  # η and γ are the coefficients of s^{−1/2}

    def __post_init__(self) -> None:
        h, eta, gamma = self.x.h, self.x.eta, self.x.gamma
        if not (0 < h <= 1 and 0 < eta < inf and 0 <= gamma < inf):
            raise InvalidOption(f"an anytime bound needs h in (0, 1], η > 0 and γ ≥ 0, got {self.x}")

    @property
    def start(self) -> int:
        """First round with γ_t ≤ ½; until then everything stays as it is here."""
        return max(ceil((self.x.gamma / MOST_EXPLORATION) ** 2), 1)

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
            "diameter": one_diameter(self.x.h, self.problem.n) * slow / self.x.eta,
            "stability": float(sums.stability_before[epoch] + rounds * sums.stability[epoch]),
        }
        if self.x.gamma > 0:
            explored = float(sums.exploration_before[epoch] + rounds * sums.exploration[epoch])
            terms |= {"exploration": explored} if explored > 0 else {}
        return terms

    def at(self, t: int) -> Bound:
        """The bound after t rounds, with what it rests on."""
        return Bound(t, self.terms(t), THEOREM, self.conditions, 1, self._informative_from)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What the parameters must satisfy: the most that is ever explored."""
        return (Condition("γ̄ ≤ 1/2", self.x.gamma / sqrt(self.start), MOST_EXPLORATION),)

    @cached_property
    def _sums(self) -> _Sums:
        with np.errstate(all="ignore"):  # parameters without a finite bound have an infinite one
            slow = 1 / np.sqrt(np.maximum(_STARTS, self.start))
            squares = self.x.eta * slow * self.problem.stability(self.x, slow)
            stability = np.nan_to_num(squares, nan=inf, posinf=inf)
            explored = np.broadcast_to(self.problem.exploration(self.x, slow), slow.shape)
            before = [
                np.concatenate([[0.0], np.cumsum(_LENGTHS * each)[:-1]]) for each in (stability, explored)
            ]
        return _Sums(stability, explored, *before)

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
        p, x = self.problem, self.x
        return {self.KIND: asdict(p) | x._asdict()}

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> StrongAnytimeBound:
        """The bound that `to_dict` wrote."""
        try:
            found = saved[cls.KIND]
            counts = {name: int(found[name]) for name in ("n_loop", "n_loopless", "alpha", "cliques")}
            hidden = counts["n_loopless"] > 0
            if "n_plain" in found:
                counts |= {name: int(found[name]) for name in ("n_plain", "n_reserved")}
            else:  # older files count loop-less arms beside the cliques
                counts["cliques"] += int(hidden)
                counts |= {"n_plain": counts["n_loop"], "n_reserved": int(hidden)}
            problem = Strong(full=bool(found["full"]), apart=bool(found.get("apart", hidden)), **counts)
            h, eta, gamma = (float(found[name]) for name in ("h", "eta", "gamma"))
            return cls(problem, OneSimplex(h, eta, gamma, bool(found.get("wide", False))))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidOption(f"not a saved anytime bound: {error!r}") from None


def _power(t: int) -> str:
    return "10" + str(len(str(t)) - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


# -- the parameters ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Aimed(Problem[OneSimplex]):
    """The bound after T rounds of rates that fall, to be minimised at `AIM`."""

    known: Strong  # the problem of a known horizon

    def gamma_bar(self, x: OneSimplex) -> float:
        """Until γ_t falls below ½ it stays there."""
        return min(x.gamma, MOST_EXPLORATION)

    def terms(self, T: float, x: OneSimplex) -> dict[str, float]:
        """The sum over all rounds."""
        return StrongAnytimeBound(self.known, x).terms(int(T))

    def conditions(self, T: float, x: OneSimplex) -> tuple[Condition, ...]:
        """None: whatever γ, rounds before `start` see to it."""
        return ()

    def starts(self, T: float) -> Iterator[Start]:
        """The powers that plans for T rounds try, from their exploration."""
        found, slow = self.known.parameters(T), sqrt(T)
        if self.known.n_loopless:
            free = {"eta": found.eta * slow, "ratio": found.eta / found.gamma}
            yield Start({}, {"h": 1.0, "wide": found.wide} | free)
            yield Start(free, {"h": 1.0, "wide": found.wide})
            return
        for h in powers(self.known.n, float(self.known.cliques)):
            yield Start({}, {"h": h, "gamma": 0.0})
        if self.known.alpha:
            gamma = found.gamma or 1 / sqrt(self.known.alpha * T)
            for wide in self.known.widths:
                for h in powers(self.known.n, float(self.known.seen(gamma, wide))):
                    yield Start({"gamma": gamma * slow}, {"h": h, "wide": wide})

    def made(self, T: float, **chosen: Any) -> OneSimplex:
        """The best η is known unless it shifts the others: the bound is a/η + bη + c."""
        x = with_ratio(**({"eta": 1.0} | chosen))
        if "eta" in chosen:
            return x
        terms = self.terms(T, x)
        return x._replace(eta=sqrt(terms["diameter"] / terms["stability"]))


# -- the plan ----------------------------------------------------------------------------------------------


def strong_anytime(solved: Solved) -> Plan:
    """All arms in one block with one potential, played from a schedule."""
    g, partition, problem = solved.graph, natural.single(solved.graph), Strong.of(solved.cliques)
    x = OneSimplex(1.0, 1.0) if problem.n == 1 else Aimed(problem).parameters(float(AIM))
    bound = StrongAnytimeBound(problem, x)
    eta, gamma = x.eta / sqrt(bound.start), x.gamma / sqrt(bound.start)
    schedule = Schedule(np.full(g.n_arms, -1 / 2), -1 / 2, bound.start)
    explored = evenly(g, x._replace(gamma=gamma))
    tuning = Tuning.flat(g.n_arms, Potential(x.h, eta), constant=explored, schedule=schedule)
    parameters: dict[str, Any] = {"h": x.h, "start": bound.start, "eta": eta}
    parameters |= {"alpha_upper": float(problem.alpha)} if problem.alpha else {}
    choices = (f"flat h={x.h:.4g}",) if partition.weak.size else ()
    about = ("flat", parameters | {"gamma_bar": gamma}, bound, tuning)
    return Plan(g, partition, None, *about, Details(g, choices))
