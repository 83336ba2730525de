"""Arguments that cannot be meant are refused with what was got."""

import numpy as np
import pytest
from dozen import every_case

import sidelight as sl

env = sl.environments


@every_case
@pytest.mark.parametrize(
    "careless",
    [
        lambda: env.gap("x"),
        lambda: env.gap(0),
        lambda: env.gap(6, best="a"),
        lambda: env.gap(6, best=6),
        lambda: env.gap(3, gap=0.9),
        lambda: env.switching(3, "a"),
        lambda: env.switching(3, 0),
        lambda: env.switching(-1, 5),
        lambda: env.switching(3, 5, arms=[]),
        lambda: env.switching(3, 5, arms=[3]),
        lambda: env.matrix("x"),
        lambda: env.matrix([[np.nan]]),
        lambda: env.gap(3, gap="wide"),
        lambda: env.gap(3, others=None),
        lambda: env.switching(3, 5, gap="wide"),
        lambda: env.drifting(3, "a"),
        lambda: env.drifting(3, 5, gap=float("inf")),
        lambda: env.hard("cycle", 100),
        lambda: env.hard(sl.families.mab(3), "long"),
        lambda: env.hard_weak_arm(3, 100),
        lambda: env.hard_packing(3, [0, 1], 100),
        lambda: env.hard_packing(3, sl.packing_independent_set(sl.families.cycle(9)), 100),
        lambda: env.hard_bandit(3, 100, gap="wide"),
        lambda: env.dataset("x", folder=""),
        lambda: env.packing(3, ["x"]),
        lambda: env.packing(3, [0], hidden=1),
        lambda: env.packing(3, [0], gap=float("nan")),
        lambda: env.function(lambda t, arm: 0.0, "n"),
        lambda: sl.plan(sl.families.cycle(6), 100).policy(1).ledger("a"),
        lambda: sl.simulate(sl.families.cycle(6), env.gap(6)),
        lambda: sl.simulate(sl.plan(sl.families.cycle(6), 100), env.gap(6), checkpoints=5),
    ],
)
def test_careless_arguments_are_named(careless):
    with pytest.raises(sl.SidelightError, match=r"got|given|does not exist"):
        careless()


def test_observability_of_something_else():
    with pytest.raises(sl.errors.InvalidGraph, match="int"):
        sl.observability(3)
