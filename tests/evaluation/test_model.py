"""Models of values against their naive twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from recorded import record

import sidelight as sl
from sidelight.evaluation import rounds as module
from sidelight.evaluation.rounds import FOLDS, PRIOR, model_of
from sidelight.evaluation.target import Target


@pytest.fixture(scope="module")
def log():
    coins = sl.environments.bounded([0.2, 0.5, 0.8, 0.5])
    policy = sl.plan(sl.families.cycle(4), horizon=60).policy(seed=3)
    return record(policy, lambda t, arms: coins.losses(5, t, arms), 60)


def twin(log, known):
    """(n, arms) means over the decisions s for which known(t, s)."""
    table = np.empty((log.n_rounds, log.n_arms))
    for t in range(log.n_rounds):
        visible = np.array([known(t, s) for s in log.round_of_row.tolist()])
        overall = (PRIOR + log.value[visible].sum()) / (1 + visible.sum())
        for arm in range(log.n_arms):
            values = log.value[visible & (log.revealed == arm)]
            table[t, arm] = (overall + values.sum()) / (1 + values.size)
    return table


@pytest.mark.parametrize("varying", [False, True])
@pytest.mark.parametrize(
    ("name", "known"), [("past", lambda t, s: s < t), ("folds", lambda t, s: t % FOLDS != s % FOLDS)]
)
def test_against_the_twin(log, monkeypatch, name, known, varying):
    monkeypatch.setattr(
        "sidelight.evaluation.target.BLOCK", 4 * 7
    )  # blocks of seven rounds, the last one shorter
    table = twin(log, known)
    rng = np.random.default_rng(0)
    chosen = rng.dirichlet(np.ones(4), size=log.n_rounds) if varying else rng.dirichlet(np.ones(4))
    model = model_of(log, log.value, name)
    assert_allclose(model.at_rows(), table[log.round_of_row, log.revealed], atol=1e-13)
    assert_allclose(model.expected(Target.of(log, chosen)), (chosen * table).sum(axis=1), atol=1e-13)


def test_given_values_are_in_the_unit_of_the_log():
    table = {"arm": [0, 1, 1], "reward": [10.0, 0.0, 25.0], "probability": [0.5] * 3}
    log = sl.Log.from_table(table, rewards=(0, 25))
    values = log.unit.to_unit_interval(log.value)
    model = model_of(log, values, [5.0, 20.0])
    assert_allclose(model.at_rows(), [0.2, 0.8, 0.8])
    assert_allclose(model.expected(Target.of(log, [0.5, 0.5])), 0.5)
    each = model_of(log, values, [[5.0, 20.0], [0.0, 25.0], [5.0, 5.0]])
    assert_allclose(each.at_rows(), [0.2, 1.0, 0.2])


@pytest.mark.parametrize("given", ["future", [0.5], [[0.5] * 4] * 2, None, [0.5, 0.5, 0.5, 2.0]])
def test_refused(log, given):
    with pytest.raises(sl.InvalidOption, match="model"):
        module.model_of(log, log.value, given)
