"""Players of one's own: what they are told, how they are made, and whose fault it is when they fail."""

import numpy as np
import own_players as own
import pytest
from numpy.testing import assert_array_equal

import sidelight as sl
from sidelight.policy.own import Heard, Own, is_own, playable
from sidelight.testing import check_player, check_policy

CYCLE = sl.families.cycle(6)


def played(make, rounds=200, **options):
    return sl.simulate(playable(make, make.__name__, CYCLE, rounds), "gap:0.3", 3, rounds, **options)


def test_forms_of_turns_are_the_same_game():
    first = played(own.Learner)
    for make in (own.WithArrays, own.Decides):
        assert_array_equal(played(make).cost, first.cost)
    assert first.bound is None
    assert first.plan.realization == "Learner"


def test_seeds_are_those_of_the_players():
    run = played(own.Learner)
    for seed in range(3):
        environment = sl.environments.parse("gap:0.3", CYCLE, 200)
        player, cost = own.Learner(CYCLE, 200, seed), 0.0
        for t in range(200):
            arm = player.ask()
            arms = CYCLE.out_neighbors(arm)
            player.tell(dict(zip(arms.tolist(), environment.losses(seed, t, arms), strict=True)))
            cost += environment.costs(seed, t, arm)
        assert run.cost[seed, -1] == cost


def test_losses_by_arm_and_as_an_array():
    heard = Heard([3, 1], np.array([0.5, np.nan]))
    assert heard == {3: 0.5}
    assert_array_equal(np.asarray(heard), [0.5, np.nan])
    assert_array_equal(np.zeros(2) + heard, [0.5, np.nan])
    assert np.asarray(heard, dtype=np.float32).dtype == np.float32


def test_reveals_that_fail_are_left_out():
    graph, sizes = sl.families.faulty(CYCLE, 0.5), set()

    class Listens(own.Learner):
        def ask(self):
            return 0

        def tell(self, losses):
            sizes.add(len(losses))
            assert np.asarray(losses).size == 2

    sl.simulate(playable(Listens, "listens", graph, 50), "gap", 2, 50)
    assert sizes == {0, 1, 2}


MAKERS = {
    "class": own.Learner,
    "function": lambda graph, horizon, seed: own.Learner(graph, horizon, seed),
    "other names": lambda g, T, s: own.Learner(g, T, s),
    "other order": lambda seed, graph, horizon: own.Learner(graph, horizon, seed),
    "keywords": lambda **given: own.Learner(**given),
    "without horizon": lambda graph, seed: own.Learner(graph, 0, seed),
    "with more": lambda graph, horizon, seed, rate=0.1: own.Learner(graph, horizon, seed),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_constructors(make):
    assert is_own(make)
    made = playable(make, "mine", CYCLE, 100)
    assert isinstance(made, Own)
    ours, theirs = (
        sl.simulate(each, "gap", 2, 100) for each in (made, playable(own.Learner, "", CYCLE, 100))
    )
    assert_array_equal(ours.cost, theirs.cost)


def test_factories_of_plans_and_policies_are_compiled():
    plan = playable(lambda graph, horizon: sl.plan(graph, horizon), "mine", CYCLE, 100)
    assert isinstance(plan, sl.Plan)
    policy = playable(lambda graph, horizon, seed: sl.plan(graph, horizon).policy(seed), "mine", CYCLE, 100)
    assert isinstance(policy, sl.Policy)
    assert_array_equal(sl.simulate(policy, "gap", 2, 100).cost, sl.simulate(plan, "gap", 2).cost)


def test_a_plan_that_does_not_apply_says_so_itself():
    with pytest.raises(sl.InfeasibleRequest):
        playable(lambda graph, horizon: sl.baselines.hedge(graph, horizon), "mine", CYCLE, 100)


def line_in(make, text):
    """The line of this class in its file that holds `text`."""
    import inspect

    lines, first = inspect.getsourcelines(make)
    return first + next(at for at, line in enumerate(lines) if text in line)


@pytest.mark.parametrize(
    ("make", "message", "text"),
    [
        (
            own.Breaks,
            r"Breaks\.tell\(\) failed in round \d+ of seed 0: ZeroDivisionError: it was",
            "raise Zero",
        ),
        (own.Deep, r"Deep\.tell\(\) failed in round 1 of seed 0: LinAlgError", "linalg"),
        (
            own.WrongArm,
            r"WrongArm\.ask\(\) must return an arm, .* 0 to 5, and returned 6 in round 1",
            "def ask",
        ),
        (own.NoArm, r"NoArm\.ask\(\) must return an arm.* returned None", "def ask"),
        (
            own.CannotBeMade,
            r"cannot be made from \(graph, horizon, seed\): KeyError: 'nothing'",
            "raise KeyError",
        ),
        (own.Leaves, r"Leaves\.ask\(\) failed in round 1 of seed 0: SystemExit: 3", "raise SystemExit"),
    ],
)
def test_mistakes_name_file_line_round_and_seed(make, message, text):
    with pytest.raises(sl.PolicyError, match=message) as refused:
        played(make, jobs=1)
    assert f"own_players.py:{line_in(make, text)}" in str(refused.value)


def test_a_class_that_plays_nothing():
    with pytest.raises(
        sl.PolicyError, match=r"made a PlaysNothing, which plays nothing: it needs the methods ask"
    ):
        played(own.PlaysNothing)
    with pytest.raises(sl.PolicyError, match="made nothing"):
        playable(lambda graph, horizon, seed: None, "mine", CYCLE, 10)


@pytest.mark.parametrize("make", [own.PlaysNothing, own.NoTurns])
def test_a_class_that_plays_nothing_is_refused_before_anything_is_played(make):
    with pytest.raises(
        sl.SpecError, match=r"policies\[1\]: \w+ is a class that plays nothing: it needs .* ask"
    ):
        sl.compare("cycle:6", ["flat", make], "gap", 10, 1)


@pytest.mark.parametrize("make", [own.TurnsFromConstructor, own.Constant])
def test_turns_may_be_given_by_the_constructor_and_arguments_left_out(make):
    (cell,) = sl.compare("cycle:6", [make], "gap", 10, 2).cells
    assert cell.plays.tolist() == [20, 0, 0, 0, 0, 0]


def test_players_that_are_given_ready_made_are_guarded_too():
    class Whole(own.Breaks):
        pending = None

        def copy(self, seed=None):
            return Whole(self.graph, 100, seed)

        def tell(self, losses):
            super().tell(dict(enumerate(np.asarray(losses))))

    player = Whole(CYCLE, 100, 0)
    assert sl.simulate(player, "gap", 1, 5).plan is player
    with pytest.raises(
        sl.PolicyError, match=r"Whole\.tell\(\) failed in round 26 of seed 0: Zero.*own_players"
    ):
        sl.simulate(player, "gap", 1, 100)


def test_late_losses_need_decisions():
    assert played(own.Decides, delay=3).complete
    with pytest.raises(sl.InvalidOption, match="no decide and observe"):
        played(own.Learner, delay=3)


def test_a_class_is_not_simulated_without_its_graph():
    with pytest.raises(sl.InvalidOption, match=r"sl\.compare makes players"):
        sl.simulate(own.Learner, "gap", horizon=10)


# -- the suite ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [own.Learner, own.WithArrays, own.Decides])
def test_players_that_are_right_pass(make):
    check_player(make, "cycle:6")
    check_player(make, sl.families.loopy_star(5), horizon=50)


@pytest.mark.parametrize(
    ("make", "message"),
    [(own.Global, "global random state"), (own.Shared, "side by side, played differently")],
)
def test_players_that_are_wrong_do_not(make, message):
    with pytest.raises(AssertionError, match=message):
        check_player(make, "cycle:6")


def test_plans_have_a_suite_of_their_own():
    with pytest.raises(AssertionError, match="need no check"):
        check_player(lambda graph, horizon: sl.plan(graph, horizon), "cycle:6")


def test_players_given_to_the_wrong_function_are_sent_to_the_right_one():
    with pytest.raises(AssertionError, match=r"make\(0\) failed: .*put to check_player\(make, graph\)"):
        check_policy(own.Learner, "cycle:6")
    with pytest.raises(sl.InvalidOption, match=r"got Learner; sl\.compare makes players of one's own"):
        sl.simulate(own.Learner(CYCLE, 10, 0), "gap", 1, 10)
