"""Targets in every form they may have."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import sidelight as sl
from sidelight.evaluation.rounds import at_rows
from sidelight.evaluation.target import Target, is_distribution

N = 50


@pytest.fixture(scope="module")
def log():
    rng = np.random.default_rng(0)
    arm = rng.integers(3, size=N)
    table = {
        "round": np.arange(100, 100 + N),
        "arm": arm,
        "loss": rng.random(N),
        "probability": np.full(N, 1 / 3),
    }
    return sl.Log.from_table(table, labels=["a", "b", "c"])


def dense(log, target):
    """(n, arms) as the target gives it."""
    return np.concatenate(
        [np.broadcast_to(block, (last - first, 3)) for first, last, block in target.blocks(3)]
    )


HALF = np.array([0.5, 0.0, 0.5])
EACH = np.random.default_rng(1).dirichlet(np.ones(3), size=N)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (1, [0, 1, 0]),
        (np.int32(2), [0, 0, 1]),
        ("b", [0, 1, 0]),
        ("uniform", [1 / 3] * 3),
        (HALF, HALF),
        ([0.5, 0, 0.5], HALF),
        ({"a": 0.5, 2: 0.5}, HALF),
        (EACH, EACH),
        (lambda t: EACH[t - 100], EACH),
    ],
    ids=["arm", "numpy arm", "label", "uniform", "array", "list", "mapping", "table", "function"],
)
def test_forms(log, monkeypatch, target, expected):
    monkeypatch.setattr("sidelight.evaluation.target.BLOCK", 3 * 8)
    found = Target.of(log, target)
    table = np.broadcast_to(np.asarray(expected, dtype=float), (N, 3))
    assert_allclose(dense(log, found), table)
    rows, mean = at_rows(log, found)
    assert_allclose(rows, table[np.arange(N), log.revealed])
    assert_allclose(mean, table.mean(axis=0))


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (3, r"arm 3 does not exist .* arms 0\.\.2 with labels a, b, c"),
        (-1, "arm -1 does not exist"),
        ("d", "arm 'd' does not exist"),
        (True, "shape"),
        (1.5, "shape"),
        (None, "a target is|shape"),
        (object(), "a target is"),
        ([0.5, 0.5], r"shape \(3,\) or \(50, 3\).*got shape \(2,\)"),
        ([0.5, 0.4, 0.0], "sum to 1, got a sum of 0.9"),
        ([1.5, -0.5, 0.0], "got -0.5 for arm 1"),
        ([np.nan, 0.5, 0.5], "got nan for arm 0"),
        ({"a": 0.5, "b": "much"}, "arm 'b' must be a number, got 'much'"),
        ({"a": 0.5, 7: 0.5}, "arm 7 does not exist"),
        (np.where(np.arange(N)[:, None] == 3, 0.5, EACH), "in round 103, got a sum of 1.5"),
        (lambda t: [1.0], "3 probabilities, got shape .* in round 100"),
        (lambda t: [0.5, 0.5, float(t == 104)], "in round 104, got a sum of 2"),
    ],
)
def test_refused(log, target, message):
    with pytest.raises(sl.InvalidOption, match=message):
        dense(log, Target.of(log, target))


def test_a_policy_in_play_is_not_one_distribution(log):
    policy = sl.plan(sl.families.mab(3), horizon=50).policy(seed=1)
    with pytest.raises(sl.InvalidOption, match=r"policy\.probabilities"):
        sl.evaluate(log, policy)
    assert sl.evaluate(log, policy.probabilities).n_rounds == N


def test_distributions_and_several_targets_are_told_apart(log):
    assert is_distribution(log, {"a": 0.5, 1: 0.5})
    assert not is_distribution(log, {"a": "a", "b": "b"})
    assert not is_distribution(log, {"always c": 2})
    assert not is_distribution(log, {})
