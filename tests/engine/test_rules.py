"""The kernels of rules: what is revealed, the gamma sampler, the multiplier, and play as ask and tell."""

import numpy as np
import pytest
from kernel_entries import door
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.optimize import brentq

from sidelight.engine.calendar import make_calendar
from sidelight.engine.graphs import NO_GRAPHS, NO_SEQUENCE
from sidelight.engine.losses import COINS, World, no_function
from sidelight.engine.random import hashed_unit, seeded_words
from sidelight.errors import InfeasibleRequest
from sidelight.graph import families
from sidelight.policy.rules import RULES
from sidelight.policy.rules.spb_ftrl import spb_ftrl
from sidelight.policy.rules.spm_ftrl import lead, spm_ftrl
from sidelight.policy.rules.ts_n import gamma
from sidelight.policy.rules.tsallis_inf import multiplier, tsallis_inf
from sidelight.policy.rules.uniform import uniform

unit_of, drawn_gamma, found_multiplier = door(hashed_unit), door(gamma), door(multiplier)
led = door(lead)
CHANGING = ("numbers", "counts", "sums", "probabilities", "own", "words")


def applies(rule, spec):
    try:
        rule(families.parse(spec), 1000)
    except InfeasibleRequest:
        return spec == rule.example
    return True


def begun(rule, graph, seed=1):
    """The kernels of a rule, and its state before the first round."""
    return rule.kernels, rule(graph, 1000).policy(seed)._game.arrays


@pytest.mark.parametrize(
    "spec", ["cycle:5", "full:4", "loopless_clique:5", "corrupted_full:7,2", "revealing_action:4"]
)
def test_what_is_counted_is_what_the_arm_reveals(spec):
    graph = families.parse(spec)
    rules, state = begun(uniform, graph)
    for _ in range(30):
        before = state.counts.copy()
        arm = rules.ask(state)
        assert rules.tell(state, arm, np.full(graph.out_degree[arm], 0.5))
        assert_array_equal(np.flatnonzero(state.counts - before), graph.out_neighbors(arm))


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


@pytest.mark.parametrize(("rule", "spec"), [(spm_ftrl, "mab:7"), (spb_ftrl, "cycle:7")])
@pytest.mark.parametrize("spread", [0.0, 1.0, 1e3, 1e7])
def test_the_leader_is_where_the_gradient_is_the_same_for_all_arms(rule, spec, spread):
    """L − βx^{a−1} − bx^{−a}, for shares that add up to one."""
    _, state = begun(rule, families.parse(spec))
    state.sums[:], state.numbers[1] = spread * np.random.default_rng(3).random(7), 100.0
    led(state)
    order, first, beside = state.own[7:10]
    x = state.probabilities
    heights = (first + 100) * x ** (order - 1) + beside * x**-order
    assert abs(x.sum() - 1) < 1e-12
    assert_allclose(heights - state.sums, heights[0] - state.sums[0], rtol=1e-11, atol=1e-11 * heights.max())


@pytest.mark.parametrize(
    ("rule", "spec"),
    [
        pytest.param(rule, spec, id=f"{spec}-{rule.name}")
        for rule in RULES
        for spec in ("mab:4", "pricing:5", "full:3", "cycle:4")
        if applies(rule, spec)
    ],
)
def test_play_is_ask_and_tell(rule, spec, scale):
    graph = families.parse(spec)
    means = np.linspace(0.8, 0.2, graph.n_arms)[None, :].copy()
    means.flags.writeable = False
    world, key, rounds = World(COINS, 1, 1, means), np.uint64(99), 10 * scale
    (rules, played), (_, told) = begun(rule, graph), begun(rule, graph)
    plays = np.zeros(graph.n_arms, dtype=np.int64)
    calendar = make_calendar(np.zeros(1, dtype=np.int64), 1, played.kept.size)  # answers come at once
    own, about = (NO_GRAPHS, NO_SEQUENCE, False), (world, no_function, key)
    cost = rules.play(played, *own, *about, 0, rounds // 2, 0.0, plays, calendar)
    cost = rules.play(played, *own, *about, rounds // 2, rounds, cost, plays, calendar)
    counted, paid = np.zeros(graph.n_arms, dtype=np.int64), 0.0
    for t in range(rounds):
        arm = rules.ask(told)
        counted[arm] += 1
        paid += means[0, arm]
        losses = [float(unit_of(key, t, i) < means[0, i]) for i in graph.out_neighbors(arm)]
        assert rules.tell(told, arm, np.array(losses))
    assert cost == paid
    assert_array_equal(plays, counted)
    for name in CHANGING:
        assert_array_equal(getattr(played, name), getattr(told, name), err_msg=name)


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan, np.inf])
def test_a_bad_loss_changes_nothing(bad):
    rules, state = begun(tsallis_inf, families.parse("mab:3"))
    arm = rules.ask(state)
    before = [getattr(state, name).copy() for name in CHANGING]
    assert not rules.tell(state, arm, np.array([bad]))
    for name, kept in zip(CHANGING, before, strict=True):
        assert_array_equal(getattr(state, name), kept)
