"""TS-N: Thompson sampling, updated by every observation."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sidelight._types import Floats, Ints
from sidelight.engine._numba.jit import inlined, internal
from sidelight.engine.random import next_unit
from sidelight.engine.rules import add_losses, note_certain, rule_kernels
from sidelight.errors import SolverError
from sidelight.policy.rule import Rule

if TYPE_CHECKING:
    from sidelight.engine.rules import RuleState


@internal()
def choose(state):
    """The arm of least sample, one from each posterior Beta(1 + losses, 1 + observations − losses)."""
    best, least = 0, math.inf
    for i in range(state.counts.size):
        loss = gamma(state.words, 1.0 + state.sums[i])
        gain = gamma(state.words, 1.0 + (state.counts[i] - state.sums[i]))
        sample = loss / (loss + gain)
        if sample < least:
            best, least = i, sample
    return best


@internal()
def gamma(words, shape):
    """A gamma variate of shape ≥ 1 (Marsaglia & Tsang 2000)."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(words)
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            if math.log(1.0 - next_unit(words)) < 0.5 * x * x + d - d * v + d * math.log(v):
                return d * v


@inlined()
def normal(words):
    """A standard normal variate (Box & Muller)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - next_unit(words)))
    return radius * math.cos(2.0 * math.pi * next_unit(words))


class ts_n(Rule):
    """Draws a mean for every arm from its posterior Beta(1 + Σℓ, 1 + Σ(1−ℓ)) and plays the least.

    For stochastic losses (Tossou, Dimitrakakis & Dubhashi 2017; Lykouris, Tardos & Wali 2020). Losses between 0 and
    1 count as that much of a loss. No bound is claimed, and none exists against an adversary. Every arm must
    reveal itself.

    >>> import sidelight as sl
    >>> sl.baselines.ts_n(sl.families.mab(4)).policy(seed=1).probabilities.round(9).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    name = "ts_n"
    kernels = rule_kernels(name, choose, note_certain, add_losses)
    slow = True

    def probabilities(self, state: RuleState) -> Floats:
        """Integrals over the posteriors, by quadrature to about 1e−10."""
        return _kept(state.sums.tobytes(), state.counts.tobytes()).copy()

    def drawn(self, state: RuleState, arm: int, reveals: Ints, kept: Floats) -> tuple[float, Floats]:
        """From the integrals, which take milliseconds: deciding does without them."""
        shares = self.probabilities(state)
        seen = [shares[self.graph.in_neighbors(each)].sum() for each in reveals]
        return float(shares[arm]), np.array(seen)


@lru_cache(maxsize=64)
def _kept(sums: bytes, counts: bytes) -> Floats:
    """The same from the arrays as bytes: decisions that are made before anything is learnt share it."""
    losses, seen = np.frombuffer(sums), np.frombuffer(counts)
    return least_probabilities(1.0 + losses, 1.0 + (seen - losses))


# -- which of several Beta variates is the least, exactly ----------------------------------------------------


MOST_SEEN = 1e12
"""Posteriors of more observations are too narrow for the accuracy below, and nobody's."""
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
    if not ((a >= 1) & (b >= 1) & (a + b <= MOST_SEEN)).all():
        raise SolverError(
            "losses add up to at most the observations of their arm, of which there are 10¹² at most; these do not"
        )
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
