"""A user's own losses: a function loss(round, arm), compiled or not, given or named by module or file."""

from __future__ import annotations

import importlib
import inspect
import runpy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight._check import checked_count, checked_path
from sidelight._types import Floats, Longs
from sidelight.engine.losses import FUNCTION, World
from sidelight.engine.play import total_losses
from sidelight.environment.base import Environment, frozen, running_totals
from sidelight.errors import InvalidOption
from sidelight.graph import FeedbackGraph

Loss = Callable[..., float]
SAMPLED_ROUNDS, SAMPLED_ARMS = 32, 8
"""So many rounds and arms are asked for twice, to see whether a function repeats itself."""


@dataclass(frozen=True, eq=False, repr=False)
class Function(Environment):
    """Losses loss(round, arm) in [0, 1], the same for every seed, or loss(seed, round, arm).

    A function compiled with `numba.njit` runs inside the engine; any other callable, and every seeded one, is called
    from Python, round by round. The comparator needs the losses of all arms in all rounds: n × T evaluations.
    """

    loss: Loss
    n_arms: int
    seeded: bool = False
    name: str = "function"

    def __post_init__(self) -> None:
        if not callable(self.loss):
            raise InvalidOption(f"loss must be a function (round, arm) -> loss, got {self.loss!r}")
        checked_count("n_arms", self.n_arms)
        object.__setattr__(self, "same_costs", not self.seeded)

    def losses(self, seed: int, round_: int, arms: npt.ArrayLike) -> Floats:
        """Values of the function."""
        chosen = np.asarray(arms, dtype=np.int64)
        loss = partial(self.loss, seed) if self.seeded else self.loss
        return np.array([loss(round_, int(arm)) for arm in chosen], dtype=np.float64)

    def check_horizon(self, horizon: int) -> None:
        """Refuse a function that gives one arm two losses in the same round: policies would play different games."""
        super().check_horizon(horizon)
        arms = np.unique(np.linspace(0, self.n_arms - 1, SAMPLED_ARMS).astype(np.int64))
        for t in np.unique(np.linspace(0, horizon - 1, SAMPLED_ROUNDS).astype(np.int64)).tolist():
            once, again = self.losses(0, t, arms), self.losses(0, t, arms)
            differs = ~((once == again) | (np.isnan(once) & np.isnan(again)))
            if differs.any():
                first = int(np.argmax(differs))
                raise InvalidOption(
                    f"the loss function gave arm {arms[first]} {once[first]:g} in round {t}, and {again[first]:g}"
                    " when asked again: losses are fixed before the game, so that every policy meets the same. For"
                    " random losses write function(loss, n_arms, seeded=True) with loss(seed, round, arm), and draw"
                    " from numpy.random.default_rng((seed, round, arm)); for coins there is environments.bernoulli"
                )

    def totals(self, rounds: Longs, seed: int = 0) -> Floats:
        """(len(rounds), n) total loss of every arm: n × T evaluations."""
        return running_totals(rounds, self.n_arms, partial(self._add, seed))

    def _add(self, seed: int, first: int, last: int, sums: Floats) -> None:
        if self.world is None:
            for t in range(first, last):
                sums += self.losses(seed, t, np.arange(self.n_arms))
        elif total_losses(self.function, first, last, sums) > 0.0:
            raise InvalidOption(f"the loss function left [0, 1] in rounds {first}..{last - 1}")

    @property
    def world(self) -> World | None:
        """Where the kernels call the function themselves; None for what only Python can call."""
        if self.seeded or not hasattr(self.loss, "py_func"):
            return None
        return World(FUNCTION, 1, 1, frozen(np.zeros((1, 1))))

    @cached_property
    def function(self) -> Any:
        """The function behind a plain pointer, so that the engine need not be compiled anew for it."""
        from numba import cfunc

        loss = self.loss

        def call(round_, arm):  # type: ignore[no-untyped-def]
            return loss(round_, arm)

        return cfunc("float64(int64, int64)")(call)


def function(loss: Loss, n_arms: int, *, seeded: bool = False) -> Function:
    """Environment from a function loss(round, arm); compile it with `numba.njit` to run at full speed.

    Asked again for the same round and arm, a function must give the same loss. With `seeded`, it is one of
    (seed, round, arm), for random losses of one's own:

    >>> import numpy as np
    >>> import sidelight as sl
    >>> def beta(seed, t, arm):
    ...     return np.random.default_rng((seed, t, arm)).beta(2, 2 + arm)
    >>> sl.environments.function(beta, 3, seeded=True).losses(seed=1, round_=7, arms=[0, 2]).round(3)
    array([0.749, 0.355])
    """
    return Function(loss, n_arms, seeded)


def own_environment(where: str, name: str, graph: FeedbackGraph, horizon: int) -> Environment:
    """Environment from the thing called `name` in the module or file `where` (a path ending in .py).

    It may be an Environment, a function loss(round, arm), compiled or not, or one of (graph, horizon) that
    makes an Environment; parameters with these two names tell the last from the others.
    """
    there = _contents(where)
    if name not in there:
        names = ", ".join(sorted(key for key in there if not key.startswith("_"))) or "nothing"
        raise InvalidOption(f"{where} has nothing called {name!r}; it has: {names}")
    thing = there[name]
    if callable(thing) and _parameters(thing) == ["graph", "horizon"]:
        try:
            thing = thing(graph, horizon)
        except Exception as error:
            raise InvalidOption(f"{name} of {where} failed: {type(error).__name__}: {error}") from error
    if isinstance(thing, Environment):
        return thing
    if callable(thing) and not isinstance(thing, type):
        return function(thing, graph.n_arms)
    raise InvalidOption(
        f"{name} of {where} must be an environment or a function of (round, arm), got {type(thing).__name__}"
    )


def _contents(where: str) -> dict[str, Any]:
    """Whatever a module or file defines, by name; both are run for it."""
    is_file = where.endswith(".py")
    if is_file and not checked_path("a Python file", where).is_file():
        raise InvalidOption(f"{where} does not exist; write the path of a Python file")
    try:
        if is_file:
            return runpy.run_path(where, run_name=f"sidelight_own_{Path(where).stem}")
        return vars(importlib.import_module(where))
    except (Exception, SystemExit) as error:
        raise InvalidOption(f"cannot import {where}: {type(error).__name__}: {error}") from error


def _parameters(thing: Any) -> list[str]:
    try:
        return list(inspect.signature(getattr(thing, "py_func", thing)).parameters)
    except (TypeError, ValueError):
        return []
