"""Two laws of the smallest bound: more feedback never raises it, and labels do not matter."""

import numpy as np
import pytest
from observable_graphs import observable

import sidelight as sl
from sidelight.engine.constants import ROOM
from sidelight.graph import FeedbackGraph
from sidelight.planning.self_tuning.plans import SLACK

HORIZONS = (100, 10**4, 10**6)
TOLERANCE = 1e-9


def small(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 8))
    return observable(rng, n, rng.uniform(0.15, 0.9), rng.choice([0.0, 0.3, 0.7, 1.0])), rng


def bound(A, horizon, realization="fixed"):
    """The smallest of all; "auto" plays inside it, with some room."""
    return sl.plan(FeedbackGraph.from_adjacency(A), horizon, realization=realization).bound.value


def with_one_more(A, rng, loop):
    """A with one loop or one edge more, or None if it has all."""
    missing = np.argwhere(~A & (np.eye(len(A), dtype=bool) == loop))
    if not missing.size:
        return None
    more = A.copy()
    more[tuple(rng.choice(missing))] = True
    return more


def check_more_feedback(seed, horizons):
    A, rng = small(seed)
    for more in (with_one_more(A, rng, loop) for loop in (False, True)):
        for horizon in horizons if more is not None else ():
            assert bound(more, horizon) <= bound(A, horizon) * (1 + TOLERANCE), (seed, horizon)


def check_labels(A, rng, horizons):
    order = rng.permutation(len(A))
    for horizon in horizons:
        assert bound(A[np.ix_(order, order)], horizon) == pytest.approx(bound(A, horizon), rel=TOLERANCE)


@pytest.mark.parametrize("batch", range(5))
def test_an_edge_or_a_loop_never_raises_the_bound(batch):
    for seed in range(5 * batch, 5 * batch + 5):
        check_more_feedback(seed, HORIZONS[seed % 3 :][:1])


@pytest.mark.parametrize("seed", range(12))
def test_auto_promises_the_smallest_bound_and_some_slack(seed):
    A, _ = small(seed)
    for horizon in HORIZONS:
        least = bound(A, horizon)
        made = sl.plan(FeedbackGraph.from_adjacency(A), horizon)
        tuned = (1 + SLACK) * least + ROOM
        fixed = horizon == 100 and made.realization == "flat"
        assert made.bound.value == pytest.approx(least if fixed else tuned, rel=TOLERANCE)


@pytest.mark.full
@pytest.mark.parametrize("batch", range(20))
def test_an_edge_or_a_loop_never_raises_the_bound_of_a_thousand_graphs(batch):
    for seed in range(1000 + 50 * batch, 1050 + 50 * batch):
        check_more_feedback(seed, HORIZONS)


@pytest.mark.parametrize("seed", range(15))
def test_relabelling_few_arms_changes_nothing(seed):
    A, rng = small(seed)
    check_labels(A, rng, HORIZONS[seed % 3 :][:1])


@pytest.mark.parametrize("n", [9, 14, 25, 40, 60, 64])
def test_relabelling_changes_nothing(n):
    """As far as covers and independence numbers are exact: here up to 64 arms."""
    rng = np.random.default_rng(n)
    check_labels(observable(rng, n, 3 / n, rng.choice([0.3, 0.8])), rng, (10**4,))


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100))
def test_relabelling_many_graphs_changes_nothing(seed):
    rng = np.random.default_rng(1000 + seed)
    n = int(rng.integers(4, 65))
    check_labels(
        observable(rng, n, rng.choice([1.5 / n, 3 / n, 0.3]), rng.choice([0.0, 0.3, 0.8, 1.0])), rng, HORIZONS
    )
