"""Strongly observable graphs, random and named, points of the simplex, and the regularised leader by bisection."""

import numpy as np
from hypothesis import strategies as st

from sidelight.graph import FeedbackGraph, families


def adjacency(seed, n, density, loops=1.0, symmetric=False):
    """Random reveals; arms without self-loop are revealed by all others, so all are strongly observable."""
    rng = np.random.default_rng(seed)
    A = rng.random((n, n)) < density
    if symmetric:
        A |= A.T
    looped = rng.random(n) < loops
    A[:, ~looped] = True
    np.fill_diagonal(A, looped)
    return A


def simplex(rng, n):
    """Distributions from nearly even to nearly a corner, with geometric ones in random order between."""
    kind = rng.integers(3)
    x = rng.dirichlet(np.full(n, (5.0, 0.2, 1.0)[kind])) if kind < 2 else 0.5 ** rng.permutation(n)
    return x / x.sum()


graphs = st.builds(
    adjacency,
    seed=st.integers(0, 10**6),
    n=st.integers(2, 12),
    density=st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0]),
    loops=st.sampled_from([0.0, 0.5, 1.0]),
    symmetric=st.booleans(),
)

STRONG = {
    "full": families.full(9),
    "bandit": families.mab(9),
    "loop-less clique": families.loopless_clique(9),
    "newsvendor": families.newsvendor(40),
    "undirected": FeedbackGraph.from_adjacency(adjacency(3, 30, 0.1, symmetric=True)),
    "directed": FeedbackGraph.from_adjacency(adjacency(4, 30, 0.3)),
    "with loop-less arms": FeedbackGraph.from_adjacency(adjacency(5, 30, 0.2, loops=0.9)),
}


def dense_point(S, h, eta):
    """argmin ⟨S, x⟩ − Σ x^h/(h(1−h)η), or with negative entropy at h = 1, by bisection."""
    if h == 1:
        w = np.exp(-eta * (S - S.min()))
        return w / w.sum()
    q, a = 1 / (1 - h), (1 - h) * eta
    low, high = 1 / a - S.min(), len(S) ** (1 / q) / a - S.min()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if ((a * (middle + S)) ** -q).sum() > 1 else (low, middle)
    return (a * (high + S)) ** -q
