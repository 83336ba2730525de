"""Plays up to checkpoints: those of the game, within a budget, through runs, cells and interrupts."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import sidelight as sl
from sidelight.experiment import run as module
from sidelight.experiment import simulation
from sidelight.experiment.results import cell_of
from sidelight.experiment.run import kept_at

POINTS = [1, 7, 40, 41, 200]


@pytest.fixture(scope="module")
def plan():
    return sl.plan("cycle:6", 200)


def counted_by_hand(plan, environment, seed):
    policy, plays, found = plan.policy(seed), np.zeros(6, dtype=int), []
    for t in range(200):
        arm = policy.ask()
        plays[arm] += 1
        policy.tell(environment.losses(seed, t, plan.graph.out_neighbors(arm)))
        if t + 1 in POINTS:
            found.append(plays.copy())
    return found


@pytest.mark.parametrize("compiled", [True, False])
def test_they_are_those_of_the_game(plan, compiled):
    coins = sl.environments.gap(6)
    environment = coins if compiled else sl.environments.function(lambda t, arm: 0.2 * (arm + t % 3 == 2), 6)
    run = sl.simulate(plan, environment, seeds=[4, 5], checkpoints=POINTS)
    assert_array_equal(run.plays_over.rounds, POINTS)
    assert run.plays_over.counts.shape == (2, 5, 6)
    for seed, counts in zip(run.seeds, run.plays_over.counts, strict=True):
        assert_array_equal(counts, counted_by_hand(plan, environment, seed))
    assert_array_equal(run.plays_over.counts[:, -1], run.plays)
    cell = cell_of(run, id="", graph="", policy="", environment="")
    assert_array_equal(cell.plays_over.counts, run.plays_over.counts.sum(axis=0))
    assert_array_equal(cell.plays_over.counts[-1], cell.plays)


def test_a_run_that_goes_on_has_those_of_one_that_was_not_stopped(plan, monkeypatch):
    whole = sl.simulate(plan, "gap", seeds=3, checkpoints=POINTS)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(simulation, "_wait", interrupted)
        patched.setattr(simulation, "CHUNK_SECONDS", 1e-9)
        part = sl.simulate(plan, "gap", seeds=3, checkpoints=POINTS, jobs=1)
    reached = np.isfinite(part.cost)
    assert not reached.all()
    assert (part.plays_over.counts[~reached] == -1).all()
    assert_array_equal(part.plays_over.counts[reached], whole.plays_over.counts[reached])
    assert_array_equal(part.resume().plays_over.counts, whole.plays_over.counts)


@pytest.mark.parametrize("checkpoints", [1, 2, 5, 80, 1000])
@pytest.mark.parametrize("arms", [1, 30, 100_000, 10**6])
@pytest.mark.parametrize("seeds", [1, 20, 5000])
def test_the_budget_is_kept_whatever_the_size(checkpoints, seeds, arms):
    at = kept_at(checkpoints, seeds, arms)
    assert at.size * arms <= module.MOST_OF_SEED
    assert at.size * seeds * arms <= module.MOST_NUMBERS
    if at.size:
        assert at.size >= 2
        assert at[-1] == checkpoints - 1
        assert len(set(np.diff(at))) <= 1  # evenly, on the scale of the checkpoints
    else:
        too_many = 2 * arms > module.MOST_OF_SEED or 2 * seeds * arms > module.MOST_NUMBERS
        assert checkpoints == 1 or too_many


def test_fewer_checkpoints_then_the_end_alone(plan, monkeypatch):
    monkeypatch.setattr(module, "MOST_NUMBERS", 2 * 6 * 3)
    run = sl.simulate(plan, "gap", seeds=2, checkpoints=POINTS)
    assert_array_equal(run.plays_over.rounds, [1, 40, 200])
    assert (run.plays_over.counts.sum(axis=2) == [1, 40, 200]).all()
    monkeypatch.setattr(module, "MOST_NUMBERS", 2 * 6 * 2 - 1)
    run = sl.simulate(plan, "gap", seeds=2, checkpoints=POINTS)
    assert run.plays_over is None
    assert run.plays.sum() == 400
    assert cell_of(run, id="", graph="", policy="", environment="").plays_over is None


def test_a_million_arms_are_not_counted():
    rule = sl.baselines.uniform(sl.families.mab(10**6))
    run = sl.simulate(rule, sl.environments.gap(10**6), horizon=50)
    assert run.plays is run.plays_over is None
