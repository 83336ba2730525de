"""Plans without a horizon: their schedule, their bound as a function of the round, and the sums behind it."""

import json
from math import cbrt, e, sqrt

import naive
import numpy as np
import pytest
from instances import INSTANCES, STRONG, clique, cycle, loops

from sidelight.errors import InfeasibleRequest, InvalidOption, UnobservableGraph
from sidelight.graph import FeedbackGraph
from sidelight.partition import natural
from sidelight.planning import Schedule, Tuning, curve_from_dict, plan
from sidelight.planning.schedule import epoch_start


def graph_of(named):
    return FeedbackGraph.from_edges(named.n_arms, named.edges)


WEAK = [
    n for n in INSTANCES if n.realizations != STRONG and n.name != "weak_clique_of_two"
]  # which is strong
by_name = pytest.mark.parametrize("named", WEAK, ids=lambda named: named.name)


def test_epochs():
    starts = [1]
    while starts[-1] < 10**6:
        starts.append(-(-starts[-1] * 17 // 16))
    assert starts[:20] == [*range(1, 18), 19, 21, 23]
    for t in [*range(1, 300), 10**5, 999_999]:
        start = epoch_start(t)
        assert start == max(s for s in starts if s <= t)
        assert t * 16 / 17 < start <= t
    with pytest.raises(InvalidOption, match="counted from 1"):
        epoch_start(0)


def test_schedules_hold_until_they_start():
    schedule = Schedule(np.array([-2 / 3, -1 / 2]), -1 / 3, start=20)
    for t in (1, 19, 20):
        rates, exploration = schedule.factors(t)
        assert rates.tolist() == [1, 1]
        assert exploration == 1
    rates, exploration = schedule.factors(1000)
    growth = epoch_start(1000) / 20
    assert rates.tolist() == pytest.approx([growth ** (-2 / 3), growth ** (-1 / 2)])
    assert exploration == pytest.approx(growth ** (-1 / 3))
    for wrong in ({"inner_rate": np.array([0.5])}, {"exploration": 0.1}, {"start": 0}):
        with pytest.raises(InvalidOption):
            Schedule(**({"inner_rate": np.zeros(1), "exploration": 0.0, "start": 1} | wrong))


@by_name
def test_sums_over_rounds_stay_below_the_bound(named):
    """D/η_n + Σ_{t ≤ n} (the larger of stability and exploration), with the values that epochs hold, for many n."""
    graph = graph_of(named)
    made = plan(graph, None, realization="anytime")
    assert made.horizon is None
    tuning, h = made.tuning, made.parameters["h"]
    owed = tuning.schedule.inner_rate == -2 / 3
    n_W, n_S = int(owed.sum()), int((~owed).sum())
    eta, eta_loop = made.parameters["eta"], made.parameters.get("eta_loop", 0.0)
    beta = made.parameters["beta"]
    lazy = (64 / 63) ** 2 if named.n_arms > 24 and h < 1 else 1.0
    cost = lazy * made.parameters["delta"] ** h
    if n_S == 0:
        size = naive.diameter(h, n_W)
    else:
        size = n_W ** (1 - h) / (h * (1 - h)) if h < 1 else n_W / e if n_W <= 2 else np.log(n_W)
    per_round, n = 0.0, 0
    for n in range(1, 3_000):
        rates, exploration = tuning.schedule.factors(n)
        total = 0.0
        gamma_bar = beta * exploration * cost
        assert gamma_bar <= 0.5 * (1 + 1e-9)
        slow = rates[owed][0]
        per_round += max(eta * slow / (2 * beta * exploration), gamma_bar)
        total += size / (eta * slow)
        if n_S:
            slow = rates[~owed][0]
            per_round += 2 / (1 - gamma_bar) * eta_loop * slow * sqrt(n_S)
            total += sqrt(n_S) / (eta_loop * slow)
        if n >= made.curve.start:
            assert total + per_round <= made.bound_at(n).value * (1 + 1e-9)


@by_name
def test_bounds_hold_from_their_start(named):
    made = plan(graph_of(named), None, realization="anytime")
    start = made.curve.start
    bound = made.bound_at(start)
    assert bound.certified
    assert bound.valid_from == start
    assert start == 1 or not made.bound_at(start - 1).certified
    assert made.bound_at(10**9).value == pytest.approx(
        made.curve.weak * 10**6 + made.curve.strong * sqrt(10**9)
    )
    assert bound.informative_from >= start
    saved = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert saved["horizon"] is None
    assert curve_from_dict(saved["bound"], None) == made.curve
    assert "any number of rounds" in str(made)
    assert repr(made).startswith("Plan(")
    again = Tuning.from_arrays(made.tuning.to_arrays())
    assert again.schedule.start == made.tuning.schedule.start
    assert again.schedule.inner_rate.tolist() == made.tuning.schedule.inner_rate.tolist()


def test_constant_of_the_leading_term():
    """(243/32)^{1/3} = 1.966 instead of 3/2, times (17/16)^{2/9} = 1.014 for epochs."""
    graph = FeedbackGraph.from_edges(20, cycle(range(20)))
    known, unknown = plan(graph, 10**6, realization="fixed"), plan(graph, None, realization="anytime")
    price = unknown.curve.constant / (known.bound.value / 10**4)
    assert price == pytest.approx((243 / 32) ** (1 / 3) / 1.5 * (17 / 16) ** (2 / 9), rel=1e-6)
    assert price < 1.33
    assert unknown.curve.exponent == 2 / 3
    assert unknown.parameters["h"] == known.parameters["h_blocks"][0]


def test_loops_beside_weak_arms():
    graph = FeedbackGraph.from_edges(20, [*loops(range(19)), (0, 19)])
    made = plan(graph, None, realization="anytime")
    r, r_half = cbrt(17 / 16), sqrt(17 / 16)
    assert made.curve.weak == pytest.approx((243 / 32) ** (1 / 3) * r ** (2 / 3) * (1 / e) ** (1 / 3))
    assert made.curve.strong == pytest.approx(4 * sqrt(2 * r_half * 19))
    assert made.tuning.schedule.inner_rate.tolist() == [-1 / 2] * 19 + [-2 / 3]


def test_refusals():
    graph = FeedbackGraph.from_edges(5, clique(range(5)))
    for realization in ("clustered", "interpolated", "hybrid"):
        with pytest.raises(InfeasibleRequest, match="without a horizon there are"):
            plan(graph, None, realization=realization)
    with pytest.raises(InvalidOption, match="one block"):
        plan(graph, None, natural.singletons(graph))
    with pytest.raises(UnobservableGraph):
        plan(FeedbackGraph.from_edges(2, [(0, 1)]), None, realization="anytime")
    with pytest.raises(InvalidOption, match="for 1000 rounds"):
        plan(graph, 1000).bound_at(999)
    assert plan(graph, 1000).bound_at(1000).certified
    for wrong in (0, 1.5, None):
        with pytest.raises(InvalidOption, match="t must be"):
            plan(graph, None, realization="anytime").bound_at(wrong)
    with pytest.raises(InvalidOption, match="not a saved"):
        curve_from_dict({"value": 3}, None)
