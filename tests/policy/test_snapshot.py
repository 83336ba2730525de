"""Snapshots: a policy goes on from one bit for bit, and takes none that is another's."""

import numpy as np
import own_players as own
import pytest
from numpy.testing import assert_array_equal
from policy_kinds import KINDS, playable, played, turn

import sidelight as sl
from sidelight import families
from sidelight.graph.repair import with_loops
from sidelight.policy.snapshot import restore, snapshot


def assert_same(one, two):
    """All memory, not only what the next round needs."""
    first, second = snapshot(one), snapshot(two)
    assert first.keys() == second.keys()
    for name, array in first.items():
        assert_array_equal(array, second[name], err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_a_policy_goes_on_bit_for_bit(kind):
    policy = played(kind, 70)
    kept = snapshot(policy)
    arms = [turn(policy) for _ in range(70)]
    again = playable(kind).policy(seed=99)
    restore(again, kept)
    assert [turn(again) for _ in range(70)] == arms
    assert_same(again, policy)
    assert again.round == 140
    assert_array_equal(again.ledger_parts(0), policy.ledger_parts(0))
    assert again.certificate().value == policy.certificate().value or not policy.certificate().certified


@pytest.mark.parametrize("kind", ["self-tuning", "exp3_ix"])
def test_on_graphs_that_change(kind):
    plan = playable(kind)
    n = plan.graph.n_arms
    others = [with_loops(families.cycle(n)), families.full(n)]

    def on(policy, t):
        arm = policy.ask(graph=others[t % 2])
        policy.tell(np.full(others[t % 2].out_degree[arm], 0.5 * (arm % 3)))
        return arm

    policy = plan.policy(seed=1).for_changes()
    for t in range(40):
        on(policy, t)
    again = plan.policy(seed=2).for_changes()
    restore(again, snapshot(policy))
    assert [on(again, t) for t in range(40, 80)] == [on(policy, t) for t in range(40, 80)]
    assert_same(again, policy)


def test_a_snapshot_is_shared_with_nobody():
    policy = played("auto cycle", 20)
    kept = snapshot(policy)
    before = {name: array.copy() for name, array in kept.items()}
    again = playable("auto cycle").policy(seed=0)
    restore(again, kept)
    turn(policy), turn(again)
    for name, array in kept.items():
        assert_array_equal(array, before[name])


def test_open_decisions_and_other_players_have_none():
    policy = played("auto cycle", 5, pending=True)
    assert snapshot(policy) is None
    player = own.Learner(families.cycle(6), 100, 1)
    assert snapshot(player) is None
    with pytest.raises(ValueError, match="Learner has no snapshots"):
        restore(player, {})


def forged(kept, name, change):
    return kept | {name: change(kept[name])}


@pytest.mark.parametrize(
    "change",
    [
        lambda kept: {},
        lambda kept: {name: array for name, array in kept.items() if name != "words"},
        lambda kept: kept | {"more": np.zeros(1)},
        lambda kept: forged(kept, "floats", lambda array: array[:-1]),
        lambda kept: forged(kept, "ints", lambda array: array.astype(float)),
        lambda kept: forged(kept, "fixed", lambda array: array ^ 1),
        lambda kept: forged(kept, "progress", lambda array: array[:-1]),
        lambda kept: snapshot(played("auto cliques", 20)),
        lambda kept: snapshot(played("exp3_ix", 20)),
    ],
)
def test_what_is_not_of_this_plan_is_refused(change):
    kept = snapshot(played("auto cycle", 20))
    with pytest.raises(ValueError, match=r"."):
        restore(sl.plan(families.cycle(8), 2000).policy(seed=0), change(kept))
