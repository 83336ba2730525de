"""The numbers of a self-tuning plan: checked where they enter, the same after a file."""

from dataclasses import replace
from math import inf, sqrt

import numpy as np
import pytest

from sidelight.errors import InvalidOption
from sidelight.planning import Potential, Tuning
from sidelight.planning.self_tuning.rule import SelfTuning

PLAIN = SelfTuning(0.5, 0.5, 2.0, 0.7, 1.5)


def tuning(rule=PLAIN, **more):
    """Two strangers, each of whom reveals the other."""
    numbers = {"spread": rule.first_strength, "cover": 1.0, "load": 1.0, "self_tuning": rule} | more
    return Tuning.flat(2, Potential(rule.order, 1 / rule.first), **numbers)


@pytest.mark.parametrize(
    "wrong",
    [
        {"order": 0.0}, {"order": 1.1}, {"share": 0.0}, {"share": float("nan")}, {"diameter": inf}, {"first": 0.2},
        {"weak": 0.0}, {"beside": -1.0}, {"strong": 0.0}, {"strong": 1.0, "lean": 1.0}, {"patience": 0.0},
        {"play_share": 0.6},
        {"horizon": 10}, {"budget": 3.0}, {"horizon": 10, "budget": float("nan")}, {"horizon": -1, "budget": 1.0},
    ],
)  # fmt: skip
def test_a_rule_checks_its_numbers(wrong):
    with pytest.raises(InvalidOption):
        replace(PLAIN, **wrong)


@pytest.mark.parametrize(
    "rule", [PLAIN, replace(PLAIN, strong=3.0, lean=1.0, beside=0.5, horizon=10, budget=4.0)]
)
def test_a_tuning_carries_its_rule_through_arrays(rule):
    again = Tuning.from_arrays(tuning(rule).to_arrays())
    assert again.self_tuning == rule
    assert Tuning.from_arrays(tuning(self_tuning=None).to_arrays()).self_tuning is None
    with pytest.raises(InvalidOption, match="numbers"):
        SelfTuning.from_array(np.ones(3))


def test_a_tuning_refuses_a_rule_of_another_order():
    with pytest.raises(InvalidOption, match="order"):
        tuning(self_tuning=replace(PLAIN, order=0.7))


def test_prices_fall_and_the_safe_strength_keeps_exploration_below_a_half():
    for rule in (PLAIN, replace(PLAIN, beside=2.0), replace(PLAIN, strong=4.0, lean=1.0)):
        betas = np.exp(np.linspace(-4, 12, 400))
        prices = [rule.round_cost(beta) for beta in betas]
        assert (np.diff(prices) <= 1e-15).all()
        assert max(prices) == 1.0
        assert all(0 <= rule.safe_strength(beta) * rule.weak <= 0.5 + 1e-12 for beta in betas)
    assert PLAIN.round_cost(100.0) == pytest.approx(sqrt(1.5 / 200))


@pytest.mark.parametrize("more", [{}, {"beside": 3.0}, {"strong": 4.0, "lean": 0.5}, {"strong": 1.0}])
@pytest.mark.parametrize("rounds", [1, 30, 1000, 10**6])
def test_the_cost_to_go_is_near_the_minimum_over_a_fine_grid(more, rounds):
    rule = replace(PLAIN, **more)
    for beta in (0.3, 2.0, 50.0):
        value, target = rule.cost_to_go(beta, rounds)
        assert target >= beta
        assert value == pytest.approx(
            rule.diameter * (target - beta) + rounds * rule.round_cost(target), rel=1e-12
        )
        grid = beta * np.exp(np.linspace(0, 14, 20_000))
        least = min(rule.diameter * (b - beta) + rounds * rule.round_cost(b) for b in grid)
        assert value <= least * (1 + 1e-3)
