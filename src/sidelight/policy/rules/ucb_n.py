"""UCB-N: optimism about every arm, updated by every observation."""

from __future__ import annotations

import math

from sidelight.engine._numba.jit import internal
from sidelight.engine.rules import add_losses, note_certain, numbers_of, rule_kernels
from sidelight.policy.rule import Certain


@internal()
def choose(state):
    """The first arm of least mean − √(2 log t/count), which is −∞ for an arm never seen."""
    width = 2.0 * math.log(numbers_of(state).round + 1.0)
    best, least = 0, math.inf
    for i in range(state.counts.size):
        seen = state.counts[i]
        index = state.sums[i] / seen - math.sqrt(width / seen) if seen > 0.0 else -math.inf
        if index < least:
            best, least = i, index
    return best


class ucb_n(Certain):
    """Plays the arm of least mean − √(2 log t/O_i), O_i its observations; arms never seen come first.

    For stochastic losses: regret O(log T) with a constant that depends on the gaps and on a clique cover
    (Caron, Kveton, Lelarge & Bhagat 2012). No bound is claimed, and none exists against an adversary. Every arm
    must reveal itself. Ties go to the lowest arm; the policy draws nothing at random.

    >>> import sidelight as sl
    >>> sl.baselines.ucb_n(sl.families.mab(3)).policy(seed=1).ask()
    0
    """

    name = "ucb_n"
    kernels = rule_kernels(name, choose, note_certain, add_losses)
