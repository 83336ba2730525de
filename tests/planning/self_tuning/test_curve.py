"""Theorem 2: the curve is above its recursion and near it, and above the certificates of games that are played."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from self_tuning_twin import SelfTuning as Twin

from sidelight.errors import InvalidOption
from sidelight.planning.self_tuning.curve import SelfTuningBound, curve_from_dict
from sidelight.planning.self_tuning.rule import SelfTuning
from sidelight.planning.signed.table import STEP

RULES = {
    "cycle of 20": SelfTuning(0.5, 0.5, 13.9, 1.58, sqrt(10), covered=20, signed=1),
    "entropy": SelfTuning(1.0, 0.5, 3.0, 5.0, 10.0, covered=20, signed=1),
    "bandit": SelfTuning(0.5, 0.5, 13.9, 2.2, sqrt(20), 20.0, covered=20, looped=20, either=1, signed=1),
    "one corrupted": SelfTuning(0.5, 0.5, 13.9, 2.2, 1.0, 19.0, covered=1, looped=19, signed=1),
    "no loops": SelfTuning(0.5, 0.5, 13.9, 3.2, 1.5, strong=1.8, lean=1.0, covered=20, signed=1),
    "many arms": SelfTuning(0.5, 0.5, 4e3, 500.0, 1000.0, patience=0.05, covered=10**6, signed=1),
    "two arms, all spent": SelfTuning(1.0, 1.0, 0.7, 1.5, 1.0, strong=0.125, covered=2),
    "beside first": SelfTuning(0.7, 0.3, 60.0, 30.0, 1.0, 720.0, covered=1, looped=720),
}


@pytest.mark.parametrize("name", RULES)
def test_the_curve_is_just_above_the_recursion(name):
    bound, v = SelfTuningBound(RULES[name]), 0.0
    grid = {int(1.4**k) for k in range(1, 32)} | {255, 256, 257}
    for t in range(1, 40_001):
        v += bound.step(v)
        if t in grid:
            assert v * (1 - 1e-9) <= bound.climbed(t) <= v * 1.001 + 0.2


@pytest.mark.parametrize("name", RULES)
def test_later_rounds_cost_less_and_the_constant_is_the_limit(name):
    bound = SelfTuningBound(RULES[name])
    t = np.unique((10 ** np.linspace(0, 18, 200)).astype(np.int64))
    values = np.array([bound.value_at(int(x)) for x in t])
    slope = np.diff(values) / np.diff(t)
    assert (slope > 0).all()
    assert (np.diff(slope) <= 1e-3 * slope[:-1]).all()
    assert bound.value_at(10**18) / 1e18**bound.exponent == pytest.approx(bound.constant, rel=2e-3)


@pytest.mark.parametrize("name", RULES)
def test_thresholds_words_and_files(name):
    bound = SelfTuningBound(RULES[name])
    at = bound.at(10**6)
    since = at.informative_from
    assert at.certified
    assert bound.value_at(since) < since
    assert bound.value_at(since - 1) >= since - 1
    assert f"→ {bound.constant:.4g}" in bound.summary()
    assert curve_from_dict(bound.to_dict(), None) == bound
    saved = bound.to_dict()[bound.KIND]
    with pytest.raises(InvalidOption, match="not a saved bound"):
        curve_from_dict({bound.KIND: {k: v for k, v in saved.items() if k != "weak"}}, None)
    with pytest.raises(InvalidOption):
        curve_from_dict({bound.KIND: saved | {"first": 0.0}}, None)


def test_without_laziness_it_would_be_the_theorem_of_the_dense_rule():
    """θ → 0: (1 + GROWTH)(1 + SLACK)^{2/3} of the guard, half a step of β, and 2^{1/3}·1.31 = 1.651 of the theory."""
    rule = replace(RULES["cycle of 20"], patience=1e-9)
    leading = SelfTuningBound(rule).constant / (rule.diameter * rule.weak) ** (1 / 3)
    steps = (STEP**1.5 - 1) / (1.5 * (STEP - 1))
    theory = 2 ** (1 / 3) * 1.5 ** (2 / 3) * 1.01 * (1.02 * steps) ** (2 / 3)
    assert leading == pytest.approx(theory, rel=1e-4)


@pytest.mark.parametrize("s", [0.5, 1.0])
@pytest.mark.parametrize("graph", ["cycle", "bandit", "revealing"])
def test_certificates_of_the_dense_rule_stay_below(graph, s):
    """On every run, at every t: coins with a gap, and losses that hit whoever leads."""
    n, rng = 6, np.random.default_rng(5)
    A = {
        "cycle": np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1),
        "bandit": np.eye(n),
        "revealing": np.vstack([np.ones(n), np.zeros((n - 1, n))]),
    }[graph]
    cover = {"cycle": np.full(n, 0.5), "bandit": np.ones(n), "revealing": np.eye(n)[0]}[graph]
    for opposed in (False, True):
        twin = Twin(A, cover, s)
        strong = n**s / 2 if graph == "bandit" else float("inf")
        rule = SelfTuning(s, 0.5, twin.D, twin.first, float(cover.sum()) ** s, strong=strong, covered=n)
        bound = SelfTuningBound(rule)
        for t in range(1, 160):
            Z = twin.play()
            losses = (rng.random(n) < 0.5 - 0.2 * (np.arange(n) == n - 1)).astype(float)
            if opposed:
                losses = (np.sort(twin.X)[-2] <= twin.X).astype(float)
            twin.learn(int(rng.choice(n, p=Z)), losses)
            assert twin.certificate <= bound.value_at(t)
