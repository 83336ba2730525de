"""Recorded losses: a matrix, or a file that holds one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sidelight._check import checked_count, checked_path
from sidelight._types import Floats, Longs
from sidelight.engine.losses import TABLE, World
from sidelight.environment.base import Environment, running_totals
from sidelight.environment.checks import checked_numbers, checked_unit_table
from sidelight.environment.names import Written, spelled
from sidelight.environment.tables import read_table
from sidelight.errors import InvalidOption
from sidelight.log.unit import Unit
from sidelight.policy.feedback import as_losses

__all__ = ["Matrix", "matrix", "replay"]


@dataclass(frozen=True, eq=False, repr=False)
class Matrix(Environment):
    """Round t reveals entries of row t; every seed meets the same losses. Memory maps are read in place."""

    table: Floats  # (rounds, n) in [0, 1]
    repeat: bool = False
    name: str = "matrix"

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", checked_unit_table(self.table, self._called))

    @property
    def _called(self) -> str:
        return "the loss matrix" if self.name == "matrix" else self.name

    @property
    def n_arms(self) -> int:  # type: ignore[override]
        """Number of arms."""
        return int(self.table.shape[1])

    def check_horizon(self, horizon: int) -> None:
        """Refuse horizons beyond the last row, unless the matrix repeats."""
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


def _read(written: Written) -> Matrix:
    named, repeat = written.named(1)
    return replay(named[0], repeat=repeat, rounds=written.horizon)


@spelled("replay:PATH[,repeat]", _read)
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
