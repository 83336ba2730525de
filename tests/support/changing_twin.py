"""Self-tuning play on graphs that change, dense and line by line, with nothing but NumPy.

Everything that is kept of a decision is the whole of X, Z and the temperature at which it was made; P and the cost
of a round are taken on its graph, whenever that becomes known.
"""

from dataclasses import dataclass, field

import numpy as np
from self_tuning_twin import best_play, bought, entropy, money, point, terms

CLEARLY = 1 - 1e-9


def cost(A, X, Z, beta, s):
    """What a round costs at most that plays Z, with the bound that the engine has on the shift."""
    estimated = float(terms(A, X, Z, beta, s, int(X.argmax())).sum())
    if s == 1 and (A == 1).all():  # Hoeffding: nothing is estimated
        return min(estimated, 1 / (8 * beta) + float(np.maximum(Z - X, 0).sum()))
    return estimated


@dataclass
class Made:
    """An open decision."""

    arm: int
    at: int
    beta: float
    X: np.ndarray
    Z: np.ndarray
    A: np.ndarray


@dataclass
class ChangingTwin:
    """One game. `own` is (A, cover, owed, lean) of the plan's graph, `rule` its numbers."""

    own: tuple
    rule: object
    L: np.ndarray = None
    beta: float = None
    rounds: int = 0
    late: int = 0
    charged: float = 0.0
    purchased: float = None
    unspent: float = 0.0
    paid: float = 0.0
    explored: float = 0.0
    open: dict = field(default_factory=dict)

    def __post_init__(self):
        n = len(self.own[0])
        self.s = self.rule.order
        self.L = np.zeros(n) if self.L is None else self.L
        self.beta = self.rule.first if self.beta is None else self.beta
        if self.purchased is None:
            self.purchased = self.beta * entropy(np.full(n, 1 / n), self.s)

    @property
    def X(self):
        return point(self.L, self.beta, self.s)

    def distribution(self, known=None, only=False):
        """Z of a round whose graph (A, cover, owed, lean) is known, or is the plan's own."""
        A, cover, owed, lean = self.own if known is None else known
        return best_play(A, cover, self.X, self.beta, self.s, cost, owed[None, :], lean, only, CLEARLY)[1]

    def decide(self, number, arm, known=None, planned=None, only=False):
        """Note a decision, `planned` for another graph than it is on; P on its graph."""
        Z = self.distribution(known if planned is None else planned, only)
        A = (self.own if known is None else known)[0]
        self.open[number] = Made(arm, self.rounds, self.beta, self.X, Z, A)
        return A.T @ Z

    def observe(self, number, losses, A=None, revealed=True):
        """Learn the losses of what the arm reveals, as far as that was `revealed`."""
        made = self.open.pop(number)
        A = made.A if A is None else A
        P, price = A.T @ made.Z, cost(A, made.X, made.Z, made.beta, self.s)
        seen = (A[made.arm] > 0) & revealed
        guess = np.zeros(len(A))
        guess[seen] = losses[seen] / P[seen]
        self.L = self.L + guess
        self.paid += made.X @ guess + made.X[P == 0].sum()
        gain = made.X - made.Z
        self.explored += np.maximum(-gain, 0).sum() - np.maximum(gain, 0) @ guess
        self.late += made.at != self.rounds
        self.rounds += 1
        self.charged += price
        self.unspent += self.rule.play_share * price
        most = min(2 * self.beta, self.rule.first * (self.rounds + 1) ** 2)
        floor = min(self.rule.first + self.rule.share * self.charged / self.rule.diameter, most)
        if most > self.beta:
            after = max(bought(self.L, self.beta, self.unspent, most, self.s), floor)
            paid = max(money(self.L, after, self.s) - money(self.L, self.beta, self.s), 0.0)
            self.purchased += paid
            self.unspent = max(self.unspent - paid, 0.0)
            self.beta = after

    def cancel(self, number):
        del self.open[number]

    @property
    def certificate(self):
        if self.late:
            return np.array([0.0, self.paid - self.L.min(), self.explored, 0.0])
        return np.array([self.purchased, self.charged]) * min(self.rounds, 1)
