"""Automorphisms shrink the program and change nothing."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sidelight.analysis import minimax
from sidelight.analysis.minimax import program as minimax_program
from sidelight.analysis.minimax.program import automorphism_generators, orbits
from sidelight.graph import FeedbackGraph


def random_digraphs(n, count, seed):
    rng = np.random.default_rng(seed)
    return [rng.random((n, n)) < rng.uniform(0.2, 0.9) for _ in range(count)]


@pytest.mark.parametrize(
    "adjacency",
    [np.ones((3, 3)), np.eye(3), 1 - np.eye(3), np.roll(np.eye(3), 1, 1), [[1, 1, 1], [0] * 3, [0] * 3]],
)
def test_symmetry_changes_the_size_not_the_value(adjacency, monkeypatch):
    small = minimax(FeedbackGraph.from_adjacency(np.asarray(adjacency)), 3)
    monkeypatch.setattr(minimax_program, "automorphism_generators", lambda reveals: ([], 1))
    large = minimax(FeedbackGraph.from_adjacency(np.asarray(adjacency)), 3)
    assert small.value == pytest.approx(large.value, abs=1e-9)
    assert small.size.rows < large.size.rows
    assert small.size.columns < large.size.columns
    assert large.size.rows == 512 + len(large.strategy.table)


def closure(generators, n):
    group, new = {tuple(range(n))}, [tuple(range(n))]
    while new:
        images = {tuple(np.array(g)[list(p)]) for p in new for g in generators}
        new = list(images - group)
        group |= images
    return group


@pytest.mark.parametrize(
    "adjacency",
    [
        np.zeros((5, 5)),
        np.eye(4),
        np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1),
        *random_digraphs(4, 10, seed=4),
    ],
    ids=str,
)
def test_generators_generate_every_automorphism(adjacency):
    adjacency = np.asarray(adjacency, dtype=bool)
    n = len(adjacency)
    every = {p for p in itertools.permutations(range(n)) if (adjacency[np.ix_(p, p)] == adjacency).all()}
    generators, order = automorphism_generators(adjacency)
    assert order == len(every)
    assert closure(generators, n) == every


def test_orbits():
    label, members = orbits([np.array([1, 0, 2, 4, 3]), np.array([0, 1, 2, 3, 4])], 5)
    assert_array_equal(label[members], np.arange(3))
    assert label[0] == label[1] != label[2] != label[3] == label[4]
