"""Self-tuning, dense and line by line, with nothing but NumPy: what a round costs, and the ways to play one.

One simplex over all arms. H is the Tsallis entropy of order s (Shannon's for s = 1), β its weight, L the cumulative
estimates (ℓ − c)/P. A round explores with strength b in the direction g. `SelfTuning` is the rule of the theory,
without shifts: of a short list of (g, b) it plays the one whose cost is smallest, and afterwards buys a larger β with
a share of that cost.
"""

from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

import numpy as np
from signed_twin import paid, psi, psi_minus

from sidelight.engine.self_tuning.charge import MOST_EXPLORED
from sidelight.engine.self_tuning.choose import CLEARLY, FULL, GROWN, SHIFT, SHIFTS
from sidelight.engine.self_tuning.point import MOST_TRIED
from sidelight.engine.self_tuning.retune import LIKELY


def entropy(x, s):
    """H(x) = Σ (x^s − x)/(s(1−s)), −Σ x ln x for s = 1; 0 at vertices."""
    x = x[x > 0]
    if s == 1:
        return float(-(x * np.log(x)).sum())
    return float((x * np.expm1((s - 1) * np.log(x))).sum() / (s * (1 - s)))


def e_s(y, s):
    """(1 + (1−s)y)^{−1/(1−s)}, e^{−y} for s = 1."""
    return np.exp(-y) if s == 1 else np.exp(-np.log1p((1 - s) * y) / (1 - s))


def point(L, beta, s):
    """X(L, β): the minimiser of ⟨L, x⟩ − βH(x) on the simplex; X_i = e_s(ν + (L_i − min L)/β)."""
    gap = (L - L.min()) / beta
    nu = 0.0
    for _ in range(200):  # convex and decreasing in ν: Newton from the left never oversteps
        x = e_s(nu + gap, s)
        excess = x.sum() - 1.0
        slope = (x ** (2 - s)).sum()
        move = excess / slope
        nu += move
        if move <= 1e-16 * max(1.0, nu):
            break
    return e_s(nu + gap, s)


def money(L, beta, s):
    """W_L(β) = min L − min_x {⟨L, x⟩ − βH(x)} ≥ 0."""
    x = point(L, beta, s)
    return beta * entropy(x, s) - float((x * (L - L.min())).sum())


def cost(A, X, Z, beta, s):
    """The smaller of the two prices of playing Z where the point is X (Lemma 1); A[j, i]: playing j reveals i."""
    P = A.T @ Z
    leader = int(X.argmax())
    root = X ** (1 - s)
    with np.errstate(divide="ignore", invalid="ignore"):
        q = np.where(P > 0, root / (beta * P), np.inf)
        r = root / (beta * P[leader]) if P[leader] > 0 else np.full(X.size, np.inf)
    pays = np.where(P > 0, X * psi(np.where(np.isinf(q), 0.0, q), s), X)
    others = np.arange(X.size) != leader
    plain = np.maximum(pays + Z - X, 0).sum()
    with np.errstate(invalid="ignore"):
        shift = np.where(X[others] > 0, X[others] * psi_minus(r[others], s), 0.0).sum()
    shifted = np.maximum(pays + Z - X, 0)[others].sum() + max(shift + Z[leader] - X[leader], 0.0)
    return float(min(plain, shifted))


def bounded_shift(X, leader, seen, beta, s):
    """B̄ ≥ Σ_{i≠I} X_i ψ₋(r_i): the sum of X^{2−s}, with the largest r for all."""
    others = np.delete(X, leader)
    if others.size == 0:
        return 0.0
    r = others.max() ** (1 - s) / (beta * seen) if seen > 0 else np.inf
    if np.isinf(r) or (1 - s) * r >= 1:
        return np.inf
    return (others ** (2 - s)).sum() / (beta * seen) * (float(psi_minus(r, s)) / r if r > 0 else 0.5)


def terms(A, X, Z, beta, s, leader, c=0.0, above=False):
    """(N,) what a round costs at most, arm by arm; estimates are (ℓ − c)/P, counted above the leader's if `above`."""
    return parts(A, X, Z, beta, s, leader, c, above)[2]


def parts(A, X, Z, beta, s, leader, c=0.0, above=False):
    """(stability if an arm loses 1, stability if it loses 0, what it costs at most), each (N,)."""
    P, others = A.T @ Z, np.arange(X.size) != leader
    with np.errstate(divide="ignore", invalid="ignore"):
        q = np.where(P > 0, X ** (1 - s) / (beta * P), np.inf)
    lost = (1 - c) * X * psi((1 - c) * q, s)
    won = c * np.minimum(X * psi_minus(c * q, s), 1 - X) if c else np.zeros(X.size)
    if c == 0:
        lost[leader] = min(lost[leader], bounded_shift(X, leader, P[leader], beta, s))
    most = np.maximum(np.maximum(lost + Z - X, won), 0.0)
    if not above:
        return lost, won, most
    both, seen = A.T @ (Z * A[:, leader]), P[leader]  # Lemma 1 of signed.md with θ = 1
    brackets = [np.zeros(X.size)]
    for loss, loss_of_leader in product((0.0, 1.0), repeat=2):
        u, v = (loss - c) / P, (loss_of_leader - c) / seen
        together = falls(u - v, X, s, beta) - falls(u, X, s, beta) - falls(-v, X, s, beta)
        brackets.append(P * falls(u, X, s, beta) + both * together + loss * (Z - X))
    most = np.max(brackets, axis=0)
    if_won = min(c * c / 2 * (X[others] ** (2 - s)).sum() / (beta * seen), c * (1 - X[leader]))
    if_lost = (1 - c) * bounded_shift(X, leader, seen, beta / (1 - c), s) + Z[leader] - X[leader]
    most[leader] = max(if_won, if_lost)
    lost[leader], won[leader] = max(most[leader] - (Z - X)[leader], 0.0), 0.0
    return lost, won, most


def falls(v, X, s, beta):
    """f(v), and (1 − X)|v| at most for v < 0: no X exceeds 1."""
    return np.where(v < 0, np.minimum(paid(v, X, s, beta), -v * (1 - X)), paid(v, X, s, beta))


def directions(A, cover, X, s):
    """Exploration g_j = x*_j · max X_i^{1−s}/c_i over covered i that j reveals; near a vertex also capped.

    What j reveals with probability A[j, i] counts A[j, i]^{1/s−1} times, and A[j, i]^{1/s} in c.
    """
    covered = cover @ A ** (1 / s)  # c_i
    counts = np.where(A > 0, A, 1.0) ** (1 / s - 1) * (A > 0)
    leader = int(X.argmax())
    a = float(np.delete(X, leader).sum())
    capped = X.copy()
    capped[leader] = min(X[leader], a)
    for point_, near in ((X, False), (capped, True)):
        if near and not a < 0.5:
            continue
        owed = np.where(covered > 0, point_ ** (1 - s) / np.where(covered > 0, covered, 1.0), 0.0)
        yield cover * (counts * owed[None, :]).max(axis=1), near, a


def best_play(A, cover, X, beta, s):
    """(cost, Z): the cheapest of b = 0 and nine strengths of each family."""
    best = cost(A, X, X, beta, s), X
    for g, near, a in directions(A, cover, X, s):
        G = g.sum()
        top = max(np.sqrt(a / (2 * beta * G)), max(1, 2 - 2 * s) / beta) if near else (2 * beta * G) ** -0.5
        for k in range(9):
            b = min(top * 2 ** ((2 - k) / 2), 1 / (2 * G))
            Z = (1 - b * G) * X + b * g
            best = min(best, (cost(A, X, Z, beta, s), Z), key=lambda pair: pair[0])
    return best


class Way(NamedTuple):
    """A way to play a round, and what it costs."""

    b: float  # strength
    scale: float  # of what is explored for the leader
    kept: float  # on the leader, of what exploration takes
    floor: float  # of lifted arms
    c: float
    above: bool  # are estimates counted above the leader's?
    limit: float  # no more than this may be explored while it is played
    Z: np.ndarray
    most: float  # against any losses
    likely: float  # with the mean losses so far


@dataclass
class Ways:
    """Ways to play a round on a graph, in the order in which the engine tries them."""

    A: np.ndarray
    X: np.ndarray
    beta: float
    s: float
    leader: int
    direction: object  # scale of the leader -> g
    lifted: np.ndarray  # (N,) 1 for arms that may be lifted
    signed: bool  # may losses be shifted?
    height: float  # q that lifted arms are lifted for, 0 where none may be
    covered: bool  # are all arms?
    means: np.ndarray | float = 0.0
    lag: float = 1.0
    whole: bool = True  # or may a part of the graph be told alone? Then nothing is counted above the leader

    def __post_init__(self):
        self.rest = float(np.delete(self.X, self.leader).sum())
        self.floor = self.lag / (self.beta * self.height) if self.height else 0.0
        self.lift = self.lifted * np.maximum(self.floor * self.X ** (1 - self.s) - self.X, 0.0)
        certain = not ((self.A > 0) & (self.A < 1)).any()
        self.above = self.whole and self.signed and self.rest < 0.5 and certain
        self.tried = []
        self.add()
        if self.signed and self.lifted.all():
            self.add_shift(0.0, 1.0, SHIFT)

    def add(self, b=0.0, scale=1.0, kept=0.0, floor=0.0, c=0.0, above=False, limit=MOST_EXPLORED):
        """Try b·g, and lifts if there is a floor."""
        if len(self.tried) == MOST_TRIED:
            return
        gamma = b * self.direction(scale) + (self.lift if floor else 0.0)
        gamma[self.leader] += kept
        Z = (1 - gamma.sum()) * self.X + gamma
        lost, won, most = parts(self.A, self.X, Z, self.beta, self.s, self.leader, c, above)
        likely = LIKELY * (self.means * lost + (1 - self.means) * won) + self.means * (Z - self.X)
        self.tried.append(Way(b, scale, kept, floor, c, above, limit, Z, most.sum(), likely.sum()))

    def add_shift(self, b, scale, c):
        """Try a shift, without lifts and with them."""
        if self.signed and self.covered and b:
            self.add_signed(b, scale, c, 0.0)
        if self.signed and self.floor:
            self.add_signed(b, scale, c, self.floor)

    def add_signed(self, b, scale, c, floor):
        """Try it if no charge can exceed 1, as long as X_I and what is explored have not moved far."""
        explored = b * self.direction(scale).sum() + (self.lift.sum() if floor else 0.0)
        limit = min(2 * explored + 0.05, 0.5)
        if explored > FULL * limit:
            return
        q = max(self.height / (1 - limit) if floor else 0.0, self.lag / (self.beta * b) if b else 0.0)
        rest, of_leader = GROWN * self.rest, q / min(scale, 1.0)
        if c * psi_minus(c * of_leader, self.s) <= 1 - limit:
            self.add(b, scale, 0.0, floor, c, False, limit)
        if self.above and 1 - rest > 0.5:
            r = of_leader * (rest / (1 - rest)) ** (1 - self.s)
            if self.lifted[self.leader]:
                r = rest ** (1 - self.s) / (self.beta * (1 - rest) * (1 - limit))
            if psi_minus(c * q + (1 - c) * r, self.s) <= 1 - limit:
                self.add(b, scale, 0.0, floor, c, True, limit)

    def add_families(self, keeps, lean=0.0, only=False):
        """Try strengths and shifts in one direction, near a vertex in two; and to keep some on the leader."""
        for family in range(2 if self.rest < 0.5 and not only else 1):
            scale = (self.rest / self.X[self.leader]) ** (1 - self.s) if family else 1.0
            G = self.direction(scale).sum()
            if G == 0:
                continue
            top, first = (2 * self.beta * G) ** -0.5, len(self.tried)
            if family:
                top = max(self.rest**0.5 * top, max(1, 2 - 2 * self.s) / self.beta)
            for k in range(0 if only else 9):
                b = min(top * 2 ** ((2 - k) / 2), 1 / (2 * G))
                self.add(b, scale)
                self.add_shift(b, scale, SHIFT)
            if lean and not family:
                self.add(min(lean / self.beta, 1 / (2 * G)), scale)
            nearest = self.cheapest(first).b
            for k in range(6 if keeps and self.rest > 0 else 0):
                b = min(nearest * 2 ** ((k // 2 - 1) / 2), 1 / (2 * G))
                share = min(0.5 - b * G, (1 + k % 2) / 2 * b * G / self.rest)
                if share > 0:
                    self.add(b, scale, share * self.X[self.leader])

    def add_shifts(self, best):
        """Try other shifts with a way that has one."""
        for c in SHIFTS if best.c else ():
            self.add_shift(best.b, best.scale, c)

    def cheapest(self, first=0):
        """The first that none undercuts clearly."""
        best = self.tried[first]
        for way in self.tried[first + 1 :]:
            best = way if way.most < best.most * CLEARLY else best
        return best


def bought(L, beta, pay, most, s):
    """The β' in [β, most] with W_L(β') = W_L(β) + pay, `most` if that is beyond."""
    target = money(L, beta, s) + pay
    if money(L, most, s) <= target:
        return most
    b = most
    for _ in range(100):  # W is convex and rising: Newton from the right falls to the root
        step = (money(L, b, s) - target) / entropy(point(L, b, s), s)
        b -= step
        if step <= 1e-15 * b:
            break
    return max(b, beta)


@dataclass
class SelfTuning:
    """The rule of one game: `play` gives Z and its cost, `learn` takes what the drawn arm revealed."""

    A: np.ndarray  # (N, N) A[j, i] = 1: playing j reveals i
    cover: np.ndarray  # (N,) x*
    s: float = 0.5
    c: float = 0.5
    first: float | None = None  # β_1
    L: np.ndarray = field(init=False)
    t: int = field(default=1, init=False)

    def __post_init__(self):
        n = len(self.A)
        self.L = np.zeros(n)
        self.D = entropy(np.full(n, 1 / n), self.s)
        if self.first is None:
            self.first = max(self.cover.sum() ** self.s / 2, self.c / self.D)
        self.beta = self.first
        self.certificate = self.beta * self.D

    def play(self):
        """Z of this round; its cost joins the certificate when it is learnt from."""
        self.X = point(self.L, self.beta, self.s)
        self.cost, self.Z = best_play(self.A, self.cover, self.X, self.beta, self.s)
        self.P = self.A.T @ self.Z
        return self.Z

    def learn(self, arm, losses):
        """Estimates from all losses (only revealed ones are read), then buy β."""
        self.certificate += self.cost
        seen = self.A[arm] > 0
        self.L[seen] += losses[seen] / self.P[seen]
        most = min(2 * self.beta, self.first * (self.t + 1) ** 2)
        beta = bought(self.L, self.beta, self.c * self.cost, most, self.s)
        self.paid = money(self.L, beta, self.s) - money(self.L, self.beta, self.s)
        self.certificate += self.paid
        self.beta = beta
        self.t += 1
