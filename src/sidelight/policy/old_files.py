"""Saved policies of versions 5 to 7, which held no memory of the engine: they go on from what they had learnt.

header        kind ("plan", "rule" or "changing") and what that needs; unit unless losses in [0, 1] are told
state.*       round, words, open (the arm that was drawn last, if nothing has happened since, or none); of a plan
              what was learnt, of a rule counts, sums and total, of a plan on graphs that change numbers and sums
decisions.*   since version 6: counts (made, lost, asked, late), ids, arms and kept of the other open ones; since
              version 7 graphs, the number of each one's graph, 0 for the policy's
graphs.I.*    the arrays of these graphs, I = 1, 2, …
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sidelight._archive import Arrays
from sidelight.engine.constants import ROOM
from sidelight.engine.fields import TUNED
from sidelight.engine.round import late
from sidelight.engine.rules import N_RECORD, NUMBERS, PER_ARM
from sidelight.engine.self_tuning.begin import first_numbers
from sidelight.engine.state import Learnt, named_tuned
from sidelight.graph import FeedbackGraph
from sidelight.log.unit import Unit
from sidelight.planning import Tuning
from sidelight.planning.bounds.bound import Bound
from sidelight.planning.self_tuning.rule import BEFORE, OWN, SelfTuning
from sidelight.policy.decision import Record
from sidelight.policy.files import Contents, prefixed, read_graph
from sidelight.policy.game import Game, Limits, State
from sidelight.policy.plan_game import PlanGame
from sidelight.policy.policy_file import (
    MOST_COUNTED,
    SUMS,
    add_shift,
    begun_game,
    check_words,
    give_values,
    read_unit,
)

HEAD = 4
"""Numbers of a plan's draw in decisions.kept, after which its probability was not kept."""

STAGED = "plans in stages are no longer played: sl.plan(graph) is for any number of rounds"

OLD_TUNED = (
    "beta", "free_beta", "strength", "leader", "leader_scale", "leader_relief", "on_leader", "penalty", "charged",
    "unspent", "unspent_limit", "charged_limit", "slack", "target_cost", "most_slack", "worst_case", "worst_cost",
    "target_beta", "chosen_beta", "leader_low", "leader_high", "next_check",
)  # fmt: skip
"""Where self-tuning stood, in the order of these files."""

LEARNT = ("arm_sums", "arm_least", "arm_paid", "block_sums", "totals")


def read_old(contents: Contents) -> tuple[Game, Unit, State]:
    """The game of a file at its first round, the unit, and where it stands."""
    header = contents.header
    kind = contents.field("kind", str)
    if kind != "rule":
        modernised(contents)
    game = begun_game(contents, kind)
    n = game.plan.graph.n_arms
    rounds = int(contents.take("state.round", np.int64, (1,), Limits(0, MOST_COUNTED))[0])
    waiting = contents.arrays["state.open"].size
    pending = contents.take("state.open", np.int64, (min(waiting, 1),), Limits(0, n - 1)).tolist()
    words = contents.take("state.words", np.uint64, (4,))
    check_words(contents, words)
    made, lost, asked, n_late, records = _decisions(contents, game, rounds, pending)
    game.made, game.last = made, records.get(made)
    if isinstance(game, PlanGame):
        _learn(contents, game, rounds, n_late, words)
        arrays = game.state()
    elif kind == "rule":
        arrays = _rule_state(contents, game, rounds, words)
    else:
        like = {name: game.state()[name] for name in ("numbers", "sums")}
        arrays = game.state() | contents.taken("state.", like, game.limits()) | {"words": words}
    contents.finish()
    unit = read_unit(contents, header.get("unit"))
    return game, unit, State(game.kind, arrays, records, made, lost, n_late, asked, game.version, False)


def _learn(contents: Contents, game: PlanGame, rounds: int, n_late: int, words: Any) -> None:
    """Rebuild the engine from what was learnt."""
    blank = {name: value for name, value in game.sums()._asdict().items() if name in LEARNT}
    learnt = contents.taken("state.", blank, SUMS)
    tuned = np.zeros(0)
    if game.plan.tuning.self_tuning is not None:
        size = min(contents.arrays["state.tuned"].size, len(OLD_TUNED) + 2)
        values = contents.take("state.tuned", np.float64, (size,))
        tuned = named_tuned(game.plan.tuning, dict(zip(OLD_TUNED, values.tolist(), strict=False)))
    game.go_on_from(Learnt(**learnt, round=rounds, late=n_late, words=words, tuned=tuned))


def _rule_state(contents: Contents, game: Game, rounds: int, words: Any) -> Arrays:
    """The distribution follows from the sums."""
    state = game.state()
    for name in ("counts", "sums"):
        state[name][:] = contents.take(f"state.{name}", np.float64, state[name].shape, game.limits()[name])
    total = contents.take("state.total", np.float64, (1,), Limits(0.0, 1e100))[0]
    numbers = {"round": rounds, "total": total}
    state["numbers"][:] = [numbers[name] for name in NUMBERS]
    state["words"][:] = words
    state["others"][0] = contents.header.get("others") is True
    game.plan.kernels.start(game.arrays)  # type: ignore[attr-defined]
    return state


def _decisions(
    contents: Contents, game: Game, rounds: int, pending: list[int]
) -> tuple[int, int, int, int, dict[int, Record]]:
    """Decisions made, lost, asked for and late, and the open ones."""
    version, last = contents.header["version"], Record(pending[0], game.version) if pending else None
    if version == 5:
        made = rounds + len(pending)
        return made, 0, made if last else 0, 0, {made: last} if last else {}
    counts = contents.take("decisions.counts", np.int64, (4,), Limits(0, MOST_COUNTED))
    made, lost, asked, n_late = counts.tolist()
    size = contents.arrays["decisions.ids"].size
    ids = contents.take("decisions.ids", np.int64, (size,), Limits(1, made - len(pending)))
    arms = contents.take("decisions.arms", np.int64, (size,), Limits(0, game.plan.graph.n_arms - 1))
    graphs = _graphs(contents, game, size)
    if (np.diff(ids) <= 0).any() or (asked and (pending or asked not in ids)):
        contents.refuse("decisions.ids must rise, and hold the decision that was asked for")
    if lost + size + len(pending) > made:
        contents.refuse(f"of {made} decisions {size + len(pending)} cannot be open and {lost} lost")
    rows = zip(ids.tolist(), arms.tolist(), graphs, strict=True)
    records = {number: Record(arm, game.version - 1, graph) for number, arm, graph in rows}
    give_values(contents, game, records, "decisions.kept", _room(game, version))
    if isinstance(game, PlanGame):
        for record in records.values():
            assert record.values is not None
            record.values = np.insert(record.values, HEAD, 0.0)
    if game.kind != "rule":
        add_shift(game, records)
    if last is not None:
        records[made] = last
    return made, lost, made if last else asked, n_late, records


def _room(game: Game, version: int) -> Any:
    """How many numbers were kept of a draw that revealed so many arms."""
    if isinstance(game, PlanGame):
        return lambda degree: HEAD + late.PER_ARM * degree
    if game.kind == "rule" and version < 7:
        return lambda degree: N_RECORD + PER_ARM * degree
    return game.room if game.kind == "rule" else lambda degree: game.room(degree) - 1


def _graphs(contents: Contents, game: Game, size: int) -> list[FeedbackGraph | None]:
    """The graphs of `size` open decisions: the plan's own, unless the file says otherwise."""
    if "decisions.graphs" not in contents.arrays:
        return [None] * size
    which = contents.take("decisions.graphs", np.int64, (size,), Limits(0, size))
    graphs: list[FeedbackGraph | None] = [None]
    for at in range(1, int(which.max(initial=0)) + 1):
        graph = read_graph(contents, f"graphs.{at}.")
        if graph.n_arms != game.plan.graph.n_arms or isinstance(game, PlanGame):
            contents.refuse(f"graph {at} of {graph.n_arms} arms is none of this policy's")
        graphs.append(graph)
    return [graphs[at] for at in which.tolist()]


# -- plans of before ---------------------------------------------------------------------------------------------


def modernised(contents: Contents) -> None:
    """Bring header and members of the plan in a file to what this version writes."""
    header = contents.header
    if header.get("stages") is not None:
        contents.refuse(STAGED)
    base, fallen = header.pop("base", None), header.pop("fallen", False)
    header.pop("stages", None)
    if base is not None:
        members = contents.arrays
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
    bound = contents.field("plan", dict).get("bound")
    rule = bound.get("self_tuning") if isinstance(bound, dict) else None
    if isinstance(rule, dict):  # names of numbers behind a budget have other meanings since
        for name in set(rule) - ({*OWN} if "covered" in rule else {*OWN[:BEFORE], "beside"}):
            del rule[name]
    unshifted(contents)


def unshifted(contents: Contents) -> None:
    """Write the tuning of a plan from before losses were shifted as this version does."""
    members = contents.arrays
    old = {
        name.removeprefix("tuning."): array for name, array in members.items() if name.startswith("tuning.")
    }
    if {"estimates", "lifted"} & set(old):
        return
    if "self_tuning" in old and SelfTuning.from_array(old["self_tuning"]).horizon > 0:
        _affordable(contents, "prices in steps", 0.0)
        old["self_tuning"] = members["tuning.self_tuning"]
    old |= {"lifted": np.zeros(old["block_arms"].size), "estimates": np.zeros(3)}
    members |= prefixed("tuning.", Tuning.from_arrays(old).to_arrays())


def _affordable(contents: Contents, why: str, room: float) -> SelfTuning:
    """The rule with a budget that it keeps to from here on at the prices of this version, with this room."""
    members, header = contents.arrays, contents.field("plan", dict)
    rule = SelfTuning.from_array(members["tuning.self_tuning"][:BEFORE])
    budget = max(rule.budget, rule.needed)
    rounds, now = _stands(contents)
    if now is not None and 0 < rounds < rule.horizon and now["beta"] > 0:
        left = rule.cost_to_go(now["beta"], rule.horizon - rounds)[0]
        budget = max(budget, now["penalty"] + now["charged"] + left + room)
    if budget > rule.budget or room:
        bound = Bound.from_dict({"horizon": rule.horizon, **header["bound"]})
        terms = {**bound.terms, why: budget - rule.budget}
        kept = tuple(each for each in bound.conditions if not each.name.startswith("start, rounds"))
        header["bound"] = replace(bound, terms=terms, conditions=kept).to_dict()
    rule = replace(rule, budget=budget)
    members["tuning.self_tuning"] = rule.to_array()
    return rule


def _stands(contents: Contents) -> tuple[int, dict[str, float] | None]:
    """Rounds played, and where self-tuning stands; a saved plan has none."""
    members = contents.arrays
    if "state.tuned" not in members:
        return 0, None
    rounds = members["state.round" if "state.round" in members else "state.counts"][0]
    names = contents.header.get("tuned", OLD_TUNED)
    return int(rounds), dict(zip(names, members["state.tuned"].tolist(), strict=False))


def _stand_alone(contents: Contents) -> None:
    """Give the rule a budget that it keeps to without falling back."""
    alone = _affordable(contents, "without falling back", ROOM)
    rounds, now = _stands(contents)
    if now is not None and rounds == 0:
        first = dict(zip(TUNED, first_numbers(alone).tolist(), strict=True))
        contents.arrays["state.tuned"] = np.array([first[name] for name in OLD_TUNED])
    parameters: dict[str, Any] = contents.field("plan", dict)["parameters"]
    for name in ("start", "base_s", "base_price"):
        parameters.pop(name, None)
