"""Every baseline plays by its formula, says where it does not apply, and keeps below its bound."""

import copy
import pickle
import sys
from math import cbrt, sqrt

import numpy as np
import pytest
from baseline_twins import (
    Chlz21,
    Exp3,
    Exp3Gpp,
    Exp3GStrong,
    Exp3GWeak,
    Exp3IX,
    Ftl,
    Hedge,
    QFtrl,
    SpbFtrl,
    SpmFtrl,
    TrackN,
    TsallisInf,
    TsallisInfRv,
    TsallisInfShifted,
    TsN,
    UcbN,
    Uniform,
)
from numpy.testing import assert_allclose, assert_array_equal
from saved_files import contents, forge

import sidelight as sl
from sidelight.analysis import long_run
from sidelight.graph.altered import with_loops
from sidelight.planning.exploration import dominating_set
from sidelight.policy import names as registry
from sidelight.policy.rules.ts_n import least_probabilities

HORIZON = 3_000
LOOPS = ["mab:5", "full:6", "pricing:6", "loopy_star:6"]
UNDIRECTED = ["mab:5", "full:6", "loopy_ring"]
STRONG = ["mab:5", "loopless_clique:5", "pricing:6", "hidden"]
WEAK = [
    "cycle:6",
    "corrupted_full:7,2",
    "revealing_action:5",
    "corrupted_mab:8,2",
    "cycle:7:directed",
    "star",
]


def graph_of(spec):
    if spec == "loopy_ring":
        edges = [(i, j % 7) for i in range(7) for j in (i - 1, i, i + 1)]
        return sl.FeedbackGraph.from_edges(7, edges)
    if spec == "star":  # the centre, which all leaves reveal, reveals all leaves, and nothing reveals itself
        return sl.families.parse("complete_bipartite:1,3")
    if spec == "hidden":  # two arms with self-loops, and two without that all others reveal
        return sl.FeedbackGraph.from_edges(
            4, [(0, 0), (1, 1)] + [(i, j) for j in (2, 3) for i in range(4) if i != j]
        )
    return sl.families.parse(spec)


def given(name, graph):
    """What the twin is handed: quantities of the graph that have tests and certificates of their own."""
    if name in ("exp3g_strong", "q_ftrl"):
        return {"alpha": sl.baselines.__dict__[name](graph, HORIZON).parameters["alpha_upper"]}
    if name == "exp3g_weak":
        return {"members": dominating_set(graph, ~graph.has_loop)}
    if name in ("chlz21", "spm_ftrl", "spb_ftrl"):
        found = sl.fractional_domination(graph)
        x = np.zeros(graph.n_arms)
        x[found.arms] = found.weights
        return {"x": x} | ({"alpha": sl.independence_number(graph).upper} if name == "spm_ftrl" else {})
    return {}


CASES = [
    *[("hedge", Hedge, "full:6"), ("hedge", Hedge, "full:2")],
    *[("exp3", Exp3, spec) for spec in LOOPS],
    *[("q_ftrl", QFtrl, spec) for spec in UNDIRECTED],
    *[("exp3g_strong", Exp3GStrong, spec) for spec in STRONG],
    *[("exp3g_weak", Exp3GWeak, spec) for spec in WEAK],
    *[("chlz21", Chlz21, spec) for spec in (*WEAK, "mab:5", "loopless_clique:5")],
    *[("tsallis_inf", TsallisInf, spec) for spec in LOOPS],
    *[("tsallis_inf_rv", TsallisInfRv, spec) for spec in ("mab:2", "mab:5")],
    *[("tsallis_inf_shifted", TsallisInfShifted, spec) for spec in ("mab:2", "mab:5")],
    *[("spm_ftrl", SpmFtrl, spec) for spec in ("mab:2", *UNDIRECTED)],
    *[("spb_ftrl", SpbFtrl, spec) for spec in WEAK],
    *[("exp3gpp", Exp3Gpp, spec) for spec in (*STRONG, "full:6", "loopy_star:6", "apple_tasting")],
    *[("exp3_ix", Exp3IX, spec) for spec in LOOPS],
    *[("ucb_n", UcbN, spec) for spec in LOOPS],
    *[
        ("track_n", TrackN, spec)
        for spec in ("mab:5", "cycle:5", "revealing_action:5", "loopless_clique:4", "star")
    ],
    *[("ftl", Ftl, spec) for spec in (*LOOPS, *WEAK)],
    *[("uniform", Uniform, spec) for spec in ("mab:5", "cycle:6")],
]


def losses_of(t, n):
    return np.clip(1.4 * np.random.default_rng([3, t]).random(n) - 0.2 - 0.2 * (np.arange(n) == 1), 0, 1)


def assert_plays_like(policy, twin, rounds):
    g = policy.graph
    for t in range(rounds):
        assert_allclose(policy.probabilities, twin.probabilities, rtol=0, atol=1e-9, err_msg=f"round {t}")
        arm = policy.ask()
        losses = losses_of(t, g.n_arms)
        policy.tell(losses[g.out_neighbors(arm)])
        twin.learn(arm, losses)


@pytest.mark.parametrize(("name", "twin", "spec"), CASES, ids=lambda x: x if isinstance(x, str) else "")
def test_probabilities_follow_the_formula(name, twin, spec):
    g = graph_of(spec)
    policy = registry.make(name, g, HORIZON).policy(seed=5)
    assert_plays_like(policy, twin(g, HORIZON, **given(name, g)), 300)


@pytest.mark.parametrize("spec", ["hidden", "loopy_star:6", "mab:4"])
@pytest.mark.parametrize("rounds", [30, 10**13])
def test_exploration_shrinks_with_gaps_and_is_left_to_arms_that_reveal(spec, rounds):
    """Far on, where gaps are known; and early, where they are not."""
    g = graph_of(spec)
    policy, twin = sl.baselines.exp3gpp(g).policy(seed=1), Exp3Gpp(g)
    arrays, n = policy._game.arrays, g.n_arms
    twin.O, twin.t = np.full(n, rounds / 3), rounds
    twin.L = twin.O * np.linspace(0.1, 0.9, n)[::-1]
    arrays.numbers[0], arrays.counts[:], arrays.own[:n] = rounds - 1, twin.O, twin.L
    policy._game.plan.kernels.start(arrays)
    assert_allclose(arrays.own[n:], twin.explored, rtol=1e-9, atol=0)
    assert (np.unique(twin.explored[twin.explored > 0]).size > 1) == (rounds > 30)


def test_estimates_without_a_horizon_have_no_rate():
    with pytest.raises(sl.InvalidOption, match="tuned for a number of rounds"):
        sl.baselines.tsallis_inf_shifted(sl.families.mab(3))


@pytest.mark.parametrize(
    ("name", "spec"), [("spm_ftrl", "mab:5"), ("spb_ftrl", "cycle:6"), ("exp3gpp", "full:4")]
)
def test_what_a_rule_keeps_of_its_own_is_saved_or_follows(tmp_path, name, spec):
    policy = registry.make(name, graph_of(spec), HORIZON).policy(seed=2)
    for t in range(40):
        policy.tell(losses_of(t, policy.graph.n_arms)[policy.graph.out_neighbors(policy.ask())])
    policy.save(tmp_path / "policy")
    for other in (policy.copy(), sl.Policy.load(tmp_path / "policy")):
        assert_array_equal(other._game.arrays.own, policy._game.arrays.own)
        assert_array_equal(other.probabilities, policy.probabilities)


@pytest.mark.parametrize("spec", ["mab:3", "pricing:4"])
def test_posterior_probabilities_follow_the_formula(spec):
    g = graph_of(spec)
    policy, twin = sl.baselines.ts_n(g).policy(seed=5), TsN(g)
    assert_plays_like(policy, twin, 6)
    for t in range(6, 400):  # far on, where posteriors are narrow
        arm, losses = policy.ask(), losses_of(t, g.n_arms)
        policy.tell(losses[g.out_neighbors(arm)])
        twin.learn(arm, losses)
    assert_plays_like(policy, twin, 2)


def test_posterior_probabilities_of_needles_beside_plateaus():
    """One arm seen ten million times, one never, one in between."""
    policy = sl.baselines.ts_n(sl.families.mab(3)).policy(seed=1)
    policy._game.arrays.counts[:], policy._game.arrays.sums[:] = [1e7, 0, 100], [3e6, 0, 40]
    p = policy.probabilities
    assert abs(p.sum() - 1) < 1e-12
    assert p[1] == pytest.approx(0.2949, abs=0.01)  # about P(U < 0.3), the third arm rarely below both
    drawn = np.bincount([policy.copy(seed).ask() for seed in range(4000)], minlength=3) / 4000
    assert_allclose(drawn, p, atol=0.035)


def test_deciding_does_without_the_posterior_until_its_probability_is_looked_at(monkeypatch, tmp_path):
    """Looked at when it was decided or after everything else has happened, in a file, a pickle, a log: the same."""
    integrals = []

    def counted(a, b):
        integrals.append(a)
        return least_probabilities(a, b)

    module = sys.modules["sidelight.policy.rules.ts_n"]
    monkeypatch.setattr(module, "least_probabilities", counted)
    module._kept.cache_clear()
    g = with_loops(sl.families.cycle(4))
    policy = sl.baselines.ts_n(g).policy(seed=5)
    for t in range(20):
        policy.observe(d := policy.decide(), losses_of(t, 4)[d.reveals])
    late, waiting = policy.decide(count=2)
    assert not integrals
    expected = policy.copy().probabilities
    files = [pickle.loads(pickle.dumps(policy)), policy.copy()]
    policy.save(tmp_path / "policy")
    files.append(sl.Policy.load(tmp_path / "policy"))
    with policy.log(tmp_path / "log.csv"):
        policy.observe(late, losses_of(20, 4)[late.reveals])
    assert_array_equal(integrals[-1], integrals[0])  # nothing after the draw was computed
    assert (np.abs(policy.probabilities - expected) > 1e-3).any()
    log = sl.Log.read(tmp_path / "log.csv")
    seen = [expected[g.in_neighbors(int(each))].sum() for each in late.reveals]
    for look in (late, pickle.loads(pickle.dumps(late)), copy.copy(late), late._replace(id=9), *files):
        d = look.decision(late.id) if isinstance(look, sl.Policy) else look
        assert isinstance(d, sl.Decision)
        assert d.probability == d[6] == tuple(d)[6] == d._asdict()["probability"] == expected[late.arm]
        assert_array_equal(d.seen, seen)
    assert log.probability.tolist() == [expected[late.arm]]
    assert_array_equal(log.seen, seen)
    assert policy.decision(waiting.id).probability == waiting.probability == expected[waiting.arm]


# -- where they apply ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "spec", "why"),
    [
        ("hedge", "mab:4", "full feedback"),
        ("hedge", "loopless_clique:4", "full feedback"),
        ("exp3", "cycle:5", "reveal itself"),
        ("tsallis_inf", "loopless_clique:4", "reveal itself"),
        ("tsallis_inf_rv", "full:3", "for bandits, and arms 0, 1, 2"),
        ("tsallis_inf_shifted", "full:3", "for bandits, and arms 0, 1, 2"),
        ("spm_ftrl", "pricing:5", "undirected"),
        ("spm_ftrl", "loopless_clique:4", "reveal itself"),
        ("spb_ftrl", "mab:5", "every arm here is strongly observable"),
        ("exp3gpp", "cycle:5", "weakly observable"),
        ("exp3_ix", "revealing_action:4", "reveal itself"),
        ("ucb_n", "cycle:5", "reveal itself"),
        ("ts_n", "cycle:5", "reveal itself"),
        ("q_ftrl", "pricing:5", "undirected"),
        ("q_ftrl", "cycle:5", "reveal itself"),
        ("exp3g_strong", "cycle:5", "weakly observable"),
        ("exp3g_weak", "mab:5", "strongly observable"),
    ],
)
def test_a_baseline_that_does_not_apply_says_why(name, spec, why):
    with pytest.raises(sl.InfeasibleRequest, match=why):
        registry.make(name, graph_of(spec), HORIZON)


@pytest.mark.parametrize(
    "name", ["chlz21", "exp3g", "exp3g_strong", "exp3g_weak", "exp3gpp", "spb_ftrl", "track_n"]
)
def test_arms_that_nothing_reveals_are_named(name):
    g = sl.FeedbackGraph.from_edges(3, [(0, 1), (1, 0)])
    with pytest.raises(sl.errors.UnobservableGraph, match="reveals 2") as refused:
        registry.make(name, g, HORIZON)
    assert refused.value.arms == (2,)


@pytest.mark.parametrize("name", sl.baselines.__all__)
def test_bad_arguments_are_refused(name):
    make = getattr(sl.baselines, name)
    with pytest.raises(sl.errors.InvalidGraph, match="list"):
        make([[1]], 100)
    with pytest.raises(sl.InvalidOption, match="horizon"):
        make(sl.families.cycle(5) if name == "exp3g_weak" else sl.families.full(4), 0)


@pytest.mark.parametrize(
    "name", [name for name in sl.baselines.__all__ if name not in ("exp3g_weak", "spb_ftrl")]
)
def test_one_arm_can_be_played(name):
    g = sl.families.mab(1)
    policy = getattr(sl.baselines, name)(g, 100).policy(seed=1)
    for _ in range(5):
        assert policy.ask() == 0
        policy.tell([0.5])
        assert_array_equal(policy.probabilities, [1.0])


def test_every_baseline_has_a_name():
    assert set(sl.baselines.__all__) | {"self_tuning"} <= set(registry.names())
    assert registry.make("self_tuning", sl.families.cycle(5), 1000).horizon is None
    with pytest.raises(sl.InvalidOption, match="did you mean 'exp3'"):
        registry.make("exp33", sl.families.mab(3), 100)


def test_small_policies_have_no_blocks_and_an_empty_ledger():
    policy = sl.baselines.ftl(sl.families.mab(3)).policy(seed=1)
    assert np.isnan(list(policy.ledger(0).values())).all()
    assert not policy.certificate().certified
    assert not hasattr(policy, "block_probabilities")


# -- saved files -----------------------------------------------------------------------------------------------


def test_a_saved_rule_opens_as_what_it_was(tmp_path):
    rule = sl.baselines.exp3_ix(sl.families.pricing(5), 1234)
    rule.policy(seed=1).save(tmp_path / "policy.npz")
    loaded = sl.Policy.load(tmp_path / "policy.npz")
    assert (loaded.plan.name, loaded.plan.horizon) == ("exp3_ix", 1234)
    assert loaded.plan.bound.value == rule.bound.value


def test_a_damaged_rule_is_refused(tmp_path):
    path = tmp_path / "policy.npz"
    policy = sl.baselines.ucb_n(sl.families.mab(4)).policy(seed=1)
    for _ in range(9):
        policy.ask()
        policy.tell([0.5])
    policy.save(path)
    header, arrays = contents(path)
    for name, value, why in [
        ("sums", np.full(4, np.nan), "state.sums"),
        ("sums", np.full(4, 1e200), "state.sums"),
        ("counts", np.full(4, -1.0), "state.counts"),
        ("counts", np.full(5, 1.0), "state.counts"),
        ("numbers", np.full(2, -2.0), "state.numbers"),
        ("others", np.zeros(1), "state.others"),
    ]:
        forge(path, header, arrays | {f"state.{name}": value})
        with pytest.raises(sl.SavedStateError, match=why):
            sl.Policy.load(path)
    forge(path, header | {"rule": "exp4"}, arrays)
    with pytest.raises(sl.SavedStateError, match="exp4"):
        sl.Policy.load(path)


# -- bounds ----------------------------------------------------------------------------------------------------

BOUNDED = [
    *[("hedge", "full:6"), ("exp3", "mab:5"), ("exp3", "pricing:6"), ("q_ftrl", "loopy_ring")],
    *[("exp3g", spec) for spec in (*STRONG, *WEAK)],
    *[("chlz21", spec) for spec in WEAK],
    *[("tsallis_inf", spec) for spec in LOOPS],
    *[("exp3_ix", spec) for spec in LOOPS],
]


@pytest.mark.parametrize(("name", "spec"), BOUNDED)
@pytest.mark.parametrize("kind", ["gap", "switching"])
def test_regret_is_below_the_bound(name, spec, kind):
    g = graph_of(spec)
    plan = registry.make(name, g, HORIZON)
    assert plan.bound.certified
    make = {"gap": sl.environments.gap, "switching": lambda n: sl.environments.switching(n, period=100)}[kind]
    run = sl.simulate(plan, make(g.n_arms), seeds=range(10))
    assert run.regret[:, -1].max() <= run.bound.value
    assert run.bound.value == plan.bound.value


def test_bounds_agree_with_the_table_of_bounds():
    """Where `compare_bounds` lists the same algorithm, it names the same number."""
    for spec, rows in {
        "loopy_ring": {"EXP3": "exp3", "Tsallis-INF": "tsallis_inf", "q-FTRL": "q_ftrl", "Exp3.G": "exp3g"},
        "full:6": {"Hedge": "hedge"},
        "hidden": {"Exp3.G": "exp3g_strong", "CHLZ21": "chlz21"},
        "cycle:6": {"Exp3.G, all arms covered": "exp3g_weak", "CHLZ21": "chlz21"},
        "pricing:6": {"Exp3.G": "exp3g_strong"},
    }.items():
        g = graph_of(spec)
        table = {row.name: row.value for row in sl.compare_bounds(g, HORIZON).rows}
        for row, name in rows.items():
            assert registry.make(name, g, HORIZON).bound.value == pytest.approx(table[row], rel=1e-9), row


@pytest.mark.parametrize("spec", ["cycle:5", "revealing_action:5"])
def test_tracking_regret_grows_as_the_long_run_of_coins_does(spec):
    """Over two decades by about c*·log 100, on graphs whose arms do not reveal themselves; plans grow by more."""
    g = graph_of(spec)
    coins = sl.environments.gap(5, best=2, gap=0.2)
    run = sl.simulate(
        sl.baselines.track_n(g), coins, seeds=range(20), checkpoints=[1_000, 100_000], horizon=100_000
    )
    grown = run.regret[:, 1] - run.regret[:, 0]
    expected = long_run(g, coins.means[0]).value * np.log(100)
    error = 3 * grown.std(ddof=1) / sqrt(20)
    assert expected - error <= grown.mean() <= 1.7 * expected + error
    assert (run.plays.argmax(axis=1) == 2).all()


def test_tracking_ties_explore_no_more_than_the_rate_of_weak_graphs():
    """Two best arms that only a worse one reveals: log t never tells them apart."""
    g, means = sl.families.revealing_action(3), [0.8, 0.4, 0.4]
    run = sl.simulate(
        sl.baselines.track_n(g), sl.environments.bernoulli(means), seeds=range(3), horizon=30_000
    )
    most = (3 * 30_000**2) ** (1 / 3)
    assert (run.plays[:, 0] <= most + 2).all()
    assert (run.plays[:, 0] >= 0.5 * most).all()


@pytest.mark.parametrize("name", ["hedge", "exp3", "q_ftrl", "exp3g_strong", "exp3g_weak", "chlz21"])
def test_the_planner_s_checker_confirms_the_bounds(name):
    """The independent check of plans, from the numbers that are played."""
    spec = {"hedge": "full:6", "exp3": "mab:5", "q_ftrl": "loopy_ring", "exp3g_strong": "mab:5"}.get(
        name, "cycle:6"
    )
    plan = registry.make(name, graph_of(spec), HORIZON)
    assert [str(c) for c in sl.check_certificate(plan) if not c.holds] == []


def test_short_horizons_are_played_without_a_certificate():
    for name in ("chlz21", "exp3g_weak"):
        plan = registry.make(name, sl.families.cycle(6), 10)
        assert not plan.bound.certified
        assert plan.tuning.most_exploration <= 0.5 + 1e-12
        assert plan.bound.valid_from == pytest.approx(
            4 * 3 * np.log(6) if name == "chlz21" else 8 * 4 * np.log(6), abs=1
        )


@pytest.mark.parametrize("spec", WEAK)
def test_the_weak_exp3g_watches_every_arm_without_self_loop(spec):
    """On the star the centre alone reveals the weak arms, but not itself: a leaf must join it."""
    g = graph_of(spec)
    chosen = np.flatnonzero(sl.baselines.exp3g_weak(g, HORIZON).tuning.global_exploration)
    watched = {int(v) for i in chosen for v in g.out_neighbors(int(i))}
    assert set(np.flatnonzero(~g.has_loop).tolist()) <= watched
    assert (spec != "star") or chosen.size == 2


def test_the_weak_exp3g_pays_for_self_loops_it_does_not_watch():
    g = graph_of("corrupted_mab:8,2")
    plan = sl.baselines.exp3g_weak(g, HORIZON)
    gamma, delta = plan.parameters["gamma"], plan.parameters["delta"]
    watched = {int(v) for i in dominating_set(g, ~g.has_loop) for v in g.out_neighbors(int(i))}
    unseen = g.n_arms - len(watched)
    assert unseen > 0
    assert plan.bound.value == pytest.approx(2.5 * gamma * HORIZON + gamma**2 * unseen / delta * HORIZON)


# -- growth ----------------------------------------------------------------------------------------------------


HORIZONS = [1_000, 4_000, 16_000, 64_000]
GROWTH = {  # algorithm, graph, the gap that is hardest at horizon T, the exponent, seeds
    "exp3": (sl.baselines.exp3, "mab:5", lambda T: sqrt(5 / T), 1 / 2, range(60)),
    "hedge": (sl.baselines.hedge, "full:5", lambda T: sqrt(1 / T), 1 / 2, range(100)),
    "chlz21": (sl.baselines.chlz21, "cycle:6", lambda T: 0.5 * cbrt(6 / T), 2 / 3, range(60)),
}


@pytest.mark.parametrize("name", GROWTH)
def test_regret_grows_with_the_exponent_of_the_theory(name):
    """The slope of log mean regret in log T, within 4 standard errors; every horizon has its tuning and instance."""
    make, spec, gap, exponent, seeds = GROWTH[name]
    g, x, means, errors = sl.families.parse(spec), np.log(HORIZONS), [], []
    for T in HORIZONS:
        hard = sl.environments.gap(g.n_arms, best=2, gap=gap(T))
        regret = sl.simulate(make(g, T), hard, seeds=seeds, checkpoints=[T]).regret[:, -1]
        means.append(regret.mean())
        errors.append(regret.std(ddof=1) / sqrt(len(seeds)) / regret.mean())
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    error = 4 * float(np.linalg.norm(weights * errors))
    assert error < 0.1
    assert abs(float(weights @ np.log(means)) - exponent) <= error


@pytest.mark.parametrize(("a", "b"), [([1e99, 1.0], [1.0, 1.0]), ([1.0, 0.5], [1.0, 1.0]), ([np.nan], [1.0])])
def test_posteriors_that_nobody_can_have_are_refused(a, b):
    with pytest.raises(sl.errors.SolverError, match="observations of their arm"):
        least_probabilities(np.array(a), np.array(b))


@pytest.mark.parametrize("divisor", [0.0, -1.0, 1e-300])
@pytest.mark.parametrize("name", ["ts_n", "ucb_n", "ftl"])
def test_what_was_noted_of_a_draw_changes_no_posterior(tmp_path, name, divisor):
    """Rules that draw from nothing count losses as they are, whatever a file says of an open decision."""
    policy = registry.make(name, sl.families.mab(3), HORIZON).policy(seed=1)
    decision = policy.decide()
    policy.save(tmp_path / "policy")
    header, arrays = contents(tmp_path / "policy")
    forge(
        tmp_path / "policy", header, arrays | {"decisions.values": arrays["decisions.values"] * 0 + divisor}
    )
    forged = sl.Policy.load(tmp_path / "policy")
    for each in (policy, forged):
        each.observe(decision.id, [0.5])
    assert_array_equal(forged.probabilities, policy.probabilities)
