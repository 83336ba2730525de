from math import log, sqrt

import pytest
from scipy.optimize import minimize_scalar

from sidelight.planning.printed import OVERSHOOT, Projection

T = 1e6
# (n_S, n_N, m2, Q) by case of Theorem realized-upper-bound
CASES = {
    1: [(7, 0, 0, 0.0), (1, 0, 0, 0.0)],
    2: [(5, 3, 0, 0.0), (0, 4, 0, 0.0), (6, 1, 0, 0.0)],
    3: [(4, 0, 3, 11.5), (0, 0, 2, 5.0), (9, 0, 1, 4.0)],
    4: [(4, 3, 3, 11.5), (0, 2, 1, 4.0), (3, 1, 2, 6.0)],
}
ALL = [(case, shape) for case, shapes in CASES.items() for shape in shapes]


def argmin(f, near):
    """Minimiser over x > 0 of a function with one minimum, searched on a log scale around `near`."""
    found = minimize_scalar(
        lambda u: f(near * 2.718281828459045**u), bounds=(-6, 6), method="bounded", options={"xatol": 1e-10}
    )
    return near * 2.718281828459045**found.x, found.fun


@pytest.mark.parametrize(("case", "shape"), ALL)
def test_case(case, shape):
    assert Projection(*shape).case == case


def right_hand_side(shape, alpha, eta, eta_S, eta_N):
    """The un-optimised top level: eq. general regret 1 with ρ ≤ 2 (ρ = 1 where nothing is explored)."""
    n_S, n_N, m2, Q = shape
    case = Projection(*shape).case
    weak = loops = loopless = 0.0
    if m2:
        weak = alpha * T + sqrt(m2) / eta + (16 if n_N else 4) * eta * T * sqrt(Q) / alpha
    if n_S:
        loops = sqrt(n_S) / eta_S + (2 if case == 1 else 24 if n_N else 4) * eta_S * T * sqrt(n_S)
    if n_N:
        loopless = log(n_N + 1) / eta_N + 10 * eta_N * T
    return weak, loops, loopless


@pytest.mark.parametrize(("case", "shape"), ALL)
def test_printed_parameters_minimise_their_own_expression(case, shape):
    top = Projection(*shape)
    n_S, n_N, m2, _ = shape
    alpha, eta_S = top.alpha(T), top.eta_loop(T)
    eta, eta_N = top.eta(T, alpha), sqrt(log(n_N + 1) / (10 * T))
    if m2:
        best, _ = argmin(lambda e: right_hand_side(shape, alpha, e, eta_S, eta_N)[0], 1e-3)
        assert best == pytest.approx(eta, rel=1e-4)

        def with_best_eta(a):
            return right_hand_side(shape, a, top.eta(T, a), eta_S, eta_N)[0]

        best, value = argmin(with_best_eta, 1e-2)
        assert best == pytest.approx(alpha, rel=1e-4)
        printed = top.terms(T)["projection of weak blocks"] + top.terms(T)["local exploration"]
        assert value == pytest.approx(printed, rel=1e-9)
    if n_S:
        best, value = argmin(lambda e: right_hand_side(shape, alpha, eta, e, eta_N)[1], 1e-3)
        assert best == pytest.approx(eta_S, rel=1e-4)
        assert value == pytest.approx(top.terms(T)["self-loop arms"], rel=1e-9)
    if n_N:
        best, value = argmin(lambda e: right_hand_side(shape, alpha, eta, eta_S, e)[2], 1e-3)
        assert best == pytest.approx(eta_N, rel=1e-4)
        assert value == pytest.approx(top.terms(T)["loop-less arms"], rel=1e-9)


@pytest.mark.parametrize(("case", "shape"), ALL)
def test_lower_order_terms_are_what_the_rates_cost(case, shape):
    top = Projection(*shape)
    n_S, n_N, m2, _ = shape
    terms = top.terms(T)
    if case == 4:  # 8ηT√m2
        shift = 8 * top.eta(T, top.alpha(T)) * T * sqrt(m2)
        assert terms["loop-less shift on weak blocks"] == pytest.approx(shift)
    if n_S and n_N:  # 4η_S·T
        cost = top.loop_exploration(T) * T
        assert cost == pytest.approx(4 * top.eta_loop(T) * T)
        assert terms["exploration of self-loop arms"] == pytest.approx(sqrt(T) if case == 2 else cost)
        assert terms["exploration of self-loop arms"] >= cost * (1 - 1e-12)
    else:
        assert "exploration of self-loop arms" not in terms
        assert top.loop_exploration(T) == 0
    if n_N > 1:  # the 10 in 10η_N·T: 2 for stability, at most 8 for exploration
        assert top.loopless_exploration(T) <= 8 * top.eta_loopless(T) * (1 + 1e-12)
    else:
        assert top.loopless_exploration(T) == 0


def test_single_loopless_arm_is_capped_and_its_term_still_covers_it():
    top = Projection(n_loop=6, n_loopless=1, n_weak=0, squares=0.0)
    eta = top.eta_loopless(T)
    assert eta == top.eta_loop(T) < sqrt(log(2) / (10 * T))
    assert log(2) / eta + 2 * eta * T < top.terms(T)["loop-less arms"]
    assert all(c.holds for c in top.conditions(T, 0.0, 0.0))
    several = Projection(n_loop=6, n_loopless=2, n_weak=0, squares=0.0)
    assert several.eta_loopless(T) == pytest.approx(sqrt(log(3) / (10 * T)))


def test_single_loopless_arm_beside_weak_blocks_keeps_its_printed_rate():
    top = Projection(n_loop=3, n_loopless=1, n_weak=2, squares=6.0)
    assert top.eta_loopless(T) == pytest.approx(sqrt(log(2) / (10 * T)))


def test_one_block_alone_needs_no_top_level():
    alone = Projection(0, 0, 1, 100.0)
    assert alone.alone
    assert alone.alpha(T) == 0
    assert alone.terms(T) == {}
    assert [c.name for c in alone.conditions(T, 0.1, 0.1)] == ["γ̄ ≤ 1/2"]
    assert not Projection(1, 0, 1, 100.0).alone
    assert not Projection(0, 1, 1, 100.0).alone
    assert not Projection(0, 0, 2, 100.0).alone


def test_overshoot_constant():
    """The factor (1−√(ηρ))^{−3} is 2 at ηρ = (1−2^{−1/3})², which 0.0426 rounds."""
    assert pytest.approx((1 - 2 ** (-1 / 3)) ** 2, abs=5e-5) == OVERSHOOT
    # Rounded up, the factor f is a little above 2. With ρ ≤ 2 the stability of U2 needs f·(s + r) ≤ 4s + 2r
    # for s = √Q/α and r = √m2, and s ≥ r as δ_k ≥ 1 ≥ α; that of U1S needs 8f ≤ 24. Both hold up to f = 3.
    assert (1 - sqrt(OVERSHOOT)) ** -3 < 2.01


@pytest.mark.parametrize(("case", "shape"), ALL)
def test_conditions_stay_true_once_true(case, shape):
    top = Projection(*shape)
    held = []
    for power in range(120):
        at = 1.3**power
        weak = (3.0 / (2 * at)) ** (1 / 3) if shape[2] else 0.0
        held.append([c.holds for c in top.conditions(at, weak, weak / 2)])
    for history in zip(*held, strict=True):
        assert list(history) == sorted(history)
        assert history[-1]


def test_case_2_thresholds():
    def valid_from(n_S, n_N):
        top = Projection(n_S, n_N, 0, 0.0)
        return next(t for t in range(1, 10_000) if all(c.holds for c in top.conditions(float(t), 0.0, 0.0)))

    for n_S, n_N in [(5, 3), (0, 4), (6, 1), (0, 2), (1, 200)]:
        root = 1.632993 * (n_S > 0)
        if n_N > 1:
            root += 8 * sqrt(log(n_N + 1) / 10) * n_N / (n_N - 1)
        explored = next(t for t in range(1, 10_000) if sqrt(t) >= root)
        assert valid_from(n_S, n_N) == max(explored, 92 if n_S else 1)


def test_case_1_needs_nothing():
    assert Projection(7, 0, 0, 0.0).conditions(1.0, 0.0, 0.0) == ()


def test_least_chance_to_see_a_loopless_arm_excludes_itself():
    top = Projection(2, 3, 2, 6.0)
    seen = [c for c in top.conditions(T, 0.2, 0.05) if "least chance" in c.name]
    assert [c.name.split()[0] for c in seen] == ["4·η", "4·η_S", "4·η_N"]
    eta_S, eta_N = 1 / sqrt(24 * T), sqrt(log(4) / (10 * T))
    everyone = 4 * eta_S + 4 * eta_N * 3 / 2 + 0.05
    for condition in seen:
        assert condition.right == pytest.approx(everyone - 4 * eta_N / 2)
    assert seen[1].left == pytest.approx(4 * eta_S)
    assert seen[2].left == pytest.approx(4 * eta_N)
