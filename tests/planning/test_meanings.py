"""Every number that a summary of `sl.plan` shows is explained beside it."""

import pytest

import sidelight as sl
from sidelight.planning.plan import blocks_of, numbers_of


@pytest.mark.parametrize("horizon", [None, 20_000])
@pytest.mark.parametrize("family", ["cycle:10", "full:5", "loopless_clique:6"])
def test_the_numbers_of_plans_have_meanings(family, horizon):
    plan = sl.plan(family, horizon)
    numbers = numbers_of(plan.parameters)
    assert numbers
    for name, value, meaning in numbers:
        assert meaning, name
        assert f"  {name} = {value}  {meaning}" in str(plan).splitlines()


def test_blocks_by_kind():
    assert blocks_of(sl.partitions.single(sl.families.cycle(10))) == "one block of all 10 arms"
    loops = sl.partitions.singletons(sl.families.mab(3))
    assert blocks_of(loops) == "3 blocks: 3 of one arm with a self-loop"


def test_a_note_says_why_the_bound_is_not_the_smallest():
    plan = sl.plan("cycle:10", 2000)
    smallest = min(each.value for each in plan.details.considered)
    assert plan.bound.terms["smallest bound"] == pytest.approx(smallest)
    assert f"the smallest bound is {smallest:,.1f} (flat, potential, all arms); the" in plan.details.note
    assert f"the {plan.bound.value - smallest:,.1f} above it buy free play" in plan.details.note
    assert plan.details.note in str(plan)
    assert sl.plan("cycle:10", 2000, realization="fixed").details.note == ""
