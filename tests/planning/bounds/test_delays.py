"""Bounds for answers that come late, by hand and in play."""

import numpy as np
import pytest

import sidelight as sl


def test_the_terms_by_hand():
    plan = sl.baselines.chlz21(sl.families.cycle(10), 100_000)
    eta, b, delta = plan.parameters["eta"], plan.parameters["b"], plan.parameters["delta"]
    bound = plan.bound_at(1000, delay=7)
    assert bound.terms == pytest.approx(
        {
            "diameter": np.log(10) / eta,
            "stability": 1000 * eta / (2 * b),
            "exploration": 1000 * b * delta,
            "delays": 1000 * eta * 7,
        }
    )
    assert bound.certified
    assert plan.bound_at(100_000, delay=0).value == pytest.approx(plan.bound.value)


def blocks(graph):
    return sl.plan(graph, 1000, partition=sl.partitions.components(graph), realization="clustered")


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (lambda: sl.plan(sl.families.cycle(6), 1000), "tune themselves"),
        (lambda: blocks(sl.families.bicliques([4, 4])), "two levels"),
        (lambda: sl.baselines.exp3(sl.families.mab(4), 1000), "does not reach every arm"),
    ],
    ids=["self-tuning", "two levels", "no exploration"],
)
def test_where_nothing_is_proved(plan, why):
    with pytest.raises(sl.InfeasibleRequest, match=f"late is proved for .*{why}.*certificate"):
        plan().bound_at(1000, delay=3)


def test_delays_that_are_none():
    plan = sl.baselines.chlz21(sl.families.cycle(6), 1000)
    for wrong in (-1, float("nan"), "x"):
        with pytest.raises(sl.InvalidOption):
            plan.bound_at(1000, delay=wrong)
    with pytest.raises(sl.InfeasibleRequest, match="at once"):
        plan.bound_at(1000, 0.9, delay=3)


@pytest.mark.parametrize("delay", [0, 10, 50])
def test_regret_and_certificate_keep_below_it(delay):
    plan = sl.baselines.chlz21(sl.families.cycle(6), 2000)
    run = sl.simulate(plan, sl.environments.gap(6, gap=0.3), seeds=range(8), delay=delay)
    bound = plan.bound_at(2000, delay=delay).value
    assert run.regret[:, -1].mean() < bound
    assert run.regret[:, -1].mean() < run.certificate[:, -1].mean()
