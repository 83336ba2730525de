"""Every graph of the shared data certifies 1 %, whatever its shape."""

import pytest
from certified import certified
from real_graphs import NAMES, real_graph

from sidelight.analysis import fractional_domination, packing_independent_set
from sidelight.errors import InvalidGraph
from sidelight.graph.altered import observable_part


@pytest.mark.parametrize("name", NAMES)
def test_certifies_one_percent(name):
    try:
        g, _ = observable_part(real_graph(name))
    except InvalidGraph:
        pytest.skip(f"{name} is acyclic: no part of it is observable")
    found = certified(fractional_domination, g)
    assert found.gap <= 0.01
    packing = certified(packing_independent_set, g, exact=False)
    assert len(packing.arms) <= packing.t * found.value * (1 + 1e-9)
