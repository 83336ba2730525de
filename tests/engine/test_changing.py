"""Dense play on graphs that change, kernel by kernel, against the twin; compiled and interpreted."""

import numpy as np
import pytest
from changing_twin import ChangingTwin
from policy_kinds import losses_of
from tuned_plans import adjacency

import sidelight as sl
from sidelight import families
from sidelight._types import frozen
from sidelight.engine._numba.bundles import by_name
from sidelight.engine.calendar import make_calendar
from sidelight.engine.graphs import FIRST_OTHER, OTHER, SAME, Sequence
from sidelight.engine.losses import no_function
from sidelight.engine.random import seeded_words
from sidelight.engine.round.probabilities import fill_edge_units
from sidelight.engine.self_tuning import changing as loop
from sidelight.engine.self_tuning.changing import N_DRAW, NUMBERS, RULE, new_state
from sidelight.policy.graphs import other_graph, own_graph, packed, unknown_graph


def begun(graph, s):
    """A state at round one, graphs to be played on, and the twin."""
    plan = sl.plan(graph, realization="self-tuning", order=s)
    rule, n = plan.tuning.self_tuning, graph.n_arms
    drawn = np.random.default_rng(3).random((2, n, n)) < 0.4
    kinds = [sl.FeedbackGraph.from_adjacency(A) for A in drawn]
    if not graph.certain:
        kinds[1] = families.faulty(kinds[1], 0.4)
    others = [other_graph(each, s) for each in kinds]
    explored = [own_graph(plan), unknown_graph(n, s), *others]
    records = [(adjacency(e.graph), e.cover, (e.load > 0).astype(float), e.lean) for e in explored]
    twin = ChangingTwin(records[0], rule)
    table = rule.table
    given = {"prices_from": table.first, "prices_step": table.step}
    numbers = np.array([given.get(name, getattr(rule, name, 0.0)) for name in RULE])
    state = new_state(numbers, table.rows.ravel(), n, seeded_words(4))
    by_name(NUMBERS, state.numbers).penalty = twin.purchased
    loop.start(state)
    return state, packed(explored), twin, records


@pytest.mark.parametrize(
    ("graph", "s"),
    [
        (families.cycle(4), 0.5),
        (families.loopless_clique(4), 1.0),
        (families.mab(3), 0.7),
        (families.faulty(families.cycle(4), 0.6), 0.7),
    ],
)
def test_rounds_are_those_of_the_twin(graph, s):
    state, graphs, twin, records = begun(graph, s)
    n, now = graph.n_arms, by_name(NUMBERS, state.numbers)
    kept = np.zeros(N_DRAW + 3 * n)
    for t in range(25):
        k = FIRST_OTHER + t % 2
        if t % 3:
            arm = loop.decide(state, graphs, k, OTHER, kept)
            twin.decide(t, arm, records[k])
        else:  # planned for its own, and then it was another
            arm = loop.decide(state, graphs, 0, SAME, kept)
            twin.decide(t, arm)
            loop.reconsider(state, graphs, k, OTHER, kept)
        np.testing.assert_allclose(kept[N_DRAW + n : N_DRAW + 2 * n], twin.open[t].Z, rtol=1e-9, atol=1e-12)
        losses = losses_of(t, n)
        assert loop.observe(state, graphs, k, arm, losses[records[k][0][arm] > 0], kept)
        twin.observe(t, losses, records[k][0])
        np.testing.assert_allclose(state.sums + now.least, twin.L, rtol=1e-9)
        np.testing.assert_allclose([now.penalty, now.charged], twin.certificate, rtol=1e-9)


def test_a_bad_loss_changes_nothing():
    state, graphs, _, _ = begun(families.mab(3), 0.5)
    kept = np.zeros(N_DRAW + 9)
    arm = loop.decide(state, graphs, 0, SAME, kept)
    before = state.numbers.tobytes(), state.sums.tobytes()
    for loss in (1.5, -0.1, np.nan):
        assert not loop.observe(state, graphs, 0, arm, np.array([loss]), kept)
    assert before == (state.numbers.tobytes(), state.sums.tobytes())


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("works", [1.0, 0.5])
def test_many_rounds_are_the_same_rounds(after, works):
    """The loop, and decisions one by one, with losses that come two rounds late, or are not revealed at all."""
    own = families.faulty(families.mab(3), works)
    (one, graphs, _, records), (two, _, _, _) = (begun(own, 0.5) for _ in range(2))
    table = np.random.default_rng(1).random((20, 3))
    world = sl.environments.matrix(table).world
    order = frozen([0, 1, 1], np.int64)
    sequence = Sequence(2, order, frozen([], np.float64))
    size = N_DRAW + 9
    calendar = make_calendar(np.array([2]), 20, size)
    plays = np.zeros(3, dtype=np.int64)
    about = (world, no_function, np.uint64(7), 0, 20, 0.0, plays, calendar)
    cost = loop.play(one, graphs, sequence, after, *about)
    waiting, total = [], 0.0
    for t in range(20):
        kept, k = np.zeros(size), FIRST_OTHER + int(order[(t // 2) % 3])
        planned = (1 if by_name(NUMBERS, two.numbers).repair else 0) if after else k
        arm = loop.decide(two, graphs, planned, SAME if after else graphs.relation[k], kept)
        total += table[t, arm]
        waiting.append((t, k, arm, kept))
        if len(waiting) > 2:
            then, k, arm, kept = waiting.pop(0)
            if after:
                loop.reconsider(two, graphs, k, graphs.relation[k], kept)
            chances, units = records[k][0][arm], np.empty(3)
            fill_edge_units(np.uint64(7), then, arm, np.arange(3), units)
            heard = np.where(units < chances, table[then], 0.0)
            assert loop.observe(two, graphs, k, arm, heard[chances > 0], kept)
    assert cost == pytest.approx(total)
    assert plays.sum() == 20
    np.testing.assert_array_equal(one.numbers, two.numbers)
    np.testing.assert_array_equal(one.sums, two.sums)
