"""Self-tuning play on graphs that change, dense and line by line, with nothing but NumPy.

Everything that is kept of a decision is the whole of X, Z, its shift and the temperature at which it was made; P and
the cost of a round are taken on its graph, whenever that becomes known.
"""

from dataclasses import dataclass, field

import numpy as np
from self_tuning_twin import Ways, bought, entropy, money, point, terms

from sidelight.engine.self_tuning.choose import HEIGHT


def cost(A, X, Z, beta, s, c=0.0):
    """What a round costs at most that plays Z, with the bound that the engine has on what the leader's loss costs."""
    return at_most(float(terms(A, X, Z, beta, s, int(X.argmax()), c).sum()), A, X, Z, beta, s)


def at_most(estimated, A, X, Z, beta, s):
    """The same, where it is known what it costs with estimates: with full feedback Hoeffding's bound, if less."""
    if s == 1 and (A == 1).all():
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
    c: float
    A: np.ndarray
    cost: float


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
    met: set = field(default_factory=set)  # what was played

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

    def chosen(self, known=None, only=False):
        """(Z, c, cost) of a round whose graph (A, cover, owed, lean) is known, or is the plan's own."""
        (A, cover, owed, lean), X, beta, s = self.own if known is None else known, self.X, self.beta, self.s
        load, leader = cover @ (A ** (1 / s)) * owed, int(X.argmax())
        gain = np.where(A > 0, A, 1.0) ** (1 / s - 1) * (A > 0)
        beside = owed == 0 if (owed == 0).any() else np.ones(X.size, dtype=bool)
        lifted = np.where(beside & (s < 1 and not only and (A.diagonal() == 1)[beside].all()), 1.0, 0.0)
        covered = bool((owed > 0).all())
        signed = not only and bool(((owed > 0) | (lifted > 0)).all())

        def direction(scale):
            due = np.divide(X ** (1 - s), load, out=np.zeros(X.size), where=load > 0)
            due[leader] *= scale
            return cover * (gain * due).max(axis=1)

        height = HEIGHT / (1 - s) if s < 1 else 0.0
        given = A, X, beta, s, leader, direction, lifted, signed, height, covered
        ways = Ways(*given, whole=known is not None)
        ways.add_families(keeps=False, lean=lean, only=only)
        best = ways.tried[-1] if only else ways.cheapest()
        ways.add_shifts(best)
        best = best if only else ways.cheapest()
        Z, c, paid, above = best.Z, best.c, best.most, best.above
        price, b, lift, shift = self.rule.table.row(beta)
        if known is None and price < paid:
            gamma = b * direction(1.0) + lifted * np.maximum(lift / beta * X ** (1 - s) - X, 0.0)
            Z, c, paid, above = (1 - gamma.sum()) * X + gamma, float(shift), float(price), False
            self.met.add("price")
        kinds = {"c": c, "lift": best.floor and lifted.any(), "above": above}
        self.met |= {name for name, is_so in kinds.items() if is_so}
        return Z, c, at_most(paid, A, X, Z, beta, s)

    def distribution(self, known=None, only=False):
        """Z of such a round."""
        return self.chosen(known, only)[0]

    def decide(self, number, arm, known=None, planned=None, only=False):
        """Note a decision, `planned` for another graph than it is on; P on its graph."""
        Z, c, paid = self.chosen(known if planned is None else planned, only)
        A = (self.own if known is None else known)[0]
        if planned is not None:
            paid = cost(A, self.X, Z, self.beta, self.s, c)
        self.open[number] = Made(arm, self.rounds, self.beta, self.X, Z, c, A, paid)
        return A.T @ Z

    def observe(self, number, losses, A=None, revealed=True):
        """Learn the losses of what the arm reveals, as far as that was `revealed`, on the graph shown afterwards."""
        made = self.open.pop(number)
        price, A = made.cost, made.A if A is None else A
        if (made.A != A).any():
            shown = cost(A, made.X, made.Z, made.beta, self.s, made.c)
            price = min(shown, price) if (self.own[0] <= A).all() else shown
        P = A.T @ made.Z
        seen = (A[made.arm] > 0) & revealed
        guess = np.zeros(len(A))
        guess[seen] = (losses[seen] - made.c) / P[seen]
        self.L = self.L + guess
        self.paid += made.X @ guess + (1 - made.c) * made.X[P == 0].sum() + made.c * (P == 0).any()
        gain = made.X - made.Z
        self.explored += np.maximum(-gain, 0).sum() - np.maximum(gain, 0) @ (made.c + guess)
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
