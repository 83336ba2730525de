"""What a file holds of a plan on graphs that change.

header        plan: as of any plan (`saved_plan`)
tuning.*      the arrays of `sidelight.planning.Tuning`
state.*       round and words; numbers and sums (`sidelight.engine.changing.state`)
graphs.I.*    the arrays of the graphs that open decisions were made on, I = 1, 2, …
decisions.*   as of any policy, and graphs: the number of each open decision's graph, 0 for the plan's own
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight._archive import Arrays
from sidelight.engine.changing.state import (
    AT,
    BETA,
    CHARGED,
    COST,
    DRAWN_AT,
    EXPLORED,
    EXTRA,
    FIRST,
    LATE,
    LEAD,
    LEAST,
    N_KEPT,
    N_NUMBERS,
    OTHERS,
    PAID,
    PURCHASED,
    REPAIR,
    ROUND,
    RULE,
    UNSEEN,
    UNSPENT,
    State,
    new_state,
)
from sidelight.planning import Plan
from sidelight.policy.saved import LEAST_DRAWN, MOST_SUM, is_share, turn_arrays
from sidelight.policy.saved_plan import plan_members, read_plan_itself

if TYPE_CHECKING:
    from sidelight._types import Floats
    from sidelight.graph import FeedbackGraph
    from sidelight.policy.saved import Contents, Decisions


def changing_contents(plan: Plan, state: State) -> tuple[dict[str, Any], Arrays]:
    """Header and members of a policy in this state."""
    about, arrays = plan_members(plan)
    numbers = state.numbers
    members = {"numbers": numbers, "sums": state.sums} | turn_arrays(int(numbers[ROUND]), -1, state.words)
    arrays |= {f"state.{name}": array for name, array in members.items()}
    return about | {"kind": "changing"}, arrays


def read_changing(contents: Contents) -> tuple[Plan, State, Decisions]:
    """The plan of the file, where it stands, and decisions; all checked."""
    plan = read_plan_itself(contents)
    rule = plan.tuning.self_tuning
    if rule is None:
        contents.refuse("only plans that tune themselves play on graphs that change")
    n = plan.graph.n_arms
    rounds, pending, words = contents.turn(n)
    state = new_state(np.array([getattr(rule, name) for name in RULE], dtype=np.float64), n, words)
    state.numbers[:] = contents.floats("state.numbers", (N_NUMBERS,), least=-MOST_SUM)
    state.sums[:] = contents.floats("state.sums", (n,))
    if pending >= 0:
        contents.refuse("no arm can be pending that is not among the open decisions")
    _check(contents, state, rounds)
    return plan, state, _decisions(contents, plan, state)


def _check(contents: Contents, state: State, rounds: int) -> None:
    """Nothing that play cannot reach."""
    numbers, more = state.numbers, 1.0 + 1e-9
    conditions = {
        "rounds": numbers[ROUND] == rounds and numbers[LATE] in range(rounds + 1),
        "sums": state.sums.min() == 0.0 and (rounds > 0 or not state.sums.any()),
        "β": 0.0 < numbers[BETA] < MOST_SUM and state.rule[FIRST] <= more * numbers[BETA],
        "charges": 0.0 <= numbers[CHARGED] <= rounds * more,
        "money": 0.0 <= numbers[UNSPENT] <= numbers[CHARGED] * more and numbers[PURCHASED] > 0.0,
        "what was paid": numbers[PAID] >= 0.0 and numbers[LEAST] >= 0.0,
        "exploration": numbers[EXPLORED] <= 2.0 * rounds * more + numbers[PAID],
        "the point": numbers[LEAD] >= 0.0,
        "graphs": numbers[REPAIR] in (0.0, 1.0) and numbers[OTHERS] in (0.0, 1.0),
    }
    wrong = [name for name, holds in conditions.items() if not holds]
    if wrong:
        contents.refuse(f"play cannot have come to where state.numbers says it is: {', '.join(wrong)}")


def _decisions(contents: Contents, plan: Plan, state: State) -> Decisions:
    n, rounds = plan.graph.n_arms, int(state.numbers[ROUND])

    def check(arm: int, kept: Floats, graph: FeedbackGraph) -> bool:
        X, Z, P = kept[N_KEPT:].reshape(3, n)
        known = not (Z < 0).any()
        shares = is_share(X) and is_share(P) and is_share(kept[[COST, EXTRA, UNSEEN]]) and is_share(Z, -1.0)
        drawn = Z[arm] > 0 and abs(Z.sum() - 1) < 1e-6
        if not known:
            drawn = kept[DRAWN_AT] == -1.0 and set(Z[Z < 0].tolist()) == {-1.0}
        seen = is_share(P[graph.out_neighbors(arm)], LEAST_DRAWN)
        at = kept[DRAWN_AT] in range(-1, rounds + 1) and kept[AT] >= 0.0
        return bool(shares and drawn and seen and at)

    found = contents.decisions(rounds, -1, lambda degree: N_KEPT + 3 * n, check, changing=True)
    if found.late != state.numbers[LATE] or found.made - found.lost - len(found.draws) != rounds:
        contents.refuse(f"{found.made} decisions were made, {rounds} learnt from")
    contents.finish()
    return found
