"""Random graphs in which every arm is revealed, of all kinds of observability."""

import numpy as np


def observable(rng, n, density, loops):
    """Random reveals, with an arm that all reveal or one that reveals all now and then; no arm is hidden."""
    A = rng.random((n, n)) < density
    if rng.random() < 0.3:
        A |= A.T
    np.fill_diagonal(A, rng.random(n) < loops)
    if rng.random() < 0.2:
        universal = rng.integers(n)
        A[:, universal] = True
        A[universal, universal] = rng.random() < 0.5
    if rng.random() < 0.2:
        A[rng.integers(n)] = True
    hidden = np.flatnonzero(~A.any(axis=0))
    A[rng.integers(n, size=hidden.size), hidden] = True
    return A


def revealing(rng, n, least=0.1):
    """A matrix in which every arm is revealed by somebody, of a density from `least` to 0.8."""
    A = (rng.random((n, n)) < rng.uniform(least, 0.8)).astype(float)
    for i in np.flatnonzero(A.sum(axis=0) == 0):
        A[rng.integers(n), i] = 1.0
    return A
