"""Splits of the arms of a flat plan: who is covered is, who is left to itself has a self-loop, and so on."""

import numpy as np
import pytest
from observable_graphs import observable

from sidelight.graph import FeedbackGraph, families
from sidelight.planning.candidates import EVERY_SPLIT, _few, roles
from sidelight.planning.exploration import Solved


@pytest.mark.parametrize("seed", range(12))
def test_every_arm_has_a_role_that_it_can_play(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 30))
    A = observable(rng, n, rng.choice([2 / n, 0.4]), rng.choice([0.3, 0.7]))
    g = FeedbackGraph.from_adjacency(A)
    splits = list(roles(Solved(g)))
    numbers = set()
    for cover, shifted in splits:
        assert cover.weights.sum() == pytest.approx(cover.mass)
        assert (cover.weights @ A)[cover.covered].min() >= 1 - 1e-9
        assert g.is_universal[shifted].all()
        rest = np.setdiff1d(np.arange(n), np.concatenate([cover.covered, shifted]))
        assert g.has_loop[rest].all()
        assert np.intersect1d(cover.covered, shifted).size == 0
        assert 0 < cover.covered.size < n
        numbers.add((cover.covered.size, shifted.size))
    loopless = int((~g.has_loop).sum())
    assert not 0 < loopless < n or (loopless, 0) in numbers
    if n <= EVERY_SPLIT:  # every number of covered arms, up to all but one
        assert {(k, 0) for k in range(max(loopless, 1), n)} <= numbers | {(n, 0)}


def test_without_loops_and_universal_arms_there_is_nothing_to_split():
    assert list(roles(Solved(families.cycle(6)))) == []


def test_powers_of_two_between_both_ends():
    assert _few(0, 11, True) == [0, 1, 2, 4, 8, 11]
    assert _few(3, 11, True) == [3, 4, 8, 11]
    assert _few(3, 11, False) == [3, 11]
    assert _few(5, 4, True) == []
    assert _few(0, 0, True) == [0]
