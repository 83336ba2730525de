"""What a self-tuning plan without a horizon promises: Theorem 2 of docs/theory/self-tuning.md, for every t."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from math import ceil, expm1, inf, log
from typing import Any, ClassVar

import numpy as np

from sidelight._types import Floats
from sidelight.engine.constants import GROWTH, ROOM, SLACK
from sidelight.engine.self_tuning.prices import COST
from sidelight.errors import InvalidOption
from sidelight.planning.bounds.bound import NEVER, Bound, BoundCurve, Condition, below_trivial, first
from sidelight.planning.self_tuning.rule import SelfTuning

EXACT = 256
"""So many rounds are summed one by one; later ones are bounded by an integral."""


@dataclass(frozen=True, repr=False)
class SelfTuningBound(BoundCurve):
    """Regret after t rounds, for every t ≥ 1 at the same time, and the certificate on every run:

        R_t ≤ β_1·D + (1 + c)·S_t,     S_t ≤ (1 + GROWTH)·V_t + ROOM + 1 + SLACK,     S_t ≤ t,
        V_0 = 0,   V_{t+1} = V_t + r(V_t),   r(v) = (1 + SLACK)·cost((β_1 + c(v − 1)₊/D)/(1 + θ)).

    >>> rule = SelfTuning(order=0.5, share=0.5, diameter=12.0, first=1.0, weak=2.0, covered=16, signed=1)
    >>> 1.65 < SelfTuningBound(rule).value_at(10**9) / (12 * 2.0 * 10**18) ** (1 / 3) < 1.75
    True
    """

    KIND: ClassVar[str] = "self_tuning"
    THEOREM: ClassVar[str] = "Self-tuning plan, Theorem 2 of docs/theory/self-tuning.md"

    rule: SelfTuning

    @cached_property
    def _falls(self) -> float:
        """How prices fall in the end: like β to minus this."""
        costs = self.rule.table.rows[:, COST]
        far = max(len(costs) - 100, 1)
        return float(log(costs[-far] / costs[-1]) / ((far - 1) * self.rule.table.step)) if far > 1 else 0.5

    @property
    def exponent(self) -> float:
        """The power of t."""
        return 2 / 3 if self._falls < 0.75 else 1 / 2

    @property
    def constant(self) -> float:
        """The factor of t^exponent that it tends to."""
        r, table = self.rule, self.rule.table
        # V′ = r(V) for large t, with r(V) ∝ V^{−1/2} or 1/V as the last prices say.
        power = 1 / self.exponent - 1
        reached = table.beta(len(table.rows) - 1) * (1 + r.patience) * r.diameter / r.share
        climb = (1 + SLACK) * float(table.rows[-1, COST]) * reached**power
        # Until the next row begins the price stays: V grows by a step at the pace of the row's first temperature.
        climb *= expm1((1 + power) * table.step) / expm1(table.step)
        return float((1 + r.share) * (1 + GROWTH) * climb**self.exponent)

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
        start = float(self._exact[-1])
        r = self.step(start)
        spent, time, largest = self._climb
        extra = largest * log(r / self.step(start + (t - done) * r))
        until = float(np.interp(start, spent, time)) + t - done + extra
        # Beyond the table its last price is paid.
        last = (1 + SLACK) * float(self.rule.table.rows[-1, COST])
        return float(np.interp(until, time, spent) + max(until - time[-1], 0.0) * last)

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
    def _climb(self) -> tuple[Floats, Floats, float]:
        """V where rows of the table begin and the rounds of the integral until there; the largest x of all steps."""
        rule, costs = self.rule, (1 + SLACK) * self.rule.table.rows[:, COST]
        beta = rule.table.beta(np.arange(costs.size + 1))
        # β̃/(1 + θ) is at β of a row when this is spent; below the first row a round may cost 1 + SLACK.
        spent = np.append(0.0, 1 + (beta * (1 + rule.patience) - rule.first) * rule.diameter / rule.share)
        costs = np.append(1 + SLACK, costs)
        keep = spent[:-1] < spent[1:]
        spent, costs = np.maximum(np.append(spent[:-1][keep], spent[-1]), 0.0), costs[keep]
        # However late in a row a step begins, it ends before this one.
        ends = np.searchsorted(spent, spent[1:] + costs, side="right") - 1
        largest = float((costs / costs[np.minimum(ends, costs.size - 1)]).max())
        return spent, np.append(0.0, np.cumsum(np.diff(spent) / costs)), largest

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
        return cls(SelfTuning.named({name: inf if x is None else float(x) for name, x in numbers.items()}))


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
