"""The independent check of self-tuning plans refuses whatever claims too much."""

from dataclasses import replace

import pytest

import sidelight as sl
from sidelight.planning import check_certificate
from sidelight.planning.self_tuning.curve import SelfTuningBound


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
        (sl.families.corrupted_mab(12, 1), {"beside": 1.0}, "beside"),
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


def test_a_cover_that_leaves_arms_out_is_found():
    made = sl.plan(sl.families.cycle(12), realization="self-tuning")
    load = made.tuning.load.copy()
    load[3] = 0.0
    assert any("neither" in name for name in failing(replace(made, tuning=replace(made.tuning, load=load))))


def test_budgets_that_are_too_small_or_for_other_rounds_are_found():
    made = sl.plan(sl.families.cycle(12), 5_000, realization="self-tuning")
    rule = made.tuning.self_tuning
    for changes, name in (({"budget": 0.99 * rule.budget}, "cost to go"), ({"horizon": 4_999}, "horizon")):
        tuning = replace(made.tuning, self_tuning=replace(rule, **changes))
        assert any(name in found for found in failing(replace(made, tuning=tuning)))
    generous = replace(made.tuning, self_tuning=replace(rule, budget=1.01 * rule.budget))
    assert any("claimed bound" in found for found in failing(replace(made, tuning=generous)))
