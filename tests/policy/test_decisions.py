"""Decisions in any order: many open at once, answered late or never, saved, loaded and copied in between."""

import copy
import os
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
from baseline_twins import Exp3IX, TrackN, TsallisInf, UcbN
from decision_twin import PlanTwin, RuleTwin, TunedTwin
from dense_engine import Dense, hand_tuning
from dozen import every_case
from forced_draws import decide_on
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from policy_kinds import losses_of
from snapshots import snapshot

import sidelight as sl
from sidelight import families
from sidelight.engine import fields
from sidelight.engine.fields import (
    ALL_OTHERS,
    EVERYTHING,
    FIXED,
    MANY_SHAPES,
    OWN_BLOCK,
    OWN_LOSS,
    switch,
    views,
)
from sidelight.engine.simplex.store import ENTROPY_LIST, ENTROPY_TREE, POWER_BUCKETS, POWER_LIST
from sidelight.graph.altered import with_loops
from sidelight.planning import Bound, Details, Plan
from sidelight.planning.bounds.bound import NEVER, Condition
from sidelight.policy import policy as policies
from sidelight.policy.plan_game import PlanGame


def by_hand(graph, blocks, **numbers):
    """A plan with any numbers; its bound promises nothing, so it can be saved."""
    bound = Bound(500, {"nothing": 500.0}, "by hand", (Condition("proved", 1.0, 0.0),), NEVER, NEVER)
    tuning = hand_tuning(blocks, **numbers)
    return Plan(graph, sl.Partition(graph, blocks), 500, "by hand", {}, bound, tuning, Details(graph))


def two_cliques(**numbers):
    """Two loop-less cliques of three arms, a block each: every play reveals its own block."""
    return by_hand(families.cliques([3, 3]), [[0, 1, 2], [3, 4, 5]], **numbers)


def two_cycles(**numbers):
    """Two cycles of four arms, a block each, with an edge between them: arms are seen along edges."""
    edges = [
        (v, w)
        for a in (0, 4)
        for i in range(4)
        for v, w in [(a + i, a + (i + 1) % 4), (a + (i + 1) % 4, a + i)]
    ]
    graph = sl.FeedbackGraph.from_edges(8, [*edges, (0, 4)])
    return by_hand(graph, [[0, 1, 2, 3], [4, 5, 6, 7]], **numbers)


EVEN = np.full(8, 0.01)
PLANS = {
    "one simplex, lists": lambda: sl.plan(families.cycle(8), 500, realization="flat"),
    "one simplex, entropy": lambda: sl.baselines.chlz21(families.cycle(7), 500),
    "one simplex, adaptive": lambda: sl.plan(families.bicliques([4, 4]), 500, realization="adaptive"),
    "one simplex, spread": lambda: by_hand(
        families.cycle(6), [list(range(6))], spread=[0.1], cover=np.full(6, 0.5), load=np.ones(6)
    ),
    "buckets": lambda: sl.plan(families.mab(60), 500, realization="fixed"),
    "a tree": lambda: sl.baselines.exp3(families.mab(150), 500),
    "own block": lambda: two_cliques(
        inner=(0.0, 0.2), global_exploration=EVEN[:6], local_exploration=EVEN[:6]
    ),
    "blocks along edges": lambda: two_cycles(
        inner=(0.0, 0.2), global_exploration=EVEN, local_exploration=EVEN
    ),
    "two levels, adaptive": lambda: two_cycles(
        adaptive=[0.03, 0.05], parent=[1, 2, 3, 0, 5, 6, 7, 4], local_exploration=EVEN
    ),
    "two levels, spread": lambda: two_cycles(
        spread=[0.05, 0.0],
        cover=np.repeat([0.5, 0.0], 4),
        load=np.repeat([1.0, 0.0], 4),
        global_exploration=EVEN,
    ),
    "several potentials": lambda: two_cycles(
        top=[(2.0, 0.1), (0.0, 0.2)], inner=[(2.0, 0.1), (0.0, 0.2)] * 4, global_exploration=EVEN
    ),
    "all others": lambda: sl.plan(families.loopless_clique(6), 300, realization="interpolated"),
    "everything": lambda: sl.baselines.hedge(families.full(5), 200),
    "own loss": lambda: sl.baselines.exp3(families.mab(5), 300),
    "universal arms": lambda: sl.plan(families.corrupted_full(6, 2), 300, realization="fixed"),
    "one arm": lambda: sl.plan(families.full(1), 100, realization="fixed"),
}
TUNED = {
    "self-tuning": lambda: sl.plan(families.cycle(8), realization="self-tuning"),
    "self-tuning, budget": lambda: sl.plan(
        families.cliques([4, 4]), 300, realization="self-tuning", slack=0.5
    ),
}
RULES = {
    "exp3_ix": (sl.baselines.exp3_ix, Exp3IX),
    "tsallis_inf": (sl.baselines.tsallis_inf, TsallisInf),
    "ucb_n": (sl.baselines.ucb_n, UcbN),
    "track_n": (sl.baselines.track_n, TrackN),
}
LOOPY = with_loops(families.cliques([3, 2]))


def test_the_kinds_are_of_every_kind():
    """Every shape, form and kind of exploration that the engine knows."""
    memories = {kind: made().policy(seed=1)._game.memory for kind, made in (PLANS | TUNED).items()}

    def having(name):
        return {kind: switch(memory, name) for kind, memory in memories.items()}

    assert set(having("shape").values()) == {MANY_SHAPES, OWN_LOSS, OWN_BLOCK, ALL_OTHERS, EVERYTHING}
    assert max(having("n_blocks").values()) > 1
    for name in (
        "single",
        "any_local",
        "n_adaptive",
        "any_spread",
        "n_universal",
        "singletons",
    ):
        assert {bool(value) for value in having(name).values()} == {False, True}, name
    forms = {int(form) for memory in memories.values() for form in views(memory, FIXED)["form"]}
    assert forms == {POWER_LIST, POWER_BUCKETS, ENTROPY_LIST, ENTROPY_TREE}


def begun(kind):
    """A policy of this kind, and its twin."""
    if kind in RULES:
        made, twin = RULES[kind]
        return made(LOOPY).policy(seed=5), RuleTwin(twin(LOOPY))
    policy = (PLANS | TUNED)[kind]().policy(seed=5)
    return policy, TunedTwin(policy) if kind in TUNED else PlanTwin(policy.plan)


def reloaded(policy):
    with tempfile.TemporaryDirectory() as folder:
        policy.save(Path(folder) / "policy")
        return sl.Policy.load(Path(folder) / "policy")


class Machine(RuleBasedStateMachine):
    """Everything that may happen to a policy, in any order, beside the twin."""

    kind: str

    def __init__(self):
        super().__init__()
        self.policy, self.twin = begun(self.kind)
        self.n = self.policy.graph.n_arms
        self.answered, self.lost, self.t = [], 0, 0

    def losses(self):
        self.t += 1
        return losses_of(self.t, self.n)

    # -- what may happen --------------------------------------------------------------------------------

    @rule(count=st.integers(1, 3))
    def decide(self, count):
        expected = self.policy._game.made + 1
        made = self.policy.decide(count=count)
        assert [d.id for d in made] == [d.round for d in made] == list(range(expected, expected + count))
        for d in made:
            assert d.reveals.tolist() == self.policy.graph.out_neighbors(d.arm).tolist()
            np.testing.assert_allclose(d.seen, self.twin.decide(d.id, d.arm), rtol=1e-7, atol=1e-11)

    @precondition(lambda self: self.policy.pending is None)
    @rule()
    def ask(self):
        arm = self.policy.ask()
        assert self.policy.pending == arm
        self.twin.decide(self.policy._game.made, arm)

    @precondition(lambda self: self.policy.pending is not None)
    @rule()
    def tell(self):
        losses, number = self.losses(), self.policy._asked
        self.policy.tell(losses[self.policy.graph.out_neighbors(self.policy.pending)])
        self.twin.observe(number, losses)
        self.answered.append(number)

    @precondition(lambda self: self.policy.open)
    @rule(data=st.data(), by_id=st.booleans())
    def observe(self, data, by_id):
        d = data.draw(st.sampled_from(self.policy.open), label="decision")
        losses = self.losses()
        self.policy.observe(d.id if by_id else d, {int(j): losses[j] for j in d.reveals})
        self.twin.observe(d.id, losses)
        self.answered.append(d.id)

    @precondition(lambda self: self.policy.open)
    @rule(data=st.data())
    def cancel(self, data):
        d = data.draw(st.sampled_from(self.policy.open), label="decision")
        self.policy.cancel(d)
        self.twin.cancel(d.id)
        self.answered.append(d.id)

    @rule(which=st.sampled_from(["saved", "loaded", "copied", "pickled"]))
    def keep(self, which):
        if which in ("saved", "loaded"):
            other = reloaded(self.policy)
            assert np.array_equal(other.probabilities, self.policy.probabilities)
            assert [d.id for d in other.open] == [d.id for d in self.policy.open]
            self.policy = other if which == "loaded" else self.policy
        else:
            other = self.policy.copy() if which == "copied" else pickle.loads(pickle.dumps(self.policy))
            assert snapshot(other) == snapshot(self.policy)
            self.policy.decide()  # the other must not hear of it
            self.policy = other

    @rule(data=st.data())
    def refuse(self, data):
        before = snapshot(self.policy)
        if self.answered:
            number = data.draw(st.sampled_from(self.answered), label="answered")
            with pytest.raises(sl.errors.TurnError, match=f"decision {number} was answered or cancelled"):
                self.policy.observe(number, [])
        with pytest.raises(sl.errors.TurnError, match="does not exist"):
            self.policy.cancel(self.policy._game.made + 1)
        if self.policy.pending is not None:
            with pytest.raises(sl.errors.TurnError, match="still to be told"):
                self.policy.ask()
        for d in self.policy.open[:2]:
            with pytest.raises(sl.errors.InvalidFeedback):
                self.policy.observe(d, np.full(d.reveals.size + 1, 0.5))
            if d.reveals.size:
                with pytest.raises(sl.errors.InvalidFeedback, match=r"must be in \[0, 1\]"):
                    self.policy.observe(d, np.full(d.reveals.size, 1.5))
        assert snapshot(self.policy) == before

    # -- what must hold ---------------------------------------------------------------------------------

    @invariant()
    def agrees(self):
        policy, twin = self.policy, self.twin
        if policy.pending is None or isinstance(policy.plan, Plan) or policy._asked < policy._game.made:
            np.testing.assert_allclose(policy.probabilities, twin.Z, rtol=1e-7, atol=1e-11)
        assert [d.id for d in policy.open] == list(twin.open)
        assert policy.round == twin.made - len(twin.open)
        certificate = policy.certificate()
        assert certificate.round == twin.made
        assert certificate.terms.get("unanswered", 0) >= len(twin.open)
        if isinstance(twin, PlanTwin):
            for arm in range(self.n):
                parts = policy._game.ledger(arm)
                np.testing.assert_allclose(parts, twin.ledger(arm), rtol=1e-7, atol=1e-8)
                assert (policy._game.certificate(arm)[1] >= parts - 1e-8 * (1 + abs(parts))).all()


def machine_of(kind):
    return type(f"Machine of {kind}", (Machine,), {"kind": kind})


@every_case
@pytest.mark.parametrize("kind", [*PLANS, *TUNED, *RULES])
def test_any_order_of_events_is_what_the_twin_says(kind):
    run_state_machine_as_test(
        machine_of(kind),
        settings=settings(
            max_examples=4,
            stateful_step_count=40,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


# -- unbiased, whenever answers come ------------------------------------------------------------------------

FAST = {  # rates a hundred times too high: a few losses move nearly all of the probability
    "one simplex": (families.cycle(4), [[0, 1, 2, 3]], {"inner": (2.0, 2.0)}),
    "entropy": (families.cycle(4), [[0, 1, 2, 3]], {"inner": (0.0, 2.0)}),
    "two levels": (families.bicliques([2, 2]), [[0, 1], [2, 3]], {"top": (2.0, 2.0), "inner": (0.0, 2.0)}),
    "singletons": (families.loopless_clique(3), [[0], [1], [2]], {"top": (2.0, 2.0)}),
}


def fast(name):
    """A policy whose distribution moves fast; every arm is explored, so every arm may be seen."""
    graph, blocks, rates = FAST[name]
    plan = by_hand(graph, blocks, global_exploration=np.full(graph.n_arms, 0.02), **rates)
    return plan.policy(seed=0), Dense(graph, plan.tuning)


def arrivals(count):
    """Every order of making and answering `count` decisions: (True, i) makes decision i, (False, i) answers it."""

    def go(made, waiting, so_far):
        if made == count and not waiting:
            yield so_far
        if made < count:
            yield from go(made + 1, waiting | {made}, [*so_far, (True, made)])
        for index in sorted(waiting):
            yield from go(made, waiting - {index}, [*so_far, (False, index)])

    return list(go(0, frozenset(), []))


def expectation(policy, dense, events, losses):
    """E[Σ ℓ̂] of every arm and E[Σ L̂ − Σ ⟨X̃, ℓ⟩] of every block, X̃ of the draw, over every draw of these events."""
    if not events:
        return np.concatenate(dense.sums(policy._game.memory))
    (makes, index), rest = events[0], events[1:]
    if not makes:
        policy.observe(index + 1, losses[index][policy.graph.out_neighbors(policy._open[index + 1].arm)])
        return expectation(policy, dense, rest, losses)
    Z, _, X = dense.probabilities(policy._game.memory)
    total = np.zeros(dense.n + dense.m)
    for arm, p in enumerate(Z):
        after = policy.copy()
        decide_on(after, arm)
        total += p * expectation(after, dense, rest, losses)
    total[dense.n :] -= [dense.mixed(X)[block] @ losses[index][block] for block in dense.blocks]
    return total


@pytest.mark.parametrize("name", FAST)
def test_estimates_are_unbiased_in_every_order_of_arrival(name):
    """Exactly, over all draws of three decisions, in each of the 15 orders in which they can be made and answered."""
    policy, dense = fast(name)
    losses = np.random.default_rng(3).random((3, dense.n))
    orders = arrivals(3)
    assert len(orders) == 15
    for events in orders:
        found = expectation(policy.copy(), dense, events, losses)
        np.testing.assert_allclose(found[: dense.n], losses.sum(axis=0), rtol=1e-9, err_msg=str(events))
        np.testing.assert_allclose(found[dense.n :], 0.0, atol=1e-9, err_msg=str(events))


def todays(game, record, losses, learn=PlanGame.learn):
    """What a careless `learn` would do: divide by the probabilities of the day the losses come."""
    if record.version != game.version:
        game.write_down(record)
    return learn(game, record, losses)


@pytest.mark.parametrize("name", FAST)
def test_with_the_probabilities_of_today_they_would_be_wrong(name, monkeypatch):
    """By a factor, where the distribution moves fast: so the test above would notice."""
    monkeypatch.setattr(PlanGame, "learn", todays)
    policy, dense = fast(name)
    losses = np.random.default_rng(3).random((3, dense.n))
    ratio = np.array(
        [
            expectation(policy.copy(), dense, events, losses)[: dense.n] / losses.sum(axis=0)
            for events in arrivals(3)
        ]
    )
    assert ratio.max() > 1.5 or ratio.min() < 0.67


# -- one at a time ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*PLANS, *TUNED, *RULES])
def test_one_at_a_time_decisions_are_ask_and_tell(kind):
    """The same arms, bit for bit: nothing moves while a decision is open."""
    one, _ = begun(kind)
    two = one.copy()
    for t in range(60):
        d, arm = one.decide(), two.ask()
        assert d.arm == arm
        losses = losses_of(t, one.graph.n_arms)[d.reveals]
        one.observe(d, losses)
        two.tell(losses)
        assert np.array_equal(one.probabilities, two.probabilities)
    assert one.round == two.round == 60
    assert np.array_equal(one._game.ledger(0), two._game.ledger(0), equal_nan=True)


@every_case
@pytest.mark.parametrize("kind", [*PLANS, *TUNED])
def test_by_what_was_kept_it_is_the_same(kind):
    """Learning at once with what was kept of the draw: the same to rounding, ledger and certificate included."""
    one, _ = begun(kind)
    two = one.copy()
    for t in range(60):
        d, arm = one.decide(), two.ask()
        assert d.arm == arm
        losses = losses_of(t, one.graph.n_arms)[d.reveals]
        one._open[d.id].version = -1
        one.observe(d, losses)
        two.tell(losses)
        np.testing.assert_allclose(one.probabilities, two.probabilities, rtol=1e-8, atol=1e-13)
        for arm in range(min(one.graph.n_arms, 10)):
            np.testing.assert_allclose(one._game.ledger(arm), two._game.ledger(arm), rtol=1e-7, atol=1e-8)
    if kind in TUNED:
        assert one.certificate().terms.keys() != two.certificate().terms.keys()
        tuned = [
            np.array([views(policy._game.memory)[name] for name in fields.TUNED]) for policy in (one, two)
        ]
        np.testing.assert_allclose(*tuned, rtol=1e-7, atol=1e-9)


# -- what is said about them --------------------------------------------------------------------------------


def test_cancelled_and_open_decisions_count_in_the_certificate():
    policy = PLANS["blocks along edges"]().policy(seed=1)
    a, b, _ = policy.decide(count=3)
    policy.observe(a, np.full(a.reveals.size, 0.5))
    value = sum(policy._game.certificate(None)[1])
    policy.cancel(b)
    certificate = policy.certificate()
    assert certificate.terms["unanswered"] == 2.0  # one cancelled, one open
    assert certificate.value == pytest.approx(value + 2.0)
    assert (certificate.round, policy.round) == (3, 2)


def test_what_a_decision_says():
    graph = sl.FeedbackGraph.from_edges(3, [(0, 1), (1, 2), (2, 0), (0, 0)], labels=["red", "green", "blue"])
    policy = sl.plan(graph, 100).policy(seed=3)
    d = policy.decide()
    assert (d.id, d.round, d.label) == (1, 1, graph.labels[d.arm])
    assert d.reveals.tolist() == graph.out_neighbors(d.arm).tolist()
    assert d.seen.shape == d.reveals.shape
    assert ((d.seen > 0) & (d.seen <= 1)).all()
    with pytest.raises(AttributeError):
        d.arm = 2
    assert "label=" in repr(d)
    assert repr(policy.open) == repr([d])


def test_decisions_are_frozen_values():
    policy = sl.plan(families.revealing_action(5)).policy(seed=3)
    decision = policy.decide()
    assert type(decision) is sl.Decision
    for name in ("arm", "seen", "anything"):
        with pytest.raises(AttributeError):
            setattr(decision, name, 0)
    again = pickle.loads(pickle.dumps(decision))
    for kept in (again, copy.deepcopy(decision)):
        assert repr(kept) == repr(decision)
        assert (kept.id, kept.round, kept.arm, kept.label) == (1, 1, decision.arm, decision.label)
        np.testing.assert_array_equal(kept.seen, decision.seen)
    policy.observe(again, np.zeros(again.reveals.size))


@pytest.mark.parametrize("graph", [families.cycle(60), families.loopless_clique(60)], ids=["edges", "all"])
def test_what_arms_reveal_is_remembered_read_only_and_within_limits(graph, monkeypatch):
    monkeypatch.setattr(policies, "MOST_REMEMBERED", 1000)
    policy = sl.baselines.uniform(graph).policy(seed=3)
    for decision in policy.decide(count=500):
        np.testing.assert_array_equal(decision.reveals, graph.out_neighbors(decision.arm))
    assert 0 < sum(row.size + policies.EACH_ROW for row in policy._rows.values()) <= 1000
    assert not any(row.flags.writeable for row in policy._rows.values())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_does_not_make_its_parents_decisions():
    policy = sl.plan("cycle:6").policy(seed=1)
    policy.tell(np.zeros(policy.graph.out_degree[policy.ask()]))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = []
        for use in (policy.decide, policy.ask, policy.copy, policy.to_bytes):
            try:
                said.append(f"{use.__name__} went on")
                use()
            except sl.TurnError as error:
                said[-1] = str(error)
        said.append(str(policy.copy(seed=2).ask() >= 0))
        os.write(writing, "\n".join(said).encode())
        os._exit(0)
    os.waitpid(child, 0)
    *refused, own = os.read(reading, 10_000).decode().splitlines()
    assert len(refused) == 4
    assert all("forked" in text and "copy(seed=...)" in text for text in refused)
    assert own == "True"
    assert policy.decide().id == 2  # the parent goes on
