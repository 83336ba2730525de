"""What a file holds of a plan being played.

header        plan: horizon, realization, choices, parameters and bound
tuning.*      the arrays of `sidelight.planning.Tuning`
state.*       where it stands, and what it has learnt (`sidelight.engine.state`); `state.tuned` where a plan tunes
              itself
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from sidelight._archive import Arrays
from sidelight.engine.constants import SLACK
from sidelight.engine.round import late
from sidelight.engine.self_tuning import prices
from sidelight.engine.self_tuning.begin import first_numbers
from sidelight.engine.self_tuning.numbers import (
    ALLOWANCE,
    BETA,
    CHARGED,
    CHECK,
    CHOSEN,
    FREE,
    KEPT,
    LEADER,
    LIMIT,
    MOST,
    N_TUNED,
    PRICE,
    PURCHASED,
    REFERENCE,
    SAFE,
    SCALE,
    STRENGTH,
    TARGET,
    UNSPENT,
)
from sidelight.engine.state import BLOCK_LEAST, BLOCK_PAID, EXPLORED, N_TOTALS, Learnt
from sidelight.partition import Partition
from sidelight.planning import Plan, Tuning, check_certificate, curve_from_dict
from sidelight.planning.plan import Details
from sidelight.planning.tuning import MOST_EXPLORATION
from sidelight.policy.older_files import modernised
from sidelight.policy.saved import LEAST_DRAWN, MOST_SUM, finite_json, is_share, turn_arrays

if TYPE_CHECKING:
    from sidelight._types import Floats
    from sidelight.graph import FeedbackGraph
    from sidelight.planning.self_tuning.rule import SelfTuning
    from sidelight.policy.saved import Contents, Decisions

CHECKED_ARMS = 100_000
"""Up to so many arms the bound of a plan is proved again when it is loaded: in 0.2 s; a million would take ten."""

TUNING = "tuning."
"""How the names of members begin that tell how a plan is played."""

_PROVED: WeakValueDictionary[str, Plan] = WeakValueDictionary()
"""Plans from files whose bound was proved while somebody plays them: a thousand policies prove theirs once."""

_LEARNT = ("arm_sums", "arm_least", "arm_paid", "block_sums", "totals")


def plan_contents(plan: Plan, state: Learnt) -> tuple[dict[str, Any], Arrays]:
    """Header and members of a policy that plays `plan`."""
    about, arrays = plan_members(plan)
    about |= {"kind": "plan"}
    learnt = {name: getattr(state, name) for name in _LEARNT}
    if state.tuned.size:
        learnt["tuned"] = state.tuned
    learnt |= turn_arrays(state.round, state.pending, state.words)
    arrays |= {f"state.{name}": array for name, array in learnt.items()}
    return about, arrays


def plan_members(plan: Plan) -> tuple[dict[str, Any], Arrays]:
    """What the header says of a plan, and the members with its tuning."""
    about = {
        "horizon": plan.horizon,
        "realization": plan.realization,
        "choices": list(plan.details.choices),
        "parameters": plan.parameters,
        "bound": plan.curve.to_dict(),
    }
    return {"plan": about}, {f"tuning.{name}": array for name, array in plan.tuning.to_arrays().items()}


def read_plan(contents: Contents) -> tuple[Plan, Learnt, Decisions]:
    """The plan of the file, what was learnt and decisions; all checked."""
    plan = read_plan_itself(contents)
    state = _learnt(contents, plan.tuning)
    decisions = _decisions(contents, state)
    contents.finish()
    return plan, state._replace(late=decisions.late), decisions


def read_plan_itself(contents: Contents) -> Plan:
    """The plan in the header."""
    modernised(contents)
    key = contents.fingerprint(("plan",), (TUNING,))
    plan = _PROVED.get(key)
    if plan is None:
        plan = _PROVED[key] = _proved(contents)
    else:
        contents.skip((TUNING,))
    _check_memory(contents, plan.tuning)
    return plan


def _proved(contents: Contents) -> Plan:
    tuning = contents.rebuilt(TUNING, Tuning.from_arrays)
    _check_memory(contents, tuning)
    plan = _plan(contents, tuning)
    _check_claim(contents, plan)
    return plan


def _decisions(contents: Contents, state: Learnt) -> Decisions:
    """Decisions made and open, which must be as many as were learnt from, lost and left."""

    def check(arm: int, kept: Floats, graph: FeedbackGraph) -> bool:
        shares = np.delete(kept, late.POSITION)
        seen = kept[late.N_KEPT + late.SEEN :: late.PER_ARM]
        return (
            is_share(shares)
            and is_share(seen, LEAST_DRAWN)
            and kept[late.POSITION] in range(-1, seen.size + 1)
        )

    found = contents.decisions(
        state.round,
        state.pending,
        lambda degree: late.N_KEPT + late.PER_ARM * degree,
        check,
    )
    learnt = found.made - found.lost - len(found.draws)
    if learnt != state.round:
        contents.refuse(f"{learnt} of {found.made} decisions were answered, {state.round} learnt from")
    return found


def _plan(contents: Contents, tuning: Tuning) -> Plan:
    graph, about = contents.graph, contents.section("plan")
    tuning.check_graph(graph)
    if not finite_json(about):
        contents.refuse("some numbers of the plan are not finite")
    choices, parameters, realization = about.get("choices"), about.get("parameters"), about.get("realization")
    if not isinstance(realization, str) or not isinstance(parameters, dict):
        contents.refuse("the plan has no realization or no parameters")
    if not isinstance(choices, list) or not all(isinstance(choice, str) for choice in choices):
        contents.refuse(f"the choices of a plan are a list of names, got {choices!r:.50}")
    horizon = contents.horizon(about)
    rule = tuning.self_tuning
    if rule is not None and rule.horizon != (horizon or 0):
        contents.refuse(f"the plan is for {horizon} rounds, the budget of its rule for {rule.horizon}")
    if rule is None and (horizon is None) != (tuning.schedule is not None):
        contents.refuse("rates fall with the rounds where there is no horizon, and only there")
    curve = curve_from_dict(about["bound"], horizon)
    if curve.to_dict() != about["bound"]:
        contents.refuse("the bound does not follow from its own terms")
    for t in (1, 1000, 10**9) if horizon is None else (horizon,):
        if not 0 <= curve.at(t).value < MOST_SUM:
            contents.refuse(f"the bound after {t} rounds is {curve.at(t).value}")
    return Plan(
        graph=graph,
        partition=Partition(graph, np.split(tuning.block_arms, tuning.block_start[1:-1])),
        horizon=horizon,
        realization=realization,
        parameters=parameters,
        curve=curve,
        tuning=tuning,
        details=Details(graph, tuple(choices)),
    )


def _check_memory(contents: Contents, tuning: Tuning) -> None:
    """Refuse a plan that takes much more memory to play than its file."""
    spread = (tuning.spread > 0).any()
    needed = 16 * int((tuning.cover > 0).sum()) * contents.graph.universal.size if spread else 0
    if needed > contents.limit:
        contents.refuse(
            f"playing it takes {needed:,} bytes of memory, more than the limit of {contents.limit:,}"
        )


def _check_claim(contents: Contents, plan: Plan) -> None:
    """What is called certified follows from the tuning; a bound that is not promises nothing."""
    if plan.graph.n_arms > CHECKED_ARMS or (plan.horizon is not None and not plan.bound.certified):
        return
    with np.errstate(all="ignore"):  # numbers that overflow prove nothing either
        failing = [condition for condition in check_certificate(plan) if not condition.holds]
    if failing:
        contents.refuse(f"the tuning does not prove its bound, {failing[0]}")


def _learnt(contents: Contents, tuning: Tuning) -> Learnt:
    """What was learnt with `tuning`."""
    m, n = tuning.n_blocks, tuning.n_arms
    rounds, pending, words = contents.turn(n)
    shapes = {"arm_sums": (n,), "totals": (N_TOTALS,)}
    least = {"totals": -MOST_SUM}
    arrays = {
        name: contents.floats(f"state.{name}", shapes.get(name, (m,)), least=least.get(name, 0.0))
        for name in _LEARNT
    }
    numbers = np.zeros(0) if tuning.self_tuning is None else _tuned(contents, tuning.self_tuning, n, rounds)
    state = Learnt(**arrays, round=rounds, late=0, pending=pending, words=words, tuned=numbers)
    if rounds == 0 and any(array.any() for array in arrays.values()):
        contents.refuse("something was learnt in no rounds")
    if state.totals[BLOCK_LEAST] < 0 or state.totals[BLOCK_PAID] < 0:
        contents.refuse("what was paid cannot be negative")
    most, extra = MOST_EXPLORATION * (1 + 1e-9), 0.0
    if tuning.self_tuning is not None:  # what is kept on the leader costs what that loses
        most, extra = 1.0 + 1e-9, float(rounds + state.arm_least.max() + state.arm_sums.max())
    if not -most * state.totals[BLOCK_PAID] - extra <= state.totals[EXPLORED] <= most * rounds + extra:
        contents.refuse("exploration cost what no plan may explore")
    lowest = np.minimum.reduceat(state.arm_sums[tuning.block_arms], tuning.block_start[:-1])
    if lowest.any() or state.block_sums.min() != 0.0:
        contents.refuse("sums must be relative to the least of their block")
    alone = tuning.sizes == 1
    if state.arm_least[alone].any() or state.arm_paid[alone].any():
        contents.refuse("a block of one arm learns nothing inside")
    return state


def _tuned(contents: Contents, rule: SelfTuning, n: int, rounds: int) -> Floats:
    """Where self-tuning stands: nothing that play cannot reach."""
    tuned = contents.floats("state.tuned", (N_TUNED,), least=-MOST_SUM)
    if rounds == 0:
        if not np.array_equal(tuned, first_numbers(rule)):
            contents.refuse("state.tuned is not where self-tuning begins, after no rounds")
        return tuned
    more = 1.0 + 1e-9
    largest = rule.first * more * (rounds + 1.0) ** 2 + rule.share * rounds / rule.diameter
    left = rule.horizon - rounds
    affordable = True
    if rule.horizon:  # β may be raised to where the budget lasts
        largest = max(largest, more * rule.cost_to_go(rule.first, rule.horizon)[1])
    betas = [tuned[i] for i in (BETA, FREE, CHOSEN, TARGET)]
    if left > 0 and rule.first <= more * tuned[BETA]:
        known = (rule.diameter, *rule.costs, tuned[TARGET])
        needed, _ = prices.cost_to_go(tuned[BETA], left, *known)
        affordable = contents.late > 0 or tuned[PURCHASED] + tuned[CHARGED] + needed <= rule.budget * more
    # A round that was drawn freely may be charged late, when there is no allowance left: 1 at most.
    owed = rounds if contents.late else 0
    conditions = {
        "β": all(rule.first <= more * beta and beta <= largest for beta in betas),
        "the leader": 0.0 <= tuned[LEADER] < n and tuned[LEADER] == int(tuned[LEADER]),
        "exploration": tuned[STRENGTH] >= 0.0 and 0.0 < tuned[SCALE] <= 1.0 and 0.0 <= tuned[KEPT] <= 0.5,
        "charges": 0.0 <= tuned[CHARGED] <= rounds * more,
        "money": 0.0 <= tuned[UNSPENT] <= rule.play_share * tuned[CHARGED] * more and tuned[LIMIT] >= 0.0,
        "the budget": affordable,
        "the allowance": -1e-6 - owed <= tuned[ALLOWANCE] <= tuned[MOST]
        and 0.0 <= tuned[REFERENCE] <= 1.0 + SLACK,
        "the price": tuned[SAFE] in (0.0, 1.0) and 0.0 <= tuned[PRICE] <= 1.0,
        "a safe round": tuned[SAFE] == 0.0
        or (rule.price(tuned[BETA]) <= tuned[PRICE] * more and tuned[PRICE] <= tuned[REFERENCE] * more),
        "the next choice": tuned[CHECK] > 0.0,
    }
    wrong = [name for name, holds in conditions.items() if not holds]
    if wrong:
        contents.refuse(f"self-tuning cannot have come to where state.tuned says it is: {', '.join(wrong)}")
    return tuned
