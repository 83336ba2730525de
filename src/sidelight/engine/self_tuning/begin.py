"""Where self-tuning starts: the arrays of its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sidelight.engine.constants import ROOM, SLACK
from sidelight.engine.self_tuning import prices
from sidelight.engine.self_tuning.numbers import (
    ALLOWANCE,
    BETA,
    CHECK,
    CHOSEN,
    FREE,
    HIGH,
    LIMIT,
    LOW,
    MOST,
    N_TUNED,
    PRICE,
    PURCHASED,
    REFERENCE,
    RISE,
    RULE,
    SAFE,
    SCALE,
    STRENGTH,
    TARGET,
    UNBOUNDED,
)

if TYPE_CHECKING:
    from sidelight._types import Floats
    from sidelight.planning.self_tuning.rule import SelfTuning

LEAST_PAUSE = 16
"""Rounds between two choices, at least; larger graphs wait until choosing costs less than playing."""
SMALL = 1_000
"""Up to so many arms that is soon; on more a choice takes as long as a third of a bandit's rounds per arm."""


def rule_numbers(rule: SelfTuning, n_arms: int, n_edges: int) -> Floats:
    """machine.rule."""
    pause = max(LEAST_PAUSE, (n_arms + n_edges) // (8 if n_arms <= SMALL else 2))
    return np.array([*(float(getattr(rule, name)) for name in RULE), float(pause)])


def first_numbers(rule: SelfTuning) -> Floats:
    """state.tuned at round one, which is played safe; the rule is applied after it.

    With a horizon at the β at which the budget lasts for all rounds, without at the first.
    """
    given = (rule.order, rule.weak, rule.beside, rule.strong, rule.lean)
    beta = rule.first
    if rule.horizon > 0:
        _, beta = prices.cost_to_go(rule.first, rule.horizon, rule.diameter, *given, rule.first)
    price = prices.price(beta, *given)
    tuned = np.zeros(N_TUNED)
    tuned[[BETA, CHOSEN, TARGET]] = beta
    tuned[FREE] = rule.first
    tuned[STRENGTH] = prices.safe_strength(beta, *given)
    tuned[SCALE] = tuned[SAFE] = tuned[CHECK] = 1.0
    tuned[PURCHASED] = beta * rule.diameter
    floor = (1.0 + rule.patience) * rule.first - rule.first
    tuned[RISE] = UNBOUNDED if rule.horizon > 0 else floor * rule.diameter / rule.share
    tuned[LIMIT] = rule.patience * rule.first * rule.diameter
    tuned[PRICE] = price
    tuned[LOW], tuned[HIGH] = -1.0, 2.0
    if rule.horizon > 0:
        tuned[ALLOWANCE] = max(rule.budget - tuned[PURCHASED] - rule.horizon * price, 0.0)
        tuned[REFERENCE], tuned[MOST] = price, UNBOUNDED
    else:
        tuned[ALLOWANCE] = tuned[MOST] = ROOM
        tuned[REFERENCE] = (1.0 + SLACK) * price
    return tuned
