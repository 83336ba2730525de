"""Plans without a horizon: rates and exploration fall at the beginning of every epoch, and nothing else changes.

Small blocks play their exploration exactly, large ones lazily; with self-loops a block mixes potentials whose rates
fall at different speeds.
"""

import naive
import numpy as np
import pytest
from kernel_entries import exploration, unpack
from numpy.testing import assert_allclose, assert_array_equal

import sidelight as sl
from sidelight._check import MOST_ROUNDS
from sidelight.engine.fields import CHANGING, DERIVED, STREAM, views
from sidelight.engine.simplex.store import AS_RECORDS
from sidelight.experiment import simulation
from sidelight.planning import LAZY_FACTOR
from sidelight.planning.schedule import epoch_start

SPECS = [
    "cycle:6",
    "cycle:40",
    "cycle:100",  # h < 1: exploration follows the distribution
    "cliques:4,3",
    "corrupted_mab:9,3",
    "corrupted_mab:60,20",
    "corrupted_full:8,2",
    "revealing_action:6",
    "loopless_clique:5",
    "loopless_clique:30",
    "mab:1",
    "mab:6",
    "mab:40",
    "full:7",
    "newsvendor:8",
    "newsvendor:40",  # h < 1 and exploration: directed sight
]
SMALL = [spec for spec in SPECS if sl.families.parse(spec).n_arms <= 24]
ROUNDS = 700

each = pytest.mark.parametrize("spec", SPECS)


def planned(spec):
    return sl.plan(sl.families.parse(spec), horizon=None, realization="anytime")


def world(n_arms):
    return sl.environments.switching(n_arms, period=90, gap=0.4) if n_arms > 1 else sl.environments.gap(1)


def play(policy, environment, last, seed=7):
    """Ask and tell up to round `last`, whatever is done already; the arms."""
    arms = []
    for t in range(policy.round, last):
        arms.append(policy.ask())
        policy.tell(environment.losses(seed, t, policy.graph.out_neighbors(arms[-1])))
    return arms


def assert_same_state(one, other):
    for name, view in views(one._game.memory, CHANGING, DERIVED, STREAM).items():
        assert_array_equal(view, views(other._game.memory)[name], err_msg=name)


def twin_of(plan):
    """The instance in one block, and the parameters of round 1."""
    g, tuning = plan.graph, plan.tuning
    A = np.zeros((g.n_arms, g.n_arms), dtype=bool)
    for i in range(g.n_arms):
        A[i, g.out_neighbors(i)] = True
    return naive.Instance(A, (np.arange(g.n_arms),)), parameters_at(tuning, 1)


def parameters_at(tuning, t):
    """The definition of round t: the tuning times the factors of the schedule."""
    rate, exploration = tuning.schedule.factors(t)
    potential = []
    for q, a in zip(tuning.inner_power, tuning.inner_rate * rate, strict=True):
        h = 1 - 1 / q if q else 1.0
        potential.append(naive.Entropy(a) if q == 0 else naive.Power(h, a / (1 - h)))
    spreads = {}
    if tuning.spread[0] > 0:
        (q,) = np.unique(tuning.inner_power[tuning.load > 0])
        beta = tuning.spread[0] * exploration
        spreads[0] = naive.Spread(beta, 1 - 1 / q, tuning.cover, tuning.load > 0)
    n = tuning.n_arms
    return naive.Parameters(
        0.0, None, None, None, tuning.global_exploration * exploration, np.zeros(n), np.full(n, -1),
        arm_potential=potential, spread=spreads,
    )  # fmt: skip


# -- the numbers of a round --------------------------------------------------------------------------------


@each
def test_rates_and_exploration_are_those_of_the_schedule(spec):
    """After t rounds everything is the tuning times factors(t + 1), whatever the epochs on the way."""
    plan = planned(spec)
    tuning, environment = plan.tuning, world(plan.graph.n_arms)
    policy = plan.policy(seed=1)
    assert tuning.schedule is not None
    for last in (0, 1, 2, 16, 17, 18, 19, 20, 100, 101, 102, 333, ROUNDS):
        play(policy, environment, last)
        rate, exploration = tuning.schedule.factors(policy.round + 1)
        machine, _, store = unpack(policy._game.memory)
        arm_at = machine.arm_at
        assert_allclose(machine.spread, tuning.spread * exploration, rtol=1e-12)
        if machine.n_fixed:
            assert_allclose(machine.fixed, tuning.global_exploration[arm_at] * exploration, rtol=1e-12)
        held = store.scalars.view(AS_RECORDS)["held"]
        if plan.graph.n_arms > 1:
            assert_allclose(held[0], tuning.global_exploration.sum() * exploration, rtol=1e-12)
        for g in range(store.power.size):
            arms = arm_at[store.origin[2 * g] - 1 : store.origin[2 * g + 1] - 1]
            due = tuning.inner_rate[arms] * rate[arms]
            assert_allclose(store.scalars.view(AS_RECORDS)["rate"][g], due, rtol=1e-12)
            if store.power.size > 1:  # several potentials under one multiplier
                assert_allclose(store.scale[g], due, rtol=1e-12)
            else:
                assert store.scale[g] == 1.0


@each
def test_what_is_played_is_the_point_of_the_sums(spec):
    """In each epoch: X minimises ⟨x, Σ ℓ̂⟩ + Φ_t(x) with that epoch's rates, and γ is that epoch's, up to κ."""
    plan = planned(spec)
    n, tuning, environment = plan.graph.n_arms, plan.tuning, world(plan.graph.n_arms)
    if n == 1:
        assert plan.policy(seed=1).probabilities.tolist() == [1.0]
        return
    instance, _ = twin_of(plan)
    policy, sums, rng = plan.policy(seed=2), np.zeros(n), np.random.default_rng(3)
    for t in range(ROUNDS):
        if t + 1 == epoch_start(t + 1) or t % 100 == 50:
            parameters = parameters_at(tuning, t + 1)
            X = naive.solve_multiplier(parameters.arm_potential, -sums)
            inside = policy._game.inside_probabilities
            assert_allclose(inside, X, rtol=0, atol=1e-9)
            gamma, due = exploration(policy._game.memory), parameters.gamma(instance, [inside])
            assert (gamma >= due * (1 - 1e-11)).all()
            factor = LAZY_FACTOR if n > 24 else 1.0
            assert (gamma <= factor * due * (1 + 1e-11)).all()
        Z = policy.probabilities
        arm = policy.ask()
        losses = environment.losses(7, t, np.arange(n)) * rng.random(n)
        policy.tell(losses[plan.graph.out_neighbors(arm)])
        sums += np.where(instance.A[arm], losses / (instance.A.T @ Z), 0.0)
    assert np.ptp(sums) > 1.0


@pytest.mark.parametrize("spec", SMALL)
def test_the_ledger_is_the_sum_over_rounds(spec):
    """Whatever the rates: ⟨ℓ̂, X − e⟩ and γ̄(1 − ⟨ℓ̂, X⟩) added up, for every arm."""
    plan = planned(spec)
    n, environment = plan.graph.n_arms, world(plan.graph.n_arms)
    instance, _ = twin_of(plan)
    policy, expected = plan.policy(seed=4), np.zeros((n, 4))
    for t in range(150):
        Z, X = policy.probabilities, policy._game.inside_probabilities
        arm = policy.ask()
        losses = environment.losses(7, t, np.arange(n))
        guess = np.where(instance.A[arm], losses / (instance.A.T @ Z), 0.0)
        expected[:, 0] += guess @ ((1 - plan.tuning.local_exploration.sum()) * X) - guess @ X
        expected[:, 1] += guess @ X - guess if n > 1 else 0.0
        expected[:, 2] += exploration(policy._game.memory).sum() * (1 - guess @ X)
        policy.tell(losses[plan.graph.out_neighbors(arm)])
    for best in range(n):
        assert_allclose(list(policy.ledger(best).values()), expected[best], rtol=1e-8, atol=1e-7)


# -- one game, however it is played -------------------------------------------------------------------------


@each
def test_simulation_plays_what_ask_and_tell_play(spec):
    """Bit for bit across epochs: every cost, every play, the ledger and the final state."""
    plan = planned(spec)
    n = plan.graph.n_arms
    environment = world(n)
    run = sl.simulate(plan, environment, seeds=[7], horizon=ROUNDS, checkpoints=range(1, ROUNDS + 1))
    policy = plan.policy(seed=7)
    arms = play(policy, environment, ROUNDS)
    costs = [environment.costs(7, t, arm) for t, arm in enumerate(arms)]
    assert_array_equal(run.plays[0], np.bincount(arms, minlength=n))
    assert_array_equal(run.cost[0], np.cumsum(costs))
    assert_array_equal(run.ledger[0, -1], list(policy.ledger(int(run.best_arm[0])).values()))


@pytest.mark.parametrize("chunk", [1e-9, 10.0], ids=["short calls", "long calls"])
@each
def test_calls_of_any_length_leave_the_same_state(spec, chunk, monkeypatch):
    """Compiled calls stop where an epoch ends, so they may be of any length otherwise."""
    monkeypatch.setattr(simulation, "CHUNK_SECONDS", chunk)
    plan = planned(spec)
    environment, policy = world(plan.graph.n_arms), plan.policy(seed=7)
    kept = []
    real = simulation._Task._play

    def spied(task, last):
        cost = real(task, last)
        kept.append(task.clone)
        return cost

    monkeypatch.setattr(simulation._Task, "_play", spied)
    sl.simulate(plan, environment, seeds=[7], horizon=ROUNDS, checkpoints=[ROUNDS], jobs=1)
    play(policy, environment, ROUNDS)
    assert_same_state(kept[-1], policy)


def test_simulating_from_a_policy_keeps_its_epoch():
    """A policy that has played 300 rounds goes on with the rates of round 301, not of round 1."""
    plan, environment = planned("corrupted_mab:9,3"), world(9)
    policy = plan.policy(seed=3)
    play(policy, environment, 300)
    run = sl.simulate(policy, environment, seeds=[5], horizon=400)
    straight = policy.copy(seed=5)
    plays = np.zeros(9, dtype=int)
    for t in range(400):
        arm = straight.ask()
        plays[arm] += 1
        straight.tell(environment.losses(5, t, plan.graph.out_neighbors(arm)))
    assert_array_equal(run.plays[0], plays)
    assert straight.round == 700


# -- the pieces ---------------------------------------------------------------------------------------------


def test_rounds_left_end_with_the_epoch():
    game = planned("cycle:6").policy(seed=1)._game
    for game.made in range(500):
        left = game._until_turn
        assert left >= 1
        assert epoch_start(game.made + 1) == epoch_start(game.made + left)
        assert epoch_start(game.made + left + 1) == game.made + left + 1
    fixed = sl.plan(sl.families.cycle(6), 1000, realization="fixed").policy(seed=1)._game
    fixed.made = 3
    assert fixed._until_turn == MOST_ROUNDS


def test_before_the_start_of_a_schedule_nothing_falls():
    """Epochs begin, but numbers stay as in round 1 until the schedule starts."""
    plan = next(p for p in map(planned, ("cycle:40", "corrupted_mab:60,20")) if p.tuning.schedule.start > 20)
    start = plan.tuning.schedule.start
    policy = plan.policy(seed=1)
    play(policy, world(plan.graph.n_arms), min(start - 1, 300))
    machine, _, _ = unpack(policy._game.memory)
    assert_array_equal(machine.spread, plan.tuning.spread)


def test_regret_stays_below_the_bound_at_every_checkpoint():
    for spec in SPECS:
        plan = planned(spec)
        n = plan.graph.n_arms
        if n == 1:
            continue
        run = sl.simulate(plan, sl.environments.gap(n, best=n // 2, gap=0.3), seeds=range(4), horizon=20_000)
        bounds = np.array([plan.bound_at(int(t)).value for t in run.checkpoints])
        assert (run.regret <= bounds).all(), spec


def test_playing_no_rounds_changes_nothing():
    """Not even where an epoch begins with the next round, which `tell` has already prepared."""
    plan = sl.plan(sl.families.cycle(6), None, realization="anytime")
    environment = sl.environments.gap(6)
    policy = plan.policy(seed=1)
    none = np.zeros(0, dtype=np.int64)
    for done in range(plan.curve.start + 40):
        before = policy.probabilities
        assert (
            policy._play(environment.world, environment.function, np.uint64(1), done, done, 0.5, none) == 0.5
        )
        assert_array_equal(policy.probabilities, before)
        policy.ask()
        policy.tell(np.full(2, 0.5))
