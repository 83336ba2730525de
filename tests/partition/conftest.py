import pytest

from sidelight.graph import FeedbackGraph


@pytest.fixture
def two_pairs():
    """0 ↔ 1, 2 ↔ 3: weakly observable."""
    return FeedbackGraph.from_edges(4, [(0, 1), (1, 0), (2, 3), (3, 2)])
