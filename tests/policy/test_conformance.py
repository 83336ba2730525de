"""Every plan and baseline keeps the contract of `sidelight.testing`, which notices every way of breaking it."""

import json
from pathlib import Path

import numpy as np
import pytest
from dozen import every_case

import sidelight as sl
from sidelight.policy import names as registry
from sidelight.policy.plan_game import PlanGame
from sidelight.testing import check_policy

GRAPHS = [
    "mab:4",
    "full:4",
    "loopless_clique:4",
    "cycle:5",
    "pricing:5",
    "corrupted_full:6,2",
    "revealing_action:4",
]
HORIZON = 3_000


def applicable(name):
    """Plans or rules of this name for the graphs that it applies to."""
    for spec in GRAPHS:
        try:
            yield registry.make(name, sl.families.parse(spec), HORIZON)
        except sl.InfeasibleRequest:
            continue


@every_case
@pytest.mark.parametrize("which", [0, pytest.param(1, marks=pytest.mark.full)], ids=["first", "second"])
@pytest.mark.parametrize("name", registry.names())
def test_everything_built_in_conforms(name, which):
    """On the first graph that it applies to, and on the second."""
    plans = list(applicable(name))
    if which == len(plans):
        pytest.skip(f"{name} applies to one of these graphs")
    plan = plans[which]
    check_policy(plan.policy, plan.graph, rounds=40)


# -- somebody else's policy ------------------------------------------------------------------------------------


class Outsider:
    """Exponential weights for a bandit, written without the library's engine."""

    def __init__(self, graph, seed):
        self.graph = graph
        self.sums = np.zeros(graph.n_arms)
        self.random = np.random.default_rng(seed)
        self.pending, self.round = None, 0

    @property
    def probabilities(self):
        weights = np.exp(-0.05 * (self.sums - self.sums.min()))
        return weights / weights.sum()

    def ask(self):
        if self.pending is not None:
            raise sl.TurnError("tell first")
        self.pending = self.draw()
        return self.pending

    def draw(self):
        return int(self.random.choice(self.graph.n_arms, p=self.probabilities))

    def tell(self, losses):
        if self.pending is None:
            raise sl.TurnError("ask first")
        self.learn(self.checked(losses))
        self.pending, self.round = None, self.round + 1

    def checked(self, losses):
        if isinstance(losses, dict):
            if set(losses) != {self.pending}:
                raise sl.InvalidFeedback("not what was revealed")
            losses = [losses[self.pending]]
        if len(losses) != 1 or isinstance(losses[0], str) or not 0 <= losses[0] <= 1:
            raise sl.InvalidFeedback("one loss in [0, 1]")
        return float(losses[0])

    def learn(self, loss):
        p = self.probabilities[self.pending]
        self.sums[self.pending] += loss / p

    def copy(self, seed=None):
        twin = type(self)(self.graph, 0)
        twin.set(self.state())
        if seed is not None:
            twin.random = np.random.default_rng(seed)
        return twin

    def state(self):
        return {
            "sums": self.sums.tolist(),
            "random": self.random.bit_generator.state,
            "pending": self.pending,
            "round": self.round,
        }

    def set(self, state):
        self.sums = np.array(state["sums"])
        self.random.bit_generator.state = state["random"]
        self.pending, self.round = state["pending"], state["round"]

    def save(self, path):
        Path(path).write_text(json.dumps(self.state() | {"n": self.graph.n_arms}))

    @classmethod
    def load(cls, path):
        state = json.loads(Path(path).read_text())
        policy = cls(sl.families.mab(state.pop("n")), 0)
        policy.set(state)
        return policy


BANDIT = sl.families.mab(4)


def check(kind):
    check_policy(lambda seed: kind(BANDIT, seed), BANDIT)


def test_a_policy_from_elsewhere_conforms():
    check(Outsider)


def test_a_policy_from_elsewhere_can_be_simulated():
    policy = Outsider(BANDIT, 0)
    run = sl.simulate(policy, sl.environments.gap(4), seeds=range(3), horizon=200)
    assert run.complete
    assert run.bound is None
    assert np.isnan(run.ledger).all()
    assert "no bound" in repr(run)
    with pytest.raises(sl.InvalidOption, match="horizon"):
        sl.simulate(policy, sl.environments.gap(4))


# -- broken ones -----------------------------------------------------------------------------------------------


class Unnormalised(Outsider):
    @property
    def probabilities(self):
        return super().probabilities * (1 + 1e-6)

    def draw(self):
        return int(self.random.choice(self.graph.n_arms))


class Shared(Outsider):
    shared = None

    @property
    def probabilities(self):
        if self.shared is None or not self.pending:
            self.shared = super().probabilities
        return self.shared


class Impatient(Outsider):
    def ask(self):
        self.pending = None
        return super().ask()


class Forward(Outsider):
    def tell(self, losses):
        if self.pending is not None:
            super().tell(losses)


class Credulous(Outsider):
    def checked(self, losses):
        return float(next(iter(losses.values())) if isinstance(losses, dict) else losses[0])


class Hasty(Outsider):
    def checked(self, losses):
        self.sums[0] += 1e-3  # before looking
        return super().checked(losses)


class Literal(Outsider):
    def checked(self, losses):
        loss = super().checked(losses)
        return loss / 2 if isinstance(losses, dict) else loss


class Unseeded(Outsider):
    def __init__(self, graph, seed):
        super().__init__(graph, seed)
        self.random = np.random.default_rng()


class Global(Outsider):
    def ask(self):
        np.random.random()  # noqa: NPY002
        return super().ask()


class Entangled(Outsider):
    def copy(self, seed=None):
        twin = super().copy(seed)
        twin.sums = self.sums
        return twin


class Forgetful(Outsider):
    def set(self, state):
        super().set(state)
        self.random = np.random.default_rng(0)

    def copy(self, seed=None):
        twin = Forgetful(self.graph, 0)
        Outsider.set(twin, self.state())
        if seed is not None:
            twin.random = np.random.default_rng(seed)
        return twin


class Skewed(Outsider):
    def draw(self):
        p = 0.8 * self.probabilities
        p[p.argmax()] += 0.2
        return int(self.random.choice(self.graph.n_arms, p=p))


BROKEN = {
    Unnormalised: "sum to",
    Shared: "fresh array",
    Impatient: r"ask\(\) with an arm pending must raise TurnError",
    Forward: r"tell\(\) with no arm pending must raise TurnError",
    Credulous: "must raise InvalidFeedback",
    Hasty: r"a refused tell\(\) of .* changed the policy",
    Literal: "telling a dict differs",
    Unseeded: ".",  # which difference shows first is up to chance
    Global: "global random state",
    Entangled: "playing a copy changed the original",
    Forgetful: "loaded policy",
    Skewed: "χ²",
}


@pytest.mark.parametrize("kind", BROKEN, ids=lambda kind: kind.__name__)
def test_a_broken_policy_is_caught(kind):
    with pytest.raises(AssertionError, match=BROKEN[kind]):
        check(kind)


def test_a_simulation_that_plays_something_else_is_caught(monkeypatch):
    play = PlanGame.play

    monkeypatch.setattr(PlanGame, "play", lambda game, rounds: play(game, rounds._replace(key=np.uint64(1))))
    plan = sl.plan(BANDIT, HORIZON)
    with pytest.raises(AssertionError, match="simulate p"):
        check_policy(plan.policy, BANDIT)


def test_what_is_not_a_policy_is_named():
    with pytest.raises(AssertionError, match=r"no method ask\(\)"):
        check_policy(lambda seed: object(), BANDIT)
    with pytest.raises(AssertionError, match="plays on"):
        check_policy(lambda seed: Outsider(BANDIT, seed), sl.families.mab(3))
