"""Which of several Beta variates is the least, exactly."""

from __future__ import annotations

import numpy as np

from sidelight._types import Floats
from sidelight.errors import SolverError

ACCURACY = 1e-12
"""How well the two halves of a panel must agree with the whole."""
MOST_LEVELS = 200


def least_probabilities(a: Floats, b: Floats) -> Floats:
    """(n,) the probability that θ_i is the least of independent θ_j ~ Beta(a_j, b_j), all a, b ≥ 1.

        P_i = ∫ f_i(x) Π_{j≠i} (1 − F_j(x)) dx

    by Gauss-Legendre quadrature on panels that are halved until they agree. They start where Π(1 − F_j)
    has fallen by no more than an eighth, so no peak is overlooked; that the P_i add up to 1 is checked.
    All panels are evaluated at once: `scipy.integrate.quad_vec` takes 4 to 10 times as long, and minutes where
    posteriors of very different widths meet.

    >>> least_probabilities(np.array([1.0, 1.0, 1.0]), np.array([1.0, 1.0, 1.0])).round(9).tolist()
    [0.333333333, 0.333333333, 0.333333333]
    """
    if a.size == 1:
        return np.ones(1)
    panels = _panels(a, b)
    total = np.zeros(a.size)
    whole = _integrals(panels, a, b)
    for _ in range(MOST_LEVELS):
        middle = panels.mean(axis=1)
        halves = np.stack(
            [np.column_stack([panels[:, 0], middle]), np.column_stack([middle, panels[:, 1]])], axis=1
        )
        parts = _integrals(halves.reshape(-1, 2), a, b).reshape(-1, 2, a.size)
        finer = parts.sum(axis=1)
        settled = (
            (np.abs(finer - whole).max(axis=1) <= ACCURACY)
            | (middle <= panels[:, 0])
            | (middle >= panels[:, 1])
        )
        total += finer[settled].sum(axis=0)
        if settled.all():
            break
        panels = halves[~settled].reshape(-1, 2)
        whole = parts[~settled].reshape(-1, a.size)
    if abs(total.sum() - 1) > 1e-8:
        raise SolverError(f"the probabilities of {a.size} arms add up to {total.sum()}, not to 1")
    shares: Floats = total / total.sum()
    return shares


def _panels(a: Floats, b: Floats) -> Floats:
    """(m, 2) intervals that cover [0, 1], over each of which all θ > x becomes less likely by ≤ 1/8."""
    done: list[Floats] = []
    panels = np.array([[0.0, 1.0]])
    for _ in range(MOST_LEVELS):
        fall = -np.diff(np.exp(_log_all_above(panels, a, b).sum(axis=-1)), axis=1)[:, 0]
        middle = panels.mean(axis=1)
        small = (fall <= 1 / 8) | (middle <= panels[:, 0]) | (middle >= panels[:, 1])
        done.append(panels[small])
        if small.all():
            break
        low, high, middle = panels[~small, 0], panels[~small, 1], middle[~small]
        panels = np.concatenate([np.column_stack([low, middle]), np.column_stack([middle, high])])
    return np.concatenate(done)


def _log_all_above(x: Floats, a: Floats, b: Floats) -> Floats:
    """log(1 − F_j(x)) for every arm, in a new last axis."""
    from scipy.special import betainc

    above = betainc(b, a, 1.0 - x[..., None])
    logs: Floats = np.log(np.maximum(above, 1e-300))
    return logs


def _integrals(panels: Floats, a: Floats, b: Floats) -> Floats:
    """(m, n) the integrand of every arm over every panel."""
    from scipy.stats import beta

    nodes, weights = np.polynomial.legendre.leggauss(16)
    half = np.diff(panels, axis=1) / 2
    x = panels.mean(axis=1, keepdims=True) + half * nodes
    above = _log_all_above(x, a, b)
    others = np.exp(above.sum(axis=-1, keepdims=True) - above)
    result: Floats = np.einsum("mkn,k,m->mn", beta.pdf(x[..., None], a, b) * others, weights, half[:, 0])
    return result
