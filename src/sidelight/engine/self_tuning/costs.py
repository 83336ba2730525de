"""What a round costs, arm by arm: docs/theory/self-tuning.md, section 2.

With q_i = X_i^{1−s}/(βP_i) and r_i = X_i^{1−s}/(βP_I) an arm costs A_i + Z_i − X_i, if that is positive, where

    A_i = X_i·ψ(q_i),   for the leader I the smaller of that and B = Σ_{i≠I} X_i·ψ₋(r_i).

In place of B stands an upper bound that needs two numbers: (Σ_{i≠I} X_i^{2−s})·ψ₋(r̄)/(r̄βP_I) with r̄ ≥ every r_i.
"""

import math

from sidelight.engine._numba.jit import inlined, internal, noinline

SMALL = 1e-4
"""Below this ψ and ψ₋ are taken from three terms of their series: less is lost than by cancellation."""
TINY = 1e-300
"""Keeps 0/0 away."""


@internal()
def general_psi(q, s):
    """ψ(q) = 1 − (1 − (1+εq)^{−s/ε})/(sq), ε = 1 − s, for s ≠ ½."""
    noinline()
    rest = 1.0 - s
    if q < SMALL:
        return 0.5 * q * (1.0 - (1.0 + rest) * q * (1.0 / 3.0) * (1.0 - 0.25 * (1.0 + 2.0 * rest) * q))
    if rest == 0.0:
        return 1.0 + math.expm1(-q) / q
    return 1.0 + math.expm1(-s / rest * math.log1p(rest * q)) / (s * q)


@internal()
def general_psi_minus(r, s):
    """ψ₋(r) = ((1−εr)^{−s/ε} − 1)/(sr) − 1, infinite from εr = 1 on, for s ≠ ½."""
    noinline()
    rest = 1.0 - s
    if r < SMALL:
        return 0.5 * r * (1.0 + (1.0 + rest) * r * (1.0 / 3.0) * (1.0 + 0.25 * (1.0 + 2.0 * rest) * r))
    if rest == 0.0:
        return math.expm1(r) / r - 1.0
    if rest * r >= 1.0:
        return math.inf
    return math.expm1(-s / rest * math.log1p(-rest * r)) / (s * r) - 1.0


@inlined()
def pays(s, x, root, seen):
    """A of an arm with X = x, X^{1−s} = root and βP = seen: x·ψ(root/seen), x where it is never seen."""
    if s == 0.5:
        return x * root / (2.0 * seen + (root + TINY))
    return x * general_psi(root / seen, s) if root < 1e300 * seen else x


@inlined()
def shifted(s, others, largest, seen):
    """The bound of B: others = Σ_{i≠I} X_i^{2−s}, largest ≥ X_i^{1−s} for i ≠ I, seen = βP_I."""
    if not largest < 1e300 * seen:
        return math.inf if others > 0.0 else 0.0
    r = largest / seen
    if s == 0.5:
        return others / (seen * (2.0 - r)) if r < 2.0 else math.inf
    return others / seen * (general_psi_minus(r, s) / r if r > 0.0 else 0.5)
