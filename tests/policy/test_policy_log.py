"""A policy writes down its own decisions: with the probabilities of their draws, before it learns from them."""

import os
import pickle

import numpy as np
import pytest
from policy_kinds import losses_of, playable
from recorded import record

import sidelight as sl

PATHS = ["log.csv", "log.parquet"]  # one file, and a folder of parts
SEEN = sl.FeedbackGraph.from_edges(3, [(0, 1), (1, 2), (2, 0), (0, 0)], labels=["red", "green", "blue"])


def new(seed=1, **unit):
    return sl.plan(SEEN, 500, realization="fixed").policy(seed=seed, **unit)


def answer(policy, decision):
    policy.observe(decision, losses_of(decision.round, policy.graph.n_arms)[decision.reveals])


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "kind", ["auto cycle", "auto bandit buckets", "labels", "ftl", "ucb_n", "ts_n", "track_n", "exp3_ix"]
)
def test_rows_are_what_happened(kind, path, tmp_path):
    """As `record` keeps them, and as decisions say."""
    policy = playable(kind).policy(seed=3)
    twin, n = policy.copy(), policy.graph.n_arms
    said = []
    with policy.log(tmp_path / path):
        for _ in range(30):
            d = policy.decide()
            said += d.seen.tolist()
            answer(policy, d)
    log = sl.Log.read(tmp_path / path)
    expected = record(twin, lambda t, arms: losses_of(t + 1, n)[arms], rounds=30)
    assert log.decision_id.tolist() == log.round.tolist() == list(range(1, 31))
    assert log.labels == policy.graph.labels
    assert log.n_arms == n
    for name in ("arm", "start", "revealed", "value"):
        assert np.array_equal(getattr(log, name), getattr(expected, name)), name
    np.testing.assert_allclose(log.seen, np.minimum(said, 1.0), rtol=1e-12)
    if kind not in ("ucb_n", "ts_n", "track_n"):  # these say something else while an arm is pending
        np.testing.assert_allclose(log.probability, expected.probability, rtol=1e-12)
        np.testing.assert_allclose(log.seen, np.minimum(expected.seen, 1.0), rtol=1e-7)
    assert np.array_equal(policy.probabilities, twin.probabilities)


@pytest.mark.parametrize("path", PATHS)
def test_late_answers_have_the_probabilities_of_their_draw(path, tmp_path):
    policy = new(losses=(-1, 3))
    with policy.log(tmp_path / path):
        decisions, likely = [], {}
        for t in range(40):
            likely[t + 1] = policy.probabilities
            decisions += policy.decide(count=1)
            if t % 3 == 2:
                late = decisions.pop(t % len(decisions))
                policy.observe(late, 4 * losses_of(late.id, 3)[late.reveals] - 1)
        likely[41] = likely[42] = policy.probabilities
        decisions += policy.decide(count=2)
        gone = [d.id for d in decisions[:5]]
        for d in decisions:
            if d.id in gone:
                policy.cancel(d)
            else:
                policy.observe(d, dict.fromkeys(d.reveals.tolist(), 2.5))
    log = sl.Log.read(tmp_path / path)
    assert log.decision_id.tolist() == [t for t in range(1, 43) if t not in gone]
    assert (log.unit.kind, log.unit.low, log.unit.high) == ("losses", -1.0, 3.0)
    assert log.labels == SEEN.labels
    for at, number in enumerate(log.decision_id.tolist()):
        Z = likely[number]
        assert log.probability[at] == pytest.approx(Z[log.arm[at]], rel=1e-12)
        rows = slice(log.start[at], log.start[at + 1])
        for arm, seen in zip(log.revealed[rows], log.seen[rows], strict=True):
            assert seen == pytest.approx(Z[SEEN.in_neighbors(arm)].sum(), rel=1e-9)
    assert -1 <= sl.evaluate(log, "uniform").estimate <= 3


@pytest.mark.parametrize("path", PATHS)
def test_asking_and_telling_is_logged_too(path, tmp_path):
    one, two = new(rewards=(0, 10)), new(rewards=(0, 10))
    with one.log(tmp_path / f"one-{path}"), two.log(tmp_path / f"two-{path}"):
        for _ in range(20):
            d, arm = one.decide(), two.ask()
            one.observe(d, [7.5] * d.reveals.size)
            two.tell({SEEN.labels[j]: 7.5 for j in SEEN.out_neighbors(arm)})
    logs = [sl.Log.read(tmp_path / f"{name}-{path}") for name in ("one", "two")]
    for name in ("decision_id", "arm", "probability", "revealed", "value", "seen"):
        assert np.array_equal(*(getattr(log, name) for log in logs)), name


@pytest.mark.parametrize("path", PATHS)
def test_a_resumed_policy_goes_on_with_its_log(path, tmp_path):
    policy = new()
    with policy.log(tmp_path / path):
        early = policy.decide()
        answer(policy, policy.decide())
        policy.save(tmp_path / "policy")  # which brings the log to the disk
        assert sl.Log.read(tmp_path / path).decision_id.tolist() == [2]
    policy = sl.Policy.load(tmp_path / "policy")
    with policy.log(tmp_path / path):
        policy.observe(early.id, losses_of(1, 3)[early.reveals])
        answer(policy, policy.decide())
    log = sl.Log.read(tmp_path / path)
    assert log.decision_id.tolist() == [1, 2, 3]
    assert log.probability[0] == early.probability  # files hold it
    assert not np.isnan(log.probability).any()
    np.testing.assert_allclose(log.seen[: early.reveals.size], early.seen)
    assert len(set(log.version)) == 2


@pytest.mark.parametrize("path", PATHS)
def test_after_a_crash_decisions_may_have_one_number_twice(path, tmp_path):
    """A policy that goes on from an older file makes them again, and the log keeps them apart."""
    policy = new()
    policy.save(tmp_path / "policy")
    log = policy.log(tmp_path / path)
    for _ in range(3):
        answer(policy, policy.decide())
    log.flush()
    policy = sl.Policy.load(tmp_path / "policy")  # the other one is no more
    with policy.log(tmp_path / path):
        for _ in range(4):
            answer(policy, policy.decide())
    found = sl.Log.read(tmp_path / path)
    assert found.decision_id.tolist() == [1, 1, 2, 2, 3, 3, 4]
    assert found.n_rounds == 7


def test_a_full_disk_changes_nothing(tmp_path, monkeypatch):
    policy, twin = new(), new()
    write = os.write
    log = policy.log(tmp_path / "log.csv")
    for each in (policy, twin):
        answer(each, each.decide())
    d, e = policy.decide(), twin.decide()
    before = policy.probabilities
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", lambda file, data: write(file, data[:20]))
        with pytest.raises(sl.errors.LogError, match="disk is full; nothing was logged"):
            answer(policy, d)
    assert [open_.id for open_ in policy.open] == [2]
    assert np.array_equal(policy.probabilities, before)
    answer(policy, d)
    answer(twin, e)
    assert np.array_equal(policy.probabilities, twin.probabilities)
    log.close()
    assert sl.Log.read(tmp_path / "log.csv").decision_id.tolist() == [1, 2]


def test_a_full_disk_is_noticed_where_parts_are_written(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    policy = new()
    log = policy.log(tmp_path / "log")
    d = policy.decide()
    answer(policy, d)
    with monkeypatch.context() as patched:
        patched.setattr("sidelight._files.os.replace", full)
        with pytest.raises(sl.errors.LogError, match="No space left"):
            policy.save(tmp_path / "policy")
        with pytest.raises(sl.errors.LogError, match="No space left"):
            log.close()
    assert not (tmp_path / "policy").exists()
    answer(policy, policy.decide())  # still logged
    log.close()
    assert sl.Log.read(tmp_path / "log").decision_id.tolist() == [1, 2]


def test_what_is_refused_is_not_logged(tmp_path):
    policy = new(rewards=(0, 5))
    with policy.log(tmp_path / "log.csv"):
        d = policy.decide()
        for wrong in ([9.0] * d.reveals.size, [1.0] * (d.reveals.size + 1), {"pink": 1.0}):
            with pytest.raises(sl.InvalidFeedback):
                policy.observe(d, wrong)
        policy.observe(d, [5.0] * d.reveals.size)
        with pytest.raises(sl.TurnError):
            policy.observe(d, [5.0] * d.reveals.size)
    assert sl.Log.read(tmp_path / "log.csv").value.tolist() == [5.0] * d.reveals.size


def test_interrupted_between_writing_and_learning(tmp_path, monkeypatch):
    policy = new()
    d = policy.decide()
    with policy.log(tmp_path / "log.csv"):
        with monkeypatch.context() as patched:
            patched.setattr(type(policy._game), "learn", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                answer(policy, d)
        answer(policy, d)
    assert sl.Log.read(tmp_path / "log.csv").decision_id.tolist() == [1]


def test_an_arm_that_reveals_nothing_is_a_row(tmp_path):
    graph = sl.FeedbackGraph.from_edges(3, [(0, 0), (0, 1), (0, 2)])
    policy = sl.baselines.uniform(graph).policy(seed=1)
    with policy.log(tmp_path / "log.csv"):
        arms = []
        for _ in range(20):
            d = policy.decide()
            policy.observe(d, [0.5] * d.reveals.size)
            arms.append(d.arm)
    log = sl.Log.read(tmp_path / "log.csv")
    assert log.arm.tolist() == arms
    assert np.diff(log.start).tolist() == [3 if arm == 0 else 0 for arm in arms]


def test_a_log_belongs_to_one_policy(tmp_path):
    policy = new()
    log = policy.log(tmp_path / "log.csv")
    assert repr(log) == f"PolicyLog({str(tmp_path / 'log.csv')!r})"
    with pytest.raises(sl.TurnError, match=r"writes the log .*log\.csv already"):
        policy.log(tmp_path / "other.csv")
    for other in (policy.copy(), pickle.loads(pickle.dumps(policy))):
        answer(other, other.decide())
    run = sl.simulate(policy, sl.environments.bernoulli([0.2, 0.5, 0.5]), seeds=[0, 1], horizon=50)
    assert run.regret.shape[0] == 2
    with pytest.raises(sl.TurnError, match="compiled rounds do not"):
        policy._play(None, None, np.uint64(0), 0, 5, 0.0, np.zeros(0, dtype=np.int64))
    answer(policy, policy.decide())
    log.close()
    answer(policy, policy.decide())
    assert sl.Log.read(tmp_path / "log.csv").n_rounds == 1
    policy.log(tmp_path / "other.csv").close()
    for wrong in (7, "a\0b", tmp_path):  # the folder itself holds no parts, and is taken for a log of parts
        if wrong is tmp_path:
            policy.log(wrong).close()
        else:
            with pytest.raises(sl.errors.LogError):
                policy.log(wrong)
    with pytest.raises(sl.errors.LogError, match="another log"):
        new(rewards=(0, 5)).log(tmp_path / "log.csv")
