"""Recorded and computed losses, and the promise that simulation and decisions meet the same ones."""

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal

import sidelight as sl

LOSSES = np.random.default_rng(4).random((60, 5))


def stairs(t, arm):
    """A plain function of round and arm in [0, 1]."""
    return ((3 * t + 2 * arm) % 7) / 7


ENVIRONMENTS = {
    "bernoulli": sl.environments.bernoulli([0.3, 0.5, 0.6, 0.7, 0.8]),
    "switching": sl.environments.switching(5, period=20),
    "matrix": sl.environments.matrix(LOSSES),
    "repeated matrix": sl.environments.matrix(LOSSES[:13], repeat=True),
    "bounded": sl.environments.bounded([0.3, 0.5, 0.6, 0.7, 0.8]),
    "drifting": sl.environments.drifting(5, period=25),
    "opposed": sl.environments.opposed([0.3, 0.5, 0.6, 0.7, 0.8], [(0, 1), (1, 2), (3, 4)]),
    "newsvendor": sl.environments.newsvendor(np.arange(60) % 7, range(5)),
    "function": sl.environments.function(stairs, 5),
    "compiled function": sl.environments.function(njit(stairs), 5),
}


@pytest.mark.parametrize("environment", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_comparators_are_sums_of_costs(environment):
    costs = np.array([[environment.costs(1, t, arm) for arm in range(5)] for t in range(60)])
    totals = np.cumsum(costs, axis=0)
    assert_allclose(environment.best_totals(np.arange(1, 61), seed=1), totals.min(axis=1), rtol=1e-12)
    assert environment.best_arm(60, seed=1) == np.argmin(totals[-1])


@pytest.mark.parametrize("environment", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_losses_are_aligned_with_the_arms_asked_for(environment):
    whole = environment.losses(1, 7, np.arange(5))
    assert whole.shape == (5,)
    assert ((whole >= 0) & (whole <= 1)).all()
    assert_array_equal(environment.losses(1, 7, [4, 0, 2]), whole[[4, 0, 2]])
    assert environment.losses(1, 7, []).shape == (0,)


@pytest.mark.parametrize("environment", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_a_simulated_run_is_the_loop_of_ask_and_tell(environment):
    """Arms, cost, regret and ledger agree exactly, round by round."""
    g = sl.FeedbackGraph.from_edges(5, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 3), (0, 4)])
    plan = sl.plan(g, horizon=60, partition=sl.Partition(g, [[0, 1, 2], [3, 4]]), realization="adaptive")
    run = sl.simulate(plan, environment, seeds=[3, 8], checkpoints=range(1, 61))
    for row, seed in enumerate((3, 8)):
        policy, cost, plays = plan.policy(seed=seed), 0.0, np.zeros(5, dtype=int)
        for t in range(60):
            arm = policy.ask()
            policy.tell(environment.losses(seed, t, g.out_neighbors(arm)))
            cost += environment.costs(seed, t, arm)
            plays[arm] += 1
            assert run.cost[row, t] == pytest.approx(cost, rel=1e-12)
        assert_array_equal(run.plays[row], plays)
        assert_allclose(run.ledger[row, -1], list(policy.ledger(int(run.best_arm[row])).values()), rtol=1e-9)
        best = environment.best_totals(run.checkpoints, seed)
        assert_allclose(run.regret[row], run.cost[row] - best, rtol=1e-12, atol=1e-12)


def test_matrix_is_read_row_by_row():
    environment = sl.environments.matrix(LOSSES)
    assert_array_equal([environment.losses(0, t, np.arange(5)) for t in range(60)], LOSSES)


def test_too_long_a_horizon_for_the_matrix():
    plan = sl.plan(sl.families.mab(5), horizon=61)
    with pytest.raises(sl.InvalidOption, match=r"60 rows.*61"):
        sl.simulate(plan, sl.environments.matrix(LOSSES))
    assert sl.simulate(plan, sl.environments.matrix(LOSSES, repeat=True)).complete


@pytest.mark.parametrize("bad", [-0.1, 1.5, float("nan"), float("inf")])
def test_matrices_with_losses_outside_the_unit_interval(bad):
    wrong = LOSSES.copy()
    wrong[17, 3] = bad
    with pytest.raises(sl.InvalidOption, match=rf"row 17, arm 3 .*{bad}"):
        sl.environments.matrix(wrong)


@pytest.mark.parametrize("table", [[], [[]], [0.5, 0.5], 0.5, np.zeros((2, 2, 2))], ids=repr)
def test_matrices_of_the_wrong_shape(table):
    with pytest.raises(sl.InvalidOption, match="shape"):
        sl.environments.matrix(table)


@pytest.mark.parametrize("compiled", [False, True])
def test_functions_that_leave_the_unit_interval(compiled):
    def too_much(t, arm):
        return 0.5 if t < 20 else 1.5

    environment = sl.environments.function(njit(too_much) if compiled else too_much, 3)
    plan = sl.plan(sl.families.mab(3), horizon=50)
    with pytest.raises(sl.SidelightError, match=r"\[0, 1\]"):
        sl.simulate(plan, environment)


def test_functions_that_are_none():
    with pytest.raises(sl.InvalidOption, match=r"0\.5"):
        sl.environments.function(0.5, 3)
    for n_arms in (0, -1):
        with pytest.raises(sl.InvalidOption, match=str(n_arms)):
            sl.environments.function(stairs, n_arms)


def test_environments_must_fit_the_graph():
    plan = sl.plan(sl.families.mab(4), horizon=50)
    with pytest.raises(sl.InvalidOption, match=r"5 arms.*4"):
        sl.simulate(plan, sl.environments.matrix(LOSSES))
    with pytest.raises(sl.InvalidOption, match="ndarray"):
        sl.simulate(plan, LOSSES)
