"""Losses that come late in simulations: the same game as by decide and observe."""

import numpy as np
import pytest
from kernel_entries import interpreted
from numpy.testing import assert_allclose, assert_array_equal

import sidelight as sl
from sidelight.engine.calendar import NONE, enter, make_calendar, take
from sidelight.experiment.delays import Delays
from sidelight.graph.altered import with_loops

KINDS = {
    "entropy": lambda: sl.baselines.chlz21(sl.families.cycle(7), 400),
    "two levels": lambda: sl.plan(sl.families.bicliques([4, 4]), 400, realization="clustered"),
    "self-tuning": lambda: sl.plan(sl.families.cycle(8)),
    "budget": lambda: sl.plan(sl.families.cycle(8), 300),
    "flat": lambda: sl.plan(sl.families.cycle(6), 300, realization="flat"),
    "exp3_ix": lambda: sl.baselines.exp3_ix(with_loops(sl.families.cliques([3, 2]))),
}
ROUNDS = 300


def by_hand(plan, environment, seed, delays, rounds=ROUNDS):
    """(cost, certificate) of the same game, one decision at a time."""
    policy = plan.policy(seed=0).copy(seed)
    waiting, cost = {}, 0.0
    for t in range(rounds):
        decision = policy.decide()
        cost += environment.costs(seed, t, decision.arm)
        waiting.setdefault(t + int(delays[t]), []).append((t, decision))
        for decided, answered in waiting.pop(t, ()):
            policy.observe(answered, environment.losses(seed, decided, answered.reveals))
    return cost, policy.certificate().value


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("delay", [3, ("geometric", 5.0)], ids=["constant", "geometric"])
def test_simulation_plays_what_decide_and_observe_play(kind, delay):
    plan = KINDS[kind]()
    environment = sl.environments.gap(plan.graph.n_arms, gap=0.3)
    run = sl.simulate(plan, environment, seeds=[4, 5], horizon=ROUNDS, delay=delay, checkpoints=[100])
    drawn = Delays.checked(delay, ROUNDS)
    for index, seed in enumerate((4, 5)):
        delays = np.broadcast_to(drawn.of(seed, ROUNDS), ROUNDS)
        cost, certificate = by_hand(plan, environment, seed, delays)
        assert run.cost[index, -1] == pytest.approx(cost, rel=1e-9)
        assert_allclose(run.certificate[index, -1], certificate, rtol=1e-6)


def test_recorded_delays_and_python_environments():
    """The same delays recorded, and the same losses from a plain function, give the same game."""
    plan = KINDS["two levels"]()
    n = plan.graph.n_arms
    delays = np.random.default_rng(0).integers(0, 20, ROUNDS)
    compiled = sl.environments.gap(n, gap=0.3)
    run = sl.simulate(plan, compiled, seeds=[4], horizon=ROUNDS, delay=delays)
    assert run.cost[0, -1] == pytest.approx(by_hand(plan, compiled, 4, delays)[0], rel=1e-9)
    table = sl.environments.function(lambda t, arm: ((t * 7 + arm * 3) % 10) / 10, n)
    slow = sl.simulate(plan, table, seeds=[4], horizon=ROUNDS, delay=delays)
    assert slow.cost[0, -1] == pytest.approx(by_hand(plan, table, 4, delays)[0], rel=1e-9)


def test_no_delay_is_no_delay():
    plan = KINDS["self-tuning"]()
    environment = sl.environments.gap(8, gap=0.3)
    runs = [
        sl.simulate(plan, environment, seeds=[1], horizon=ROUNDS, delay=delay)
        for delay in (0, ("geometric", 0), np.zeros(ROUNDS, dtype=int))
    ]
    plain = sl.simulate(plan, environment, seeds=[1], horizon=ROUNDS)
    for run in runs:
        assert_array_equal(run.cost, plain.cost)
        assert_array_equal(run.certificate, plain.certificate)


def test_what_comes_after_the_end_never_comes():
    plan = KINDS["entropy"]()
    run = sl.simulate(plan, sl.environments.gap(7), seeds=[1], horizon=50, delay=10**9)
    assert run.certificate[0, -1] == 50.0  # nothing was learnt


@pytest.mark.parametrize(
    ("delay", "why"),
    [
        (-1, "cannot be negative, got -1"),
        ([1, 2, -3] * 10, "cannot be negative, got -3"),
        ([1, 2], "recorded for 2 rounds, 20 are played"),
        (("geometric", -1.0), "the mean 0 or more"),
        (("poisson", 1.0), "geometric"),
        (("geometric",), "geometric"),
        ("3", "whole number"),
        (1.5, "whole number"),
        (True, "whole number"),
        (None, "whole number"),
    ],
    ids=repr,
)
def test_delays_that_are_none(delay, why):
    with pytest.raises(sl.InvalidOption, match=why):
        sl.simulate(KINDS["entropy"](), sl.environments.gap(7), seeds=[1], horizon=20, delay=delay)


def test_geometric_delays_have_their_mean():
    drawn = Delays.checked(("geometric", 7.0), 1).of(3, 200_000)
    assert drawn.min() == 0
    assert drawn.mean() == pytest.approx(7.0, rel=0.02)
    assert drawn.std() == pytest.approx(np.sqrt(7 * 8), rel=0.02)


def test_a_calendar_gives_every_record_back_in_time_and_order():
    rng = np.random.default_rng(2)
    for delays in (np.array([5]), rng.integers(0, 9, 60), rng.geometric(0.1, 60) - 1):
        calendar = make_calendar(delays, 60, 4)
        due = np.arange(60) + np.broadcast_to(delays, 60)
        heard = []
        for t in range(60):
            interpreted(enter)(calendar, t, t % 7)
            while (record := interpreted(take)(calendar, t)) != NONE:
                heard.append((t, int(calendar.round[record])))
                assert calendar.drawn[record] == calendar.round[record] % 7
        expected = sorted((int(due[s]), s) for s in range(60) if due[s] < 60)
        assert heard == expected
