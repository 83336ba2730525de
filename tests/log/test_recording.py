"""Logs of a policy's own loop: probabilities are those of the decision, taken from the graph."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import sidelight as sl


def logged(policy, losses, rounds, path):
    with policy.log(path):
        for t in range(rounds):
            policy.tell(losses(t, policy.graph.out_neighbors(policy.ask())))
    return sl.Log.read(path)


@pytest.mark.parametrize(
    "graph", [sl.families.cycle(5), sl.families.loopless_clique(4), sl.families.revealing_action(4)], ids=str
)
def test_probabilities_are_those_of_the_decision(graph, tmp_path):
    coins = sl.environments.gap(graph.n_arms)
    plan = sl.plan(graph, horizon=50)
    log = logged(plan.policy(seed=4), lambda t, arms: coins.losses(4, t, arms), 50, tmp_path / "log.csv")
    twin, adjacency = plan.policy(seed=4), graph.to_sparse().toarray()
    for t in range(50):
        arm = twin.ask()
        played = twin.probabilities
        rows = slice(log.start[t], log.start[t + 1])
        assert log.arm[t] == arm
        assert_allclose(log.probability[t], played[arm], rtol=1e-12)
        assert log.revealed[rows].tolist() == graph.out_neighbors(arm).tolist()
        assert_allclose(log.seen[rows], (played @ adjacency)[log.revealed[rows]], rtol=1e-12)
        losses = coins.losses(4, t, graph.out_neighbors(arm))
        assert_allclose(log.value[rows], losses)
        twin.tell(losses)


def test_an_arm_that_reveals_nothing_is_a_round(tmp_path):
    graph = sl.FeedbackGraph.from_edges(3, [(0, 0), (0, 1), (0, 2)], labels=["all", "x", "y"])
    policy = sl.baselines.uniform(graph).policy(seed=1)
    log = logged(policy, lambda t, arms: np.full(len(arms), 0.5), 40, tmp_path / "log.csv")
    assert (log.n_rounds, log.labels) == (40, ("all", "x", "y"))
    assert set(np.diff(log.start).tolist()) == {0, 3}
