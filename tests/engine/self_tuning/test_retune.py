"""Self-tuning in the engine against its lazy twin in NumPy, round by round."""

import numpy as np
import pytest
from kernel_entries import INTERPRETED, plain
from lazy_twin import LazyTwin
from numpy.testing import assert_allclose
from tuned_plans import NAMES, adjacency, covered, tuned

from sidelight.engine.build import build_memory
from sidelight.engine.constants import LARGEST_LIST
from sidelight.engine.fields import views
from sidelight.engine.round.round import ask_once, fill_inside, fill_probabilities, tell_once
from sidelight.engine.simplex.buckets import reach

ROUNDS = 60 if INTERPRETED else 300
SAME = {
    "beta": "beta",
    "free_beta": "free",
    "strength": "b",
    "leader_scale": "scale",
    "on_leader": "kept",
    "leader": "leader",
    "penalty": "purchased",
    "charged": "charged",
    "unspent": "unspent",
    "unspent_limit": "limit",
    "slack": "allowance",
    "target_cost": "reference",
    "worst_case": "safe",
    "next_check": "check",
    "target_beta": "target",
}


class Both:
    """The engine and its twin, fed with the engine's arms and the same losses."""

    def __init__(self, graph, cover, gap=0.3, tuning=None, **options):
        self.graph, self.tuning = graph, tuned(graph, cover, **options) if tuning is None else tuning
        self.rule, self.n = self.tuning.self_tuning, graph.n_arms
        self.memory = build_memory(graph, self.tuning, seed=1)
        self.lazy = self.n > LARGEST_LIST and self.rule.order < 1
        A = adjacency(graph)
        load = cover @ A
        margin = 1 / (1 - plain(reach)(1 / (1 - self.rule.order))) if self.lazy else 1.0
        self.twin = LazyTwin(
            A, cover, load, self.rule, max(16, (self.n + graph.out_indices.size) // 8), margin
        )
        self.rng, self.means = np.random.default_rng(0), np.full(self.n, 0.5)
        self.means[-1] -= gap
        self.against_leader = False

    def number(self, name):
        return float(views(self.memory)[name])

    def turn(self):
        Z, X = np.empty(self.n), np.empty(self.n)
        fill_probabilities(self.memory, Z)
        fill_inside(self.memory, X)
        assert_allclose(X, self.twin.X, rtol=0, atol=1e-9)
        if self.lazy:  # what is explored lies between the formula and the factor of lazy play
            assert (Z >= 0).all()
            assert abs(Z.sum() - 1) < 1e-9
        else:
            assert_allclose(Z, self.twin.Z, rtol=0, atol=1e-9)
        arm = ask_once(self.memory)
        losses = 2 * self.means * self.rng.random(self.n)  # no ties
        if self.against_leader:
            losses = np.where(np.arange(self.n) == Z.argmax(), 1.0, 0.01 * losses)
        before = self.number("charged")
        tell_once(self.memory, arm, losses[self.graph.out_neighbors(arm)], np.zeros(self.n + 1))
        if self.n > LARGEST_LIST:  # the shift is bounded by what buckets know
            charge, least = self.number("charged") - before, self.twin.charge_of(arm, Z)
            assert -1e-9 <= charge - least <= 0.25 * least + 0.02
            self.twin.learn(arm, losses, Z, charge)
        else:
            self.twin.learn(arm, losses)

    def check(self):
        for name, own in SAME.items():
            wanted = float(getattr(self.twin, own))
            assert abs(self.number(name) - wanted) <= 1e-9 * max(1.0, abs(wanted)), name


def play_both(both, rounds):
    for _ in range(rounds):
        both.turn()
        both.check()


@pytest.mark.parametrize("rounds", [ROUNDS, pytest.param(1000, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", NAMES)
def test_the_engine_plays_as_its_twin(name, rounds):
    # Where everything is seen the best arm is soon beyond doubt, and beyond what the twin's differences resolve.
    both = Both(*covered(name), gap=0.03 if name == "full" else 0.3)
    play_both(both, rounds)
    assert both.twin.events > (3 if INTERPRETED else 20)


OTHERS = [("cycle", 1.0), ("loop-less clique, buckets", 1.0), ("teams", 0.75), ("cycle, buckets", 0.3)]
ALL = [(name, order) for name in NAMES for order in (1.0, 0.75, 0.3) if (name, order) not in OTHERS]


@pytest.mark.parametrize(
    ("name", "order"), OTHERS + [pytest.param(*case, marks=pytest.mark.full) for case in ALL]
)
def test_of_any_order(name, order):
    play_both(Both(*covered(name), gap=0.03 if name == "full" else 0.3, order=order), ROUNDS // 2)


@pytest.mark.parametrize(
    ("name", "slack"),
    [("cycle", 0.0), ("bandit", 0.3), ("cycle, buckets", 0.0)]
    + [pytest.param(name, p, marks=pytest.mark.full) for name in NAMES[3:] for p in (0.0, 0.1)],
)
def test_with_a_budget_too(name, slack):
    both = Both(*covered(name), gap=0.03 if name == "full" else 0.3, horizon=ROUNDS, slack=slack)
    rule, twin = both.rule, both.twin
    for _ in range(ROUNDS + 20):  # also past the horizon
        both.turn()
        both.check()
        left = rule.horizon - twin.t
        if left > 0:
            assert twin.cert + rule.cost_to_go(twin.beta, left)[0] <= rule.budget * (1 + 1e-9)
            assert twin.allowance >= -1e-9


@pytest.mark.skipif(INTERPRETED, reason="takes minutes without the compiler")
@pytest.mark.parametrize("name", ["cycle", "cycle, buckets"])
def test_a_budget_is_kept_against_losses_that_follow_the_leader(name):
    both = Both(*covered(name), horizon=ROUNDS, slack=0.02)
    both.against_leader = True
    for _ in range(ROUNDS):
        both.turn()
        both.check()
        assert both.twin.cert <= both.rule.budget * (1 + 1e-9)
