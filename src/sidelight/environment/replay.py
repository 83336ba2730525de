"""Recorded losses by path."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from sidelight._check import checked_count
from sidelight._types import Floats
from sidelight.environment.matrix import Matrix
from sidelight.environment.spelling import Written, spelled
from sidelight.environment.tables import read_table
from sidelight.errors import InvalidOption

__all__ = ["replay"]


def _read(written: Written) -> Matrix:
    named, repeat = written.named(1)
    return replay(named[0], repeat=repeat, rounds=written.horizon)


@spelled("replay:PATH[,repeat]", _read)
def replay(path: str | os.PathLike[str], repeat: bool = False, rounds: int | None = None) -> Matrix:
    """Losses of a file, one row per round and one column per arm, all in [0, 1].

        .npy             mapped, not loaded, if it holds float64 in C order; other numbers are converted
        .csv, .csv.gz    text, with or without a header

    Only the first `rounds` rows are looked at, if given. `repeat` starts over after the last row.
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidOption(f"replay needs the path of a .npy, .csv or .csv.gz file, got {path!r}")
    file = Path(path)
    most = None if rounds is None else checked_count("rounds", rounds)
    name = file.name.lower()
    if name.endswith(".npy"):
        return Matrix(_mapped(file)[:most], repeat=repeat, name=str(file))
    if name.endswith((".csv", ".csv.gz")):
        return Matrix(read_table(file, rows=most, least=0.0, most=1.0).values, repeat=repeat, name=str(file))
    raise InvalidOption(
        f"cannot replay {file}: its name must end in .npy, .csv or .csv.gz, got {file.name!r}"
    )


def _mapped(file: Path) -> Floats:
    try:
        table = np.load(file, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError as error:
        raise InvalidOption(f"{file} does not exist") from error
    except (OSError, ValueError, EOFError) as error:
        raise InvalidOption(
            f"{file} cannot be read as an array: {error}; write it with numpy.save"
        ) from error
    if not isinstance(table, np.ndarray) or table.ndim != 2 or table.dtype.kind not in "fiub":
        shape, dtype = getattr(table, "shape", "?"), getattr(table, "dtype", "?")
        raise InvalidOption(
            f"{file} must hold a matrix of numbers (rounds, arms), got shape {shape} of {dtype}"
        )
    mapped: Floats = table
    return mapped
