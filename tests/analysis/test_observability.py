import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sidelight.analysis import observability
from sidelight.graph import FeedbackGraph

adjacencies = st.integers(1, 7).flatmap(lambda n: hnp.arrays(bool, (n, n)))


def by_definition(adjacency):
    n = len(adjacency)
    classes = []
    for v in range(n):
        watchers = {u for u in range(n) if adjacency[u, v]}
        if not watchers:
            classes.append("unobservable")
        elif v in watchers or watchers == set(range(n)) - {v}:
            classes.append("strong")
        else:
            classes.append("weak")
    return classes


@given(adjacencies)
@settings(deadline=None, derandomize=True, max_examples=300)
def test_classes_follow_the_definition(adjacency):
    found = observability(FeedbackGraph.from_adjacency(adjacency))
    expected = by_definition(adjacency)
    assert found.per_arm.tolist() == expected
    for name in ("unobservable", "weak", "strong"):
        assert getattr(found, name).tolist() == [v for v, kind in enumerate(expected) if kind == name]
    whole = "unobservable" if "unobservable" in expected else "weak" if "weak" in expected else "strong"
    assert found.graph == whole


@pytest.mark.parametrize(
    ("n", "edges", "kind"),
    [
        (1, [], "unobservable"),
        (1, [(0, 0)], "strong"),
        (2, [(0, 1), (1, 0)], "strong"),  # each is revealed by every other arm
        (2, [(0, 1)], "unobservable"),
        (3, [(0, 1), (1, 2), (2, 0)], "weak"),
        (3, [(0, 0), (0, 1), (0, 2)], "weak"),
        (3, [(0, 0), (1, 1), (2, 2)], "strong"),
    ],
)
def test_named_graphs(n, edges, kind):
    assert observability(FeedbackGraph.from_edges(n, edges)).graph == kind


def test_prints_counts_and_compares():
    g = FeedbackGraph.from_edges(4, [(0, 0), (0, 1), (1, 2)])
    found = observability(g)
    assert repr(found) == "Observability(graph='unobservable', strong=1, weak=2, unobservable=1)"
    assert str(found) == "unobservable graph: 1 strong, 2 weak, 1 unobservable arms"
    assert str(observability(FeedbackGraph.from_edges(1, [(0, 0)]))).startswith("strongly observable graph")
    assert found == observability(g)
    assert hash(found) == hash(observability(g))
    assert found != observability(FeedbackGraph.from_edges(1, [(0, 0)]))
    assert found != "unobservable"
    with pytest.raises(ValueError, match="read-only"):
        found.per_arm[0] = "weak"


def test_a_million_arms_in_under_a_second():
    n = 1_000_000
    rng = np.random.default_rng(0)
    g = FeedbackGraph.from_edges(n, np.column_stack([rng.integers(0, n, 2 * n), rng.integers(0, n, 2 * n)]))
    start = time.process_time()
    found = observability(g)
    sizes = found.unobservable.size + found.weak.size + found.strong.size
    elapsed = time.process_time() - start
    assert sizes == n
    assert elapsed < 1.0
