import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sidelight.errors import InvalidGraph
from sidelight.graph import FeedbackGraph, families
from sidelight.graph.altered import observable_part, with_loops


@st.composite
def matrices(draw):
    n = draw(st.integers(1, 7))
    bits = draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))
    return np.array(bits, dtype=bool).reshape(n, n)


def dense(g):
    return g.to_sparse().toarray().astype(bool)


@settings(deadline=None, derandomize=True)
@given(matrices())
def test_loops_are_added_and_nothing_else(A):
    assert_array_equal(dense(with_loops(FeedbackGraph.from_adjacency(A))), A | np.eye(len(A), dtype=bool))


@settings(deadline=None, derandomize=True, max_examples=300)
@given(matrices())
def test_the_observable_part_is_what_dropping_again_and_again_leaves(A):
    kept = np.arange(len(A))
    while len(kept) and not (seen := A[np.ix_(kept, kept)].any(axis=0)).all():
        kept = kept[seen]
    g = FeedbackGraph.from_adjacency(A)
    if len(kept) == 0:
        with pytest.raises(InvalidGraph, match=f"none of the {len(A)} arms"):
            observable_part(g)
        return
    part, dropped = observable_part(g)
    assert_array_equal(dense(part), A[np.ix_(kept, kept)])
    assert_array_equal(dropped, np.setdiff1d(np.arange(len(A)), kept))


def test_labels_stay_with_their_arms():
    g = FeedbackGraph.from_edges(3, [(0, 1), (1, 2), (2, 1)], labels=["a", "b", "c"])
    assert observable_part(g)[0].labels == ("b", "c")
    assert with_loops(g).labels == g.labels


def test_large_graphs_stay_small():
    full = families.loopless_clique(100_000)
    assert with_loops(full) == families.full(100_000)
    assert observable_part(full)[0] is full


def test_a_long_chain():
    n = 5000
    g = FeedbackGraph.from_edges(n, [(i, i + 1) for i in range(n - 1)] + [(n - 1, n - 1)])
    part, dropped = observable_part(g)
    assert (part.n_arms, dropped.size) == (1, n - 1)
