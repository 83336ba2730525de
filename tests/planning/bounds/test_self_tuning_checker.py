"""The independent check of self-tuning plans refuses whatever claims too much."""

from bisect import bisect_right
from dataclasses import fields, replace
from math import inf
from typing import ClassVar

import numpy as np
import pytest

import sidelight as sl
from sidelight.planning import check_certificate
from sidelight.planning.self_tuning.curve import SelfTuningBound
from sidelight.planning.self_tuning.rule import WHOLE, SelfTuning


def failing(plan):
    return [condition.name for condition in check_certificate(plan) if not condition.holds]


def with_rule(made, **changes):
    """The plan with other numbers, and the bound that would follow from them."""
    rule = replace(made.tuning.self_tuning, **changes)
    return replace(made, tuning=replace(made.tuning, self_tuning=rule), curve=SelfTuningBound(rule))


@pytest.mark.parametrize(
    ("graph", "changes", "name"),
    [
        (sl.families.cycle(12), {"weak": 2.0}, "weak"),
        (sl.families.cycle(12), {"diameter": 5.0}, "entropy"),
        (sl.families.cycle(12), {"strong": 1.0}, "strongly observable"),
        (sl.families.mab(12), {"strong": 1.0}, "strongly observable"),
        (sl.families.loopless_clique(12), {"lean": 0.5}, "strongly observable"),
        (sl.families.corrupted_mab(12, 1), {"loops": 10.0}, "price of a round"),
        (sl.families.mab(12), {"loops": 11.0}, "price of a round"),
        (sl.families.corrupted_mab(12, 1), {"first": 1.0}, "first temperature"),
    ],
)
def test_numbers_that_are_too_good_are_found(graph, changes, name):
    made = sl.plan(graph, realization="self-tuning")
    assert failing(made) == []
    assert any(name in found for found in failing(with_rule(made, **changes)))


def test_a_curve_that_claims_too_little_is_found():
    made = sl.plan(sl.families.cycle(12), realization="self-tuning")
    less = replace(made.tuning.self_tuning, weak=made.tuning.self_tuning.weak * 0.999)
    assert ["every round" in name for name in failing(replace(made, curve=SelfTuningBound(less)))] == [True]


NUMBERS = [field.name for field in fields(SelfTuning) if field.name not in ("horizon", "budget")]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_curve_of_other_numbers_is_refused_whatever_samples_say(number):
    """Also where it is above the true one at every number of rounds that is looked at."""
    made = sl.plan(sl.families.cycle(12))
    rule = made.tuning.self_tuning
    for factor in (1 - 1e-9, 1 + 1e-9):
        own = getattr(rule, number)
        changed = own + 1 if number in WHOLE else own * factor if 0 < own < inf else 1.0
        other = SelfTuningBound(replace(rule, **{number: changed}))
        assert ["every round" in name for name in failing(replace(made, curve=other))] == [True]


class Between(SelfTuningBound):
    """A curve that is changed where the checker used not to look: between rounds 1/16 apart."""

    seen: ClassVar[list[int]] = [1]
    while seen[-1] < 2**62:
        seen.append(seen[-1] + max(seen[-1] // 16, 1))

    def value_at(self, t):
        return (
            super().value_at(self.seen[bisect_right(self.seen, t) - 1]) if t > 5000 else super().value_at(t)
        )


class Falling(SelfTuningBound):
    """A curve that is far too high, and falls to one that is still true."""

    def value_at(self, t):
        return super().value_at(t) * (100 if t < 10**6 else 1)


@pytest.mark.parametrize("curve", [Between, Falling])
@pytest.mark.parametrize("family", ["cycle:12", "mab:12", "full:12", "corrupted_mab:12,2"])
def test_a_curve_that_is_false_between_two_rounds_is_found(curve, family):
    made = sl.plan(family)
    assert failing(made) == []
    assert ["every round" in name for name in failing(replace(made, curve=curve(made.curve.rule)))] == [True]


def test_a_cover_that_leaves_arms_out_is_found():
    made = sl.plan(sl.families.cycle(12), realization="self-tuning")
    load = made.tuning.load.copy()
    load[3] = 0.0
    assert any("neither" in name for name in failing(replace(made, tuning=replace(made.tuning, load=load))))


def test_budgets_that_are_too_small_or_for_other_rounds_are_found():
    made = sl.plan(sl.families.cycle(12), 5_000, realization="self-tuning")
    rule = made.tuning.self_tuning
    for changes, name in (({"budget": 0.99 * rule.needed}, "cost to go"), ({"horizon": 4_999}, "horizon")):
        tuning = replace(made.tuning, self_tuning=replace(rule, **changes))
        assert any(name in found for found in failing(replace(made, tuning=tuning)))
    generous = replace(made.tuning, self_tuning=replace(rule, budget=1.01 * rule.budget))
    assert any("claimed bound" in found for found in failing(replace(made, tuning=generous)))


BEHIND = {
    name: sl.plan(name, 20_000)
    for name in ("cycle:12", "mab:12", "corrupted_mab:12,3", "revealing_action:12")
}


@pytest.mark.parametrize("name", BEHIND)
def test_what_is_behind_a_budget_is_read_off_its_arrays(name):
    """Other arrays than those that the rows were proved for are no multiples of them, or cost more than they say."""
    made = BEHIND[name]
    base = made.tuning.base
    assert failing(made) == []
    wrong = {
        "inner_rate": base.inner_rate * 1.01,
        "spread": base.spread * 0.97,
        "global_exploration": base.global_exploration * 0.97,
        "load": base.load * 1.01,
        "cover": base.cover * 1.01,
        "corners": False,
    }
    for field, value in wrong.items():
        if not np.array_equal(value, getattr(base, field)):
            other = replace(made, tuning=replace(made.tuning, base=replace(base, **{field: value})))
            assert any("behind the budget" in found for found in failing(other)), field


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("cycle:12", "base_weak"),
        ("cycle:12", "base_beta"),
        ("corrupted_mab:12,3", "base_weak"),
        ("corrupted_mab:12,3", "base_ratio"),
        ("mab:12", "base_beta"),
        ("revealing_action:12", "base_weak"),
    ],
)
def test_numbers_behind_a_budget_that_are_too_good_are_found(name, number):
    made = BEHIND[name]
    rule = made.tuning.self_tuning
    other = replace(made.tuning, self_tuning=replace(rule, **{number: 0.95 * getattr(rule, number)}))
    assert any("behind the budget" in found for found in failing(replace(made, tuning=other)))
