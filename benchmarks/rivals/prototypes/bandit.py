"""C: a bandit, Tsallis over all arms."""

from benchmarks.rivals.prototypes.shared import AHEAD, FAR, Prototype, compiled
from benchmarks.rivals.prototypes.simplex import (
    LAMBDA,
    Arrays,
    bucket_at,
    opened,
    propose,
    raise_item,
    sample,
    solve,
)

from sidelight.engine._numba.pointers import pointer, prefetch
from sidelight.engine.random import arm_unit, round_word


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
    mean = pointer(means, 0, means.size)
    far = s.n >= FAR
    coming = sooner = soon = 0
    for t in range(begin, end):
        if far:  # the next rounds' draws are known now: ask for the memory that they will most likely need
            prefetch(mean, s.name[2 * soon + 1])
            soon, sooner = sooner, coming
            _, coming = propose(s, first, step, t + AHEAD, 0)
            prefetch(s.key, 2 * coming)
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
