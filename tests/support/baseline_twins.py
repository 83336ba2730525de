"""Baselines as written on paper: dense, slow, one formula per line.

A twin is told which arm was played and what all arms lost, and says how the next arm is chosen: `probabilities`.
It sees only what the arm reveals. Nothing of the library is used, except to read the graph as a matrix.
"""

from __future__ import annotations

from math import cbrt, ceil, exp, inf, log, sqrt

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq, linprog, minimize_scalar
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


class TsallisInfShifted(Twin):
    @property
    def probabilities(self):
        eta = sqrt(8 / self.T)
        losses = self.L - self.L.min()

        def point(z):
            return (eta * (losses + z)) ** -2.0

        z = brentq(lambda z: point(z).sum() - 1, 0.5 / eta, 2 * sqrt(self.n) / eta, xtol=1e-15, rtol=1e-15)
        return point(z)

    def learn(self, arm, losses):
        x = self.probabilities
        B = np.where(x >= 8 / self.T, 0.5, 0.0)
        self.L = self.L + np.where(np.arange(self.n) == arm, (losses - B) / x, 0.0) + B
        self.t += 1


class Matching(Twin):
    """x = argmin ⟨L, x⟩ − βH_a(x) − bH_{1−a}(x), p = (1 − γ)x + γu."""

    grown = 0.0

    @property
    def beta(self):
        return self.first + self.grown

    @property
    def x(self):
        a, b, beta, losses = self.a, self.b, self.beta, self.L - self.L.min()

        def share(height):
            def log_excess(u):
                return log(beta * exp((a - 1) * u) + b * exp(-a * u)) - log(height)

            return exp(brentq(log_excess, -700, 1, xtol=1e-15, rtol=1e-14))

        def point(z):
            return np.array([share(loss + z) for loss in losses])

        least = beta + b  # the best arm alone has all mass
        most = beta * self.n ** (1 - a) + b * self.n**a  # all arms alike
        z = brentq(lambda z: point(z).sum() - 1, least * 0.999, most * 1.001, xtol=1e-14, rtol=1e-14)
        return point(z) / point(z).sum()

    def H(self, x):
        return (x**self.a - x).sum() / self.a

    def side(self, x):
        return min(x.max(), np.sort(x)[:-1].sum())

    @property
    def probabilities(self):
        x = self.x
        return (1 - self.gamma(x)) * x + self.gamma(x) * self.given["x"] / self.given["x"].sum()

    def learn(self, arm, losses):
        x = self.x
        super().learn(arm, losses)
        self.grown += self.step(x)


class SpmFtrl(Matching):
    def __init__(self, graph, horizon=None, **given):
        super().__init__(graph, horizon, **given)
        self.a, alpha = 1 - 1 / (4 * log(self.n)), given["alpha"]
        self.first = 8 * alpha / (1 - self.a)
        self.b = 32 * alpha / ((1 - self.a) ** 2 * self.first)

    def z(self, x):
        return self.given["alpha"] * self.side(x) ** (1 - self.a) / (1 - self.a)

    def gamma(self, x):
        return 4 * self.z(x) / self.beta

    def step(self, x):
        return self.z(x) / (self.beta * self.H(x))


class SpbFtrl(Matching):
    def __init__(self, graph, horizon=None, **given):
        super().__init__(graph, horizon, **given)
        self.a, self.delta = 1 - 1 / log(self.n), given["x"].sum()
        self.first = 64 * self.delta / (1 - self.a)
        self.b = 32 * sqrt(self.n * self.delta) / ((1 - self.a) ** 2 * sqrt(self.first))

    def parts(self, x):
        z = 4 * self.delta / (1 - self.a) * self.side(x) ** (2 - self.a)
        u = 8 * self.delta / (1 - self.a) * self.side(x) ** (1 - self.a)
        return sqrt(z / self.beta), u / self.beta

    def gamma(self, x):
        return sum(self.parts(x))

    def step(self, x):
        root, bias = self.parts(x)
        return (2 * root + bias) / self.H(x)


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


class Exp3Gpp(Counting):
    def __init__(self, graph, horizon=None, **given):
        super().__init__(graph, horizon, **given)
        self.estimates, self.Q = np.zeros(self.n), 0.0

    @property
    def explored(self):
        n, t = self.n, self.t
        cap = min(1 / (2 * n), sqrt(log(n) / (t * n**2)) / 2)
        upper, lower = np.ones(n), np.zeros(n)
        for i in np.flatnonzero(self.O):
            width = sqrt((3 * log(t) + log(n)) / (2 * self.O[i]))
            upper[i] = min(1, self.L[i] / self.O[i] + width)
            lower[i] = self.L[i] / self.O[i] - width
        gaps = np.maximum(lower - upper.min(), 0)
        needs = np.array([min(cap, 256 * log(t) / (t * gap**2)) if gap > 0 else cap for gap in gaps])
        chosen: list[int] = []
        for i in sorted(range(n), key=lambda i: -needs[i]):  # stable: ties go to the lowest arm
            if not any(self.A[j, i] for j in chosen):
                chosen.append(i)
        rates = np.zeros(n)
        rates[chosen] = needs[chosen]
        if len(chosen) == 1 and not self.A[chosen[0], chosen[0]]:
            others = [i for i in range(n) if i != chosen[0]]
            rates[max(others, key=lambda i: needs[i])] = needs[chosen[0]]
        return rates

    @property
    def probabilities(self):
        explored = self.explored
        weights = softmax(-sqrt(log(self.n) / (self.n + self.Q)) / 2 * self.estimates)
        return (1 - explored.sum()) * weights + explored

    def learn(self, arm, losses):
        p = self.probabilities
        seen_probability = self.A.T @ p
        self.estimates = self.estimates + self.A[arm] * losses / seen_probability
        self.Q += np.where(np.diag(self.A) > 0, p / seen_probability, p).sum()
        super().learn(arm, losses)


class UcbN(Counting):
    @property
    def probabilities(self):
        if (self.O == 0).any():
            return self.only(np.flatnonzero(self.O == 0)[0])
        return self.only(np.argmin(self.L / self.O - np.sqrt(2 * log(self.t) / self.O)))


def coins(p, q):
    return xlogy(p, p / q) + xlogy(1 - p, (1 - p) / (1 - q))


def pair(a, A, b, B):
    """What A observations of a coin of mean a, and B of mean b, tell: least over the x that both may have."""
    x = (A * a + B * b) / (A + B)
    return A * coins(a, x) + B * coins(b, x)


def cheapest_plays(A, means):
    """The program of c* for one best arm, given how often that is seen: then it is linear, and convex in this."""
    n, best = len(means), int(np.argmin(means))
    low, free = means[best], A[best] > 0
    worse = [i for i in range(n) if i != best and not (free[i] and free[best])]
    if not worse:
        return np.zeros(n)

    def plays(z):
        need = np.zeros(n)
        for i in worse:
            if not free[i]:
                first = 1 / coins(means[i], low)
                need[i] = first if z == inf else brentq(
                    lambda m, i=i: pair(means[i], m, low, z) - 1, first / 2, 1e15, xtol=1e-14, rtol=1e-14
                )  # fmt: skip
        need[best] = 0 if z == inf else z
        cost = np.where(np.arange(n) == best, 1e3, means - low)  # that it reveals is counted already
        tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        return linprog(cost, A_ub=-A.T / need.max(), b_ub=-need / need.max(), options=tight).x

    if free[best]:
        return plays(inf)
    most = 1 / min(coins(low, means[i]) for i in worse)
    found = minimize_scalar(
        lambda s: (means - low) @ plays(most / s),
        bounds=(1e-6, 1 - 1e-9),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return plays(most / found.x)


class TrackN(Counting):
    shares, explored, planned = None, 0, ()  # and from what the shares were planned last

    def need(self, means, best):
        """How few observations an arm has for its part of the plan, of those that must be told apart still."""
        free, lacking = self.A[best] > 0, {}
        if self.explored**3 > self.n * self.t**2:
            return {}
        for i in range(self.n):
            if i == best or (free[i] and free[best]):
                continue
            own, seen = self.O[i], self.O[best]
            if free[best]:
                told = own * coins(means[i], means[best])
            elif free[i]:
                told = seen * coins(means[best], means[i])
            else:
                told = pair(means[i], own, means[best], seen) if own + seen else 0.0
            if told < log(self.t) or (own == 0 and not free[i]):
                lacking[i] = own
        if lacking and not free[best]:
            lacking[best] = self.O[best]
        shares = self.A.T @ self.shares
        return {i: m / shares[i] if shares[i] else m for i, m in lacking.items() if not free[i]}

    @property
    def probabilities(self):
        means = (self.L + 0.5) / (self.O + 1)
        best = int(np.argmin(means))
        if self.shares is None:
            self.shares = np.zeros(self.n)
        now = (self.t, *self.L, *self.O)
        if self.t - 1 in {ceil(1.2**k) for k in range(60)} and self.O.all() and now != self.planned:
            plays = cheapest_plays(
                self.A, np.maximum(means, np.where(np.arange(self.n) == best, 0, means[best] + 1e-3))
            )
            self.shares, self.planned = plays / (plays.sum() or 1.0), now
        need = self.need(means, best)
        if not need:
            return self.only(best)
        target = min(need, key=lambda i: (need[i], i != best, i))
        shares = np.where(self.A[:, target] > 0, self.shares, 0.0)
        if not shares.any():
            return self.only(min(np.flatnonzero(self.A[:, target]), key=lambda j: means[j]))
        at = self.explored * (sqrt(5) - 1) / 2 % 1.0
        return self.only(np.searchsorted(np.cumsum(shares), at * shares.sum(), side="right"))

    def count(self):
        means = (self.L + 0.5) / (self.O + 1)
        self.explored += bool(self.need(means, int(np.argmin(means))))

    def learn(self, arm, losses):
        self.count()
        super().learn(arm, losses)


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
