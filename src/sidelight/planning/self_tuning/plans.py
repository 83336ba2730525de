"""Self-tuning plans: which order and cover they play with, for any number of rounds or inside the budget of some.

Without a horizon a plan has the bound of Theorem 2 at every t. With one it keeps to a budget, the smallest bound that
any plan has and some slack, on every run (Theorem 3). Both: docs/theory/self-tuning.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from math import ceil, inf
from numbers import Real
from typing import Any, Literal

import numpy as np

from sidelight._check import checked_number
from sidelight._realizations import SELF_TUNING
from sidelight.engine.constants import ROOM
from sidelight.errors import InvalidOption
from sidelight.partition import natural
from sidelight.planning.bounds.bound import (
    NEVER,
    ROUNDING,
    Bound,
    BoundCurve,
    Condition,
    below_trivial,
    first,
)
from sidelight.planning.candidates import smallest, weighed
from sidelight.planning.exploration import Solved
from sidelight.planning.minimised.interpolated import LARGEST_H, LEAST_H, one_best_h
from sidelight.planning.plan import Candidate, Considered, Details, Offer, Plan
from sidelight.planning.potentials import Potential
from sidelight.planning.self_tuning.curve import OneArm, SelfTuningBound
from sidelight.planning.self_tuning.observed import ExploredArms, covers
from sidelight.planning.self_tuning.rule import SelfTuning
from sidelight.planning.tuning import Tuning

SHARE = 0.5
"""Of every cost, so much pays for a higher temperature: best for the bound on weakly observable graphs."""

LEAST_SHARE = 1 / 64
"""Smaller shares learn next to nothing."""

ORDERS = tuple(round(0.05 * k, 2) for k in range(10, 21))
"""Orders from −√x to negative entropy. Smaller ones learn easy losses faster, larger ones have the smaller bounds."""

FEW_ORDERS, FEW = (0.5, 0.75, 1.0), 1000
"""Where reveals may fail every order has a cover of its own: graphs of more than `FEW` arms try these."""

WORTH = 2.0
"""Order ½ is played unless its bound exceeds the smallest of all orders by this factor."""

WEIGHED = tuple(10**k for k in range(3, 9))
"""Rounds at which bounds are compared, where the horizon is unknown."""

SLACK = 0.1
"""By this fraction a budget exceeds the smallest bound, unless told otherwise: room to learn easy losses in.

Without it plans play several times worse than those that know no horizon (docs/regret.md).
"""

SMALLEST = "smallest bound"
"""The first term of a budget, to which slack is added: the bound of another plan, or its own."""

THEOREM = "Self-tuning inside a budget, Theorem 3 of docs/theory/self-tuning.md"

Order = float | Literal["bound"] | None
"""A number, the one with the smallest bound, or the usual choice."""


def checked_order(order: object) -> Order:
    """An order in 1/64..63/64, or 1, or "bound", or None."""
    if order is None or (isinstance(order, str) and order == "bound"):
        return order  # type: ignore[return-value]
    number = float(order) if isinstance(order, Real) and not isinstance(order, bool) else inf
    if not (LEAST_H <= number <= LARGEST_H or number == 1):
        raise InvalidOption(
            f'order is that of the entropy, in 1/64..63/64 or 1, or "bound", got order={order!r}'
        )
    return number


def checked_share(share: object) -> float:
    """A share in 1/64..1; None for the usual one."""
    number = SHARE if share is None else checked_number("share", share, LEAST_SHARE)
    if number > 1:
        raise InvalidOption(
            f"share is that of all costs that raises the temperature, in 1/64..1, got share={share!r}"
        )
    return number


def _orders(solved: Solved, order: Order) -> tuple[float, ...]:
    """The orders that are tried on a graph."""
    if order is not None and order != "bound":
        return (order,)
    return ORDERS if solved.graph.certain or solved.graph.n_arms <= FEW else FEW_ORDERS


def _plan(
    cover: ExploredArms,
    rule: SelfTuning,
    curve: Bound | BoundCurve,
    considered: tuple[Considered, ...] = (),
    note: str = "",
) -> Plan:
    """The plan that plays `rule` through `cover`."""
    partition, horizon = natural.single(cover.solved.graph), rule.horizon or None
    choices = (f"{SELF_TUNING} order={rule.order:.4g}",) if partition.weak.size else ()
    played = (SELF_TUNING, _parameters(cover, rule), curve, cover.tuning(rule))
    details = Details(partition.graph, choices, considered, note)
    return Plan(partition.graph, partition, horizon, *played, details)


def _parameters(cover: ExploredArms, rule: SelfTuning) -> dict[str, Any]:
    """The numbers of a rule that its reader may want."""
    delta = float(cover.domination(rule.order).value)
    named = {"order": rule.order, "share": rule.share, "beta_1": rule.first, "delta": delta}
    return named | ({"strong": rule.strong} if rule.strong < inf else {}) | {"cover": cover.name}


# -- any number of rounds -----------------------------------------------------------------------------------


def self_tuning(solved: Solved, order: Order = None, share: float = SHARE) -> Plan:
    """The plan for any number of rounds: of this order, of that with the smallest bound, or by default of ½.

    By default the order is 1 where every arm is revealed by all others (full feedback, loop-less cliques); elsewhere
    it is larger than ½ only where the bound of ½ is more than twice the smallest.
    Covers and orders are compared by the largest ratio of their bound to the smallest of all, over 10³, 10⁴, …, 10⁸
    rounds; a bound that exceeds the number of rounds counts as that number.
    """
    g = solved.graph
    if g.n_arms == 1:
        partition, tuning = natural.single(g), Tuning.flat(1, Potential(1.0, 1.0))
        return Plan(g, partition, None, SELF_TUNING, {}, OneArm(), tuning, Details(g))
    bounds = [
        (cover, SelfTuningBound(cover.rule(each, share)))
        for cover in covers(solved)
        for each in _orders(solved, order)
    ]
    # The horizon is unknown: what counts is how far a bound is from the best one where it is farthest.
    values = np.array([[min(bound.value_at(t), float(t)) for t in WEIGHED] for _, bound in bounds])
    worst = [float(f"{ratio:.12g}") for ratio in (values / values.min(axis=0)).max(axis=1)]
    # Where everyone sees everyone there is nothing to explore for, and entropy plays best as well.
    seen = solved.graph.universal.size == solved.graph.n_arms
    most = inf if order is not None else (1 if seen else WORTH) * min(worst)

    # An order that was asked for, or "bound", is judged by bounds alone; else the smallest good one plays best.
    def preference(k: int) -> tuple[float, float]:
        of = bounds[k][1].rule.order
        return (worst[k], of) if order is not None else (of, worst[k])

    cover, bound = bounds[min((k for k in range(len(bounds)) if worst[k] <= most), key=preference)]
    return _plan(cover, bound.rule, bound)


# -- inside a budget ----------------------------------------------------------------------------------------


class SelfTuningCandidate(Candidate):
    """Through one cover, of the order with the smallest budget, which its certificate never exceeds.

    T rounds need the budget β_1·D + cost_to_go(β_1, T), and some room to play freely in from the start.
    """

    def __init__(self, cover: ExploredArms, orders: Iterable[float], share: float) -> None:
        super().__init__(cover.name, SELF_TUNING, natural.single(cover.solved.graph), THEOREM)
        self.cover, self.orders, self.share = cover, sorted(set(orders), key=_from_half), share

    @cached_property
    def _unbounded(self) -> list[SelfTuning]:
        """The rules for any number of rounds, in the order of their orders."""
        return [self.cover.rule(order, self.share) for order in self.orders]

    def rules(self, T: float) -> list[SelfTuning]:
        """For each order the rule with the least budget for T rounds."""
        # A rule needs some budget before its need can be computed from it: any will do.
        rules = (replace(rule, horizon=int(T), budget=1.0) for rule in self._unbounded)
        return [replace(rule, budget=needed(rule)) for rule in rules]

    def best(self, T: float) -> SelfTuning:
        """The rule with the least budget for T rounds."""
        return min(self.rules(T), key=_size)

    def offer(self, T: float) -> Offer:
        """What temperature costs, and the rounds at it."""
        rule = self.best(T)
        temperature = rule.diameter * rule.cost_to_go(rule.first, T)[1]
        terms = {"temperature": temperature, "rounds": rule.budget - temperature - ROOM, "room": ROOM}
        return Offer(terms, lambda: (self.cover.tuning(rule), _parameters(self.cover, rule)))

    def plan(self, horizon: int, considered: tuple[Considered, ...] = ()) -> Plan:
        """The plan that plays it for `horizon` rounds."""
        return _plan(self.cover, self.best(float(horizon)), self.bound(horizon), considered)


def self_tuning_candidates(
    solved: Solved, order: Order = None, share: float = SHARE, good: Iterable[float] = ()
) -> list[SelfTuningCandidate]:
    """One for each cover, of this order or of the best one; orders that are known to be `good` are tried as well."""
    if solved.graph.n_arms == 1:
        return []
    candidates = []
    for cover in covers(solved):
        orders = _orders(solved, order)
        if order is None or order == "bound":
            orders = (*orders, *good)
            if solved.graph.certain:  # the best without arms outside of the cover
                orders = (*orders, one_best_h(solved.graph.n_arms, cover.domination(1.0).value))
        candidates.append(SelfTuningCandidate(cover, orders, share))
    return candidates


def tuned_plan(
    solved: Solved,
    candidates: Sequence[Candidate],
    horizon: int,
    order: Order = None,
    share: float = SHARE,
    slack: float = SLACK,
    *,
    forced: bool = False,
) -> Plan:
    """Self-tuning inside the smallest bound of all `candidates`, its own included, times 1 + `slack`.

    It is of order ½, or of the nearest to it whose own budget fits; if `order` is "bound", of the one with the least
    budget. Where none fits, the plan with the smallest bound is played as it is, and says so; if `forced`, the budget
    is raised to the least.
    """
    # Fixed rates and self-tuning share one list: the smallest bound of all is the promise, whoever has it.
    T, scores = float(horizon), weighed(candidates, horizon)
    good = smallest(scores)[0].offer(T).order  # where another plan on one simplex is best, so is its order
    own = self_tuning_candidates(solved, order, share, () if good is None else (good,))
    scores += weighed(own, horizon)
    base, tried = smallest(scores)
    if not own:
        return base.plan(horizon, tried)
    promised = base.bound(horizon)
    rules = [(candidate.cover, rule) for candidate in own for rule in candidate.rules(T)]
    least = min((rule for _, rule in rules), key=_size)
    budget = (1 + slack) * promised.value
    # Self-tuning keeps to a budget on every run, but no rule can promise less than its own rounds may cost.
    if budget < least.budget and not forced:
        enough = ceil(1000 * (least.budget / promised.value - 1)) / 1000
        why = f"fixed rates: no self-tuning plan keeps to this bound, but with slack={enough:g} one does"
        return base.plan(horizon, tried).noted(why)
    # Among the rules that fit, those near order ½ learn easy losses fastest: the bound is the budget for all of them.
    budget = max(budget, least.budget)
    fitting = [(cover, rule) for cover, rule in rules if rule.budget <= budget]
    if order == "bound":
        fitting = [(cover, rule) for cover, rule in fitting if rule.order == least.order]
    cover, rule = min(fitting, key=lambda pair: (*_from_half(pair[1].order), _size(pair[1])))
    rule = replace(rule, budget=budget)
    bound = _budgeted(base, promised, rule, slack)
    return _plan(cover, rule, bound, tried, _why(base, bound))


def _budgeted(base: Candidate, promised: Bound, rule: SelfTuning, slack: float) -> Bound:
    """The budget as a bound, with what the plan needs it for and where it comes from."""
    # The budget is a sum of what was promised, the slack, and what a forced order needs beyond both.
    extra = slack * promised.value
    raised = rule.budget - promised.value - extra
    named = {"slack": extra, "for this order": raised}
    terms = {SMALLEST: promised.value} | {k: v for k, v in named.items() if v > ROUNDING * promised.value}

    def says(t: int) -> bool:
        return below_trivial((1 + slack) * base.offer(float(t)).value + raised, t)

    # Slack delays the round from which on the bound says something; without any it is that of the smallest bound.
    since = promised.informative_from
    return Bound(
        promised.horizon,
        terms,
        THEOREM if base.realization == SELF_TUNING else f"{THEOREM}: {base.realization}, {base.name}",
        (*promised.conditions, Condition("start, rounds and room ≤ budget", needed(rule), rule.budget)),
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


def _from_half(order: float) -> tuple[float, float]:
    """Orders by their distance from ½."""
    return abs(order - 0.5), order


def _size(rule: SelfTuning) -> float:
    """The budget, rounded so that rounding decides nothing."""
    return float(f"{rule.budget:.12g}")
