"""Recorded losses: a matrix, a file that holds one, and demand that orders have to meet."""

from __future__ import annotations

import csv
import gzip
import io
import os
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sidelight._check import checked_count, checked_number, checked_path, number_in
from sidelight._files import unpacking
from sidelight._types import Floats, Longs
from sidelight.engine.losses import TABLE, World
from sidelight.environment.base import (
    Environment,
    checked_numbers,
    checked_unit_table,
    flat_numbers,
    running_totals,
)
from sidelight.errors import InvalidOption
from sidelight.log.unit import Unit
from sidelight.policy.feedback import as_losses


class Table(NamedTuple):
    """Columns of a file."""

    names: tuple[str, ...]  # of the columns, "0", "1", … without a header
    values: Floats  # (rows, columns)

    def column(self, name: str) -> Floats:
        """The numbers of one column."""
        values: Floats = self.values[:, self.names.index(name)]
        return values


def read_table(
    path: str | os.PathLike[str],
    *,
    skip: Collection[str] = (),
    rows: int | None = None,
    least: float = -np.inf,
    most: float = np.inf,
) -> Table:
    """The numbers of a file, but columns named in `skip`; at most the first `rows` rows are read.

    A first line that is not all numbers is the header. A field that is no number, not finite, or outside
    least..most, and a line with more or fewer fields than the first, is an error naming row and column.
    """
    file = checked_path("a table", path)
    try:
        with io.TextIOWrapper(unpacking(file), encoding="utf-8-sig", newline="") as text:
            lines = filter(None, csv.reader(text))
            first = next(lines, [])
            header = any(number_in(field) is None for field in first)
            body = list(islice(lines if header else chain([first], lines), rows))
    except FileNotFoundError as error:
        raise InvalidOption(f"{file} does not exist") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidOption(f"{file} is damaged or was cut off: {error}; fetch it again") from error
    except (OSError, ValueError, csv.Error) as error:  # also bytes that are no text, or far too many of them
        raise InvalidOption(f"{file} cannot be read: {error}") from error
    names = [name.strip() if header else str(i) for i, name in enumerate(first)]
    columns = [i for i, name in enumerate(names) if name not in skip]
    if not any(body) or not columns:
        raise InvalidOption(f"{file} has no rows of numbers: it must hold one line of losses per round")
    values = np.empty((len(body), len(columns)))
    for row, fields in enumerate(body):
        if len(fields) != len(names):
            raise InvalidOption(
                f"{file}: row {row} has {len(fields)} columns, the first line has {len(names)}"
            )
        values[row] = [number_in(fields[i]) for i in columns]  # None becomes NaN
    wrong = np.argwhere(~(np.isfinite(values) & (values >= least) & (values <= most)))
    if wrong.size:
        row, column = int(wrong[0, 0]), columns[wrong[0, 1]]
        allowed = f"in [{least:g}, {most:g}]" if np.isfinite([least, most]).all() else "a finite number"
        raise InvalidOption(
            f"{file}: row {row}, column {column} ({names[column]!r}) must be {allowed}, got {body[row][column]!r}"
        )
    return Table(tuple(names[i] for i in columns), values)


@dataclass(frozen=True, eq=False, repr=False)
class Matrix(Environment):
    """Round t reveals entries of row t; every seed meets the same losses. Memory maps are read in place."""

    table: Floats  # (rounds, n) in [0, 1]
    repeat: bool = False
    name: str = "matrix"

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", checked_unit_table(self.table, self._called))
        object.__setattr__(self, "n_arms", int(self.table.shape[1]))

    @property
    def _called(self) -> str:
        return "the loss matrix" if self.name == "matrix" else self.name

    def check_horizon(self, horizon: int) -> None:
        """Refuse horizons beyond the last row, unless the matrix repeats."""
        super().check_horizon(horizon)
        if horizon > len(self.table) and not self.repeat:
            raise InvalidOption(
                f"{self._called} has {len(self.table)} rows, not enough for {horizon} rounds; "
                "shorten the horizon or pass repeat=True"
            )

    def losses(self, seed: int, round_: int, arms: npt.ArrayLike) -> Floats:
        """Entries of the round's row."""
        row: Floats = self.table[round_ % len(self.table)]
        return row[np.asarray(arms, dtype=np.int64)]

    def totals(self, rounds: Longs, seed: int = 0) -> Floats:
        """(len(rounds), n) total loss of every arm over the rounds before each of `rounds`."""
        cycles, within = np.divmod(rounds, len(self.table))
        whole = len(self.table) if cycles.any() else 0
        sums = running_totals(np.append(within, whole), self.n_arms, self._add)
        totals: Floats = sums[:-1] + cycles[:, None] * sums[-1]
        return totals

    def _add(self, first: int, last: int, sums: Floats) -> None:
        sums += self.table[first:last].sum(axis=0)

    @property
    def world(self) -> World:
        """The same table for the kernels."""
        return World(TABLE, 1, len(self.table), self.table)


def matrix(
    table: npt.ArrayLike,
    repeat: bool = False,
    *,
    losses: tuple[float, float] | None = None,
    rewards: tuple[float, float] | None = None,
) -> Matrix:
    """Environment that replays a loss matrix (rounds, arms) with entries in [0, 1].

    With `losses=(low, high)` or `rewards=(low, high)` entries lie in that range, and become losses in [0, 1]; regret
    times high − low is then regret in the unit of the entries.

    >>> matrix([[0.0, 1.0], [1.0, 1.0]]).best_arm(horizon=2)
    0
    >>> matrix([[0, 25], [20, 5]], rewards=(0, 25)).table.tolist()
    [[1.0, 0.0], [0.19999999999999996, 0.8]]
    """
    if losses is not None or rewards is not None:
        table = _scaled(checked_numbers(table, "the matrix"), Unit.of(losses, rewards), "the matrix")
    return Matrix(table, repeat=repeat)  # type: ignore[arg-type]


def replay(
    path: str | os.PathLike[str],
    repeat: bool = False,
    rounds: int | None = None,
    *,
    losses: tuple[float, float] | None = None,
    rewards: tuple[float, float] | None = None,
) -> Matrix:
    """Losses of a file, one row per round and one column per arm, all in [0, 1] or as `matrix` takes them.

        .npy             mapped, not loaded, if it holds float64 in C order; other numbers are converted
        .csv, .csv.gz    text, with or without a header

    Only the first `rounds` rows are looked at, if given. `repeat` starts over after the last row.
    """
    file = checked_path("a .npy, .csv or .csv.gz file of losses", path)
    most = None if rounds is None else checked_count("rounds", rounds)
    unit = Unit.of(losses, rewards)
    if file.name.lower().endswith(".npy"):
        table = _mapped(file)[:most]
    elif file.name.lower().endswith((".csv", ".csv.gz")):
        table = read_table(file, rows=most, least=unit.low, most=unit.high).values
    else:
        raise InvalidOption(
            f"cannot replay {file}: its name must end in .npy, .csv or .csv.gz, got {file.name!r}"
        )
    if losses is not None or rewards is not None:
        table = _scaled(table, unit, str(file))
    return Matrix(table, repeat=repeat, name=str(file))


def _scaled(table: Floats, unit: Unit, what: str) -> Floats:
    """Entries of a unit as losses in [0, 1]; an error names the first that is outside of its range."""
    scaled = as_losses(unit, table)
    wrong = ~np.isfinite(scaled)
    if wrong.any():
        row, arm = np.argwhere(wrong)[0]
        raise InvalidOption(
            f"{what}: row {row}, arm {arm} must be in [{unit.low:g}, {unit.high:g}], got {table[row, arm]}"
        )
    return scaled


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


def newsvendor(
    demand: npt.ArrayLike,
    orders: npt.ArrayLike,
    over: float = 1.0,
    under: float = 1.0,
    repeat: bool = False,
) -> Matrix:
    """Arm i orders orders[i]; a unit left over costs `over`, a unit short `under`. Round t has demand[t].

        cost(q, d) = over·(q − d)⁺ + under·(d − q)⁺,      loss = (cost(q, d) − under·d + under·Q)/((over + under)·Q)

    with Q the largest order. The part −under·d, the same for all orders, makes the loss a function of sales
    min(q, d): they tell the loss of every smaller order, as `families.newsvendor(len(orders))` says. Regret
    times (over + under)·Q is regret in the units of the costs.

    >>> newsvendor(demand=[1, 0, 5], orders=[0, 1, 2]).table.tolist()
    [[0.5, 0.25, 0.5], [0.5, 0.75, 1.0], [0.5, 0.25, 0.0]]
    """
    wanted, sizes = flat_numbers(demand, "demand", 0), flat_numbers(orders, "orders", 0)
    if not (np.diff(sizes) > 0).all() or sizes[-1] <= 0:
        raise InvalidOption(f"orders must increase from arm to arm, and not be all 0, got {orders!r}")
    over, under = checked_number("over", over, least=0.0), checked_number("under", under, least=0.0)
    if over + under == 0:
        raise InvalidOption(f"over and under must not both be 0, got over={over!r}, under={under!r}")
    largest = sizes[-1]
    left = np.maximum(sizes - wanted[:, None], 0.0)
    share = under / (over + under)
    losses = left / largest + share * (1.0 - sizes / largest)
    return Matrix(np.clip(losses, 0.0, 1.0), repeat=repeat, name="newsvendor")  # rounding only
