"""Plans where reveals may fail, as docs/theory/failing-reveals.md has them: lemmas, laws, certificates, refusals."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import sidelight as sl
from sidelight.analysis import minimax
from sidelight.errors import InfeasibleRequest
from sidelight.planning.covers import largest_revealed, loads
from sidelight.planning.exploration import Solved
from sidelight.planning.self_tuning.observed import covers

ORDERS = (0.3, 0.5, 0.8, 1.0)


def random_graph(seed, n=6, loops=0.5):
    """Every arm is seen, some by themselves; probabilities are few, so that levels differ."""
    rng = np.random.default_rng(seed)
    R = np.where(rng.random((n, n)) < 0.4, rng.choice([0.2, 0.5, 0.9, 1.0], size=(n, n)), 0.0)
    np.fill_diagonal(R, np.where(rng.random(n) < loops, np.diag(R) + 0.1, 0.0).clip(0, 1))
    R[rng.integers(n)] = np.maximum(R[0], 0.2)
    return sl.FeedbackGraph.from_adjacency(R, probabilities=True)


def matrix(g):
    return g.to_sparse().toarray().astype(float)


GRAPHS = {
    "lossy probes": sl.families.lossy_probe(6, 0.5),
    "shared screens": sl.families.shared_screens(5, 0.3),
    "lossy bandit": sl.FeedbackGraph.from_edges(
        4, [(i, i) for i in range(4)], probabilities=[1, 0.9, 0.5, 0.1]
    ),
    "lossy full": sl.families.faulty(sl.families.full(4), 0.8),
    "lossy strangers": sl.families.faulty(sl.families.loopless_clique(4), 0.6),
    "one lossy edge": sl.FeedbackGraph.from_edges(
        4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 0)], probabilities=[0.5, 1, 1, 1, 1]
    ),
    "random": random_graph(1),
    "random, loops": random_graph(2, loops=1.0),
}


# -- lemmas ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("s", ORDERS)
@pytest.mark.parametrize("name", GRAPHS)
def test_exploration_covers_and_is_bounded(name, s):
    g = GRAPHS[name]
    R, rng, one = matrix(g), np.random.default_rng(0), np.zeros(g.n_arms, dtype=np.int64)
    for covered in covers(Solved(g)):
        found = covered.domination(s)
        x = np.zeros(g.n_arms)
        x[found.arms] = found.weights
        c = loads(g, one, x, 1 / s)
        assert_allclose(c, R.T ** (1 / s) @ x, rtol=1e-12)
        assert c[covered.targets].min() >= 1 - 1e-8
        for _ in range(40):
            X = rng.dirichlet(np.full(g.n_arms, rng.choice([0.05, 1.0])))
            need = np.zeros(g.n_arms)
            need[covered.targets] = X[covered.targets] ** (1 - s) / c[covered.targets]
            direction = x * largest_revealed(g, one, need, 1 / s - 1)
            gain = np.where(R > 0, R ** ((1 - s) / s), 0.0)
            assert_allclose(direction, x * (gain * need).max(axis=1), rtol=1e-12)
            assert ((R.T @ direction)[covered.targets] >= X[covered.targets] ** (1 - s) - 1e-12).all()
            assert direction.sum() <= found.value**s * (1 + 1e-9)


@pytest.mark.parametrize("s", ORDERS)
def test_how_well_self_loops_are_seen(s):
    for seed in range(6):
        g = random_graph(seed, loops=1.0)
        R, rng = matrix(g), np.random.default_rng(seed)
        covered = next(iter(covers(Solved(g))))
        every = np.ones(g.n_arms, dtype=bool)
        most = 2 * min(covered._self_loop_cost(r, level, s, every) for r, level in covered.solved.levels)
        for _ in range(200):
            X = rng.dirichlet(np.full(g.n_arms, rng.choice([0.02, 0.3, 1.0])))
            seen = np.maximum(R.T @ X, 1e-300)
            assert (X ** (2 - s) / seen).sum() <= most * (1 + 1e-9)


# -- plans ----------------------------------------------------------------------------------------------------

WAYS = [
    {},
    {"horizon": 5000},
    {"horizon": 5000, "realization": "fixed"},
    {"horizon": 5000, "confidence": 0.9},
]
WAYS += [{"horizon": 5000, "realization": "uniform"}, {"order": 1.0}, {"order": 0.75, "horizon": 5000}]


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("name", GRAPHS)
def test_plans_are_certified_by_the_checker(name, way):
    made = sl.plan(GRAPHS[name], **way)
    assert all(condition.holds for condition in sl.check_certificate(made))


@pytest.mark.parametrize("name", GRAPHS)
def test_the_checker_notices_what_was_planned_for_another_graph(name):
    g = GRAPHS[name]
    # Rounds cost a little less than a plan of some confidence counts, which pays for a slightly worse graph.
    for chance, way in ((0.9, {}), (0.9, {"realization": "fixed"}), (0.8, {"confidence": 0.9})):
        made = sl.plan(g, 5000 if way else None, **way)
        worse = replace(made, graph=sl.families.faulty(g, chance))
        assert not all(condition.holds for condition in sl.check_certificate(worse)), way


def test_the_plan_of_certain_edges_is_no_plan_of_edges_that_may_fail():
    certain = sl.families.cycle(5)
    for way in ({}, {"horizon": 5000}, {"horizon": 5000, "realization": "fixed"}):
        made = sl.plan(certain, **way)
        claimed = replace(made, graph=sl.families.faulty(certain, 0.99))
        assert not all(condition.holds for condition in sl.check_certificate(claimed))


def test_probability_one_gives_the_plan_of_today():
    graph = sl.families.corrupted_mab(6, 2)
    same = sl.FeedbackGraph.from_edges(6, graph.edges(), probabilities=1.0)
    assert sl.plan(same, 10_000).bound.value == sl.plan(graph, 10_000).bound.value
    assert sl.plan(same).bound_at(10_000).value == sl.plan(graph).bound_at(10_000).value


@pytest.mark.parametrize("seed", range(12))
def test_a_larger_probability_raises_no_bound(seed):
    rng = np.random.default_rng(100 + seed)
    g = random_graph(seed, n=4, loops=rng.choice([0.0, 0.5, 1.0]))
    edges, r = g.edges(), g.edge_probabilities()
    raised = r.copy()
    chosen = rng.integers(r.size)
    raised[chosen] = min(1.0, raised[chosen] * rng.choice([1.3, 2.0, 10.0]))
    better = sl.FeedbackGraph.from_edges(4, edges, probabilities=raised)
    for T in (1000, 10**6):
        before, after = (
            sl.plan(graph, T, realization="self-tuning", order=(0.5, 1.0)[seed % 2]).bound.value
            for graph in (g, better)
        )
        assert after <= before * (1 + 1e-9)
    before, after = (sl.plan(graph, 10**5).bound.value for graph in (g, better))
    assert after <= before * (1 + 1e-9)


def test_bounds_grow_as_classes_say():
    strong = sl.families.faulty(sl.families.mab(3), 0.5)
    weak = sl.families.lossy_probe(6, 0.5)
    for g, power in (strong, 1 / 2), (weak, 2 / 3):
        assert sl.plan(g).curve.exponent == power
    half, whole = (sl.plan(sl.families.faulty(sl.families.cycle(6), p), 10**6, order=1.0) for p in (0.5, 1.0))
    # δ* doubles, and the bound grows like its cube root
    assert half.bound.value == pytest.approx(2 ** (1 / 3) * whole.bound.value, rel=2e-3)


def test_lower_bounds_are_below():
    for name in ("lossy probes", "lossy bandit", "lossy strangers"):
        found = sl.compare_bounds(GRAPHS[name], 10_000)
        assert found.floor.value <= found.best.value
        names = [row.name for row in found.upper]
        assert "CHLZ21" in names
        assert not any(other in names for other in ("EXP3", "Hedge", "Tsallis-INF", "Exp3-IX"))
        assert found.auto.certified


# -- refusals -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("realization", ["clustered", "adaptive", "hybrid", "interpolated"])
def test_the_papers_plans_need_certain_reveals(realization):
    with pytest.raises(InfeasibleRequest, match=r"12 of 12 edges .* self-tuning.*at_least"):
        sl.plan(GRAPHS["lossy probes"], 1000, realization=realization)


@pytest.mark.parametrize("realization", ["fixed", "flat"])
def test_without_a_horizon(realization):
    with pytest.raises(InfeasibleRequest, match="realization='self-tuning'"):
        sl.plan(GRAPHS["lossy probes"], realization=realization)


def test_partitions_and_their_search():
    g = sl.families.faulty(sl.families.cliques([3, 3]), 0.9)
    blocks = sl.partitions.components(g)
    for more in ({"partition": blocks}, {"search": 0.1}):
        with pytest.raises(InfeasibleRequest, match="never fail"):
            sl.plan(g, 1000, **more)
    with pytest.raises(InfeasibleRequest, match="at_least"):
        sl.partitions.search(g, 1000)
    with pytest.raises(InfeasibleRequest, match="at_least"):
        minimax(GRAPHS["lossy bandit"], 2)


@pytest.mark.parametrize(
    "name",
    ["exp3", "hedge", "exp3g", "q_ftrl", "tsallis_inf", "exp3_ix", "ucb_n", "ts_n", "track_n", "uniform"],
)
def test_baselines_that_need_certain_reveals(name):
    g = sl.families.faulty(sl.families.full(3), 0.9)
    with pytest.raises(InfeasibleRequest, match="never fail"):
        getattr(sl.baselines, name)(g, 1000)


def test_chlz21_knows_them():
    g = GRAPHS["lossy probes"]
    made = sl.baselines.chlz21(g, 10_000)
    assert all(condition.holds for condition in sl.check_certificate(made))
    assert made.parameters["delta"] == pytest.approx(6.0)


def test_high_probability_and_delays_use_the_cover():
    made = sl.plan(GRAPHS["lossy probes"], 20_000, confidence=0.95)
    plain = sl.plan(sl.families.ring_probe(6), 20_000, confidence=0.95)
    for more in ({"confidence": 0.95}, {"delay": 10.0}):
        assert made.bound_at(20_000, **more).value > plain.bound_at(20_000, **more).value
