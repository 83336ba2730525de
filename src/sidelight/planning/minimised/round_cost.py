"""What a round costs where one simplex plays all arms: the larger of stability and exploration, never their sum.

With losses ℓ, the point X and m = ⟨ℓ, X⟩, stability is at most A·m: an arm pays only for what it loses. Exploration
takes its mass from all arms alike, so it costs at most γ̄·(1 − m). Proof: docs/theory/fixed-rates.md, section 2.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from sidelight.engine.constants import MOST_EXPLORATION
from sidelight.planning.potentials import Numbers

LARGEST = MOST_EXPLORATION * (1 - 2**-50)
"""γ̄ where it is cut: at ½ after all rounding."""

SMALLEST = 1e-300


def round_cost(stability: float, explored: float, root: float = 0.0) -> float:
    """max over z ∈ [0, 1] of M(1−z) + B√z, M = max(A, γ̄): a round costs no more.

    `stability` is A, what covered arms pay for each unit of loss, η/(2β); `explored` is γ̄ or more; `root` is B, what
    arms with self-loops of total mass z pay, B√z.

    >>> round_cost(0.25, 0.125), round_cost(0.25, 0.375, 0.1)
    (0.25, 0.38166666666666665)
    """
    most = max(stability, explored)
    return peak(most, most, root)


def peak(base: float, slope: float, root: float) -> float:
    """max over z ∈ [0, 1] of base − slope·z + root·√z."""
    return base + root * root / (4 * slope) if root < 2 * slope else base - slope + root


def even_strength(eta: float, demand: float, extra: float = 0.0) -> float:
    """The β that makes stability and exploration even, η/(2β) = β·demand + extra, or the one that explores ½.

    `demand` is κδ^h: exploration is at most β times that, and `extra`. As good as 0 if `extra` alone exceeds ½.
    """
    even = eta / (extra + sqrt(extra * extra + 2 * eta * demand))  # 2·demand·β² + 2·extra·β = η
    return float(max(min(even, (LARGEST - extra) / demand), SMALLEST))


class OneBlock(NamedTuple):
    """One block alone, in units of its diameter D: rate η = D·`step`, exploration β = D·`b`."""

    step: Numbers
    b: Numbers
    value: Numbers  # 1/step + T·max(step/(2b), b·M)


def one_block(T: float, demand: Numbers) -> OneBlock:
    """The least bound of one block with M = `demand` = κ·D·δ^h, of many at once.

        3/2·M^{1/3}T^{2/3} for T ≥ 8M,      2M + T/2 for T ≥ 4M,      2√(MT) below

    From T = 8M on stability and exploration are even, at γ̄ = (M/T)^{1/3} ≤ ½; before that exploration stays at ½.

    >>> [round(one_block(T, 1000.0).value) for T in (10**6, 6_000, 1_000)]
    [150000, 5000, 2000]
    """
    M = np.asarray(demand, dtype=np.float64)
    step = np.where(T >= 8 * M, 2 / np.cbrt(M * T * T), np.maximum(1 / (2 * M), 1 / np.sqrt(M * T)))
    b = np.minimum(np.sqrt(step / (2 * M)), LARGEST / M)
    value = 1 / step + T * np.maximum(step / (2 * b), b * M)
    return OneBlock(step, b, value) if M.ndim else OneBlock(float(step), float(b), float(value))
