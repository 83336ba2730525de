import math

import numpy as np
import pytest

from sidelight.analysis import packing_lower_bound
from sidelight.errors import InfeasibleRequest, InvalidOption
from sidelight.graph import FeedbackGraph


def directed_cycle(n):
    return FeedbackGraph.from_edges(n, [(i, (i + 1) % n) for i in range(n)])


@pytest.mark.parametrize("horizon", [1, 1000, np.int64(10**6)])
def test_value_is_the_rate_of_its_certificate(horizon):
    g = directed_cycle(16)
    bound = packing_lower_bound(g, horizon)
    assert bound.certificate.verify(g)
    assert bound.certificate.rate == 8.0
    assert bound.value == pytest.approx(2.0 * float(horizon) ** (2 / 3))
    assert bound.constant is None
    assert "packing-lb" in bound.source


def test_logarithmic_rate():
    sides = [(i, j) for i in range(64) for j in range(64, 128)]
    g = FeedbackGraph.from_edges(128, sides + [(j, i) for i, j in sides])
    assert packing_lower_bound(g, 1000).value == pytest.approx(math.log(64) ** (1 / 3) * 100)


def test_a_weak_graph_has_at_least_one_weak_arm():
    g = FeedbackGraph.from_edges(3, [(0, 0), (0, 1), (0, 2), (1, 1)])  # arm 2 is the only loop-less arm
    bound = packing_lower_bound(g, 8)
    assert bound.certificate.arms.tolist() == [2]
    assert bound.value == pytest.approx(4.0)


def test_only_weakly_observable_graphs():
    with pytest.raises(InfeasibleRequest, match=r"nothing reveals arms 1: .*linear"):
        packing_lower_bound(FeedbackGraph.from_edges(2, [(0, 0)]), 10)
    with pytest.raises(InfeasibleRequest, match="√T"):
        packing_lower_bound(FeedbackGraph.from_edges(2, [(0, 1), (1, 0)]), 10)


@pytest.mark.parametrize("horizon", [0, -5, 1.5, True, None, "10"])
def test_horizon_is_checked(horizon):
    with pytest.raises(InvalidOption, match="horizon"):
        packing_lower_bound(directed_cycle(4), horizon)
