"""Plans for high probability: their numbers are the best, and they are plans like all others."""

from math import exp, log, sqrt

import numpy as np
import pytest

import sidelight as sl
from sidelight.planning.bounds.constant import ConstantPlay, likely_terms
from sidelight.planning.exploration import Solved
from sidelight.planning.minimised.confident import Confident, even_strength


def likely(T, n, delta, doubt, eta, b, risk):
    return sum(likely_terms(T, ConstantPlay(n, eta, b, b * delta), doubt, risk).values())


@pytest.mark.parametrize(
    "graph", [sl.families.cycle(10), sl.families.revealing_action(10), sl.families.mab(4)]
)
def test_no_numbers_nearby_are_better(graph):
    n, rng = graph.n_arms, np.random.default_rng(3)
    found = Confident(Solved(graph), 0.99)
    for T in (1_000, 10**5, 10**8):
        best, delta = found.numbers(float(T)), found.delta
        value = likely(T, n, delta, 0.01, *best)
        for scale in np.exp(rng.normal(size=(2_000, 3)) * rng.choice([0.5, 0.05, 0.005], size=(2_000, 1))):
            other = np.array(best) * scale
            if other[1] * delta <= 0.5:
                assert likely(T, n, delta, 0.01, *other) >= value * (1 - 1e-5)


def test_strength_makes_both_sides_even():
    for eta, risk, delta in ((0.01, 0.006, 5.0), (1e-5, 1e-6, 1.0), (1e-4, 1e-3, 50.0)):
        b = even_strength(eta, risk, delta)
        assert b * delta == pytest.approx(max(eta, risk) / (2 * b) + risk * (1 + b * delta) / 2, rel=1e-12)
    assert even_strength(10.0, 1.0, 5.0) * 5 == pytest.approx(0.5)
    assert even_strength(10.0, 3.0, 5.0) * 5 == pytest.approx(0.5)


def test_the_leading_constant():
    """3/2·(δ*m)^{1/3}T^{2/3}, m = min_{r≥1} (log N/r + log(N/ε))(r+1)²/r."""
    g, T, doubt = sl.families.cycle(10), 10**14, 0.01
    r = np.linspace(1, 10, 100_001)
    m = ((log(10) / r + log(10 / doubt)) * (r + 1) ** 2 / r).min()
    value = sl.plan(g, T, confidence=0.99).bound_at(T, confidence=0.99).value
    assert value / (1.5 * (5 * m) ** (1 / 3) * T ** (2 / 3)) == pytest.approx(1, abs=1e-3)
    three = sqrt(log(10)) + sqrt(log(4 / doubt)) + sqrt(log(40 / doubt))  # one martingale each, three of them
    assert value < 0.58 * 3 * 2 ** (-1 / 3) * (5 * three**2) ** (1 / 3) * T ** (2 / 3)


@pytest.mark.parametrize("doubt", [0.3, 0.01, 1e-9])
@pytest.mark.parametrize("n", [2, 10, 10_000])
def test_the_leading_constant_is_below_that_of_one_deviation_for_each_inequality(n, doubt):
    """3·2^{−1/3}(√log N + √log(4/ε) + √log(4N/ε))^{2/3}: at most two thirds of it up to 10⁴ arms."""
    r = np.geomspace(1, 1000, 100_001)
    m = ((log(n) / r + log(n / doubt)) * (r + 1) ** 2 / r).min()
    three = sqrt(log(n)) + sqrt(log(4 / doubt)) + sqrt(log(4 * n / doubt))
    assert 1.5 * m ** (1 / 3) <= 2 / 3 * 3 * 2 ** (-1 / 3) * three ** (2 / 3)


def test_it_is_a_plan_like_all_others(tmp_path):
    g, T = sl.families.cycle(10), 10_000
    plan = sl.plan(g, T, confidence=0.99)
    assert plan.bound.certified
    assert all(condition.holds for condition in sl.check_certificate(plan))
    assert plan.bound_at(T, 0.99).value < sl.baselines.chlz21(g, T).bound_at(T, 0.99).value
    assert "with probability 0.99: regret ≤ 4,01" in str(plan)
    policy = plan.policy(seed=1)
    for _ in range(20):
        arm = policy.ask()
        policy.tell(dict.fromkeys(g.out_neighbors(arm), 0.5))
    policy.save(tmp_path / "policy")
    again = sl.Policy.load(tmp_path / "policy")
    assert again.plan.bound_at(T, 0.99).value == plan.bound_at(T, 0.99).value


def test_everything_seen_needs_no_exploration():
    plan = sl.plan(sl.families.full(10), 10_000, confidence=0.99)
    assert not plan.tuning.global_exploration.any()
    assert plan.bound_at(10_000, 0.99).value < 550
    assert sl.plan(sl.families.mab(1), 10, confidence=0.9).bound_at(10, 0.9).value == 0


@pytest.mark.parametrize("T", [1, 2, 30, 10**15])
def test_every_horizon_has_a_plan(T):
    for graph in (sl.families.cycle(3), sl.families.loopless_clique(2), sl.families.full(3)):
        plan = sl.plan(graph, T, confidence=0.5)
        assert plan.tuning.global_exploration.sum() <= 0.5
        assert np.isfinite(plan.bound_at(T, 0.5).value)
        assert np.isfinite(plan.bound_at(T, 1 - exp(-30)).value)


def test_what_does_not_go_together_is_refused():
    g = sl.families.cycle(6)
    single = sl.partitions.single(g)
    others = {"realization": "flat", "search": 1.0, "partition": single, "slack": 0.2, "order": 0.5}
    for options in ({"horizon": None}, *({name: value} for name, value in others.items())):
        with pytest.raises(sl.InvalidOption, match=r"confidence=0\.9"):
            sl.plan(g, **({"horizon": 100} | options), confidence=0.9)
    with pytest.raises(sl.InvalidOption, match="confidence"):
        sl.plan(g, 100, confidence=1.0)
    with pytest.raises(sl.errors.UnobservableGraph):
        sl.plan(sl.FeedbackGraph.from_edges(2, [(0, 0)]), 100, confidence=0.9)
