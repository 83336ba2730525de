"""Which plan is played where the number of rounds is unknown: never one that is far off at some t."""

import numpy as np
import pytest

from sidelight.graph import FeedbackGraph, families
from sidelight.planning import plan
from sidelight.planning.anytime import ROUNDS, anytime
from sidelight.planning.exploration import Solved


def hub(n_loops, loop):
    """Arm 0 reveals everyone; all others, and arm 0 if told so, reveal themselves."""
    edges = [(0, j) for j in range(0 if loop else 1, n_loops + 1)] + [(j, j) for j in range(1, n_loops + 1)]
    return FeedbackGraph.from_edges(n_loops + 1, [*edges, (1, 0)])


CASES = {
    "strong hub": (hub(2000, True), 1.5),
    "weak hub": (hub(2000, False), 1.5),
    "small hub": (hub(20, False), 2.8),
    "bandit": (families.mab(16), 1.5),
    "newsvendor": (families.newsvendor(40), 2.7),
    "corrupted bandit": (families.corrupted_mab(64, 4), 3.0),
    "cycle": (families.cycle(20), 1.4),
}


@pytest.mark.parametrize("name", CASES)
def test_never_far_above_a_known_horizon(name):
    """By the t^{2/3} coefficient alone the weak hub was 17.8 times the known horizon's bound at t = 10³."""
    g, most = CASES[name]
    made = anytime(Solved(g))
    ratios = [
        min(made.curve.value_at(t), t) / min(plan(g, t, realization="fixed").bound.value, t) for t in ROUNDS
    ]
    assert min(ratios) >= 1 - 1e-9
    assert max(ratios) <= most


def test_small_hubs_are_bandits_and_large_ones_are_not():
    """√(nt) against t^{2/3}: what is chosen is not explored for, or explored from the hub."""
    chosen = [anytime(Solved(hub(n, True))).tuning.global_exploration.any() for n in (2, 4000)]
    assert chosen == [False, True]
    assert np.diff([anytime(Solved(hub(n, True))).curve.exponent for n in (2, 4000)]) > 0
