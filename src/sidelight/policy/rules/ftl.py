"""Follow the leader on observations: greed, for comparison."""

from __future__ import annotations

import math

from sidelight.engine._numba.jit import internal
from sidelight.engine.rules import add_losses, note_certain, rule_kernels
from sidelight.policy.rule import Certain


@internal()
def choose(state):
    """The first arm of least mean; an arm never seen has mean 0."""
    best, least = 0, math.inf
    for i in range(state.counts.size):
        seen = state.counts[i]
        mean = state.sums[i] / seen if seen > 0.0 else 0.0
        if mean < least:
            best, least = i, mean
    return best


class ftl(Certain):
    """Plays the arm of least mean observed loss; an arm never seen counts as loss 0, ties go to the lowest arm.

    On any graph. It never explores on purpose: regret is linear in the worst case, and an arm that does not reveal
    itself may be played for ever on no evidence. No bound is claimed.

    >>> import sidelight as sl
    >>> policy = sl.baselines.ftl(sl.families.mab(2)).policy()
    >>> policy.ask()
    0
    >>> policy.tell([1.0])
    >>> policy.ask()
    1
    """

    name = "ftl"
    kernels = rule_kernels(name, choose, note_certain, add_losses)
    needs_loops = False
