"""Players of one's own: what they are told, how they are made, and whose fault it is when they fail."""

import numpy as np
import own_players as own
import pytest
from numpy.testing import assert_array_equal

import sidelight as sl
from sidelight.graph.altered import with_loops
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
    with pytest.raises(sl.errors.PolicyError, match=message) as refused:
        played(make, jobs=1)
    assert f"own_players.py:{line_in(make, text)}" in str(refused.value)


def test_a_class_that_plays_nothing():
    for make in (own.PlaysNothing, own.NoTurns):
        with pytest.raises(
            sl.errors.PolicyError, match=r"made a \w+, which plays nothing: it needs the methods"
        ):
            played(make)
        results = sl.compare("cycle:6", [make, "auto"], "gap", 10, 2)
        assert [cell.policy for cell in results.cells] == ["auto"]
        assert "plays nothing" in results.absent[0].reason
    with pytest.raises(sl.errors.PolicyError, match="made nothing"):
        playable(lambda graph, horizon, seed: None, "mine", CYCLE, 10)


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
        sl.errors.PolicyError, match=r"Whole\.tell\(\) failed in round 26 of seed 0: Zero.*own_players"
    ):
        sl.simulate(player, "gap", 1, 100)


def test_late_losses_need_decisions():
    assert played(own.Decides, delay=3).complete
    with pytest.raises(sl.InvalidOption, match=r"Learner has no decide and observe.* Give it decide\(\)"):
        played(own.Learner, delay=3)
    with pytest.raises(sl.InvalidOption, match="Copied has no decide and observe"):
        sl.simulate(Copied(CYCLE, 100, 0), "gap", 1, 100, delay=("geometric", 2.0))


class Copied(own.Learner):
    """Ready-made, and told arrays."""

    def copy(self, seed=None):
        return type(self)(self.graph, 100, seed)

    def tell(self, losses):
        super().tell(dict(enumerate(np.asarray(losses))))


class Wrapped:
    """A plan of the library behind a class of one's own."""

    make = staticmethod(sl.plan)

    def __init__(self, graph, horizon, seed):
        self.policy = self.make(graph, horizon).policy(seed)
        self.graph, self.open = graph, []

    def decide(self):
        self.open.append(self.policy.decide())
        return self.open[-1]

    def observe(self, decision, losses):
        self.open.remove(decision)
        self.policy.observe(decision, losses)

    def copy(self, seed=None):
        return type(self)(self.graph, 300, seed)


class Entropy(Wrapped):
    make = staticmethod(sl.baselines.chlz21)


class Rule(Wrapped):
    make = staticmethod(lambda graph, horizon: sl.baselines.exp3_ix(graph))


DELAYS = {
    "constant": 7,
    "geometric": ("geometric", 12.0),
    "recorded": np.random.default_rng(3).integers(0, 40, 300),
}


@pytest.mark.parametrize("delay", DELAYS.values(), ids=DELAYS)
@pytest.mark.parametrize(
    ("make", "graph"),
    [
        (Wrapped, CYCLE),
        (Wrapped, sl.families.faulty(CYCLE, 0.6)),
        (Entropy, CYCLE),
        (Rule, with_loops(sl.families.cliques([3, 2]))),
    ],
    ids=["self-tuning", "failing reveals", "entropy", "rule"],
)
def test_a_wrapped_plan_meets_what_the_compiled_one_meets(make, graph, delay):
    """Losses, delays and the order in which they arrive are the same: so is the regret, round by round."""
    about = {"seeds": [2, 5], "horizon": 300, "delay": delay, "checkpoints": range(1, 301)}
    compiled = sl.simulate(make.make(graph, 300), "gap:0.3", **about)
    for run in (
        sl.simulate(make, "gap:0.3", graph=graph, **about),
        sl.simulate(make(graph, 300, 0), "gap:0.3", **about),
    ):
        assert_array_equal(run.regret, compiled.regret)
        assert_array_equal(run.plays, compiled.plays)


def test_several_plays_are_open_and_answered_in_the_order_of_arrival():
    said = []

    class Notes(own.Constant):
        def decide(self):
            said.append(("decide", sum(word == "decide" for word, _ in said)))
            return said[-1][1] % 6

        def observe(self, decision, losses):
            said.append(("observe", decision))

    sl.simulate(Notes, "gap", 1, 5, graph=CYCLE, delay=[2, 0, 3, 0, 0])
    assert said == [
        ("decide", 0),
        ("decide", 1),
        ("observe", 1),
        ("decide", 2),
        ("observe", 0),
        ("decide", 3),
        ("observe", 3),
        ("decide", 4),
        ("observe", 4),  # the third is never heard of
    ]


def test_mistakes_with_late_losses_name_the_round_of_the_decision():
    class Fails(own.Decides):
        def observe(self, decision, losses):
            raise ZeroDivisionError

    with pytest.raises(sl.errors.PolicyError, match=r"Fails\.observe\(\) failed in round 1 of seed 4: Zero"):
        sl.simulate(Fails, "gap", [4], 20, graph=CYCLE, delay=3)


def test_a_class_is_simulated_on_a_graph_that_is_given():
    run = sl.simulate(own.Learner, "gap:0.3", 3, 200, graph="cycle:6")
    assert_array_equal(run.cost, played(own.Learner).cost)
    with pytest.raises(sl.InvalidOption, match=r"makes players from Learner: .* graph= and horizon="):
        sl.simulate(own.Learner, "gap", horizon=10)
    with pytest.raises(sl.InvalidOption, match=r"graph= is for classes .* Plan has its own"):
        sl.simulate(sl.plan(CYCLE, 10), "gap", graph=CYCLE)


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
    with pytest.raises(sl.InvalidOption, match=r"got Learner; one of your own needs graph and copy\(seed\)"):
        sl.simulate(own.Learner(CYCLE, 10, 0), "gap", 1, 10)
