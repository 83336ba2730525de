"""The kernels of small policies: what is revealed, the gamma sampler, the multiplier, and play as ask and tell."""

import numpy as np
import pytest
from kernel_entries import door
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.optimize import brentq

from sidelight.engine._numba.jit import kernel
from sidelight.engine.losses import COINS, World, no_function
from sidelight.engine.random import hashed_unit, seeded_words
from sidelight.engine.rules import kernels as rules
from sidelight.engine.rules import state as desks
from sidelight.engine.rules.index_rules import gamma
from sidelight.engine.rules.weight_rules import multiplier
from sidelight.graph import families

unit_of = door(hashed_unit)
RULES = ["UNIFORM", "LEADER", "UCB", "THOMPSON", "IMPLICIT", "TSALLIS"]


@kernel(cache=False)
def drawn_gamma(words, shape):
    return gamma(words, shape)


@kernel(cache=False)
def found_multiplier(sums, least, rate):
    return multiplier(sums, least, rate)


def desk_of(graph, rule, seed=1):
    n, most = graph.n_arms, 1 + int(graph.out_degree.max())
    desk = desks.Desk(
        rule=getattr(desks, rule),
        out_indptr=graph.out_indptr,
        out_indices=graph.out_indices,
        in_indptr=graph.in_indptr,
        in_indices=graph.in_indices,
        universal=graph.universal,
        loops=graph.has_loop,
        numbers=np.array([0.0, -1.0, 0.0]),
        counts=np.zeros(n),
        sums=np.zeros(n),
        shares=np.zeros(n),
        words=seeded_words(seed),
        targets=np.zeros(most, dtype=np.int32),
        told=np.zeros(most),
    )
    rules.start_rule(desk)
    return desk


@pytest.mark.parametrize(
    "spec", ["cycle:5", "full:4", "loopless_clique:5", "corrupted_full:7,2", "revealing_action:4"]
)
def test_what_is_counted_is_what_the_arm_reveals(spec):
    graph = families.parse(spec)
    desk = desk_of(graph, "UNIFORM")
    for _ in range(30):
        before = desk.counts.copy()
        arm = rules.ask_rule(desk)
        assert rules.tell_rule(desk, np.full(graph.out_degree[arm], 0.5))
        assert_array_equal(np.flatnonzero(desk.counts - before), graph.out_neighbors(arm))


@pytest.mark.parametrize("shape", [1.0, 1.4, 7.0, 1e5])
def test_gamma_variates_are_gamma(shape, scale):
    words = seeded_words(11)
    drawn = [drawn_gamma(words, shape) for _ in range(150 * scale)]
    assert stats.kstest(drawn, stats.gamma(shape).cdf).pvalue > 1e-4


@pytest.mark.parametrize("n", [1, 2, 5, 300])
@pytest.mark.parametrize("spread", [0.0, 1.0, 1e3, 1e7])
@pytest.mark.parametrize("rate", [2.0, 0.01])
def test_the_multiplier_makes_a_distribution(n, spread, rate):
    sums = spread * np.random.default_rng(n).random(n) + 5.0
    least = sums.min()

    def excess(z):
        return (4 / (rate * (sums - least + z)) ** 2).sum() - 1

    z = found_multiplier(sums, least, rate)
    assert abs(excess(z)) < 1e-11
    assert_allclose(z, brentq(excess, 1 / rate, 4 * np.sqrt(n) / rate, rtol=1e-14), rtol=1e-12)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("spec", ["mab:4", "pricing:5", "full:3"])
def test_play_is_ask_and_tell(rule, spec, scale):
    graph = families.parse(spec)
    means = np.linspace(0.8, 0.2, graph.n_arms)[None, :].copy()
    means.flags.writeable = False
    world, key, rounds = World(COINS, 1, 1, means), np.uint64(99), 10 * scale
    played, told = desk_of(graph, rule), desk_of(graph, rule)
    plays = np.zeros(graph.n_arms, dtype=np.int64)
    cost = rules.play_rule(played, world, no_function, key, 0, rounds // 2, 0.0, plays)
    cost = rules.play_rule(played, world, no_function, key, rounds // 2, rounds, cost, plays)
    counted, paid = np.zeros(graph.n_arms, dtype=np.int64), 0.0
    for t in range(rounds):
        arm = rules.ask_rule(told)
        counted[arm] += 1
        paid += means[0, arm]
        losses = [float(unit_of(key, t, i) < means[0, i]) for i in graph.out_neighbors(arm)]
        assert rules.tell_rule(told, np.array(losses))
    assert cost == paid
    assert_array_equal(plays, counted)
    for name in ("numbers", "counts", "sums", "shares", "words"):
        assert_array_equal(getattr(played, name), getattr(told, name), err_msg=name)


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan, np.inf])
def test_a_bad_loss_changes_nothing(bad):
    desk = desk_of(families.parse("mab:3"), "TSALLIS")
    rules.ask_rule(desk)
    before = [getattr(desk, name).copy() for name in ("numbers", "counts", "sums", "shares", "words")]
    assert not rules.tell_rule(desk, np.array([bad]))
    for name, kept in zip(("numbers", "counts", "sums", "shares", "words"), before, strict=True):
        assert_array_equal(getattr(desk, name), kept)
