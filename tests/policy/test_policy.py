"""Turn order, feedback and seeds: what is refused is refused by name and leaves no trace."""

import collections
import copy
import functools
import pickle
import re

import numpy as np
import pytest
from numba import typeof
from numpy.testing import assert_array_equal

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


def everything(policy, folder):
    """The whole policy, bit for bit: what `save` writes."""
    policy.save(folder / "snapshot")
    return (folder / "snapshot").read_bytes()


def assert_untouched(disturbed, clone, folder):
    """Both are the same policy now, and go on to be."""
    assert disturbed.pending == clone.pending
    assert disturbed.round == clone.round
    assert_array_equal(disturbed.probabilities, clone.probabilities)
    assert_array_equal(disturbed._game.block_probabilities, clone._game.block_probabilities)
    assert everything(disturbed, folder) == everything(clone, folder)
    g = clone.graph
    for t in range(100, 130):
        arms = []
        for policy in (disturbed, clone):
            arm = policy.ask() if policy.pending is None else policy.pending
            policy.tell(losses_of(t, g.n_arms)[g.out_neighbors(arm)])
            arms.append(arm)
        assert arms[0] == arms[1]
        assert_array_equal(disturbed.probabilities, clone.probabilities)


# -- a round ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("g", (GRAPHS | SILENT).values(), ids=GRAPHS | SILENT)
def test_one_round(g):
    policy = plan_of(g).policy(seed=1)
    assert (policy.round, policy.pending) == (0, None)
    before = policy.probabilities
    arm = policy.ask()
    assert type(arm) is int
    assert 0 <= arm < g.n_arms
    assert (policy.round, policy.pending) == (0, arm)
    assert_array_equal(policy.probabilities, before)  # asking does not change the distribution it drew from
    policy.tell(np.ones(g.out_degree[arm]))
    assert (policy.round, policy.pending) == (1, None)
    assert f"round={policy.round}" in repr(policy)


def test_views_are_copies(tmp_path):
    policy, clone = (played(GRAPHS["cliques"], 5) for _ in range(2))
    policy.probabilities[:] = 7
    policy._game.block_probabilities[:] = 7
    assert_untouched(policy, clone, tmp_path)


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


@pytest.mark.parametrize("g", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize(
    "travel", [lambda p: pickle.loads(pickle.dumps(p)), copy.deepcopy], ids=["pickle", "copy"]
)
def test_policies_travel_in_the_middle_of_a_game(g, travel):
    """Pickled or copied with an arm pending, a policy plays on as if nothing had happened."""
    here = plan_of(g).policy(seed=2)
    for t in range(5):
        here.tell(losses_of(t, g.n_arms)[g.out_neighbors(here.ask())])
    here.ask()
    there = travel(here)
    for t in range(5, 25):
        for policy in (here, there):
            policy.tell(losses_of(t, g.n_arms)[g.out_neighbors(policy.pending)])
        assert here.ask() == there.ask()
    assert_array_equal(here.probabilities, there.probabilities)
    assert typeof(there._game.memory) == typeof(here._game.memory)  # so nothing is compiled a second time


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


# -- turn order -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("g", (GRAPHS | SILENT).values(), ids=GRAPHS | SILENT)
@pytest.mark.parametrize("rounds", [0, 7])
def test_turns_alternate(g, rounds, tmp_path):
    policy, clone = (played(g, rounds) for _ in range(2))
    with pytest.raises(sl.TurnError, match="ask"):
        policy.tell({})  # before asking
    assert_untouched(policy, clone, tmp_path)

    policy, clone = (played(g, rounds) for _ in range(2))
    arm = policy.ask()
    assert clone.ask() == arm
    for _ in range(2):
        with pytest.raises(sl.TurnError, match=rf"\b{arm}\b"):  # asking twice
            policy.ask()
    assert_untouched(policy, clone, tmp_path)

    policy, clone = (played(g, rounds) for _ in range(2))
    for each in (policy, clone):
        arm = each.ask()
        each.tell(np.ones(g.out_degree[arm]))
    with pytest.raises(sl.TurnError, match="ask"):  # telling twice
        policy.tell(np.ones(g.out_degree[arm]))
    assert_untouched(policy, clone, tmp_path)


def test_wrong_turn_is_noticed_before_wrong_feedback():
    with pytest.raises(sl.TurnError):
        played(GRAPHS["cliques"], 3).tell("nonsense")


# -- refused feedback -------------------------------------------------------------------------------------

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
@pytest.mark.parametrize("form", ["dict", "list", "array"])
@pytest.mark.parametrize("g", GRAPHS.values(), ids=GRAPHS)
def test_losses_outside_the_unit_interval(g, form, value, shown, tmp_path):
    policy, clone = (played(g, 4) for _ in range(2))
    clone.ask()
    arms = g.out_neighbors(policy.ask()).tolist()
    wrong = arms[-1]
    told = {j: value if j == wrong else 0.5 for j in arms}
    if form != "dict":
        told = list(told.values())
    if form == "array":
        told = np.array(told, dtype=float)
    with pytest.raises(sl.InvalidFeedback, match=rf"arm {wrong}\b.*{re.escape(shown)}"):
        policy.tell(told)
    assert_untouched(policy, clone, tmp_path)


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
@pytest.mark.parametrize("form", ["dict", "list"])
def test_losses_that_are_not_numbers(form, value, shown, tmp_path):
    g = GRAPHS["cliques"]
    policy, clone = (played(g, 4) for _ in range(2))
    clone.ask()
    arms = g.out_neighbors(policy.ask()).tolist()
    told = {j: value if j == arms[-1] else 0.5 for j in arms}
    with pytest.raises(sl.InvalidFeedback, match=re.escape(shown)) as refused:
        policy.tell(told if form == "dict" else list(told.values()))
    assert re.search(rf"arm {arms[-1]}\b", str(refused.value)), "the message names the arm"
    assert_untouched(policy, clone, tmp_path)


SHAPES = {
    "empty": lambda k: [],
    "one short": lambda k: [0.5] * (k - 1),
    "one more": lambda k: [0.5] * (k + 1),
    "scalar": lambda k: 0.5,
    "row": lambda k: np.full((1, k), 0.5),
    "column": lambda k: np.full((k, 1), 0.5),
    "zero by k": lambda k: np.empty((0, k)),
    "ragged": lambda k: [[0.5]] * (k - 1) + [[0.5, 0.5]],
    "None": lambda k: None,
    "text": lambda k: "0.5",
    "set": lambda k: {0.5},
    "generator": lambda k: (0.5 for _ in range(k)),
    "object": lambda k: object(),
    "dates": lambda k: np.zeros(k, dtype="M8[s]"),
    "complex array": lambda k: np.full(k, 0.5 + 0j),
    "text array": lambda k: np.full(k, "0.5"),
}


@pytest.mark.parametrize("told", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("g", GRAPHS.values(), ids=GRAPHS)
def test_feedback_of_the_wrong_shape_or_kind(g, told, tmp_path):
    policy, clone = (played(g, 4) for _ in range(2))
    clone.ask()
    revealed = g.out_degree[policy.ask()]
    with pytest.raises(sl.InvalidFeedback):
        policy.tell(told(revealed))
    assert_untouched(policy, clone, tmp_path)


@pytest.mark.parametrize("g", GRAPHS.values(), ids=GRAPHS)
def test_mappings_over_other_arms(g, tmp_path):
    policy, clone = (played(g, 4) for _ in range(2))
    clone.ask()
    arm = policy.ask()
    arms = g.out_neighbors(arm).tolist()
    hidden = [j for j in range(g.n_arms) if j not in arms]
    right = dict.fromkeys(arms, 0.5)
    missing = dict.fromkeys(arms[1:], 0.5)
    refused = [
        (missing, arms[0]),
        ({}, arms[0]),
        (right | {g.n_arms: 0.5}, g.n_arms),
        (right | {-1: 0.5}, -1),
        (right | {"best": 0.5}, "best"),
        (missing | {str(arms[0]): 0.5}, arms[0]),
        (collections.Counter(missing), arms[0]),
    ]
    refused += [(right | {j: 0.5}, j) for j in hidden]
    refused += [(missing | {j: 0.5}, arms[0]) for j in hidden]
    for told, named in refused:
        with pytest.raises(sl.InvalidFeedback, match=rf"arm {arm}\b.*(?<!\d){named}\b"):
            policy.tell(told)
    assert_untouched(policy, clone, tmp_path)


def test_a_dict_with_defaults_does_not_invent_losses(tmp_path):
    """A loss that was not told is missing, even where indexing the mapping would make one up."""
    policy, clone = (played(GRAPHS["cliques"], 4) for _ in range(2))
    clone.ask()
    policy.ask()
    told = collections.defaultdict(float)
    with pytest.raises(sl.InvalidFeedback):
        policy.tell(told)
    assert not told, "the caller's mapping is left alone"
    assert_untouched(policy, clone, tmp_path)


def test_refused_feedback_can_be_told_again():
    """After any number of refusals the right losses are accepted, as if nothing had happened."""
    g = GRAPHS["corrupted_full"]
    policy, clone = (played(g, 0) for _ in range(2))
    for t in range(30):
        arm = policy.ask()
        assert clone.ask() == arm
        losses = losses_of(t, g.n_arms)[g.out_neighbors(arm)]
        for wrong in (losses + 2, losses[:-1], {arm: None}, [np.nan] * losses.size):
            with pytest.raises(sl.InvalidFeedback):
                policy.tell(wrong)
        policy.tell(losses)
        clone.tell(losses)
        assert_array_equal(policy.probabilities, clone.probabilities)


def test_ledger_refuses_arms_that_do_not_exist():
    policy = played(GRAPHS["cliques"], 3)
    for arm in (-1, 7, 10**30):
        with pytest.raises(sl.InvalidOption, match=str(arm)):
            policy.ledger(arm)


# -- seeds ------------------------------------------------------------------------------------------------


def arms_of(plan, seed, rounds=60):
    policy = plan.policy(seed=seed)
    arms = []
    for t in range(rounds):
        arms.append(policy.ask())
        policy.tell(losses_of(t, plan.graph.n_arms)[plan.graph.out_neighbors(arms[-1])])
    return arms


@pytest.mark.parametrize("g", (GRAPHS | SILENT).values(), ids=GRAPHS | SILENT)
def test_same_seed_same_arms(g):
    plan = plan_of(g)
    assert arms_of(plan, 5) == arms_of(plan, 5) == arms_of(plan, np.int64(5)) == arms_of(plan, np.uint8(5))
    assert arms_of(plan, 5) != arms_of(plan, 6)


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
