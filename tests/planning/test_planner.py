import json

import naive
import numpy as np
import pytest
from instances import CASE_IDS, CASES, INSTANCES, both, clique, cycle, loops
from numpy.testing import assert_allclose

from sidelight.analysis import block_dominations
from sidelight.engine.constants import ROOM
from sidelight.errors import (
    IllegalPartition,
    InfeasibleRequest,
    InvalidGraph,
    InvalidOption,
    UnobservableGraph,
)
from sidelight.graph import FeedbackGraph, families
from sidelight.partition import Partition, natural
from sidelight.planning import exploration
from sidelight.planning import plan as make_plan
from sidelight.planning.self_tuning.plans import SLACK

every_case = pytest.mark.parametrize(("instance", "realization"), CASES, ids=CASE_IDS)


def graph_of(instance):
    return FeedbackGraph.from_edges(instance.n_arms, instance.edges)


def planned(instance, realization, horizon=None):
    graph = graph_of(instance)
    return make_plan(graph, horizon or instance.horizon, Partition(graph, instance.blocks), realization)


def inner_points(made, rng):
    """Uniform, a corner and a random point inside every block, each as one number per arm."""
    p = made.partition
    uniform = 1 / p.sizes[p.block_of]
    corner = np.zeros(p.graph.n_arms)
    corner[[block[0] for block in p.blocks]] = 1
    random = rng.exponential(size=p.graph.n_arms)
    random /= np.bincount(p.block_of, weights=random)[p.block_of]
    return uniform, corner, random


# -- every instance, every realization --------------------------------------------------------------------


@every_case
def test_terms_add_up(instance, realization):
    bound = planned(instance, realization).bound
    assert bound.value == sum(bound.terms.values())
    assert all(value > 0 for value in bound.terms.values())


@every_case
def test_thresholds_are_exact(instance, realization):
    bound = planned(instance, realization).bound
    at = bound.valid_from
    assert planned(instance, realization, at).bound.certified
    assert at == 1 or not planned(instance, realization, at - 1).bound.certified
    at = bound.informative_from
    here = planned(instance, realization, at).bound
    assert here.informative
    assert here.value < at
    assert not planned(instance, realization, at - 1).bound.informative
    assert planned(instance, realization, 10**9).bound.valid_from == bound.valid_from


@every_case
@pytest.mark.parametrize("horizon", [1, 2, 10, 97, 1_000, 10**6])
def test_every_horizon_gives_a_correct_tuning(instance, realization, horizon):
    made = planned(instance, realization, horizon)
    tuning, p = made.tuning, made.partition
    assert tuning.most_exploration <= 0.5 * (1 + 1e-12)
    assert tuning.most_exploration == pytest.approx(made.parameters["gamma_bar"])
    assert 0 <= made.parameters["alpha"] <= 1
    totals = np.bincount(p.block_of, weights=tuning.local_exploration, minlength=p.n_blocks)
    alone = p.n_blocks == 1
    assert_allclose(totals[p.weak], 0 if alone else made.parameters["alpha"])
    assert totals[p.strong_loop].sum() == totals[p.strong_loopless].sum() == 0
    for inner in inner_points(made, np.random.default_rng(5)):
        gamma = tuning.exploration(made.graph, inner)
        assert (gamma >= 0).all()
        assert gamma.sum() <= 0.5 * (1 + 1e-12)
    assert ((tuning.inner_rate > 0) == (p.sizes > 1)[p.block_of]).all()
    assert made.bound.certified == (horizon >= made.bound.valid_from)


@every_case
def test_tuning_agrees_with_the_twin(instance, realization):
    made = planned(instance, realization)
    p, tuning = made.partition, made.tuning
    twin = naive.Instance.from_edges(instance.n_arms, instance.edges, [b.tolist() for b in p.blocks])
    found = block_dominations(p.graph, [p.blocks[k] for k in p.weak])
    weights = {int(k): d.weights for k, d in zip(p.weak, found, strict=True)}
    T = float(instance.horizon)
    if realization == "clustered":
        expected = naive.clustered_parameters(twin, T, weights)
    elif realization == "adaptive":
        expected = naive.adaptive_parameters(twin, T, weights, tuning.parent)
    else:
        entropy = [
            int(k) for k, choice in zip(p.weak, made.details.choices, strict=True) if choice == "clustered"
        ]
        expected = naive.hybrid_parameters(twin, T, weights, tuning.parent, entropy)
    assert_allclose(tuning.global_exploration, expected.gamma_constant, rtol=1e-12, atol=1e-300)
    assert_allclose(tuning.local_exploration, expected.gamma_local, rtol=1e-12, atol=1e-300)
    assert_allclose([tuning.adaptive[k] for k in expected.adaptive], list(expected.adaptive.values()))
    if expected.eta is not None:
        assert_allclose(tuning.top_rate[p.weak], 2 * expected.eta)
    if p.strong_loop.size:
        assert_allclose(tuning.top_rate[p.strong_loop], 2 * expected.eta_loop)
    if p.strong_loopless.size:
        assert_allclose(tuning.top_rate[p.strong_loopless], expected.eta_loopless)
    for k, potential in expected.block_potential.items():
        power, factor = (0, 1) if potential == "entropy" else (2, 2)
        assert (tuning.inner_power[p.blocks[k]] == power).all()
        assert_allclose(tuning.inner_rate[p.blocks[k]], factor * expected.block_rate[k])
    assert tuning.top_power[p.strong_loopless].tolist() == [0] * p.strong_loopless.size
    assert (tuning.top_power[np.concatenate([p.weak, p.strong_loop])] == 2).all()


@every_case
def test_what_the_proofs_need_of_exploration(instance, realization):
    """Inside weak blocks every arm is covered; loop-less arms are seen as often as the conditions say."""
    made = planned(instance, realization, 10**7)
    tuning, p, g = made.tuning, made.partition, made.graph
    for inner in inner_points(made, np.random.default_rng(11)):
        gamma = tuning.exploration(made.graph, inner)
        for k, step, choice in zip(p.weak, made.parameters["eta_blocks"], made.details.choices, strict=True):
            inside = set(p.blocks[k].tolist())
            for arm in p.blocks[k]:
                seen = sum(gamma[j] for j in g.in_neighbors(int(arm)) if int(j) in inside)
                # The rates equate the two halves of the restriction regret: D/η = ηT/(2P) or 2ηT√X/P.
                if choice == "clustered":
                    needed = step**2 * 1e7 / (2 * np.log(len(inside)))
                else:
                    needed = 2 * step**2 * 1e7 / np.sqrt(len(inside)) * np.sqrt(inner[arm])
                assert seen >= needed * (1 - 1e-9)
        for condition in made.bound.conditions:
            if "least chance" in condition.name:
                for k in p.strong_loopless:
                    others = gamma.sum() - gamma[p.blocks[k][0]]
                    assert others >= condition.right * (1 - 1e-12)


@every_case
def test_summary_and_dict(instance, realization):
    made = planned(instance, realization)
    text = str(made)
    assert f"{made.bound.value:,.2f}" in text
    assert made.bound.theorem in text
    saved = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert saved["bound"] == made.bound.to_dict()
    assert saved["blocks"] == [block.tolist() for block in made.partition.blocks]
    assert repr(made).startswith(f"Plan(realization='{realization}'")


# -- choosing ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda instance: instance.name)
@pytest.mark.parametrize("horizon", [10, 10**4, 10**8])
def test_auto_is_the_best_considered(instance, horizon):
    made = make_plan(graph_of(instance), horizon)
    certified = [c.value for c in made.details.considered if c.certified]
    best = min(certified or [c.value for c in made.details.considered])
    smallest = made.bound.terms.get("smallest bound", made.bound.value)
    assert smallest == pytest.approx(best, rel=1e-11)
    if made.realization == "self-tuning":
        assert made.bound.value == pytest.approx((1 + SLACK) * smallest + ROOM, rel=1e-11)
    else:  # nothing can be learnt in so few rounds
        assert horizon == 10 or instance.n_arms == 1
    assert made.bound.certified == bool(certified)
    assert len({(c.partition, c.realization) for c in made.details.considered}) == len(
        made.details.considered
    )
    for realization in instance.realizations:
        given = planned(instance, realization, horizon)
        single = make_plan(made.graph, horizon, realization=realization)
        assert single.bound.value >= smallest * (1 - 1e-11) or not single.bound.certified
        assert single.realization == given.realization == realization
    assert any(c.realization == "interpolated" for c in made.details.considered)


def test_a_certified_plan_beats_a_smaller_uncertified_bound():
    """Fifty pairs, clustered: components are valid from T = 400, one block from 1 600 with a smaller bound."""
    graph = FeedbackGraph.from_edges(100, both((v, v + 1) for v in range(0, 100, 2)))
    made = make_plan(graph, 1_000, realization="clustered")
    assert made.bound.certified
    assert made.partition == natural.components(graph)
    assert not any(c.certified for c in made.details.considered if c.partition == "single")
    assert min(c.value for c in made.details.considered if not c.certified) < made.bound.value
    assert make_plan(graph, 2_000, realization="clustered").partition.n_blocks == 1
    nothing_holds = make_plan(graph, 300, realization="clustered")
    assert not nothing_holds.bound.certified
    assert nothing_holds.bound.value == min(c.value for c in nothing_holds.details.considered)
    assert make_plan(graph, 300).bound.certified  # minimised bounds hold at every horizon


def test_ties_go_to_fewer_blocks_then_to_the_first_name():
    graph = FeedbackGraph.from_edges(30, both(cycle(range(30))))
    made = make_plan(graph, 10**6, realization="fixed")
    considered = [c.partition for c in made.details.considered]
    assert considered == [*["single"] * 4, "potential, all arms"]  # components and corrupted are the same
    tie = make_plan(families.full(6), 10**4, realization="fixed")
    values = {(c.partition, c.realization): c.value for c in tie.details.considered}
    assert tie.bound.value == values["potential, all arms", "flat"]
    assert tie.bound.value == pytest.approx(values["singletons", "flat"], rel=1e-12)
    assert tie.partition.n_blocks == 1


def test_natural_partitions_are_all_considered():
    cube = FeedbackGraph.from_edges(8, [(v, v ^ bit) for v in range(8) for bit in (1, 2, 4)])
    assert {c.partition for c in make_plan(cube, 10**6, realization="fixed").details.considered} == {
        "single",
        "hypercube",
        "potential, all arms",
    }
    strong = FeedbackGraph.from_edges(3, clique(range(3)))
    assert {c.partition for c in make_plan(strong, 10**6, realization="fixed").details.considered} == {
        "single",
        "singletons",
        "potential, all arms",
    }
    mab = FeedbackGraph.from_edges(3, loops(range(3)))
    assert {c.partition for c in make_plan(mab, 10**6, realization="fixed").details.considered} == {
        "single",
        "singletons",
        "watched",
        "potential, all arms",
    }
    two_weak = FeedbackGraph.from_edges(6, [*loops(range(4)), (0, 4), (1, 5), (2, 3)])
    names = {c.partition for c in make_plan(two_weak, 10**6, realization="fixed").details.considered}
    potentials = {"potential, all arms", "potential, loop-less arms"}
    assert names == {"single", "components", "corrupted", "covered", "watched"} | potentials


def test_each_block_is_solved_once(monkeypatch):
    solved = []

    def counting(g, blocks):
        solved.extend(block.tobytes() for block in blocks)
        return block_dominations(g, blocks)

    monkeypatch.setattr(exploration, "block_dominations", counting)
    edges = clique(range(3)) + cycle(range(3, 8)) + loops(range(8, 12))
    make_plan(FeedbackGraph.from_edges(12, edges), 10**5)
    assert len(solved) == len(set(solved))


def test_choices_by_hand():
    edges = clique(range(6)) + cycle(range(6, 86)) + loops([86])
    graph = FeedbackGraph.from_edges(87, edges)
    p = Partition(graph, [[86], [*range(6)], [*range(6, 86)]])
    auto = make_plan(graph, 10**6, p, "hybrid")
    assert auto.details.choices == ("clustered", "adaptive")
    again = make_plan(graph, 10**6, p, dict(zip(p.weak.tolist(), auto.details.choices, strict=True)))
    assert (again.realization, again.bound.value) == ("hybrid", auto.bound.value)
    for choices in ({1: "adaptive", 2: "clustered"}, {1: "adaptive", 2: "adaptive"}):
        made = make_plan(graph, 10**6, p, choices)
        assert made.details.choices == (choices[1], choices[2])
        assert made.bound.value > auto.bound.value
        assert (made.tuning.adaptive > 0).tolist() == [False, *(c == "adaptive" for c in choices.values())]
        assert ((made.tuning.parent >= 0) == (made.tuning.adaptive > 0)[p.block_of]).all()


def test_one_arm():
    made = make_plan(FeedbackGraph.from_edges(1, [(0, 0)]), 100)
    assert made.bound.value == 0
    assert made.tuning.block_arms.tolist() == [0]
    assert made.bound.certified


def test_plans_are_deterministic():
    graph = FeedbackGraph.from_edges(12, clique(range(6)) + cycle(range(6, 11)) + [(11, 11), (11, 0), (2, 8)])
    first, second = make_plan(graph, 10**5), make_plan(graph, 10**5)
    assert first.to_dict() == second.to_dict()
    assert first.tuning.parent.tolist() == second.tuning.parent.tolist()


def test_large_graphs_are_quick():
    n, size = 20_000, 10
    base = np.repeat(np.arange(0, n, size), size * size)
    inside = np.tile(
        np.stack(np.meshgrid(range(size), range(size), indexing="ij"), -1).reshape(-1, 2), (n // size, 1)
    )
    edges = (inside + base[:, None])[inside[:, 0] != inside[:, 1]]
    graph = FeedbackGraph.from_edges(n, edges)
    made = make_plan(graph, 10**8, natural.components(graph))
    assert made.partition.weak.size == n // size
    assert made.bound.terms["projection"] > 0


# -- refusals ---------------------------------------------------------------------------------------------

PAIRS = FeedbackGraph.from_edges(4, both([(0, 1), (2, 3)]))


@pytest.mark.parametrize(
    "horizon", [0, -5, True, False, 1.5, float("nan"), float("inf"), "100", 2**63, 10**400, np.float64(2.5)]
)
def test_refuses_horizons(horizon):
    with pytest.raises(InvalidOption, match="horizon"):
        make_plan(PAIRS, horizon)


@pytest.mark.parametrize("horizon", [1000, np.int32(1000), 1e3, np.float64(1000)])
def test_accepts_whole_horizons(horizon):
    made = make_plan(PAIRS, horizon)
    assert made.horizon == 1000
    assert type(made.horizon) is int


@pytest.mark.parametrize("realization", ["Flat", "", "Clustered", None, 3, ("clustered",)])
def test_refuses_unknown_realizations(realization):
    with pytest.raises(
        InvalidOption,
        match="auto, self-tuning, fixed, flat, interpolated, clustered, adaptive, hybrid, uniform",
    ):
        make_plan(PAIRS, 1000, realization=realization)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({}, "0, 1 are missing"),
        ({0: "clustered"}, "1 are missing"),
        ({0: "clustered", 1: "adaptive", 2: "clustered"}, "2 are not"),
        ({0: "clustered", "1": "adaptive"}, "1 are not"),
        ({0: "clustered", True: "adaptive"}, "True are not"),
        ({0: "clustered", 1: "hybrid"}, "got hybrid"),
        ({0: "clustered", 1: None}, "got None"),
    ],
)
def test_refuses_choices(choices, message):
    with pytest.raises(InvalidOption, match=message):
        make_plan(PAIRS, 1000, natural.components(PAIRS), choices)


def test_choices_need_their_partition():
    with pytest.raises(InvalidOption, match="pass partition="):
        make_plan(PAIRS, 1000, realization={0: "clustered"})


def test_refuses_unobservable_graphs_naming_the_arms():
    graph = FeedbackGraph.from_edges(4, [(0, 1), (1, 0), (0, 2)])
    with pytest.raises(UnobservableGraph, match="no arm reveals 3") as caught:
        make_plan(graph, 1000)
    assert caught.value.arms == (3,)
    with pytest.raises(UnobservableGraph):
        make_plan(FeedbackGraph.from_edges(1, []), 1000)


def test_refuses_foreign_partitions():
    other = FeedbackGraph.from_edges(4, both([(0, 1), (2, 3), (0, 2)]))
    with pytest.raises(InvalidOption, match="another graph"):
        make_plan(PAIRS, 1000, natural.single(other))
    with pytest.raises(InvalidOption, match="must be a Partition"):
        make_plan(PAIRS, 1000, [[0, 1], [2, 3]])
    with pytest.raises(IllegalPartition):
        make_plan(PAIRS, 1000, Partition(PAIRS, [[0, 2], [1, 3]]))
    same = FeedbackGraph.from_edges(4, both([(2, 3), (0, 1)]))
    assert make_plan(PAIRS, 1000, natural.single(same)).partition.n_blocks == 1


def test_refuses_what_is_no_graph():
    with pytest.raises(InvalidGraph, match="list"):
        make_plan([(0, 1)], 1000)


def test_adaptive_needs_a_weak_block():
    mab = FeedbackGraph.from_edges(3, loops(range(3)))
    with pytest.raises(InfeasibleRequest, match="clustered"):
        make_plan(mab, 1000, natural.singletons(mab), "adaptive")
    assert make_plan(mab, 1000, realization="adaptive").partition.n_blocks == 1
    with pytest.raises(InfeasibleRequest, match="clustered"):
        make_plan(FeedbackGraph.from_edges(1, [(0, 0)]), 1000, realization="adaptive")


def test_hybrid_without_weak_blocks_is_the_strong_theorem():
    mab = FeedbackGraph.from_edges(3, loops(range(3)))
    p = natural.singletons(mab)
    for realization in ("hybrid", {}):
        made = make_plan(mab, 1000, p, realization)
        assert made.realization == "hybrid"
        assert made.bound.to_dict() == make_plan(mab, 1000, p, "clustered").bound.to_dict()


def test_without_a_horizon_the_bound_is_a_curve():
    made = make_plan(PAIRS)
    assert made.horizon is None
    assert made.bound_at(10**6).value == made.curve.value_at(10**6)
    with pytest.raises(InvalidOption, match=r"plan\.bound_at\(t\)"):
        _ = made.bound
    with pytest.raises(InvalidOption, match="for 1000 rounds, not for 999"):
        make_plan(PAIRS, 1000).bound_at(999)


@pytest.mark.parametrize("search", [0, -1.0, float("nan"), float("inf"), True, "5"])
@pytest.mark.parametrize("horizon", [1000, None])
def test_search_takes_seconds(search, horizon):
    with pytest.raises(InvalidOption, match="search must be a finite number above 0, got search="):
        make_plan(families.cycle(6), horizon, search=search)
