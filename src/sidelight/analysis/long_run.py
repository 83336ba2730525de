"""What telling the best arm apart costs in the long run, when the loss of every arm is a coin of its own.

Whoever's regret grows slower than every power of T on all coins pays c*·log T at least on these (Graves & Lai 1997):
plays of arm j, w_j·log T of them, must tell these coins from all others under which another arm is best. With
O = Aᵀw the observations they give, μ* the least mean, and arms that a best arm reveals seen for nothing:

    c* = min Σ_j w_j (μ_j − μ*)   s.t.   O_i·kl(μ_i, x) + O_*·kl(μ*, x) ≥ 1   for every worse arm i, every x between

Where a best arm reveals itself, O_* = ∞ and that says O_i ≥ 1/kl(μ_i, μ*). Otherwise the other coins may differ in
both arms at once, and c* is up to about twice what follows from changing one of them (Wu, György & Szepesvári 2015).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sidelight._types import Floats, Longs
from sidelight.analysis import linear
from sidelight.analysis.observability import observability
from sidelight.errors import InvalidOption, UnobservableGraph
from sidelight.graph import GivenGraph, graph_of
from sidelight.graph.names import names

GAP, MOST_CUTS = 1e-9, 50
"""How close the two numbers should come, relatively, and how many programs may be solved for that."""
INSIDE = 1e-9
"""x keeps this share of the way away from means, where kl may be infinite."""


class LongRun(NamedTuple):
    """c* between two numbers, which agree to 10⁻⁹ unless arms are all but tied, and the plays of the larger."""

    value: float  # what the plays cost, which tell all apart
    lower: float  # the least cost of what satisfies some of the constraints
    plays: Floats  # (n,) w: plays of each arm, over log T, without those of the best

    def at(self, t: npt.ArrayLike) -> Floats:
        """c*·log t, at least."""
        times: Floats = self.lower * np.log(t)
        return times


def kl(p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    """The relative entropy of coins, p·log(p/q) + (1−p)·log((1−p)/(1−q))."""
    from scipy.special import rel_entr  # slow to import, and plans do without

    p, q = np.asarray(p), np.asarray(q)
    entropy: Floats = rel_entr(p, q) + rel_entr(1 - p, 1 - q)
    return entropy


def long_run(graph: GivenGraph, means: npt.ArrayLike) -> LongRun:
    """c* of coins with these means, and how often each worse arm is played; 0 where the best arms reveal all others.

    A linear program that is given the x that it violates most, until its value is certified. On bandits that is
    Σ (μ_i − μ*)/kl(μ_i, μ*), at most Σ 1/(2(μ_i − μ*)).

    >>> import sidelight as sl
    >>> round(long_run(sl.families.mab(3), [0.3, 0.5, 0.5]).value, 3)
    4.588
    """
    graph = graph_of(graph, "long_run")
    mu = np.asarray(means, dtype=np.float64)
    if mu.shape != (graph.n_arms,) or not ((mu >= 0) & (mu <= 1)).all():
        raise InvalidOption(f"means must be {graph.n_arms} numbers in [0, 1], one per arm, got {means!r:.80}")
    unseen = observability(graph).unobservable
    if unseen.size:
        raise UnobservableGraph(f"no arm reveals {names(graph, unseen.tolist())}", tuple(unseen.tolist()))
    A = graph.to_sparse().toarray().astype(np.float64)
    least = mu.min()
    best, free = mu == least, A[mu == least].any(axis=0)
    anchored = bool(free[best].any())
    # What is seen for nothing must stay as it is, and no coin is below 0 or above 1.
    possible = least > 0 if anchored else ~free | (mu < 1)
    worse = np.flatnonzero(~best & possible & ~(free & anchored))
    program = _Program(A, mu, np.flatnonzero(best & ~free), worse, free[worse], anchored)
    return program.solved(mu - least)


class _Program(NamedTuple):
    A: Floats
    mu: Floats
    best: Longs  # the best arms, where none of them is seen for nothing
    worse: Longs  # the arms that must be told apart
    free: npt.NDArray[np.bool_]  # (worse,) is it seen for nothing?
    anchored: bool  # is a best arm seen for nothing?

    def at(self, x: Floats) -> tuple[Floats, Floats]:
        """What one observation of each worse arm, and one of a best arm, tells at x: each of (worse,)."""
        own = np.where(self.free, 0.0, kl(self.mu[self.worse], x))
        return own, np.zeros(x.size) if self.anchored else kl(self.mu.min(), x)

    def rows(self, x: Floats) -> Floats:
        """(worse, n) the constraints at x, on plays."""
        own, other = self.at(x)
        best = self.A[:, self.best].sum(axis=1)
        rows: Floats = own[:, None] * self.A[:, self.worse].T + other[:, None] * best
        return rows

    def tightest(self, w: Floats) -> Floats:
        """(worse,) the x at which these plays tell least: the mean of both arms, by their observations."""
        mu, least = self.mu[self.worse], self.mu.min()
        own, other = w @ self.A[:, self.worse], float((w @ self.A[:, self.best]).sum())
        share = np.where(own + other > 0, own / np.maximum(own + other, 1e-300), 0.5).clip(INSIDE, 1 - INSIDE)
        share = np.where(self.free, 1.0, 0.0 if self.anchored else share)
        x: Floats = np.minimum(least + share * (mu - least), 1.0)
        return x

    def solved(self, cost: Floats) -> LongRun:
        """By cutting planes, from the middle on."""
        usable = cost > 0  # best arms are played anyway
        if not self.worse.size:
            return LongRun(0.0, 0.0, np.zeros(cost.size))
        rows = self.rows(self.tightest(np.zeros(cost.size)))
        for _ in range(MOST_CUTS):
            bounds = [(0, None if can else 0) for can in usable]
            scale = np.abs(rows).max(axis=1, keepdims=True)  # of alike rows HiGHS makes the most
            found = linear.solved("c*", cost, A_ub=-rows / scale, b_ub=-1 / scale[:, 0], bounds=bounds)
            w = np.maximum(found.x, 0.0)
            cuts = self.rows(self.tightest(w))
            told = float((cuts @ w).min())
            lower = float(cost @ w)
            if told >= 1 / (1 + GAP):
                break
            rows = np.concatenate([rows, cuts[cuts @ w < 1 - GAP / 10]])
        enough = max(1.0, 1 / max(told, 1e-300))  # so many times these plays tell all apart
        return LongRun(enough * lower, lower, enough * w)
