"""Doubling plans: plans for 1, 2, 4, … rounds, one after another, as one policy."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from saved_files import contents, forge

import sidelight as sl
from sidelight.engine.fields import CHANGING, DERIVED, STREAM, views
from sidelight.experiment import simulation
from sidelight.planning import Doubling

SPECS = [
    "cycle:6",
    "cycle:40",
    "cliques:4,3",
    "corrupted_mab:9,3",
    "loopless_clique:5",
    "mab:1",
    "mab:30",
    "full:7",
]
ROUNDS = 600
each = pytest.mark.parametrize("spec", SPECS)


def planned(spec):
    return sl.plan(sl.families.parse(spec), None, realization="doubling")


def world(n_arms):
    return sl.environments.switching(n_arms, period=90, gap=0.4) if n_arms > 1 else sl.environments.gap(1)


def play(policy, environment, last, seed=7):
    arms = []
    for t in range(policy.round, last):
        arms.append(policy.ask())
        policy.tell(environment.losses(seed, t, policy.graph.out_neighbors(arms[-1])))
    return arms


def assert_same(one, other):
    assert one.round == other.round
    for name, view in views(one.memory, CHANGING, DERIVED, STREAM).items():
        assert_array_equal(view, views(other.memory)[name], err_msg=name)
    for arm in range(one.graph.n_arms):
        assert one.ledger(arm) == other.ledger(arm)
        assert one.certificate(arm) == other.certificate(arm)
    assert one.certificate() == other.certificate()


# -- the bound ----------------------------------------------------------------------------------------------


@each
def test_the_bound_adds_up_the_stages(spec):
    plan = planned(spec)
    assert isinstance(plan.stages, Doubling)
    assert plan.horizon is None
    g = plan.graph
    parts = [sl.plan(g, 2**k, realization="fixed").bound for k in range(12)]
    assert all(bound.certified for bound in parts)
    for t in (1, 2, 3, 4, 100, 1023, 1024, 1025, 2000, 4095):
        last = int(np.floor(np.log2(t)))
        expected = sum(min(parts[k].value, 2**k) for k in range(last))
        expected += min(parts[last].value, t - 2**last + 1)
        bound = plan.bound_at(t)
        assert bound.value == pytest.approx(expected, rel=1e-12)
        assert bound.certified
        assert bound.informative == (bound.value < t)
        assert bound.informative == (t >= bound.informative_from)


@each
def test_it_never_falls(spec):
    plan = planned(spec)
    values = [plan.bound_at(t).value for t in range(1, 3000)]
    assert (np.diff(values) >= -1e-9).all()
    assert (np.diff(values) <= 1 + 1e-9).all()


def test_play_that_learns_nothing_says_nothing():
    """No stage is uniform; one in an older file counts with its length, not with (1 − 1/N) of it."""
    plan = planned("cycle:64")
    assert all(plan.stage_of(2**k).realization != "uniform" for k in range(14))
    first = plan.bound_at(1).informative_from
    assert not plan.bound_at(first - 1).informative
    assert plan.bound_at(first - 1).value == first - 1
    assert plan.stage_of(first).bound.informative
    older = planned("cycle:64")
    older.stages.known[9] = sl.plan(older.graph, 2**9, realization="uniform")
    assert older.bound_at(2**10 - 1).value == 2**10 - 1
    assert not older.bound_at(2**10 - 1).informative


RIVALS = ["cycle:6", "cycle:64", "hypercube:4", "revealing_action:20", "mab:16", "mab:64", "full:64",
          "loopless_clique:64", "newsvendor:40", "apple_tasting"]  # fmt: skip


@pytest.mark.parametrize("spec", RIVALS)
def test_knowing_no_horizon_beats_doubling(spec):
    """From 10⁴ to 10⁸ rounds, at the beginning and at the end of stages."""
    g = sl.families.parse(spec)
    anytime, doubled = sl.plan(g, None, realization="anytime"), sl.plan(g, None, realization="doubling")
    for t in (2**14, 10**5, 2**20 - 1, 10**6, 10**7, 2**26, 10**8):
        known = sl.plan(g, t, realization="fixed").bound.value
        assert known <= anytime.bound_at(t).value * (1 + 1e-9)
        assert known <= doubled.bound_at(t).value * (1 + 1e-9)
        if doubled.bound_at(t).informative and anytime.bound_at(t).informative:
            assert anytime.bound_at(t).value < doubled.bound_at(t).value


def test_growth_is_that_of_the_stages():
    """1/(1 − 2^{−2/3}) = 2.70 times the bound of the stage that begins, and 2^{−2/3} of that when it ends."""
    g = sl.families.cycle(64)
    doubled = sl.plan(g, None, realization="doubling")
    for k in (30, 40):
        own = sl.plan(g, 2**k, realization="fixed").bound.value
        full = 1 / (1 - 2 ** (-2 / 3))
        assert doubled.bound_at(2 ** (k + 1) - 1).value / own == pytest.approx(full, rel=0.01)


# -- the game ---------------------------------------------------------------------------------------------------


@each
def test_each_stage_is_a_fresh_plan(spec):
    """Round 2^k begins at the first point of the plan for 2^k rounds, and goes on as a policy of it would."""
    plan, policy = planned(spec), planned(spec).policy(seed=1)
    environment = world(plan.graph.n_arms)
    for k in range(9):
        stage = sl.plan(plan.graph, 2**k, realization="fixed")
        assert policy.round == 2**k - 1
        assert policy.rounds_left is None
        assert policy.stage.horizon == 2**k
        assert policy.stage.bound.value == stage.bound.value
        twin = stage.policy(seed=0)
        assert_array_equal(policy.probabilities, twin.probabilities)
        assert policy.block_probabilities.size == stage.partition.n_blocks
        twin.memory.words[:] = policy.memory.words
        for t in range(2**k - 1, 2 ** (k + 1) - 1):
            arm = policy.ask()
            assert arm == twin.ask()
            losses = environment.losses(7, t, plan.graph.out_neighbors(arm))
            policy.tell(losses)
            twin.tell(losses)


@each
def test_ledger_and_certificate_add_up(spec):
    plan = planned(spec)
    n, environment, policy = plan.graph.n_arms, world(plan.graph.n_arms), plan.policy(seed=2)
    ledgers, certificates = np.zeros((n, 4)), np.zeros((n, 4))
    for k in range(7):
        twin = sl.plan(plan.graph, 2**k, realization="fixed").policy(seed=0)
        twin.memory.words[:] = policy.memory.words
        for t in range(2**k - 1, 2 ** (k + 1) - 1):
            losses = environment.losses(7, t, plan.graph.out_neighbors(policy.ask()))
            twin.ask()
            policy.tell(losses)
            twin.tell(losses)
            if t % 13 == 0 or t == 2 ** (k + 1) - 2:
                for arm in range(n):
                    now = ledgers[arm] + twin.ledger_parts(arm)
                    assert policy.ledger_parts(arm) == pytest.approx(now, rel=1e-12, abs=1e-12)
                    now = certificates[arm] + twin.certificate_parts(arm)
                    assert policy.certificate_parts(arm) == pytest.approx(now, rel=1e-12, abs=1e-12)
                every = [policy.certificate(arm).value for arm in range(n)]
                assert policy.certificate().value == pytest.approx(max(every), rel=1e-12)
        ledgers += [twin.ledger_parts(arm) for arm in range(n)]
        certificates += [twin.certificate_parts(arm) for arm in range(n)]


@each
def test_simulation_plays_what_ask_and_tell_play(spec):
    """Bit for bit across stages: every cost, every play, ledger and certificate."""
    plan = planned(spec)
    n, environment = plan.graph.n_arms, world(plan.graph.n_arms)
    run = sl.simulate(plan, environment, seeds=[7], horizon=ROUNDS, checkpoints=range(1, ROUNDS + 1))
    policy = plan.policy(seed=7)
    arms = play(policy, environment, ROUNDS)
    assert_array_equal(run.plays[0], np.bincount(arms, minlength=n))
    assert_array_equal(run.cost[0], np.cumsum([environment.costs(7, t, arm) for t, arm in enumerate(arms)]))
    assert_array_equal(run.ledger[0, -1], policy.ledger_parts(int(run.best_arm[0])))
    assert run.certificate[0, -1] == policy.certificate_parts(None).sum()
    assert run.bound.value == plan.bound_at(ROUNDS).value


@pytest.mark.parametrize("chunk", [1e-9, 10.0], ids=["short calls", "long calls"])
def test_calls_of_any_length_leave_the_same_state(chunk, monkeypatch):
    monkeypatch.setattr(simulation, "CHUNK_SECONDS", chunk)
    plan = planned("corrupted_mab:9,3")
    environment, policy, kept = world(9), plan.policy(seed=7), []
    real = simulation._Task._play

    def spied(task, last):
        cost = real(task, last)
        kept.append(task.clone)
        return cost

    monkeypatch.setattr(simulation._Task, "_play", spied)
    sl.simulate(plan, environment, seeds=[7], horizon=ROUNDS, checkpoints=[ROUNDS], jobs=1)
    play(policy, environment, ROUNDS)
    assert_same(kept[-1], policy)


def test_simulating_from_a_policy_keeps_its_stage():
    plan, environment = planned("cycle:6"), world(6)
    policy = plan.policy(seed=3)
    play(policy, environment, 300)
    run = sl.simulate(policy, environment, seeds=[5], horizon=400)
    straight = policy.copy(seed=5)
    plays = np.zeros(6, dtype=int)
    for t in range(400):
        arm = straight.ask()
        plays[arm] += 1
        straight.tell(environment.losses(5, t, plan.graph.out_neighbors(arm)))
    assert_array_equal(run.plays[0], plays)
    assert policy.round == 300


@pytest.mark.parametrize("spec", ["cycle:6", "mab:30", "corrupted_mab:9,3"])
def test_mean_regret_is_below_the_bound(spec):
    plan = planned(spec)
    n = plan.graph.n_arms
    run = sl.simulate(plan, sl.environments.gap(n, best=n - 1, gap=0.2), seeds=range(10), horizon=20_000)
    assert run.bound.informative
    for index, t in enumerate(run.checkpoints):
        assert run.mean[index] <= plan.bound_at(int(t)).value
        assert run.mean[index] <= run.certificate[:, index].mean()


# -- saved ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pending", [False, True], ids=["between rounds", "pending"])
@each
def test_saved_policies_continue_across_stages(spec, pending, tmp_path):
    plan = planned(spec)
    environment, policy = world(plan.graph.n_arms), plan.policy(seed=8)
    for last in (0, 1, 62, 63, 64):
        play(policy, environment, last)
        if pending:
            policy.ask()
        policy.save(tmp_path / "policy.npz")
        loaded, straight = sl.Policy.load(tmp_path / "policy.npz"), policy.copy()
        assert isinstance(loaded.plan.stages, Doubling)
        assert_same(loaded, straight)
        if pending:
            for one in (policy, loaded, straight):
                one.tell(environment.losses(7, last, plan.graph.out_neighbors(one.pending)))
        arms = [play(one, environment, 150) for one in (loaded, straight)]
        assert arms[0] == arms[1]
        assert_same(loaded, straight)


def test_files_whose_stage_does_not_fit(tmp_path):
    """A stage of another length, terms for other arms or no numbers at all, more rounds than the stage has."""
    path = tmp_path / "policy.npz"
    policy = planned("cycle:6").policy(seed=1)
    play(policy, world(6), 40)
    policy.save(path)
    header, arrays = contents(path)
    forge(path, header, arrays)
    assert sl.Policy.load(path).round == 40
    stage, terms = header["plan"], arrays["finished.ledgers"]
    wrong = [
        (header | {"plan": stage | {"horizon": 31}}, arrays),
        (header | {"plan": stage | {"horizon": None}}, arrays),
        (header | {"stages": None}, arrays),
        (header, arrays | {"finished.ledgers": terms[:-1]}),
        (header, arrays | {"finished.certificates": np.full_like(terms, np.nan)}),
        (header, arrays | {"finished.certificates": terms.astype(np.float32)}),
        (header, {name: value for name, value in arrays.items() if name != "finished.ledgers"}),
        (header, arrays | {"state.round": np.array([32])}),
    ]
    for forged_header, forged_arrays in wrong:
        forge(path, forged_header, forged_arrays)
        with pytest.raises(sl.SavedStateError, match=path.name):
            sl.Policy.load(path)


# -- asking for it --------------------------------------------------------------------------------------------


def test_what_cannot_be_asked_for():
    g = sl.families.cycle(6)
    with pytest.raises(sl.InvalidOption, match="doubling"):
        sl.plan(g, 1000, realization="doubling")
    with pytest.raises(sl.InvalidOption, match="partition"):
        sl.plan(g, None, partition=sl.partitions.single(g), realization="doubling")
    with pytest.raises(sl.InvalidOption, match="stage"):
        sl.check_certificate(sl.plan(g, None, realization="doubling"))
    with pytest.raises(sl.errors.UnobservableGraph):
        sl.plan(sl.FeedbackGraph.from_edges(3, [(0, 1)]), None, realization="doubling")
    for k in (0, 5, 20):
        conditions = sl.check_certificate(sl.plan(g, None, realization="doubling").stage_of(2**k))
        assert all(condition.holds for condition in conditions)


def test_it_says_what_it_is():
    plan = planned("cycle:6")
    assert "doubling" in plan.summary()
    assert "1, 2, 4" in plan.summary()
    assert "doubling" in repr(plan.policy(seed=1))
    assert json.dumps(plan.to_dict())
    assert isinstance(plan.curve, Doubling)
