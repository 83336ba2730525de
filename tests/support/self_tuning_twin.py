"""The self-tuning rule, dense and line by line, with nothing but NumPy: what the engine is compared with.

One simplex over all arms. H is the Tsallis entropy of order s (Shannon's for s = 1), β its weight, L the cumulative
estimates. A round explores with strength b in the direction g; of a short list of (g, b) it plays the one whose cost
is smallest, and afterwards buys a larger β with a share c of that cost.
"""

from dataclasses import dataclass, field

import numpy as np


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


def psi(q, s):
    """ψ(q) = 1 − (1 − (1+εq)^{−s/ε})/(sq), ε = 1 − s: what a loss of 1, seen with probability P, costs an arm."""
    q = np.asarray(q, dtype=float)
    with np.errstate(all="ignore"):
        if s == 1:
            exact = 1 + np.expm1(-q) / q
        else:
            exact = 1 + np.expm1(-s / (1 - s) * np.log1p((1 - s) * q)) / (s * q)
    return np.where(q < 1e-5, q / 2, np.where(np.isinf(q), 1.0, exact))


def psi_minus(r, s):
    """ψ₋(r) = ((1−εr)^{−s/ε} − 1)/(sr) − 1; infinite from εr = 1 on: what the shift by the leader's loss costs."""
    r = np.asarray(r, dtype=float)
    with np.errstate(all="ignore"):
        if s == 1:
            exact = np.expm1(r) / r - 1
        else:
            exact = np.expm1(-s / (1 - s) * np.log1p(-(1 - s) * r)) / (s * r) - 1
    return np.where(r < 1e-5, r / 2, np.where((1 - s) * r >= 1, np.inf, exact))


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


def coefficients(A, X, Z, beta, s, leader):
    """(N,) A_i + Z_i − X_i, the leader's with the smaller of A_I and B̄: what a round costs for each loss."""
    P = A.T @ Z
    with np.errstate(divide="ignore", invalid="ignore"):
        q = np.where(P > 0, X ** (1 - s) / (beta * P), np.inf)
    pays = np.where(P > 0, X * psi(np.where(np.isinf(q), 0.0, q), s), X)
    pays[leader] = min(pays[leader], bounded_shift(X, leader, P[leader], beta, s))
    return pays + Z - X


def terms(A, X, Z, beta, s, leader):
    """(N,) [A_i + Z_i − X_i]₊: what a round costs at most, arm by arm."""
    return np.maximum(coefficients(A, X, Z, beta, s, leader), 0.0)


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


def best_play(A, cover, X, beta, s, price=cost, covered=1.0, lean=0.0, only=False, clearly=1.0):
    """(cost, Z): the cheapest of b = 0, nine strengths of each family, and lean/β in the first; or nothing but that.

    Exploration is for the arms that are `covered`; only what costs `clearly` less than all before is taken.
    """
    best = price(A, X, X, beta, s), X
    for g, near, a in directions(A * covered, cover, X, s):
        G = g.sum()
        if G == 0:
            continue
        top = max(np.sqrt(a / (2 * beta * G)), max(1, 2 - 2 * s) / beta) if near else (2 * beta * G) ** -0.5
        tried = [] if only else [top * 2 ** ((2 - k) / 2) for k in range(9)]
        if lean and not near:
            tried.append(lean / beta)
        for b in (min(b, 1 / (2 * G)) for b in tried):
            Z = (1 - b * G) * X + b * g
            paid = price(A, X, Z, beta, s)
            if only or paid < best[0] * clearly:
                best = paid, Z
        if only:
            break
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
