"""What an estimate costs one arm: ψ and ψ₋ of docs/theory/signed.md, section 2."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight._types import Floats

SMALL = 2e-3
"""Below this ψ is a sum of powers; above, the subtraction in its closed form costs three digits."""


def psi_minus(q: Any, order: Any) -> Floats:
    """ψ₋(q) = q⁻¹ ∫₀^q ((1−εz)^{−1/ε} − 1) dz with ε = 1 − order; ∞ from εq = 1 on. At −q it is −ψ(q).

    >>> float(psi_minus(1.0, 0.5)), float(psi_minus(2.0, 0.5))
    (1.0, inf)
    """
    return with_growth(q, order)[0]


def psi(q: Any, order: Any) -> Floats:
    """ψ(q) = q⁻¹ ∫₀^q (1 − (1+εz)^{−1/ε}) dz, in [0, 1).

    >>> float(psi(2.0, 0.5))
    0.5
    """
    return -psi_minus(-np.asarray(q), order)


def with_growth(q: Any, order: Any) -> tuple[Floats, Floats]:
    """ψ₋(q) and (qψ₋(q))′ = (1−εq)^{−1/ε} − 1; at −q they are −ψ(q) and −(qψ(q))′."""
    q, order = np.asarray(q, dtype=np.float64), np.asarray(order, dtype=np.float64)
    eps = 1 - order
    with np.errstate(all="ignore"):
        entropy = eps == 0
        logs = np.where(entropy, q, -np.log1p(-eps * q) / np.where(entropy, 1.0, eps))
        growth = np.expm1(logs)
        exact = np.where(entropy, growth, np.expm1(order * logs)) / (order * q) - 1
    # Σ_k q^k Π_{j<k} (1+jε)/(k+1)!
    series = q / 2 * (1 + (1 + eps) / 3 * q * (1 + (1 + 2 * eps) / 4 * q * (1 + (1 + 3 * eps) / 5 * q)))
    beyond = eps * q >= 1
    value = np.where(np.abs(q) < SMALL, series, np.where(beyond, np.inf, exact))
    return value, np.where(beyond, np.inf, growth)
