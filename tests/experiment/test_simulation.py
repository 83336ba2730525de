import threading
import time
from fractions import Fraction

import numpy as np
import pytest
from matplotlib.figure import Figure
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal

import sidelight as sl
from sidelight.experiment import logarithmic_checkpoints
from sidelight.experiment import simulation as module
from sidelight.experiment.delays import Delays
from sidelight.experiment.results import cell_of
from sidelight.experiment.run import regret_of, rounding

HORIZON = 2_000


def plan_on(graph, partition, realization, horizon=HORIZON):
    return sl.plan(graph, horizon, partition=partition(graph), realization=realization)


NO_DELAY = Delays.checked(0, 1)

PLANS = {
    "cliques": lambda: plan_on(sl.families.cliques([4, 3, 5]), sl.partitions.components, "clustered"),
    "cycle": lambda: plan_on(sl.families.cycle(30), sl.partitions.single, "adaptive"),
    "bandit": lambda: plan_on(sl.families.mab(40), sl.partitions.singletons, "clustered"),
    "blind clique": lambda: plan_on(sl.families.loopless_clique(7), sl.partitions.singletons, "clustered"),
    "corrupted": lambda: plan_on(sl.families.corrupted_mab(9, 3), sl.partitions.corrupted, "hybrid"),
    "corrupted full": lambda: plan_on(sl.families.corrupted_full(8, 2), sl.partitions.corrupted, "adaptive"),
}


@pytest.mark.parametrize("name", PLANS)
def test_simulation_plays_what_ask_and_tell_play(name):
    plan = PLANS[name]()
    n = plan.graph.n_arms
    environment = sl.environments.switching(n, period=150, gap=0.4)
    run = sl.simulate(plan, environment, seeds=[7], checkpoints=range(1, HORIZON + 1))
    policy = plan.policy(seed=7)
    costs, plays = [], np.zeros(n, dtype=int)
    for t in range(HORIZON):
        arm = policy.ask()
        plays[arm] += 1
        costs.append(environment.costs(7, t, arm))
        policy.tell(environment.losses(7, t, plan.graph.out_neighbors(arm)))
    assert_array_equal(run.plays[0], plays)
    assert_allclose(
        run.cost[0], np.cumsum(costs), rtol=0, atol=1e-9
    )  # every round, so every arm, is the same
    assert_array_equal(run.ledger[0, -1], list(policy.ledger(int(run.best_arm[0])).values()))


def test_cores_order_and_company_change_nothing():
    plan = PLANS["cliques"]()
    environment = sl.environments.gap(12, best=3)
    together = sl.simulate(plan, environment, seeds=[5, 6, 7, 8], jobs=2)
    alone = sl.simulate(plan, environment, seeds=[8, 5], jobs=1)
    assert_array_equal(together.cost[[3, 0]], alone.cost)
    assert_array_equal(together.ledger[[3, 0]], alone.ledger)
    assert not np.array_equal(together.cost[0], together.cost[1])


def test_an_interrupted_run_resumes_to_the_uninterrupted_one(monkeypatch):
    plan = PLANS["cycle"]()
    environment = sl.environments.gap(30, best=4)
    whole = sl.simulate(plan, environment, seeds=[1, 2])

    def interrupted(*_):
        raise KeyboardInterrupt

    real_wait = module._wait
    monkeypatch.setattr(module, "_wait", interrupted)
    monkeypatch.setattr(module, "CHUNK_SECONDS", 1e-9)  # the smallest chunks: stop in the middle
    part = sl.simulate(plan, environment, seeds=[1, 2], jobs=1)
    assert not part.complete
    assert part.rounds < whole.rounds
    reached = np.isfinite(part.cost)
    assert_array_equal(part.cost[reached], whole.cost[reached])
    assert "interrupted" in repr(part)
    monkeypatch.setattr(module, "_wait", real_wait)
    resumed = part.resume()
    assert resumed.complete
    assert_array_equal(resumed.cost, whole.cost)
    assert_array_equal(resumed.ledger, whole.ledger)
    assert resumed.resume() is resumed


def test_a_task_told_to_stop_stops():
    plan = PLANS["bandit"]()
    stop = threading.Event()
    stop.set()
    task = module._Task(
        plan.policy(0), sl.environments.gap(40), 0, np.array([10, 20]), 0, NO_DELAY, 40, np.array([0, 1])
    )
    task.advance(stop)
    assert task.round == 0
    assert task.clone is None


def slowed(monkeypatch, stopped):
    """The first seed plays until it is told to stop; returns an event that says it has begun."""
    begun, advance = threading.Event(), module._Task.advance

    def slow(self, stop):
        if self.seed == 0:
            begun.set()
            stopped.append(stop.wait(20))
        advance(self, stop)

    monkeypatch.setattr(module._Task, "advance", slow)
    return begun


def test_seeds_that_had_not_begun_are_not_copied_after_an_interrupt(monkeypatch):
    stopped, copies, copy = [], [], sl.Policy.copy
    begun = slowed(monkeypatch, stopped)

    def interrupted(*_):
        assert begun.wait(20)
        raise KeyboardInterrupt

    def counted(self, seed=None):
        copies.append(seed)
        return copy(self, seed)

    monkeypatch.setattr(module, "_wait", interrupted)
    monkeypatch.setattr(sl.Policy, "copy", counted)
    part = sl.simulate(PLANS["bandit"](), sl.environments.gap(40), seeds=range(50), jobs=1)
    assert stopped == [True]
    assert copies == []
    assert np.isnan(part.cost).all()
    monkeypatch.undo()
    assert part.resume().complete


def test_an_interrupt_while_seeds_are_queued_stops_those_that_play(monkeypatch):
    stopped = []
    begun = slowed(monkeypatch, stopped)
    submit = module.ThreadPoolExecutor.submit

    def interrupted(self, call, *arguments):
        if begun.is_set():
            raise KeyboardInterrupt
        future = submit(self, call, *arguments)
        assert begun.wait(20)
        return future

    monkeypatch.setattr(module.ThreadPoolExecutor, "submit", interrupted)
    part = sl.simulate(PLANS["bandit"](), sl.environments.gap(40), seeds=range(3), jobs=1)
    assert stopped == [True]
    assert not part.complete
    monkeypatch.undo()
    assert part.resume().complete


def test_regret_is_cost_above_the_best_fixed_arm():
    plan = PLANS["bandit"]()
    means = np.linspace(0.2, 0.9, 40)
    run = sl.simulate(plan, sl.environments.bernoulli(means), seeds=range(3))
    assert_allclose(run.regret, run.cost - 0.2 * run.checkpoints, rtol=0, atol=1e-9)
    assert (run.regret >= -1e-9).all()
    assert run.mean.shape == run.checkpoints.shape
    assert run.plays.sum() == 3 * HORIZON
    assert (run.best_arm == 0).all()
    assert run.complete
    assert run.nanoseconds_per_round > 0


def test_ledger_sums_to_at_least_the_estimated_regret_on_average():
    """Lemma regret in expectation: the mean of the four parts is above the mean regret."""
    plan = PLANS["cliques"]()
    run = sl.simulate(plan, sl.environments.gap(12, best=3, gap=0.3), seeds=range(60))
    parts = run.ledger[:, -1].sum(axis=1)
    assert parts.mean() + 4 * parts.std() / np.sqrt(parts.size) >= run.regret[:, -1].mean()


def test_simulating_from_a_policy_starts_where_it_stands():
    plan = PLANS["cliques"]()
    environment = sl.environments.gap(12, best=3)
    policy = plan.policy(seed=1)
    before = policy.probabilities
    for _ in range(50):
        arm = policy.ask()
        policy.tell(np.ones(plan.graph.out_degree[arm]))
    moved = policy.probabilities
    assert not np.array_equal(before, moved)
    run = sl.simulate(policy, environment, seeds=[4], horizon=300)
    fresh = sl.simulate(plan, environment, seeds=[4], horizon=300)
    assert_array_equal(policy.probabilities, moved)  # the policy itself was not touched
    assert not np.array_equal(run.cost, fresh.cost)


# -- bounds -----------------------------------------------------------------------------------------------


def test_a_bound_is_for_the_rounds_it_was_made_for():
    plan, environment = PLANS["cliques"](), sl.environments.gap(12, best=3)
    whole = sl.simulate(plan, environment, seeds=[1, 2], checkpoints=[10])
    assert whole.bound is plan.bound
    assert cell_of(whole, id="", graph="", policy="", environment="").bound == plan.bound.to_dict()
    assert f"bound {plan.bound.value:,.1f}" in repr(whole)
    for horizon in (HORIZON // 2, 2 * HORIZON):
        other = sl.simulate(plan, environment, seeds=[1, 2], horizon=horizon)
        assert other.bound is None
        assert cell_of(other, id="", graph="", policy="", environment="").bound is None
        assert "no bound" in repr(other)
        assert not [line for line in other.plot(Figure().subplots()).lines if line.get_marker() == "v"]


@pytest.mark.parametrize("made", ["plan", "rule"])
def test_a_bound_for_every_round_holds_at_the_last_one(made):
    g = sl.families.cliques([4, 3, 5])
    plan = sl.plan(g, None) if made == "plan" else sl.baselines.uniform(g, 70)
    run = sl.simulate(plan, sl.environments.gap(12), horizon=300)
    assert run.bound.value == plan.bound_at(300).value


def test_a_game_joined_midway_has_no_bound():
    environment = sl.environments.gap(12)
    g = sl.families.cliques([4, 3, 5])
    for plan in (PLANS["cliques"](), sl.plan(g, None), sl.baselines.uniform(g)):
        policy = plan.policy(seed=1)
        assert sl.simulate(policy, environment, horizon=HORIZON).bound is not None
        policy.tell(np.ones(g.out_degree[policy.ask()]))
        run = sl.simulate(policy, environment, horizon=HORIZON)
        assert (run.start, run.bound) == (1, None)


# -- time -------------------------------------------------------------------------------------------------


def test_time_is_what_the_processor_worked():
    """Waiting is not counted, nor what other seeds do meanwhile."""

    def waits(t, arm):
        if threading.current_thread() is not threading.main_thread():
            time.sleep(0.002)
        return 0.5

    before = time.perf_counter()
    run = sl.simulate(PLANS["corrupted"](), sl.environments.function(waits, 9), seeds=[1, 2], horizon=40)
    waited = time.perf_counter() - before
    assert waited > 0.1
    assert 0 < run.seconds < 0.5 * waited


def test_plain_functions_are_warmed_up_without_calling_them():
    called = []

    def counted(t, arm):
        called.append(t)
        return 0.5

    policy = PLANS["corrupted"]().policy(seed=3)
    before = policy.probabilities
    module._warm_up(policy, sl.environments.function(counted, 9), NO_DELAY)
    assert called == []
    assert policy.round == 0
    assert_array_equal(policy.probabilities, before)


@njit
def sawtooth(t, arm):
    return ((3 * t + 5 * arm) % 11) / 10


def test_compiled_and_plain_functions_agree():
    plan = PLANS["corrupted"]()
    fast = sl.simulate(plan, sl.environments.function(sawtooth, 9), seeds=[3], horizon=400)
    slow = sl.simulate(plan, sl.environments.function(sawtooth.py_func, 9), seeds=[3], horizon=400)
    assert_array_equal(fast.plays, slow.plays)
    assert_allclose(fast.regret, slow.regret, rtol=0, atol=1e-9)


@njit
def too_large(t, arm):
    return 0.5 if t < 100 else 1.5


def test_a_function_that_leaves_the_unit_interval_is_named():
    plan = PLANS["corrupted"]()
    with pytest.raises(sl.InvalidOption, match=r"outside|left"):
        sl.simulate(plan, sl.environments.function(too_large, 9), seeds=[3], horizon=400)
    with pytest.raises(sl.InvalidFeedback, match=r"1\.5"):
        sl.simulate(plan, sl.environments.function(too_large.py_func, 9), seeds=[3], horizon=400)


def test_results_as_a_table():
    run = sl.simulate(PLANS["bandit"](), sl.environments.gap(40), seeds=[1, 2], checkpoints=[10, 100])
    table = run.to_arrow()
    assert table.num_rows == 2 * run.checkpoints.size
    assert table.column("round").to_pylist() == [10, 100, 2000] * 2
    assert_array_equal(table.column("regret").to_numpy(), run.regret.ravel())
    assert {"projection", "restriction", "global_exploration", "local_exploration"} <= set(table.column_names)


@pytest.mark.parametrize("horizon", [1, 2, 3, 10, 12_345, 10**9])
def test_checkpoints_rise_to_the_horizon(horizon):
    points = logarithmic_checkpoints(horizon)
    assert points[0] == 1
    assert points[-1] == horizon
    assert (np.diff(points) > 0).all()
    assert points.size <= 80


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seeds": 0}, "seeds"),
        ({"seeds": 1.5}, "range"),
        ({"seeds": []}, "empty"),
        ({"seeds": [-1]}, "-1"),
        ({"seeds": [1.5]}, "1.5"),
        ({"horizon": 0}, "horizon"),
        ({"horizon": 2.5}, "2.5"),
        ({"checkpoints": [0]}, "checkpoints"),
        ({"checkpoints": [10**9]}, "checkpoints"),
        ({"checkpoints": []}, "checkpoints"),
        ({"jobs": 0}, "jobs"),
        ({"environment": sl.environments.gap(3)}, "3 arms"),
        ({"environment": np.zeros((3, 3))}, "environments"),
        ({"environment": sl.environments.matrix(np.zeros((10, 40)))}, "10 rows"),
    ],
)
def test_bad_requests_are_named(change, message):
    arguments = {"environment": sl.environments.gap(40), "seeds": [1]} | change
    with pytest.raises(sl.InvalidOption, match=message):
        sl.simulate(PLANS["bandit"](), **arguments)


def test_a_pending_policy_is_refused():
    policy = PLANS["bandit"]().policy(1)
    policy.ask()
    with pytest.raises(sl.InvalidOption, match="pending"):
        sl.simulate(policy, sl.environments.gap(40))


@pytest.mark.parametrize("many", [10**9, range(10**9)])
def test_more_seeds_than_fit_are_refused_at_once(many):
    with pytest.raises(sl.InvalidOption, match="at most 1,000,000 seeds"):
        sl.simulate(sl.plan("cycle:5", 100), "gap:0.2", seeds=many)


def test_names_are_for_comparisons():
    with pytest.raises(sl.InvalidOption, match=r"sl\.compare takes names"):
        sl.simulate("auto", "gap:0.2", graph="cycle:6", horizon=100)


# -- regret is what was lost, not what rounding leaves in a sum ------------------------------------------


ROUNDS = np.array([1, 10, 1_000, 100_000])


@pytest.mark.parametrize("loss", [0.1, 0.35, 1 / 3, 0.7])
def test_a_sum_is_off_by_no_more_than_its_rounding(loss):
    totals = np.cumsum(np.full(ROUNDS[-1], loss))[ROUNDS - 1]  # one addition a round, as in play
    exact = [int(n) * Fraction(loss) for n in ROUNDS]
    error = np.array([abs(float(Fraction(total) - want)) for total, want in zip(totals, exact, strict=True)])
    assert (error <= rounding(ROUNDS, totals)).all()
    assert error[-1] > 0.01 * rounding(ROUNDS, totals)[-1]  # nor by much less
    best = np.array([float(want) for want in exact])
    assert_array_equal(regret_of(totals, best, ROUNDS), 0.0)


def test_regret_beyond_rounding_is_kept_as_it_is():
    cost = 0.5 * ROUNDS
    lost = 2 * rounding(ROUNDS, cost) + 1e-15
    assert_array_equal(regret_of(cost + lost, cost, ROUNDS), cost + lost - cost)
    assert_array_equal(regret_of(cost - lost, cost, ROUNDS), cost - lost - cost)
