"""What an environment promises, and the checks, random numbers and sums that environments share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from sidelight._types import Bools, Floats, Longs
from sidelight.engine.losses import World, no_function
from sidelight.engine.random import fill_hashed_units
from sidelight.engine.round.probabilities import fill_edge_units
from sidelight.errors import InvalidGraph, InvalidOption
from sidelight.graph.changes import Changes

if TYPE_CHECKING:
    from sidelight.graph import FeedbackGraph


class Environment(ABC):
    """Losses in [0, 1] of every arm in every round, fixed before the game (an oblivious adversary).

    The loss of an arm in a round is a function of (seed, round, arm): it can be asked for in any order, no
    matrix is stored, and two policies that meet the same seed meet the same losses.
    """

    n_arms: int
    same_costs: bool = True  # are costs, unlike losses, the same for every seed?
    changes: Changes | None = None  # the graphs of the rounds, where they have graphs of their own

    def __repr__(self) -> str:
        name = getattr(self, "name", "")
        return f"{type(self).__name__}({f'{name!r}, ' if name else ''}{self.n_arms:,} arms)"

    @abstractmethod
    def losses(self, seed: int, round_: int, arms: npt.ArrayLike) -> Floats:
        """The losses of `arms` in round `round_` = 0, 1, … of the run with this seed."""

    def revealed(self, seed: int, round_: int, graph: FeedbackGraph, arm: int) -> Bools:
        """Which of `graph.out_neighbors(arm)` playing `arm` reveals in this round, where reveals may fail.

        Coins that are independent of the losses; `sl.simulate` flips the same.
        """
        arms = graph.out_neighbors(arm).astype(np.int64)
        if graph.certain:
            return np.ones(arms.size, dtype=bool)
        units = np.empty(arms.size)
        fill_edge_units(environment_key(seed), round_, int(arm), arms, units)
        chances = graph.reveal_probabilities(arm)
        return np.asarray((units < chances) | (chances == 1))

    def heard(self, seed: int, round_: int, graph: FeedbackGraph, arm: int) -> Floats:
        """The losses of `graph.out_neighbors(arm)` in a round as playing `arm` reveals them, NaN where that fails."""
        losses = self.losses(seed, round_, graph.out_neighbors(arm))
        return losses if graph.certain else np.where(self.revealed(seed, round_, graph, arm), losses, np.nan)

    def costs(self, seed: int, round_: int, arm: int) -> float:
        """What playing `arm` costs in the sense of the regret: its mean where known, else its loss."""
        return float(self.losses(seed, round_, [arm])[0])

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
        """Refuse horizons for which there are no losses, or no graphs where they change."""
        recorded = None if self.changes is None else self.changes.rounds
        if recorded is not None and horizon > recorded:
            raise InvalidOption(
                f"graphs are recorded for {recorded:,} rounds, not enough for {horizon:,}; shorten the horizon or"
                " pass repeat=True"
            )

    def graph_at(self, seed: int, round_: int) -> FeedbackGraph:
        """The feedback graph of a round of the run with this seed, where rounds have graphs of their own."""
        if self.changes is None:
            raise InvalidOption(f"{self!r} has no graphs of its own: they are those of the plan")
        return self.changes.graph_at(environment_key(seed), round_)

    def on(self, changes: Changes, name: str) -> Self:
        """The same losses on graphs that change."""
        for index, graph in enumerate(changes.graphs):
            if graph.n_arms != self.n_arms:
                raise InvalidGraph(
                    f"graphs[{index}] has {graph.n_arms} arms, the losses are of {self.n_arms}"
                )
        twin = copy(self)
        vars(twin).update(changes=changes, name=name)
        return twin

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


def running_totals(rounds: Longs, n_arms: int, add: Callable[[int, int, Floats], object]) -> Floats:
    """(len(rounds), n) sums over the rounds before each of `rounds`, which may come in any order.

    add(first, last, sums) adds rounds first..last−1 to the sums so far, in place.
    """
    out, sums, reached = np.empty((rounds.size, n_arms)), np.zeros(n_arms), 0
    for index in np.argsort(rounds, kind="stable"):
        add(reached, int(rounds[index]), sums)
        reached = int(rounds[index])
        out[index] = sums
    return out


Array = TypeVar("Array", bound=npt.NDArray[Any])


def checked_numbers(values: npt.ArrayLike, what: str) -> Floats:
    """`values` as an array of floats."""
    try:
        return np.asarray(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise InvalidOption(f"{what} must be numbers, got {values!r} ({error})") from None


def flat_numbers(values: npt.ArrayLike, what: str, least: float = -inf, most: float = inf) -> Floats:
    """A flat, non-empty array of floats of its own, finite and within least..most where that is asked for."""
    numbers = checked_numbers(values, what).copy()
    if numbers.ndim != 1 or numbers.size == 0:
        raise InvalidOption(f"{what} must be a flat, non-empty sequence, got shape {numbers.shape}")
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= least) & (numbers <= most)))
    if wrong.size and least > -inf:
        limits = f"in [{least:g}, {most:g}]" if most < inf else f"a finite number ≥ {least:g}"
        raise InvalidOption(f"{what}[{wrong[0]}] must be {limits}, got {numbers[wrong[0]]}")
    return numbers


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


def frozen(values: Array) -> Array:
    """A read-only view: the kernels are compiled for one kind of array only."""
    view = np.asarray(values).view()
    view.flags.writeable = False
    return view  # type: ignore[return-value]
