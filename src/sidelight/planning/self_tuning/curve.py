"""What a self-tuning plan without a horizon promises: Theorem 2 of docs/theory/self-tuning.md, for every t."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from math import ceil, inf, isinf, log, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sidelight._types import Floats
from sidelight.engine.constants import GROWTH, ROOM, SLACK
from sidelight.engine.self_tuning.prices import strong_price, weak_price
from sidelight.errors import InvalidOption
from sidelight.planning.bounds.bound import NEVER, Bound, BoundCurve, Condition, below_trivial, first
from sidelight.planning.self_tuning.rule import SelfTuning

EXACT = 256
"""So many rounds are summed one by one; later ones are bounded by an integral."""

CELL = 0.02
"""Length of a cell of the integral, in log β."""


class _Climb(NamedTuple):
    """How long β̃ takes to climb, at least: in cell k, dt = scale_k·(β̃/β̃_k)^slope_k dβ̃."""

    beta: Floats  # (cells + 1,) β̃ where cells begin
    time: Floats  # (cells + 1,) rounds until there, at least
    scale: Floats  # (cells,)
    slope: Floats  # (cells,)


@dataclass(frozen=True, repr=False)
class SelfTuningBound(BoundCurve):
    """Regret after t rounds, for every t ≥ 1 at the same time, and the certificate on every run:

        R_t ≤ β_1·D + (1 + c)·S_t,     S_t ≤ (1 + GROWTH)·V_t + ROOM + 1 + SLACK,     S_t ≤ t,
        V_0 = 0,   V_{t+1} = V_t + r(V_t),   r(v) = (1 + SLACK)·cost((β_1 + c(v − 1)₊/D)/(1 + θ)).

    >>> rule = SelfTuning(order=0.5, share=0.5, diameter=12.0, first=1.0, weak=2.0)
    >>> 2.0 < SelfTuningBound(rule).value_at(10**9) / (12 * 2.0 * 10**18) ** (1 / 3) < 2.05
    True
    """

    KIND: ClassVar[str] = "self_tuning"
    THEOREM: ClassVar[str] = "Self-tuning plan, Theorem 2 of docs/theory/self-tuning.md"

    rule: SelfTuning

    @property
    def exponent(self) -> float:
        """The power of t."""
        return 2 / 3 if isinf(self.rule.strong) else 1 / 2

    @property
    def constant(self) -> float:
        """The factor of t^exponent that it tends to."""
        r = self.rule
        # V' = r(V) for large t: dV/dt ∝ V^{−1/2} where a round costs √(weak/2β), and ∝ 1/V where it costs strong/β.
        if isinf(r.strong):
            climb = (1 + SLACK) * sqrt(r.weak * (1 + r.patience) * r.diameter / (2 * r.share))
            grown = (1.5 * climb) ** (2 / 3)
        else:
            grown = sqrt(2 * (1 + SLACK) * (1 + r.patience) * r.strong * r.diameter / r.share)
        return float((1 + r.share) * (1 + GROWTH) * grown)

    def terms(self, t: int) -> dict[str, float]:
        """The bound after t rounds, term by term."""
        # Costs may run ahead of the recursion by what earlier rounds saved, ROOM and GROWTH of all costs at most, and
        # by one round; whatever is played, no round costs more than 1.
        spent = min((1 + GROWTH) * self.climbed(t) + ROOM + 1 + SLACK, float(t))
        return {
            "first temperature": self.rule.first * self.rule.diameter,
            "rounds": spent,
            "temperature bought": self.rule.share * spent,
        }

    def conditions(self, t: int) -> tuple[Condition, ...]:
        """What the proof needs of the first temperature: steps may double β, and never have to do more."""
        return (Condition("c/D ≤ β₁", self.rule.share / self.rule.diameter, self.rule.first),)

    # -- the recursion --------------------------------------------------------------------------------------

    def step(self, v: float) -> float:
        """r(v): what a round costs at most when v was spent before it, with the slack of the budget constraint."""
        return (1 + SLACK) * self.rule.round_cost(self._beta(v) / (1 + self.rule.patience))

    def climbed(self, t: int) -> float:
        """V_t, from above: exactly for the first rounds, then by integrating 1/r.

        A step from v to v' = v + r(v) takes ∫ dy/r(y) ≤ x = r(v)/r(v') rounds of the integral, which reaches V_t
        after t + Σ (x − 1) of them at the latest; x − 1 ≤ x_max·log x, and all x multiply to r(V_{t₀})/r(V_t).
        """
        # While V ≤ 1 the share of the costs pays for less than β_1 already has: β̃ stays there, and rounds cost alike.
        waited = self._waited
        if t <= waited:
            return t * self.step(0.0)
        done = waited + len(self._exact) - 1
        if t <= done:
            return self._exact[t - waited]
        rule, start = self.rule, self._exact[-1]
        r = self.step(start)
        above = self._beta(start) - rule.lean * rule.weak * (1 + rule.patience)
        if above <= 0:
            return (1 + SLACK) * t  # no round costs less than 1 there
        # Round costs fall like β^{−3/2} at most, so this is the largest of all x.
        largest = (1 + rule.share * r / (rule.diameter * above)) ** 1.5
        extra = largest * log(r / self.step(start + (t - done) * r))
        return self._reached(start, t - done + extra)

    def _beta(self, v: float) -> float:
        """β̃ = β_1 + c(v − 1)₊/D: the temperature is at least that, but for a factor 1 + θ."""
        return self.rule.first + self.rule.share * max(v - 1, 0.0) / self.rule.diameter

    @cached_property
    def _exact(self) -> list[float]:
        """V of the rounds after those in which β̃ waits at β_1, up to V_{t₀}."""
        v = [self._waited * self.step(0.0)]
        while len(v) <= EXACT:
            v.append(v[-1] + self.step(v[-1]))
        return v

    @cached_property
    def _waited(self) -> int:
        """Rounds until V ≥ 1: one or two, unless the first temperature makes them cheap."""
        return ceil(1 / self.step(0.0))

    @cached_property
    def _climb(self) -> _Climb:
        """1/r from below, cell by cell, for each of the three bounds on a round: the one that takes longest counts.

        The logarithm of each bound is convex in log β but for one kink, where a cell begins: chords of 1/r are below.
        """
        rule, stretch = self.rule, 1 + self.rule.patience
        # The grid ends where 2⁶⁴ rounds of the highest cost would lead: nobody plays longer.
        farthest = self._beta((1 + SLACK) * 2.0**64)
        grid = rule.first * np.exp(np.arange(0.0, log(farthest / rule.first) + 2 * CELL, CELL))
        # At β = 2·weak the exploration that is best reaches its cap of ½: the cost has another slope below.
        kink = 2 * rule.weak * stretch
        beta = np.unique(np.append(grid, kink)) if kink > rule.first else grid
        log_ratio = np.diff(np.log(beta))
        best = _Climb(beta, np.zeros(beta.size), np.zeros(beta.size - 1), np.zeros(beta.size - 1))
        cells = np.zeros(beta.size - 1)
        for branch in (lambda b: 1.0, self._weak_cost, self._strong_cost):
            costs = np.array([branch(b) for b in beta / stretch])
            rounds = rule.diameter / (rule.share * (1 + SLACK) * costs)
            # A bound of ∞ says nothing about a cell, and one that is ∞ at its end has no chord.
            finite = (rounds[:-1] > 0) & np.isfinite(rounds[1:])
            slope = np.where(finite, np.diff(np.log(np.where(rounds > 0, rounds, 1.0))), 0.0) / log_ratio
            # ∫ of the chord, a power of β, over the cell.
            takes = rounds[:-1] * beta[:-1] * np.expm1((slope + 1) * log_ratio) / (slope + 1)
            better = finite & (takes > cells)
            cells = np.where(better, takes, cells)
            best = best._replace(
                scale=np.where(better, rounds[:-1], best.scale), slope=np.where(better, slope, best.slope)
            )
        return best._replace(time=np.concatenate([[0.0], np.cumsum(cells)]))

    def _reached(self, start: float, rounds: float) -> float:
        """v at most, so many rounds of the integral after `start` ≥ 1."""
        # The integral is inverted: first the cell in which its time is up, then the point in the cell.
        climb, rule = self._climb, self.rule
        begin = self._beta(start)
        k = int(np.searchsorted(climb.beta, begin, side="right")) - 1
        until = climb.time[k] + _spent(climb, k, begin) + rounds
        k = int(np.searchsorted(climb.time, until, side="right")) - 1
        power = climb.slope[k] + 1
        left = (until - climb.time[k]) * power / (climb.scale[k] * climb.beta[k])
        beta = float(climb.beta[k] * (1 + left) ** (1 / power))
        return 1 + (beta - rule.first) * rule.diameter / rule.share

    def _weak_cost(self, beta: float) -> float:
        return weak_price(beta, self.rule.order, self.rule.weak, self.rule.beside)

    def _strong_cost(self, beta: float) -> float:
        return strong_price(beta, self.rule.weak, self.rule.strong, self.rule.lean)

    # -- in words and in files -------------------------------------------------------------------------------

    @cached_property
    def informative_from(self) -> int:
        """Least t from which on the bound is always below t, `NEVER` if that is more rounds than can be counted.

        Bound − t is concave in t while rounds are summed one by one, and again where they are integrated.
        """

        def says(t: int) -> bool:
            return below_trivial(self.value_at(t), t)

        # Only the joint of both regimes can make the bound cross t a second time.
        joint = self._waited + len(self._exact) - 1
        if says(joint) and says(joint + 1):
            return first(says)
        return joint + first(lambda t: says(joint + t)) if says(NEVER) else NEVER

    def numbers(self) -> dict[str, Any]:
        """Those of the rule, None for ∞."""
        return {name: None if x == inf else x for name, x in asdict(self.rule).items()}

    @classmethod
    def of(cls, numbers: Mapping[str, Any]) -> SelfTuningBound:
        """The bound of the rule with these numbers."""
        values: dict[str, Any] = {name: inf if x is None else float(x) for name, x in numbers.items()}
        return cls(SelfTuning(**values | {"horizon": int(values["horizon"])}))


def _spent(climb: _Climb, k: int, beta: float) -> float:
    """Rounds from the beginning of cell k to β̃ inside it, at most those that `_reached` inverts."""
    power = climb.slope[k] + 1
    grown = (beta / climb.beta[k]) ** power - 1
    return float(climb.scale[k] * climb.beta[k] * grown / power)


@dataclass(frozen=True, repr=False)
class OneArm(BoundCurve):
    """Nothing to choose, no regret."""

    KIND: ClassVar[str] = "one_arm"
    THEOREM: ClassVar[str] = "One arm"

    @property
    def exponent(self) -> float:
        """Any would do."""
        return 1 / 2

    def terms(self, t: int) -> dict[str, float]:
        """0."""
        return {"one arm": 0.0}

    def conditions(self, t: int) -> tuple[Condition, ...]:
        """None."""
        return ()

    def numbers(self) -> dict[str, Any]:
        """None."""
        return {}

    @classmethod
    def of(cls, numbers: Mapping[str, Any]) -> OneArm:
        """The bound, which has no numbers."""
        return cls()


def curve_from_dict(saved: Mapping[str, Any], horizon: int | None) -> Bound | BoundCurve:
    """The bound of a plan that `to_dict` wrote, at its horizon or as a function of the round."""
    if not isinstance(saved, Mapping):
        raise InvalidOption(f"not a saved bound: {saved!r}")
    if horizon is not None:  # files of format 4 and older leave it to the plan
        return Bound.from_dict({"horizon": horizon, **saved})
    kinds: tuple[type[BoundCurve], ...] = (SelfTuningBound, OneArm)
    for kind in kinds:
        if kind.KIND in saved:
            try:
                return kind.of(saved[kind.KIND])
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
                raise InvalidOption(f"not a saved bound: {error!r}") from None
    raise InvalidOption(f"not a saved bound: none of {', '.join(kind.KIND for kind in kinds)}")
