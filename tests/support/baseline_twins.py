"""Baselines as written on paper: dense, slow, one formula per line.

A twin is told which arm was played and what all arms lost, and says how the next arm is chosen: `probabilities`.
It sees only what the arm reveals. Nothing of the library is used, except to read the graph as a matrix.
"""

from __future__ import annotations

from math import cbrt, log, sqrt

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import betainc, betaincinv, betaln, xlog1py, xlogy


def matrix(graph):
    """A[i, j]: playing i reveals j."""
    return np.array(
        [[graph.reveals(i, j) for j in range(graph.n_arms)] for i in range(graph.n_arms)], dtype=float
    )


class Twin:
    def __init__(self, graph, horizon=None, **given):
        self.A, self.n, self.T = matrix(graph), graph.n_arms, horizon
        self.L = np.zeros(self.n)  # estimated, or observed, losses so far
        self.O = np.zeros(self.n)  # observations so far
        self.t = 1
        self.given = given

    @property
    def probabilities(self):
        raise NotImplementedError

    def learn(self, arm, losses):
        seen_probability = self.A.T @ self.probabilities
        self.L = self.L + np.where(self.A[arm] > 0, losses / np.maximum(seen_probability, 1e-300), 0.0)
        self.t += 1


def softmax(x):
    weights = np.exp(x - x.max())
    return weights / weights.sum()


class Hedge(Twin):
    @property
    def probabilities(self):
        return softmax(-sqrt(8 * log(self.n) / self.T) * self.L)


class TsallisInfRv(Twin):
    @property
    def rate(self):
        return 4 / sqrt(self.t)

    @property
    def probabilities(self):
        def weights(z):
            return 4 / (self.rate * (self.L - self.L.min() + z)) ** 2

        z = brentq(
            lambda z: weights(z).sum() - 1, 1e-12, 4 * sqrt(self.n) / self.rate, xtol=1e-15, rtol=1e-15
        )
        return weights(z) / weights(z).sum()

    def learn(self, arm, losses):
        x = self.probabilities
        B = np.where(x >= self.rate**2, 0.5, 0.0)
        played = np.arange(self.n) == arm
        self.L = self.L + np.where(played, (losses - B) / x, 0.0) + B
        self.t += 1


class Exp3(Twin):
    @property
    def probabilities(self):
        return softmax(-sqrt(2 * log(self.n) / (self.n * self.T)) * self.L)


class Exp3GStrong(Twin):
    @property
    def probabilities(self):
        gamma = min(sqrt(1 / (self.given["alpha"] * self.T)), 1 / 2)
        return (1 - gamma) * softmax(-2 * gamma * self.L) + gamma / self.n


class Exp3GWeak(Twin):
    @property
    def probabilities(self):
        members = self.given["members"]
        delta = len(members)
        gamma = min(cbrt(delta * log(self.n) / self.T), 1 / 2)
        explored = np.zeros(self.n)
        explored[members] = 1 / delta
        return (1 - gamma) * softmax(-(gamma**2 / delta) * self.L) + gamma * explored


class Chlz21(Twin):
    @property
    def probabilities(self):
        x = self.given["x"]
        delta = x.sum()
        b = cbrt(log(self.n) / (2 * self.T * delta**2))
        explored = b * x * min(1.0, 0.5 / (b * delta))
        return (1 - explored.sum()) * softmax(-sqrt(2 * b * log(self.n) / self.T) * self.L) + explored


class QFtrl(Twin):
    @property
    def probabilities(self):
        n, alpha = self.n, self.given["alpha"]
        ratio = log(n / alpha)
        q = 0.5 * (1 + ratio / (sqrt(ratio**2 + 4) + 2))
        eta = sqrt(2 * q * n ** (1 - q) / (self.T * (1 - q) * alpha**q))
        # minimise η⟨L, x⟩ + (1 − Σx^q)/(1 − q): η L_i − q/(1 − q)·x_i^{q−1} is the same for all arms
        scaled = eta * (self.L - self.L.min())

        def point(level):
            return ((1 - q) / q * (scaled + level)) ** (-1 / (1 - q))

        low, high = q / (1 - q), q / (1 - q) * n ** (1 - q)  # all mass on the best arm; all arms alike
        level = brentq(lambda z: point(z).sum() - 1, 0.5 * low, 2 * high, xtol=1e-15, rtol=1e-15)
        return point(level)


class TsallisInf(Twin):
    @property
    def probabilities(self):
        eta = 2 / sqrt(self.t)
        losses = self.L - self.L.min()

        def point(z):
            return 4 * (eta * (losses + z)) ** -2.0

        return point(
            brentq(lambda z: point(z).sum() - 1, 1 / eta, 4 * sqrt(self.n) / eta, xtol=1e-15, rtol=1e-15)
        )


class Exp3IX(Twin):
    Q = 0.0

    @property
    def rate(self):
        return sqrt(log(self.n) / (self.n + self.Q))

    @property
    def probabilities(self):
        return softmax(-self.rate * self.L)

    def learn(self, arm, losses):
        p, rate = self.probabilities, self.rate
        seen_probability = self.A.T @ p
        self.L = self.L + self.A[arm] * losses / (seen_probability + rate)
        self.Q += (p / (seen_probability + rate)).sum()
        self.t += 1


class Counting(Twin):
    def learn(self, arm, losses):
        self.L = self.L + self.A[arm] * losses
        self.O = self.O + self.A[arm]
        self.t += 1

    def only(self, arm):
        return np.eye(self.n)[arm]


class UcbN(Counting):
    @property
    def probabilities(self):
        if (self.O == 0).any():
            return self.only(np.flatnonzero(self.O == 0)[0])
        return self.only(np.argmin(self.L / self.O - np.sqrt(2 * log(self.t) / self.O)))


class Ftl(Counting):
    @property
    def probabilities(self):
        return self.only(
            np.argmin([loss / seen if seen else 0.0 for loss, seen in zip(self.L, self.O, strict=True)])
        )


class TsN(Counting):
    @property
    def probabilities(self):
        a, b = 1 + self.L, 1 + self.O - self.L
        landmarks = np.unique(betaincinv(a, b, np.array([[0.01], [0.5], [0.99]])))

        def least(i):
            def integrand(x):
                density = np.exp(xlogy(a[i] - 1, x) + xlog1py(b[i] - 1, -x) - betaln(a[i], b[i]))
                return density * np.delete(1 - betainc(a, b, x), i).prod()

            return quad(integrand, 0, 1, points=landmarks, epsabs=1e-11, epsrel=1e-11, limit=400)[0]

        return np.array([least(i) for i in range(self.n)])


class Uniform(Counting):
    @property
    def probabilities(self):
        return np.full(self.n, 1 / self.n)
