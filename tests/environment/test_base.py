"""Laws of all environments: comparators, and that simulation and decisions meet the same losses."""

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal

import sidelight as sl

env = sl.environments


def stairs(t, arm):
    """A plain function of round and arm in [0, 1]."""
    return ((3 * t + 2 * arm) % 7) / 7


MEANS = [0.3, 0.5, 0.6, 0.7, 0.8]
ENVIRONMENTS = {
    "bernoulli": lambda: sl.environments.bernoulli(MEANS),
    "switching": lambda: sl.environments.switching(5, period=20),
    "matrix": lambda: sl.environments.matrix(np.random.default_rng(4).random((60, 5))),
    "repeated matrix": lambda: sl.environments.matrix(
        np.random.default_rng(4).random((60, 5))[:13], repeat=True
    ),
    "bounded": lambda: sl.environments.bounded(MEANS),
    "drifting": lambda: sl.environments.drifting(5, period=25),
    "opposed": lambda: sl.environments.opposed(MEANS, [(0, 1), (1, 2), (3, 4)]),
    "newsvendor": lambda: sl.environments.newsvendor(np.arange(60) % 7, range(5)),
    "function": lambda: sl.environments.function(stairs, 5),
    "compiled function": lambda: sl.environments.function(njit(stairs), 5),
}


@pytest.fixture(params=ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def environment(request):
    return request.param()


def test_comparators_are_sums_of_costs(environment):
    costs = np.array([[environment.costs(1, t, arm) for arm in range(5)] for t in range(60)])
    totals = np.cumsum(costs, axis=0)
    assert_allclose(environment.best_totals(np.arange(1, 61), seed=1), totals.min(axis=1), rtol=1e-12)
    assert environment.best_arm(60, seed=1) == np.argmin(totals[-1])


def test_losses_are_aligned_with_the_arms_asked_for(environment):
    whole = environment.losses(1, 7, np.arange(5))
    assert whole.shape == (5,)
    assert ((whole >= 0) & (whole <= 1)).all()
    assert_array_equal(environment.losses(1, 7, [4, 0, 2]), whole[[4, 0, 2]])
    assert environment.losses(1, 7, []).shape == (0,)


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


def test_environments_must_fit_the_graph():
    plan = sl.plan(sl.families.mab(4), horizon=50)
    with pytest.raises(sl.InvalidOption, match=r"5 arms.*4"):
        sl.simulate(plan, env.matrix(np.zeros((60, 5))))
    with pytest.raises(sl.InvalidOption, match="ndarray"):
        sl.simulate(plan, np.zeros((60, 5)))


N, ROUNDS = 6, 120
SIX = np.array([0.5, 0.3, 0.6, 0.45, 0.7, 0.5])
GRAPHS = {
    "own loss": lambda: sl.families.mab(N),
    "everything": lambda: sl.families.full(N),
    "everything else": lambda: sl.families.loopless_clique(N),
    "own block": lambda: sl.families.cliques([3, 3]),
    "neighbours": lambda: sl.families.cycle(N),
    "some of everyone": lambda: sl.families.corrupted_full(N, 2),
}
MADE_FOR = {
    "coins": lambda graph: env.Coins(np.stack([SIX, SIX[::-1]]), period=30),
    "bounded": lambda graph: env.bounded(SIX),
    "drifting": lambda graph: env.drifting(N, period=25),
    "opposed": lambda graph: env.opposed(SIX, graph),
    "table": lambda graph: env.newsvendor(np.arange(ROUNDS) ** 2 % 11, range(N)),
    "hard": lambda graph: env.hard(graph, ROUNDS, seed=2),
}


@pytest.mark.parametrize("family", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("make", MADE_FOR.values(), ids=MADE_FOR)
def test_whatever_plays_reveal_the_losses_are_the_same(make, family):
    graph = family()
    environment, plan = make(graph), sl.plan(graph, horizon=ROUNDS)
    run = sl.simulate(plan, environment, seeds=[4], checkpoints=range(1, ROUNDS + 1))
    policy, cost, costs, plays = plan.policy(seed=4), 0.0, [], np.zeros(N, dtype=int)
    for t in range(ROUNDS):
        arm = policy.ask()
        policy.tell(environment.losses(4, t, graph.out_neighbors(arm)))
        cost += environment.costs(4, t, arm)
        costs.append(cost)
        plays[arm] += 1
    assert_array_equal(run.cost[0], costs)  # bit for bit
    assert_array_equal(run.plays[0], plays)
    regret = np.array(costs) - environment.best_totals(run.checkpoints, 4)
    assert_allclose(run.regret[0], regret, rtol=0, atol=1e-12)  # what is rounding alone is 0 there


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
            sl.environments.function(lambda t, arm: 0.0, n_arms)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_function_that_draws_at_random_is_refused(compiled):
    rng = np.random.default_rng(0)

    def drawn(t, arm):
        return float(rng.random() < 0.5)

    @njit
    def drawn_inside(t, arm):
        return np.random.random()  # noqa: NPY002 - what Numba knows

    environment = sl.environments.function(drawn_inside if compiled else drawn, 4)
    with pytest.raises(sl.InvalidOption, match=r"asked again.*seeded=True"):
        sl.simulate(sl.plan("full:4", 1000), environment)


def test_seeded_functions_give_every_seed_its_own_losses_and_every_policy_the_same():
    def beta(seed, t, arm):
        return np.random.default_rng((seed, t, arm)).beta(2, 2 + arm)

    environment = sl.environments.function(beta, 3, seeded=True)
    run = sl.simulate(sl.plan("full:3", 200), environment, seeds=2)
    again = sl.simulate(sl.plan("full:3", 200), environment, seeds=2)
    np.testing.assert_array_equal(run.cost, again.cost)
    totals = [[sum(beta(seed, t, arm) for t in range(200)) for arm in range(3)] for seed in (0, 1)]
    best = np.min(totals, axis=1)
    np.testing.assert_allclose(run.cost[:, -1] - run.regret[:, -1], best, rtol=1e-12)
    assert best[0] != best[1]
