"""The numbers of a self-tuning plan: checked where they enter, the same after a file."""

from dataclasses import replace
from math import inf, sqrt

import numpy as np
import pytest

from sidelight.engine.self_tuning.prices import SHIFT, STRENGTH
from sidelight.errors import InvalidOption
from sidelight.planning import Potential, Tuning
from sidelight.planning.self_tuning.rule import SelfTuning
from sidelight.planning.signed.table import STEP

PLAIN = SelfTuning(0.5, 0.5, 2.0, 0.7, 1.5, covered=2, signed=1)
BESIDE = replace(PLAIN, covered=1, looped=1, loops=1.0)


def tuning(rule=PLAIN, **more):
    """Two strangers, each of whom reveals the other."""
    numbers = {"spread": rule.first_strength, "cover": 1.0, "load": 1.0, "self_tuning": rule} | more
    return Tuning.flat(2, Potential(rule.order, 1 / rule.first), **numbers)


@pytest.mark.parametrize(
    "wrong",
    [
        {"order": 0.0}, {"order": 1.1}, {"share": 0.0}, {"share": float("nan")}, {"diameter": inf}, {"first": 0.2},
        {"weak": 0.0}, {"loops": -1.0}, {"covered": 1.5}, {"base_h": 2.0},
        {"strong": 0.0}, {"strong": 1.0, "lean": 1.0}, {"patience": 0.0},
        {"play_share": 0.6},
        {"horizon": 10}, {"budget": 3.0}, {"horizon": 10, "budget": float("nan")}, {"horizon": -1, "budget": 1.0},
    ],
)  # fmt: skip
def test_a_rule_checks_its_numbers(wrong):
    with pytest.raises(InvalidOption):
        replace(PLAIN, **wrong)


@pytest.mark.parametrize("rule", [PLAIN, replace(BESIDE, strong=3.0, lean=1.0, horizon=10, budget=4.0)])
def test_a_tuning_carries_its_rule_through_arrays(rule):
    again = Tuning.from_arrays(tuning(rule).to_arrays())
    assert again.self_tuning == rule
    assert Tuning.from_arrays(tuning(self_tuning=None).to_arrays()).self_tuning is None
    with pytest.raises(InvalidOption, match="numbers"):
        SelfTuning.from_array(np.ones(3))


def test_rules_of_before_losses_were_shifted_are_read():
    """They had ½Q^s instead of Q, and no numbers of arms."""
    old = np.array([0.7, 0.5, 2.0, 0.7, 1.5, 0.5 * 3**0.7, inf, 0.0, 0.01, 0.25, 0.0, inf])
    rule = SelfTuning.from_array(old)
    assert rule.loops == pytest.approx(3)
    assert (rule.order, rule.signed, rule.play_share, rule.horizon) == (0.7, 0, 0.25, 0)
    without = rule.table.rows[:, SHIFT]
    assert not without.any()


def test_a_tuning_refuses_a_rule_of_another_order():
    with pytest.raises(InvalidOption, match="order"):
        tuning(self_tuning=replace(PLAIN, order=0.7))


def test_prices_fall_and_exploration_stays_below_a_half():
    for rule in (PLAIN, BESIDE, replace(PLAIN, strong=4.0, lean=1.0), replace(PLAIN, signed=0)):
        betas = np.exp(np.linspace(-4, 12, 400))
        prices = [rule.round_cost(beta) for beta in betas]
        assert (np.diff(prices) <= 0).all()
        assert max(prices) == 1.0
        assert (rule.table.rows[:, STRENGTH] * rule.weak <= 0.5 + 1e-12).all()
    # β is up to a step above that of its row.
    without, step = sqrt(1.5 / 2000), sqrt(STEP)
    assert without <= replace(PLAIN, signed=0).round_cost(1000.0) <= without * step * (1 + 1e-6)
    best = without * sqrt(16 / 27)  # c = 1/3, where nothing else matters: docs/theory/signed.md
    assert best <= PLAIN.round_cost(1000.0) <= best * step * 1.03


@pytest.mark.parametrize(
    "rule", [PLAIN, BESIDE, replace(PLAIN, strong=4.0, lean=0.5), replace(PLAIN, strong=1.0)]
)
@pytest.mark.parametrize("rounds", [1, 30, 1000, 10**6])
def test_the_cost_to_go_is_near_the_minimum_over_a_fine_grid(rule, rounds):
    for beta in (0.3, 2.0, 50.0):
        value, target = rule.cost_to_go(beta, rounds)
        assert target >= beta
        assert value == pytest.approx(
            rule.diameter * (target - beta) + rounds * rule.round_cost(target), rel=1e-12
        )
        grid = beta * np.exp(np.linspace(0, 14, 20_000))
        least = min(rule.diameter * (b - beta) + rounds * rule.round_cost(b) for b in grid)
        assert value <= least * (1 + 1e-3)
        # What is affordable stays affordable: rounds that are over were paid for, wherever β is between two rows.
        for left in range(rounds - 1, max(rounds - 200, 0), -1):
            assert (
                rule.cost_to_go(beta, left)[0]
                <= value - (rounds - left) * rule.round_cost(target) + 1e-9 * value
            )
