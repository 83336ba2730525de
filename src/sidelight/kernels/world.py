"""Where losses come from: coins, tables and functions, asked for one arm and one round at a time."""

from typing import NamedTuple

import numpy as np
from numba import cfunc

from sidelight.kernels._jit import step
from sidelight.kernels.pointers import cells
from sidelight.kernels.random import arm_unit

COINS, TABLE, FUNCTION = range(3)
"""Losses are coin flips with given means, entries of a table, or values of a compiled function."""


class World(NamedTuple):
    """Where losses come from."""

    kind: int
    period: int  # coins: rounds for which one row of means is in force
    rows: int  # rows of the table; coins use row (t // period) mod rows, a table row t mod rows
    table: np.ndarray  # (rows, n) means or losses


@cfunc("float64(int64, int64)", cache=True)
def no_function(round_, arm):
    """Stands in for the loss function where there is none."""
    return 0.0


@step()
def mean_of(world, t, arm):
    """Expected loss of an arm for coins, the loss itself for a table."""
    row = (t // world.period) % world.rows if world.rows > 1 else 0
    return world.table[row, arm]


@step()
def loss_of(world, function, word, t, arm):
    """The loss of an arm in round t; `word` is the random word of the round."""
    if world.kind == FUNCTION:
        return function(t, arm)
    mean = mean_of(world, t, arm)
    if world.kind == TABLE:
        return mean
    return 1.0 if arm_unit(word, arm) < mean else 0.0


@step()
def cost_of(world, function, t, arm):
    """What playing an arm costs in the sense of the regret: its mean where known, else its loss."""
    if world.kind == FUNCTION:
        return function(t, arm)
    return mean_of(world, t, arm)


@step()
def row_of(world, t):
    """The means in force in round t."""
    row = (t // world.period) % world.rows if world.rows > 1 else 0
    return cells(world.table[row], 0, world.table.shape[1])


@step()
def flip_coins(means, word, first, size, losses):
    """Coins of `size` arms from `first` on, without a branch."""
    for i in range(size):
        losses[i] = 1.0 if arm_unit(word, first + i) < means[first + i] else 0.0
