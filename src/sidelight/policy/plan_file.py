"""Saved plans: one JSON file with everything that is played and promised, for people and for `Plan.load`.

    format, version, sidelight     "sidelight-plan", 1, and the version that wrote it
    digest                         SHA-256 of all the rest, as of saved policies
    horizon, realization, choices, parameters, bound, blocks, considered, note      as `Plan.to_dict` says them
    graph                          what its maker called the graph, where that is known; a name, and no more
    arrays                         "graph.*" and "tuning.*": the arrays of graph and tuning

An array is {"type", "shape", "values"}, its values one after another; "fill" stands for values that are all the same,
and infinite numbers are "inf" and "-inf". The codec is that of saved policies (`files`), written as text: digest,
schema, limit. `check_certificate` proves the bound again for whoever doubts it. Why it is so: docs/decisions/0015 and
0019.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from sidelight._archive import Arrays
from sidelight._version import __version__
from sidelight.errors import SavedStateError
from sidelight.planning import Considered, Plan
from sidelight.policy.files import (
    Contents,
    bytes_of,
    digest,
    header_of,
    most_unpacked,
    plan_arrays,
    read_plan,
    written,
)
from sidelight.policy.old_files import STAGED, modernised

FORMAT, VERSION = "sidelight-plan", 1
BEGINS = re.compile(rf'\s*{{\s*"format"\s*:\s*"{FORMAT}"'.encode())
"""How every saved plan begins, by which commands tell it from a graph in JSON."""

MOST_NAME = 200
DESCRIBED = ("horizon", "realization", "choices", "parameters", "bound")
HEADER = ("format", "version", "sidelight", "digest", "graph", "blocks", "considered", "note", "base")
TYPES = {"bool": bool, "uint8": int, "int32": int, "int64": int, "float64": float}
"""Types of arrays, and of each of their values in JSON."""
INFINITE = {"inf": np.inf, "-inf": -np.inf}


# -- writing ----------------------------------------------------------------------------------------------


def save(plan: Plan, path: str | PathLike[str]) -> None:
    """Write the plan to `path`, replacing it atomically."""
    written(path, text_of(plan).encode(), "plan")


def text_of(plan: Plan, graph: str = "") -> str:
    """The file, a key on each line; `graph` is what its graph is called."""
    arrays = plan_arrays(plan)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "sidelight": __version__,
        **({"graph": graph} if graph else {}),
        **plan.to_dict(),
        "note": plan.details.note,
    }
    header["digest"] = digest(header, arrays)
    lines = {**header, "arrays": {name: _encoded(array) for name, array in arrays.items()}}
    texts = (f" {json.dumps(key)}: {_dumped(value)}" for key, value in lines.items())
    return "{\n" + ",\n".join(texts) + "\n}\n"


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))


def _encoded(array: npt.NDArray[Any]) -> dict[str, Any]:
    flat = array.reshape(-1)
    same = flat.size > 1 and flat.tobytes() == flat[:1].tobytes() * flat.size  # 0.0 is not -0.0 here
    names = {value: name for name, value in INFINITE.items()}
    values = [names.get(value, value) for value in (flat[:1] if same else flat).tolist()]
    content = {"fill": values[0]} if same else {"values": values}
    return {"type": array.dtype.name, "shape": list(array.shape), **content}


# -- reading ----------------------------------------------------------------------------------------------


def is_plan(path: Path) -> bool:
    """Does the file begin like a saved plan, however its JSON is laid out?"""
    try:
        with open(path, "rb") as file:
            return path.is_file() and BEGINS.match(file.read(256)) is not None
    except (OSError, ValueError):
        return False


class Saved(NamedTuple):
    """What a file holds."""

    plan: Plan
    graph: str  # what its graph was called when it was saved, "" if that is not known


def read(path: str | PathLike[str], limit: int | None = None) -> Saved:
    """The plan in a file, checked, and the name of its graph."""
    return unpack(*bytes_of(path, limit, "plan"))


def unpack(data: bytes, where: Path, limit: int | None = None) -> Saved:
    """`read` of the bytes of such a file; `where` names them in messages."""
    most = most_unpacked(data) if limit is None else limit
    header = header_of(data, where, "plan", (VERSION,))
    arrays = _arrays(where, header.pop("arrays", None), most)
    contents = Contents(where, header, arrays, most, "plan")
    with contents.blamed():
        return Saved(_plan(contents), header.get("graph", ""))


def _arrays(where: Path, entries: object, limit: int) -> Arrays:
    if not isinstance(entries, dict):
        raise SavedStateError(f"{where} is not a consistent saved plan: it has no arrays")
    arrays, left = {}, limit
    for name, entry in entries.items():
        array = _decoded(where, name, entry, left)
        arrays[name], left = array, left - array.nbytes
    return arrays


def _decoded(where: Path, name: str, entry: object, left: int) -> npt.NDArray[Any]:
    """One array; nothing is allocated before its size is known and within the limit."""

    def refuse(why: str) -> NoReturn:
        raise SavedStateError(f"{where} is not a consistent saved plan: {name!s:.50} {why}")

    if not isinstance(entry, dict) or str(entry.get("type")) not in TYPES:
        refuse("is no array")
    kind, shape, fill = TYPES[entry["type"]], entry.get("shape"), "fill" in entry
    dtype: Any = np.dtype(entry["type"])
    if (
        not isinstance(shape, list)
        or len(shape) > 4
        or any(type(size) is not int or not 0 <= size < 2**40 for size in shape)
    ):
        refuse(f"has the shape {shape!r:.50}")
    size = prod(shape)
    if size * dtype.itemsize > left:
        refuse(f"asks for {size * dtype.itemsize:,} bytes of memory, more than are left of the limit")
    values = [entry["fill"]] if fill else entry.get("values")
    if len(entry) != 3 or not isinstance(values, list) or len(values) != (1 if fill else size):
        refuse(f"does not have the {size} values of its shape")
    if kind is float:
        values = [INFINITE.get(value, value) if type(value) is str else value for value in values]
    wrong = [value for value in values if type(value) is not kind]  # nothing is rounded
    if kind is int and not wrong:  # nor wrapped around
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        wrong = [value for value in values if not least <= value <= most]
    if wrong:
        refuse(f"holds {wrong[0]!r:.50}, which is no {dtype}")
    return np.full(shape, values[0], dtype=dtype) if fill else np.array(values, dtype=dtype).reshape(shape)


def _plan(contents: Contents) -> Plan:
    header = contents.header
    if header.get("realization") == "doubling":
        contents.refuse(STAGED)
    if unknown := sorted(set(header) - {*HEADER, *DESCRIBED}):
        contents.refuse(f"{unknown[0]!s:.50} has no meaning here")
    considered, note = _considered(contents), contents.field("note", str)
    contents.header = {"plan": {name: header.get(name) for name in DESCRIBED}, "base": header.get("base")}
    modernised(contents)
    plan = read_plan(contents, contents.header["plan"])
    plan = replace(plan, details=replace(plan.details, considered=considered, note=note))
    name = header.get("graph", "graph")
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= MOST_NAME:
        contents.refuse(f"graph must be a name of 1 to {MOST_NAME} characters, got {name!r:.50}")
    contents.finish()
    return plan


def _considered(contents: Contents) -> tuple[Considered, ...]:
    kinds = {"partition": str, "realization": str, "value": float, "certified": bool}
    entries = contents.field("considered", list)
    for entry in entries:
        if not isinstance(entry, Mapping) or {key: type(value) for key, value in entry.items()} != kinds:
            contents.refuse(f"{entry!r:.50} is no candidate that was considered")
    return tuple(Considered(**entry) for entry in entries)
