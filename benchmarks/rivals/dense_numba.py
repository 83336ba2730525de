"""The straightforward compiled loop: every coordinate is visited every round.

The same algorithms and losses as the engine's, written the way one writes them first: Newton for the
multiplier over all coordinates, the distribution written out, an arm drawn by a cumulative scan. `fastmath`
and Numba's division without branches are on, so that the passes vectorise where they can.

Every rival has `probabilities`, `learn(arm, losses)` (losses of the revealed arms in ascending order) and
`play(rounds)`; see `agreement`.
"""

import math

import numpy as np
from numba import njit

from sidelight.engine.random import arm_unit, next_unit, round_word, seeded_words
from sidelight.environment.base import environment_key

compiled = njit(fastmath=True, error_model="numpy")


@compiled
def tsallis(keys, multiplier, x):
    """Write x = (λ + s)^(−2), Σ x = 1; Newton on F^(−1/2), started from the last λ. Returns λ."""
    for _ in range(100):
        f = 0.0
        cubes = 0.0
        least = keys[0]
        for i in range(keys.size):
            inv = 1.0 / (multiplier + keys[i])
            f += inv * inv
            cubes += inv * inv * inv
            if keys[i] < least:
                least = keys[i]
        multiplier = max(multiplier + f * (math.sqrt(f) - 1.0) / cubes, 1.0 - least)
        if abs(f - 1.0) < 1e-9:  # the step just taken leaves the square of that
            break
    for i in range(keys.size):
        d = multiplier + keys[i]
        x[i] = 1.0 / (d * d)
    return multiplier


@compiled
def entropy(keys, first, last, x):
    """Write x ∝ exp(−s), Σ x = 1, one exponential per arm."""
    least = keys[first]
    for i in range(first, last):
        if keys[i] < least:
            least = keys[i]
    total = 0.0
    for i in range(first, last):
        x[i] = math.exp(least - keys[i])
        total += x[i]
    for i in range(first, last):
        x[i] /= total


@compiled
def draw(z, words):
    """An arm with probability z."""
    target = next_unit(words)
    for i in range(z.size):
        target -= z[i]
        if target < 0.0:
            return i
    return z.size - 1


@compiled
def coin(word, means, arm):
    return 1.0 if arm_unit(word, arm) < means[arm] else 0.0


# -- A: cliques ---------------------------------------------------------------------------------------


@compiled
def cliques_mix(block, rates, local, fixed, y, x, z):
    for j in range(z.size):
        z[j] = rates[2] * y[block[j]] * (rates[3] * x[j] + local[j]) + fixed[j]


@compiled
def cliques_learn(size, block, rates, local, fixed, sums, keys, multiplier, y, x, z, arm, losses):
    k = arm // size
    first, last = k * size, (k + 1) * size
    whole = 0.0
    for j in range(first, last):
        whole += z[j]
    block_loss = 0.0
    at = 0
    for j in range(first, last):
        if j != arm:
            guess = losses[at] / (whole - z[j])
            at += 1
            block_loss += (rates[3] * x[j] + local[j]) * guess
            keys[j] += rates[1] * guess
    sums[k] += rates[0] * block_loss
    entropy(keys, first, last, x)
    multiplier[0] = tsallis(sums, multiplier[0], y)
    cliques_mix(block, rates, local, fixed, y, x, z)


@compiled
def cliques_play(
    size, block, rates, local, fixed, sums, keys, multiplier, y, x, z, losses, means, key, words, begin, end
):
    for t in range(begin, end):
        arm = draw(z, words)
        word = round_word(key, t)
        first = arm // size * size
        at = 0
        for j in range(first, first + size):
            if j != arm:
                losses[at] = coin(word, means, j)
                at += 1
        cliques_learn(size, block, rates, local, fixed, sums, keys, multiplier, y, x, z, arm, losses)


# -- B: cycle -----------------------------------------------------------------------------------------


@compiled
def cycle_mix(coefficient, parent, keys, multiplier, root, x, z):
    total = 0.0
    for i in range(z.size):
        root[i] = 1.0 / (multiplier + keys[i])
        total += root[i]
    rest = 1.0 - coefficient * total
    for i in range(z.size):
        z[i] = rest * x[i]
    for i in range(z.size):
        z[parent[i]] += coefficient * root[i]


@compiled
def cycle_learn(coefficient, rate, parent, keys, multiplier, root, x, z, arm, losses):
    n = z.size
    before, after = (arm - 1) % n, (arm + 1) % n
    low, high = min(before, after), max(before, after)
    keys[low] += rate * losses[0] / (z[(low - 1) % n] + z[(low + 1) % n])
    keys[high] += rate * losses[1] / (z[(high - 1) % n] + z[(high + 1) % n])
    multiplier[0] = tsallis(keys, multiplier[0], x)
    cycle_mix(coefficient, parent, keys, multiplier[0], root, x, z)


@compiled
def cycle_play(
    coefficient, rate, parent, keys, multiplier, root, x, z, losses, means, key, words, begin, end
):
    n = z.size
    for t in range(begin, end):
        arm = draw(z, words)
        word = round_word(key, t)
        before, after = (arm - 1) % n, (arm + 1) % n
        losses[0] = coin(word, means, min(before, after))
        losses[1] = coin(word, means, max(before, after))
        cycle_learn(coefficient, rate, parent, keys, multiplier, root, x, z, arm, losses)


# -- C: bandit ----------------------------------------------------------------------------------------


@compiled
def bandit_learn(rate, keys, multiplier, x, arm, losses):
    keys[arm] += rate * losses[0] / x[arm]
    multiplier[0] = tsallis(keys, multiplier[0], x)


@compiled
def bandit_play(rate, keys, multiplier, x, losses, means, key, words, begin, end):
    for t in range(begin, end):
        arm = draw(x, words)
        losses[0] = coin(round_word(key, t), means, arm)
        bandit_learn(rate, keys, multiplier, x, arm, losses)


# -- D: loop-less clique ------------------------------------------------------------------------------


@compiled
def everything_mix(gamma, fixed, x, z):
    for i in range(z.size):
        z[i] = (1.0 - gamma) * x[i] + fixed[i]


@compiled
def everything_learn(rate, gamma, fixed, keys, x, z, arm, losses):
    for i in range(arm):
        keys[i] += rate * losses[i] / (1.0 - z[i])
    for i in range(arm + 1, keys.size):
        keys[i] += rate * losses[i - 1] / (1.0 - z[i])
    entropy(keys, 0, keys.size, x)
    everything_mix(gamma, fixed, x, z)


@compiled
def everything_play(rate, gamma, fixed, keys, x, z, losses, means, key, words, begin, end):
    for t in range(begin, end):
        arm = draw(z, words)
        word = round_word(key, t)
        for i in range(arm):
            losses[i] = coin(word, means, i)
        for i in range(arm + 1, keys.size):
            losses[i - 1] = coin(word, means, i)
        everything_learn(rate, gamma, fixed, keys, x, z, arm, losses)


# -- the same four, from a plan -----------------------------------------------------------------------


class Dense:
    """What all have in common: where the arms' sums are, and a stream of losses."""

    def __init__(self, plan, means, seed):
        n = plan.graph.n_arms
        self.means = np.asarray(means)
        self.words = seeded_words(seed)
        self.key = environment_key(seed)
        self.round = 0
        self.keys = np.zeros(n)
        self.x = np.full(n, 1.0 / n)
        self.z = np.empty(n)
        self.losses = np.zeros(n)

    @property
    def probabilities(self):
        return self.z.copy()

    def stream(self, rounds):
        """The arguments that end every `*_play`."""
        begin, self.round = self.round, self.round + rounds
        return self.losses, self.means, self.key, self.words, begin, self.round


class Cliques(Dense):
    def __init__(self, plan, means, seed):
        super().__init__(plan, means, seed)
        tuning = plan.tuning
        m = tuning.n_blocks
        self.size = int(tuning.sizes[0])
        self.local, self.fixed = tuning.local_exploration.copy(), tuning.global_exploration.copy()
        kept = [1.0 - self.fixed.sum(), 1.0 - self.local[: self.size].sum()]  # after exploration
        self.rates = np.array([tuning.top_rate[0], tuning.inner_rate[0], *kept])
        self.block = np.arange(self.keys.size) // self.size
        self.sums = np.zeros(m)
        self.multiplier = np.array([math.sqrt(m)])
        self.y = np.full(m, 1.0 / m)
        self.x[:] = 1.0 / self.size
        cliques_mix(self.block, self.rates, self.local, self.fixed, self.y, self.x, self.z)

    def state(self):
        return (
            *(self.size, self.block, self.rates, self.local, self.fixed, self.sums, self.keys),
            *(self.multiplier, self.y, self.x, self.z),
        )

    def learn(self, arm, losses):
        cliques_learn(*self.state(), arm, losses)

    def play(self, rounds):
        cliques_play(*self.state(), *self.stream(rounds))


class Cycle(Dense):
    def __init__(self, plan, means, seed):
        super().__init__(plan, means, seed)
        tuning = plan.tuning
        self.coefficient, self.rate = float(tuning.adaptive[0]), float(tuning.inner_rate[0])
        self.parent = tuning.parent.copy()
        self.multiplier = np.array([math.sqrt(self.keys.size)])
        self.root = np.empty(self.keys.size)
        cycle_mix(self.coefficient, self.parent, self.keys, self.multiplier[0], self.root, self.x, self.z)

    def state(self):
        return self.coefficient, self.rate, self.parent, self.keys, self.multiplier, self.root, self.x, self.z

    def learn(self, arm, losses):
        cycle_learn(*self.state(), arm, losses)

    def play(self, rounds):
        cycle_play(*self.state(), *self.stream(rounds))


class Bandit(Dense):
    def __init__(self, plan, means, seed):
        super().__init__(plan, means, seed)
        self.rate = float(plan.tuning.top_rate[0])
        self.multiplier = np.array([math.sqrt(self.keys.size)])
        self.z = self.x  # nothing is mixed in

    def state(self):
        return self.rate, self.keys, self.multiplier, self.x

    def learn(self, arm, losses):
        bandit_learn(*self.state(), arm, losses)

    def play(self, rounds):
        bandit_play(*self.state(), *self.stream(rounds))


class Everything(Dense):
    def __init__(self, plan, means, seed):
        super().__init__(plan, means, seed)
        self.rate, self.fixed = float(plan.tuning.top_rate[0]), plan.tuning.global_exploration.copy()
        self.gamma = float(self.fixed.sum())
        everything_mix(self.gamma, self.fixed, self.x, self.z)

    def state(self):
        return self.rate, self.gamma, self.fixed, self.keys, self.x, self.z

    def learn(self, arm, losses):
        everything_learn(*self.state(), arm, losses)

    def play(self, rounds):
        everything_play(*self.state(), *self.stream(rounds))


RIVALS = {"A": Cliques, "B": Cycle, "C": Bandit, "D": Everything}
