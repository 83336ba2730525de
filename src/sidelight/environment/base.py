"""What an environment promises, and the parts that every compiled environment shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._types import Floats, Longs
from sidelight.engine.losses import World, no_function
from sidelight.engine.random import fill_hashed_units
from sidelight.errors import InvalidOption

__all__ = ["Environment"]


class Environment(ABC):
    """Losses in [0, 1] of every arm in every round, fixed before the game (an oblivious adversary).

    The loss of an arm in a round is a function of (seed, round, arm): it can be asked for in any order, no
    matrix is stored, and two policies that meet the same seed meet the same losses.
    """

    n_arms: int
    same_costs: bool = True  # are costs, unlike losses, the same for every seed?

    @abstractmethod
    def losses(self, seed: int, round_: int, arms: npt.ArrayLike) -> Floats:
        """The losses of `arms` in round `round_` = 0, 1, … of the run with this seed."""

    @abstractmethod
    def costs(self, seed: int, round_: int, arm: int) -> float:
        """What playing `arm` costs in the sense of the regret: its mean where known, else its loss."""

    @abstractmethod
    def totals(self, rounds: Longs, seed: int = 0) -> Floats:
        """(len(rounds), n) cost of playing each arm in all rounds before each of `rounds`."""

    def best_totals(self, rounds: Longs, seed: int = 0) -> Floats:
        """The cost of the best fixed arm over the rounds before each of `rounds`."""
        best: Floats = self.totals(rounds, seed).min(axis=1)
        return best

    def best_arm(self, horizon: int, seed: int = 0) -> int:
        """The comparator: the first arm of least total cost over the horizon."""
        return int(np.argmin(self.totals(np.array([horizon]), seed)[0]))

    def check_horizon(self, horizon: int) -> None:
        """Refuse horizons for which there are no losses."""
        return

    @property
    def world(self) -> World | None:
        """The same losses for the compiled kernels, or None if only Python can make them."""
        return None

    @property
    def function(self) -> Any:
        """The compiled loss function that goes with `world`."""
        return no_function


@lru_cache(maxsize=4096)
def environment_key(seed: int) -> np.uint64:
    """The key of the losses of a run: independent of the player's own stream for the same seed."""
    return np.uint64(np.random.SeedSequence(seed, spawn_key=(1,)).generate_state(1, np.uint64)[0])


def arm_units(seed: int, round_: int, arms: npt.ArrayLike) -> Floats:
    """The random numbers in [0, 1) that belong to `arms` in a round, the same that the kernels use."""
    chosen = np.asarray(arms, dtype=np.int64)
    units = np.empty(chosen.shape)
    fill_hashed_units(environment_key(seed), round_, chosen, units)
    return units


def coin_losses(seed: int, round_: int, arms: npt.ArrayLike, means: Floats) -> Floats:
    """Coin flips with `means` (aligned with `arms`)."""
    return (arm_units(seed, round_, arms) < means).astype(np.float64)


def flat_means(means: npt.ArrayLike) -> Floats:
    """Means of all arms as a table of one row of its own."""
    values = checked_numbers(means, "means").copy()
    if values.ndim != 1 or values.size == 0:
        raise InvalidOption(f"means must be a flat, non-empty sequence, got shape {values.shape}")
    return values[None, :]


def checked_numbers(values: npt.ArrayLike, what: str) -> Floats:
    """`values` as an array of floats, or an error that shows them."""
    try:
        return np.asarray(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise InvalidOption(f"{what} must be numbers in [0, 1], got {values!r} ({error})") from None


def checked_arms(values: Any, n_arms: int, what: str) -> Longs:
    """A non-empty list of indices in 0..n_arms−1, repetitions allowed."""
    arms = np.asarray(values)
    whole = arms.ndim == 1 and arms.size > 0 and arms.dtype.kind in "iu"
    if not (whole and arms.min() >= 0 and arms.max() < n_arms):
        raise InvalidOption(f"{what} must be whole numbers in 0..{n_arms - 1}, got {values!r}")
    return arms.astype(np.int64)


def checked_unit_table(values: npt.ArrayLike, what: str) -> Floats:
    """A read-only (rows, n) array of numbers in [0, 1], or an error naming the first that is not."""
    table = checked_numbers(values, what)
    if table.ndim != 2 or table.size == 0:
        raise InvalidOption(f"{what} must be a non-empty matrix (rows, arms), got shape {table.shape}")
    rows = max(1, 10**6 // table.shape[1])
    for first in range(0, len(table), rows):  # in pieces: the table may be a memory map
        piece = table[first : first + rows]
        inside = (piece >= 0.0) & (piece <= 1.0)
        if not inside.all():
            row, arm = np.argwhere(~inside)[0]
            raise InvalidOption(
                f"{what}: row {first + row}, arm {arm} must be in [0, 1], got {piece[row, arm]}"
            )
    return frozen(table)


def frozen(table: Floats) -> Floats:
    """A read-only view: the kernels are compiled for one kind of array only."""
    view: Floats = np.asarray(table).view()
    view.flags.writeable = False
    return view
