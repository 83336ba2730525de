"""Self-tuning plans: which order and cover they play with, for any number of rounds or inside the budget of some.

Without a horizon a plan has the bound of Theorem 2 at every t. With one it keeps to a budget, the smallest bound that
any plan has and some slack, on every run (Theorem 3; 3′ where another potential is behind it).
All of them: docs/theory/self-tuning.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, floor, inf, log
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
from sidelight.planning.minimised.interpolated import LARGEST_H, LEAST_H
from sidelight.planning.plan import Candidate, Considered, Details, Plan
from sidelight.planning.potentials import Potential
from sidelight.planning.self_tuning.curve import OneArm, SelfTuningBound
from sidelight.planning.self_tuning.observed import ExploredArms, covers
from sidelight.planning.self_tuning.potential import PotentialCandidate
from sidelight.planning.self_tuning.rule import ALL_LOOPED, SelfTuning
from sidelight.planning.signed.table import STEP
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

SLACK = 0.05
"""By this fraction a budget exceeds the smallest bound, unless told otherwise: room to learn easy losses in."""

SMALLEST = "smallest bound"
"""The first term of a budget, to which slack is added: the bound of another plan, or its own."""

THEOREM = "Self-tuning inside a budget, Theorem {} of docs/theory/self-tuning.md"

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
    base: Tuning | None = None,
) -> Plan:
    """The plan that plays `rule` through `cover`, with `base` behind its budget."""
    partition, horizon = natural.single(cover.solved.graph), rule.horizon or None
    choices = (f"{SELF_TUNING} order={rule.order:.4g}",) if partition.weak.size else ()
    played = (SELF_TUNING, _parameters(cover, rule), curve, cover.tuning(rule, base))
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
    it is larger than ½ only where the bound of ½ is more than twice the smallest, by its leading term.
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
        for each in (_orders(solved, order) if order is not None else (played_order(cover),))
    ]
    # The horizon is unknown: what counts is how far a bound is from the best one where it is farthest.
    values = np.array([[min(bound.value_at(t), float(t)) for t in WEIGHED] for _, bound in bounds])
    worst = [float(f"{ratio:.12g}") for ratio in (values / values.min(axis=0)).max(axis=1)]
    cover, bound = bounds[min(range(len(bounds)), key=lambda k: (worst[k], bounds[k][1].rule.order))]
    return _plan(cover, bound.rule, bound)


def played_order(cover: ExploredArms) -> float:
    """The order that plays easy losses best, if its bounds are not much larger than those of others."""
    g = cover.solved.graph
    if g.universal.size == g.n_arms:
        # Where everyone sees everyone there is nothing to explore for, and entropy plays best as well.
        return 1.0
    leading = {order: cover.leading(order) for order in _orders(cover.solved, None)}
    return min(order for order, value in leading.items() if value <= WORTH * min(leading.values()))


# -- inside a budget ----------------------------------------------------------------------------------------


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
    """Self-tuning inside the smallest bound of all `candidates`, times 1 + `slack` and `ROOM` more.

    It plays as a plan for any number of rounds, of the order that plays best, and changes to a potential at fixed
    rates, mostly that of the smallest bound, once the budget asks for it. If `order` is "bound", it is of the order
    of that potential. Where neither keeps to the budget, the plan with the smallest bound is played as it is, and
    says so; if `forced`, the budget is raised to what is needed.
    """
    scores = weighed(candidates, horizon)
    base, tried = smallest(scores)
    if solved.graph.n_arms == 1:
        return base.plan(horizon, tried)
    promised = base.bound(horizon)
    budget = (1 + slack) * promised.value + ROOM
    behind = [each for each in candidates if isinstance(each, PotentialCandidate)]
    rules = [(each, _budgeted_rule(each, horizon, order, share, budget)) for each in behind]
    candidate, rule = min(rules, key=lambda pair: _size(pair[1].needed))
    if rule.needed > budget * (1 + ROUNDING) and not forced:
        enough = ceil(1000 * ((rule.needed - ROOM) / promised.value - 1)) / 1000
        why = f"fixed rates: no self-tuning plan keeps to this bound, but with slack={enough:g} one does"
        return base.plan(horizon, tried).noted(why)
    rule = replace(rule, budget=max(budget, rule.needed))
    bound = _budgeted(base, promised, rule, slack)
    table = rule.base_table
    behind_it = None if table is None else candidate.base_tuning(horizon, table.recipe(table.best))
    return _plan(candidate.cover, rule, bound, tried, _why(base, bound), behind_it)


def _budgeted_rule(
    behind: PotentialCandidate, horizon: int, order: Order, share: float, budget: float
) -> SelfTuning:
    """The rule that plays freely in front of a potential."""
    known = behind.base(horizon)
    base = known.base
    if order == "bound":
        order = base.s if known.alone == ALL_LOOPED else base.h
    free = behind.cover.rule(played_order(behind.cover) if order is None else float(order), share)
    # The best temperature of the potential is a row of the table: its first row is as near as that allows.
    first = base.beta * STEP ** -floor(log(base.beta / free.first) / log(STEP) * (1 - ROUNDING))
    rule = replace(free, first=first, horizon=horizon, budget=budget)
    # Its own order needs no other potential: then being held back is never for good.
    alone = base.h == base.s == rule.order and rule.needed <= budget
    return rule if alone else replace(rule, **known.numbers)


def _budgeted(base: Candidate, promised: Bound, rule: SelfTuning, slack: float) -> Bound:
    """The budget as a bound, with what the plan needs it for and where it comes from."""
    # The budget is a sum of what was promised, the slack, and what a forced order needs beyond both.
    extra = slack * promised.value
    raised = rule.budget - promised.value - extra - ROOM
    named = {"slack": extra, "room": ROOM, "for this order": raised}
    terms = {SMALLEST: promised.value} | {k: v for k, v in named.items() if v > ROUNDING * promised.value}

    def says(t: int) -> bool:
        return below_trivial((1 + slack) * base.near(float(t), promised.horizon) + ROOM + raised, t)

    # Slack delays the round from which on the bound says something, much of it for ever.
    since = promised.informative_from if says(NEVER) else NEVER
    return Bound(
        promised.horizon,
        terms,
        f"{THEOREM.format('3′' if rule.base_h else '3')}: {base.realization}, {base.name}",
        (*promised.conditions, Condition("start, rounds and room ≤ budget", rule.needed, rule.budget)),
        promised.valid_from,
        since if since == NEVER else first(says, since),
    )


def _why(base: Candidate, bound: Bound) -> str:
    """What the slack buys."""
    smallest = bound.terms[SMALLEST]
    return (
        f"the smallest bound is {smallest:,.1f} ({base.realization}, {base.name}); the {bound.value - smallest:,.1f}"
        " above it buy free play for as long as they last: easy losses are learnt faster than at the fixed rates of"
        " that bound"
    )


def _size(budget: float) -> float:
    """The budget, rounded so that rounding decides nothing."""
    return float(f"{budget:.12g}")
