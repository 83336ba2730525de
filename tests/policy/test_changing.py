"""Graphs that change: known before playing or shown after, decisions in any order, against the dense twin."""

import pickle
import time
from functools import cache
from itertools import product

import numpy as np
import pytest
from changing_twin import ChangingTwin, Made, cost
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from policy_kinds import losses_of
from saved_files import contents, forge
from self_tuning_twin import directions
from snapshots import snapshot
from tuned_plans import adjacency

import sidelight as sl
from sidelight import families
from sidelight.engine._numba.bundles import by_name
from sidelight.engine.self_tuning.changing import DRAW, N_DRAW, NUMBERS
from sidelight.errors import InfeasibleRequest, InvalidFeedback, InvalidGraph, SavedStateError, TurnError
from sidelight.graph.altered import with_loops
from sidelight.policy.dense_game import DenseGame
from sidelight.policy.graphs import MOST_CACHED, other_graph, own_graph, unknown_graph

PLANS = {
    "cycle": lambda: sl.plan(families.cycle(6)),
    "a budget": lambda: sl.plan(families.cliques([3, 3]), 300, realization="self-tuning", slack=0.5),
    "loop-less clique": lambda: sl.plan(families.loopless_clique(5), realization="self-tuning"),
    "entropy": lambda: sl.plan(families.revealing_action(5), realization="self-tuning", order=1.0),
    "bandit": lambda: sl.plan(families.mab(4)),
    "full feedback": lambda: sl.plan(families.full(4)),
    "failing": lambda: sl.plan(families.faulty(families.cycle(5), 0.6)),
    "failing entropy": lambda: sl.plan(
        families.faulty(families.loopy_star(4), 0.5), realization="self-tuning", order=1.0
    ),
}


@cache
def plan_of(kind):
    return PLANS[kind]()


def all_revealed(A):
    """The same, with an edge from the next arm to those that nothing reveals."""
    hidden = np.flatnonzero(~(A > 0).any(axis=0))
    A[(hidden + 1) % len(A), hidden] = 1
    return A


def drawn_graph(n, seed, density=0.35):
    """Any graph whose arms are all revealed: with and without loops."""
    return sl.FeedbackGraph.from_adjacency(
        all_revealed(np.random.default_rng([seed, n]).random((n, n)) < density)
    )


def failing_graph(n, seed, density=0.5):
    """Any graph, some of whose edges may fail, and some rarely work."""
    rng = np.random.default_rng([seed, n, 1])
    R = rng.random((n, n)) ** 2
    R[rng.random((n, n)) < 0.3] = 1.0
    R = all_revealed(R * (rng.random((n, n)) < density))
    return sl.FeedbackGraph.from_adjacency(R, probabilities=True)


def larger_graph(graph, seed):
    """A graph with all edges of another, more likely to reveal if they could fail, and some more."""
    R, rng = adjacency(graph), np.random.default_rng(seed)
    more = np.where(rng.random(R.shape) < 0.3, 1.0, 0.0)
    return sl.FeedbackGraph.from_adjacency(np.maximum(R + (R > 0) * (1 - R) / 2, more), probabilities=True)


def strong_graph(n, seed):
    """Arms with self-loops, and arms that all others reveal, some of which do not reveal themselves."""
    rng = np.random.default_rng([seed, n])
    A = (rng.random((n, n)) < 0.2) | np.eye(n, dtype=bool)
    for arm in np.flatnonzero(rng.random(n) < 0.5):
        A[:, arm] = True
        A[arm, arm] = False
    return sl.FeedbackGraph.from_adjacency(A)


def record(explored):
    """What the twin knows of a graph."""
    return adjacency(explored.graph), explored.cover, (explored.load > 0).astype(float), explored.lean


def twin_of(policy):
    """The twin of a changing policy, as far as it has come; nothing is open."""
    state = policy._game.arrays
    now = by_name(NUMBERS, state.numbers)
    twin = ChangingTwin(record(own_graph(policy.plan)), policy.plan.tuning.self_tuning)
    twin.L, twin.beta = state.sums + now.least, now.beta
    twin.purchased, twin.charged, twin.unspent = now.penalty, now.charged, now.unspent
    twin.paid, twin.explored = now.paid, now.explored
    twin.rounds, twin.late = policy.round, now.late
    return twin


def begun(kind, rounds=5, seed=5):
    """A policy after some rounds on its own graph."""
    policy = plan_of(kind).policy(seed)
    for t in range(rounds):
        arm = policy.ask()
        policy.tell(losses_of(t, policy.graph.n_arms)[policy.graph.out_neighbors(arm)])
    return policy


def unknown(policy):
    """What the twin plans for where the graph is to be shown: nothing special, or every strong graph."""
    if by_name(NUMBERS, policy._game.arrays.numbers).repair:
        return record(unknown_graph(policy.graph.n_arms, policy._game._order)), True
    return None, False


def works(graph, arm, t):
    """(n,) which reveals of a play work, by coins of round t."""
    chances = adjacency(graph)[arm]
    return (np.random.default_rng([t, arm]).random(chances.size) < chances) | (chances == 1)


def told(graph, arm, losses, revealed):
    """The losses that a play revealed, NaN for those that failed."""
    reveals = graph.out_neighbors(arm)
    return np.where(revealed[reveals], losses[reveals], np.nan)


def decide_on(policy, arm, graph=None):
    """`decide`, had it drawn `arm`."""
    d = policy.decide(graph=graph)
    policy._open[d.id].arm = arm
    return d.id


def shift(policy, number):
    """c of an open decision."""
    return by_name(DRAW, policy._open[number].values).shift


def distribution(policy, number):
    """Z of an open decision."""
    n = policy.graph.n_arms
    return policy._open[number].values[N_DRAW + n : N_DRAW + 2 * n]


# -- the same game as the twin --------------------------------------------------------------------------------


MEETS = {
    "loop-less clique": {"above", "price"},
    "entropy": {"above"},
    "full feedback": {"above", "price"},
    "bandit": {"lift"},
}


@pytest.mark.parametrize("kind", PLANS)
def test_known_graphs_are_played_as_the_twin_does(kind):
    policy = begun(kind)
    n = policy.graph.n_arms
    graphs = [drawn_graph(n, seed) for seed in range(3)] + [strong_graph(n, 1), policy.graph]
    graphs += [failing_graph(n, seed) for seed in range(3)] + [families.faulty(strong_graph(n, 2), 0.3)]
    policy = policy._for_changes()
    twin, worse = twin_of(policy), np.linspace(0.0, 1.0, n)  # soon one arm is likely
    for t in range(400):
        graph = graphs[(t * t + t // 3) % 9]
        explored = None if graph is policy.graph else record(other_graph(graph, policy._game._order))
        d = policy.decide(graph=graph)
        P = twin.decide(d.id, d.arm, explored)
        np.testing.assert_allclose(d.seen, P[d.reveals], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(distribution(policy, d.id), twin.open[d.id].Z, rtol=1e-9, atol=1e-12)
        losses, revealed = worse * losses_of(t, n), works(graph, d.arm, t)
        policy.observe(d, told(graph, d.arm, losses, revealed))
        twin.observe(d.id, losses, revealed=revealed)
        np.testing.assert_allclose(policy._game.certificate(None)[1], twin.certificate, rtol=1e-9)
        np.testing.assert_allclose(
            policy._game.arrays.sums + by_name(NUMBERS, policy._game.arrays.numbers).least, twin.L, rtol=1e-9
        )
    assert {"c"} | MEETS.get(kind, set()) <= twin.met


@pytest.mark.parametrize("kind", PLANS)
def test_graphs_shown_afterwards_are_played_as_the_twin_does(kind):
    policy = begun(kind)._for_changes()
    n = policy.graph.n_arms
    twin = twin_of(policy)
    for t in range(60):
        graph = larger_graph(policy.graph, t % 4) if t < 30 or t % 2 else strong_graph(n, t % 5)
        planned, only = unknown(policy)
        d = policy.decide()
        twin.decide(d.id, d.arm, planned=planned, only=only)
        np.testing.assert_allclose(distribution(policy, d.id), twin.open[d.id].Z, rtol=1e-9, atol=1e-12)
        losses, revealed = losses_of(t, n), works(graph, d.arm, t)
        policy.observe(d, told(graph, d.arm, losses, revealed), graph=graph)
        twin.observe(d.id, losses, adjacency(graph), revealed)
        np.testing.assert_allclose(policy._game.certificate(None)[1], twin.certificate, rtol=1e-9)
        if t < 30 and policy.plan.horizon is None:  # every price of the plan was kept
            assert policy.bound_at(1000) == policy.plan.bound_at(1000).value
    assert by_name(NUMBERS, policy._game.arrays.numbers).repair == 1
    assert policy.bound_at(1000) is None


class Machine(RuleBasedStateMachine):
    """Everything that may happen to a policy, in any order, beside the twin."""

    kind: str

    @initialize(rounds=st.integers(0, 3), waiting=st.integers(0, 2))
    def begin(self, rounds, waiting):
        self.policy = begun(self.kind, rounds)
        self.n, self.t = self.policy.graph.n_arms, 0
        waiting = self.policy.decide(count=waiting) if waiting else []  # made before any graph changes
        self.policy = self.policy._for_changes()
        self.twin = twin_of(self.policy)
        for d in waiting:
            values, twin, A = self.policy._open[d.id].values, self.twin, adjacency(self.policy.graph)
            (X, Z, _), c = values[N_DRAW:].reshape(3, self.n), by_name(DRAW, values).shift
            price = cost(A, X, Z, twin.beta, twin.s, c)
            twin.open[d.id] = Made(d.arm, twin.rounds, twin.beta, X, Z, c, A, price)
        self.graphs = [self.policy.graph, *(drawn_graph(self.n, seed) for seed in range(2))]
        self.graphs.append(failing_graph(self.n, 2))
        self.shown = [larger_graph(self.policy.graph, 1), strong_graph(self.n, 2), self.policy.graph]
        self.given = set()

    def losses(self):
        self.t += 1
        return losses_of(self.t, self.n)

    def explored(self, graph):
        same = graph is None or graph.content == self.policy.graph.content
        return None if same else record(other_graph(graph, self.policy._game._order))

    def note(self, number, arm, graph):
        planned, only = unknown(self.policy) if self.explored(graph) is None else (None, False)
        if self.explored(graph) is not None:
            self.given.add(number)
        return self.twin.decide(number, arm, self.explored(graph), planned, only)

    @rule(data=st.data(), count=st.integers(1, 2))
    def decide(self, data, count):
        graph = data.draw(st.sampled_from([None, *self.graphs]), label="graph")
        for d in self.policy.decide(count=count, graph=graph):
            P = self.note(d.id, d.arm, graph)
            assert d.reveals.tolist() == (graph or self.policy.graph).out_neighbors(d.arm).tolist()
            np.testing.assert_allclose(d.seen, P[d.reveals], rtol=1e-7, atol=1e-11)

    @precondition(lambda self: self.policy.pending is None)
    @rule(data=st.data())
    def ask(self, data):
        graph = data.draw(st.sampled_from([None, *self.graphs]), label="graph")
        arm = self.policy.ask(graph=graph)
        number = self.policy._game.made
        self.note(number, arm, graph)
        np.testing.assert_allclose(
            distribution(self.policy, number), self.twin.open[number].Z, rtol=1e-7, atol=1e-11
        )
        # What would be decided next is on the policy's own graph, whatever this one is on.
        np.testing.assert_allclose(
            self.policy.probabilities, self.twin.distribution(*unknown(self.policy)), rtol=1e-7, atol=1e-11
        )

    @precondition(lambda self: self.policy.pending is not None)
    @rule()
    def tell(self):
        number, losses, arm = self.policy._asked, self.losses(), self.policy.pending
        graph = self.policy._open[number].graph or self.policy.graph
        revealed = works(graph, arm, self.t)
        self.policy.tell(told(graph, arm, losses, revealed))
        self.twin.observe(number, losses, revealed=revealed)

    @precondition(lambda self: self.policy.open)
    @rule(data=st.data())
    def observe(self, data):
        d = data.draw(st.sampled_from(self.policy.open), label="decision")
        losses = self.losses()
        if d.id in self.given or data.draw(st.booleans(), label="on the plan's own graph"):
            graph = self.policy._open[d.id].graph or self.policy.graph
            revealed = works(graph, d.arm, self.t)
            self.policy.observe(d, {int(j): losses[j] for j in d.reveals if revealed[j]})
            self.twin.observe(d.id, losses, revealed=revealed)
        else:
            graph = data.draw(st.sampled_from(self.shown), label="shown")
            revealed = works(graph, d.arm, self.t)
            self.policy.observe(d.id, told(graph, d.arm, losses, revealed), graph=graph)
            self.twin.observe(d.id, losses, adjacency(graph), revealed)

    @precondition(lambda self: self.policy.open)
    @rule(data=st.data())
    def cancel(self, data):
        d = data.draw(st.sampled_from(self.policy.open), label="decision")
        self.policy.cancel(d)
        self.twin.cancel(d.id)

    @rule(which=st.sampled_from(["saved", "loaded", "copied", "pickled"]))
    def keep(self, which):
        if which in ("saved", "loaded"):
            other = sl.Policy.from_bytes(self.policy.to_bytes())
            assert [d.id for d in other.open] == [d.id for d in self.policy.open]
            assert other.to_bytes() == self.policy.to_bytes()
            self.policy = other if which == "loaded" else self.policy
        else:
            other = self.policy.copy() if which == "copied" else pickle.loads(pickle.dumps(self.policy))
            assert snapshot(other) == snapshot(self.policy)
            self.policy.decide(graph=self.graphs[1])  # the other must not hear of it
            self.policy = other

    @rule()
    def refuse(self):
        before = snapshot(self.policy)
        refuse_everything(self.policy)
        assert snapshot(self.policy) == before

    @invariant()
    def agrees(self):
        if not hasattr(self, "policy"):
            return
        policy, twin = self.policy, self.twin
        assert [d.id for d in policy.open] == list(twin.open)
        assert by_name(NUMBERS, policy._game.arrays.numbers).late == twin.late
        np.testing.assert_allclose(policy._game.certificate(None)[1], twin.certificate, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(
            [policy._game.ledger(arm).sum() for arm in range(self.n)],
            twin.paid + twin.explored - twin.L,
            rtol=1e-7,
            atol=1e-8,
        )


def refuse_everything(policy):
    n = policy.graph.n_arms
    with pytest.raises(InvalidGraph, match=f"{n}, got {n + 1}"):
        policy.decide(graph=families.mab(n + 1))
    with pytest.raises(InvalidGraph, match="FeedbackGraph, got list"):
        policy.decide(graph=[(0, 1)])
    for d in policy.open[:2]:
        known = policy._open[d.id].graph
        sure = [j for j in d.reveals.tolist() if (known or policy.graph).probability(d.arm, j) == 1]
        if sure:
            with pytest.raises(InvalidFeedback, match=r"also reveals|must be a number"):
                policy.observe(d, {int(j): None if j == sure[0] else 0.5 for j in d.reveals})
        with pytest.raises(InvalidGraph, match="got"):
            policy.observe(d, [], graph=families.mab(n - 1))
        if known is not None:
            with pytest.raises(TurnError, match="given when it was decided"):
                policy.observe(d, [], graph=families.full(n))
            continue
        with pytest.raises(InfeasibleRequest, match="strongly observable"):
            policy.observe(d, [], graph=sl.FeedbackGraph.from_edges(n, [(0, 1)]))
        with pytest.raises(InfeasibleRequest, match="at least as likely to reveal"):
            policy.observe(d, [], graph=families.faulty(families.full(n), 0.1))
        with pytest.raises(InvalidFeedback):
            policy.observe(d, np.full(n + 1, 0.5), graph=families.full(n))
        with pytest.raises(InvalidFeedback, match=r"must be in \[0, 1\]"):
            policy.observe(d, np.full(n, 1.5), graph=families.full(n))


@pytest.mark.parametrize("kind", PLANS)
def test_any_order_of_events_is_what_the_twin_says(kind):
    machine = type(f"Machine of {kind}", (Machine,), {"kind": kind})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=4,
            stateful_step_count=40,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


# -- laws, by exact expectation -------------------------------------------------------------------------------


def learnt(policy):
    return policy._game.arrays.sums + by_name(NUMBERS, policy._game.arrays.numbers).least


@pytest.mark.parametrize("shown", ["before", "after"])
@pytest.mark.parametrize("late", [False, True])
def test_estimates_are_unbiased_on_the_graph_of_their_round(shown, late):
    """Exactly, over all draws of two rounds, each on its own graph, answered in order or the other way round."""
    policy = begun("cycle", 40)._for_changes()
    n = policy.graph.n_arms
    if shown == "before":
        graphs = [drawn_graph(n, 3, 0.5), drawn_graph(n, 5, 0.5)]
    else:
        graphs = [larger_graph(policy.graph, 3), strong_graph(n, 4)]
    losses = np.random.default_rng(1).random((2, n))
    before = learnt(policy)
    known = graphs if shown == "before" else [None, None]

    def answer(player, number, row):
        arm = player._open[number].arm
        later = {} if shown == "before" else {"graph": graphs[row]}
        player.observe(number, losses[row][graphs[row].out_neighbors(arm)], **later)

    total, shifts = np.zeros(n), []
    for one in range(n):
        a = policy.copy()
        first = decide_on(a, one, known[0])
        first_Z, c = distribution(a, first), shift(a, first)
        if not late:
            answer(a, first, 0)
        for two in range(n):
            b = a.copy()
            second = decide_on(b, two, known[1])
            weight = first_Z[one] * distribution(b, second)[two]
            shifts.append(c + shift(b, second))
            answer(b, second, 1)
            if late:
                answer(b, first, 0)
            total += weight * (learnt(b) + shifts[-1])
    assert max(shifts) > 0
    np.testing.assert_allclose(total - before, losses.sum(axis=0), rtol=1e-9, atol=1e-9)


def failures(graph, arm):
    """(weight, which reveals work) of every way in which the reveals of a play may fail."""
    chances = adjacency(graph)[arm]
    open_ = np.flatnonzero((chances > 0) & (chances < 1))
    for coins in product([True, False], repeat=open_.size):
        revealed = chances > 0
        revealed[open_] = coins
        yield np.where(coins, chances[open_], 1 - chances[open_]).prod(), revealed


@pytest.mark.parametrize("late", [False, True])
def test_estimates_are_unbiased_where_reveals_may_fail(late):
    """Exactly, over all draws and failures of two rounds, in order or the other way round."""
    policy = begun("failing")._for_changes()
    n = policy.graph.n_arms
    graphs = [failing_graph(n, 1, 0.4), failing_graph(n, 2, 0.4)]
    losses = np.random.default_rng(1).random((2, n))
    before = learnt(policy)
    total, weights, shifts = np.zeros(n), 0.0, []
    for one, two in product(range(n), repeat=2):
        for (p, first_works), (q, second_works) in product(
            failures(graphs[0], one), failures(graphs[1], two)
        ):
            game = policy.copy()
            first = decide_on(game, one, graphs[0])
            weight, c = p * q * distribution(game, first)[one], shift(game, first)
            if not late:
                game.observe(first, told(graphs[0], one, losses[0], first_works))
            second = decide_on(game, two, graphs[1])
            weight *= distribution(game, second)[two]
            shifts.append(c + shift(game, second))
            game.observe(second, told(graphs[1], two, losses[1], second_works))
            if late:
                game.observe(first, told(graphs[0], one, losses[0], first_works))
            total += weight * (learnt(game) + shifts[-1])
            weights += weight
    assert weights == pytest.approx(1)
    assert max(shifts) > 0
    np.testing.assert_allclose(total - before, losses.sum(axis=0), rtol=1e-9, atol=1e-9)


def games(policy, graphs, losses, shown, weight=1.0, lost=0.0, t=0):
    """(weight, what was lost, certificate) of every run of these rounds."""
    if t == len(losses):
        yield weight, lost, policy.certificate().value
        return
    known = graphs[t] if shown == "before" else None
    later = {} if shown == "before" else {"graph": graphs[t]}
    for arm in range(policy.graph.n_arms):
        for chance, revealed in failures(graphs[t], arm):
            after = policy.copy()
            number = decide_on(after, arm, known)
            p = chance * distribution(after, number)[arm]
            if p == 0:
                continue
            after.observe(number, told(graphs[t], arm, losses[t], revealed), **later)
            yield from games(after, graphs, losses, shown, weight * p, lost + losses[t][arm], t + 1)


@pytest.mark.parametrize("shown", ["before", "after"])
@pytest.mark.parametrize("own", ["cycle", "mab", "loopless_clique", "full"])
def test_the_certificate_bounds_the_regret_on_any_sequence_of_graphs(own, shown):
    """E[regret] ≤ E[certificate] exactly, over every run of short games; graphs that hide arms included."""
    graph = getattr(families, own)(3)
    fresh = sl.plan(graph, realization="self-tuning").policy(0)._for_changes()
    tightest = 0.0
    for seed in range(12):
        rng = np.random.default_rng([seed, 7])
        losses = (rng.random((3, 3)) < 0.5).astype(float) if seed % 2 else rng.random((3, 3))
        if shown == "before":
            graphs = [drawn_graph(3, 10 * seed + t, 0.5) for t in range(3)]
        else:
            graphs = [
                strong_graph(3, seed + t) if (seed + t) % 2 else larger_graph(graph, t) for t in range(3)
            ]
        runs = np.array(list(games(fresh, graphs, losses, shown)))
        assert runs[:, 0].sum() == pytest.approx(1)
        regret = runs[:, 0] @ runs[:, 1] - losses.sum(axis=0).min()
        certified = runs[:, 0] @ runs[:, 2]
        assert regret <= certified * (1 + 1e-12)
        tightest = max(tightest, regret / certified)
    assert tightest > 0.0  # there was something to bound


@pytest.mark.parametrize("own", ["cycle", "mab"])
def test_the_certificate_bounds_the_regret_where_reveals_may_fail(own):
    """E[regret] ≤ E[certificate] exactly, over every draw and every failure of short games."""
    graph = families.faulty(getattr(families, own)(3), 0.5)
    fresh = sl.plan(graph, realization="self-tuning").policy(0)._for_changes()
    for seed in range(6):
        rng = np.random.default_rng([seed, 9])
        losses = (rng.random((2, 3)) < 0.5).astype(float)
        graphs = [failing_graph(3, 10 * seed + t, 0.7) for t in range(2)]
        runs = np.array(list(games(fresh, graphs, losses, "before")))
        assert runs[:, 0].sum() == pytest.approx(1)
        assert runs[:, 0] @ runs[:, 1] - losses.sum(axis=0).min() <= runs[:, 0] @ runs[:, 2] * (1 + 1e-12)


@pytest.mark.parametrize("s", [0.3, 0.5, 1.0])
def test_covers_of_graphs_whose_reveals_may_fail(s):
    """What is explored shows every arm as much as docs/theory/failing-reveals.md asks for, and is no more."""
    rng = np.random.default_rng(4)
    for seed in range(10):
        graph = failing_graph(6, seed)
        explored, R = other_graph(graph, s), adjacency(graph)
        assert (explored.load >= 1 - 1e-9).all()
        X = rng.dirichlet(np.full(6, 0.4))
        (g, _, _), *_ = directions(R, explored.cover, X, s)
        assert (R.T @ g >= X ** (1 - s) * (1 - 1e-9)).all()
        assert g.sum() <= explored.cover.sum() ** s * (1 + 1e-9)


def test_a_reveal_that_failed_is_left_out_and_one_that_cannot_fail_is_not():
    policy = begun("cycle", 10)
    graph = sl.FeedbackGraph.from_edges(
        6, [(i, j) for i in range(6) for j in (i, (i + 1) % 6)], probabilities=[1.0, 0.5] * 6
    )
    d = policy.decide(graph=graph)
    sure, open_ = d.arm, (d.arm + 1) % 6
    before = snapshot(policy)
    for wrong in ({open_: 0.5}, {sure: None, open_: 0.5}, [np.nan, np.nan]):
        with pytest.raises(InvalidFeedback, match="which never fails"):
            policy.observe(d, wrong)
    assert snapshot(policy) == before
    twin = policy.copy()
    policy.observe(d, {sure: 0.5, open_: None})
    twin.observe(d.id, {sure: 0.5})
    assert policy.to_bytes() == twin.to_bytes()


def test_shown_afterwards_edges_must_be_as_likely_as_the_plans_own():
    graph = families.faulty(families.cycle(5), 0.6)
    policy = sl.plan(graph).policy(seed=1)
    d = policy.decide()
    for seldom in (families.faulty(families.cycle(5), 0.5), families.faulty(families.full(5), 0.59)):
        with pytest.raises(InfeasibleRequest, match=r"as likely to reveal as there, .* decide\(graph=…\)"):
            policy.observe(d, [0.5] * seldom.out_degree[d.arm], graph=seldom)
    often = families.faulty(families.full(5), 0.6)
    policy.observe(d, {0: 0.5}, graph=often)
    assert policy.bound_at(100) == policy.plan.bound_at(100).value  # more edges never cost more
    policy.observe(policy.decide(), np.full(5, 0.5), graph=families.full(5))
    assert policy.bound_at(100) is not None
    with pytest.raises(InfeasibleRequest, match="certain"):
        sl.baselines.exp3_ix(families.full(5)).policy(seed=1).decide(graph=often)


def test_what_nothing_reveals_costs_all_that_is_on_it():
    """A round on a graph without edges teaches nothing, and is charged in full, where it is played at all."""
    game = begun("cycle")._for_changes()._game
    before = by_name(NUMBERS, game.arrays.numbers).charged
    game.learn(game.draw(sl.FeedbackGraph.from_edges(6, [])), np.zeros(0))
    assert by_name(NUMBERS, game.arrays.numbers).charged == pytest.approx(before + 1)


def test_full_feedback_costs_what_hoeffding_says():
    """For all losses, also where more is explored than needed; and dense play keeps to the plan's bound."""
    rng, A = np.random.default_rng(3), np.ones((4, 4))
    for _ in range(100):
        X, Z, beta = rng.dirichlet(np.full(4, 0.5)), rng.dirichlet(np.full(4, 0.5)), 10 ** rng.uniform(-1, 2)
        for losses in [*np.array(list(product([0.0, 1.0], repeat=4))), rng.random(4)]:
            stability = losses @ X + beta * np.log(X @ np.exp(-losses / beta))
            for played in (X, (X + Z) / 2, Z):
                assert stability + losses @ (played - X) <= cost(A, X, played, beta, 1.0) * (1 + 1e-9)
    policy = sl.plan("full:20").policy(seed=1)._for_changes()
    coins = np.random.default_rng(0).random((2000, 20)) < 0.5
    for losses in coins.astype(float):
        policy.observe(policy.decide(), losses)
    assert policy.certificate().value <= policy.bound_at(2000)


def test_more_edges_never_cost_more():
    """Where the plan's own graph is there in any case, a round costs no more than it would on that alone."""
    policy = begun("bandit", 40)._for_changes()
    d = policy.decide()
    alone = policy._open[d.id].values[DRAW.index("cost")]
    for seed in range(20):
        trial = policy.copy()
        trial._game.show(trial._open[d.id], larger_graph(policy.graph, seed))
        assert trial._open[d.id].values[DRAW.index("cost")] <= alone * (1 + 1e-12)


# -- becoming a policy for graphs that change -----------------------------------------------------------------


@pytest.mark.parametrize("kind", PLANS)
def test_what_was_learnt_goes_on(kind):
    policy = begun(kind, 60)
    X, terms = policy._game.inside_probabilities, policy.certificate().terms
    ledgers = [policy.ledger(arm) for arm in range(policy.graph.n_arms)]
    policy.decide(graph=policy.graph)  # its own: nothing changes
    assert not isinstance(policy._game, DenseGame)
    policy.cancel(61)
    d = policy.decide(graph=drawn_graph(policy.graph.n_arms, 1))
    assert isinstance(policy._game, DenseGame)
    np.testing.assert_allclose(policy._open[d.id].values[N_DRAW : N_DRAW + X.size], X, rtol=1e-9, atol=1e-12)
    for arm, ledger in enumerate(ledgers):
        assert policy.ledger(arm) == pytest.approx(ledger)
    now = policy.certificate().terms
    assert {name: now[name] for name in terms} == terms
    assert now["unanswered"] == 2


def test_decisions_from_before_are_answered_as_they_were_made():
    """Two of the same distribution, one of an older: with the probabilities that were told then."""
    policy = begun("cycle", 20)
    old, other = policy.decide(count=2)
    policy.observe(other, losses_of(1, 6)[other.reveals])
    new = policy.decide()
    static = policy.copy()
    policy.decide(graph=drawn_graph(6, 1))
    for d in (old, new):
        shown = next(o for o in policy.open if o.id == d.id)
        np.testing.assert_allclose(shown.seen, d.seen, rtol=1e-9)
        sums = learnt(policy)
        losses = losses_of(d.id, 6)
        policy.observe(d.id, losses[d.reveals])
        np.testing.assert_allclose(learnt(policy)[d.reveals], sums[d.reveals] + losses[d.reveals] / d.seen)
    with pytest.raises(TurnError, match="only the probabilities of what the policy's own graph reveals"):
        static.observe(old, np.full(6, 0.5), graph=families.full(6))
    static = static._for_changes()
    with pytest.raises(TurnError, match="only the probabilities of what the policy's own graph reveals"):
        static.observe(old, np.full(6, 0.5), graph=families.full(6))
    static.observe(new.id, np.full(6, 0.5), graph=families.full(6))


def test_a_graph_may_be_shown_to_a_policy_that_has_met_none():
    policy = begun("cycle", 10)
    d = policy.decide()
    ready, losses = policy._for_changes(), losses_of(3, 6)
    for player in (policy, ready):
        player.observe(d, losses, graph=families.full(6))
        player.ask()
        player.tell(losses, graph=families.full(6))
    assert isinstance(policy._game, DenseGame)
    assert policy.round == 12
    ready._game.wealth[:] = policy._game.wealth  # the round in which the game changes is not bet on
    assert policy.to_bytes() == ready.to_bytes()


def test_units_and_labels():
    names = ["a", "b", "c"]
    ring = sl.FeedbackGraph.from_edges(3, families.cycle(3).edges(), labels=names)
    full = sl.FeedbackGraph.from_edges(3, families.full(3).edges(), labels=names)
    policy = sl.plan(ring, realization="self-tuning").policy(seed=1, rewards=(0, 25))
    d = policy.decide(graph=full)
    policy.observe(d, {"a": 25, "b": 10, "c": 0})
    assert policy.certificate().value > 0
    with pytest.raises(InvalidGraph, match="arm 1 is 'b', got 'x'"):
        policy.decide(graph=sl.FeedbackGraph.from_edges(3, [(0, 1)], labels=["a", "x", "c"]))
    with pytest.raises(InvalidFeedback, match=r"\[0, 25\], got 30"):
        policy.observe(policy.decide(), {"a": 30, "b": 0, "c": 1}, graph=full)


@pytest.mark.parametrize(
    "made",
    [
        lambda: sl.plan(families.cycle(4), 500, realization="flat"),
        lambda: sl.baselines.chlz21(families.cycle(4), 500),
        lambda: sl.baselines.ucb_n(families.mab(4)),
        lambda: sl.baselines.track_n(families.cycle(4)),
    ],
)
def test_plans_for_one_graph_say_so(made):
    policy = made().policy(seed=1)
    d = policy.decide(graph=policy.graph)  # which is its own
    with pytest.raises(InfeasibleRequest, match=r"sl\.plan\(graph\)"):
        policy.decide(graph=families.full(4))
    with pytest.raises(InfeasibleRequest, match=r"sl\.plan\(graph\)"):
        policy.observe(d, [0.5] * 4, graph=families.full(4))
    policy.observe(d, [0.5] * d.reveals.size, graph=policy.graph)
    assert policy.round == 1


def test_covers_are_kept_by_content():
    graph = drawn_graph(5, 8, 0.6)
    same = sl.FeedbackGraph.from_edges(5, graph.edges())
    assert other_graph(graph, 0.5) is other_graph(same, 0.5)
    assert other_graph.cache_info().maxsize == MOST_CACHED


@pytest.mark.parametrize(
    ("member", "index", "value", "says"),
    [
        ("state.numbers", NUMBERS.index("beta"), -1.0, "β"),
        ("state.numbers", NUMBERS.index("charged"), -1e9, "certifies"),
        ("state.sums", 0, -1.0, "state.sums"),
        ("decisions.values", N_DRAW + 1, -2.0, "decisions.values"),
        ("decisions.graphs", 0, 7, "decisions.graphs"),
        ("decisions.arms", 0, 6, "decisions.arms"),
    ],
)
def test_what_no_schema_lets_pass_is_refused(tmp_path, member, index, value, says):
    policy = begun("cycle", 10)
    policy.decide(graph=drawn_graph(6, 1))
    policy.save(tmp_path / "policy")
    header, arrays = contents(tmp_path / "policy")
    arrays[member][index] = value
    forge(tmp_path / "policy", header, arrays)
    with pytest.raises(SavedStateError, match=says):
        sl.Policy.load(tmp_path / "policy")


def test_many_open_decisions_on_graphs_of_their_own_load_quickly():
    """Rounds are not counted through, and graphs are not members of their own: milliseconds."""
    policy = begun("cycle", 10)
    for seed in range(300):
        policy.decide(graph=drawn_graph(6, seed))
    by_name(NUMBERS, policy._game.arrays.numbers).round = 100_000
    policy._game.made += 100_000 - 10
    data = policy.to_bytes()
    sl.Policy.from_bytes(data)
    began = time.process_time()
    loaded = sl.Policy.from_bytes(data)
    assert time.process_time() - began < 0.5
    assert loaded.to_bytes() == data


# -- Exp3-IX --------------------------------------------------------------------------------------------------


def looped(n, seed):
    return with_loops(drawn_graph(n, seed))


@pytest.mark.parametrize("kept", ["here", "copied", "saved"])
def test_exp3_ix_divides_by_what_its_graph_shows_whenever_that_is(kept):
    """Against the formulas: η = γ = √(log N/(N + ΣQ)), Q of a round on the graph as far as it is known."""
    n = 5
    own = families.mab(n)
    policy = sl.baselines.exp3_ix(own).policy(seed=3)
    L, total, made = np.zeros(n), 0.0, {}

    def rate(of):
        return np.sqrt(np.log(n) / (n + of))

    def share(p, P, gamma):
        return float((p / (P + gamma)).sum())

    for t in range(40):
        graph = looped(n, t % 5)
        known = graph if t % 3 == 0 else None
        d = policy.decide(graph=known)
        p = np.exp(-rate(total) * (L - L.min()))
        p /= p.sum()
        gamma, P = rate(total), adjacency(known or own).T @ p
        np.testing.assert_allclose(d.seen, P[d.reveals], rtol=1e-9)
        made[d.id] = d, p, gamma, share(p, P, gamma), known, graph
        total += made[d.id][3]
        if kept == "copied":
            policy = policy.copy()
        elif kept == "saved":
            policy = sl.Policy.from_bytes(policy.to_bytes())
        if t % 2:
            for number in sorted(made, key=lambda number: -number):
                d, p, gamma, Q, known, graph = made.pop(number)
                losses = losses_of(number, n)
                reveals = graph.out_neighbors(d.arm)
                policy.observe(number, losses[reveals], graph=graph)
                P = adjacency(graph).T @ p
                total += share(p, P, gamma) - Q
                L[reveals] += losses[reveals] / (P + gamma)[reveals]
        now = np.exp(-rate(total) * (L - L.min()))
        np.testing.assert_allclose(policy.probabilities, now / now.sum(), rtol=1e-9)
    assert policy.bound_at(100) is None
    with pytest.raises(InfeasibleRequest, match="needs every arm to reveal itself"):
        policy.decide(graph=families.cycle(n))
    with pytest.raises(TurnError, match="given when it was decided"):
        policy.observe(policy.decide(graph=looped(n, 1)), [], graph=looped(n, 2))


def test_exp3_ix_asks_and_tells_on_graphs_that_change():
    one, two = (sl.baselines.exp3_ix(families.mab(4)).policy(seed=3) for _ in range(2))
    for t in range(20):
        graph = looped(4, t % 3)
        losses = losses_of(t, 4)
        arm = one.ask()
        d = two.decide()
        assert arm == d.arm
        one.tell(losses[graph.out_neighbors(arm)], graph=graph)
        two.observe(d, losses[graph.out_neighbors(arm)], graph=graph)
        np.testing.assert_allclose(one.probabilities, two.probabilities, rtol=1e-12)
    arm = one.ask(graph=graph)
    other = sl.Policy.from_bytes(one.to_bytes())
    for player in (one, other, pickle.loads(pickle.dumps(one)), one.copy()):
        player.tell(losses[graph.out_neighbors(arm)])
        np.testing.assert_allclose(player.probabilities, one.probabilities, rtol=1e-12)


# -- graphs with and without loops ----------------------------------------------------------------------------


def test_a_graph_contains_what_it_has_more_edges_than():
    ring, full = families.cycle(5), families.full(5)
    clique = families.loopless_clique(5)
    for large, small in ((full, ring), (clique, ring), (full, clique)):
        assert large.contains(small)
        assert not small.contains(large)
    assert not clique.contains(with_loops(ring))
    for seed in range(30):
        small, large = drawn_graph(5, seed, 0.7), drawn_graph(5, seed + 100, 0.85)
        expected = bool((adjacency(large) >= adjacency(small)).all())
        assert large.contains(small) == expected
        assert larger_graph(small, seed).contains(small)
        seldom, often = failing_graph(5, seed, 0.8), larger_graph(failing_graph(5, seed, 0.8), seed)
        assert often.contains(seldom)
        assert seldom.contains(often) == (often.content == seldom.content)
    for failing in (
        [0.5, 1, 1],
        [1, 1, 0.5],
        [1, 1, 1],
        [0.5, 0.9, 1],
    ):  # all others reveal arm 0; it itself may fail
        listed = sl.FeedbackGraph.from_edges(3, [(0, 0), (1, 0), (2, 0)], probabilities=failing)
        for loop in ([], [(0, 0)]):
            universal = sl.FeedbackGraph.from_edges(3, [(1, 0), (2, 0), *loop])
            expected = bool((adjacency(listed) >= adjacency(universal)).all())
            assert listed.contains(universal) == expected
            assert universal.contains(listed) == bool((adjacency(universal) >= adjacency(listed)).all())
    assert ring.content == families.cycle(5).content != clique.content
