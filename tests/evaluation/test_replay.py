"""Plans on logs: played again where the log shows enough, else refused with the reason."""

import numpy as np
import pytest
from recorded import record

import sidelight as sl

ROUNDS = 120
TABLE = np.random.default_rng(0).random((ROUNDS, 3))


def full_log(**options):
    policy = sl.baselines.uniform(sl.families.full(3)).policy(seed=1)
    return record(policy, lambda t, arms: TABLE[t, arms], ROUNDS, **options)


@pytest.mark.parametrize(
    "graph", [sl.families.full(3), sl.families.mab(3), sl.families.loopless_clique(3)], ids=str
)
def test_where_everything_is_shown_a_replay_is_a_simulation(graph):
    plan = sl.plan(graph, horizon=ROUNDS)
    found = sl.evaluate(full_log(), plan, seeds=range(5))
    run = sl.simulate(plan, sl.environments.matrix(TABLE), seeds=range(5))
    assert found.estimate == pytest.approx(run.cost[:, -1].mean() / ROUNDS)
    assert found.method == "replay"
    assert found.low < found.estimate < found.high


def test_rewards_are_told_as_losses():
    log = full_log()
    table = {name: log.to_arrow()[name].to_numpy() for name in ("round", "arm", "revealed", "seen")}
    earned = sl.Log.from_table({**table, "reward": 50 * (1 - log.value)}, rewards=(0, 50))
    plan = sl.plan(sl.families.mab(3), horizon=ROUNDS)
    cost, gain = (sl.evaluate(each, plan, seeds=range(3)).estimate for each in (log, earned))
    assert gain == pytest.approx(50 * (1 - cost))


def test_baselines_and_comparisons():
    found = sl.evaluate(
        full_log(), {"exp3": sl.baselines.exp3(sl.families.mab(3), ROUNDS), "always 1": 1}, seeds=[1]
    )
    assert found["exp3"].method == "replay"
    assert (found["exp3"].low, found["exp3"].high) == (0, 1)  # one game says nothing about its own luck
    assert found["always 1"].estimate == pytest.approx(TABLE[:, 1].mean(), abs=1e-12)
    with pytest.raises(sl.InvalidOption, match="replayed plan"):
        found.difference("exp3", "always 1")


def test_what_is_not_shown_is_named():
    policy = sl.plan(sl.families.mab(3), horizon=ROUNDS).policy(seed=1)
    log = record(policy, lambda t, arms: TABLE[t, arms], ROUNDS)
    with pytest.raises(
        sl.InfeasibleRequest, match=r"in round \d+ it plays arm \d and needs to know \d, which"
    ):
        sl.evaluate(log, sl.plan(sl.families.mab(3), horizon=ROUNDS))


def test_plans_that_do_not_fit():
    with pytest.raises(sl.InvalidOption, match="plays 4 arms, the log has 3"):
        sl.evaluate(full_log(), sl.plan(sl.families.full(4), horizon=ROUNDS))
    with pytest.raises(sl.InvalidOption, match="plan for 50 rounds, the log has 120"):
        sl.evaluate(full_log(), sl.plan(sl.families.full(3), horizon=50))
