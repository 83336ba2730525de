"""A user's own losses: a compiled function loss(round, arm), or any Python callable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._check import checked_count
from sidelight._types import Floats, Longs
from sidelight.engine.losses import FUNCTION, World
from sidelight.engine.play import total_losses
from sidelight.environment.base import Environment, frozen
from sidelight.errors import InvalidOption

__all__ = ["Function", "function"]

Loss = Callable[[int, int], float]


@dataclass(frozen=True, eq=False)
class Function(Environment):
    """Losses loss(round, arm) in [0, 1], the same for every seed.

    A function compiled with `numba.njit` runs inside the engine; any other callable is called from Python,
    round by round. The comparator needs the losses of all arms in all rounds: n × T evaluations.
    """

    loss: Loss
    n_arms: int
    name: str = "function"

    def __post_init__(self) -> None:
        if not callable(self.loss):
            raise InvalidOption(f"loss must be a function (round, arm) -> loss, got {self.loss!r}")
        checked_count("n_arms", self.n_arms)

    def losses(self, seed: int, round_: int, arms: npt.ArrayLike) -> Floats:
        """Values of the function."""
        chosen = np.asarray(arms, dtype=np.int64)
        return np.array([self.loss(round_, int(arm)) for arm in chosen], dtype=np.float64)

    def costs(self, seed: int, round_: int, arm: int) -> float:
        """The loss itself."""
        return float(self.loss(round_, arm))

    def totals(self, rounds: Longs, seed: int = 0) -> Floats:
        """(len(rounds), n) total loss of every arm: n × T evaluations."""
        out = np.zeros((rounds.size, self.n_arms))
        running = np.zeros(self.n_arms)
        reached = 0
        for index in np.argsort(rounds, kind="stable"):
            self._add_losses(reached, int(rounds[index]), running)
            reached = int(rounds[index])
            out[index] = running
        return out

    def _add_losses(self, first: int, last: int, running: Floats) -> None:
        if self.world is not None:
            if total_losses(self.function, first, last, running) > 0.0:
                raise InvalidOption(f"the loss function left [0, 1] in rounds {first}..{last - 1}")
            return
        for t in range(first, last):
            running += self.losses(0, t, np.arange(self.n_arms))

    @property
    def world(self) -> World | None:
        """Where the kernels call the function themselves; None for a plain Python callable."""
        if not hasattr(self.loss, "py_func"):
            return None
        return World(FUNCTION, 1, 1, frozen(np.zeros((1, 1))))

    @property
    def function(self) -> Any:
        """The function behind a plain pointer, so that the engine need not be compiled anew for it."""
        return self._pointer

    @cached_property
    def _pointer(self) -> Any:
        from numba import cfunc

        loss = self.loss

        def call(round_, arm):  # type: ignore[no-untyped-def]
            return loss(round_, arm)

        return cfunc("float64(int64, int64)")(call)


def function(loss: Loss, n_arms: int) -> Function:
    """Environment from a function loss(round, arm); compile it with `numba.njit` to run at full speed."""
    return Function(loss, n_arms)
