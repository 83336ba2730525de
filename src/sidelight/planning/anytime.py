"""Plans with rates that fall by the round: flat plans for any number of rounds, and their bounds.

Strongly observable graphs have rates and exploration ∝ t^{−1/2}; elsewhere those of covered arms fall like t^{−2/3}
and t^{−1/3}. Proofs: docs/theory/anytime.md.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from math import cbrt, ceil, inf, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sidelight._types import Floats
from sidelight.analysis import Domination
from sidelight.errors import InvalidOption
from sidelight.partition import Partition, natural
from sidelight.planning.bounds.bound import Bound, BoundCurve, Condition, below_trivial, first
from sidelight.planning.exploration import Cover, Solved
from sidelight.planning.minimised.flat import flat_tuning
from sidelight.planning.minimised.interpolated import one_best_h
from sidelight.planning.minimised.problem import Problem, Start
from sidelight.planning.minimised.round_cost import round_cost
from sidelight.planning.minimised.strong import OneSimplex, Strong, evenly, powers, with_ratio
from sidelight.planning.plan import Details, Plan
from sidelight.planning.potentials import Potential, diameter, height, one_diameter
from sidelight.planning.schedule import EPOCHS, STRETCH, Schedule
from sidelight.planning.self_tuning.curve import SelfTuningBound
from sidelight.planning.tuning import MOST_EXPLORATION, Tuning, lazy_factor

ROUNDS = tuple(10**k for k in range(2, 9))
"""Where the bounds to choose from are compared."""

AIM = 2**20
"""The number of rounds at which the parameters are best. The bound holds at every t; only the tuning is aimed."""

_STARTS = np.array([float(t) for t in EPOCHS[:-1]])
_LENGTHS = np.array([float(after - t) for t, after in pairwise(EPOCHS)])


def anytime(solved: Solved) -> Plan:
    """The plan whose bound is never far above the others': by cliques where these see all, or by a cover.

    A cover of all arms has nothing beside its t^{2/3}, one of the arms without self-loop has the smaller t^{2/3}, and
    cliques have √t: one wins early, another late. So their bounds are compared where the ratio to the smallest is
    largest, over 10², 10³, …, 10⁸ rounds; no bound counts for more than t.

    >>> from sidelight.graph import families
    >>> [anytime(Solved(g)).details.choices for g in (families.loopy_star(2000), families.mab(9))]
    [('flat h=1',), ('flat h=0.9331',)]
    """
    ways = [strong_anytime(solved)] if solved.observability.graph == "strong" else []
    ways += covering_plans(solved) if solved.graph.n_arms > 1 else []
    values = np.array([[min(way.curve.value_at(t), float(t)) for t in ROUNDS] for way in ways])
    worst = (values / np.maximum(values.min(axis=0), 1e-300)).max(axis=1)
    return ways[min(range(len(ways)), key=lambda i: float(f"{worst[i]:.9g}"))]


def curve_from_dict(saved: Mapping[str, Any], horizon: int | None) -> Bound | BoundCurve:
    """The bound of a plan that `to_dict` wrote, at its horizon or as a function of the round."""
    if not isinstance(saved, Mapping):
        raise InvalidOption(f"not a saved bound: {saved!r}")
    if horizon is not None:  # files of format 4 and older leave it to the plan
        return Bound.from_dict({"horizon": horizon, **saved})
    kinds: tuple[type[BoundCurve], ...] = (SelfTuningBound, StrongAnytimeBound, AnytimeBound)
    for kind in kinds:
        if kind.KIND in saved:
            try:
                return kind.of(saved[kind.KIND])
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
                raise InvalidOption(f"not a saved bound: {error!r}") from None
    raise InvalidOption(f"not a saved bound: none of {', '.join(kind.KIND for kind in kinds)}")


# -- strongly observable graphs ---------------------------------------------------------------------------


class _Sums(NamedTuple):
    """What epochs cost: (epochs,) per round of each, and all that was paid before each."""

    stability: Floats
    exploration: Floats
    stability_before: Floats
    exploration_before: Floats


@dataclass(frozen=True, repr=False)
class StrongAnytimeBound(BoundCurve):
    """Regret after t rounds on a strongly observable graph, for every t ≥ 1 at the same time.

        R_t ≤ D_h(n)/η_{t+1} + Σ_{u ≤ t} [η_u·stability(h, η_u, γ_u) + exploration(h, η_u, γ_u)]

    with η_u = η·s(u)^{−1/2} and γ_u = γ·s(u)^{−1/2}, s(u) the first round of the epoch of u, or `start` before
    that, and the halves of a round of `Strong`. Proof: docs/theory/anytime.md.

    >>> hedge = StrongAnytimeBound(Strong(64, 0, True, 1, 0, 0, 0, False), OneSimplex(1.0, 4.0))
    >>> round(hedge.value_at(10**6))
    2035
    """

    KIND: ClassVar[str] = "anytime_strong"
    THEOREM: ClassVar[str] = "Anytime plan on a strongly observable graph"

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

    def conditions(self, t: int) -> tuple[Condition, ...]:
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
    def informative_from(self) -> int:
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

    def numbers(self) -> dict[str, Any]:
        """All counts and parameters."""
        return asdict(self.problem) | self.x._asdict()

    @classmethod
    def of(cls, numbers: Mapping[str, Any]) -> StrongAnytimeBound:
        """The bound with these counts and parameters."""
        counts = {name: int(numbers[name]) for name in ("n_loop", "n_loopless", "alpha", "cliques")}
        hidden = counts["n_loopless"] > 0
        if "n_plain" in numbers:
            counts |= {name: int(numbers[name]) for name in ("n_plain", "n_reserved")}
        else:  # older files count loop-less arms beside the cliques
            counts["cliques"] += int(hidden)
            counts |= {"n_plain": counts["n_loop"], "n_reserved": int(hidden)}
        problem = Strong(full=bool(numbers["full"]), apart=bool(numbers.get("apart", hidden)), **counts)
        h, eta, gamma = (float(numbers[name]) for name in ("h", "eta", "gamma"))
        return cls(problem, OneSimplex(h, eta, gamma, bool(numbers.get("wide", False))))


@dataclass(frozen=True)
class Aimed(Problem[OneSimplex]):
    """The bound after T rounds of rates that fall, to be minimised at `AIM`."""

    problem: Strong  # the problem of a known horizon

    def gamma_bar(self, x: OneSimplex) -> float:
        """Until γ_t falls below ½ it stays there."""
        return min(x.gamma, MOST_EXPLORATION)

    def terms(self, T: float, x: OneSimplex) -> dict[str, float]:
        """The sum over all rounds."""
        return StrongAnytimeBound(self.problem, x).terms(int(T))

    def conditions(self, T: float, x: OneSimplex) -> tuple[Condition, ...]:
        """None: whatever γ, rounds before `start` see to it."""
        return ()

    def starts(self, T: float) -> Iterator[Start]:
        """The powers that plans for T rounds try, from their exploration."""
        start, slow = self.problem.parameters(T), sqrt(T)
        if self.problem.n_loopless:
            free = {"eta": start.eta * slow, "ratio": start.eta / start.gamma}
            yield Start({}, {"h": 1.0, "wide": start.wide} | free)
            yield Start(free, {"h": 1.0, "wide": start.wide})
            return
        for h in powers(self.problem.n, float(self.problem.cliques)):
            yield Start({}, {"h": h, "gamma": 0.0})
        if self.problem.alpha:
            gamma = start.gamma or 1 / sqrt(self.problem.alpha * T)
            for wide in self.problem.widths:
                for h in powers(self.problem.n, float(self.problem.seen(gamma, wide))):
                    yield Start({"gamma": gamma * slow}, {"h": h, "wide": wide})

    def complete(self, T: float, **chosen: Any) -> OneSimplex:
        """The best η is known unless it shifts the others: the bound is a/η + bη + c."""
        x = with_ratio(**({"eta": 1.0} | chosen))
        if "eta" in chosen:
            return x
        terms = self.terms(T, x)
        return x._replace(eta=sqrt(terms["diameter"] / terms["stability"]))


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
    played = ("flat", parameters | {"gamma_bar": gamma}, bound, tuning)
    return Plan(g, partition, None, *played, Details(g, choices))


# -- exploring through a cover ------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class AnytimeBound(BoundCurve):
    """Regret after t rounds is at most weak·t^{2/3} + strong·t^{1/2} for every t ≥ start, at the same time.

    >>> AnytimeBound(3.0, 0.0, 8).at(1000).value
    300.0
    """

    KIND: ClassVar[str] = "anytime"
    THEOREM: ClassVar[str] = "Anytime flat plan"

    weak: float  # coefficient of t^{2/3}
    strong: float  # coefficient of t^{1/2}
    start: int

    def __post_init__(self) -> None:
        if not (self.weak >= 0 and self.strong >= 0):  # the checker compares where a concave curve is closest
            raise InvalidOption(
                f"the coefficients of a bound are not negative, got {self.weak}, {self.strong}"
            )

    @property
    def constant(self) -> float:
        """Coefficient of the leading power of t."""
        return self.weak or self.strong

    @property
    def exponent(self) -> float:
        """The leading power of t: 2/3, or 1/2 without weakly observable arms."""
        return 2 / 3 if self.weak else 1 / 2

    @property
    def valid_from(self) -> int:
        """It holds from `start` on, whatever the number of rounds."""
        return self.start

    def terms(self, t: int) -> dict[str, float]:
        """The bound after t rounds, power by power."""
        T = float(t)
        named = {"weakly observable arms": self.weak * cbrt(T * T), "self-loop arms": self.strong * sqrt(T)}
        return {name: value for name, value in named.items() if value > 0} or {"one arm": 0.0}

    def conditions(self, t: int) -> tuple[Condition, ...]:
        """Exploration has fallen to ½."""
        return (Condition("start ≤ t", float(self.start), float(t)),)

    def summary(self) -> str:
        """The bound as a formula."""
        parts = [f"{self.weak:.6g}·t^(2/3)"] if self.weak else []
        parts += [f"{self.strong:.6g}·t^(1/2)"] if self.strong or not parts else []
        return f"regret after t rounds ≤ {' + '.join(parts)}   for every t ≥ {self.start:,} ({self.THEOREM})"

    def numbers(self) -> dict[str, Any]:
        """Both coefficients and the start."""
        return asdict(self)

    @classmethod
    def of(cls, numbers: Mapping[str, Any]) -> AnytimeBound:
        """The bound with these coefficients."""
        return cls(float(numbers["weak"]), float(numbers["strong"]), int(numbers["start"]))


def covering_plans(solved: Solved) -> list[Plan]:
    """All arms covered, or those without self-loop, if there are both kinds."""
    g = solved.graph
    loopless = np.flatnonzero(~g.has_loop)
    sets = [np.arange(g.n_arms)] + ([loopless] if 0 < loopless.size < g.n_arms else [])
    return [_covering(natural.single(g), solved.cover(arms)) for arms in sets]


def _covering(partition: Partition, domination: Domination) -> Plan:
    """One simplex: covered arms W with η_t ∝ t^{−2/3} and β_t ∝ t^{−1/3}, self-loop arms S with η_t ∝ t^{−1/2}.

        R_t ≤ t^{2/3}·(D/η₁ + (3/2)r·max(η₁/(2β₁), β₁κδ^h)) + t^{1/2}·(√n_S/η_S + 4ρr'·η_S√n_S)

    with r = (17/16)^{1/3} and r' = (17/16)^{1/2}, the price of rates that change by epochs, and D the diameter of W
    alone, its height beside S. Minimised, the first bracket is (243/32)^{1/3}·r^{2/3}·(κDδ^h)^{1/3}, that is 1.966
    and epochs.
    `domination` covers W from any arm; all others have self-loops. Proof: docs/theory/anytime.md.
    """
    n, n_cover, delta = partition.graph.n_arms, len(domination.cover), float(domination.value)
    root, r, r_half = sqrt(n - n_cover), cbrt(1 + STRETCH), sqrt(1 + STRETCH)
    h = one_best_h(n_cover, delta, corners=n == n_cover, played=n)
    D = float((diameter if n == n_cover else height)(h, n_cover))
    cost = float(lazy_factor(n) if h < 1 else 1.0) * delta**h
    eta, eta_loop = cbrt(32 * D * D / (9 * r * r * cost)), sqrt(1 / (8 * r_half))
    beta = sqrt(eta / (2 * cost))
    start = max(ceil((beta * cost / MOST_EXPLORATION) ** 3), 1)  # exploration falls below ½ here
    weak = D / eta + 1.5 * r * round_cost(eta / (2 * beta), beta * cost)
    bound = AnytimeBound(weak, root / eta_loop + 8 * r_half * eta_loop * root, start)

    now = float(start)  # until then everything stays as it is there
    beta, eta, eta_loop = beta / cbrt(now), eta / cbrt(now * now), eta_loop / sqrt(now)
    exponents = np.full(n, -1 / 2)
    exponents[domination.cover] = -2 / 3
    schedule = Schedule(exponents, -1 / 3, start)
    tuning = flat_tuning(partition, Cover.of(domination, n), h, beta, (eta, eta_loop, 0.0), schedule=schedule)
    parameters: dict[str, Any] = {"h": h, "start": start, "beta": beta, "eta": eta, "delta": delta}
    parameters |= {"eta_loop": eta_loop} if n > n_cover else {}
    details = Details(partition.graph, (f"flat h={h:.4g}",))
    return Plan(partition.graph, partition, None, "flat", parameters, bound, tuning, details)
