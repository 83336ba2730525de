"""Saved policies: one file from which a policy goes on, without pickle.

Format, version 9. An uncompressed `.npz` archive (a zip of `.npy` arrays, readable by NumPy with
`allow_pickle=False`) with these members:

    header        UTF-8 bytes of a JSON object: format ("sidelight-policy"), version, sidelight (which version wrote
                  it), digest; kind of game ("plan", "fallen": with the potential behind its budget,
                  "changing": on graphs that change, "rule"); plan (horizon,
                  realization, choices, parameters, bound), or rule and horizon; unit (kind, low, high); made, lost,
                  overlap, asked, warned, waits; of a plan also memory and tuned
    graph.*       the arrays of a graph, as in .npz graphs (`sidelight.graph.files.npz`)
    tuning.*      of a plan, the arrays of `sidelight.planning.Tuning`
    state.*       where it stands: of a plan what was learnt, in loss units and by arm (`sidelight.engine.state`), of
                  others all that `Game.state` lists; always the random stream, words
    memory.*      of a plan, the engine's own memory, bit for bit: good for the kernels that `memory` in the header
                  is a digest of. Any other version goes on from state.*, which moves probabilities by rounding,
                  and in large blocks what is explored to where it would be without lagging behind
    decisions.*   the open ones: ids, arms, probability, fresh (is it drawn from the present distribution?), graphs
                  (the number of each one's graph, 0 for the policy's) and values, what is kept of them, all in one
    graphs.*      these graphs, each array of all of them in one, and lengths

`digest` is the SHA-256 of the header without it and of the names, types, shapes and bytes of all other members. The
file is written to a temporary name in the same folder, flushed to disk and renamed, so a crash leaves the old file or
the new one. Why it is so: docs/decisions/0019. Files of versions 5 to 7 are read as well (`old_files`), and those of
version 8, whose plans and open decisions say nothing of a shift: there was none.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from sidelight._archive import ArchiveError, Arrays, unpack_arrays, what_is
from sidelight._version import __version__
from sidelight.engine.fields import TUNED
from sidelight.engine.random import DRAWS, NEXT_DRAW, STEP
from sidelight.engine.round import late
from sidelight.engine.self_tuning.changing import DRAW
from sidelight.engine.state import Learnt, named_tuned
from sidelight.errors import SavedStateError
from sidelight.graph import FeedbackGraph
from sidelight.log.unit import Unit
from sidelight.policy.decision import Record
from sidelight.policy.files import (
    Contents,
    digest,
    header_of,
    most_unpacked,
    plan_arrays,
    plan_header,
    prefixed,
    read_graph,
    read_plan,
)
from sidelight.policy.game import MOST_SUM, Game, Limits, State
from sidelight.policy.games import blank_game
from sidelight.policy.plan_game import FALLEN, PlanGame

VERSION = 9
UNSHIFTED = 8
OLD = (5, 6, 7)

UNSHIFTED_DRAW = DRAW.index("shift")
MOST_COUNTED = 2**52
"""Rounds are counted in doubles, which tell whole numbers apart for twice as long."""

SUMS = dict.fromkeys(("arm_sums", "block_sums"), Limits(0.0, MOST_SUM))


# -- writing ----------------------------------------------------------------------------------------------


def pack(header: dict[str, Any], arrays: Arrays) -> bytes:
    """The bytes of a file."""
    header = {"format": "sidelight-policy", "version": VERSION, "sidelight": __version__, **header}
    header["digest"] = digest(header, arrays)
    encoded = np.frombuffer(json.dumps(header, allow_nan=False).encode(), dtype=np.uint8)
    stream = io.BytesIO()
    np.savez(stream, header=encoded, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


def contents_of(game: Game, unit: Unit, state: State) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of a policy in this state; the arrays are copies."""
    plan, last = game.plan, game.last
    header = {
        "kind": state.kind,
        "unit": unit._asdict(),
        "made": state.made,
        "lost": state.lost,
        "overlap": state.overlap,
        "asked": state.asked,
        "warned": state.warned,
        "waits": last is not None and last.values is None,
    }
    if isinstance(game, PlanGame):
        sums = game.sums()
        header |= {"plan": plan_header(plan), "memory": game.memory_key, "tuned": list(TUNED)}
        learnt = {name: value for name, value in sums._asdict().items() if isinstance(value, np.ndarray)}
        learnt["counts"] = np.array([sums.round, sums.late], dtype=np.int64)
        memory = {name: array for name, array in state.arrays.items() if name != "words"}
        arrays = plan_arrays(plan) | prefixed("state.", learnt) | prefixed("memory.", memory)
    else:
        if state.kind == "rule":
            header |= {"rule": plan.name, "horizon": plan.horizon}
            arrays = prefixed("graph.", plan.graph.to_arrays())
        else:
            header |= {"plan": plan_header(plan)}
            arrays = plan_arrays(plan)
        arrays |= prefixed("state.", state.arrays)
    arrays |= _record_arrays(game, state.records)
    return header, {name: array.copy() for name, array in arrays.items()}


def _record_arrays(game: Game, records: dict[int, Record]) -> Arrays:
    noted = [game.noted(record) for record in records.values()]
    graphs = {record.graph.content: record.graph for record in noted if record.graph is not None}
    numbers = {content: 1 + at for at, content in enumerate(graphs)}
    which = [0 if record.graph is None else numbers[record.graph.content] for record in noted]
    fresh = [record.version == game.version for record in noted]
    probability = [
        record.probability if record.probability >= 0 else -1.0 for record in noted
    ]  # −1: not known
    values = [record.values for record in noted if record.values is not None]
    decisions = {
        "ids": np.array(list(records), dtype=np.int64),
        "arms": np.array([record.arm for record in noted], dtype=np.int64),
        "probability": np.array(probability, dtype=np.float64),
        "fresh": np.array(fresh, dtype=np.bool_),
        "graphs": np.array(which, dtype=np.int64),
        "values": np.concatenate([np.zeros(0), *values]),
    }
    return prefixed("decisions.", decisions) | prefixed("graphs.", _joined(list(graphs.values())))


def _joined(graphs: list[FeedbackGraph]) -> Arrays:
    """Arrays of the same name in one, for many small arrays are slow to read; `lengths` says where each ends."""
    taken = [graph.to_arrays() for graph in graphs]
    names = sorted({name for arrays in taken for name in arrays})
    lengths = [[arrays[name].size if name in arrays else -1 for name in names] for arrays in taken]
    joined = {
        name: np.concatenate([arrays[name].ravel() for arrays in taken if name in arrays]) for name in names
    }
    return joined | {"lengths": np.array(lengths, dtype=np.int64).reshape(len(graphs), len(names))}


# -- reading ----------------------------------------------------------------------------------------------


def unpack(data: bytes, where: Path, limit: int | None = None) -> Contents:
    """The contents of a saved policy, undamaged; `where` names it in messages."""
    most = most_unpacked(data) if limit is None else limit
    try:
        arrays = unpack_arrays(io.BytesIO(data), most)
    except ArchiveError as error:
        looks = f", it is {what_is(where)}" if where.exists() else ""
        raise SavedStateError(f"{where} cannot be loaded{looks}: {error}") from error
    if "header" not in arrays:
        raise SavedStateError(f"{where} is not a saved policy but {what_is(where)}")
    header = header_of(arrays.pop("header").tobytes(), where, "policy", (*OLD, UNSHIFTED, VERSION))
    return Contents(where, header, arrays, most, "policy")


def read_policy(contents: Contents) -> tuple[Game, Unit, State]:
    """The game of a file at its first round, the unit, and where it stands."""
    if contents.header["version"] in OLD:
        from sidelight.policy.old_files import read_old

        return read_old(contents)
    header = contents.header
    if header["version"] == UNSHIFTED and header.get("kind") != "rule":
        from sidelight.policy.old_files import unshifted

        unshifted(contents)
    game = begun_game(contents, contents.field("kind", str))
    made = contents.count("made", MOST_COUNTED)
    records = _records(contents, game, made)
    lost, asked = contents.count("lost", made - len(records)), contents.count("asked", made)
    if asked and asked not in records:
        contents.refuse(f"decision {asked} was asked for, and is not open")
    last = records.get(made)
    if contents.field("waits", bool):
        if last is None or last.version != game.version:
            contents.refuse("the last decision waits, and is not open")
        last.values, last.probability = None, np.nan
    if game.kind == "changing" and "state.wealth" not in contents.arrays:
        contents.arrays["state.wealth"] = game.state()["wealth"]  # from before there were bets
    arrays = contents.taken("state.", game.state(), game.limits()) if not isinstance(game, PlanGame) else {}
    if isinstance(game, PlanGame):
        game.made, game.last = made, last
        arrays = _plan_state(contents, game)
    check_words(contents, arrays["words"])
    contents.finish()
    overlap = contents.count("overlap", MOST_COUNTED) if "overlap" in header else 0
    counts = (made, lost, overlap, asked, game.version, contents.field("warned", bool))
    return game, read_unit(contents, header.get("unit")), State(game.kind, arrays, records, *counts)


def begun_game(contents: Contents, kind: str) -> Game:
    """The game of the plan or rule in a file."""
    if kind == "rule":
        from sidelight.policy.rules import RULES

        name, graph = contents.field("rule", str), read_graph(contents)
        rule = {rule.name: rule for rule in RULES}.get(name)
        if rule is None:
            contents.refuse(f"the rule {name!r} is unknown here")
        return blank_game(kind, rule(graph, contents.horizon()))
    if kind not in ("plan", FALLEN, "changing"):
        contents.refuse(f"{kind!r} is no kind of policy")
    plan = read_plan(contents, contents.field("plan", dict))
    if kind == "changing" and plan.tuning.self_tuning is None:
        contents.refuse("only plans that tune themselves play on graphs that change")
    if kind == FALLEN and plan.tuning.base is None:
        contents.refuse("there is no potential behind the budget of this plan")
    return blank_game(kind, plan)


def _plan_state(contents: Contents, game: PlanGame) -> Arrays:
    """The memory of the engine as it was, or rebuilt from what was learnt if it was another's."""
    names = contents.field("tuned", list)
    blank = {name: value for name, value in game.sums()._asdict().items() if isinstance(value, np.ndarray)}
    blank |= {"counts": np.zeros(2, dtype=np.int64)}
    blank["tuned"] = np.zeros(len(names) if blank["tuned"].size else 0)
    learnt = contents.taken("state.", blank, SUMS | {"counts": Limits(0, game.made)})
    if contents.field("memory", str) == game.memory_key:
        memory = {name: array for name, array in game.state().items() if name != "words"}
        return contents.taken("memory.", memory, game.limits()) | {"words": learnt["words"]}
    contents.skip("memory.")
    rounds, late = learnt.pop("counts").tolist()
    learnt["tuned"] = named_tuned(game.plan.tuning, dict(zip(names, learnt["tuned"].tolist(), strict=False)))
    game.go_on_from(Learnt(**learnt, round=rounds, late=late))
    return game.state()


def _records(contents: Contents, game: Game, made: int) -> dict[int, Record]:
    """The open decisions, which are of those made."""
    n = game.plan.graph.n_arms
    size = contents.arrays["decisions.ids"].size
    ids = contents.take("decisions.ids", np.int64, (size,), Limits(1, made))
    arms = contents.take("decisions.arms", np.int64, (size,), Limits(0, n - 1))
    chances = contents.take("decisions.probability", np.float64, (size,), Limits(-1.0, 1.0 + 1e-9))
    fresh = contents.take("decisions.fresh", np.bool_, (size,))
    graphs = _graphs(contents, game)
    which = contents.take("decisions.graphs", np.int64, (size,), Limits(0, len(graphs)))
    if (np.diff(ids) <= 0).any():
        contents.refuse("decisions.ids must rise")
    own = [None, *graphs]
    records = {}
    for at, number in enumerate(ids.tolist()):
        chance = float(chances[at]) if chances[at] >= 0 else np.nan
        version = game.version if fresh[at] else game.version - 1
        records[number] = Record(int(arms[at]), version, own[which[at]], None, chance)
    old = contents.header["version"] == UNSHIFTED and game.kind != "rule"
    give_values(
        contents, game, records, "decisions.values", (lambda degree: game.room(degree) - 1) if old else None
    )
    if old:
        add_shift(game, records)
    return records


def add_shift(game: Game, records: dict[int, Record]) -> None:
    """Open decisions of a plan from before losses were shifted."""
    for record in records.values():
        assert record.values is not None
        record.values = np.insert(
            record.values, late.SHIFT if isinstance(game, PlanGame) else UNSHIFTED_DRAW, 0.0
        )


def give_values(
    contents: Contents, game: Game, records: dict[int, Record], name: str, room: Any = None
) -> None:
    """Split what is kept of open decisions among them; `room` is the game's unless a file is older."""
    room = game.room if room is None else room
    own = game.plan.graph
    degrees = [int((own if r.graph is None else r.graph).out_degree[r.arm]) for r in records.values()]
    ends = np.cumsum([room(degree) for degree in degrees], dtype=np.int64)
    values = contents.take(name, np.float64, (int(ends[-1]) if records else 0,), Limits(-1.0, 1e100))
    for record, part in zip(records.values(), np.split(values, ends[:-1]), strict=False):
        record.values = part.copy()


def _graphs(contents: Contents, game: Game) -> list[FeedbackGraph]:
    """The graphs that `_joined` has put together."""
    names = sorted(
        name for name in contents.arrays if name.startswith("graphs.") and name != "graphs.lengths"
    )
    count = contents.arrays["graphs.lengths"].shape[0]
    longest = max((contents.arrays[name].size for name in names), default=0)
    lengths = contents.take("graphs.lengths", np.int64, (count, len(names)), Limits(-1, longest))
    if count and not isinstance(game.plan.graph, FeedbackGraph):
        contents.refuse("graphs of what?")
    parts: list[Arrays] = [{} for _ in range(count)]
    for column, name in enumerate(names):
        array, at = contents.arrays.pop(name), 0
        for row, length in enumerate(lengths[:, column].tolist()):
            if length >= 0:
                parts[row][name] = array[at : at + length]
                at += length
        if at != array.size:
            contents.refuse(f"{name} does not fit graphs.lengths")
    graphs = []
    for arrays in parts:
        contents.arrays |= {name: _scalar(name, array) for name, array in arrays.items()}
        graph = read_graph(contents, "graphs.")
        if graph.n_arms != game.plan.graph.n_arms or isinstance(game, PlanGame):
            contents.refuse(f"a graph of {graph.n_arms} arms is none of this policy's")
        graphs.append(graph)
    return graphs


def _scalar(name: str, array: Any) -> Any:
    return array.reshape(()) if name == "graphs.n_arms" else array


def check_words(contents: Contents, words: Any) -> None:
    """Can this be a random stream?"""
    if int(words[STEP]) % 2 == 0 or int(words[DRAWS]) % NEXT_DRAW:
        contents.refuse("words is no random stream")


def read_unit(contents: Contents, value: object) -> Unit:
    """What is told, and in what range; losses in [0, 1] unless the header says otherwise."""
    if value is None:
        return Unit()
    if not isinstance(value, dict) or set(value) != {"kind", "low", "high"}:
        contents.refuse(f"the unit must have kind, low and high, got {value!r:.50}")
    ends = (value["low"], value["high"])
    if value["kind"] not in ("losses", "rewards") or any(isinstance(end, bool) for end in ends):
        contents.refuse(f"{value!r:.80} is no unit")
    return Unit.of(**{value["kind"]: ends})
