"""Estimates with a shift, (ℓ − c)/P: what a round costs, its prices, and bounds from them (docs/theory/signed.md).

r[j, i] is the probability that playing j reveals i. Orders s and temperatures τ are numbers, or arrays with an entry
for each arm. Prices are upper bounds for any parameters, so a search for good ones needs no proof; the few maxima
that prices contain are bounded from above, by closed forms or on cells, on which rising and falling factors are taken
at opposite ends.
"""

from itertools import product

import numpy as np
from scipy.optimize import brentq, minimize, minimize_scalar

# ------------------------------------------------------------------ one coordinate


def psi_minus(q, s):
    """ψ₋(q) = q⁻¹ ∫₀^q ((1−εz)^{−1/ε} − 1) dz, ε = 1−s; infinite from εq = 1 on. For q < 0 it is −ψ(−q)."""
    q, s = np.broadcast_arrays(np.asarray(q, dtype=float), np.asarray(s, dtype=float))
    eps = 1 - s
    with np.errstate(all="ignore"):
        power = np.where(eps == 0, q, -s * np.log1p(-eps * q) / np.where(eps == 0, 1, eps))
        exact = np.expm1(power) / (s * q) - 1
        beyond = (eps * q >= 1) | (q == np.inf)
    series = np.zeros_like(q)
    small = np.where(np.abs(q) < 0.02, q, 0.0)
    for k in range(9, 0, -1):  # Σ_k q^k Π_{j<k} (1+jε)/(k+1)!
        series = small * (1 + (k - 1) * eps) / (k + 1) * (1 + series)
    value = np.where(np.abs(q) < 0.02, series, np.where(beyond, np.inf, exact))
    return value if value.ndim else float(value)


def psi(q, s):
    """ψ(q) = q⁻¹ ∫₀^q (1 − (1+εz)^{−1/ε}) dz."""
    return -psi_minus(-np.asarray(q, dtype=float), s)


def paid(v, X, s, tau):
    """f(v) = max_{y ≥ 0} v(X−y) − τ·Bregman(y, X): vXψ(vX^ε/τ) for v ≥ 0, |v|Xψ₋(|v|X^ε/τ) for v < 0."""
    with np.errstate(invalid="ignore"):
        return np.where((v == 0) | (X == 0), 0.0, v * X * psi(v * X ** (1 - s) / tau, s))


# ------------------------------------------------------------------ potentials


def entropy(x, s, tau):
    """H_τ(x) = Σ τ_i(x_i^{s_i} − x_i)/(s_i(1−s_i)), −τ_i x_i ln x_i where s_i = 1; 0 at every vertex."""
    x, s, tau = np.broadcast_arrays(np.asarray(x, dtype=float), s, tau)
    eps = np.where(s == 1, 1.0, 1 - s)
    logs = np.log(np.where(x > 0, x, 1.0))
    return float((tau * x * np.where(s == 1, -logs, np.expm1((s - 1) * logs) / (s * eps))).sum())


def point(L, s, tau):
    """X, the minimiser of ⟨L, x⟩ − H_τ(x): x_i = (1+εy_i)^{−1/ε}, y_i = 1/s + (L_i+λ)/τ_i ≥ 0, λ from Σx = 1."""
    L, s, tau = np.broadcast_arrays(np.asarray(L, dtype=float), np.asarray(s, dtype=float), tau)
    eps = np.where(s == 1, 1.0, 1 - s)
    lam = (
        -L - tau / s
    ).max()  # one x_i is 1 here, and Σx is convex and falls: Newton from the left never oversteps
    for _ in range(200):
        y = np.maximum(1 / s + (L + lam) / tau, 0.0)
        x = np.where(s == 1, np.exp(-y), (1 + eps * y) ** (-1 / eps))
        move = (x.sum() - 1) / (x ** (2 - s) / tau).sum()
        lam += move
        if move <= 1e-15 * (1 + abs(lam)):
            break
    return x / x.sum()


def money(L, s, tau):
    """W_L(τ) = min L − min_x {⟨L, x⟩ − H_τ(x)} ≥ 0."""
    X = point(L, s, tau)
    return entropy(X, s, tau) - float(X @ (L - L.min()))


def stability(v, X, s, tau):
    """σ = max_y {⟨v, X−y⟩ − Bregman(y, X)} over the simplex, for every row of v; the maximiser solves Σy = 1."""
    v = np.asarray(v, dtype=float)
    low, high = v.min(axis=-1), v.max(axis=-1)
    s, tau = np.broadcast_to(s, X.shape), np.broadcast_to(tau, X.shape)
    eps = np.where(s == 1, 1.0, 1 - s)

    def change(lam):  # (y − X)/X, without the cancellation
        z = (v - lam[..., None]) * X ** (1 - s) / tau
        with np.errstate(all="ignore"):
            rises = np.expm1(np.where(s == 1, -z, -np.log1p(np.maximum(eps * z, -1.0)) / eps))
        return np.where(X > 0, rises, 0.0)

    for _ in range(70):
        middle = (low + high) / 2
        above = (change(middle) * X).sum(axis=-1) > 0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    d = change(low)
    total = (d * X).sum(axis=-1, keepdims=True)
    d = (d - total) / (1 + total)
    logs = np.where(d > -1, np.log1p(np.where(d > -1, d, 0.0)), -745.0)  # ln(y/X); e^{−745} is 0
    exact = np.where(s == 1, (1 + d) * logs - d, (s * d - np.expm1(s * logs)) / (s * eps))
    series = d**2 / 2 - (2 - s) * d**3 / 6 + (2 - s) * (3 - s) * d**4 / 24
    return (-v * X * d - tau * X**s * np.where(np.abs(d) < 1e-3, series, exact)).sum(axis=-1)


# ------------------------------------------------------------------ a round


def outcomes(r, Z):
    """(probabilities, what is revealed) of all that may happen in a round, coins of one play being independent."""
    chances, seen = [], []
    for j in np.flatnonzero(Z):
        unsure = np.flatnonzero((r[j] > 0) & (r[j] < 1))
        for works in product((1.0, 0.0), repeat=unsure.size):
            row = (r[j] == 1).astype(float)
            row[unsure] = works
            chances.append(Z[j] * np.where(row[unsure] > 0, r[j][unsure], 1 - r[j][unsure]).prod())
            seen.append(row)
    return np.array(chances), np.array(seen)


def vertices(n):
    """(2^n, n): all losses in {0, 1}^n."""
    return np.array(list(product((0.0, 1.0), repeat=n)))


def expected(r, X, Z, s, tau, c, losses):
    """E[σ] of the round for every row of losses, exactly."""
    chances, seen = outcomes(r, Z)
    P = Z @ r
    estimates = seen[:, None, :] * (losses - c)[None, :, :] / P
    return chances @ stability(estimates, X, s, tau)


def kernel(r, X, Z, s, tau, c, theta=0.0, leader=None, extra=None):
    """K_{c,θ}(Δ) of Lemma 1, Δ = Z − X unless given: at least E[σ] + ⟨ℓ, Δ⟩ whatever the losses are. All P > 0."""
    lead = int(X.argmax()) if leader is None else leader
    extra = Z - X if extra is None else extra
    P = Z @ r
    leads = r[:, [lead]]
    both, alone, only_lead = Z @ (r * leads), Z @ (r * (1 - leads)), Z @ ((1 - r) * leads)  # J, P−J, P_I−J
    others = np.arange(X.size) != lead
    losses = np.array([[0.0], [1.0]])
    u = (losses - c) / P
    s, tau = np.broadcast_to(s, X.shape), np.broadcast_to(tau, X.shape)

    def times(p, f):
        with np.errstate(invalid="ignore"):
            return np.where(p > 0, p * f, 0.0)

    totals = []
    for loss in (0.0, 1.0):
        v = (loss - c) / P[lead]
        bracket = (
            times(alone, paid(u, X, s, tau))
            + times(only_lead, paid(np.full(X.size, -theta * v), X, s, tau))
            + times(both, paid(u - theta * v, X, s, tau))
            + losses * extra
        )
        own = P[lead] * float(paid((1 - theta) * v, X[lead], s[lead], tau[lead])) + loss * extra[lead]
        totals.append(own + bracket.max(axis=0)[others].sum())
    return float(max(totals))


def plain(X, P, Z, s, tau, c):
    """K_{c,0}(Z−X) = Σ max{cXψ₋(cq), (1−c)Xψ((1−c)q) + Z − X}, q = X^ε/(τP)."""
    q = X ** (1 - s) / (tau * P)
    with np.errstate(invalid="ignore"):
        zero = np.where(X > 0, c * X * psi_minus(c * q, s), 0.0) if c else np.zeros(X.size)
    return float(np.maximum(zero, (1 - c) * X * psi((1 - c) * q, s) + Z - X).sum())


def best_theta(X, s, tau, leader=None):
    """θ* = (X_I^{2−s_I}/τ_I)/Σ_i X_i^{2−s_i}/τ_i: the best θ to second order where nobody is seen together with I."""
    weights = X ** (2 - np.asarray(s)) / tau
    return float(weights[X.argmax() if leader is None else leader] / weights.sum())


# ------------------------------------------------------------------ covered arms


def directions(r, cover, X, s, covered=True):
    """g_j = x*_j · max r_{ji}^{1/s−1}X_i^{1−s}/c_i over the covered i that j reveals, c_i = Σ_j r_{ji}^{1/s}x*_j."""
    loads = cover @ r ** (1 / s)
    owed = np.where(covered, X ** (1 - s), 0.0) / np.where(loads > 0, loads, 1.0)
    return cover * (np.where(r > 0, r, 1.0) ** (1 / s - 1) * (r > 0) * owed).max(axis=1)


def weak_round(q, gamma, c, s):
    """Lemma 2: max{(1−c)ψ((1−c)q̄), cψ₋(cq̄) + γ}."""
    return np.maximum((1 - c) * psi((1 - c) * q, s), c * psi_minus(c * q, s) + gamma)


def weak_price(x, s):
    """(p_s(x), γ, c), x = β/δ^s: the least of Lemma 2 over γ ≤ ½ and c ≤ ½ that a search finds."""
    low, high = 0.02, 0.5
    for _ in range(4):
        gamma = np.exp(np.linspace(np.log(low), np.log(high), 15)) * min(1.0, x**-0.5)
        q = 1 / (x * gamma)
        c, top = np.zeros_like(gamma), np.full_like(gamma, 0.5)
        for _ in range(45):  # the first member falls in c, the second rises
            middle = (c + top) / 2
            first = (1 - middle) * psi((1 - middle) * q, s)
            more = first > middle * psi_minus(middle * q, s) + gamma
            c, top = np.where(more, middle, c), np.where(more, top, middle)
        values = weak_round(q, gamma, c, s)
        k = int(values.argmin())
        scale = min(1.0, x**-0.5)
        low, high = gamma[max(k - 1, 0)] / scale, gamma[min(k + 1, 14)] / scale
    return float(values[k]), float(gamma[k]), float(c[k])


def weak_closed_form(x):
    """Lemma 3: (2q/9, γ, c) with q = √(6/x) ≤ 2, γ = q/6, c = ⅓ − q/18, whatever s is."""
    q = (6 / x) ** 0.5
    return 2 * q / 9, q / 6, 1 / 3 - q / 18


def diameter(s, n):
    """D = (n^{1−s} − 1)/(s(1−s)), ln n for s = 1."""
    return float(np.log(n)) if s == 1 else (n ** (1 - s) - 1) / (s * (1 - s))


def weak_bound(n, delta, T, s):
    """min_β Dβ + T·w(β), w(β) = min(1, p_s(β/δ^s)): all n arms covered with mass δ."""
    D, weak = diameter(s, n), delta**s
    centre = np.log((T * (2 * weak / 27) ** 0.5 / D) ** (2 / 3))

    def value(log_beta):
        return D * np.exp(log_beta) + T * min(1.0, weak_price(np.exp(log_beta) / weak, s)[0])

    return float(minimize_scalar(value, bounds=(centre - 0.6, centre + 0.3), options={"xatol": 0.01}).fun)


# ------------------------------------------------------------------ arms with self-loops: a floor


def most(A, v, s):
    """max_{x ≥ 0} Ax^{1−s} − vx = s(1−s)^{(1−s)/s}·A^{1/s}·v^{−(1−s)/s}."""
    return s * (1 - s) ** ((1 - s) / s) * A ** (1 / s) * v ** (-(1 - s) / s)


def bandit_shift(N, beta, s):
    """c = ½ − (2−s)N^s/(24β), cut to [0, ½]: both ends of the maximum agree to second order at X uniform."""
    return min(0.5, max(0.0, 0.5 - (2 - s) * N**s / (24 * beta)))


def loops_price(N, beta, Q=None):
    """(ē, price) of Lemma 4: s = c = ½, K = 2, β² ≥ N, Σ x/P(x) ≤ Q."""
    e = N / (16 * beta**2)
    return e, (N if Q is None else Q) ** 0.5 / (8 * beta * (1 - e)) + N / (14.9 * (beta * (1 - e)) ** 2)


# ------------------------------------------------------------------ two groups


def two_group_price(beta, beta_S, n_W, n_S, delta, Q, h, s, gamma, c, K):
    """Lemma 7′ for the recipe (γ, c, K), with the best λ of a few; inf if it does not apply."""
    kappa = gamma + (n_S * most(1 / (beta_S * K), 1.0, s) if c and n_S else 0.0)
    K = K / (1 - kappa)
    if kappa > 0.5 or (c and n_S and (s == 1 or (1 - s) * c * K >= 1)):
        return np.inf
    p = kappa
    if n_W:
        q = delta**h / (beta * gamma)
        p = max((1 - c) * psi((1 - c) * q, h), (c * psi_minus(c * q, h) if c else 0.0) + kappa)
    if not n_S:
        return p
    b1 = (1 - c) ** 2 / (2 * beta_S * (1 - kappa))
    b0 = 2 * psi_minus(c * K, s) / (c * K) * c**2 / (2 * beta_S * (1 - kappa)) if c else 0.0
    own = (Q * most(1.0, 1.0, s) * (1 - s) / s) ** s

    def value(lam):
        return lam + Q * max(most(b1, lam, s), most(b0, lam - kappa, s) if c else 0.0)

    tried = [p, b1 * own, kappa + b0 * own]
    if b1 > b0 > 0:  # where both terms cross: b₁/λ^ε = b₀/(λ−κ)^ε
        tried.append(kappa / (1 - (b0 / b1) ** (1 / (1 - s))))
    above = kappa * (1 + 1e-9)
    return min(value(lam) for lam in (max(each, p, above) for each in tried) if lam > 0)


def two_group_diameter(beta, beta_S, n_W, n_S, h, s):
    """D(β, β_S) = max_z βm_h(n_W, 1−z) + β_Sm_s(n_S, z), m_s(n, y) = (n^{1−s}y^s − y)/(s(1−s)), by a tangent."""

    def height(n, y, o):  # m and its derivative
        if o == 1:
            return y * np.log(n / y), np.log(n / y) - 1
        return (n ** (1 - o) * y**o - y) / (o * (1 - o)), (n ** (1 - o) * o * y ** (o - 1) - 1) / (
            o * (1 - o)
        )

    if not n_W or not n_S:
        return beta * diameter(h, n_W) if n_W else beta_S * diameter(s, n_S)

    def slope(z):
        return beta_S * height(n_S, z, s)[1] - beta * height(n_W, 1 - z, h)[1]

    low, high = 1e-12, 1 - 1e-12
    z = low if slope(low) <= 0 else high if slope(high) >= 0 else brentq(slope, low, high, xtol=1e-15)
    value = beta * height(n_W, 1 - z, h)[0] + beta_S * height(n_S, z, s)[0]
    return float(value + max(slope(z) * (1 - z), -slope(z) * z))  # concave: below its tangent on [0, 1]


# ------------------------------------------------------------------ every arm is revealed by all others


def phi(y):
    """φ(y) = 2(e^y − 1 − y)/y² = 2ψ₋(y)/y at s = 1."""
    return 2 * psi_minus(y, 1.0) / y


def universal_variance(m, c):
    """v(m) = m(1−c)² + (1−m)c² + 2m(1−m)c(1−c) ≥ E Var_Z(ℓ̃) for losses of 0 and 1 with the mean m under Z."""
    return m * (1 - c) ** 2 + (1 - m) * c**2 + 2 * m * (1 - m) * c * (1 - c)


def universal_price(N, beta, k, c, tau, loops=True, cells=2000):
    """Theorem C: what a round costs at most if every arm is revealed by all others; some may have loops, or none."""
    gamma = k / (beta * (1 - 1 / N))
    if not (gamma < 1 and 0 < tau < 0.5):
        return np.inf
    rho, P = 1 / (1 - gamma), (1 - gamma) * (1 - tau)
    bend = phi(1 / (beta * (1 - gamma) * tau)) / (2 * beta)
    # (1) φ/(2β)·v(m) + γ(1−m): a concave parabola in m with this slope at 0 and this bend
    rise, curve = bend * (1 - 2 * c + 2 * c * (1 - c)) - gamma, bend * 4 * c * (1 - c)
    m = min(1.0, max(0.0, rise / curve if curve > 0 else float(rise > 0)))
    one = rho * (bend * universal_variance(m, c) + gamma * (1 - m))
    # (2) cells in t = 1/π: (1−kt) and (1−c+c₀/t)² fall, φ rises
    c0 = c / (beta * P)
    t = np.exp(np.linspace(-np.log(k + beta * tau), -np.log(k), cells + 1))
    worst = (1 - k * t[:-1]) * (1 - c + c0 / t[:-1]) ** 2 * phi((1 - c) * t[1:] + c0) / 2
    drawn = tau * max((1 - c) ** 2, c**2 * phi(max(c0, 1e-12))) / (2 * beta * P**2)
    won = rho * (c + (1 - c) * (1 - P) / P) ** 2 / (2 * beta) + gamma
    two = drawn + max(rho / beta * float(worst.max()) + gamma * tau, won)
    three = tau * phi(1 / (beta * P)) / (2 * beta * P**2) + gamma if loops else 0.0
    return float(max(one, two, three))


def universal_bound(N, T):
    """(bound, (β, k, c, τ)): β ln N + T·price, with the parameters that a search finds."""

    def value(at, cells=200):
        beta, k, tau = np.exp(at[:3])
        if not 0 <= at[3] <= 1:
            return 2.0 * T
        return beta * np.log(N) + T * min(1.0, universal_price(N, beta, k, at[3], tau, cells=cells))

    start = np.array([*np.log([(0.26 * T / np.log(N)) ** 0.5, 0.1, 0.1]), 0.5])
    for _ in range(2):
        found = minimize(
            value, start, method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-3, "maxiter": 200}
        )
        start = found.x
    return value(start, 5000), (*np.exp(start[:3]), start[3])
