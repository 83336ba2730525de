"""Newsvendor losses: a function of sales, and regret in the units of the costs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import sidelight as sl

env = sl.environments
RNG = np.random.default_rng(5)
DEMAND = RNG.poisson(6, 200)
ORDERS = np.array([0.0, 2, 3, 7, 11])


@pytest.mark.parametrize(("over", "under"), [(1, 1), (2, 5), (0, 3), (0.5, 0)])
def test_losses_differ_as_costs_do(over, under):
    """Loss differences between orders are cost differences divided by (over + under)·Q, in every round."""
    table = env.newsvendor(DEMAND, ORDERS, over, under).table
    over_by = np.maximum(ORDERS - DEMAND[:, None], 0)
    short_by = np.maximum(DEMAND[:, None] - ORDERS, 0)
    cost = over * over_by + under * short_by
    scale = (over + under) * ORDERS[-1]
    assert_allclose((table - table[:, :1]) * scale, cost - cost[:, :1], atol=1e-12)
    assert ((table >= 0) & (table <= 1)).all()


def test_sales_tell_the_losses_of_smaller_orders():
    """Demands that give the same sales at an order give the same losses up to it: the graph is right."""
    graph = sl.families.newsvendor(ORDERS.size)
    table = env.newsvendor(np.arange(20), ORDERS, 2, 3).table
    for arm, order in enumerate(ORDERS):
        beyond = table[int(order) :, graph.out_neighbors(arm)]
        assert_allclose(beyond, beyond[:1].repeat(len(beyond), axis=0), atol=1e-15)


def test_the_best_order_is_the_quantile_of_demand():
    orders = np.arange(20)
    best = env.newsvendor(DEMAND, orders, over=1, under=4).best_arm(200)
    assert np.mean(best - 1 >= DEMAND) <= 0.8 <= np.mean(best >= DEMAND)


def test_extremes_are_reached():
    table = env.newsvendor([0, 99], [0, 10], over=1, under=1).table
    assert table.tolist() == [[0.5, 1.0], [0.5, 0.0]]


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ({"demand": [1, -2]}, r"demand\[1\].*-2"),
        ({"demand": [1, np.nan]}, r"demand\[1\].*nan"),
        ({"demand": []}, r"\(0,\)"),
        ({"demand": "much"}, "much"),
        ({"orders": [2, 1]}, "increase"),
        ({"orders": [1, 1]}, "increase"),
        ({"orders": [0]}, "not be all 0"),
        ({"over": -1}, "over.*-1"),
        ({"under": np.inf}, "under.*inf"),
        ({"over": "much"}, "over.*much"),
        ({"over": 0, "under": 0}, "both"),
    ],
)
def test_problems_that_are_none(change, shown):
    with pytest.raises(sl.InvalidOption, match=shown):
        env.newsvendor(**{"demand": [1, 2], "orders": [0, 1]} | change)
