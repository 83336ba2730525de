"""What a file holds of a plan: the cumulative estimates, as a game kept by hand has them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from policy_kinds import losses_of, played
from saved_files import contents, rounding

import sidelight as sl
from sidelight.engine.state import learnt, rebuilt


def kept_by_hand(plan, rounds):
    """A policy, Σ (ℓ − c)/P of every arm, Σ Σ_j X̃(j)ℓ̂(j) of every block, and Σ ⟨ℓ̂, X⟩ of every block."""
    g, t = plan.graph, plan.tuning
    policy, estimates = plan.policy(seed=5), np.zeros(g.n_arms)
    blocks, paid = np.zeros(t.n_blocks), np.zeros(t.n_blocks)
    for index in range(rounds):
        p, X = policy.probabilities, policy._game.inside_probabilities
        mixed = (1 - np.bincount(t.block_of, t.local_exploration))[t.block_of] * X + t.local_exploration
        arm, shift = policy.ask(), policy._game._now.shift
        seen, losses = g.out_neighbors(arm), losses_of(index, g.n_arms)
        estimate = np.zeros(g.n_arms)
        estimate[seen] = [(losses[j] - shift) / p[g.in_neighbors(j)].sum() for j in seen]
        policy.tell(losses[seen])
        estimates += estimate
        blocks += np.bincount(t.block_of, mixed * estimate)
        paid += np.bincount(t.block_of, X * estimate)
    return policy, estimates, blocks, paid


PLANS = {
    "bandit": lambda: sl.plan(sl.families.mab(6), 500),
    "many arms, in buckets": lambda: sl.plan(sl.families.mab(60), 500),
    "one block": lambda: sl.plan(sl.families.cycle(5), 500, realization="flat"),
    "local exploration": lambda: sl.plan(sl.families.cliques([3, 4]), 5000, realization="clustered"),
    "adaptive": lambda: sl.plan(sl.families.cliques([3, 4]), 5000, realization="adaptive"),
    "several potentials": lambda: sl.plan(sl.families.corrupted_mab(9, 3), 500, realization="flat"),
}


@pytest.mark.parametrize("name", PLANS)
def test_the_sums_in_the_file_are_those_of_the_game(name, tmp_path):
    plan = PLANS[name]()
    t = plan.tuning
    policy, estimates, blocks, paid = kept_by_hand(plan, 120)
    policy.save(tmp_path / "policy")
    _, arrays = contents(tmp_path / "policy")
    shared = t.sizes > 1
    least, _, explored = arrays["state.totals"]
    found = arrays["state.arm_sums"] + arrays["state.arm_least"][t.block_of]
    assert_allclose(found[shared[t.block_of]], estimates[shared[t.block_of]], rtol=1e-9)
    assert_allclose(arrays["state.block_sums"] + least, blocks, rtol=1e-9)
    assert_allclose(arrays["state.arm_paid"][shared], paid[shared], rtol=1e-9)
    assert explored <= 60
    assert arrays["state.counts"].tolist() == [120, 0]


@pytest.mark.parametrize(
    "kind", ["auto cliques", "auto bandit buckets", "hybrid", "flat mixed", "universal arms", "fallen"]
)
def test_rebuilding_changes_nothing_but_rounding(kind):
    policy = played(kind, 200)
    tuning = policy.plan.tuning
    state = learnt(policy._game.memory, tuning)
    again = policy.copy()
    again._game.go_on_from(state)
    for part in ("block_probabilities", "inside_probabilities"):
        assert_allclose(getattr(again._game, part), getattr(policy._game, part), rtol=1e-12)
    assert_allclose(again.probabilities, policy.probabilities, rtol=rounding(policy.plan))
    assert_allclose(again._game.ledger(1), policy._game.ledger(1), rtol=1e-10, atol=1e-10)
    again = learnt(again._game.memory, tuning)
    for name in state._fields:
        assert_allclose(getattr(again, name), getattr(state, name), rtol=1e-13, err_msg=name)


def test_rebuilding_is_a_function_of_what_was_learnt():
    """Whatever the way to the same sums, the engine that is built from them is the same to the last bit."""
    policy = played("auto bandit buckets", 90)
    tuning = policy.plan.tuning
    state = learnt(policy._game.memory, tuning)
    one, two = (rebuilt(policy.graph, tuning, state) for _ in range(2))
    assert_array_equal(one.floats, two.floats)
    assert_array_equal(one.ints, two.ints)


@pytest.mark.parametrize("horizon", [None, 300])
def test_what_late_answers_leave_is_loaded(horizon):
    """Rounds that were drawn freely and are charged late may leave less than no allowance."""
    plan = sl.plan(sl.families.cycle(3, directed=True), horizon=horizon)
    for seed in range(6):
        policy = plan.policy(seed=seed)
        decisions = policy.decide(count=25)
        for decision in decisions[seed % 3 :]:
            policy.observe(decision, [1.0])
        data = policy.to_bytes()
        assert sl.Policy.from_bytes(data).to_bytes() == data


def test_policies_of_one_plan_share_it_when_they_are_loaded():
    """A service with a thousand policies of one plan holds it once."""
    plan = sl.plan(sl.families.cycle(6), 2000)
    one, two = (sl.Policy.from_bytes(plan.policy(seed).to_bytes()) for seed in (1, 2))
    assert one.plan is two.plan
    named = sl.FeedbackGraph.from_edges(6, plan.graph.edges(), labels=list("abcdef"))
    assert sl.Policy.from_bytes(sl.plan(named, 2000).policy(seed=1).to_bytes()).graph.labels == tuple(
        "abcdef"
    )
    assert sl.Policy.from_bytes(plan.policy(seed=3).to_bytes()).graph.labels is None
