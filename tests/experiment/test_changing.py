"""Simulation on graphs that change: compiled, it is the game that decisions and observations play."""

import numpy as np
import pytest

import sidelight as sl
from sidelight import environments, families
from sidelight.errors import InfeasibleRequest, InvalidGraph, InvalidOption
from sidelight.graph.altered import with_loops

T = 300


def graphs(n):
    """Every arm is revealed by some: decisions on others are refused."""
    rng = np.random.default_rng(n)
    ring = np.roll(np.eye(n, dtype=bool), 1, axis=1)
    return [sl.FeedbackGraph.from_adjacency((rng.random((n, n)) < 0.4) | ring) for _ in range(3)]


def strong(n):
    return [with_loops(graph) for graph in graphs(n)] + [families.loopless_clique(n)]


def world(kind):
    losses = environments.matrix(np.random.default_rng(1).random((T, 5)).round(2))
    if kind == "in turn":
        return environments.changing(losses, graphs(5), period=7)
    if kind == "drawn":
        return environments.changing(losses, graphs(5), probabilities=[0.5, 0.3, 0.2])
    if kind == "recorded":
        order = np.random.default_rng(2).integers(0, 3, T)
        return environments.changing(losses, graphs(5), order)
    if kind == "failing":
        seldom = [families.faulty(graph, 0.5) for graph in graphs(5)]
        return environments.changing(losses, [*seldom, families.full(5)], probabilities=[0.3, 0.3, 0.3, 0.1])
    if kind == "failing, shown after":
        often = [
            families.faulty(families.full(5), 0.7),
            families.cycle(5),
            families.faulty(families.cycle(5), 0.6),
        ]
        return environments.changing(losses, often, shown="after")
    if kind == "shown after":
        return environments.changing(losses, strong(5), shown="after")
    if kind == "shown after, its own and more":
        more = with_loops(families.cycle(5))
        seldom = np.where(
            np.arange(T) % 40 < 39, np.arange(T) % 2, 2
        )  # the plan's own, with more edges, with others
        return environments.changing(
            losses, [families.cycle(5), more, families.mab(5)], seldom, shown="after"
        )
    return environments.changing(losses, [families.full(5), families.cycle(5)], period=50)


KINDS = [
    "in turn",
    "drawn",
    "recorded",
    "shown after",
    "shown after, its own and more",
    "its own among others",
    "failing",
    "failing, shown after",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("delay", [0, 3])
def test_decisions_and_simulation_play_one_game(kind, delay):
    environment = world(kind)
    own = families.cycle(5) if "failing" not in kind else families.faulty(families.cycle(5), 0.6)
    plan = sl.plan(own, realization="self-tuning")
    run = sl.simulate(plan, environment, seeds=[4], horizon=T, delay=delay)
    policy, cost, waiting = plan.policy(seed=4)._for_changes(), 0.0, []
    for t in range(T):
        graph = environment.graph_at(4, t)
        later = {"graph": graph} if "shown after" in kind else {}
        d = policy.decide() if later else policy.decide(graph=graph)
        cost += environment.costs(4, t, d.arm)
        waiting.append((t, d, graph, later))
        if len(waiting) > delay:
            then, d, graph, later = waiting.pop(0)
            policy.observe(d, environment.heard(4, then, graph, d.arm), **later)
    assert run.cost[0, -1] == pytest.approx(cost)
    assert run.certificate[0, -1] == pytest.approx(policy.certificate().value, rel=1e-12)
    assert run.regret[0, -1] == pytest.approx(cost - environment.table.sum(axis=0).min())


def test_regret_keeps_below_the_mean_certificate():
    means = np.full(8, 0.5)
    means[3] = 0.3
    environment = environments.changing(
        environments.bernoulli(means), [families.cycle(8), families.mab(8)], period=5
    )
    run = sl.simulate(sl.plan(families.cycle(8)), environment, seeds=range(200), horizon=3000)
    regret, certificate = run.regret[:, -1], run.certificate[:, -1]
    error = (certificate - regret).std(ddof=1) / np.sqrt(regret.size)
    assert regret.mean() + 4 * error <= certificate.mean()
    # It learns: always playing a wrong arm costs four times the mean; one run in a hundred pays half of that.
    assert regret.mean() < 0.25 * 0.2 * 3000
    assert (regret < 0.5 * 0.2 * 3000).mean() >= 0.97


def test_from_python_it_is_the_same_game():
    table = np.random.default_rng(1).random((100, 4)).round(2)
    plan = sl.plan(families.mab(4))
    for shown, works in (("before", 1.0), ("after", 1.0), ("before", 0.5)):
        looped = [families.faulty(with_loops(graph), works) for graph in graphs(4)]
        quick = environments.changing(environments.matrix(table), looped, shown=shown)
        slow = environments.changing(
            environments.function(lambda t, arm: float(table[t, arm]), 4), looped, shown=shown
        )
        one, two = (sl.simulate(plan, each, seeds=[1, 2], horizon=100, delay=2) for each in (quick, slow))
        np.testing.assert_allclose(one.cost, two.cost)
        np.testing.assert_allclose(one.certificate, two.certificate, rtol=1e-12)


@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("shown", ["before", "after"])
def test_exp3_ix_is_compiled_and_plays_as_from_python(shown, delay):
    """Arm by arm, also where graphs have universal arms and where the rule's own is among them."""
    n, rounds = 5, 300
    table = np.random.default_rng(2).random((rounds, n)).round(2)
    looped = [with_loops(graph) for graph in graphs(n)] + [families.full(n), families.mab(n)]
    rule = sl.baselines.exp3_ix(families.mab(n))
    quick = environments.changing(environments.matrix(table), looped, shown=shown, period=7)
    slow = environments.changing(
        environments.function(lambda t, arm: float(table[t, arm]), n), looped, shown=shown, period=7
    )
    one, two = (
        sl.simulate(rule, each, seeds=range(4), horizon=rounds, checkpoints=range(1, rounds + 1), delay=delay)
        for each in (quick, slow)
    )
    np.testing.assert_allclose(
        np.diff(one.cost), np.diff(two.cost), atol=1e-9
    )  # the loss of every arm played
    assert len(set(map(tuple, one.cost.tolist()))) == 4


def test_exp3_ix_refuses_graphs_without_loops_before_it_begins():
    lacking = environments.changing(environments.gap(4), [families.mab(4), families.cycle(4)])
    with pytest.raises(InfeasibleRequest, match="itself"):
        sl.simulate(sl.baselines.exp3_ix(families.mab(4)), lacking, horizon=10)


def test_what_cannot_be_played_is_refused_before_it_begins():
    losses = environments.gap(4)
    ring = families.cycle(4)
    plan = sl.plan(families.mab(4))
    weak = environments.changing(losses, [families.mab(4), ring], shown="after")
    with pytest.raises(InfeasibleRequest, match="shown after playing"):
        sl.simulate(plan, weak, horizon=10)
    with pytest.raises(InfeasibleRequest, match=r"sl\.plan\(graph\)"):
        sl.simulate(sl.baselines.chlz21(ring, 100), environments.changing(losses, [ring]), horizon=10)
    recorded = environments.changing(losses, [ring], np.zeros(9, dtype=int))
    with pytest.raises(InvalidOption, match="recorded for 9 rounds"):
        sl.simulate(plan, recorded, horizon=10)


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: environments.changing(families.mab(4), [families.mab(4)]), InvalidOption, "environments"),
        (lambda: environments.changing(environments.gap(4), []), InvalidGraph, "one FeedbackGraph or more"),
        (lambda: environments.changing(environments.gap(4), [families.mab(5)]), InvalidGraph, "5 arms"),
        (lambda: environments.changing(environments.gap(4), [families.mab(4)], [1]), InvalidOption, "order"),
        (
            lambda: environments.changing(environments.gap(4), [families.mab(4)], probabilities=[0.5]),
            InvalidOption,
            "add up to 1",
        ),
        (
            lambda: environments.changing(environments.gap(4), [families.mab(4)], shown="never"),
            InvalidOption,
            '"before" or "after"',
        ),
        (lambda: environments.changing(environments.gap(4), [families.mab(4)], period=0), InvalidOption, "0"),
        (
            lambda: environments.changing(environments.gap(4), [families.mab(4)], [0], probabilities=[1.0]),
            InvalidOption,
            "not both",
        ),
    ],
)
def test_bad_graphs_and_orders_are_named(make, error, says):
    with pytest.raises(error, match=says):
        make()
