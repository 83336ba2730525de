"""The conventions of Open Bandit Pipeline, by formula: it need not be installed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from real_graphs import DATA
from recorded import record

import sidelight as sl


def feedback(n=200, n_actions=4, seed=0):
    """As obp's datasets give it."""
    rng = np.random.default_rng(seed)
    played = np.array([0.1, 0.2, 0.3, 0.4])
    action = rng.choice(n_actions, size=n, p=played)
    reward = (rng.random(n) < 0.3 + 0.1 * action).astype(int)
    return {
        "n_rounds": n, "n_actions": n_actions, "action": action, "position": None, "reward": reward,
        "pscore": played[action], "context": rng.random((n, 3)), "pi_b": np.tile(played[:, None], (n, 1, 1)),
    }  # fmt: skip


def ipw(given, action_dist):
    """obp: mean(iw·reward), iw = action_dist[t, action, position]/pscore; and the self-normalised one."""
    t = np.arange(given["n_rounds"])
    position = np.zeros_like(t) if given["position"] is None else given["position"]
    iw = action_dist[t, given["action"], position] / given["pscore"]
    return (iw * given["reward"]).mean(), (iw * given["reward"]).mean() / iw.mean()


def test_their_estimates_are_ours():
    given = feedback()
    target = np.array([0.25, 0.25, 0.5, 0.0])
    with pytest.warns(sl.errors.ColumnsIgnored, match="context, pi_b"):
        log = sl.Log.from_obp(given)
    assert (log.n_arms, log.unit.kind, log.only_played) == (4, "rewards", True)
    found = sl.evaluate(log, target)
    plain, normalised = ipw(given, np.broadcast_to(target[:, None], (200, 4, 1)))
    assert found.methods["ips"].value == pytest.approx(plain, abs=1e-14)
    assert found.methods["snips"].value == pytest.approx(normalised, abs=1e-14)


def test_an_export_needs_the_factor():
    """One row per revealed arm: their mean is over rows, ours over rounds; losses become 1 − loss."""
    coins = sl.environments.bernoulli([0.2, 0.5, 0.5, 0.8])
    policy = sl.plan(sl.families.cycle(4), horizon=200).policy(seed=1)
    log = record(policy, lambda t, arms: coins.losses(3, t, arms), 200)
    target = np.array([0.4, 0.1, 0.2, 0.3])
    given = log.to_obp()
    assert set(given) >= {"n_rounds", "n_actions", "action", "position", "reward", "pscore"}
    assert given["rows_per_round"] == log.n_rows / log.n_rounds == 2.0
    plain, normalised = ipw(given, np.broadcast_to(target[:, None], (log.n_rows, 4, 1)))
    found = sl.evaluate(log, target)
    earned = found.mean_weight - found.methods["ips"].value  # Σπ(1 − l)/P = ΣW − Σπl/P
    assert plain * given["rows_per_round"] == pytest.approx(earned, abs=1e-13)
    assert 1 - normalised == pytest.approx(found.methods["snips"].value, abs=1e-13)
    with pytest.raises(sl.errors.LogError, match="use the log"):
        sl.Log.from_obp(given)


def test_a_log_of_played_arms_goes_there_and_back():
    log = sl.Log.from_table({"arm": [0, 1], "reward": [1.0, 0.5], "probability": [0.5, 0.25]}, n_arms=3)
    again = sl.Log.from_obp(log.to_obp())
    assert (again.n_arms, again.arm.tolist(), again.value.tolist()) == (3, [0, 1], [1.0, 0.5])
    assert_allclose(again.seen, [0.5, 0.25])


def test_positions():
    given = {
        "action": [0, 1, 0, 1],
        "reward": [1, 0, 0, 1],
        "pscore": [0.5] * 4,
        "position": np.array([0, 1, 0, 1]),
    }
    assert sl.Log.from_obp(given).n_rounds == 4
    assert sl.Log.from_obp(given, position=1).value.tolist() == [0, 1]
    with pytest.raises(sl.InvalidOption, match="position 2"):
        sl.Log.from_obp(given, position=2)


def test_columns_of_their_data_set(tmp_path):
    file = tmp_path / "all.csv"
    file.write_text(
        "timestamp,item_id,position,click,propensity_score,user_feature_0\n"
        "2019-11-24 00:00:00,2,3,0,0.0125,81ce\n2019-11-24 00:00:01,14,1,1,0.0125,4ae3\n"
    )
    with pytest.warns(sl.errors.ColumnsIgnored, match="timestamp, user_feature_0"):
        log = sl.Log.read(file, n_arms=80)
    assert (log.n_arms, log.arm.tolist(), log.value.tolist()) == (80, [2, 14], [0, 1])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"action": [0], "reward": [1]}, "needs action, reward, pscore"),
        ({"action": [0], "reward": [2], "pscore": [0.5]}, "row 0, column 'reward'.*2"),
        ({"action": [0], "reward": [1], "pscore": [0.0]}, "row 0, column 'probability'.*0.0"),
        ({"action": [5], "reward": [1], "pscore": [0.5], "n_actions": 3}, "row 0, column 'arm'.*5"),
        ({"action": [0, 1], "reward": [1], "pscore": [0.5]}, "shapes"),
    ],
)
def test_refused(given, message):
    with pytest.raises(sl.errors.LogError, match=message):
        sl.Log.from_obp(given)


def test_their_own_data():
    """Logged at random: the uniform policy earns the mean click rate."""
    file = DATA.parent / "losses" / "open_bandit_random_all.csv.gz"
    if not file.exists():
        pytest.skip("shared/data is not beside the repository")
    with pytest.warns(sl.errors.ColumnsIgnored, match="timestamp"):
        log = sl.Log.read(file, n_arms=80)
    found = sl.evaluate(log, "uniform")
    assert found.methods["ips"].value == pytest.approx(log.value.mean())
    assert 0 < found.low < log.value.mean() < found.high < 0.01
