"""What every policy promises beside its turns: read-only parts, copies, pickles, threads, a warning, plain words."""

import gzip
import json
import os
import pickle
import threading
import time
import warnings
import zipfile

import numpy as np
import pytest
from dozen import every_case
from numpy.testing import assert_array_equal
from policy_kinds import playable, played, turn

import sidelight as sl
from sidelight.errors import PastHorizon
from sidelight.policy import Playable, Policy
from sidelight.policy.player import Player

SOME = ["auto cliques", "auto bandit buckets", "adaptive", "interpolated buckets", "flat mixed",
        "exp3", "ts_n", "track_n", "exp3_ix", "tsallis_inf", "ftl"]  # fmt: skip
each = pytest.mark.parametrize("kind", SOME)


@each
def test_plans_and_rules_are_playable_and_make_players(kind):
    made = playable(kind)
    assert isinstance(made, Playable)
    assert not isinstance(made, Player)
    policy = made.policy(seed=1)
    assert isinstance(policy, Policy)
    assert isinstance(policy, Player)
    assert policy.plan is made
    assert policy.graph is made.graph


@each
def test_graph_and_plan_are_read_only(kind):
    policy = played(kind, 3)
    for name in ("graph", "plan", "pending", "round"):
        with pytest.raises(AttributeError):
            setattr(policy, name, None)


# -- horizons -----------------------------------------------------------------------------------------------


def test_rounds_left_counts_down_and_more_rounds_warn_once():
    policy = sl.plan(sl.families.cycle(4), horizon=3).policy(seed=1)
    for left in (3, 2, 1):
        assert policy.rounds_left == left
        turn(policy)
    assert policy.rounds_left == 0
    with pytest.warns(PastHorizon, match="3 rounds") as warned:
        turn(policy)
    assert len(warned) == 1
    assert warned[0].filename.endswith("policy_kinds.py")  # where ask() was called
    with warnings.catch_warnings():
        warnings.simplefilter("error", PastHorizon)
        turn(policy)
        turn(policy.copy())
    assert policy.rounds_left == 0


@pytest.mark.parametrize("kind", ["self-tuning", "ucb_n", "tsallis_inf"])
def test_who_promises_something_about_any_number_of_rounds_does_not_warn(kind):
    horizon = playable(kind).horizon
    with warnings.catch_warnings():
        warnings.simplefilter("error", PastHorizon)
        policy = played(kind, 5)
        assert policy.rounds_left == (None if horizon is None else horizon - 5)
        sl.simulate(playable(kind), sl.environments.gap(policy.graph.n_arms), horizon=600, progress=False)


def test_simulating_past_the_horizon_warns():
    plan = sl.plan(sl.families.cycle(4), horizon=30)
    environment = sl.environments.gap(4)
    with pytest.warns(PastHorizon, match="30 rounds and plays 40"):
        run = sl.simulate(plan, environment, horizon=40, progress=False)
    assert run.bound is None
    policy = plan.policy(seed=1)
    turn(policy)
    with pytest.warns(PastHorizon, match="plays 31"):
        sl.simulate(policy, environment, horizon=30, progress=False)


# -- threads ------------------------------------------------------------------------------------------------


class Slow(dict):
    """Feedback that takes its time."""

    def __getitem__(self, arm):
        time.sleep(0.2)
        return super().__getitem__(arm)


@pytest.mark.parametrize("kind", ["auto cliques", "exp3_ix"])
def test_a_second_thread_is_refused(kind, tmp_path):
    policy = played(kind, 4, pending=True)
    arm, before = policy.pending, policy.probabilities
    feedback = Slow({int(j): 0.5 for j in policy.graph.out_neighbors(arm)})
    first = threading.Thread(target=policy.tell, args=(feedback,))
    first.start()
    time.sleep(0.05)
    acts = (policy.ask, lambda: policy.tell(dict(feedback)), lambda: policy.save(tmp_path / "policy"))
    for act in acts:
        with pytest.raises(sl.TurnError, match="another thread"):
            act()
    assert_array_equal(policy.probabilities, before)
    first.join()
    assert policy.round == 5
    assert policy.pending is None
    policy.ask()  # and free again


# -- files of another kind ----------------------------------------------------------------------------------


def files_of_another_kind(folder):
    sl.write_graph(sl.families.cycle(5), folder / "graph.npz")
    sl.write_graph(sl.families.cycle(5), folder / "graph.csv")
    (folder / "page.html").write_text("<!DOCTYPE html><html></html>")
    (folder / "object.pkl").write_bytes(pickle.dumps({"a": 1}))
    (folder / "plan.json").write_text(json.dumps({"horizon": 3}))
    (folder / "cell.parquet").write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    (folder / "table.csv.gz").write_bytes(gzip.compress(b"src,dst\n0,1\n"))
    (folder / "empty").write_bytes(b"")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    np.save(folder / "array.npy", np.ones(3))
    np.savez(folder / "other.npz", values=np.ones(3))
    np.savez(folder / "nothing.npz")
    (folder / "noise").write_bytes(np.random.default_rng(1).bytes(5_000))
    with zipfile.ZipFile(folder / "zip", "w") as archive:
        archive.writestr("header", "not an array")


@every_case
@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("graph.npz", "a graph: read it with sl.read_graph"),
        ("graph.csv", "no archive of arrays"),
        ("page.html", "an HTML page"),
        ("object.pkl", "a pickle"),
        ("plan.json", "JSON text"),
        ("cell.parquet", "a parquet file"),
        ("table.csv.gz", "a gzip file"),
        ("empty", "an empty file"),
        ("folder", "a folder"),
        ("array.npy", "a single NumPy array"),
        ("other.npz", "holds values.npy"),
        ("nothing.npz", "holds nothing"),
        ("noise", "is no archive of arrays"),
        ("zip", "holds header"),
        ("absent", "does not exist"),
        ("pipe", "a device or a pipe"),
    ],
)
def test_a_file_of_another_kind_is_called_what_it_is(name, called, tmp_path):
    files_of_another_kind(tmp_path)
    with pytest.raises(sl.SavedStateError, match=called) as refused:
        sl.Policy.load(tmp_path / name)
    assert name in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_must_not_ask_for_more_than_the_limit(tmp_path):
    path = tmp_path / "policy"
    played("auto cliques", 5).save(path)
    assert sl.Policy.load(path, limit=10**6).round == 5
    with pytest.raises(sl.SavedStateError, match=r"is a saved policy: .* limit of 1,000"):
        sl.Policy.load(path, limit=1000)
    for limit in (0, -1, 2.5, "1 GB", True):
        with pytest.raises(sl.InvalidOption, match="limit"):
            sl.Policy.load(path, limit=limit)
