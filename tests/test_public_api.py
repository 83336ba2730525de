"""The public contract: names resolve, the documented snippets run as written, importing stays light."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import sidelight as sl

CONTRACT = {
    "FeedbackGraph",
    "Partition",
    "Policy",
    "environments",
    "families",
    "fractional_domination",
    "observability",
    "partitions",
    "plan",
    "read_graph",
    "write_graph",
    "IllegalPartition",
}
FAMILIES = {
    "mab", "full", "loopless_clique", "cycle", "cliques", "bicliques", "hypercube", "loopy_star",
    "revealing_action", "corrupted_mab", "corrupted_full", "pricing", "newsvendor", "auction",
    "apple_tasting", "label_efficient", "teams", "ring_probe", "random", "bounded_in_degree",
}  # fmt: skip


# -- names ------------------------------------------------------------------------------------------------


def test_names_of_the_contract_are_public():
    assert set(sl.__all__) >= CONTRACT


@pytest.mark.parametrize("name", sl.__all__)
def test_every_public_name_resolves(name):
    assert getattr(sl, name) is not None
    assert name in dir(sl)


def test_public_things_say_what_they_are():
    for name in sl.__all__:
        if name != "__version__":
            assert getattr(sl, name).__doc__, name


def test_type_checkers_see_the_same_names():
    stub = Path(sl.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    assert set(re.findall(r" as (\w+)$", stub, re.M)) == set(sl.__all__)


MOVED = [(name, home) for home, names in sl._MOVED.items() for name in names]


@pytest.mark.parametrize(("name", "home"), MOVED)
def test_names_that_have_moved_say_where_they_are(name, home):
    place = "sl.errors" if home == "sidelight.errors" else home
    with pytest.warns(DeprecationWarning, match=rf"{name} is {place}\.{name} now"):
        found = getattr(sl, name)
    assert found is getattr(import_module(home), name)
    assert name not in dir(sl)


def test_lists_of_ready_made_things_show_just_these():
    for module in (sl.families, sl.environments, sl.baselines, sl.partitions):
        assert len(dir(module)) > 8
        for name in dir(module):
            assert callable(getattr(module, name))
            assert name.islower()
            assert not name.startswith("_")
    assert set(dir(sl.families)) >= FAMILIES


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = sl.nonsense


def test_star_import():
    names = {}
    exec("from sidelight import *", names)
    assert set(sl.__all__) <= set(names)
    assert names["plan"] is sl.plan


def test_families_of_the_contract():
    assert {name for name in FAMILIES if callable(getattr(sl.families, name))} == FAMILIES


def test_every_error_is_a_sidelight_error():
    found = [value for value in vars(sl.errors).values() if isinstance(value, type)]
    errors = [value for value in found if issubclass(value, Exception) and not issubclass(value, Warning)]
    assert len(errors) >= 11
    assert all(issubclass(error, sl.SidelightError) for error in errors)


def test_submodules_and_functions_do_not_collide():
    """`sl.plan` is the function, also after the planning layer has been imported by its own name."""
    code = "import sidelight as sl, sidelight.planning, sidelight.policy; assert callable(sl.plan), sl.plan"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


# -- snippets of the contract -----------------------------------------------------------------------------


def test_graphs(tmp_path):
    g = sl.FeedbackGraph.from_edges(4, [(0, 1), (1, 0), (2, 3), (3, 2)])
    assert (g.n_arms, g.n_edges) == (4, 4)
    assert g.out_neighbors(2).tolist() == [3]
    assert g.in_neighbors(0).tolist() == [1]
    A = np.zeros((4, 4))
    A[0, 1] = A[1, 0] = A[2, 3] = A[3, 2] = 1
    nx_graph = nx.DiGraph([(0, 1), (1, 0), (2, 3), (3, 2)])
    assert sl.FeedbackGraph.from_adjacency(A) == g
    assert sl.FeedbackGraph.from_adjacency(sp.csr_array(A)) == g
    assert sl.FeedbackGraph.from_networkx(nx_graph).n_edges == 4
    for ending in (".csv", ".csv.gz", ".npz", ".mtx", ".graphml", ".json"):
        sl.write_graph(g, tmp_path / f"g{ending}")
        assert sl.read_graph(tmp_path / f"g{ending}").n_edges == 4


def test_analysis():
    g = sl.FeedbackGraph.from_edges(4, [(0, 1), (1, 0), (2, 3), (3, 2)])
    found = sl.observability(g)
    assert found.per_arm.tolist() == ["weak"] * 4
    assert found.graph == "weak"
    d = sl.fractional_domination(g)
    assert d.value == pytest.approx(4)
    assert d.weights.shape == d.packing.shape == (4,)
    assert sl.fractional_domination(g, arms=[0, 1]).value == pytest.approx(2)


def test_partitions():
    g = sl.FeedbackGraph.from_edges(4, [(0, 1), (1, 0), (2, 3), (3, 2)])
    p = sl.Partition(g, [[0, 1], [2, 3]])
    assert [block.tolist() for block in p.blocks] == [[0, 1], [2, 3]]
    assert (p.strong_loop.tolist(), p.strong_loopless.tolist(), p.weak.tolist()) == ([], [], [0, 1])
    assert p.incidence_graph().n_arms == 2
    with pytest.raises(sl.IllegalPartition) as refused:
        sl.Partition(g, [[0, 2], [1], [3]])
    assert len(refused.value.violations) == 3  # one for each block
    assert len(sl.partitions.single(g).blocks) == 1
    assert len(sl.partitions.components(g).blocks) == 2
    assert len(sl.partitions.corrupted(g).blocks) >= 1
    assert len(sl.partitions.hypercube(sl.families.hypercube(3)).blocks) == 2


@pytest.mark.parametrize(
    "realization", ["clustered", "adaptive", "hybrid", "auto", {0: "clustered", 1: "adaptive"}], ids=str
)
def test_plans_and_policies(realization, tmp_path):
    g = sl.FeedbackGraph.from_edges(4, [(0, 1), (1, 0), (2, 3), (3, 2)])
    p = sl.Partition(g, [[0, 1], [2, 3]])
    plan = sl.plan(g, horizon=100_000, partition=p, realization=realization)
    assert plan.bound.value == sum(plan.bound.terms.values())
    assert plan.bound.certified is True
    assert all(condition.slack >= 0 for condition in plan.bound.conditions)
    assert plan.parameters

    policy = plan.policy(seed=7)
    arm = policy.ask()
    assert abs(policy.probabilities.sum() - 1) <= 1e-12
    policy.tell({j: 0.1 * j for j in g.out_neighbors(arm)})
    path = tmp_path / "policy"
    policy.save(path)
    again = sl.Policy.load(path)
    for _ in range(50):
        arm = policy.ask()
        assert again.ask() == arm
        for each in (policy, again):
            each.tell(np.full(len(g.out_neighbors(arm)), 0.25))
        assert_array_equal(again.probabilities, policy.probabilities)


def test_the_plan_without_choices():
    g = sl.FeedbackGraph.from_edges(4, [(0, 1), (1, 0), (2, 3), (3, 2)])
    plan = sl.plan(g, horizon=100_000)
    assert plan.bound.certified
    assert plan.bound.value <= sl.plan(g, horizon=100_000, realization="clustered").bound.value


def test_requests_that_cannot_be_met():
    g = sl.families.cycle(4)
    with pytest.raises(sl.errors.UnobservableGraph) as refused:
        sl.plan(sl.FeedbackGraph.from_edges(3, [(0, 1), (1, 0)]), horizon=100)
    assert refused.value.arms == (2,)
    for horizon in (0, -1, 1.5, "100", float("nan")):
        with pytest.raises(sl.InvalidOption):
            sl.plan(g, horizon=horizon)
    with pytest.raises(sl.InvalidOption, match="greedy"):
        sl.plan(g, horizon=100, realization="greedy")


# -- importing --------------------------------------------------------------------------------------------


def loaded_after(code):
    """Which of the heavy packages are loaded after running `code` in a new process."""
    heavy = "numba", "matplotlib", "networkx", "scipy", "numpy", "rich", "click"
    report = f"import sys; {code}; print(*[name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", report], capture_output=True, text=True, check=True, timeout=120
    )
    return set(done.stdout.split())


def test_importing_is_light():
    assert loaded_after("import sidelight; sidelight.__version__; dir(sidelight)") == set()


def test_planning_and_playing_draw_nothing():
    code = "import sidelight as sl; sl.plan(sl.families.cycle(5), 100).policy(1).ask()"
    assert loaded_after(code).isdisjoint({"matplotlib", "networkx", "rich", "click"})
