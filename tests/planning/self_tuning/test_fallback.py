"""Order ½ inside the bound of a larger order, or of fixed rates: what falling back costs, and policies that do."""

from dataclasses import replace

import numpy as np
import pytest
from self_tuning_twin import entropy, money
from tuned_plans import mixed_graph

import sidelight as sl
from sidelight import families
from sidelight.engine.constants import ROOM
from sidelight.engine.self_tuning import prices
from sidelight.engine.self_tuning.numbers import BETA
from sidelight.engine.state import learnt
from sidelight.planning.potentials import diameter
from sidelight.planning.self_tuning.falling import Kind, costs_to_fall, kinds_of
from sidelight.policy.snapshot import restore, snapshot

T = 2000


def costs(b1, s0, beta, s, n):
    return prices.crossing(b1, s0, float(diameter(s0, n)), beta, s, float(diameter(s, n)), float(n))


def test_crossing_orders_costs_no_more_than_lemma_5_says():
    """max_x b₁H'(x) − βH(x) on random distributions, and on those that are alike on some arms."""
    rng = np.random.default_rng(0)
    for _ in range(5000):
        n = int(rng.integers(2, 40))
        s = float(rng.choice([0.3, 0.5, 0.7]))
        s0 = float(rng.choice([0.75, 0.9, 1.0]))
        beta = float(np.exp(rng.uniform(-2, 6)))
        b1 = beta * float(np.exp(rng.uniform(-1, 4)))
        bound = costs(b1, s0, beta, s, n)
        x = rng.dirichlet(np.full(n, np.exp(rng.uniform(-3, 3))))
        k = int(rng.integers(1, n + 1))
        even = np.where(np.arange(n) < k, 1 / k, 0.0)
        for point in (x, even):
            assert b1 * entropy(point, s0) - beta * entropy(point, s) <= bound + 1e-9 * (1 + b1)
    # attained: all arms alike while β is small
    assert costs(100.0, 1.0, 1.0, 0.5, 16) == pytest.approx(100 * np.log(16) - 12, rel=1e-12)


def test_what_the_base_costs_more_is_bounded_by_it():
    """W of the base less W of play, whatever was learnt."""
    rng = np.random.default_rng(1)
    for _ in range(1000):
        n = int(rng.integers(2, 12))
        beta, b1 = np.exp(rng.uniform(-1, 4)), np.exp(rng.uniform(1, 6))
        L = rng.exponential(size=n) * np.exp(rng.uniform(-2, 7))
        assert money(L, b1, 1.0) - money(L, beta, 0.5) <= costs(b1, 1.0, beta, 0.5, n) + 1e-9 * b1


@pytest.mark.parametrize(
    "graph", [families.cycle(20), families.teams([4] * 5), families.hypercube(4)], ids=str
)
def test_the_smallest_bound_is_kept_and_order_one_half_played(graph):
    plan, fixed = sl.plan(graph, T), sl.plan(graph, T, realization="fixed")
    assert plan.parameters["s"] == 0.5
    assert plan.base.parameters["s"] > 0.5
    assert plan.bound.value == plan.base.bound.value <= fixed.bound.value + 2 * ROOM
    assert all(condition.holds for condition in sl.check_certificate(plan))


def test_graphs_whose_rounds_cost_as_much_as_the_bound_says_are_played_as_before():
    assert sl.plan(families.mab(20), T).base is None
    assert sl.plan(families.revealing_action(20), 100_000).base is None
    assert sl.plan(families.cycle(20), T, s=1.0).base is None
    assert sl.plan(families.cycle(20), T, s="bound").base is None


@pytest.mark.parametrize(
    "change",
    [
        {"start": 2.0},  # times
        {"base_diameter": 0.9},
        {"base_weak": 0.9},
        {"base_order": 0.9},
        {"budget": 0.99},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_does_not_prove_the_bound_is_caught(change):
    plan = sl.plan(families.cycle(20), T)
    (name, factor), rule = *change.items(), plan.tuning.self_tuning
    forged = replace(rule, **{name: factor * getattr(rule, name)})
    plan = replace(plan, tuning=replace(plan.tuning, self_tuning=forged))
    assert not all(condition.holds for condition in sl.check_certificate(plan))


# -- fixed rates ------------------------------------------------------------------------------------------


def height(kinds, spread, order, beta):
    """Σφ(x) − β·H(x) less the least corner, if k arms of each kind share a mass evenly: `spread` says (k, mass)."""
    x = np.concatenate([np.full(k, mass / k) for k, mass in spread])
    phi = sum(
        kind.weight
        * (
            -mass * np.log(mass / k)
            if kind.order == 1
            else k * (mass / k) ** kind.order / (kind.order * (1 - kind.order))
        )
        for kind, (k, mass) in zip(kinds, spread, strict=True)
        if mass > 0
    )
    return phi - beta * entropy(x, order) - min(kind.corner for kind in kinds)


def test_going_on_with_several_potentials_costs_no_more_than_the_dual_says():
    """Any masses on any numbers of arms of each kind stay below it, and the best of a grid comes near it."""
    rng = np.random.default_rng(4)
    masses = np.linspace(0, 1, 401)
    for _ in range(200):
        orders = rng.choice([0.3, 0.5, 0.75, 1.0], size=2)
        kinds = [Kind(int(rng.integers(1, 12)), float(s), float(np.exp(rng.uniform(0, 5)))) for s in orders]
        beta = float(np.exp(rng.uniform(-2, 6)))
        bound = costs_to_fall(kinds, 0.5, np.array([beta]))[0]
        best = -np.inf
        for m in masses:
            counts = [
                (1, 1),
                (kinds[0].arms, kinds[1].arms),
                tuple(int(rng.integers(1, kind.arms + 1)) for kind in kinds),
            ]
            for first, second in (*counts, (1, kinds[1].arms), (kinds[0].arms, 1)):
                best = max(best, height(kinds, [(first, m), (second, 1 - m)], 0.5, beta))
        assert best <= bound + 1e-9 * max(1.0, bound)
        corners = max(kind.corner for kind in kinds) - min(kind.corner for kind in kinds)
        assert bound >= corners - 1e-9  # β alone makes no vertex cheaper


def test_chords_lie_above_what_they_stand_for():
    rule = sl.plan(mixed_graph(), T).tuning.self_tuning
    kinds = kinds_of(sl.plan(mixed_graph(), T).base.tuning)
    betas = rule.start * np.geomspace(1e-3, 1e5, 400)
    exact = costs_to_fall(kinds, rule.order, betas)
    table = [prices.fallen_from(beta, rule.start, rule.falling, 0) for beta in betas]
    assert (table >= exact * (1 - 1e-9)).all()
    assert (np.diff(table) <= 1e-9).all()
    near = (betas > rule.start / 8) & (betas < 8 * rule.start)
    assert (np.array(table)[near] <= 1.1 * exact[near] + 1e-9).all()


@pytest.mark.parametrize("seed", range(6))
def test_graphs_with_weak_arms_and_loops_tune_themselves_inside_the_bound_of_fixed_rates(seed):
    graph = mixed_graph(seed)
    plan, fixed = sl.plan(graph, T), sl.plan(graph, T, realization="fixed")
    rule = plan.tuning.self_tuning
    assert rule.based
    assert fixed.bound.value <= plan.bound.value <= fixed.bound.value + 2 * ROOM + 1e-9
    assert all(condition.holds for condition in sl.check_certificate(plan))
    if rule.base_price:
        assert plan.base.tuning.self_tuning is None
        assert plan.base.bound.value == fixed.bound.value


@pytest.mark.parametrize("change", ["start", "base_price", "falling", "last", "budget"])
def test_fixed_rates_that_do_not_prove_the_bound_are_caught(change):
    plan = sl.plan(mixed_graph(), T)
    rule = plan.tuning.self_tuning
    less = tuple(0.999 * cost for cost in rule.falling)
    forged = {
        "start": {"start": 1.3 * rule.start},
        "base_price": {"base_price": 0.999 * rule.base_price},
        "falling": {"falling": less},
        "last": {"falling": (*rule.falling[:-1], 0.99 * rule.falling[-1])},
        "budget": {"budget": 0.98 * rule.budget},
    }[change]
    plan = replace(plan, tuning=replace(plan.tuning, self_tuning=replace(rule, **forged)))
    assert not all(condition.holds for condition in sl.check_certificate(plan))


def test_a_table_may_not_choose_how_exactly_it_is_checked():
    """A huge first entry does not excuse the others."""
    plan = sl.plan(mixed_graph(), T)
    rule = plan.tuning.self_tuning
    start, falling = rule.start / 1000, (1e12,) + (0.0,) * (prices.N_FALLING - 1)
    budget = start * rule.diameter + T * rule.base_price + ROOM + 1e-3
    forged = replace(rule, start=start, falling=falling, budget=budget)
    bound = replace(plan.bound, terms={"smallest bound": budget})
    plan = replace(plan, curve=bound, tuning=replace(plan.tuning, self_tuning=forged))
    assert not all(condition.holds for condition in sl.check_certificate(plan))


@pytest.mark.parametrize("graph", [families.cycle(20), mixed_graph()], ids=["a larger order", "fixed rates"])
def test_a_base_that_is_missing_or_of_another_graph_is_caught(graph):
    plan = sl.plan(graph, T)
    dear = replace(plan.tuning.self_tuning, budget=10 * plan.bound.value)
    tuning, bound = (
        replace(plan.tuning, self_tuning=dear),
        replace(plan.bound, terms={"smallest bound": dear.budget}),
    )
    assert not all(
        c.holds for c in sl.check_certificate(replace(plan, base=None, tuning=tuning, curve=bound))
    )
    other = sl.plan(families.revealing_action(graph.n_arms), T, realization="fixed")
    failing = [c.name for c in sl.check_certificate(replace(plan, base=other)) if not c.holds]
    assert "bases on another graph" in failing
    alone = sl.plan(families.mab(6), T)
    assert not all(c.holds for c in sl.check_certificate(replace(alone, base=alone)))


@pytest.mark.parametrize(
    "wrong",
    [{"base_price": 0.0}, {"base_price": 2.0}, {"falling": ()}, {"falling": (1.0,) * 7}, {"start": 0.0},
     {"base_order": 1.0}],
    ids=lambda wrong: next(iter(wrong)),
)  # fmt: skip
def test_numbers_that_no_fixed_rates_have_are_refused(wrong):
    with pytest.raises(sl.InvalidOption):
        replace(sl.plan(mixed_graph(), T).tuning.self_tuning, **wrong)


# -- play -------------------------------------------------------------------------------------------------

GRAPHS = {"a larger order": lambda: families.cycle(20), "fixed rates": mixed_graph}


@pytest.fixture(params=GRAPHS)
def graph(request):
    """A graph whose plan falls back on a rule of larger order, and one whose plan falls back on fixed rates."""
    return GRAPHS[request.param]()


def against_the_leader(policy, rounds):
    """Losses that follow whoever is likeliest; arms that were played."""
    arms = []
    for _ in range(rounds):
        leads = policy.probabilities
        arm = policy.ask()
        policy.tell((leads == leads.max()).astype(float)[policy.graph.out_neighbors(arm)])
        arms.append(arm)
    return arms


def tight(graph, room=1.4):
    """A plan that has hardly any room beyond what falling back costs."""
    plan = sl.plan(graph, T)
    rule = plan.tuning.self_tuning
    budget = rule.start * rule.diameter + rule.cost_to_fall(rule.start, T, graph.n_arms)[0] + room

    def less(plan):
        rule = plan.tuning.self_tuning
        if rule is None:
            return plan
        return replace(plan, tuning=replace(plan.tuning, self_tuning=replace(rule, budget=budget)))

    return replace(less(plan), base=less(plan.base))


def falling(graph):
    """(seed, round): a game of the tight plan in which it falls back, and after how many rounds."""
    for seed in range(20):
        policy = tight(graph).policy(seed=seed)
        while policy.stage is policy.plan and policy.round < 300:
            against_the_leader(policy, 1)
        if policy.stage is not policy.plan and policy.round > 1:
            return seed, policy.round
    raise AssertionError("no game falls back")


def fallen_policy(graph):
    seed, rounds = falling(graph)
    policy = tight(graph).policy(seed=seed)
    against_the_leader(policy, rounds)
    return policy


def test_the_budget_is_kept_where_the_base_takes_over():
    policy = fallen_policy(families.cycle(20))
    assert policy.stage is policy.plan.base
    assert 0 < policy.round < T
    while policy.round < T:
        against_the_leader(policy, 1)
        assert policy.certificate().value <= policy.plan.bound.value
        assert abs(policy.probabilities.sum() - 1) < 1e-12


def test_a_snapshot_after_the_fall_goes_on_bit_for_bit(graph):
    policy = fallen_policy(graph)
    again = policy.plan.policy(seed=9)
    restore(again, snapshot(policy))
    assert again.stage is policy.plan.base
    assert against_the_leader(again, 200) == against_the_leader(policy, 200)
    first, second = snapshot(again), snapshot(policy)
    assert all(np.array_equal(first[name], second[name]) for name in second)


def test_fixed_rates_take_over_at_the_same_sums():
    """What was spent, the fall and all rounds left are in the budget; then the potentials of the base play."""
    graph = mixed_graph()
    seed, rounds = falling(graph)
    policy = tight(graph).policy(seed=seed)
    against_the_leader(policy, rounds - 1)
    before, spent = policy.copy(), policy.certificate().value
    rule = policy.plan.tuning.self_tuning
    assert spent + rule.cost_to_fall(policy._tuned[BETA], T - policy.round, graph.n_arms)[0] <= rule.budget
    against_the_leader(policy, 1)
    assert before.stage is before.plan
    assert policy.stage is policy.plan.base
    tuning = policy.stage.tuning
    sums = learnt(policy.memory, tuning).arm_sums
    roots = tuning.inner_power > 0
    low, high = -1e6, 1e6  # λ: x = (rate·(L + λ))^{−power}, or e^{−1 − rate·(L + λ)}
    for _ in range(200):
        middle = (low + high) / 2
        d = tuning.inner_rate * (sums + middle)
        power = np.where(roots, np.maximum(d, 1e-9), 1.0) ** -np.where(roots, tuning.inner_power, 1.0)
        x = np.where(roots, power, np.exp(np.minimum(-1 - d, 300.0)))
        low, high = (middle, high) if x.sum() > 1 else (low, middle)
    explored = policy.probabilities - x * (1 - tuning.global_exploration.sum())
    assert policy.probabilities.sum() == pytest.approx(1)
    assert np.abs(explored - tuning.global_exploration).max() < 1e-6
    while policy.round < T:
        against_the_leader(policy, 50)
        assert np.isfinite(policy.certificate().value)


@pytest.fixture
def unproved(monkeypatch):
    """A tight plan is played, but proves no bound: files of it are read all the same."""
    monkeypatch.setattr("sidelight.policy.saved_plan.CHECKED_ARMS", 1)


@pytest.mark.usefixtures("unproved")
def test_saved_copied_and_loaded_after_the_fall_it_goes_on_as_one(graph, tmp_path):
    policy = fallen_policy(graph)
    policy.save(tmp_path / "fallen.npz")
    loaded, copied = sl.Policy.load(tmp_path / "fallen.npz"), policy.copy()
    assert loaded.plan.parameters == policy.plan.parameters
    assert loaded.stage is loaded.plan.base
    assert loaded.certificate().value == policy.certificate().value
    played = against_the_leader(policy, 50)
    assert against_the_leader(loaded, 50) == played == against_the_leader(copied, 50)


@pytest.mark.usefixtures("unproved")
def test_saved_before_the_fall_it_falls_at_the_same_round(graph, tmp_path):
    seed, rounds = falling(graph)
    policy = tight(graph).policy(seed=seed)
    against_the_leader(policy, rounds - 1)
    policy.save(tmp_path / "free.npz")
    loaded = sl.Policy.load(tmp_path / "free.npz")
    for _ in range(50):
        assert (policy.stage is policy.plan) == (loaded.stage is loaded.plan)
        assert against_the_leader(policy, 1) == against_the_leader(loaded, 1)
    assert loaded.stage is loaded.plan.base


def test_simulation_and_decisions_fall_in_the_same_round(graph):
    """Losses of such a game, recorded: a fixed sequence on which the budget runs out."""
    seed, rounds = falling(graph)
    policy, rows = tight(graph).policy(seed=seed), []
    while len(rows) < rounds + 100:
        leads = policy.probabilities
        rows.append((leads == leads.max()).astype(float))
        policy.tell(rows[-1][policy.graph.out_neighbors(policy.ask())])
    assert policy.stage is policy.plan.base
    world = sl.environments.matrix(np.array(rows))
    run = sl.simulate(policy.plan, world, seeds=[seed], horizon=len(rows))
    again = policy.plan.policy(seed=seed)
    cost = 0.0
    for row in rows:
        arm = again.ask()
        cost += row[arm]
        again.tell(row[again.graph.out_neighbors(arm)])
    assert again.stage is again.plan.base
    assert run.certificate[0, -1] == pytest.approx(again.certificate().value, rel=1e-9)
    assert run.regret[0, -1] == pytest.approx(cost - np.array(rows).sum(axis=0).min(), abs=1e-9)


def test_late_answers_leave_it_free(graph):
    """What is promised then is what sums certify; there is no budget to keep to."""
    policy = sl.plan(graph, T).policy(seed=3)
    for _ in range(300):
        decisions = policy.decide(count=3)
        for decision in reversed(decisions):
            policy.observe(decision, np.where(decision.reveals == decision.arm, 1.0, 0.5))
    assert policy.stage is policy.plan
    assert policy.certificate().value > 0


def test_after_the_fall_on_fixed_rates_the_graph_stays():
    policy = fallen_policy(mixed_graph())
    with pytest.raises(sl.InfeasibleRequest, match="for one graph"):
        policy.decide(graph=families.full(policy.graph.n_arms))


def test_what_is_heard_after_the_fall_is_the_same_in_simulations(graph):
    """Decisions that are open when the plan falls back were drawn in another layout of memory."""
    seed, rounds = falling(graph)
    plan, rng = tight(graph), np.random.default_rng(1)
    policy, rows = plan.policy(seed=seed), []
    while policy.stage is plan:
        leads = policy.probabilities
        rows.append((leads == leads.max()).astype(float))
        policy.tell(rows[-1][graph.out_neighbors(policy.ask())])
    rows = np.array([*rows, *rng.random((60, graph.n_arms))])
    delays = np.zeros(len(rows), dtype=np.int64)
    delays[rounds - 1 : rounds + 6] = 5
    policy, waiting, cost, left_open = plan.policy(seed=seed), {}, 0.0, 0
    for t, row in enumerate(rows):
        decision = policy.decide()
        cost += row[decision.arm]
        waiting.setdefault(t + delays[t], []).append((t, decision))
        for u, answered in waiting.pop(t, []):
            before = policy.stage
            policy.observe(answered, rows[u][answered.reveals])
            left_open += (policy.stage is not before) * sum(map(len, waiting.values()))
    run = sl.simulate(plan, sl.environments.matrix(rows), seeds=[seed], horizon=len(rows), delay=delays)
    assert left_open > 0
    assert run.regret[0, -1] == pytest.approx(cost - rows.sum(axis=0).min(), abs=1e-9)
    assert run.certificate[0, -1] == pytest.approx(policy.certificate().value, rel=1e-9)
