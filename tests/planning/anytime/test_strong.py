"""Plans without a horizon for strongly observable graphs: the theorem round by round, and what rests on it."""

import json
from dataclasses import replace
from functools import cache
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import INSTANCES
from strong_graphs import STRONG, adjacency, dense_point, graphs

import sidelight as sl
from sidelight.errors import InvalidOption
from sidelight.graph import FeedbackGraph, families
from sidelight.planning import AnytimeBound, StrongAnytimeBound, check_certificate
from sidelight.planning.anytime import AIM, Aimed, curve_from_dict
from sidelight.planning.cliques import clique_cover
from sidelight.planning.minimised.strong import OneSimplex, Strong
from sidelight.planning.potentials import diameter
from sidelight.planning.schedule import EPOCHS, epoch_start

LOOPY_CLIQUES = FeedbackGraph.from_adjacency(np.kron(np.eye(4, dtype=bool), np.ones((3, 3), dtype=bool)))
GRAPHS = STRONG | {
    "loopy cliques": LOOPY_CLIQUES,
    "apple tasting": families.apple_tasting(),
    "two arms": families.loopless_clique(2),
    **{
        named.name: FeedbackGraph.from_edges(named.n_arms, named.edges)
        for named in INSTANCES
        if max(map(len, named.blocks)) == 1 and named.n_arms > 1
    },
}


@cache
def planned(name):
    return sl.plan(GRAPHS[name], realization="anytime")


each = pytest.mark.parametrize("name", GRAPHS)


def failing(made):
    return [condition.name for condition in check_certificate(made) if not condition.holds]


def numbers(made, t):
    """h, η_t and γ_t as they are played: the tuning times the factors of the schedule."""
    rates, exploration = made.tuning.schedule.factors(t)
    h = made.parameters["h"]
    rate = float(np.unique(made.tuning.inner_rate * rates)[0])
    return OneSimplex(
        h, rate / (1 - h) if h < 1 else rate, made.tuning.global_exploration.sum() * exploration
    )


# -- the bound ---------------------------------------------------------------------------------------------


@each
def test_the_bound_is_the_sum_over_rounds(name):
    """D/η_{t+1} + Σ_{u ≤ t} (η_u·stability + exploration), round after round, from the numbers that are played."""
    made = planned(name)
    g = made.graph
    problem = Strong.of(clique_cover(g))
    D, paid = float(diameter(made.parameters["h"], g.n_arms)), 0.0
    after = numbers(made, 1)
    for t in range(1, 2_500):
        now, after = after, numbers(made, t + 1)
        assert now.gamma <= 0.5 * (1 + 1e-12)
        assert after.eta <= now.eta
        paid += now.eta * problem.stability(now) + problem.exploration(now)
        assert made.curve.value_at(t) == pytest.approx(D / after.eta + paid, rel=1e-9)


@each
def test_many_stabilities_are_those_of_known_horizons(name):
    bound = planned(name).curve
    slow = np.array([1.0, 0.3, 1e-3, 1e-9]) / sqrt(bound.start)
    levers = bound.x
    expected = [bound.problem.stability(OneSimplex(levers.h, levers.eta * f, levers.gamma * f)) for f in slow]
    assert np.broadcast_to(bound.problem.stability(levers, slow), slow.shape) == pytest.approx(
        expected, rel=1e-9
    )


@settings(deadline=None, derandomize=True, max_examples=60)
@given(graphs, st.integers(0, 10**6), st.integers(1, 10**5))
def test_expected_cost_of_a_round(A, seed, t):
    """Exact: at a random point of round t, all plays enumerated, σ_t ≤ η_t·stability with that round's numbers."""
    shares = costs_over_stability(A, seed, t)
    assert (shares <= 1 + 1e-6).all()


@pytest.mark.parametrize("name", ["newsvendor", "full", "loop-less clique", "with loop-less arms"])
def test_expected_cost_of_a_round_where_exploration_counts(name):
    """The same on graphs of 9 to 40 arms; on the newsvendor's, Q is that of directed sight at γ_t."""
    made = planned(name)
    g, bound = made.graph, made.curve
    A = np.array([[g.reveals(i, j) for j in range(g.n_arms)] for i in range(g.n_arms)])
    largest = max(costs_over_stability(A, t, t).max() for t in (1, 2, 30, 1000, 10**5))
    assert 0.01 < largest <= 1 + 1e-6
    if name == "newsvendor":
        assert bound.problem.seen(bound.x.gamma / 1000) < bound.problem.cliques


def costs_over_stability(A, seed, t):
    """E σ_t/(η_t·stability) for a few losses, at a random point.

    σ = max_x ⟨ℓ̂, X − x⟩ − B(x, X) is what the minimum of the regularised sums fails to rise by.
    """
    rng, n, S = np.random.default_rng(seed), len(A), A.diagonal()
    g = FeedbackGraph.from_adjacency(A)
    problem = Strong.of(clique_cover(g))
    chosen = Aimed(problem).parameters(float(AIM))
    slow = 1 / sqrt(max(epoch_start(t), StrongAnytimeBound(problem, chosen).start))
    levers = OneSimplex(chosen.h, chosen.eta * slow, chosen.gamma * slow)
    sums = rng.exponential(rng.choice([0.1, 1.0, 5.0]) / levers.eta, size=n)
    X = dense_point(sums, levers.h, levers.eta)
    carriers = S if S.any() else np.ones(n, dtype=bool)
    Z = (1 - levers.gamma) * X + levers.gamma * carriers / carriers.sum()
    P = A.T.astype(float) @ Z
    costs = []
    for losses in (np.ones(n), rng.random(n), (rng.random(n) < 0.5).astype(float)):
        guesses = np.where(A, losses / P, 0.0)  # (played, arm)
        rises = [minimum(sums + guess, levers) - minimum(sums, levers) for guess in guesses]
        costs.append(Z @ (guesses @ X - rises))
    return np.array(costs) / (levers.eta * problem.stability(levers))


def minimum(sums, levers):
    """min_x ⟨S, x⟩ + Φ(x)/η."""
    h, eta = levers.h, levers.eta
    if h == 1:
        return sums.min() - np.log(np.exp(-eta * (sums - sums.min())).sum()) / eta
    x = dense_point(sums, h, eta)
    return sums @ x - np.sum(x**h) / (h * (1 - h) * eta)


def test_rounds_before_the_start_are_covered_too():
    """Exploration would exceed ½: numbers are held, and the bound is the fixed-rate one from round 1 on."""
    bound = planned("loop-less clique").curve
    bound = StrongAnytimeBound(bound.problem, bound.x._replace(gamma=3.0))
    assert bound.start == 36
    assert bound.at(1).valid_from == 1
    levers = OneSimplex(1.0, bound.x.eta / 6, 0.5)
    for t in (1, 10, 34):
        assert bound.value_at(t) == pytest.approx(bound.problem.value(t, levers), rel=1e-12)
    assert bound.at(34).certified


def test_rates_fall_by_epochs_and_the_sum_follows_to_the_end_of_time():
    """Two rounds after the last power of two that fits: no overflow, and √t within a few parts in a thousand."""
    bound = planned("full").curve
    shares = [bound.value_at(t) / sqrt(t) for t in (2**30, 2**45, 2**62, 2**63 - 1)]
    assert max(shares) / min(shares) < 1.02
    assert EPOCHS[-1] > 2**63


# -- how good it is -----------------------------------------------------------------------------------------


@each
def test_the_price_of_not_knowing_the_horizon(name):
    """√2 where nothing depends on logarithms of t, at most 1.03 times that by epochs and by the tuning for 2^20."""
    made = planned(name)
    for t in (10**5, 10**6, 2**20, 2**20 - 1, 10**7, 10**8):
        assert (
            made.curve.value_at(t) <= sqrt(2) * 1.03 * sl.plan(made.graph, t, realization="fixed").bound.value
        )


@pytest.mark.parametrize("n", [2, 3, 10, 64, 1000, 10**6])
def test_never_far_above_hedge_with_falling_rates(n):
    """Hedge with η_t = 2√(log N/t): √(t log N) at every t. Epochs cost (17/16)^{1/4}, the next rate √(1 + 1/t)."""
    bound = StrongAnytimeBound(
        hedge := Strong(n, 0, True, 1, 0, 0, 0, False), Aimed(hedge).parameters(float(AIM))
    )
    ends = [t - 1 for t in EPOCHS[30:300:7]]
    for t in [*range(1, 60), 100, 10**3, 10**4, 10**5, AIM, 10**7, 10**12, 2**62, *ends]:
        assert bound.value_at(t) <= 1.0153 * sqrt((t + 1) * log(n))
    assert bound.value_at(AIM) <= 1.01 * sqrt(AIM * log(n))


@pytest.mark.parametrize("n", [2, 5, 16, 64, 1000])
def test_never_above_the_bandit_bound_that_it_replaces(n):
    """4·√(r'(n − √n)·t), r' = √(17/16), with −√x alone and sums by integrals."""
    bound = StrongAnytimeBound(
        bandit := Strong(n, 0, False, n, 0, n, 0, False), Aimed(bandit).parameters(float(AIM))
    )
    for t in [*range(1, 100), 10**3, 10**4, 10**5, AIM, 10**8, 10**12]:
        assert bound.value_at(t) <= 4 * sqrt(sqrt(17 / 16) * (n - sqrt(n)) * (t + 1))


@each
def test_the_tuning_is_a_minimum(name):
    bound = planned(name).curve
    for change in ({"eta": 0.97}, {"eta": 1.03}, {"gamma": 0.95}, {"gamma": 1.05}):
        ((field, factor),) = change.items()
        other = bound.x._replace(**{field: getattr(bound.x, field) * factor})
        assert bound.value_at(AIM) <= StrongAnytimeBound(bound.problem, other).value_at(AIM) * (1 + 1e-9)


# -- the bound as an object ----------------------------------------------------------------------------------


@each
def test_bounds_tell_what_they_are(name):
    made = planned(name)
    assert isinstance(made.curve, StrongAnytimeBound)
    assert made.curve.exponent == 1 / 2
    assert made.curve.valid_from == 1
    bound = made.bound_at(12_345)
    assert (bound.certified, bound.valid_from) == (True, 1)
    explores = {"exploration"} if made.parameters["gamma_bar"] else set()
    assert {"diameter", "stability"} <= set(bound.terms) <= {"diameter", "stability"} | explores
    assert f"{made.curve.value_at(10**6) / 1000:.4g} at 10⁶" in str(made)
    saved = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert curve_from_dict(saved["bound"], None) == made.curve


@each
def test_informative_from_there_on(name):
    """The last round at which the bound is not below t comes right before, looked for round by round."""
    bound = planned(name).curve
    since = bound.at(1).informative_from
    assert all(bound.value_at(t) < t for t in range(since, 3 * since + 500))
    assert since == 1 or bound.value_at(since - 1) >= (since - 1) * (1 - 1e-12)
    assert bound.at(since).informative


def test_one_arm():
    made = sl.plan(families.mab(1), None, realization="anytime")
    assert made.bound_at(100).value == 0
    assert failing(made) == []
    assert made.policy(seed=1).ask() == 0


KIND = StrongAnytimeBound.KIND


@cache
def whole():
    return planned("bandit").curve.to_dict()[KIND]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: {"value": 3},
        lambda: {KIND: 3},
        lambda: {KIND: {"n_loop": 3}},
        lambda: {KIND: whole() | {"h": "x"}},
        lambda: {KIND: whole() | {"h": 2}},
        lambda: {KIND: whole() | {"eta": 0}},
        lambda: {KIND: whole() | {"gamma": -1}},
    ],
)
def test_damaged_bounds_are_refused(wrong):
    with pytest.raises(InvalidOption, match="bound"):
        curve_from_dict(wrong(), None)


# -- the independent check -----------------------------------------------------------------------------------


@each
def test_the_checker_agrees_to_the_last_digits(name):
    made = planned(name)
    assert failing(made) == []
    last = check_certificate(made)[-1]
    assert last.left == pytest.approx(last.right, rel=1e-7)


TAMPERED = {
    "faster": lambda t: {"inner_rate": t.inner_rate * 1.5},
    "slower": lambda t: {"inner_rate": t.inner_rate * 0.7},
    "more exploration": lambda t: {"global_exploration": t.global_exploration + 0.02 / t.n_arms},
    "one arm faster": lambda t: {"inner_rate": t.inner_rate * np.where(np.arange(t.n_arms) == 1, 2.0, 1.0)},
    "one arm slower": lambda t: {"inner_rate": t.inner_rate * np.where(np.arange(t.n_arms) == 1, 0.01, 1.0)},
    "no schedule": lambda t: {"schedule": None},
    "rates by another power": lambda t: {"schedule": replace(t.schedule, inner_rate=t.schedule.inner_rate * 4 / 3)},
    "exploration by another power": lambda t: {"schedule": replace(t.schedule, exploration=-1 / 3)},
    "less exploration": lambda t: {"global_exploration": t.global_exploration * 0.3},
    "another start": lambda t: {"schedule": replace(t.schedule, start=t.schedule.start + 50)},
}  # fmt: skip


@pytest.mark.parametrize("change", TAMPERED)
@each
def test_tampered_tunings_are_caught(name, change):
    made = planned(name)
    if change in ("exploration by another power", "less exploration") and made.parameters["gamma_bar"] == 0:
        return  # nothing is explored
    assert failing(replace(made, tuning=replace(made.tuning, **TAMPERED[change](made.tuning))))


@each
def test_tampered_claims_are_caught(name):
    made = planned(name)
    levers, problem = made.curve.x, made.curve.problem
    claims = []
    if problem.n_loop > 1:
        claims.append(replace(problem, n_loop=problem.n_loop - 1))
    if problem.n_loopless > 1:
        claims.append(replace(problem, n_loopless=problem.n_loopless - 1))
    if problem.n_loopless and problem.n_loop:
        claims.append(replace(problem, n_loopless=0, n_loop=problem.n, full=True))
    if problem.cliques > 1:
        claims.append(replace(problem, cliques=1))
    assert claims
    for claim in claims:
        smaller = StrongAnytimeBound(claim, levers)
        assert smaller.value_at(AIM) < made.curve.value_at(AIM)
        assert failing(replace(made, curve=smaller))


def test_weakly_observable_graphs_cannot_claim_it():
    made = planned("full")
    ring = FeedbackGraph.from_edges(9, [(i, (i + 1) % 9) for i in range(9)])
    claim = replace(sl.plan(ring, None, realization="anytime"), tuning=made.tuning, curve=made.curve)
    assert "groups of arms that nothing makes visible" in failing(claim)


# -- the game -----------------------------------------------------------------------------------------------


PLAYED = ["full", "loop-less clique", "loopy cliques", "newsvendor", "directed", "apple tasting"]


@pytest.mark.parametrize("name", PLAYED)
def test_the_engine_follows_the_regularised_leader(name):
    """To 1e−9 across many epochs: X from all estimates so far and the present rate, Z with present exploration."""
    made = planned(name)
    g, rng = made.graph, np.random.default_rng(5)
    A = np.array([[g.reveals(i, j) for j in range(g.n_arms)] for i in range(g.n_arms)], dtype=float)
    policy, sums = made.policy(seed=1), np.zeros(g.n_arms)
    means = rng.choice([0.2, 0.8], size=g.n_arms)
    for t in range(1, 400):
        levers = numbers(made, t)
        share = made.tuning.global_exploration / max(made.tuning.global_exploration.sum(), 1e-300)
        Z = (1 - levers.gamma) * dense_point(sums, levers.h, levers.eta) + levers.gamma * share
        np.testing.assert_allclose(policy.probabilities, Z, rtol=0, atol=1e-9)
        arm, losses = policy.ask(), (rng.random(g.n_arms) < means).astype(float)
        policy.tell(losses[g.out_neighbors(arm)])
        sums += A[arm] * losses / (A.T @ Z)
    assert np.ptp(sums) > 10


@pytest.mark.parametrize(
    "name", ["full", "loop-less clique", "loopy cliques", "newsvendor", "with loop-less arms"]
)
@pytest.mark.parametrize("kind", ["gap", "switching"])
def test_regret_certificate_and_bound(name, kind):
    """Mean regret ≤ mean certificate ≤ bound, at every checkpoint, 30 seeds; regret on single runs is noisy.

    Where all is seen the certificate is the regret in expectation: two standard errors are allowed.
    """
    made = planned(name)
    n = made.graph.n_arms
    world = sl.environments.gap(n, best=n // 2, gap=0.3)
    if kind == "switching":
        world = sl.environments.switching(n, period=90, gap=0.4)
    run = sl.simulate(made, world, seeds=range(30), horizon=1_000)
    bounds = np.array([made.curve.value_at(int(t)) for t in run.checkpoints])
    noise = 2 * (run.regret - run.certificate).std(axis=0) / sqrt(30)
    assert (run.regret.mean(axis=0) <= bounds).all()
    assert (run.certificate.mean(axis=0) >= run.regret.mean(axis=0) - noise).all()
    assert (run.certificate.mean(axis=0) <= bounds).all()
    assert run.bound.value == pytest.approx(bounds[-1])


def test_bandit_plans_saved_by_their_older_bound_still_load(tmp_path):
    """Until plans for strongly observable graphs had a theorem of their own, bandits were saved with this bound."""
    g, n, r = families.mab(9), 9, sqrt(17 / 16)
    eta = sqrt((1 - 1 / sqrt(n)) / (4 * r))
    made = planned("bandit")
    tuning = replace(made.tuning, inner_power=np.full(n, 2.0), inner_rate=np.full(n, 2 * eta))
    bound = AnytimeBound(0.0, 4 * sqrt(r * (n - sqrt(n))), 1)
    older = replace(
        sl.plan(g, None, realization="anytime"),
        tuning=tuning,
        curve=bound,
        parameters={"h": 1.0, "start": 1, "eta_loop": eta},
    )
    older.policy(seed=1).save(tmp_path / "older.npz")
    loaded = sl.Policy.load(tmp_path / "older.npz")
    assert loaded.plan.curve == bound
    assert failing(loaded.plan) == []


@pytest.mark.parametrize("make", [families.full, families.loopless_clique])
def test_a_hundred_thousand_arms(make):
    """Edges are never written out: 10¹⁰ of them would not fit."""
    made = sl.plan(make(10**5), None, realization="anytime")
    assert failing(made) == []
    policy = made.policy(seed=1)
    for _ in range(25):
        arm = policy.ask()
        policy.tell(np.linspace(0, 1, policy.graph.out_neighbors(arm).size))
    assert policy.certificate().value <= made.curve.value_at(25)
    assert policy.probabilities[:1000].sum() > policy.probabilities[-1000:].sum()


def test_random_graphs_are_all_checked():
    for seed in range(25):
        A = adjacency(
            seed, 3 + seed % 9, (0.1, 0.4, 0.8)[seed % 3], (0.4, 1.0)[seed % 2], symmetric=seed % 5 == 0
        )
        assert failing(sl.plan(FeedbackGraph.from_adjacency(A), None, realization="anytime")) == []
