"""Whatever plays reveal, simulation and decisions meet the same losses."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import sidelight as sl

env = sl.environments
N, ROUNDS = 6, 120
MEANS = np.array([0.5, 0.3, 0.6, 0.45, 0.7, 0.5])
GRAPHS = {
    "own loss": sl.families.mab(N),
    "everything": sl.families.full(N),
    "everything else": sl.families.loopless_clique(N),
    "own block": sl.families.cliques([3, 3]),
    "neighbours": sl.families.cycle(N),
    "some of everyone": sl.families.corrupted_full(N, 2),
}
ENVIRONMENTS = {
    "coins": lambda graph: env.Coins(np.stack([MEANS, MEANS[::-1]]), period=30),
    "bounded": lambda graph: env.bounded(MEANS),
    "drifting": lambda graph: env.drifting(N, period=25),
    "opposed": lambda graph: env.opposed(MEANS, graph),
    "table": lambda graph: env.newsvendor(np.arange(ROUNDS) ** 2 % 11, range(N)),
    "hard": lambda graph: env.hard(graph, ROUNDS, seed=2),
}


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("make", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_a_simulated_run_is_the_loop_of_ask_and_tell(make, graph):
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
    assert_array_equal(run.regret[0], np.array(costs) - environment.best_totals(run.checkpoints, 4))
