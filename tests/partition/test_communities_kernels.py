"""Local moves of Louvain's method against a readable twin that recomputes modularity from its definition."""

import numpy as np
import pytest
from scipy import sparse

from sidelight.partition._communities_kernels import move_vertices


def modularity(matrix, label):
    """Σ over pairs in one community of (edge weight − what chance would give)/total weight."""
    strength = matrix.sum(axis=1)
    same = label[:, None] == label[None, :]
    return ((matrix - np.outer(strength, strength) / strength.sum())[same]).sum() / strength.sum()


def best_move(matrix, label, v):
    """The best modularity that v can reach in its own or a neighbouring community."""
    choices = {int(label[v]), *label[np.flatnonzero(matrix[v])].tolist()}
    found = []
    for c in choices:
        moved = label.copy()
        moved[v] = c
        found.append(modularity(matrix, moved))
    return max(found)


def passed(matrix, label, order):
    plain = matrix.copy()
    np.fill_diagonal(plain, 0.0)
    edges = sparse.csr_array(plain)
    strength = matrix.sum(axis=1)
    total, links = np.bincount(label, weights=strength, minlength=len(label)), np.zeros(len(label))
    moved = move_vertices(
        edges.indptr.astype(np.int64),
        edges.indices.astype(np.int64),
        edges.data,
        strength,
        order,
        label,
        total,
        links,
    )
    assert not links.any()
    np.testing.assert_allclose(total, np.bincount(label, weights=strength, minlength=len(label)), atol=1e-12)
    return moved


@pytest.mark.parametrize("seed", range(6))
def test_every_move_is_the_best_one(seed):
    rng = np.random.default_rng(seed)
    n = 9
    matrix = np.triu(rng.integers(1, 4, size=(n, n)) * (rng.random((n, n)) < 0.4)).astype(np.float64)
    matrix = matrix + matrix.T + np.eye(n)
    label = rng.integers(n, size=n)
    for v in rng.permutation(n):
        before, best = label.copy(), best_move(matrix, label, v)
        moved = passed(matrix, label, np.array([v]))
        assert moved == int(label[v] != before[v])
        assert modularity(matrix, label) == pytest.approx(best, abs=1e-12)


def test_passes_end_when_nothing_moves():
    matrix = np.kron(np.eye(3), np.ones((4, 4)) - np.eye(4))  # three cliques of four
    label = np.arange(12)
    while passed(matrix, label, np.arange(12)):
        pass
    assert [len(set(label[4 * k : 4 * k + 4].tolist())) for k in range(3)] == [1, 1, 1]
    assert len(set(label.tolist())) == 3
