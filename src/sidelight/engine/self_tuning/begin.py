"""Where self-tuning starts: what the rule fixes, and where it stands at round one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sidelight.engine.constants import ROOM, SLACK
from sidelight.engine.fields import RULE, TUNED
from sidelight.engine.self_tuning import prices

if TYPE_CHECKING:
    from sidelight._types import Floats
    from sidelight.planning.self_tuning.rule import SelfTuning

LEAST_PAUSE = 16
"""Rounds between two choices, at least; larger graphs wait until choosing costs less than playing."""
SMALL = 1_000
"""Up to so many arms that is soon; on more a choice takes as long as a third of a bandit's rounds per arm."""
UNBOUNDED = 1e99
"""More than anything here reaches."""


def rule_numbers(rule: SelfTuning, n_arms: int, n_edges: int) -> dict[str, float]:
    """What the rule fixes, by the names of its own fields, and how long a choice holds at least."""
    pause = max(LEAST_PAUSE, (n_arms + n_edges) // (8 if n_arms <= SMALL else 2))
    return {name: float(pause if name == "pause" else getattr(rule, name)) for name in RULE}


def first_numbers(rule: SelfTuning) -> Floats:
    """Where the rule stands at round one, by `TUNED`: that round is played for the worst case.

    With a horizon at the β at which the budget lasts for all rounds, without at the first.
    """
    given = (rule.order, rule.weak, rule.beside, rule.strong, rule.lean)
    beta = rule.first
    if rule.horizon > 0:
        # The budget was made for this β: it is affordable for all rounds from the first on.
        _, beta = prices.cost_to_go(rule.first, rule.horizon, rule.diameter, *given, rule.first)
    # Nothing is known about X yet: the first round is charged with the bound that holds for all.
    worst_cost = prices.price(beta, *given)
    penalty = beta * rule.diameter
    floor = (1.0 + rule.patience) * rule.first - rule.first
    # Scale and bounds of the leader such that nothing is out of date before the first check.
    numbers = dict.fromkeys(TUNED, 0.0) | {
        "beta": beta,
        "free_beta": rule.first,
        "chosen_beta": beta,
        "target_beta": beta,
        "strength": prices.safe_strength(beta, *given),
        "leader_scale": 1.0,
        "leader_low": -1.0,
        "leader_high": 2.0,
        "next_check": 1.0,
        "penalty": penalty,
        "unspent_limit": rule.patience * rule.first * rule.diameter,
        "charged_limit": UNBOUNDED if rule.horizon > 0 else floor * rule.diameter / rule.share,
        "worst_case": 1.0,
        "worst_cost": worst_cost,
    }
    if rule.horizon > 0:
        slack = max(rule.budget - penalty - rule.horizon * worst_cost, 0.0)
        numbers |= {"slack": slack, "target_cost": worst_cost, "most_slack": UNBOUNDED}
    else:
        numbers |= {"slack": ROOM, "target_cost": (1.0 + SLACK) * worst_cost, "most_slack": ROOM}
    return np.array([numbers[name] for name in TUNED])
