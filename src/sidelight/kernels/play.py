"""Many rounds of the engine against losses made on demand."""

import math
from typing import NamedTuple

import numpy as np
from numba import cfunc

from sidelight.kernels._jit import kernel, step
from sidelight.kernels.engine import ask, learn
from sidelight.kernels.memory import SEEN_BY_OTHERS, unpack
from sidelight.kernels.random import arm_unit, round_word

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
def reveal(machine, world, function, word, t, arm, losses):
    """Write the losses that `arm` reveals in the engine's order; False if one is outside [0, 1]."""
    at = 0
    start = machine.out_indptr[arm]
    n_explicit = machine.out_indptr[arm + 1] - start
    for index in range(n_explicit + machine.universal.size):
        if index < n_explicit:
            v = machine.out_indices[start + index]
        else:
            v = machine.universal[index - n_explicit]
            if v == arm and machine.seen_how[v] == SEEN_BY_OTHERS:
                continue
        loss = loss_of(world, function, word, t, v)
        if not 0.0 <= loss <= 1.0:
            return False
        losses[at] = loss
        at += 1
    return True


@step()
def flip_coins(world, word, t, arm, losses):
    """`reveal` for coins on a loop-less clique: all arms but `arm`, without a branch."""
    row = (t // world.period) % world.rows if world.rows > 1 else 0
    means = world.table[row]
    for i in range(means.size):
        losses[i] = 1.0 if arm_unit(word, i) < means[i] else 0.0
    for i in range(arm, means.size - 1):
        losses[i] = losses[i + 1]


@kernel()
def play(memory, world, function, key, first, last, cost, losses, plays):
    """Play rounds first..last; return `cost` plus theirs, means where they are known, NaN for a bad loss.

    Going on from the cost so far makes the sum independent of where the rounds are split.

    `losses` is scratch for what one arm reveals and one more; `plays`, unless empty, counts plays by arm.
    """
    machine, state, store = unpack(memory)
    for t in range(first, last):
        arm = ask(machine, state, store)
        word = round_word(key, t)
        if machine.broadcast and world.kind == COINS:
            flip_coins(world, word, t, arm, losses)
        elif not reveal(machine, world, function, word, t, arm, losses):
            return math.nan
        if world.kind == FUNCTION:
            cost += function(t, arm)
        else:
            cost += mean_of(world, t, arm)
        if plays.size > 0:
            plays[arm] += 1
        learn(machine, state, store, arm, losses)
    return cost


@kernel()
def total_losses(function, first, last, totals):
    """Add the losses of every arm in rounds first..last to totals; return how many were outside [0, 1]."""
    outside = 0.0
    for t in range(first, last):
        for arm in range(totals.size):
            loss = function(t, arm)
            if not (0.0 <= loss <= 1.0):
                outside += 1.0
            totals[arm] += loss
    return outside
