from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from sidelight.planning.printed import Adaptive, Clustered, Hybrid, NoWeakBlocks

T = 1e6
SIZES = np.array([2.0, 5.0, 90.0, 17.0])
DELTAS = np.array([2.0, 1.25, 90.0, 8.5])
DELTA_BAR = DELTAS.sum()

weak_blocks = st.lists(st.tuples(st.integers(2, 400), st.floats(0, 1)), min_size=1, max_size=6).map(
    lambda pairs: (
        np.array([float(n) for n, _ in pairs]),
        np.array([1 + u * (n - 1) for n, u in pairs]),  # 1 ≤ δ_k ≤ n_k
    )
)


def argmin(f, near):
    found = minimize_scalar(
        lambda u: f(near * np.exp(u)), bounds=(-8, 8), method="bounded", options={"xatol": 1e-10}
    )
    return near * np.exp(found.x), found.fun


def test_clustered_parameters_minimise_their_own_expression():
    part = Clustered(SIZES, DELTAS)
    logs = np.log(SIZES)

    def restriction(k, eta, beta):
        return logs[k] / eta + eta * DELTA_BAR * T / (2 * beta * logs[k])

    beta = part.beta(T)
    for k, eta in enumerate(part.blocks(T).steps):
        best, value = argmin(lambda e, k=k: restriction(k, e, beta), 1e-3)
        assert best == pytest.approx(eta, rel=1e-4)
        assert value == pytest.approx(part.terms(T)["restriction"], rel=1e-9)  # the same for every block

    def total(b):
        return sqrt(2 * T * DELTA_BAR / b) + b * (DELTAS * logs).sum() / DELTA_BAR * T

    best, value = argmin(total, 1.0)
    assert best == pytest.approx(beta, rel=1e-4)
    assert value == pytest.approx(sum(part.terms(T).values()), rel=1e-9)
    assert value == pytest.approx(
        3 / 2 ** (1 / 3) * (DELTAS * logs).sum() ** (1 / 3) * T ** (2 / 3), rel=1e-9
    )


def test_adaptive_parameters_minimise_their_own_expression():
    part = Adaptive(SIZES, DELTAS)
    roots = np.sqrt(SIZES)
    beta = part.beta(T)
    regrets = []
    for k, eta in enumerate(part.blocks(T).steps):
        best, value = argmin(lambda e, k=k: roots[k] / e + 2 * e * T * DELTA_BAR / beta, 1e-3)
        assert best == pytest.approx(eta, rel=1e-4)
        regrets.append(value)
    assert max(regrets) == pytest.approx(part.terms(T)["restriction"], rel=1e-9)

    def total(b):
        return sqrt(8 * T * DELTA_BAR * sqrt(90) / b) + b * T * roots.sum() / DELTA_BAR

    best, value = argmin(total, 1.0)
    assert best == pytest.approx(beta, rel=1e-4)
    assert value == pytest.approx(sum(part.terms(T).values()), rel=1e-9)
    assert value == pytest.approx(3 * (2 * roots.sum()) ** (1 / 3) * 90 ** (1 / 6) * T ** (2 / 3), rel=1e-9)


@settings(deadline=None, derandomize=True)
@given(weak_blocks, st.data())
def test_hybrid_is_balanced_and_minimal(blocks, data):
    sizes, deltas = blocks
    entropy = np.array(data.draw(st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes))))
    part = Hybrid(sizes, deltas, entropy)
    tuned = part.blocks(T)
    for k, eta in enumerate(tuned.steps):
        if entropy[k]:
            regret = np.log(sizes[k]) / eta + eta * T / (2 * tuned.covering[k])
            assert tuned.adaptive[k] == 0
        else:
            regret = sqrt(sizes[k]) / eta + 2 * eta * T / tuned.adaptive[k]
            assert tuned.covering[k] == 0
        assert regret == pytest.approx(part.terms(T)["restriction"], rel=1e-9)
    M = np.where(entropy, deltas * np.log(sizes), 4 * sizes).sum()
    best, value = argmin(lambda b: sqrt(2 * T / b) + b * M * T, 1e-3)
    assert best == pytest.approx(part.b(T), rel=1e-4)
    assert value == pytest.approx(sum(part.terms(T).values()), rel=1e-9)


def test_hybrid_steps_minimise_their_own_expression():
    part = Hybrid.best(SIZES, DELTAS)
    assert part.entropy.tolist() == [
        True,
        True,
        False,
        True,
    ]  # only the directed cycle of 90 prefers adaptive
    tuned = part.blocks(T)
    for k, eta in enumerate(tuned.steps):
        if part.entropy[k]:
            best, _ = argmin(lambda e, k=k: np.log(SIZES[k]) / e + e * T / (2 * tuned.covering[k]), 1e-3)
        else:
            best, _ = argmin(lambda e, k=k: sqrt(SIZES[k]) / e + 2 * e * T / tuned.adaptive[k], 1e-3)
        assert best == pytest.approx(eta, rel=1e-4)


@settings(deadline=None, derandomize=True)
@given(weak_blocks)
def test_best_hybrid_is_never_above_the_theorems(blocks):
    total = {
        p.name: sum(p.terms(T).values())
        for p in (Clustered(*blocks), Adaptive(*blocks), Hybrid.best(*blocks))
    }
    assert total["hybrid"] <= min(total["clustered"], total["adaptive"]) * (1 + 1e-12)


@settings(deadline=None, derandomize=True)
@given(weak_blocks, st.floats(1, 1e9))
def test_exploration_is_what_the_blocks_do(blocks, horizon):
    sizes, deltas = blocks
    for part in (Clustered(*blocks), Adaptive(*blocks), Hybrid.best(*blocks)):
        tuned = part.blocks(horizon)
        assert part.most(horizon) == pytest.approx(
            (tuned.covering * deltas + tuned.adaptive * np.sqrt(sizes)).sum()
        )
        assert part.least(horizon) == pytest.approx((tuned.covering * deltas + tuned.adaptive).sum())
        assert part.terms(horizon)["global exploration"] == pytest.approx(part.most(horizon) * horizon)


@settings(deadline=None, derandomize=True)
@given(weak_blocks)
def test_half_exploration_thresholds(blocks):
    sizes, deltas = blocks
    hybrid = Hybrid.best(sizes, deltas)
    thresholds = {
        Clustered(sizes, deltas): 4 * (deltas * np.log(sizes)).sum(),
        Adaptive(sizes, deltas): 16 * sqrt(sizes.max()) * np.sqrt(sizes).sum(),
        hybrid: 4 * np.where(hybrid.entropy, deltas * np.log(sizes), 4 * sizes).sum(),
    }
    for part, at in thresholds.items():
        assert part.most(at) == pytest.approx(0.5)
        assert part.most(at * 1.001) < 0.5 < part.most(at / 1.001)


def test_kernel_form_of_each_realization():
    clustered, adaptive = Clustered(SIZES, DELTAS).blocks(T), Adaptive(SIZES, DELTAS).blocks(T)
    assert clustered.potential.power == 0.0
    assert_allclose(clustered.potential.rate, clustered.steps)
    assert adaptive.potential.power == 2.0
    assert_allclose(adaptive.potential.rate, 2 * adaptive.steps)
    hybrid = Hybrid(SIZES, DELTAS, np.array([True, False, False, True])).blocks(T)
    assert hybrid.potential.power.tolist() == [0.0, 2.0, 2.0, 0.0]
    assert_allclose(hybrid.potential.rate, hybrid.steps * [1, 2, 2, 1])


def test_one_kind_of_block_makes_the_hybrid_that_theorem():
    all_clustered = Hybrid(SIZES, DELTAS, np.ones(4, dtype=bool))
    same = Clustered(SIZES, DELTAS)
    assert_allclose(all_clustered.blocks(T).covering, same.blocks(T).covering)
    assert_allclose(all_clustered.blocks(T).steps, same.blocks(T).steps)
    one_adaptive = Hybrid(SIZES[2:3], DELTAS[2:3], np.zeros(1, dtype=bool))
    same = Adaptive(SIZES[2:3], DELTAS[2:3])
    assert_allclose(one_adaptive.blocks(T).adaptive, same.blocks(T).adaptive)
    assert_allclose(one_adaptive.blocks(T).steps, same.blocks(T).steps)


def test_no_weak_blocks_add_nothing():
    nothing = NoWeakBlocks()
    assert (nothing.most(T), nothing.least(T), nothing.terms(T)) == (0.0, 0.0, {})
    assert nothing.blocks(T).steps.size == 0
    assert nothing.source == "Theorem realized-upper-bound"
