"""Auctions, posted prices and those who are online: losses and graphs by their rules."""

import numpy as np
import pytest

import sidelight as sl
from sidelight import environments, families
from sidelight.errors import InvalidGraph, InvalidOption
from sidelight.graph.altered import with_loops


@pytest.fixture
def drawn():
    rng = np.random.default_rng(3)
    return rng.random(40).round(2), rng.random(40).round(2), np.array([0.0, 0.2, 0.5, 0.7, 0.9])


def test_an_auction_reveals_what_its_outcome_tells(drawn):
    values, rivals, bids = drawn
    world = environments.auction(values, rivals, bids)
    for t, (value, rival) in enumerate(zip(values, rivals, strict=True)):
        losses, graph = world.losses(0, t, np.arange(5)), world.graph_at(0, t)
        assert graph.contains(families.auction(5))
        for i, bid in enumerate(bids):
            wins = bid >= rival
            assert losses[i] == pytest.approx((1 - (value - bid if wins else 0)) / 2)
            assert graph.out_neighbors(i).tolist() == (list(range(i, 5)) if wins else list(range(5)))


def test_a_winner_need_not_know_the_highest_other_bid(drawn):
    """Who reveals a bid that is not below one that won is known without it: the same estimates."""
    values, rivals, bids = drawn
    world = environments.auction(values, rivals, bids)
    for t in range(40):
        graph, own = world.graph_at(0, t), families.auction(5)
        for won in np.flatnonzero(bids >= rivals[t]):
            for arm in graph.out_neighbors(int(won)):
                assert graph.in_neighbors(int(arm)).tolist() == own.in_neighbors(int(arm)).tolist()


def test_a_sale_tells_of_lower_prices_and_a_refusal_of_higher_ones(drawn):
    limits, _, prices = drawn
    world = environments.posted_prices(limits, prices)
    for t, limit in enumerate(limits):
        losses, graph = world.losses(0, t, np.arange(5)), world.graph_at(0, t)
        assert graph.contains(families.mab(5))
        for i, price in enumerate(prices):
            sells = price <= limit
            assert losses[i] == pytest.approx(1 - price if sells else 1)
            assert graph.out_neighbors(i).tolist() == (list(range(i + 1)) if sells else list(range(i, 5)))


def test_only_those_who_are_online_answer_besides():
    network = families.hypercube(4)
    world = environments.online(network, environments.gap(16), share=0.4, distinct=8)
    met = set()
    for t in range(200):
        graph = world.graph_at(5, t)
        met.add(graph.content)
        assert graph.has_loop.all()
        answers = {int(j) for i in range(16) for j in graph.out_neighbors(i) if j != i}
        for i in range(16):
            friends = [int(j) for j in network.out_neighbors(i) if int(j) in answers]
            assert graph.out_neighbors(i).tolist() == sorted([i, *friends])
    assert len(met) == 8  # each is drawn sooner or later


def test_those_who_are_online_may_answer_now_and_then_only():
    network = families.faulty(with_loops(families.hypercube(3)), 0.5)
    plain = environments.online(families.hypercube(3), environments.gap(8), share=0.6, distinct=4)
    world = environments.online(network, environments.gap(8), share=0.6, distinct=4, answers=0.4)
    for often, seldom in zip(plain.changes.graphs, world.changes.graphs, strict=True):
        np.testing.assert_array_equal(often.edges(), seldom.edges())
        for i, j in seldom.edges().tolist():  # whoever is played answers, the others as often as both allow
            assert seldom.probability(i, j) == (1.0 if i == j else pytest.approx(0.2))


@pytest.mark.parametrize(
    ("text", "graph"),
    [
        ("auction", families.auction(6)),
        ("auction:3", families.auction(6)),
        ("posted_prices:0.2,0.9", families.mab(6)),
        ("online:0.3,0.1", families.cycle(6)),
        ("online:0.3,0.1,0.5", families.cycle(6)),
    ],
)
def test_they_have_names(text, graph):
    world = environments.parse(text, graph, 500)
    assert world.n_arms == 6
    assert world.changes is not None
    plan = sl.plan(families.mab(6) if text.startswith("online") else graph)
    run = sl.simulate(plan, world, seeds=[0], horizon=500)
    assert run.regret[0, -1] <= run.certificate[0, -1] + 200
    assert world.graph_at(1, 3) in world.changes.graphs


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: environments.auction([0.5], [0.5, 0.1], [0, 1]), InvalidOption, "1 and 2"),
        (lambda: environments.auction([1.5], [0.5], [0, 1]), InvalidOption, r"values\[0\].*1.5"),
        (lambda: environments.auction([0.5], [0.5], [1, 0]), InvalidOption, "increase"),
        (lambda: environments.posted_prices([np.nan], [0, 1]), InvalidOption, r"limits\[0\]"),
        (lambda: environments.online([], environments.gap(3)), InvalidGraph, "list"),
        (lambda: environments.online(families.mab(3), environments.gap(3), 1.5), InvalidOption, "1.5"),
        (
            lambda: environments.online(families.mab(3), environments.gap(3), answers=0),
            InvalidOption,
            "above 0",
        ),
        (lambda: environments.parse("auction:0", families.auction(3), 10), InvalidOption, "one rival"),
        (lambda: environments.parse("posted_prices:0.9,0.2", families.mab(3), 10), InvalidOption, "LOW"),
    ],
)
def test_bad_numbers_are_named(make, error, says):
    with pytest.raises(error, match=says):
        make()
