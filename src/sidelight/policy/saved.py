"""Saved policies: one file that holds the plan and the state, without pickle.

Format, version 4. An uncompressed `.npz` archive (a zip of `.npy` arrays, readable by NumPy with
`allow_pickle=False`) with these members:

    header        UTF-8 bytes of a JSON object: format ("sidelight-policy"), version, sidelight (the version
                  that wrote it), horizon, realization, choices, parameters, bound, labels, digest
    graph.*       n_arms, out_indptr, out_indices, universal, has_loop
    tuning.*      the arrays of `sidelight.planning.Tuning`
    state.*       the changing arrays of `sidelight.engine.fields`, the random stream included, but not those
                  that follow from the others

Small policies (`policy.rule_policy`) have no tuning: their header names the `rule` and the horizon, and state.*
are the changing arrays of `sidelight.engine.rules.state`.
A doubling plan (horizon null, realization "doubling") is saved with the plan of its present stage: realization,
choices, parameters and bound are the stage's, under the header's key `stage` with its horizon, tuning.* is its
tuning, and there are

    past.*        ledgers and certificates of the finished stages, four numbers for every arm; empty in the first

`digest` is the SHA-256 of the names, types, shapes and bytes of all other members. The file is written to a
temporary name in the same folder, flushed to disk and renamed, so a crash leaves the old file or the new one.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from sidelight._files import digest, replacing
from sidelight._version import __version__
from sidelight.engine.fields import CHANGING, HEAVY, PENDING, ROUND, STREAM, Memory, switch, views
from sidelight.engine.round.round import start, write_out
from sidelight.engine.simplex.store import N_BUCKETS
from sidelight.errors import SavedStateError, SidelightError
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition
from sidelight.planning import (
    Plan,
    Tuning,
    curve_from_dict,
)
from sidelight.planning.anytime.doubling import DOUBLING, resumed
from sidelight.policy.stages import Past

if TYPE_CHECKING:
    from os import PathLike

    from sidelight.policy.rule_policy import Rule

FORMAT = "sidelight-policy"
VERSION = 4
READABLE = (3, VERSION)
"""Version 3 does not have state.least: what it belongs to is laid out afresh, from the sums."""
AFRESH = "afresh"

DAMAGE = (
    OSError,
    ValueError,
    KeyError,
    EOFError,
    AttributeError,
    RuntimeError,  # zipfile: encrypted or an unknown compression; json: nested too deeply
    zipfile.BadZipFile,
    zlib.error,
)
"""What reading a damaged or foreign archive may raise."""

Arrays = dict[str, npt.NDArray[Any]]


def write(path: str | PathLike[str], plan: Plan, stage: Plan, past: Past, memory: Memory) -> None:
    """Save `plan` and the state of its policy, which plays `stage`, to `path`, replacing it atomically."""
    arrays: Arrays = {f"tuning.{name}": array for name, array in stage.tuning.to_arrays().items()}
    arrays |= {f"state.{name}": view for name, view in _kept(memory).items()}
    about = _described(plan)
    if plan.stages is not None:
        about["stage"] = _described(stage)
        arrays |= {"past.ledgers": past.ledgers, "past.certificates": past.certificates}
    _write(path, plan.graph, about, arrays)


def write_rule(
    path: str | PathLike[str], graph: FeedbackGraph, name: str, horizon: int | None, state: Arrays
) -> None:
    """Save a small policy: the name of its rule and its state."""
    _write(path, graph, {"rule": name, "horizon": horizon}, {f"state.{key}": a for key, a in state.items()})


def _write(path: str | PathLike[str], graph: FeedbackGraph, about: dict[str, Any], arrays: Arrays) -> None:
    arrays = {
        "graph.n_arms": np.array(graph.n_arms),
        "graph.out_indptr": graph.out_indptr,
        "graph.out_indices": graph.out_indices,
        "graph.universal": graph.universal,
        "graph.has_loop": graph.has_loop,
    } | arrays
    header = {"format": FORMAT, "version": VERSION, "sidelight": __version__, **about}
    header |= {"labels": graph.labels, "digest": _digest(arrays)}
    encoded = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    target = Path(path)
    try:
        with replacing(target, pack=False) as stream:
            np.savez(stream, header=encoded, **arrays)  # type: ignore[arg-type]
    except OSError as error:
        raise SavedStateError(f"cannot save the policy to {target}: {error.strerror or error}") from error


def _described(plan: Plan) -> dict[str, Any]:
    return {
        "horizon": plan.horizon,
        "realization": plan.realization,
        "choices": list(plan.choices),
        "parameters": plan.parameters,
        "bound": plan.curve.to_dict(),
    }


def read(path: str | PathLike[str]) -> tuple[Plan | Rule, Plan | None, Past, Arrays]:
    """The plan in the file, its present stage, the past and the arrays of the state; checked before use.

    A rule has no stages: None.
    """
    arrays, header = _members(Path(path))
    try:
        graph = _graph(arrays, header)
        if "rule" in header:
            return _rule(graph, header), None, Past.none(), arrays
        mine = {name.removeprefix("tuning."): a for name, a in arrays.items() if name.startswith("tuning.")}
        tuning = Tuning.from_arrays(mine)
        if header["horizon"] is None and header["realization"] == DOUBLING:
            return *_doubling(graph, tuning, header, arrays), arrays
        plan = _plan(graph, tuning, header)
    except (SidelightError, KeyError, TypeError, ValueError, IndexError) as error:
        raise SavedStateError(f"{path} is not a consistent saved policy: {error}") from error
    return plan, plan, Past.none(), arrays


def _plan(graph: FeedbackGraph, tuning: Tuning, header: dict[str, Any]) -> Plan:
    blocks = np.split(tuning.block_arms, tuning.block_start[1:-1])
    about: dict[str, Any] = {
        "graph": graph,
        "partition": Partition(graph, blocks),
        "realization": header["realization"],
        "choices": tuple(header["choices"]),
        "parameters": header["parameters"],
        "tuning": tuning,
    }
    horizon = None if header["horizon"] is None else _horizon(header["horizon"])
    return Plan(horizon=horizon, curve=curve_from_dict(header["bound"], horizon), **about)


def _doubling(
    graph: FeedbackGraph, tuning: Tuning, header: dict[str, Any], arrays: Arrays
) -> tuple[Plan, Plan, Past]:
    """The saved stage is played to its end as it was saved; later ones are planned when they begin."""
    stage = _plan(graph, tuning, header["stage"])
    rounds = stage.horizon or 0
    k = rounds.bit_length() - 1
    if rounds != 2**k or not 0 <= arrays["state.numbers"][ROUND] < rounds:
        raise ValueError(f"a stage has 1, 2, 4, … rounds and is not over, got one of {rounds} rounds")
    past = Past(rounds - 1, arrays["past.ledgers"], arrays["past.certificates"])
    for array in (past.ledgers, past.certificates):
        if array.shape != (graph.n_arms if k else 0, 4) or array.dtype != np.float64 or np.isnan(array).any():
            raise ValueError("the terms of finished stages do not fit the graph")
    return resumed(stage), stage, past


def restore(path: str | PathLike[str], memory: Memory, arrays: Arrays) -> None:
    """Copy the saved arrays into a freshly built memory, refusing any that do not fit it."""
    targets = _kept(memory)
    if AFRESH in arrays:
        del targets["least"]
    for name, target in targets.items():
        source = arrays.get(f"state.{name}")
        if source is None or source.shape != target.shape or source.dtype != target.dtype:
            raise SavedStateError(f"{path}: the saved array state.{name} does not fit this policy's plan")
        if source.dtype.kind == "f" and np.isnan(source).any():
            raise SavedStateError(f"{path}: the saved array state.{name} contains NaN")
    _check_positions(path, targets, arrays)
    n_arms = switch(memory, "n_arms")
    numbers = arrays["state.numbers"]
    if float(numbers[PENDING]) not in range(-1, n_arms):
        raise SavedStateError(f"{path}: the pending arm {numbers[PENDING]} does not exist")
    if float(numbers[HEAVY]) not in range(n_arms):
        raise SavedStateError(f"{path}: the heaviest arm {numbers[HEAVY]} does not exist")
    for name, target in targets.items():
        target[...] = arrays[f"state.{name}"]
    (start if AFRESH in arrays else write_out)(memory)


def _kept(memory: Memory) -> Arrays:
    """The changing arrays that nothing else determines."""
    return views(memory, CHANGING, STREAM)


def _check_positions(path: str | PathLike[str], fresh: Arrays, arrays: Arrays) -> None:
    """Kernels follow these without looking: refuse whatever would lead them out of their arrays, or nowhere."""

    def refuse(name: str, why: str) -> NoReturn:
        raise SavedStateError(f"{path}: the saved array state.{name} {why}")

    place, occupant = arrays["state.place"], arrays["state.occupant"]
    everyone = np.arange(place.size)
    for name, array in (("place", place), ("occupant", occupant)):
        if array.size and not (array.min() >= 0 and array.max() < array.size):
            refuse(name, "points outside the policy")
    if not np.array_equal(place[occupant], everyone):
        refuse("place", "contradicts state.occupant")
    start, first = (a.reshape(-1, N_BUCKETS + 1) for a in (arrays["state.start"], fresh["start"]))
    if (np.diff(start) < 0).any() or (start[:, [0, -1]] != first[:, [0, -1]]).any():
        refuse("start", "does not divide the coordinates into buckets")
    low, high = arrays["state.span"].reshape(-1, 2).T
    if not ((low >= 0) & (low <= high) & (high < N_BUCKETS)).all():
        refuse("span", "points outside the policy")
    rows = np.arange(len(start))
    if (start[rows, low] != start[:, 0]).any() or (start[rows, high + 1] != start[:, -1]).any():
        refuse("span", "leaves out members")
    leader = arrays["state.leader"]
    if leader.size and not (leader.min() >= -1 and leader.max() < leader.size):
        refuse("leader", "points outside the policy")


def _members(path: Path) -> tuple[Arrays, dict[str, Any]]:
    try:
        loaded = np.load(path, allow_pickle=False)
        if not isinstance(loaded, np.lib.npyio.NpzFile):
            raise ValueError("not an archive")
        with loaded as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays.pop("header").tobytes().decode())
    except FileNotFoundError as error:
        raise SavedStateError(f"{path} does not exist") from error
    except DAMAGE as error:
        raise SavedStateError(f"{path} is not a saved policy, or is damaged: {error}") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise SavedStateError(f"{path} is an archive, but not a saved policy")
    if header.get("version") not in READABLE:
        raise SavedStateError(
            f"{path} has format version {header.get('version')}, this Sidelight reads versions 3 and {VERSION}; "
            f"it was written by Sidelight {header.get('sidelight')}"
        )
    if header.get("digest") != _digest(arrays):
        raise SavedStateError(f"{path} is damaged: its contents do not match their digest")
    if header["version"] == 3:
        arrays[AFRESH] = np.array(True)
    return arrays, header


def _graph(arrays: Arrays, header: dict[str, Any]) -> FeedbackGraph:
    """Rebuild the graph from its explicit edges, which re-checks every index."""
    n = int(arrays["graph.n_arms"])
    indptr, indices = arrays["graph.out_indptr"], arrays["graph.out_indices"]
    universal, has_loop = arrays["graph.universal"], arrays["graph.has_loop"]
    if has_loop.shape != (n,):
        raise ValueError("the graph's loops do not fit its arms")
    if (
        indptr.shape != (n + 1,)
        or indptr[0] != 0
        or indptr[-1] != indices.size
        or (np.diff(indptr) < 0).any()
    ):
        raise ValueError("the graph's row pointers are inconsistent")
    sources = np.repeat(np.arange(n), np.diff(indptr))
    explicit = FeedbackGraph.from_edges(n, np.column_stack([sources, indices]))
    if universal.size == 0:
        return FeedbackGraph._from_arrays(n, sources, indices, header["labels"])
    chosen = explicit.checked_arms(universal)
    return FeedbackGraph._from_arrays(n, sources, indices, header["labels"], chosen, has_loop[chosen])


def _rule(graph: FeedbackGraph, header: dict[str, Any]) -> Rule:
    """The rule of this name, made anew for the graph: it refuses graphs to which it does not apply."""
    from sidelight.policy import names as registry

    horizon = None if header["horizon"] is None else _horizon(header["horizon"])
    return registry.rule(header["rule"], graph, horizon)


def _horizon(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"the horizon {value!r} is not a number of rounds")
    return value


def _digest(arrays: Arrays) -> str:
    parts: list[Any] = []
    for name, array in sorted(arrays.items()):
        parts += [f"{name} {array.dtype.str} {array.shape}\n", array]
    return digest(*parts)
