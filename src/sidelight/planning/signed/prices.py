"""What a round costs at most if it is played by a recipe, whatever the point X: docs/theory/signed.md."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight._types import Bools, Floats
from sidelight.engine.constants import MOST_EXPLORATION
from sidelight.planning.signed.arms import Costs, Recipe
from sidelight.planning.signed.psi import psi, psi_minus, with_growth
from sidelight.planning.signed.universal import universal_price


def price(costs: Costs, beta: Any, ratio: Any, recipe: Recipe) -> Floats:
    """The least of all that is proved for temperatures β on W and ratio·β on S, at most 1.

    It falls in β while the recipe stays: recipes may be played at higher temperatures.
    """
    return np.fmin(proved_price(costs, beta, ratio, recipe), 1.0)


def proved_price(costs: Costs, beta: Any, ratio: Any, recipe: Recipe, steps: int = 8) -> Floats:
    """The same without the 1; `steps` as in `hull_price`."""
    b, K, c = recipe
    values = two_group_price(costs, beta, ratio, recipe)
    if not costs.covered and np.any(c > 0):
        values = np.fmin(values, hull_price(costs, beta * ratio, recipe, steps))
    with np.errstate(all="ignore"):
        room = beta - costs.lean * costs.weak
        applies = (np.abs(b * beta - costs.lean) <= 1e-9 * costs.lean) & (c == 0) & (room > 0) & (ratio == 1)
        values = np.fmin(values, np.where(applies, costs.strong / room, np.inf))
    if costs.universal:
        even = universal_price(costs.covered, beta, b, c)
        values = np.fmin(values, np.where((costs.h == 1) & np.isinf(K), even, np.inf))
    return values


def explored(costs: Costs, beta_S: Any, recipe: Recipe) -> Floats:
    """κ̄ = b·weak + n_S·k_s(a₁/(β_S·K))^{1/s}·m^{−(1−s)/s}, the mass that is added to X at most."""
    lifted = costs.looped * most(costs.above / (beta_S * recipe.lift), costs.below, costs.s)
    return np.asarray(recipe.strength * costs.weak + np.where(np.isinf(recipe.lift), 0.0, lifted))


def chargeable(costs: Costs, beta_S: Any, recipe: Recipe) -> Bools:
    """Does an arm of S pay at most its own probability whatever X is, with some room (Lemma S: c·ψ₋(c·q) ≤ 1 − κ̄)?

    Then rounds may be charged by what the drawn arm pays over that.
    """
    total, (_, K, c) = explored(costs, beta_S, recipe), recipe
    with np.errstate(all="ignore"):
        pays = c * psi_minus(c * K / ((1 - total) * costs.loop), costs.s)
        return np.asarray((c == 0) | (pays <= 0.95 * (1 - total)))


def most(A: Any, v: Any, s: Any) -> Floats:
    """max_{x ≥ 0} Ax^{1−s} − vx = k_s·A^{1/s}·v^{−(1−s)/s} with k_s = s(1−s)^{(1−s)/s}."""
    eps = 1 - np.asarray(s)
    with np.errstate(all="ignore"):
        return np.asarray(s * eps ** (eps / s) * A ** (1 / s) * v ** (-eps / s))


def two_group_price(costs: Costs, beta: Any, ratio: Any, recipe: Recipe) -> Floats:
    """Lemma 7′: λ + Q·k_s·max{b₁^{1/s}λ^{−(1−s)/s}, b₀^{1/s}(λ−κ̄)^{−(1−s)/s}} for the best λ ≥ p; ∞ if κ̄ > ½."""
    b, K, c = recipe
    beta_S, s, eps = beta * ratio, costs.s, 1 - costs.s
    kappa = explored(costs, beta_S, recipe) if costs.looped else b * costs.weak
    with np.errstate(all="ignore"):
        p = kappa
        if costs.covered:
            q = np.divide(1.0, beta * b)
            p = np.maximum((1 - c) * psi((1 - c) * q, costs.h), c * psi_minus(c * q, costs.h) + kappa)
        if not costs.looped:
            return np.where(kappa <= MOST_EXPLORATION, p, np.inf)
        y, room = c * K / ((1 - kappa) * costs.loop), 2 * beta_S * (1 - kappa)
        b1, b0 = (1 - c) ** 2 / room, np.where(c > 0, 2 * psi_minus(y, s) / y * c**2 / room, 0.0)
        # λ + A₁λ^{−(1−s)/s} and λ + A₀(λ−κ̄)^{−(1−s)/s}: where either is least, where they meet, or p
        power = -eps / s
        A1, A0 = costs.seen * most(b1, 1.0, s), costs.seen * most(b0, 1.0, s)
        meet = kappa / (1 - (b0 / b1) ** (1 / eps))
        tried = np.stack(np.broadcast_arrays(p, (-power * A1) ** s, kappa + (-power * A0) ** s, meet))
        lam = np.maximum(np.where(np.isnan(tried), p, tried), p)
        zero = np.where(A0 > 0, A0 * (lam - kappa) ** power, 0.0)
        value = np.fmin.reduce(lam + np.maximum(A1 * lam**power, zero))
        proved = (kappa <= MOST_EXPLORATION) & ((c == 0) | ((eps > 0) & (eps * y < 1))) & ~np.isnan(value)
    return np.where(proved, value, np.inf)


def hull_price(costs: Costs, beta: Any, recipe: Recipe, steps: int = 8) -> Floats:
    """Lemma 5′: N·ĥ(1/N), ĥ the concave hull of what an arm of probability x pays at most. W = ∅, loops are certain.

    It is the least over μ of μ + N·max_x {h(x) − μx}; every μ proves something, `steps` are tried after the first.
    Up to the end of the lift h is below a line and a root. Beyond, it is the larger of two functions, one concave and
    one convex and then concave; concave parts are below their tangents, convex ones below their ends.
    """
    N, s, (_, K, c) = costs.looped, costs.s, recipe
    eps = 1 - s
    with np.errstate(all="ignore"):
        total = explored(costs, beta, recipe)
        y = c * K / (1 - total)
        mean, growth = with_growth(y, s)
        elasticity, rate = growth / mean - 1, c * psi_minus(c * K, s)
        k = rate * N**s / (beta * K) * elasticity / (1 - total) ** (elasticity + 1)
        root, lazy = costs.above / (beta * K), costs.above / costs.below
        # (2, 1, …): arms that lose 0, then arms that lose 1; f = CxΨ(Cx^{−s}/β), Ψ = ψ₋ or ψ
        side = np.array([1.0, -1.0]).reshape(2, 1, *(1,) * np.ndim(rate))
        C = np.where(side > 0, c, 1 - c)
        # lifts end where q(x) is K·m/a₁; on cells before, f is below the line through where the cell begins
        cells, weight, ends = 1 if costs.above == 1 else 3, k + (side < 0), [np.zeros(())]
        lines = []
        for cell in range(cells):
            lines.append(C * side * psi_minus(side * C * K * lazy ** (-cell / cells), s))
            ends.append(np.minimum((lazy ** ((cell + 1) / cells) / (beta * K)) ** (1 / s), 1.0))
        end = ends[-1]

        def pays(x: Any) -> tuple[Floats, Floats, Floats]:
            """f, f′ and xf″."""
            y = side * C * x**-s / beta
            mean, growth = with_growth(y, s)
            bent = s * (s * y * (1 + growth) / (1 - eps * y) - (1 + s) * (growth - mean))
            return side * C * x * mean, side * C * ((1 + s) * mean - s * growth), side * C * bent

        at_even = pays(1 / N)

        def bound(mu: Floats) -> tuple[Floats, Floats, Floats]:
            """μ, μ + N·max_x {h(x) − μx} from above, and its derivative 1 − Nx."""
            tops, places = [], []
            for cell, line in enumerate(lines):
                slope, A = line - weight * costs.below - mu, weight * root
                x = np.where(slope < 0, (eps * A / -slope) ** (1 / s), np.inf)
                x = np.clip(x, ends[cell], ends[cell + 1])
                tops.append(slope * x + A * x**eps)
                places.append(x)
            x, top = np.asarray(1 / N), np.asarray(np.inf)
            for turn in range(3):  # f′ is nearly a power of x
                f, slope, curve = pays(x) if turn else at_even
                over = f - mu * x + np.maximum((slope - mu) * (1 - x), (slope - mu) * (end - x))
                top, place = np.fmin(top, np.where(curve <= 0, over, np.inf)), x
                step = np.log(slope / np.maximum(mu, 1e-300)) * slope / -curve
                x = np.clip(x * np.exp(np.clip(step, -3.0, 3.0)), end, 1.0)
            top, place = np.concatenate([*tops, top]), np.concatenate([*places, place])
            first = top.argmax(axis=0)[None]
            return mu, mu + N * _pick(top, first), 1 - N * _pick(place, first)

        # convex in μ; the tangents left and right of the minimum meet near it
        low, high = at_even[1].min(axis=0), at_even[1].max(axis=0)
        tried = bound(np.concatenate([-low, 0.6 * low, low, high]))
        first = np.clip((tried[2] < 0).sum(axis=0) - 1, 0, 2)[None]
        left, right = ([_pick(each, first + k)[None] for each in tried] for k in (0, 1))
        best = np.fmin.reduce(tried[1])
        for _ in range(steps):
            mu = between(*left, *right)
            new = bound(mu)
            best, falls = np.fmin(best, new[1][0]), new[2] < 0
            left = [np.where(falls, *pair) for pair in zip(new, left, strict=True)]
            right = [np.where(falls, *pair) for pair in zip(right, new, strict=True)]
        proved = (total <= np.minimum(c, MOST_EXPLORATION)) & (eps * y < 1) & (costs.loop == 1) & (best > 0)
    return np.where(proved, best, np.inf)


def between(low: Floats, v: Floats, d: Floats, high: Floats, w: Floats, e: Floats) -> Floats:
    """Where the tangents of a convex function meet, with values v, w and slopes d, e; the middle if they do not."""
    with np.errstate(all="ignore"):
        mu = (v - w + e * high - d * low) / (e - d)
    return np.where((mu > low) & (mu < high), mu, (low + high) / 2)


def _pick(values: Floats, index: Any) -> Floats:
    """Along the first axis."""
    return np.asarray(np.take_along_axis(values, index, 0)[0])
