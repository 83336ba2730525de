"""Self-tuning plans for a known horizon: inside the smallest bound, which they never exceed (Theorem 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from math import ceil
from typing import Any

from sidelight.partition import natural
from sidelight.planning.bounds.bound import NEVER, ROUNDING, Bound, Condition, below_trivial, first
from sidelight.planning.exploration import Solved
from sidelight.planning.plan import Candidate, Considered, Plan
from sidelight.planning.self_tuning.observed import Covered, covers
from sidelight.planning.self_tuning.plans import ORDERS, SELF_TUNING, SHARE, Order, made_plan, parameters
from sidelight.planning.self_tuning.rule import SelfTuning
from sidelight.planning.tuning import Tuning

THEOREM = "Self-tuning inside a budget (Theorem 3, docs/theory/self-tuning.md)"


class SelfTuningCandidate(Candidate):
    """Through one cover, of the order with the smallest budget, which its certificate never exceeds.

    T rounds need the budget β_1·D + cost_to_go(β_1, T).
    """

    def __init__(self, cover: Covered, orders: Iterable[float], c: float) -> None:
        super().__init__(cover.name, SELF_TUNING, natural.single(cover.solved.graph), THEOREM)
        self.cover, self.orders, self.c = cover, tuple(sorted(set(orders), key=_from_half)), c

    @cached_property
    def _anytime(self) -> dict[float, SelfTuning]:
        return {s: self.cover.rule(s, self.c) for s in self.orders}

    def rule(self, T: float, s: float) -> SelfTuning:
        """The rule of order s with the least budget for T rounds."""
        rule = self._anytime[s]
        return replace(rule, horizon=int(T), budget=needed(rule, T))

    def best(self, T: float) -> SelfTuning:
        """The rule with the least budget for T rounds."""
        return min((self.rule(T, s) for s in self.orders), key=_size)

    def terms(self, T: float) -> dict[str, float]:
        """What temperature costs, and the rounds at it."""
        rule = self.best(T)
        _, target = rule.cost_to_go(rule.first, T)
        return {"temperature": rule.diameter * target, "rounds": rule.budget - rule.diameter * target}

    def tune(self, T: float) -> tuple[Tuning, dict[str, Any]]:
        """The tuning at T and its parameters by name."""
        rule = self.best(T)
        return self.cover.tuning(rule), parameters(self.cover, rule)

    def plan(self, horizon: int, considered: tuple[Considered, ...] = ()) -> Plan:
        """The plan that plays it for `horizon` rounds."""
        return made_plan(self.cover, self.best(float(horizon)), horizon, self.bound(horizon), considered)


def self_tuning_candidates(
    solved: Solved, s: Order = None, c: float = SHARE, known: Iterable[float] = ()
) -> list[SelfTuningCandidate]:
    """One for each cover, of order s or of the best one; orders that are `known` to be good are tried as well."""
    if solved.graph.n_arms == 1:
        return []
    orders = (*ORDERS, *known) if s is None or s == "bound" else (s,)
    return [SelfTuningCandidate(cover, orders, c) for cover in covers(solved)]


def tuned_inside(
    candidates: Sequence[SelfTuningCandidate],
    base: Candidate,
    horizon: int,
    considered: tuple[Considered, ...],
    *,
    premium: float = 0.0,
    smallest: bool = False,
    forced: bool = False,
) -> Plan:
    """The self-tuning plan whose budget is the bound of `base`, of the order nearest ½ that keeps to it.

    A `premium` raises the budget by that fraction. Where no order keeps to it, `base` is played as it is, and says
    so; if `forced`, the budget is raised instead. If `smallest`, only the order with the least budget will do.
    """
    T, promised = float(horizon), base.bound(horizon)
    offers = [(candidate, candidate.rule(T, s)) for candidate in candidates for s in candidate.orders]
    if not offers:
        return base.plan(horizon, considered)
    least = min((rule for _, rule in offers), key=_size)
    budget = (1 + premium) * promised.value
    budget = max(budget, least.budget) if forced else budget
    offers = [offer for offer in offers if not smallest or offer[1].order == least.order]
    fitting = [offer for offer in offers if offer[1].budget <= budget * (1 + ROUNDING)]
    if not fitting:
        missing = ceil(1000 * (least.budget / promised.value - 1)) / 1000
        note = f"fixed rates: no self-tuning plan keeps to this bound, but with premium={missing:g} one does"
        return replace(base.plan(horizon, considered), note=note)
    chosen, rule = min(fitting, key=lambda offer: (*_from_half(offer[1].order), _size(offer[1])))
    rule = replace(rule, budget=max(budget, rule.budget))
    bound = _budgeted(base, promised, rule)
    return made_plan(chosen.cover, rule, horizon, bound, considered)


def _budgeted(base: Candidate, promised: Bound, rule: SelfTuning) -> Bound:
    """The budget as a bound, with what the plan needs it for and where it comes from."""
    raised = rule.budget - promised.value
    terms = {"budget": promised.value} | ({"premium": raised} if raised > ROUNDING * promised.value else {})

    def says(t: int) -> bool:
        return below_trivial(sum(base.terms(float(t)).values()) * rule.budget / promised.value, t)

    since = promised.informative_from
    return Bound(
        promised.horizon,
        terms,
        THEOREM if base.realization == SELF_TUNING else f"{THEOREM}: {base.realization}, {base.name}",
        (
            *promised.conditions,
            Condition("β₁·D + cost to go ≤ budget", needed(rule, float(rule.horizon)), rule.budget),
        ),
        promised.valid_from,
        since if len(terms) == 1 or since == NEVER else first(says, since),
    )


def needed(rule: SelfTuning, T: float) -> float:
    """The least budget that T rounds of a rule keep to."""
    return rule.first * rule.diameter + rule.cost_to_go(rule.first, T)[0]


def _from_half(s: float) -> tuple[float, float]:
    """Orders by their distance from ½."""
    return abs(s - 0.5), s


def _size(rule: SelfTuning) -> float:
    """The budget, rounded so that rounding decides nothing."""
    return float(f"{rule.budget:.12g}")
