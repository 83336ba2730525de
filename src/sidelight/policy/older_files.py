"""Saved plans of earlier versions that fell back on others, or were played in stages, as this version reads them.

A plan that has fallen back goes on as the one that it fell back on. One that has not yet plays on by itself: its
budget is raised to what that needs, and so is its bound. Plans in stages are refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.engine.constants import ROOM
from sidelight.engine.self_tuning.begin import first_numbers
from sidelight.engine.self_tuning.numbers import BETA, CHARGED, N_TUNED, PURCHASED
from sidelight.planning.bounds.bound import Bound
from sidelight.planning.self_tuning.budget import needed
from sidelight.planning.self_tuning.rule import OWN, SelfTuning

if TYPE_CHECKING:
    from sidelight.policy.saved import Contents

STAGED = "plans in stages are no longer played: sl.plan(graph) is for any number of rounds"

_RULE, _TUNED = "tuning.self_tuning", "state.tuned"


def modernised(contents: Contents) -> None:
    """Bring header and members of the plan in a file to what this version writes."""
    header = contents.header
    if header.get("stages") is not None:
        contents.refuse(STAGED)
    base, fallen = header.pop("base", None), header.pop("fallen", False)
    header.pop("stages", None)
    if base is not None:
        members = contents.members
        after = {
            name.removeprefix("base."): members.pop(name) for name in list(members) if "base." in name[:5]
        }
        if fallen:
            header["plan"] = base
            for name in [name for name in members if name.startswith("tuning.")]:
                del members[name]
            members |= after
        else:
            _stand_alone(contents)
    bound = contents.section("plan").get("bound")
    rule = bound.get("self_tuning") if isinstance(bound, dict) else None
    if isinstance(rule, dict):
        for name in set(rule) - set(OWN):
            del rule[name]


def _stand_alone(contents: Contents) -> None:
    """Give the rule a budget that it keeps to without falling back."""
    members, about = contents.members, contents.section("plan")
    rule = SelfTuning.from_array(members[_RULE][: len(OWN)])
    budget = max(rule.budget, needed(rule))
    rounds = int(members["state.round"][0]) if _TUNED in members else 0
    if rounds > 0:
        tuned = members[_TUNED] = np.ascontiguousarray(members[_TUNED][:N_TUNED])
        if rounds < rule.horizon and tuned[BETA] > 0:
            left = rule.cost_to_go(tuned[BETA], rule.horizon - rounds)[0]
            budget = max(budget, float(tuned[PURCHASED] + tuned[CHARGED] + left + ROOM))
    alone = replace(rule, budget=budget)
    members[_RULE] = alone.to_array()
    if _TUNED in members and rounds == 0:
        members[_TUNED] = first_numbers(alone)
    bound = Bound.from_dict({"horizon": rule.horizon, **about["bound"]})
    terms = {**bound.terms, "without falling back": budget - rule.budget}
    conditions = tuple(each for each in bound.conditions if not each.name.startswith("start, rounds"))
    about["bound"] = replace(bound, terms=terms, conditions=conditions).to_dict()
    parameters: dict[str, Any] = about["parameters"]
    for name in ("start", "base_s", "base_price"):
        parameters.pop(name, None)
