"""What a policy certifies while it plays.

The law is about expectations over the player's coins, so it is tested with exact ones: every arm that may be
played, in every round, against every sequence of losses on a grid. On one run only the inequalities that hold path
by path are asserted.
"""

import itertools
from dataclasses import replace

import naive
import numpy as np
import pytest
from dense_engine import Dense
from forced_draws import ask_for
from numpy.testing import assert_allclose, assert_array_equal

import sidelight as sl
from sidelight.planning.baselines.algorithms import CHLZ21, Exp3GWeak
from sidelight.planning.candidates import flat_candidates
from sidelight.planning.exploration import Solved
from sidelight.policy.certificate import LEDGER

# -- plans of every kind ------------------------------------------------------------------------------------


def graph(n, *edges):
    return sl.FeedbackGraph.from_edges(n, [edge for part in edges for edge in part])


def loops(*arms):
    return [(v, v) for v in arms]


def seen_by_all(v, n):
    return [(u, v) for u in range(n) if u != v]


PAIRS = graph(4, [(0, 1), (1, 0), (2, 3), (3, 2)])
PAIR_AND_LOOP = graph(3, [(0, 1), (1, 0)], loops(2))
PAIR_AND_BLIND = graph(3, [(0, 1), (1, 0)], seen_by_all(2, 3))
LOOPS_AND_BLIND = graph(3, loops(0, 1), seen_by_all(2, 3))
ONE_SIDED = graph(3, loops(0, 1, 2), [(0, 1), (0, 2), (1, 2)])
PATH = graph(3, [(0, 1), (1, 0), (1, 2), (2, 1)])
PAIR = graph(2, [(0, 1), (1, 0)])
THREE_KINDS = graph(4, loops(0), [(0, 1), (3, 1)], seen_by_all(3, 4), [(1, 2)])


def parted(g, blocks, realization):
    return lambda T: sl.plan(g, T, partition=sl.Partition(g, blocks), realization=realization)


def flat_way(g, name):
    """A flat plan of one kind, also where another is better."""

    def made(T):
        ways = flat_candidates(Solved(g))
        (way,) = [way for way in ways if way.name == name]
        return way.plan(T)

    return made


def sharpened(algorithm, g):
    """A known algorithm with the smaller bound on the same play."""

    def made(T):
        way = algorithm(Solved(g))
        plan = way.plan(T)
        return replace(plan, curve=replace(plan.bound, terms=way.offer(T).sharper, conditions=()))

    return made


TWO = [[0, 1], [2, 3]]
KINDS = {
    "flat": lambda T: sl.plan(PATH, T, realization="flat"),
    "flat, directed": lambda T: sl.plan(sl.families.cycle(3, directed=True), T, realization="flat"),
    "one block, adaptive": parted(sl.families.cycle(3, directed=True), [[0, 1, 2]], "adaptive"),
    "two blocks, clustered": parted(PAIRS, TWO, "clustered"),
    "two blocks, adaptive": parted(PAIRS, TWO, "adaptive"),
    "two blocks, hybrid": parted(PAIRS, TWO, {0: "clustered", 1: "adaptive"}),
    "two blocks, interpolated": parted(PAIRS, TWO, "interpolated"),
    "block and loop, clustered": parted(PAIR_AND_LOOP, [[0, 1], [2]], "clustered"),
    "block and loop, interpolated": parted(PAIR_AND_LOOP, [[0, 1], [2]], "interpolated"),
    "block and loop-less, clustered": parted(PAIR_AND_BLIND, [[0, 1], [2]], "clustered"),
    "block and loop-less, interpolated": parted(PAIR_AND_BLIND, [[0, 1], [2]], "interpolated"),
    "loops and loop-less": parted(LOOPS_AND_BLIND, [[0], [1], [2]], "clustered"),
    "loops and loop-less, minimised": parted(LOOPS_AND_BLIND, [[0], [1], [2]], "interpolated"),
    "covered": flat_way(THREE_KINDS, "covered"),
    "shifted": flat_way(THREE_KINDS, "shifted"),
    "watched": flat_way(PAIR_AND_LOOP, "watched"),
    "CHLZ21, sharper": sharpened(CHLZ21, PATH),
    "Exp3.G, sharper": sharpened(Exp3GWeak, PAIR_AND_LOOP),
    "bandit": lambda T: sl.plan(sl.families.mab(3), T, realization="fixed"),
    "bandit, printed": lambda T: sl.plan(sl.families.mab(3), T, realization="clustered"),
    "full feedback": lambda T: sl.plan(sl.families.full(3), T, realization="fixed"),
    "loop-less clique": lambda T: sl.plan(sl.families.loopless_clique(3), T, realization="fixed"),
    "loop-less clique, printed": lambda T: sl.plan(
        sl.families.loopless_clique(3), T, realization="clustered"
    ),
    "one-sided": lambda T: sl.plan(ONE_SIDED, T, realization="fixed"),
    "flat, loops and loop-less": lambda T: sl.plan(LOOPS_AND_BLIND, T, realization="flat"),
    "two seen": lambda T: sl.plan(sl.families.full(2), T, realization="fixed"),
    "two that see each other": lambda T: sl.plan(sl.families.loopless_clique(2), T, realization="fixed"),
}

TUNED = {
    "self-tuning": lambda T: sl.plan(PATH),
    "self-tuning, loops": lambda T: sl.plan(sl.families.mab(3)),
    "self-tuning, covered": lambda T: sl.plan(PAIR_AND_LOOP),
    "self-tuning, full feedback": lambda T: sl.plan(sl.families.full(3)),
    "self-tuning, loop-less clique": lambda T: sl.plan(sl.families.loopless_clique(3)),
    "self-tuning, loops and loop-less": lambda T: sl.plan(LOOPS_AND_BLIND),
    "self-tuning, one-sided": lambda T: sl.plan(ONE_SIDED),
    "self-tuning, two seen": lambda T: sl.plan(sl.families.full(2)),
    "self-tuning, two that see each other": lambda T: sl.plan(sl.families.loopless_clique(2)),
}
EVERY = KINDS | TUNED


# -- exact expectations ---------------------------------------------------------------------------------------


def told(policy, arm, losses):
    """The policy after playing `arm`."""
    after = policy.copy()
    ask_for(after, arm)
    after.tell(losses[policy.graph.out_neighbors(arm)])
    return after


def outcomes(policy, rounds, grid):
    """For every sequence of losses: (losses, [(probability, cost, final policy)] over all arms played)."""
    n = policy.graph.n_arms
    for first in itertools.product(grid, repeat=n):
        losses = np.array(first, dtype=float)
        states = [(p, losses[arm], told(policy, arm, losses)) for arm, p in enumerate(policy.probabilities)]
        yield from continued(states, [losses], rounds - 1, grid)


def continued(states, before, rounds, grid):
    if rounds == 0:
        yield np.array(before), states
        return
    n = states[0][2].graph.n_arms
    played = [(p, cost, policy, policy.probabilities) for p, cost, policy in states]
    for chosen in itertools.product(grid, repeat=n):
        losses = np.array(chosen, dtype=float)
        after = [
            (p * q, cost + losses[arm], told(policy, arm, losses))
            for p, cost, policy, Z in played
            for arm, q in enumerate(Z)
        ]
        yield from continued(after, [*before, losses], rounds - 1, grid)


def exact(policy, rounds, grid=(0.0, 1.0)):
    """E regret against every arm, E certificate against every arm, E of the one against all; per loss sequence."""
    n = policy.graph.n_arms
    for losses, states in outcomes(policy, rounds, grid):
        regret, certificates, worst = np.zeros(n), np.zeros(n), 0.0
        for p, cost, after in states:
            regret += p * (cost - losses.sum(axis=0))
            certificates += p * np.array([after._game.certificate(arm)[1].sum() for arm in range(n)])
            worst += p * after._game.certificate(None)[1].sum()
        assert sum(p for p, _, _ in states) == pytest.approx(1.0, abs=1e-12)
        yield regret, certificates, worst


@pytest.mark.parametrize("kind", EVERY)
def test_its_expectation_lies_between_the_regret_and_the_bound(kind):
    """For every arm and all losses of 0 and 1 in two rounds."""
    plan = EVERY[kind](2)
    policy = plan.policy(seed=0)
    bound = plan.bound_at(2)
    one_level = plan.partition.n_blocks in (1, plan.graph.n_arms)
    tightest = np.inf
    for regret, certificates, worst in exact(policy, 2):
        assert (certificates >= regret - 1e-9).all()
        assert worst >= certificates.max() - 1e-9
        if bound.certified:
            assert (certificates <= bound.value * (1 + 1e-9)).all()
            if one_level:  # then arms differ by a constant, and the largest is the same on every run
                assert worst <= bound.value * (1 + 1e-9)
        tightest = min(tightest, (certificates - regret).min())
    assert 0 <= tightest < 2.0 * bound.value


THREE = ["two seen", "two that see each other", "self-tuning, two seen"]
LONG = ["flat", "self-tuning", "block and loop, interpolated", "loop-less clique"]


@pytest.mark.parametrize("kind", [*THREE, *(pytest.param(kind, marks=pytest.mark.full) for kind in LONG)])
def test_three_rounds(kind):
    plan = EVERY[kind](3)
    for regret, certificates, worst in exact(plan.policy(seed=0), 3):
        assert (certificates >= regret - 1e-9).all()
        assert worst >= certificates.max() - 1e-9
        assert plan.bound_at(3).certified
        assert (certificates <= plan.bound_at(3).value * (1 + 1e-9)).all()


def test_losses_between_0_and_1():
    plan = KINDS["two blocks, interpolated"](2)
    for regret, certificates, _ in exact(plan.policy(seed=0), 1, (0.0, 0.3, 1.0)):
        assert (certificates >= regret - 1e-9).all()


def test_without_its_diameter_it_would_be_wrong():
    """The law has teeth: what the rounds cost by themselves, without Φ(u) − min Φ, does not bound the regret."""
    plan = sl.plan(sl.families.mab(3), 2, realization="clustered")
    policy = plan.policy(seed=0)
    dense = Dense(plan.graph, plan.tuning)
    height = -simplex_minimum(plan.tuning.top_power, plan.tuning.top_rate, np.zeros(3))[0]
    corner = potential(plan.tuning.top_power[:1], plan.tuning.top_rate[:1], np.ones(1))
    assert dense.m == 3
    assert any(
        (certificates - (corner + height) < regret).any() for regret, certificates, _ in exact(policy, 2)
    )


# -- by definition ------------------------------------------------------------------------------------------


def potential(power, rate, x):
    """Φ(x) = Σ −x^h/(h(1−h)η), with q = 1/(1−h) and a = (1−h)η; x·log x/η where q = 0."""
    total = 0.0
    for q, a, value in zip(power, rate, x, strict=True):
        h = 1 - 1 / q if q else 1.0
        total += -(value**h) / (h * a) if q else value * np.log(max(value, 1e-300)) / a
    return total


def simplex_minimum(power, rate, sums):
    """min_x Φ(x) + ⟨S, x⟩ and its x, with sums relative to their least, so that nothing cancels."""
    least = sums.min()
    potentials = [
        naive.Power(1 - 1 / q, a * q) if q else naive.Entropy(a) for q, a in zip(power, rate, strict=True)
    ]
    x = naive.solve_multiplier(potentials, least - sums)
    return potential(power, rate, x) + (sums - least) @ x + least, x


def by_definition(plan, policy):
    """(n, 4): paid + Φ(e) − min_x [Φ(x) + ⟨S, x⟩] for every arm, on the top level and inside its block."""
    t, dense = plan.tuning, Dense(plan.graph, plan.tuning)
    arms, blocks = dense.sums(policy._game.memory)
    terms = np.zeros((dense.n, 4))
    for k, block in enumerate(dense.blocks):
        inside = 0.0
        if len(block) > 1:
            inside = simplex_minimum(t.inner_power[block], t.inner_rate[block], arms[block])[0]
        for arm in block:
            ledger = np.array(list(policy.ledger(int(arm)).values()))
            terms[arm, 2:] = ledger[2:]
            if dense.m > 1:
                corner = potential(t.top_power[[k]], t.top_rate[[k]], np.ones(1))
                top = simplex_minimum(t.top_power, t.top_rate, blocks)[0]
                terms[arm, 0] = ledger[0] + blocks[k] + corner - top
            if len(block) > 1:
                corner = potential(t.inner_power[[arm]], t.inner_rate[[arm]], np.ones(1))
                terms[arm, 1] = ledger[1] + arms[arm] + corner - inside
    return terms


PLAYED = {
    **KINDS,
    "buckets": lambda T: sl.plan(sl.families.mab(40), T, realization="fixed"),
    "buckets, any power": lambda T: sl.plan(sl.families.cycle(300), T, realization="flat"),
    "buckets beside entropy": lambda T: sl.plan(sl.families.corrupted_mab(45, 12), T, realization="flat"),
    "tree": lambda T: sl.plan(sl.families.revealing_action(700), T, realization="flat"),
    "blocks of three": lambda T: parted(sl.families.cliques([3, 3, 4]), [[0, 1, 2], [3, 4, 5], [6, 7, 8, 9]],
                                        "clustered")(T),
    "mixed": lambda T: sl.plan(sl.families.corrupted_mab(60, 20), T, realization="flat"),
    "newsvendor": lambda T: sl.plan(sl.families.newsvendor(40), T, realization="flat"),
    "many": lambda T: sl.plan(sl.families.full(250), T, realization="flat"),
}  # fmt: skip


def play(policy, rounds, seed):
    """Half of the arms lose often, which ones changes every fifty rounds."""
    rng = np.random.default_rng(seed)
    n = policy.graph.n_arms
    for t in range(rounds):
        if t % 50 == 0:
            means = rng.choice([0.1, 0.9], size=n)
        losses = (rng.random(n) < means) * rng.random(n)
        arm = policy.ask()
        policy.tell(losses[policy.graph.out_neighbors(arm)])


@pytest.mark.parametrize("kind", PLAYED)
def test_it_is_what_the_definition_says(kind):
    plan = PLAYED[kind](400)
    policy = plan.policy(seed=3)
    for rounds in (1, 30, 369):
        play(policy, rounds, rounds)
        n = plan.graph.n_arms
        shown = range(n) if n <= 60 else range(0, n, 53)
        found = np.array([policy._game.certificate(arm)[1] for arm in shown])
        assert_allclose(found, by_definition(plan, policy)[list(shown)], rtol=1e-7, atol=1e-6)
        worst = policy.certificate()
        totals = [policy.certificate(arm).value for arm in range(n)]
        assert worst.value == pytest.approx(max(totals), rel=1e-12)
        assert worst.round == policy.round
        assert worst.certified


@pytest.mark.parametrize("kind", PLAYED)
def test_it_bounds_each_part_of_the_ledger_on_every_run(kind):
    """Against every arm, after any number of rounds; and it takes nothing from the game."""
    plan = PLAYED[kind](300)
    for seed in range(3):
        policy = plan.policy(seed=seed)
        assert policy.certificate().value == 0.0  # no rounds, no regret
        for _ in range(5):
            play(policy, 60, seed)
            before = policy._game.memory.floats.copy()
            for arm in range(0, plan.graph.n_arms, 1 + plan.graph.n_arms // 50):
                ledger, terms = policy.ledger(arm), policy.certificate(arm).terms
                assert tuple(terms) == LEDGER
                scale = 1e-9 * (1 + sum(abs(part) for part in ledger.values()))
                assert all(ledger[name] <= terms[name] + scale for name in LEDGER)
            assert_array_equal(policy._game.memory.floats, before)


@pytest.mark.parametrize("kind", ["flat", "flat, directed", "covered", "buckets, any power"])
def test_it_never_exceeds_the_quadratic_form(kind):
    """D + Σ_t [γ̄_t + ½·Σ ℓ̂²/Φ''(X)], the certificate as it is usually written, is larger on every run."""
    plan = PLAYED[kind](400)
    t, n, policy = plan.tuning, plan.graph.n_arms, plan.policy(seed=5)
    dense, rng = Dense(plan.graph, plan.tuning), np.random.default_rng(6)
    h = np.where(t.inner_power > 0, 1 - 1 / np.maximum(t.inner_power, 1), 1.0)
    step = np.where(t.inner_power > 0, t.inner_rate * t.inner_power, t.inner_rate)
    lowest = simplex_minimum(t.inner_power, t.inner_rate, np.zeros(n))[0]
    corners = [potential(t.inner_power[[i]], t.inner_rate[[i]], np.ones(1)) for i in range(n)]
    quadratic = max(corners) - lowest
    for _ in range(400):
        Z, X = policy.probabilities, policy._game.inside_probabilities
        arm, losses = policy.ask(), rng.random(n)
        guess = np.where(dense.A[arm], losses / (dense.A.T @ Z), 0.0)
        quadratic += dense.exploration(policy._game.memory).sum() + 0.5 * np.sum(
            step * X ** (2 - h) * guess**2
        )
        policy.tell(losses[plan.graph.out_neighbors(arm)])
        assert policy.certificate().value <= quadratic * (1 + 1e-9)


# -- simulated ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["flat", "two blocks, interpolated", "bandit", "watched"])
def test_simulations_record_what_the_policy_certifies(kind):
    plan = KINDS[kind](500)
    n = plan.graph.n_arms
    environment = sl.environments.switching(n, period=90, gap=0.4)
    points = [1, 2, 3, 7, 100, 255, 500]
    run = sl.simulate(plan, environment, seeds=[4, 7], horizon=500, checkpoints=points)
    assert run.certificate.shape == (2, len(points))
    policy, found = plan.policy(seed=7), []
    for t in range(500):
        arm = policy.ask()
        policy.tell(environment.losses(7, t, plan.graph.out_neighbors(arm)))
        if t + 1 in points:
            found.append(sum(policy.certificate().terms.values()))
    assert_allclose(run.certificate[1], found, rtol=1e-12)


def test_longer_than_planned_it_still_holds():
    """Rates are those of 500 rounds, so after 5 000 nothing is claimed in advance; the certificate knows."""
    plan = sl.plan(sl.families.cycle(6), 500, realization="fixed")
    run = sl.simulate(plan, sl.environments.gap(6, gap=0.3), seeds=range(10), horizon=5_000)
    mean = run.certificate.mean(axis=0)
    assert (mean >= run.regret.mean(axis=0)).all()
    assert mean[-1] > plan.bound.value


@pytest.mark.parametrize("horizon", [None, 300])
def test_with_full_feedback_it_holds_on_every_run(horizon):
    rng = np.random.default_rng(8)
    for seed, mean in enumerate((0.5, 0.1, 0.9)):
        policy = sl.plan("full:6", horizon).policy(seed=seed)
        paid, sums = 0.0, np.zeros(6)
        for t in range(300):
            losses = rng.random(6) if seed else (rng.random(6) < mean + 0.1 * (np.arange(6) == t % 6)) * 1.0
            policy.ask()
            paid += policy.probabilities @ losses
            sums += losses
            policy.tell(losses)
            assert paid - sums.min() <= policy.certificate().value + 1e-9
        assert policy.certificate().value <= policy.bound_at(300)
