"""Self-tuning plans for any number of rounds: which order and cover they play with."""

from __future__ import annotations

from math import inf
from numbers import Real
from typing import Any, Literal

import numpy as np

from sidelight._check import checked_number
from sidelight._realizations import SELF_TUNING
from sidelight.errors import InvalidOption
from sidelight.partition import natural
from sidelight.planning.bounds.bound import BoundCurve
from sidelight.planning.exploration import Solved
from sidelight.planning.minimised.interpolated import LARGEST_H, LEAST_H
from sidelight.planning.plan import Considered, Details, Plan
from sidelight.planning.self_tuning.curve import SelfTuningBound
from sidelight.planning.self_tuning.observed import Covered, covers
from sidelight.planning.self_tuning.rule import SelfTuning

SHARE = 0.5
"""Of every cost, so much is spent on temperature: best for the bound on weakly observable graphs."""

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

Order = float | Literal["bound"] | None
"""A number, the one with the smallest bound, or the usual choice."""


def checked_order(s: object) -> Order:
    """An order in 1/64..63/64, or 1, or "bound", or None."""
    if s is None:
        return None
    if isinstance(s, str) and s == "bound":
        return "bound"
    if isinstance(s, bool) or not isinstance(s, Real) or not (LEAST_H <= float(s) <= LARGEST_H or s == 1):
        raise InvalidOption(f'order is that of the entropy, in 1/64..63/64 or 1, or "bound", got order={s!r}')
    return float(s)


def checked_share(c: object) -> float:
    """A share in 1/64..1; None for the usual one."""
    share = SHARE if c is None else checked_number("share", c, LEAST_SHARE)
    if share > 1:
        raise InvalidOption(f"share is that of all costs that buys temperature, in 1/64..1, got share={c!r}")
    return share


def orders_of(solved: Solved) -> tuple[float, ...]:
    """The orders that are tried on a graph."""
    return ORDERS if solved.graph.certain or solved.graph.n_arms <= FEW else FEW_ORDERS


def self_tuning(solved: Solved, s: Order = None, c: float = SHARE) -> Plan:
    """The plan for any number of rounds: of order s, of that with the smallest bound, or by default of ½.

    By default the order is 1 where every arm is revealed by all others (full feedback, loop-less cliques); elsewhere
    it is larger than ½ only where the bound of ½ is more than twice the smallest.
    Covers and orders are compared by the largest ratio of their bound to the smallest of all, over 10³, 10⁴, …, 10⁸
    rounds; a bound that exceeds the number of rounds counts as that number.
    """
    orders = orders_of(solved) if s is None or s == "bound" else (s,)
    made = [(cover, SelfTuningBound(cover.rule(order, c))) for cover in covers(solved) for order in orders]
    values = np.array([[min(bound.value_at(t), float(t)) for t in WEIGHED] for _, bound in made])
    worst = [float(f"{ratio:.12g}") for ratio in (values / values.min(axis=0)).max(axis=1)]
    seen = solved.graph.universal.size == solved.graph.n_arms
    near = [k for k in range(len(made)) if s is not None or worst[k] <= (1 if seen else WORTH) * min(worst)]

    def preference(k: int) -> tuple[float, float]:
        order = made[k][1].rule.order
        return (worst[k], order) if s is not None else (order, worst[k])

    cover, bound = made[min(near, key=preference)]
    return made_plan(cover, bound.rule, None, bound)


def made_plan(
    cover: Covered,
    rule: SelfTuning,
    horizon: int | None,
    curve: BoundCurve,
    considered: tuple[Considered, ...] = (),
    note: str = "",
) -> Plan:
    """The plan that plays `rule` through `cover`."""
    partition = natural.single(cover.solved.graph)
    choices = (f"{SELF_TUNING} s={rule.order:.4g}",) if partition.weak.size else ()
    about = (SELF_TUNING, parameters(cover, rule), curve, cover.tuning(rule))
    return Plan(
        partition.graph, partition, horizon, *about, Details(partition.graph, choices, considered, note)
    )


def parameters(cover: Covered, rule: SelfTuning) -> dict[str, Any]:
    """The numbers of a rule that its reader may want."""
    delta = float(cover.domination(rule.order).value)
    named = {"s": rule.order, "c": rule.share, "beta_1": rule.first, "delta": delta}
    return named | ({"strong": rule.strong} if rule.strong < inf else {}) | {"cover": cover.name}
