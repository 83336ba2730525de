"""One state: copies, pickles, files and bytes go on bit for bit, with open decisions; saving changes nothing."""

import copy
import pickle

import numpy as np
import pytest
from dozen import every_case
from policy_kinds import KINDS, losses_of, playable
from snapshots import snapshot

import sidelight as sl
from sidelight import families
from sidelight.graph.altered import with_loops

CHANGING = ("self-tuning", "self-tuning entropy", "exp3_ix")
"""Kinds that also play graphs that change."""


def graphs_of(n):
    return [with_loops(families.cycle(n)), families.full(n), None]


def answer(policy, decision):
    losses = losses_of(decision.round, policy.graph.n_arms)
    policy.observe(decision, losses[decision.reveals])


def step(policy, t, graphs=(None,)):
    """A decision, and the answer to one that is open; what could be seen of it."""
    graph = graphs[t % len(graphs)]
    decision = policy.decide() if graph is None else policy.decide(graph=graph)
    waiting = policy.open
    if len(waiting) > 3:
        answer(policy, waiting[(7 * t) % len(waiting)])
    if t % 11 == 5:
        policy.cancel(policy.open[0])
    return decision.arm, decision.probability, decision.seen.tolist(), policy.round


def begun(kind, rounds=40, pending=False, graphs=(None,)):
    policy = playable(kind).policy(seed=5)
    for t in range(rounds):
        step(policy, t, graphs)
    if pending:
        policy.ask()
    return policy


WAYS = {
    "copy": lambda policy, path: policy.copy(),
    "copy.copy": lambda policy, path: copy.copy(policy),
    "deepcopy": lambda policy, path: copy.deepcopy(policy),
    "pickle": lambda policy, path: pickle.loads(pickle.dumps(policy)),
    "file": lambda policy, path: (policy.save(path), sl.Policy.load(path))[1],
    "bytes": lambda policy, path: sl.Policy.from_bytes(policy.to_bytes()),
}


def check_goes_on(policy, tmp_path, graphs=(None,)):
    before = snapshot(policy)
    twins = [way(policy, tmp_path / "policy") for way in WAYS.values()]
    assert snapshot(policy) == before
    for name, twin in zip(WAYS, twins, strict=True):
        assert snapshot(twin) == before, name
        assert twin.probabilities.tobytes() == policy.probabilities.tobytes(), name
        assert twin.to_bytes() == policy.to_bytes(), name
    for everyone in [policy, *twins]:
        if everyone.pending is not None:
            arm = everyone.pending
            losses = losses_of(0, everyone.graph.n_arms)[everyone.graph.out_neighbors(arm)]
            everyone.tell(losses)
    played = [step(policy, t, graphs) for t in range(40)]
    for name, twin in zip(WAYS, twins, strict=True):
        assert [step(twin, t, graphs) for t in range(40)] == played, name
        assert snapshot(twin) == snapshot(policy), name


@every_case
@pytest.mark.parametrize("pending", [False, True], ids=["open", "asked"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_goes_on_bit_for_bit(kind, pending, tmp_path):
    check_goes_on(begun(kind, pending=pending), tmp_path)


@pytest.mark.parametrize("kind", CHANGING)
def test_graphs_that_change_go_on_bit_for_bit(kind, tmp_path):
    graphs = graphs_of(playable(kind).graph.n_arms)
    check_goes_on(begun(kind, graphs=graphs), tmp_path, graphs)


@pytest.mark.parametrize("kind", KINDS)
def test_looking_changes_nothing(kind):
    policy = begun(kind, pending=True)
    before = snapshot(policy)
    _ = policy.open, policy.probabilities, policy.certificate(), policy.ledger(0), policy.summary()
    policy.to_bytes()
    assert snapshot(policy) == before


def test_a_twin_shares_nothing(tmp_path):
    for name, way in WAYS.items():
        policy = begun("self-tuning")
        twin, before = way(policy, tmp_path / "policy"), snapshot(policy)
        for t in range(20):
            step(twin, t)
        assert snapshot(policy) == before, name


# -- what is likely ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_are_those_of_the_next_decision(kind):
    """Exactly, while others are open."""
    policy = playable(kind).policy(seed=5)
    for t in range(60):
        likely = policy.probabilities
        decision = policy.decide()
        assert decision.probability == pytest.approx(likely[decision.arm], rel=1e-12, abs=1e-15)
        assert policy.decision(decision.id).probability == decision.probability
        if t % 3:
            answer(policy, policy.open[t % len(policy.open)])


@pytest.mark.parametrize("kind", CHANGING)
def test_the_probability_of_an_arm_on_a_graph_that_changes(kind):
    """As often as it says: seeded copies play an arm in proportion to it."""
    policy = playable(kind).policy(seed=5)
    graphs = graphs_of(policy.graph.n_arms)[:2]
    for t in range(30):
        step(policy, t, graphs)
    said, counts = np.zeros(policy.graph.n_arms), np.zeros(policy.graph.n_arms)
    for seed in range(3000):
        decision = policy.copy(seed).decide(graph=graphs[0])
        said[decision.arm] = decision.probability
        counts[decision.arm] += 1
    assert said.sum() == pytest.approx(1.0, abs=1e-9)
    assert np.abs(counts / 3000 - said).max() < 0.04


@pytest.mark.parametrize("kind", KINDS)
def test_asking_leaves_probabilities_until_something_happens(kind):
    policy = playable(kind).policy(seed=5)
    for t in range(40):
        before = policy.probabilities
        arm = policy.ask()
        assert (policy.probabilities == before).all()
        assert policy.open[-1].probability == pytest.approx(before[arm], rel=1e-12)
        policy.tell(losses_of(t, policy.graph.n_arms)[policy.graph.out_neighbors(arm)])
