"""Where losses come from: coins, tables and functions, asked for one arm and one round at a time."""

from typing import NamedTuple

import numpy as np

from sidelight._types import frozen
from sidelight.engine._numba.jit import callback, inlined, internal, loop, noinline
from sidelight.engine._numba.pointers import offset, pointer
from sidelight.engine.random import ROUGH, arm_unit, rough_unit

COINS, TABLE, FUNCTION, BOUNDED, DRIFTING, OPPOSED = range(6)
"""What a loss is:

    COINS      1 with the probability of the row in force, else 0
    TABLE      the entry of the round's row
    FUNCTION   the value of a compiled function
    BOUNDED    uniform around the mean, as far as the width of the arm
    DRIFTING   coins whose means go from each row to the next in a straight line
    OPPOSED    coins of which some use the random number of another arm, or its opposite
"""


class World(NamedTuple):
    """Where losses come from. Arrays are read-only."""

    kind: int
    period: int  # rounds for which one row of means is in force; 1 for a table
    rows: int  # rows of the table; row (t // period) mod rows is in force in round t
    table: np.ndarray  # (rows, n) means or losses
    width: np.ndarray = frozen((), np.float64)  # (n,) BOUNDED: how far losses are from their mean at most
    source: np.ndarray = frozen((), np.int64)  # (n,) OPPOSED: arm whose number is used, ~arm: its opposite


@callback("float64(int64, int64)")
def no_function(round_, arm):
    """Stands in for the loss function where there is none."""
    return 0.0


@inlined()
def mean_of(world, t, arm):
    """Expected loss of an arm where it is known, the loss itself for a table."""
    if world.kind == DRIFTING:
        return drifting_mean(world, t, arm)
    # Most environments have one row; the test spares them two integer divisions per loss.
    row = (t // world.period) % world.rows if world.rows > 1 else 0
    return world.table[row, arm]


@internal()
def drifting_mean(world, t, arm):
    """On the straight line between the row of the last multiple of the period and the next row."""
    noinline()
    # Between rows the mean is interpolated, so it drifts without jumps and T × n means are never stored.
    leg = t // world.period
    share = (t - leg * world.period) / world.period
    return (1.0 - share) * world.table[leg % world.rows, arm] + share * world.table[
        (leg + 1) % world.rows, arm
    ]


@inlined()
def loss_of(world, function, word, t, arm):
    """The loss of an arm in round t; `word` is the random word of the round."""
    if world.kind == FUNCTION:
        return function(t, arm)
    # The frequent kinds first; rare ones are a call, so their code does not lengthen the hot loop.
    if world.kind >= BOUNDED:
        return other_loss(world, word, t, arm)
    mean = mean_of(world, t, arm)
    if world.kind == TABLE:
        return mean
    # u < mean with u in [0, 1): never for mean 0, always for mean 1.
    return 1.0 if arm_unit(word, arm) < mean else 0.0


@inlined()
def hear(world, function, word, t, targets, losses, count):
    """Write the losses of targets[:count] in round t; False, at the first, if one is outside [0, 1]."""
    for index in range(count):
        losses[index] = loss_of(world, function, word, t, targets[index])
        if not 0.0 <= losses[index] <= 1.0:  # also NaN
            return False
    return True


@internal()
def other_loss(world, word, t, arm):
    """`loss_of` for the kinds that may be slower: out of the way of coins."""
    noinline()
    mean = mean_of(world, t, arm)
    if world.kind == OPPOSED:
        source = world.source[arm]
        if source < 0:  # an opposite number is below the mean: u ≥ 1 − mean has the right odds at 0 and 1 too
            return 1.0 if arm_unit(word, ~source) >= 1.0 - mean else 0.0
        return 1.0 if arm_unit(word, source) < mean else 0.0
    unit = arm_unit(word, arm)
    if world.kind == BOUNDED:
        # mean ± width may leave [0, 1] by rounding, which the player would refuse.
        return min(max(mean + world.width[arm] * (2.0 * unit - 1.0), 0.0), 1.0)
    return 1.0 if unit < mean else 0.0


@inlined()
def cost_of(world, function, t, arm):
    """What playing an arm costs in the sense of the regret: its mean where known, else its loss."""
    if world.kind == FUNCTION:
        return function(t, arm)
    # Pseudo-regret: means instead of realised losses take the noise of coins out of the comparison.
    return mean_of(world, t, arm)


@inlined()
def row_of(world, t):
    """The row of the table in force in round t."""
    row = (t // world.period) % world.rows if world.rows > 1 else 0
    return pointer(world.table[row], 0, world.table.shape[1])


@loop()
def flip_coins(means, word, first, size, losses):
    """Coins of `size` arms from `first` on, without a branch.

    A rough number decides a coin but once in 2³¹ times: then all are flipped again with exact ones.
    """
    own = offset(means, first)
    undecided = 0
    for i in range(size):
        # No skipping and no early end: the loop vectorises only without a branch.
        above = own[i] - rough_unit(word, first + i)
        losses[i] = 1.0 if above > 0.0 else 0.0
        # Within ROUGH of the mean the exact number might fall on the other side.
        undecided += 1 if abs(above) < ROUGH else 0
    if undecided > 0:
        for i in range(size):
            losses[i] = 1.0 if arm_unit(word, first + i) < own[i] else 0.0
