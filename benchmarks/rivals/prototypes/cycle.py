"""B: an undirected cycle as one block, adaptive."""

from typing import NamedTuple

import numpy as np
from benchmarks.rivals.prototypes.shared import FAR, Prototype, compiled
from benchmarks.rivals.prototypes.simplex import (
    FUSED,
    LAMBDA,
    SHIFTED,
    Arrays,
    bucket_at,
    hot,
    opened,
    propose,
    raise_item,
    root_sum,
    sample,
    sample_root,
    solve,
    unit,
)
from numba import types

from sidelight.engine._numba.pointers import pointer, prefetch
from sidelight.engine.random import arm_unit, round_word

AHEAD_CYCLE = 6

MARGIN = 4
"""Arms at either end of the cycle that also stand beyond the other end."""


class Circle(NamedTuple):
    """What is kept by arm, as neighbours are read together: arm v at v + MARGIN."""

    n: int
    key: types.CPointer  # sums once more
    after: types.CPointer  # 1 where the next arm explores for the arm, 0 where the one before does
    root: types.CPointer  # scratch
    rate: float
    coefficient: float


@hot()
def circle_of(s, key, after, root, rate, coefficient):
    return Circle(
        s.n,
        pointer(key, 0, key.size),
        pointer(after, 0, after.size),
        pointer(root, 0, root.size),
        rate,
        coefficient,
    )


@hot()
def roots_around(s, c, arm):
    """Write 1/d of the arms around one into c.root: MARGIN before it, itself at MARGIN, three after it."""
    key, root = c.key, c.root
    multiplier = s.numbers[LAMBDA]
    for i in range(2 * MARGIN):
        root[i] = 1.0 / (multiplier + key[arm + i])


@hot(fastmath=FUSED)
def seen(c, arm, v, rest):
    """The probability that v, a neighbour of arm, is seen: that of v's two neighbours."""
    at = v + MARGIN  # among all
    i = at - arm  # among the roots
    root = c.root
    roots = root[i] + c.after[at - 2] * root[i - 2] + (1 - c.after[at + 2]) * root[i + 2]
    return rest * (root[i - 1] * root[i - 1] + root[i + 1] * root[i + 1]) + c.coefficient * roots


@hot()
def raise_arm(s, c, v, amount):
    place = s.place[v]
    raise_item(s, bucket_at(s, place), place, amount)
    c.key[v + MARGIN] += amount
    if v < MARGIN:
        c.key[v + MARGIN + c.n] += amount
    elif v >= c.n - MARGIN:
        c.key[v + MARGIN - c.n] += amount


@hot()
def move_on(s, c):
    """Find λ; returns what is left of a round after exploration."""
    solve(s)
    if s.numbers[SHIFTED] != 0.0:
        for i in range(c.n + 2 * MARGIN):
            c.key[i] += s.numbers[SHIFTED]
        s.numbers[SHIFTED] = 0.0
    return 1.0 - c.coefficient * root_sum(s)


@hot()
def next_arm(c, arm):
    return arm + 1 if arm + 1 < c.n else 0


@hot()
def last_arm(c, arm):
    return arm - 1 if arm > 0 else c.n - 1


@hot()
def guardian(c, arm):
    """The neighbour that explores for an arm."""
    return next_arm(c, arm) if c.after[arm + MARGIN] == 1 else last_arm(c, arm)


@hot()
def update(s, c, arm, low, high, rest):
    """The arms before and after the played one lost `low` and `high`, not both 0; returns the new rest."""
    u, v = last_arm(c, arm), next_arm(c, arm)
    roots_around(s, c, arm)
    amount = c.rate * low / seen(c, arm, arm - 1, rest)
    other = c.rate * high / seen(c, arm, arm + 1, rest)
    if low == 0.0:  # what comes out of these lines is chosen, not branched to
        u, amount = v, other
    raise_arm(s, c, u, amount)
    if low > 0.0 and high > 0.0:
        raise_arm(s, c, v, other)
    return move_on(s, c)


@compiled
def cycle_learn(
    items,
    names,
    place,
    spare,
    spare_names,
    start,
    numbers,
    sums,
    after,
    root,
    rate,
    coefficient,
    arm,
    low,
    high,
):
    s = opened(items, names, place, spare, spare_names, start, numbers, True, True)
    c = circle_of(s, sums, after, root, rate, coefficient)
    if arm == 0 or arm == c.n - 1:  # told in ascending order, not in the order of the circle
        low, high = high, low
    if low + high > 0.0:
        update(s, c, arm, low, high, 1.0 - coefficient * root_sum(s))


@compiled
def cycle_play(
    items,
    names,
    place,
    spare,
    spare_names,
    start,
    numbers,
    sums,
    after,
    root,
    rate,
    coefficient,
    means,
    key,
    first,
    step,
    begin,
    end,
):
    s = opened(items, names, place, spare, spare_names, start, numbers, True, True)
    c = circle_of(s, sums, after, root, rate, coefficient)
    mean = pointer(means, 0, means.size)
    rest = 1.0 - coefficient * root_sum(s)
    far = s.n >= FAR
    place1 = place2 = arm1 = arm2 = 0
    for t in range(begin, end):
        if far:  # in three steps: the item proposed, what its arm needs, the items of its neighbours
            prefetch(s.key, 2 * s.place[last_arm(c, arm2)])
            prefetch(s.key, 2 * s.place[next_arm(c, arm2)])
            arm2, arm1 = arm1, s.name[2 * place2 + 1]
            prefetch(c.key, arm1)
            prefetch(c.key, arm1 + 2 * MARGIN - 1)
            prefetch(s.place, arm1)
            prefetch(c.after, arm1)
            prefetch(mean, arm1)
            place2 = place1
            _, place1 = propose(s, first, step, t + AHEAD_CYCLE, 1)
            prefetch(s.key, 2 * place1)
        if unit(first, step, t, 0) < rest:
            _, at = sample(s, first, step, t, 1)
            arm = s.name[2 * at + 1]
        else:
            _, at = sample_root(s, first, step, t, 1)
            arm = guardian(c, s.name[2 * at + 1])
        word = round_word(key, t)
        u, v = last_arm(c, arm), next_arm(c, arm)
        low = 1.0 if arm_unit(word, u) < mean[u] else 0.0
        high = 1.0 if arm_unit(word, v) < mean[v] else 0.0
        if low + high > 0.0:
            rest = update(s, c, arm, low, high, rest)


class Cycle(Prototype):
    def __init__(self, plan, means, seed):
        super().__init__(plan, means, seed)
        n = plan.graph.n_arms
        parent = plan.tuning.parent
        after = (parent == (np.arange(n) + 1) % n).astype(np.int8)
        if not np.array_equal(parent, (np.arange(n) + np.where(after == 1, 1, -1)) % n):
            raise ValueError(f"not a cover of the cycle by neighbours: {parent}")
        self.after = np.pad(after, MARGIN, mode="wrap")
        self.sums = np.zeros(n + 2 * MARGIN)
        self.root = np.zeros(2 * MARGIN)
        self.rates = float(plan.tuning.inner_rate[0]), float(plan.tuning.adaptive[0])
        self.simplex = Arrays(n, tracked=True, rooted=True)

    @property
    def probabilities(self):
        root = 1.0 / (self.simplex.multiplier + self.sums[MARGIN - 1 : 1 - MARGIN])
        after = self.after[MARGIN - 1 : 1 - MARGIN]
        coefficient = self.rates[1]
        explored = coefficient * ((after * root)[:-2] + ((1.0 - after) * root)[2:])
        return (1.0 - coefficient * root[1:-1].sum()) * root[1:-1] ** 2 + explored

    def state(self):
        return *self.simplex.all, self.sums, self.after, self.root, *self.rates

    def learn(self, arm, losses):
        cycle_learn(*self.state(), arm, *losses)

    def play(self, rounds):
        cycle_play(*self.state(), *self.stream(rounds))
