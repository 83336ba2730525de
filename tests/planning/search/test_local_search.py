import time
from itertools import pairwise, permutations

import numpy as np
import pytest

import sidelight.planning.search as home
from sidelight import partitions
from sidelight.analysis import fractional_domination
from sidelight.errors import InfeasibleRequest, InvalidGraph, InvalidOption, UnobservableGraph
from sidelight.graph import FeedbackGraph, families
from sidelight.partition import Partition, legality_violations
from sidelight.planning import plan
from sidelight.planning.exploration import Solved
from sidelight.planning.search import (
    State,
    by_floor,
    floors,
    hubs,
    natural_starts,
    search,
    searched,
    set_partitions,
)


def random_graph(n, seed):
    rng = np.random.default_rng([n, seed])
    while True:
        reveals = rng.random((n, n)) < rng.choice([0.1, 0.2, 0.4])
        np.fill_diagonal(reveals, rng.random(n) < rng.choice([0.0, 0.5, 0.9]))
        if reveals.any(axis=0).all():
            return FeedbackGraph.from_adjacency(reveals)


def linked_bandit(n, c):
    """Self-loops, c arms that are watched by one other arm each, and a path through all others."""
    edges = [(i, i) for i in range(n - c)] + [(i, n - c + i) for i in range(c)]
    return FeedbackGraph.from_edges(n, edges + [(i, i + 1) for i in range(n - c - 1)])


def every_partition(n):
    """Every partition of 0..n−1, by adding one arm after the other."""
    if n == 0:
        yield []
        return
    for blocks in every_partition(n - 1):
        yield [*blocks, [n - 1]]
        for k in range(len(blocks)):
            yield [*blocks[:k], [*blocks[k], n - 1], *blocks[k + 1 :]]


def four_arms():
    """Every observable digraph with 4 arms up to isomorphism, by the least code of its class."""
    codes = np.arange(1 << 16)
    bits = ((codes[:, None] >> np.arange(16)) & 1).reshape(-1, 4, 4)
    least = codes.copy()
    for order in permutations(range(4)):
        least = np.minimum(least, bits[:, order][:, :, order].reshape(-1, 16) @ (1 << np.arange(16)))
    return bits[(least == codes) & bits.any(axis=1).all(axis=1)]


# -- pieces -----------------------------------------------------------------------------------------------


def state_of(g, partition, horizon=10**6):
    return State(Solved(g).blocks("", partition), horizon)


@pytest.mark.parametrize("horizon", [50, 10**4, 10**9])
def test_floor_is_below_every_bound_and_near(horizon):
    near = []
    for seed in range(3):
        g = random_graph(5, seed)
        for blocks in every_partition(5):
            if not legality_violations(g, blocks):
                partition = Partition(g, blocks)
                value = plan(g, horizon, partition).bound.value
                floor = state_of(g, partition, horizon).value
                assert floor <= value
                near.append(floor / value)
    assert np.median(near) > 0.85


@pytest.mark.parametrize(
    "row", [(40, 0, 3, 7.5, 9.0), (0, 0, 2, 3.0, 2.5), (2_000, 5, 1, 1.0, 8.0), (3, 0, 0, 0, 0)]
)
@pytest.mark.parametrize("T", [100.0, 1e6])
def test_floor_is_the_least_of_its_formula(row, T):
    """The closed forms for b and α against a fine grid."""
    n_loop, n_loopless, n_weak, total, demand = row
    grid = np.geomspace(1e-9, 10, 400_001)
    expected = np.sqrt(2 * T * np.log(n_loopless)) if n_loopless else 0.0
    kappa = 1.0 if n_loopless else 1 - 1 / np.sqrt(n_loop + n_weak)
    if n_weak:
        b = grid[grid <= 0.5 / demand]
        expected += (np.sqrt(2 * T / b) + b * demand * T).min()
        expected += (grid * T + 2 * np.sqrt(2 * T * (n_loop + total / grid) * kappa)).min()
    else:
        expected += 2 * np.sqrt(2 * T * n_loop * kappa)
    assert floors(np.array([row], dtype=float), T)[0] == pytest.approx(expected, rel=1e-4)


def graphs_with_everything():
    """Listed and universal arms, with self-loops and without."""
    yield random_graph(12, 1)
    yield families.loopless_clique(9)
    yield families.bounded_in_degree(40, 3, 1)
    everywhere = [(i, j) for i in range(6) for j in (4, 5) if (i, j) != (5, 5)]
    yield FeedbackGraph.from_edges(6, [(0, 1), (1, 2), (2, 0), (3, 3), (4, 3), *everywhere])


@pytest.mark.parametrize("which", range(4))
def test_weighed_changes_are_what_starting_afresh_gives(which):
    """Illegal exactly where partitions say so, the same value once applied, and covers that cover."""
    g = list(graphs_with_everything())[which]
    state, rng = state_of(g, Partition(g, [np.arange(g.n_arms)])), np.random.default_rng(0)
    for _ in range(15):
        changes = home.neighbours(state, rng, 32)
        values = state.weigh(changes)
        for change, value in zip(changes, values, strict=True):
            labels = state.labels.copy()
            labels[change.arms] = change.labels
            blocks = [np.flatnonzero(labels == label) for label in np.unique(labels)]
            assert np.isfinite(value) == (legality_violations(g, blocks) == ())
        legal = np.flatnonzero(np.isfinite(values))
        if legal.size == 0:
            continue
        pick = int(rng.choice(legal))
        state.apply(changes[pick])
        assert state.value == pytest.approx(values[pick], rel=1e-9)
        fresh = state_of(g, Partition.from_labels(g, state.labels))
        assert fresh.value <= state.value * (1 + 1e-9)  # mended covers are never below the domination number
        reveals = g.to_sparse().toarray() * (state.labels[:, None] == state.labels)
        assert (state.cover @ reveals)[state.busy].min(initial=1.0) >= 1 - 1e-9


def test_states_tell_domination_numbers():
    g = random_graph(7, 3)
    state = state_of(g, Partition(g, [np.arange(7)]))
    assert state.total[3] == pytest.approx(fractional_domination(g).value, rel=1e-9)


@pytest.mark.parametrize(("n", "bell"), [(1, 1), (3, 5), (5, 52), (7, 877)])
def test_enumeration_has_every_partition_once(n, bell):
    found = {frozenset(blocks) for blocks in set_partitions([True] * (1 << n), n)}
    assert len(found) == bell
    assert all(sum(blocks) == (1 << n) - 1 for blocks in found)


# -- against the optimum ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_exact_search_is_the_best_plan_of_all_partitions(seed):
    g = random_graph(5, seed)
    horizon = (100, 10**5, 10**9)[seed % 3]
    legal = [blocks for blocks in every_partition(5) if not legality_violations(g, blocks)]
    scores = [plan(g, horizon, Partition(g, blocks)).bound for blocks in legal]
    best = min(bound.value for bound in scores if bound.certified)
    found = searched(g, horizon, exact=True)
    assert found.exact
    assert found.moves == len(legal)
    assert found.bound == pytest.approx(best, rel=1e-9)


def gaps(graphs, moves):
    horizons = (10**4, 10**6, 10**9)
    found = []
    for i, g in enumerate(graphs):
        best = searched(g, horizons[i % 3], exact=True).bound
        near = searched(g, horizons[i % 3], exact=False, moves=moves, budget=600).bound
        assert near >= best * (1 - 1e-9)
        found.append(near / best - 1 if best else 0.0)
    return np.array(found)


@pytest.mark.slow
def test_gap_on_observable_digraphs_with_four_arms():
    """Every 90th class; benchmarks/bench_search.py goes through all of them."""
    matrices = four_arms()
    assert len(matrices) == 2_340
    found = gaps([FeedbackGraph.from_adjacency(matrix) for matrix in matrices[::90]], 40)
    assert np.median(found) == pytest.approx(0, abs=1e-9)
    assert found.max() < 0.05


@pytest.mark.slow
def test_gap_on_random_graphs():
    found = gaps([random_graph(5 + seed % 3, seed) for seed in range(9)], 100)
    assert np.median(found) == pytest.approx(0, abs=1e-9)
    assert found.max() < 0.05


@pytest.mark.slow
def test_moves_alone_lead_to_the_optimum(monkeypatch):
    """On so few arms the best partition is natural, so the gap above says little of the moves: start elsewhere."""
    found = []
    for seed in range(10):
        g = random_graph(5 + seed % 2, seed)
        best = searched(g, 10**5, exact=True).bound
        worst = Partition(g, by_floor(g, 10**5)[0][-1][1])
        start = plan(g, 10**5, worst).bound.value
        with monkeypatch.context() as plain:
            plain.setattr(home, "hubs", lambda *_: [])
            plain.setattr(home, "natural_starts", lambda *_, worst=worst: [("worst", worst)])
            near = searched(g, 10**5, exact=False, moves=2_000, budget=600).bound
        assert best * (1 - 1e-9) <= near <= start * (1 + 1e-9)
        found.append((near / best - 1, start / best - 1))
    gap, before = np.array(found).T
    assert np.median(before) > 0.1  # the starts are bad
    assert np.median(gap) == pytest.approx(0, abs=1e-9)


# -- promises ---------------------------------------------------------------------------------------------


def hidden_star(leaves, loops, seed=0):
    """A bandit on a path, at the end of which one arm reveals `leaves` others; names are shuffled."""
    n = 1 + leaves + loops
    edges = [(i, i) for i in range(n)] + [(0, j) for j in range(1, leaves + 1)]
    edges += [(i, i + 1) for i in range(leaves, n - 1)]
    return FeedbackGraph.from_edges(n, np.random.default_rng(seed).permutation(n)[np.array(edges)])


def test_a_search_can_beat_every_natural_partition():
    """The star as a block beside a bandit; no component, community or class of arms is that block.

    A flat plan that covers the star by its hub is better still: one simplex pays no price for two levels.
    """
    g, horizon = hidden_star(6_000, 300), 10**6
    auto = plan(g, horizon, realization="fixed").bound.value
    found = searched(g, horizon, budget=10, moves=1_000)
    natural = [
        tried.value for tried in found.history if tried.name in {name for name, _ in natural_starts(g)}
    ]
    assert found.bound < 0.7 * min(natural)
    assert auto < 0.7 * found.bound
    assert plan(g, horizon, found.partition).bound.value == pytest.approx(found.bound, rel=1e-9)


def test_moves_gather_a_star(monkeypatch):
    """Without the start that is made for hubs, the moves find the same block."""
    monkeypatch.setattr(home, "hubs", lambda *_: [])
    g, horizon = hidden_star(3_000, 120), 10**6
    found = searched(g, horizon, budget=30, moves=2_000)
    assert found.partition.n_blocks < 200
    natural = [
        tried.value for tried in found.history if tried.name in {name for name, _ in natural_starts(g)}
    ]
    assert found.bound < 0.9 * min(natural)


def test_several_stars_are_several_blocks():
    """Cheaper than one block of all of them: log n_k counts for each star instead of log n."""
    rng, sizes, loops = np.random.default_rng(0), [2_000, 1_000, 500], 100
    first = np.cumsum([0, *(size + 1 for size in sizes)])
    n = int(first[-1]) + loops
    edges = [(i, i) for i in range(n)] + [(i, i + 1) for i in range(n - 1)]
    edges += [(int(a), j) for a, b in pairwise(first) for j in range(a + 1, b)]
    g = FeedbackGraph.from_edges(n, rng.permutation(n)[np.unique(edges, axis=0)])
    best = min(hubs(g, 10**5), key=lambda made: plan(g, 10**5, made).bound.value)
    assert sorted(best.sizes[best.weak].tolist()) == pytest.approx([501, 1_001, 2_001], abs=2)


def test_a_search_finds_weak_arms_their_watchers():
    """Each beside its watcher, not all in one block; no natural partition has that."""
    g, horizon = linked_bandit(500, 10), 10**7
    found = searched(g, horizon, budget=60, moves=8_000)
    natural = [
        tried.value for tried in found.history if tried.name in {name for name, _ in natural_starts(g)}
    ]
    assert found.bound < 0.97 * min(natural)


@pytest.mark.parametrize("seed", range(4))
def test_never_worse_than_natural_and_always_legal(seed):
    g = random_graph(14, seed)
    found = searched(g, 10**5, moves=300, budget=60, seed=seed)
    assert legality_violations(g, found.partition.blocks) == ()
    for _, partition in natural_starts(g):
        assert found.bound <= plan(g, 10**5, partition).bound.value * (1 + 1e-9)


def test_same_seed_same_result():
    g = random_graph(16, 2)
    first, second = (searched(g, 10**6, moves=400, budget=600, seed=5) for _ in range(2))
    assert first.partition == second.partition
    assert [tried[:4] for tried in first.history] == [tried[:4] for tried in second.history]
    assert first.moves == second.moves


def test_interrupt_returns_the_best_so_far(monkeypatch):
    g = random_graph(14, 0)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(home, "neighbours", interrupt)
    found = searched(g, 10**5)
    assert found.stopped == "interrupted"
    assert found.bound == min(tried.value for tried in found.history)


def test_interrupt_before_anything_was_scored_is_passed_on(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(home, "natural_starts", interrupt)
    with pytest.raises(KeyboardInterrupt):
        searched(random_graph(10, 0), 10**5)


@pytest.mark.parametrize("make", [lambda: families.cycle(10_000), lambda: families.cliques([10] * 10_000)])
def test_budget_is_kept(make):
    """By the processor's time of the process, which other programs do not use up."""
    g = make()
    start = time.process_time()
    found = searched(g, 10**7, budget=1)
    assert time.process_time() - start < 5  # a step that has begun is finished; libraries may use two threads
    assert found.stopped == "budget"


def test_natural_partitions_are_scored_whatever_the_budget():
    g = families.cliques([3] * 300)
    found = searched(g, 10**7, budget=1e-9)
    assert [tried.name for tried in found.history] == [name for name, _ in natural_starts(g)]
    assert found.stopped == "budget"


def test_most_moves_are_about_weak_blocks():
    """Arms on their own outnumber the others by 50 to 1, yet most changes touch a weak block."""
    g = linked_bandit(2_000, 20)
    state = state_of(g, dict(natural_starts(g))["corrupted"])
    weak = state.sizes > 1
    changes = home.neighbours(state, np.random.default_rng(0), 256)
    about = [weak[state.labels[change.arms]].any() or np.any(weak[change.labels]) for change in changes]
    assert np.mean(about) > 0.5


def test_progress_shows_on_request_only(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal, for all that the bar can tell
    g = random_graph(12, 1)
    search(g, 10**5, moves=100)
    assert capsys.readouterr().err == ""
    search(g, 10**5, moves=100, progress=True)
    assert "searching" in capsys.readouterr().err


def test_public_names():
    assert partitions.search is search
    assert partitions.searched is searched
    with pytest.raises(AttributeError, match="nothing"):
        _ = partitions.nothing


def test_plan_considers_the_searched_partition():
    g = linked_bandit(3_000, 30)
    natural, made = plan(g, 10**8, realization="fixed"), plan(g, 10**8, realization="fixed", search=6)
    assert made.bound.value <= natural.bound.value * (1 + 1e-9)
    assert any(candidate.partition == "searched" for candidate in made.details.considered)
    with pytest.raises(InvalidOption, match="search=3"):
        plan(g, 10**8, Partition(g, [np.arange(3_000)]), search=3)
    with pytest.raises(InvalidOption, match="search=3"):
        plan(g, None, search=3)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"budget": 0}, InvalidOption),
        ({"budget": "1"}, InvalidOption),
        ({"budget": float("nan")}, InvalidOption),
        ({"moves": 0}, InvalidOption),
        ({"moves": 1.5}, InvalidOption),
        ({"seed": -1}, InvalidOption),
        ({"exact": "yes"}, InvalidOption),
        ({"exact": True}, InfeasibleRequest),
    ],
)
def test_bad_options_are_refused(options, error):
    with pytest.raises(error):
        search(random_graph(10, 0), 100, **options)


def test_bad_graphs_are_refused():
    with pytest.raises(InvalidGraph):
        search("cycle", 100)
    with pytest.raises(UnobservableGraph):
        search(FeedbackGraph.from_edges(2, [(0, 0)]), 100)
    with pytest.raises(InvalidOption):
        search(families.cycle(5), 0)


def test_one_arm():
    found = searched(families.mab(1), 100)
    assert found.partition.n_blocks == 1
    assert found.bound == 0
