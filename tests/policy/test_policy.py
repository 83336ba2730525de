"""Turn order, feedback and seeds: what is refused is refused by name and leaves no trace."""

import collections
import contextlib
import functools
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from snapshots import snapshot

import sidelight as sl

GRAPHS = {
    "cliques": sl.families.cliques([3, 4]),  # weak blocks
    "loopless_clique": sl.families.loopless_clique(4),  # universal arms, not revealed by themselves
    "corrupted_full": sl.families.corrupted_full(6, 2),  # universal arms with loops beside a weak block
    "directed_cycle": sl.families.cycle(5, directed=True),
}
SILENT = {  # most arms reveal nothing
    "revealing_action": sl.families.revealing_action(4),
    "label_efficient": sl.families.label_efficient(3),
}


def losses_of(t, n_arms):
    """Losses of round t: fixed, in [0, 1], different for every arm and round."""
    return np.random.default_rng([t, n_arms]).random(n_arms)


@functools.cache
def plan_of(g):
    return sl.plan(g, horizon=1_000)


def played(g, rounds):
    policy = plan_of(g).policy(seed=3)
    for t in range(rounds):
        policy.tell(losses_of(t, g.n_arms)[g.out_neighbors(policy.ask())])
    return policy


# -- a round ----------------------------------------------------------------------------------------------


def test_views_are_copies():
    policy = played(GRAPHS["cliques"], 5)
    before = snapshot(policy)
    policy.probabilities[:] = 7
    policy._game.block_probabilities[:] = 7
    assert snapshot(policy) == before


def test_losses_are_read_not_kept():
    g = GRAPHS["cliques"]
    policy, clone = (played(g, 5) for _ in range(2))
    told = losses_of(5, g.n_arms)[g.out_neighbors(policy.ask())]
    kept = told.copy()
    policy.tell(told)
    assert_array_equal(told, kept)
    told[:] = 0.5
    clone.ask()
    clone.tell(kept)
    for t in range(6, 20):
        for each in (policy, clone):
            each.tell(losses_of(t, g.n_arms)[g.out_neighbors(each.ask())])
        assert_array_equal(policy.probabilities, clone.probabilities)


@pytest.mark.parametrize("g", GRAPHS.values(), ids=GRAPHS)
def test_every_way_to_tell_is_the_same(g):
    """Dicts in any order with any integers as keys, lists, tuples, arrays of any layout and precision."""

    def strided(values):
        return np.repeat(values, 2)[::2]

    def read_only(values):
        values = values.copy()
        values.flags.writeable = False
        return values

    def unaligned(values):
        room = np.zeros(values.nbytes + 1, dtype=np.uint8)
        moved = room[1:].view(np.float64)
        moved[:] = values
        assert not moved.flags.aligned or not values.size
        return moved

    ways = {
        "array": lambda arms, values: values,
        "unaligned": lambda arms, values: unaligned(values),
        "big-endian": lambda arms, values: values.astype(">f8"),
        "masked": lambda arms, values: np.ma.masked_array(values),
        "list": lambda arms, values: values.tolist(),
        "tuple": lambda arms, values: tuple(values.tolist()),
        "float32": lambda arms, values: values.astype(np.float32),
        "strided": lambda arms, values: strided(values),
        "read-only": lambda arms, values: read_only(values),
        "dict": lambda arms, values: dict(zip(arms.tolist(), values.tolist(), strict=True)),
        "numpy keys": lambda arms, values: dict(zip(arms, values, strict=True)),
        "int64 keys": lambda arms, values: dict(zip(arms.astype(np.int64), values, strict=True)),
        "reversed dict": lambda arms, values: dict(
            zip(arms.tolist()[::-1], values.tolist()[::-1], strict=True)
        ),
    }
    policies = {way: plan_of(g).policy(seed=2) for way in ways}
    for t in range(40):
        values = np.round(losses_of(t, g.n_arms) * 64) / 64  # exact in single precision too
        for way, policy in policies.items():
            arms = g.out_neighbors(policy.ask())
            policy.tell(ways[way](arms, values[arms]))
        reference = policies["array"].probabilities
        for way, policy in policies.items():
            assert_array_equal(policy.probabilities, reference, err_msg=way)


def test_masked_losses_are_missing_ones():
    """What lies under a mask is not an observation."""
    policy = plan_of(GRAPHS["cliques"]).policy(seed=2)
    arms = policy.graph.out_neighbors(policy.ask())
    before = policy.probabilities
    losses = np.ma.masked_array(np.full(arms.size, 0.5), mask=np.arange(arms.size) == 0)
    with pytest.raises(sl.InvalidFeedback, match="masked"):
        policy.tell(losses)
    assert_array_equal(policy.probabilities, before)
    policy.tell(losses.filled(0.25))
    assert policy.round == 1


def test_whole_numbers_and_truth_values_are_losses():
    """0, 1, False and True mean 0.0 and 1.0, in lists, dicts and arrays."""
    g = GRAPHS["cliques"]
    kinds = [float, int, bool, np.uint8]
    policies = [plan_of(g).policy(seed=2) for _ in kinds]
    for t in range(40):
        coins = losses_of(t, g.n_arms) < 0.5
        for kind, policy in zip(kinds, policies, strict=True):
            arms = g.out_neighbors(policy.ask())
            values = [kind(coins[j]) for j in arms]
            policy.tell(values if t % 2 else dict(zip(arms.tolist(), values, strict=True)))
    for policy in policies[1:]:
        assert_array_equal(policy.probabilities, policies[0].probabilities)


@pytest.mark.parametrize("g", SILENT.values(), ids=SILENT)
def test_arms_that_reveal_nothing_are_told_nothing(g):
    policy = sl.plan(g, 1_000, realization="fixed").policy(seed=2)  # a plan that tunes itself may do so then
    nothing = [{}, [], (), np.empty(0)]
    silent = 0
    for _ in range(200):
        before = policy.probabilities
        arm = policy.ask()
        revealed = g.out_neighbors(arm)
        if revealed.size:
            policy.tell(np.zeros(revealed.size))
            continue
        with pytest.raises(sl.InvalidFeedback, match=str(arm)):
            policy.tell({arm: 0.5})
        with pytest.raises(sl.InvalidFeedback, match=str(arm)):
            policy.tell([0.5])
        policy.tell(nothing[silent % len(nothing)])
        assert_array_equal(policy.probabilities, before)
        silent += 1
    assert silent > len(nothing)


# -- refused feedback -------------------------------------------------------------------------------------


def test_wrong_turn_is_noticed_before_wrong_feedback():
    with pytest.raises(sl.TurnError):
        played(GRAPHS["cliques"], 3).tell("nonsense")


@contextlib.contextmanager
def refused(policy, match="."):
    """InvalidFeedback that says so, and not a bit has changed."""
    before = snapshot(policy)
    with pytest.raises(sl.InvalidFeedback, match=match):
        yield
    assert snapshot(policy) == before


BAD_VALUES = {
    "nan": (float("nan"), "nan"),
    "inf": (float("inf"), "inf"),
    "-inf": (float("-inf"), "-inf"),
    "negative": (-0.1, "-0.1"),
    "above one": (1.1, "1.1"),
    "just above one": (np.nextafter(1.0, 2.0), "1.0000000000000002"),
    "just below zero": (-5e-324, "5e-324"),
    "two": (2, "2"),
}


@pytest.mark.parametrize(("value", "shown"), BAD_VALUES.values(), ids=BAD_VALUES)
@pytest.mark.parametrize("g", GRAPHS.values(), ids=GRAPHS)
def test_losses_outside_the_unit_interval(g, value, shown):
    policy = played(g, 4)
    arms = g.out_neighbors(policy.ask()).tolist()
    told = {j: value if j == arms[-1] else 0.5 for j in arms}
    for form in (told, list(told.values()), np.array(list(told.values()), dtype=float)):
        with refused(policy, rf"arm {arms[-1]}\b.*{re.escape(shown)}"):
            policy.tell(form)


NOT_LOSSES = {
    "text": ("0.5", "0.5"),
    "word": ("low", "low"),
    "bytes": (b"0.5", "0.5"),
    "None": (None, "None"),
    "complex": (0.5 + 0.25j, "0.25j"),
    "list": ([0.5], "0.5"),
    "dict": ({}, "{}"),
}


@pytest.mark.parametrize(("value", "shown"), NOT_LOSSES.values(), ids=NOT_LOSSES)
def test_losses_that_are_not_numbers(value, shown):
    policy = played(GRAPHS["cliques"], 4)
    arms = policy.graph.out_neighbors(policy.ask()).tolist()
    told = {j: value if j == arms[-1] else 0.5 for j in arms}
    for form in (told, list(told.values())):
        with refused(policy, rf"arm {arms[-1]}\b.*{re.escape(shown)}"):
            policy.tell(form)


@pytest.mark.parametrize("g", GRAPHS.values(), ids=GRAPHS)
def test_mappings_over_other_arms(g):
    policy = played(g, 4)
    arm = policy.ask()
    arms = g.out_neighbors(arm).tolist()
    hidden = [j for j in range(g.n_arms) if j not in arms]
    right, missing = dict.fromkeys(arms, 0.5), dict.fromkeys(arms[1:], 0.5)
    wrong = [
        (missing, arms[0]),
        ({}, arms[0]),
        (right | {g.n_arms: 0.5}, g.n_arms),
        (right | {-1: 0.5}, -1),
        (right | {"best": 0.5}, "best"),
        (missing | {str(arms[0]): 0.5}, arms[0]),
        (collections.Counter(missing), arms[0]),
        (collections.defaultdict(float), arms[0]),  # indexing would make losses up
    ]
    wrong += [(right | {j: 0.5}, j) for j in hidden]
    wrong += [(missing | {j: 0.5}, arms[0]) for j in hidden]
    for told, named in wrong:
        size = len(told)
        with refused(policy, rf"arm {arm}\b.*(?<!\d){named}\b"):
            policy.tell(told)
        assert len(told) == size, "the caller's mapping is left alone"


# -- seeds ------------------------------------------------------------------------------------------------


def arms_of(plan, seed, rounds=60):
    policy = plan.policy(seed=seed)
    arms = []
    for t in range(rounds):
        arms.append(policy.ask())
        policy.tell(losses_of(t, plan.graph.n_arms)[plan.graph.out_neighbors(arms[-1])])
    return arms


def test_a_seed_is_a_number_of_any_kind():
    plan = plan_of(GRAPHS["cliques"])
    assert arms_of(plan, 5) == arms_of(plan, np.int64(5)) == arms_of(plan, np.uint8(5)) != arms_of(plan, 6)


def test_policies_of_one_plan_do_not_share_anything():
    plan = plan_of(GRAPHS["cliques"])
    alone = arms_of(plan, 5)
    one, other = plan.policy(seed=5), plan.policy(seed=9)
    together = []
    for t in range(60):
        for policy in (other, one):
            arm = policy.ask()
            policy.tell(losses_of(t, 7)[plan.graph.out_neighbors(arm)])
        together.append(arm)
    assert together == alone


def test_large_seeds_are_seeds_of_their_own():
    plan = plan_of(GRAPHS["cliques"])
    seeds = [0, 1, 2**32, 2**63, 2**64, 2**64 + 1, 2**200]
    assert len({tuple(arms_of(plan, seed)) for seed in seeds}) == len(seeds)


def test_no_seed_means_a_new_one():
    plan = plan_of(GRAPHS["cliques"])
    assert arms_of(plan, None) != arms_of(plan, None)  # equal with probability below 7⁻⁵⁰


@pytest.mark.parametrize(
    "seed", [-1, 1.0, 1.5, "7", b"7", True, [1], (1, 2), {}, np.nan, np.int64(-3)], ids=repr
)
def test_bad_seeds(seed):
    plan = plan_of(GRAPHS["cliques"])
    with pytest.raises(sl.InvalidOption, match=re.escape(repr(seed))):
        plan.policy(seed=seed)
