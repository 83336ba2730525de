"""The self-tuning rule line by line (docs/theory/self-tuning.md, section 4), compiled: every round chooses and buys.

The same formulas as the twin of the tests, `tests/support/self_tuning_twin.py`, with which the benchmark compares it
before it is played; loops over all arms in the place of arrays, so that whole games take seconds.
"""

import numpy as np
from numba import njit


@njit
def root(x, s):
    """x^{1−s}."""
    return np.sqrt(x) if s == 0.5 else x ** (1.0 - s)


@njit
def point(L, beta, s):
    """X(L, β), by Newton's method from the left."""
    gap = (L - L.min()) / beta
    x = np.empty(L.size)
    nu = 0.0
    for _ in range(200):
        total = slope = 0.0
        for i in range(L.size):
            y = nu + gap[i]
            if s == 0.5:
                x[i] = 1.0 / ((1.0 + 0.5 * y) * (1.0 + 0.5 * y))
            else:
                x[i] = np.exp(-y) if s == 1.0 else np.exp(-np.log1p((1.0 - s) * y) / (1.0 - s))
            total += x[i]
            slope += x[i] * root(x[i], s)
        move = (total - 1.0) / slope
        nu += move
        if move <= 1e-16 * max(1.0, nu):
            break
    return x


@njit
def entropy(x, s):
    """H(x)."""
    total = 0.0
    for value in x:
        if s == 0.5:
            total += 4.0 * (np.sqrt(value) - value)
        elif value > 0.0:
            log = np.log(value)
            total += -value * log if s == 1.0 else value * np.expm1((s - 1.0) * log) / (s * (1.0 - s))
    return total


@njit
def money(L, beta, s):
    """W_L(β)."""
    x = point(L, beta, s)
    return beta * entropy(x, s) - (x * (L - L.min())).sum()


@njit
def psi(q, s):
    """ψ(q)."""
    if s == 0.5:
        return q / (2.0 + q)
    if q < 1e-5:
        return 0.5 * q
    if s == 1.0:
        return 1.0 + np.expm1(-q) / q
    return 1.0 + np.expm1(-s / (1.0 - s) * np.log1p((1.0 - s) * q)) / (s * q)


@njit
def psi_minus(r, s):
    """ψ₋(r), infinite from (1 − s)r = 1 on."""
    if s == 0.5:
        return r / (2.0 - r) if r < 2.0 else np.inf
    if r < 1e-5:
        return 0.5 * r
    if s == 1.0:
        return np.expm1(r) / r - 1.0
    if (1.0 - s) * r >= 1.0:
        return np.inf
    return np.expm1(-s / (1.0 - s) * np.log1p(-(1.0 - s) * r)) / (s * r) - 1.0


@njit
def cost(A, X, Z, beta, s, leader):
    """The smaller of plain and shifted."""
    P = Z @ A
    others = shift = plain = 0.0
    for i in range(X.size):
        pays = X[i]
        if P[i] > 0.0:
            pays *= psi(root(X[i], s) / (beta * P[i]), s)
        over = max(pays + Z[i] - X[i], 0.0)
        if i == leader:
            plain = over
            continue
        others += over
        if X[i] > 0.0:
            r = root(X[i], s) / (beta * P[leader]) if P[leader] > 0.0 else np.inf
            shift += X[i] * psi_minus(r, s)
    return others + min(plain, max(shift + Z[leader] - X[leader], 0.0))


@njit
def best_play(A, cover, X, beta, s):
    """(cost, Z): the cheapest of b = 0 and nine strengths of each family."""
    n, leader = X.size, int(X.argmax())
    load = cover @ A
    a = 0.0
    for i in range(n):
        a += X[i] if i != leader else 0.0
    best, play = cost(A, X, X, beta, s, leader), X.copy()
    for family in range(2 if a < 0.5 else 1):
        g = np.zeros(n)
        for j in range(n):
            for i in range(n):
                if A[j, i] > 0.0 and load[i] > 0.0:
                    x = min(X[i], a) if family == 1 and i == leader else X[i]
                    g[j] = max(g[j], cover[j] * root(x, s) / load[i])
        G = g.sum()
        if G == 0.0:
            continue
        top = (2.0 * beta * G) ** -0.5
        if family == 1:
            top = max(np.sqrt(a / (2.0 * beta * G)), max(1.0, 2.0 - 2.0 * s) / beta)
        for k in range(9):
            b = min(top * 2.0 ** ((2 - k) / 2.0), 0.5 / G)
            Z = (1.0 - b * G) * X + b * g
            price = cost(A, X, Z, beta, s, leader)
            if price < best:
                best, play = price, Z
    return best, play


@njit
def bought(L, beta, pay, most, s):
    """The β′ in [β, most] with W_L(β′) = W_L(β) + pay, `most` if that is beyond."""
    target = money(L, beta, s) + pay
    if money(L, most, s) <= target:
        return most
    b = most
    for _ in range(100):
        step = (money(L, b, s) - target) / entropy(point(L, b, s), s)
        b -= step
        if step <= 1e-15 * b:
            break
    return max(b, beta)


@njit
def game(A, cover, s, c, means, rounds, rng):
    """(pseudo-regret, certificate) of one game against coins."""
    n = means.size
    L, D = np.zeros(n), entropy(np.full(n, 1.0 / n), s)
    first = max(cover.sum() ** s / 2.0, c / D)
    beta = first
    regret, certificate = 0.0, beta * D
    for t in range(1, rounds + 1):
        X = point(L, beta, s)
        paid, Z = best_play(A, cover, X, beta, s)
        regret += (Z * means).sum() - means.min()
        certificate += paid
        P = Z @ A
        target, arm = rng.random() * Z.sum(), n - 1
        for j in range(n):
            target -= Z[j]
            if target < 0.0:
                arm = j
                break
        for i in range(n):
            lost = rng.random() < means[i]
            if A[arm, i] > 0.0 and lost:
                L[i] += 1.0 / P[i]
        after = bought(L, beta, c * paid, min(2.0 * beta, first * (t + 1.0) ** 2), s)
        if t < rounds:  # the certificate needs no purchase after the last round
            certificate += money(L, after, s) - money(L, beta, s)
        beta = after
    return regret, certificate
