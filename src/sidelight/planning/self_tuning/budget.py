"""Self-tuning plans for a known horizon: inside the smallest bound, which they never exceed (Theorem 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from math import ceil
from typing import Any, NamedTuple

from sidelight._realizations import SELF_TUNING
from sidelight.engine.constants import ROOM
from sidelight.partition import natural
from sidelight.planning.bounds.bound import NEVER, ROUNDING, Bound, Condition, below_trivial, first
from sidelight.planning.candidates import considered, smallest, weighed
from sidelight.planning.exploration import Solved
from sidelight.planning.minimised.interpolated import one_best_h
from sidelight.planning.plan import Candidate, Considered, Plan
from sidelight.planning.self_tuning.observed import Covered, covers
from sidelight.planning.self_tuning.plans import SHARE, Order, made_plan, orders_of, parameters
from sidelight.planning.self_tuning.rule import SelfTuning
from sidelight.planning.tuning import Tuning

SLACK = 0.1
"""By this fraction a budget exceeds the smallest bound, unless told otherwise: room to learn easy losses in.

Without it plans play several times worse than those that know no horizon (docs/regret.md).
"""

SMALLEST = "smallest bound"
"""The first term of a budget, to which slack is added: the bound of another plan, or its own."""

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
        return replace(rule, budget=needed(rule))

    def best(self, T: float) -> SelfTuning:
        """The rule with the least budget for T rounds."""
        return min((self.rule(T, s) for s in self.orders), key=_size)

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
    slack: float = SLACK,
    *,
    forced: bool = False,
) -> Plan:
    """Self-tuning inside the smallest bound of all `candidates`, its own included, times 1 + `slack`.

    It is of order ½, or of the nearest to it whose own budget fits; if s is "bound", of the one with the least
    budget. Where none fits, the plan with the smallest bound is played as it is, and says so; if `forced`, the budget
    is raised to the least.
    """
    T, found = float(horizon), weighed(candidates, horizon)
    known = smallest(found).order(T)  # where another plan on one simplex is best, so is its order
    own = self_tuning_candidates(solved, s, c, () if known is None else (known,))
    found += weighed(own, horizon)
    base, told = smallest(found), considered(found)
    if not own:
        return base.plan(horizon, told)
    promised = base.bound(horizon)
    offers = [Offer(each, each.rule(T, order)) for each in own for order in each.orders]
    least = min(offers, key=lambda offer: offer.size).rule
    budget = (1 + slack) * promised.value
    if budget < least.budget and not forced:
        return base.plan(horizon, told).noted(_too_little(least.budget, promised.value))
    budget = max(budget, least.budget)
    fitting = [offer for offer in offers if offer.rule.budget <= budget]
    if s == "bound":
        fitting = [offer for offer in fitting if offer.rule.order == least.order]
    chosen = min(fitting, key=lambda offer: (*_from_half(offer.rule.order), offer.size))
    rule = replace(chosen.rule, budget=budget)
    bound = _budgeted(base, promised, rule, slack)
    return made_plan(chosen.candidate.cover, rule, horizon, bound, told, _why(base, bound))


class Offer(NamedTuple):
    """A rule that a candidate could play, with the least budget that it keeps to."""

    candidate: SelfTuningCandidate
    rule: SelfTuning

    @property
    def size(self) -> float:
        """The budget, rounded so that rounding decides nothing."""
        return _size(self.rule)


def _too_little(needed: float, smallest: float) -> str:
    """Why fixed rates are played."""
    enough = ceil(1000 * (needed / smallest - 1)) / 1000
    return f"fixed rates: no self-tuning plan keeps to this bound, but with slack={enough:g} one does"


def _budgeted(base: Candidate, promised: Bound, rule: SelfTuning, slack: float) -> Bound:
    """The budget as a bound, with what the plan needs it for and where it comes from."""
    extra = slack * promised.value
    raised = rule.budget - promised.value - extra
    named = {"slack": extra, "for this order": raised}
    terms = {SMALLEST: promised.value} | {k: v for k, v in named.items() if v > ROUNDING * promised.value}

    def says(t: int) -> bool:
        return below_trivial((1 + slack) * sum(base.terms(float(t)).values()) + raised, t)

    since = promised.informative_from
    return Bound(
        promised.horizon,
        terms,
        THEOREM if base.realization == SELF_TUNING else f"{THEOREM}: {base.realization}, {base.name}",
        (
            *promised.conditions,
            Condition("start, rounds and room ≤ budget", needed(rule), rule.budget),
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


def needed(rule: SelfTuning) -> float:
    """The least budget that the rounds of a rule keep to."""
    return rule.first * rule.diameter + rule.cost_to_go(rule.first, float(rule.horizon))[0] + ROOM


def _from_half(s: float) -> tuple[float, float]:
    """Orders by their distance from ½."""
    return abs(s - 0.5), s


def _size(rule: SelfTuning) -> float:
    """The budget, rounded so that rounding decides nothing."""
    return float(f"{rule.budget:.12g}")
