"""One hand-written kernel per instance, with everything about that instance hard-wired.

What the general engine is measured against: the same algorithms on `prototype_simplex`. Like every rival they
have `probabilities`, `learn(arm, losses)` and `play(rounds)`; see `agreement`.
"""

import numpy as np
from benchmarks.rivals.prototype_simplex import (
    LAMBDA,
    Arrays,
    bucket_at,
    opened,
    raise_item,
    sample,
    solve,
)
from numba import njit

from sidelight.environment.environment import environment_key
from sidelight.kernels.pointers import cells
from sidelight.kernels.random import arm_unit, round_word, seeded_words

compiled = njit(error_model="numpy", _nrt=False)


class Prototype:
    """What all have in common: a player's stream and a stream of losses."""

    def __init__(self, plan, means, seed):
        self.means = np.ascontiguousarray(means)
        self.words = seeded_words(seed)
        self.key = environment_key(seed)
        self.round = 0

    def stream(self, rounds):
        """The arguments that end every `*_play`."""
        begin, self.round = self.round, self.round + rounds
        return self.means, self.key, self.words[0], self.words[1], begin, self.round


# -- C: bandit ----------------------------------------------------------------------------------------


@compiled
def bandit_learn(items, names, place, spare, spare_names, start, numbers, rate, arm, loss):
    s = opened(items, names, place, spare, spare_names, start, numbers, False, False)
    at = 0
    while s.name[2 * at + 1] != arm:  # played, the place is known: no need to keep it
        at += 1
    if loss > 0.0:
        d = s.numbers[LAMBDA] + s.key[2 * at]
        raise_item(s, bucket_at(s, at), at, rate * loss * (d * d))
        solve(s)


@compiled
def bandit_play(
    items, names, place, spare, spare_names, start, numbers, rate, means, key, first, step, begin, end
):
    s = opened(items, names, place, spare, spare_names, start, numbers, False, False)
    mean = cells(means, 0, means.size)
    for t in range(begin, end):
        b, at = sample(s, first, step, t, 0)
        arm = s.name[2 * at + 1]
        if arm_unit(round_word(key, t), arm) < mean[arm]:
            d = s.numbers[LAMBDA] + s.key[2 * at]
            raise_item(s, b, at, rate * (d * d))
            solve(s)


class Bandit(Prototype):
    def __init__(self, plan, means, seed):
        super().__init__(plan, means, seed)
        self.rate = float(plan.tuning.top_rate[0])
        self.simplex = Arrays(plan.graph.n_arms, tracked=False, rooted=False)

    @property
    def probabilities(self):
        return (self.simplex.multiplier + self.simplex.sums()) ** -2.0

    def learn(self, arm, losses):
        bandit_learn(*self.simplex.all, self.rate, arm, losses[0])

    def play(self, rounds):
        bandit_play(*self.simplex.all, self.rate, *self.stream(rounds))


RIVALS = {"C": Bandit}
