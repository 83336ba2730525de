"""The independent checker accepts every certified plan and refuses tampered ones."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import INSTANCES, clique, cycle, loops
from scipy import sparse

from sidelight.analysis import independence_number
from sidelight.errors import InvalidOption, UnobservableGraph
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition, natural
from sidelight.planning import check_certificate, plan
from sidelight.planning.bounds.checker import _corner, _height
from sidelight.planning.bounds.independent_sets import _has_none_larger, independence, mutual_independence
from sidelight.planning.cliques import clique_cover
from sidelight.policy import Policy


def holds(made):
    return all(condition.holds for condition in check_certificate(made))


def failing(made):
    return [condition.name for condition in check_certificate(made) if not condition.holds]


@pytest.mark.parametrize("named", INSTANCES, ids=lambda named: named.name)
def test_accepts_every_certified_plan(named):
    graph = FeedbackGraph.from_edges(named.n_arms, named.edges)
    partition = Partition(graph, named.blocks)
    for horizon in (3, named.horizon, 10**6):
        plans = [plan(graph, horizon, partition, r) for r in (*named.realizations, "interpolated")]
        plans += [plan(graph, horizon, realization="flat"), plan(graph, horizon)]
        for made in plans:
            if made.bound.certified:
                assert failing(made) == []
    assert holds(plan(graph))


@settings(deadline=None, derandomize=True, max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([5, 10**3, 10**6]))
def test_accepts_random_graphs(seed, horizon):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    A = rng.random((n, n)) < rng.choice([0.1, 0.3, 0.8])
    for v in range(n):
        if not A[:, v].any():
            A[rng.integers(n), v] = True
    graph = FeedbackGraph.from_adjacency(A)
    for realization in ("auto", "flat", "interpolated"):
        assert failing(plan(graph, horizon, realization=realization)) == []
    assert failing(plan(graph)) == []


RARELY = FeedbackGraph.from_edges(
    3, [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1), (2, 2)], probabilities=[0.01, 1, 1, 1, 1, 1, 0.01]
)


def test_a_plan_whose_reveals_fail_rarely_is_accepted_and_its_policy_loads():
    made = plan(RARELY)
    assert failing(made) == []
    policy = made.policy(seed=1)
    assert Policy.from_bytes(policy.to_bytes()).ask() == policy.ask()


def test_what_is_proved_for_certain_reveals_is_not_claimed_for_others():
    """The shift by the mean loss of loop-less arms: not even where the certain edges alone would do."""
    graph = FeedbackGraph.from_edges(2, [(0, 0), (0, 1), (1, 0)], probabilities=[1, 1, 0.5])
    for horizon in (None, 1_000, 100_000):
        assert failing(plan(graph, horizon)) == []


@pytest.mark.parametrize("count", [12, pytest.param(2_000, marks=pytest.mark.full)])
def test_accepts_random_graphs_whose_reveals_fail(count):
    rng = np.random.default_rng(0)
    planned = 0
    while planned < count:
        n = int(rng.integers(2, 7))
        edges = np.argwhere(rng.random((n, n)) < 0.5)
        if np.unique(edges[:, 1]).size < n:
            continue
        graph = FeedbackGraph.from_edges(n, edges, probabilities=rng.choice([0.003, 0.5, 1], size=len(edges)))
        for horizon in (None, 1_000, 100_000):
            assert failing(plan(graph, horizon)) == [], (edges.tolist(), horizon)
        planned += 1


def test_arms_that_are_hardly_ever_seen_are_refused():
    graph = FeedbackGraph.from_edges(2, [(0, 0), (0, 1)], probabilities=[1.0, 1e-9])
    with pytest.raises(UnobservableGraph, match="1 is revealed with probability 1e-09 at most"):
        plan(graph, 1_000)


def test_one_entropy_arm_beside_others_counts():
    """Its part of the entropy peaks at 1/e, not at a corner: slowed down a hundred times it costs a hundred times."""
    made = plan(FeedbackGraph.from_edges(6, cycle(range(6))), 10**5, realization="flat")
    assert failing(made) == []
    assert (made.tuning.inner_power == 0).all()
    slower = made.tuning.inner_rate * np.where(np.arange(6) == 1, 0.01, 1.0)
    assert failing(replace(made, tuning=replace(made.tuning, inner_rate=slower)))


@cache
def examples():
    ring = FeedbackGraph.from_edges(9, cycle(range(9)))
    mixed = FeedbackGraph.from_edges(14, cycle(range(9)) + clique(range(9, 12)) + loops([12, 13]))
    blocks = Partition(mixed, [[*range(9)], [9, 10, 11], [12], [13]])
    return {
        "spread": plan(ring, 10**5, natural.single(ring), "interpolated"),
        "two levels": plan(mixed, 10**5, blocks, "interpolated"),
        "adaptive": plan(mixed, 10**5, blocks, "adaptive"),
        "flat": plan(mixed, 10**5, realization="flat"),
    }


def claiming(made, value):
    """The plan with a smaller claim."""
    return replace(made, curve=replace(made.bound, terms={"claim": value}))


@pytest.mark.parametrize("name", ["spread", "two levels", "adaptive", "flat"])
def test_refuses_smaller_claims(name):
    made = examples()[name]
    assert holds(made)
    assert failing(claiming(made, made.bound.value * 0.5)) == ["computed bound ≤ claimed bound"]


TAMPERED = {
    "slower inside": lambda t: {"inner_rate": t.inner_rate * 0.5},
    "faster inside": lambda t: {"inner_rate": t.inner_rate * 2},
    "less exploration": lambda t: {
        "spread": t.spread * 0.5, "global_exploration": t.global_exploration * 0.5, "adaptive": t.adaptive * 0.5,
    },
    "more exploration": lambda t: {"global_exploration": t.global_exploration + 0.1 / t.n_arms},
}  # fmt: skip


@pytest.mark.parametrize("change", TAMPERED)
@pytest.mark.parametrize("name", ["spread", "two levels", "flat"])
def test_refuses_tampered_tunings(name, change):
    made = examples()[name]
    tampered = replace(made, tuning=replace(made.tuning, **TAMPERED[change](made.tuning)))
    assert "computed bound ≤ claimed bound" in failing(tampered)


def test_refuses_wrong_covers_and_loads():
    made = examples()["spread"]
    t = made.tuning
    assert t.spread[0] > 0
    lowered = replace(t, cover=t.cover * np.where(np.arange(9) == 4, 0.5, 1.0))
    assert "loads are the sums of their cover" in failing(replace(made, tuning=lowered))
    both = replace(t, cover=t.cover * 0.5, load=t.load * 0.5)
    assert "every load is at least 1 (LP, Hölder)" in failing(replace(made, tuning=both))


def test_refuses_top_levels_that_do_not_follow():
    made = examples()["two levels"]
    t = made.tuning
    assert failing(replace(made, tuning=replace(t, top_rate=t.top_rate * 3)))
    assert failing(replace(made, tuning=replace(t, local_exploration=t.local_exploration * 0.3)))
    nothing = replace(t, local_exploration=np.zeros(14))
    assert "arms of weak blocks that are not watched" in failing(replace(made, tuning=nothing))
    entropy = replace(t, top_power=np.zeros(4))
    assert "top potentials of the wrong kind" in failing(replace(made, tuning=entropy))
    mixed = t.inner_rate.copy()
    mixed[3] *= 1.01
    assert "potentials inside one of several blocks" in failing(
        replace(made, tuning=replace(t, inner_rate=mixed))
    )


def test_refuses_wrong_parents_and_blocks():
    made = examples()["adaptive"]
    t = made.tuning
    parent = t.parent.copy()
    parent[0] = 3  # does not reveal arm 0
    assert "arms of weak blocks that are not watched" in failing(
        replace(made, tuning=replace(t, parent=parent))
    )
    other = Partition(made.graph, [[*range(9)], [9, 10, 11, 12], [13]])
    assert "blocks played that are not the partition's" in failing(replace(made, partition=other))


def test_refuses_fixed_rates_for_any_number_of_rounds():
    made = plan(FeedbackGraph.from_edges(9, cycle(range(9))))
    assert holds(made)
    fixed = replace(made, tuning=replace(made.tuning, self_tuning=None))
    assert failing(fixed) == ["rounds of a plan at fixed rates, without end"]


def test_heights_by_hand():
    """n equal coordinates −√x/η: √n/η; entropy: log n/η from three coordinates on, n/e below beside a free one."""
    assert _height([(9, 2.0, 0.5)]) == pytest.approx(3 / 0.25)
    assert _height([(5, 0.0, 0.1)]) == pytest.approx(10 * np.log(5))
    assert _corner(2.0, 0.5) == pytest.approx(4.0)
    assert _height([(1, 0.0, 1.0), (1, 2.0, 1e9)]) == pytest.approx(1 / np.e, rel=1e-6)
    assert _height([(9, 2.0, 0.5), (16, 2.0, 0.25)]) == pytest.approx(np.hypot(3 / 0.25, 4 / 0.125))


def test_needs_a_plan():
    with pytest.raises(InvalidOption, match="needs a Plan"):
        check_certificate("plan")


def test_believes_no_clique_that_is_none():
    """Four cliques of three: told that one clique holds all arms, the checker proves nothing from it."""
    graph = FeedbackGraph.from_adjacency(np.kron(np.eye(4, dtype=bool), np.ones((3, 3), dtype=bool)))
    made = plan(graph, 10**4, realization="fixed")
    assert mutual_independence(graph, made.details.evidence) == 4
    honest = made.details.evidence
    one = replace(
        honest.mutual, clique_start=np.array([0, 12]), clique_arms=np.arange(12), weights=np.ones(1)
    )
    light = replace(honest.mutual, weights=honest.mutual.weights * 0.5)
    for forged in (one, light):
        evidence = replace(honest, mutual=forged)
        assert mutual_independence(graph, evidence) == 12
        trusting = replace(made, details=replace(made.details))
        trusting.details.__dict__["evidence"] = evidence
        assert "computed bound ≤ claimed bound" in failing(trusting)


def test_proves_independence_numbers_that_cliques_cannot():
    """Two five-cycles that go one way: cliques of two prove 6, exhaustion 4."""
    edges = cycle(range(5)) + cycle(range(5, 10)) + loops(range(10))
    graph = FeedbackGraph.from_edges(10, edges)
    assert independence(graph, clique_cover(graph)) == independence_number(graph).upper == 4


@pytest.mark.parametrize("seed", range(8))
def test_exhaustion_agrees_with_the_independence_number(seed):
    rng = np.random.default_rng(seed)
    A = rng.random((30, 30)) < (0.05, 0.1, 0.3, 0.6)[seed % 4]
    A = (A | A.T) & ~np.eye(30, dtype=bool)
    alpha = independence_number(FeedbackGraph.from_adjacency(A | np.eye(30, dtype=bool))).upper
    adjacent = sparse.csr_array(A.astype(np.int64))
    assert _has_none_larger(adjacent, alpha)
    assert not _has_none_larger(adjacent, alpha - 1)
