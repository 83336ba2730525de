"""Open decisions by the book: every decision keeps the whole distribution it was drawn from; dense, NumPy and SciPy.

A twin is told which arms were drawn, and says what should be believed after any order of answers.
"""

from dataclasses import dataclass, field

import numpy as np
from baseline_twins import Counting, Exp3IX, TrackN
from dense_engine import Dense
from lazy_twin import LazyTwin
from scipy.optimize import brentq


def point(power, rate, sums):
    """The x with x_i = (a_i(Λ + S_i))^{−q_i}, or exp(−1 − a_i(Λ + S_i)) where q_i = 0, that adds up to one."""
    power, rate, sums = (np.asarray(part, dtype=float) for part in (power, rate, sums))

    def x(level):
        with np.errstate(all="ignore"):
            return np.where(
                power == 0,
                np.exp(-1 - rate * (level + sums)),
                (rate * (level + sums)) ** -np.where(power == 0, 1, power),
            )

    n = sums.size
    # at `low` some coordinate is 1, at `high` none exceeds 1/n
    low = max(np.where(power == 0, -1 / rate - sums, 1 / rate - sums))
    share = np.where(power == 0, (np.log(n) - 1) / rate, n ** (1 / np.where(power == 0, 1, power)) / rate)
    high = max(share - sums)
    high += 1e-9 * (high - low) + 1e-12  # rounding must not move the root out of the bracket
    if x(low).sum() <= 1:
        return x(low) / x(low).sum()
    level = brentq(lambda at: x(at).sum() - 1, low, high, xtol=1e-15 * max(1, abs(low)), rtol=1e-15)
    return x(level) / x(level).sum()


@dataclass
class Drawn:
    """An open decision, with everything that was true when it was made."""

    arm: int
    P: np.ndarray
    X: np.ndarray
    mixed: np.ndarray
    Y: np.ndarray
    gamma: float


@dataclass
class PlanTwin:
    """A plan of fixed rates."""

    plan: object
    made: int = 0
    answered: int = 0
    open: dict = field(default_factory=dict)

    def __post_init__(self):
        tuning = self.plan.tuning
        self.dense = Dense(self.plan.graph, tuning)
        # What a line beside −x^h adds, where potentials are 0 at the corners: h = (q − 1)/q of each arm.
        of_powers = tuning.corners * (tuning.inner_power > 0)
        slope = tuning.inner_power / np.where(of_powers, (tuning.inner_power - 1) * tuning.inner_rate, 1.0)
        self.lines = np.where(of_powers, slope, 0.0)
        self.sums, self.blocks = np.zeros(self.dense.n), np.zeros(self.dense.m)
        self.paid, self.inside, self.explored, self.learnt = 0.0, np.zeros(self.dense.m), 0.0, 0

    def now(self):
        """(Z, X, X̃, Y, γ̄) of the next decision."""
        tuning, dense = self.plan.tuning, self.dense
        X, Y = np.ones(dense.n), np.ones(1)
        for block in dense.blocks:
            if block.size > 1:
                sums = self.sums[block] + self.lines[block]
                X[block] = point(tuning.inner_power[block], tuning.inner_rate[block], sums)
        if dense.m > 1:
            Y = point(tuning.top_power, tuning.top_rate, self.blocks)
        gamma = dense.gamma(X)
        mixed = dense.mixed(X)
        Z = (1 - gamma.sum()) * Y[dense.block_of] * mixed + gamma
        return Z, X, mixed, Y, float(gamma.sum())

    @property
    def Z(self):
        return self.now()[0]

    def decide(self, number, arm):
        Z, X, mixed, Y, gamma = self.now()
        P = self.dense.A.T @ Z
        self.open[number] = Drawn(arm, P, X, mixed, Y, gamma)
        self.made += 1
        return P[self.dense.A[arm]]

    def observe(self, number, losses):
        drawn, dense = self.open.pop(number), self.dense
        seen = dense.A[drawn.arm]
        guess = np.zeros(dense.n)
        guess[seen] = (losses[seen] - self.plan.tuning.shift) / drawn.P[seen]
        block_guess = np.array([drawn.mixed[block] @ guess[block] for block in dense.blocks])
        self.sums += guess
        self.blocks += block_guess
        paid = float(drawn.Y @ block_guess)
        self.paid += paid
        self.inside += [drawn.X[block] @ guess[block] for block in dense.blocks]
        self.explored += drawn.gamma * (1 - self.plan.tuning.shift - paid)
        self.learnt += 1

    def cancel(self, number):
        del self.open[number]

    def ledger(self, arm):
        """(4,) as `Policy.ledger_parts`."""
        k = self.dense.block_of[arm]
        alone = self.dense.blocks[k].size == 1
        restriction = 0.0 if alone else self.inside[k] - self.sums[arm]
        local = 0.0 if alone else self.dense.local[k] * self.learnt
        return np.array([self.paid - self.blocks[k], restriction, self.explored, local])


@dataclass
class TunedTwin:
    """A self-tuning plan: charges are those of the draw, events come when answers do."""

    policy: object  # for the numbers of its rule only
    open: dict = field(default_factory=dict)
    made: int = 0

    def __post_init__(self):
        self.lazy = LazyTwin(self.policy.graph, self.policy.plan.tuning)

    @property
    def Z(self):
        return self.lazy.Z

    def decide(self, number, arm):
        Z = self.lazy.Z.copy()
        self.open[number] = (arm, Z, self.lazy.charge_of(arm, Z), self.lazy.c)
        self.made += 1
        return (self.lazy.A.T @ Z)[self.lazy.A[arm] > 0]

    def observe(self, number, losses):
        arm, Z, charge, c = self.open.pop(number)
        self.lazy.learn(arm, losses, Z, charge, c)

    def cancel(self, number):
        del self.open[number]


@dataclass
class RuleTwin:
    """A rule: its distribution from one of `baseline_twins`, its divisors from the draw."""

    rule: object  # a twin of `baseline_twins`
    open: dict = field(default_factory=dict)
    made: int = 0

    @property
    def Z(self):
        return self.rule.probabilities

    def decide(self, number, arm):
        P = self.rule.A.T @ self.Z
        divisor = np.ones(self.rule.n) if isinstance(self.rule, Counting) else P
        if isinstance(self.rule, Exp3IX):
            divisor = P + self.rule.rate
            self.rule.Q += (self.Z / divisor).sum()
        if isinstance(self.rule, TrackN):
            self.rule.count()
        self.open[number] = arm, divisor
        self.rule.t += 1
        self.made += 1
        return P[self.rule.A[arm] > 0]

    def observe(self, number, losses):
        arm, divisor = self.open.pop(number)
        seen = self.rule.A[arm] > 0
        self.rule.L = self.rule.L.copy()
        self.rule.L[seen] += losses[seen] / divisor[seen]
        self.rule.O = self.rule.O + seen

    def cancel(self, number):
        del self.open[number]
