"""Where self-tuning starts: what the rule fixes, and where it stands at round one."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.engine.constants import ROOM, SLACK
from sidelight.engine.fields import RULE, TUNED
from sidelight.engine.self_tuning.charge import MOST_EXPLORED
from sidelight.engine.self_tuning.prices import COST, FLOOR, SHIFT, STRENGTH

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
    table = rule.table
    own = {"pause": pause, "prices_from": table.first, "prices_step": table.step, "strong": rule.strong < inf}
    return {name: float(own[name] if name in own else getattr(rule, name)) for name in RULE}


def rule_tables(rule: SelfTuning) -> dict[str, Any]:
    """Prices of safe rounds, and of the potential behind a budget, as the machine has them."""
    table, base = rule.table, rule.base_table
    named: dict[str, Any] = {"prices": table.rows.ravel(), "n_prices": len(table.rows)}
    if base is not None:
        named |= {
            "base_costs": base.costs,
            "climbs": base.climbs,
            "base_at": base.at,
            "climb_at": base.climb_at,
        }
        named |= {"n_base": base.costs.size, "n_climbs": base.climbs.size}
    return named


def first_numbers(rule: SelfTuning) -> Floats:
    """Where the rule stands at round one, by `TUNED`: that round is safe.

    With a horizon at the β at which the budget lasts for all rounds, or, where the potential behind it takes care of
    that, as without at the first.
    """
    given = (
        rule.beginning if rule.horizon > 0 else {"beta": rule.first, "target_beta": rule.first, "slack": ROOM}
    )
    beta = given["beta"]
    row = rule.table.row(beta)
    # Nothing is known about X yet: the first round is charged with the bound that holds for all.
    worst_cost = float(row[COST])
    floor = (1.0 + rule.patience) * rule.first - rule.first
    # Scale and bounds of the leader such that nothing is out of date before the first check.
    numbers = dict.fromkeys(TUNED, 0.0) | {
        "free_beta": rule.first,
        "chosen_beta": beta,
        "strength": row[STRENGTH],
        "floor": row[FLOOR] / beta,
        "shift": row[SHIFT],
        "leader_scale": 1.0,
        "leader_low": -1.0,
        "leader_high": 2.0,
        "next_check": 1.0,
        "most_explored": MOST_EXPLORED,
        "penalty": beta * rule.diameter,
        "unspent_limit": rule.patience * rule.first * rule.diameter,
        "charged_limit": UNBOUNDED if rule.horizon > 0 else floor * rule.diameter / rule.share,
        "worst_case": 1.0,
        "priced": 1.0,
        "worst_cost": worst_cost,
        "target_cost": (1.0 + SLACK) * worst_cost,
        "most_slack": UNBOUNDED if rule.horizon > 0 else ROOM,
    }
    numbers |= given
    return np.array([numbers[name] for name in TUNED], dtype=np.float64)
