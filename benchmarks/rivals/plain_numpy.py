"""One round in a dozen lines of NumPy, as one writes it for a paper's experiments.

Whole-array expressions, no loops over arms, the last multiplier as a warm start, one `cumsum` and
`searchsorted` to draw (several times faster than `Generator.choice`). The same interface as `dense_numba`.
"""

import numpy as np


def tsallis(keys, multiplier):
    """x = (λ + s)^(−2) with Σ x = 1, and λ."""
    for _ in range(100):
        inverse = 1.0 / (multiplier + keys)
        squares = inverse * inverse
        f = squares.sum()
        step = f * (np.sqrt(f) - 1.0) / (squares @ inverse)
        multiplier = max(multiplier + step, 1.0 - keys.min())
        if abs(f - 1.0) < 1e-9:
            break
    return (multiplier + keys) ** -2.0, multiplier


class Plain:
    """What all have in common: sums, a distribution, a generator."""

    def __init__(self, plan, means, seed):
        self.n = plan.graph.n_arms
        self.means = np.asarray(means)
        self.rng = np.random.default_rng(seed)
        self.keys = np.zeros(self.n)
        self.fixed = plan.tuning.global_exploration
        self.rest = 1.0 - self.fixed.sum()
        self.set_up(plan.tuning)

    def draw(self):
        cumulative = np.cumsum(self.probabilities)
        return min(int(np.searchsorted(cumulative, self.rng.random() * cumulative[-1])), self.n - 1)

    def play(self, rounds):
        for _ in range(rounds):
            arm = self.draw()
            seen = self.seen(arm)
            self.learn(arm, (self.rng.random(len(seen)) < self.means[seen]).astype(float))


class Cliques(Plain):
    def set_up(self, tuning):
        self.m, self.size = tuning.n_blocks, int(tuning.sizes[0])
        self.top_rate, self.block_rate = tuning.top_rate[0], tuning.inner_rate[0]
        self.sums = np.zeros(self.m)
        self.keys = self.keys.reshape(self.m, self.size)
        self.local = tuning.local_exploration.reshape(self.m, self.size)
        self.inner = 1.0 - self.local.sum(axis=1, keepdims=True)
        self.multiplier = np.sqrt(self.m)
        self.mix()

    def mix(self):
        y, self.multiplier = tsallis(self.sums, self.multiplier)
        weights = np.exp(self.keys.min(axis=1, keepdims=True) - self.keys)
        x = weights / weights.sum(axis=1, keepdims=True)
        self.x = self.inner * x + self.local
        self.probabilities = self.rest * (y[:, None] * self.x).ravel() + self.fixed

    def seen(self, arm):
        first = arm // self.size * self.size
        block = np.arange(first, first + self.size)
        return block[block != arm]

    def learn(self, arm, losses):
        seen = self.seen(arm)
        block, place = seen // self.size, seen % self.size
        z = self.probabilities.reshape(self.m, self.size)[block[0]]
        guesses = losses / (z.sum() - z[place])
        self.keys[block, place] += self.block_rate * guesses
        self.sums[block[0]] += self.top_rate * (self.x[block, place] @ guesses)
        self.mix()


class Cycle(Plain):
    def set_up(self, tuning):
        self.rate, self.coefficient = tuning.inner_rate[0], tuning.adaptive[0]
        self.parent = tuning.parent
        self.multiplier = np.sqrt(self.n)
        self.mix()

    def mix(self):
        x, self.multiplier = tsallis(self.keys, self.multiplier)
        gamma = self.coefficient * np.bincount(self.parent, weights=np.sqrt(x), minlength=self.n)
        self.probabilities = (1.0 - gamma.sum()) * x + gamma

    def seen(self, arm):
        return np.sort([(arm - 1) % self.n, (arm + 1) % self.n])

    def learn(self, arm, losses):
        seen = self.seen(arm)
        z = self.probabilities
        self.keys[seen] += self.rate * losses / (z[(seen - 1) % self.n] + z[(seen + 1) % self.n])
        self.mix()


class Bandit(Plain):
    def set_up(self, tuning):
        self.rate = tuning.top_rate[0]
        self.multiplier = np.sqrt(self.n)
        self.probabilities = np.full(self.n, 1.0 / self.n)

    def seen(self, arm):
        return [arm]

    def learn(self, arm, losses):
        self.keys[arm] += self.rate * losses[0] / self.probabilities[arm]
        self.probabilities, self.multiplier = tsallis(self.keys, self.multiplier)


class Everything(Plain):
    def set_up(self, tuning):
        self.rate = tuning.top_rate[0]
        self.mix()

    def mix(self):
        weights = np.exp(self.keys.min() - self.keys)
        self.probabilities = self.rest * weights / weights.sum() + self.fixed

    def seen(self, arm):
        return np.delete(np.arange(self.n), arm)

    def learn(self, arm, losses):
        seen = self.seen(arm)
        self.keys[seen] += self.rate * losses / (1.0 - self.probabilities[seen])
        self.mix()


RIVALS = {"A": Cliques, "B": Cycle, "C": Bandit, "D": Everything}
