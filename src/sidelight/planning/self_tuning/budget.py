"""Self-tuning plans for a known horizon: inside the smallest bound, which they never exceed (Theorem 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.engine.constants import ROOM
from sidelight.partition import natural
from sidelight.planning.bounds.bound import NEVER, ROUNDING, Bound, Condition, below_trivial, first
from sidelight.planning.candidates import weighed
from sidelight.planning.exploration import Solved
from sidelight.planning.minimised.interpolated import one_best_h
from sidelight.planning.plan import Candidate, Considered, Plan
from sidelight.planning.self_tuning.falling import FallingCosts, kinds_of
from sidelight.planning.self_tuning.observed import Covered, covers
from sidelight.planning.self_tuning.plans import SELF_TUNING, SHARE, Order, made_plan, orders_of, parameters
from sidelight.planning.self_tuning.rule import BASE, SelfTuning
from sidelight.planning.tuning import Tuning

if TYPE_CHECKING:
    from sidelight.graph import FeedbackGraph

SMALL = 0.1
"""Budgets are raised, where that is needed for self-tuning play, by no more than this fraction."""

FREEST = 0.5
"""The order that learns easy losses fastest: played wherever the budget allows."""

CALM = 0.75
"""… which it does if rounds cost less than this fraction of those of the base while nothing has been learnt."""

CLEARLY = 1 - 1e-9
"""Further below than rounding is above."""

SMALLEST = "smallest bound"
"""The first term of a budget, to which room and a premium may be added: the bound of another plan, or its own."""

THEOREM = "Self-tuning inside a budget, Theorem 3 of docs/theory/self-tuning.md"


class SelfTuningCandidate(Candidate):
    """Through one cover, of the order with the smallest budget, which its certificate never exceeds.

    T rounds need the budget β_1·D + cost_to_go(β_1, T), and some room to play freely in from the start.
    """

    def __init__(self, cover: Covered, orders: Iterable[float], c: float) -> None:
        super().__init__(cover.name, SELF_TUNING, natural.single(cover.solved.graph), THEOREM)
        self.cover, self.orders, self.c = cover, tuple(sorted(set(orders), key=_from_half)), c

    @cached_property
    def anytime(self) -> dict[float, SelfTuning]:
        """The rules for any number of rounds, by order."""
        return {s: self.cover.rule(s, self.c) for s in self.orders}

    def rule(self, T: float, s: float) -> SelfTuning:
        """The rule of order s with the least budget for T rounds."""
        rule = replace(self.anytime[s], horizon=int(T), budget=1.0)
        return replace(rule, budget=needed(rule, self.cover.solved.graph.n_arms))

    def best(self, T: float) -> SelfTuning:
        """The rule with the least budget for T rounds."""
        return min((self.rule(T, s) for s in self.orders), key=_size)

    def freer(self, base: SelfTuning) -> SelfTuning | None:
        """The rule of order ½ that keeps to the budget of `base` by falling back on it; None if it is not kept calm.

        It begins where falling back costs nothing yet. If rounds there cost more than those of the base may, it would
        fall back before it has learnt anything.
        """
        free = self.anytime.get(FREEST)
        if free is None or base.order <= FREEST:
            return None
        g, T = self.cover.solved.graph, float(base.horizon)
        _, target = base.cost_to_go(base.first, T)
        # All arms alike lose no more by falling back than others: docs/theory/self-tuning.md, Lemma 5.
        start = CLEARLY * target * FREEST / base.order * g.n_arms ** (FREEST - base.order)
        if start < free.first or calm_cost(g, FREEST, start) > CALM * base.price(target):
            return None
        numbers = dict(zip(BASE, (start, base.order, base.diameter, *base.costs[1:]), strict=True))
        return replace(free, horizon=base.horizon, budget=base.budget, **numbers)

    def terms(self, T: float) -> dict[str, float]:
        """What temperature costs, and the rounds at it."""
        rule = self.best(T)
        _, target = rule.cost_to_go(rule.first, T)
        temperature = rule.diameter * target
        return {"temperature": temperature, "rounds": rule.budget - temperature - ROOM, "room": ROOM}

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
    found = []
    for cover in covers(solved):
        orders = (*orders_of(solved), *known) if s is None or s == "bound" else (s,)
        if len(orders) > 1 and solved.graph.certain:  # the best without arms beside the cover
            orders = (*orders, one_best_h(solved.graph.n_arms, cover.domination(1.0).value))
        found.append(SelfTuningCandidate(cover, orders, c))
    return found


def tuned_plan(
    solved: Solved,
    candidates: Sequence[Candidate],
    horizon: int,
    s: Order = None,
    c: float = SHARE,
    premium: float = 0.0,
    *,
    forced: bool = False,
) -> Plan:
    """Self-tuning inside the smallest bound of all `candidates`, its own included."""
    best, _ = weighed(candidates, horizon)
    h = best.tune(float(horizon))[1].get("h")  # where another plan on one simplex is best, so is its order
    own = self_tuning_candidates(solved, s, c, (h,) if isinstance(h, float) else ())
    base, considered = weighed([*candidates, *own], horizon)
    return tuned_inside(own, base, horizon, considered, premium=premium, smallest=s == "bound", forced=forced)


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
    """The self-tuning plan whose budget is the bound of `base`: of order ½, or of the nearest that keeps to it.

    Order ½ keeps to it by falling back on the order with the least budget, where that leaves room to be free in.

    A `premium` raises the budget by that fraction. Where no order keeps to it, but one needs no more than 2·`ROOM`
    and a tenth besides, the budget is raised to that; else order ½ may keep to it by falling back on the fixed rates
    of `base`. Where it cannot, `base` is played as it is, and says so; if `forced`, the budget is raised whatever it
    needs. If `smallest`, only the order with the least budget will do.
    """
    T, promised = float(horizon), base.bound(horizon)
    offers = [(candidate, candidate.rule(T, s)) for candidate in candidates for s in candidate.orders]
    if not offers:
        return base.plan(horizon, considered)
    least = min((rule for _, rule in offers), key=_size)
    asked = (1 + premium) * promised.value
    budget = max(asked, least.budget)

    n = base.partition.graph.n_arms

    def played(candidate: SelfTuningCandidate, rule: SelfTuning) -> Plan:
        bound = _budgeted(base, promised, rule, premium, n)
        made = made_plan(candidate.cover, rule, horizon, bound, considered)
        return replace(made, note=_why(base, bound))

    if not forced and budget - asked > min(2 * ROOM, SMALL * promised.value):
        beside = None if smallest else around_fixed_rates(candidates, base, T, asked)
        if beside is not None:
            return replace(played(*beside), base=base.plan(horizon))
        missing = ceil(1000 * (least.budget / promised.value - 1)) / 1000
        note = f"fixed rates: no self-tuning plan keeps to this bound, but with premium={missing:g} one does"
        return replace(base.plan(horizon, considered), note=note)
    fitting = [(candidate, rule) for candidate, rule in offers if rule.budget <= budget]
    if smallest:
        fitting = [(candidate, rule) for candidate, rule in fitting if rule.order == least.order]

    chosen, rule = min(fitting, key=lambda offer: (*_from_half(offer[1].order), _size(offer[1])))
    if rule.order > FREEST and not smallest:
        for candidate in candidates:
            free = candidate.freer(replace(least, budget=budget))
            if free is not None:
                owner = next(candidate for candidate, rule in offers if rule is least)
                least = replace(least, budget=budget)
                return replace(played(candidate, free), base=replace(played(owner, least), note=""))
    return played(chosen, replace(rule, budget=budget))


def around_fixed_rates(
    candidates: Sequence[SelfTuningCandidate], base: Candidate, T: float, budget: float
) -> tuple[SelfTuningCandidate, SelfTuning] | None:
    """The rule of order ½ that keeps to a budget by falling back on the fixed rates of `base`; None if none does.

    It begins at the highest temperature from which they are affordable, where rounds must cost clearly less.
    """
    free = [(each, each.anytime[FREEST]) for each in candidates if FREEST in each.orders]
    price = base.per_round(T)
    if price is None or price > 1 or not free:  # a round never costs more than 1: such a bound says nothing
        return None
    left = budget - T * price
    costs = FallingCosts(kinds_of(base.tune(T)[0]), FREEST, free[0][1].diameter, left + ROOM)
    for room in (0.0, ROOM, 2 * ROOM):  # more only where less does not do
        if room > SMALL * budget:
            break
        start, falling = costs.highest(left + room - ROOM)
        calm = start > 0 and calm_cost(base.partition.graph, FREEST, start) <= CALM * price
        for candidate, rule in free:
            if calm and rule.first <= start:
                based = replace(
                    rule, start=start, base_price=price, falling=falling, horizon=int(T), budget=budget + room
                )
                return candidate, based
    return None


def _budgeted(base: Candidate, promised: Bound, rule: SelfTuning, premium: float, n_arms: int) -> Bound:
    """The budget as a bound, with what the plan needs it for and where it comes from."""
    extra, raised = premium * promised.value, rule.budget - (1 + premium) * promised.value
    named = {"premium": extra, "room" if raised <= 2 * ROOM else "for this order": raised}
    terms = {SMALLEST: promised.value} | {k: v for k, v in named.items() if v > ROUNDING * promised.value}

    def says(t: int) -> bool:
        return below_trivial((1 + premium) * sum(base.terms(float(t)).values()) + raised, t)

    since = promised.informative_from
    return Bound(
        promised.horizon,
        terms,
        THEOREM if base.realization == SELF_TUNING else f"{THEOREM}: {base.realization}, {base.name}",
        (
            *promised.conditions,
            Condition("start, rounds and room ≤ budget", needed(rule, n_arms), rule.budget),
        ),
        promised.valid_from,
        since if len(terms) == 1 or since == NEVER else first(says, since),
    )


def _why(base: Candidate, bound: Bound) -> str:
    """Why the bound is not the smallest one; nothing where it is."""
    smallest = bound.terms[SMALLEST]
    if len(bound.terms) == 1:
        return ""
    rates = "" if base.realization == SELF_TUNING else ", with fixed rates"
    return (
        f"the smallest bound is {smallest:,.1f} ({base.realization}, {base.name}{rates}); this one is"
        f" {bound.value - smallest:,.1f} larger, so that the plan can tune itself to the losses it meets"
    )


def needed(rule: SelfTuning, n_arms: int) -> float:
    """The least budget that the rounds of a rule keep to."""
    T = float(rule.horizon)
    if rule.based:
        return rule.start * rule.diameter + rule.cost_to_fall(rule.start, T, n_arms)[0] + ROOM
    return rule.first * rule.diameter + rule.cost_to_go(rule.first, T)[0] + ROOM


def calm_cost(g: FeedbackGraph, s: float, beta: float) -> float:
    """Not less than what a round costs that plays all arms alike: the mean of ½X^{1−s}/(βP)."""
    degree = np.maximum(g.in_degree, 1) if g.certain else g.seen(np.ones(g.n_arms))
    return float(np.mean(0.5 * g.n_arms**s / (beta * degree)))


def _from_half(s: float) -> tuple[float, float]:
    """Orders by their distance from ½."""
    return abs(s - 0.5), s


def _size(rule: SelfTuning) -> float:
    """The budget, rounded so that rounding decides nothing."""
    return float(f"{rule.budget:.12g}")
