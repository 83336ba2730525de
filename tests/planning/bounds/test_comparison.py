"""All bounds side by side: every row's formula, the verdict on the families, and lower ≤ exact ≤ upper."""

import itertools
import json
import warnings
from math import comb, log, prod, sqrt
from pathlib import Path

import numpy as np
import pytest

import sidelight as sl
from sidelight.analysis import minimax, observability
from sidelight.engine.constants import ROOM
from sidelight.errors import InvalidGraph, InvalidOption, UnobservableGraph, WeightsIgnored
from sidelight.graph import FeedbackGraph, families, read_graph
from sidelight.planning import compare_bounds
from sidelight.planning.bounds import lower
from sidelight.planning.cliques import clique_cover
from sidelight.planning.exploration import dominating_set
from sidelight.planning.minimised.strong import OneSimplex, Strong
from sidelight.planning.self_tuning.plans import SLACK

DATA = Path(__file__).parents[3].parent / "shared" / "data" / "graphs"


def looped_cycle(n):
    return FeedbackGraph.from_edges(n, [(i, j % n) for i in range(n) for j in (i - 1, i, i + 1)])


FAMILIES = {
    "bandit": families.mab,
    "full": families.full,
    "loop-less clique": families.loopless_clique,
    "loopy star": families.loopy_star,
    "looped cycle": looped_cycle,
    "cycle": families.cycle,
    "directed cycle": lambda n: families.cycle(n, directed=True),
    "cliques": lambda n: families.cliques([4] * (n // 4)),
    "bicliques": lambda n: families.bicliques([4] * (n // 4)),
    "hypercube": lambda n: families.hypercube(n.bit_length() - 1),
    "revealing action": families.revealing_action,
    "corrupted bandit": lambda n: families.corrupted_mab(n, max(n // 16, 1)),
    "corrupted full": lambda n: families.corrupted_full(n, max(n // 16, 1)),
    "bounded in-degree": lambda n: families.bounded_in_degree(n, 3, seed=0),
    "one-sided": families.newsvendor,
}


def check(g, horizon):
    found = compare_bounds(g, horizon)
    assert [row.name for row in found.ahead] == []
    for row in found.upper:
        if row.certified and row.learns:
            assert found.auto.value <= ((1 + SLACK) * row.value + ROOM) * (1 + 1e-12)
    assert found.floor.value <= found.best.value * (1 + 1e-9)
    assert found.best.ratio == pytest.approx(1)
    return found


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize(("n", "horizon"), [(4, 50), (4, 10**6), (64, 10**4), (256, 10**6)])
def test_auto_is_at_most_every_certified_row(name, n, horizon):
    check(FAMILIES[name](n), horizon)


@pytest.mark.parametrize("name", ["karate", "metr_la", "foodweb_florida_dry"])
def test_auto_is_at_most_every_certified_row_on_real_graphs(name):
    if not DATA.is_dir():
        pytest.skip("shared/data is not beside the repository")
    card = json.loads((DATA / f"{name}.json").read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeightsIgnored)
        pairs = read_graph(DATA / f"{name}.csv.gz").edges()
    if not card["directed"]:
        pairs = np.concatenate([pairs, pairs[:, ::-1]])
    hidden = observability(FeedbackGraph.from_edges(card["N"], pairs)).unobservable
    pairs = np.concatenate([pairs, np.column_stack([hidden, hidden])])
    check(FeedbackGraph.from_edges(card["N"], pairs), 10**6)


# -- rows ------------------------------------------------------------------------------------------------------


def rows(g, horizon):
    return {row.name: row for row in compare_bounds(g, horizon).rows}


def test_which_rows_apply():
    full, ring, one_sided = (
        rows(families.full(8), 100),
        rows(families.cycle(8), 100),
        rows(families.newsvendor(8), 100),
    )
    everywhere = {"auto", "any play", "uniform play", "CHLZ21", "one round", "full information"}
    assert everywhere <= full.keys() & ring.keys() & one_sided.keys()
    loops = {"EXP3", "Tsallis-INF", "Exp3-IX"}
    assert loops | {"Hedge", "Exp3-SET", "q-FTRL", "Exp3.G"} <= full.keys()
    assert loops <= one_sided.keys()
    assert not {"Hedge", "Exp3-SET", "q-FTRL"} & one_sided.keys()
    assert not loops & ring.keys()
    assert {
        "Exp3.G, all arms covered",
        "packing",
        "weak arm",
        "CHLZ21 packing",
        "independent set",
    } <= ring.keys()
    assert full["Exp3-IX"].value == sl.baselines.exp3_ix(families.full(8), 100).bound.value
    mixed = families.corrupted_mab(8, 2)
    covered = rows(mixed, 10_000)["Exp3.G, loop-less arms covered"]
    assert covered.value == pytest.approx(sl.baselines.exp3g_weak(mixed, 10_000).bound.value, rel=1e-12)
    assert "Exp3.G, loop-less arms covered" not in ring


def test_formulas():
    T, n = 40_000, 12
    full = rows(families.full(n), T)
    assert full["Hedge"].value == pytest.approx(sqrt(T * log(n) / 2))
    assert full["EXP3"].value == pytest.approx(sqrt(2 * n * T * log(n)))
    assert full["Tsallis-INF"].value == pytest.approx(4 * sqrt(n * T) + 1)
    assert full["q-FTRL"].value == pytest.approx(2 * sqrt(np.e * T * (2 + log(n))))
    assert full["uniform play"].value == pytest.approx(T * 11 / 12)
    ring = rows(families.cycle(n), T)
    assert ring["CHLZ21"].value == pytest.approx(2.381 * (n / 2 * log(n)) ** (1 / 3) * T ** (2 / 3), rel=1e-3)
    assert ring["Exp3.G, all arms covered"].value == pytest.approx(
        2.5 * (6 * log(n)) ** (1 / 3) * T ** (2 / 3)
    )


def test_bounds_that_are_quoted_are_listed_below_ours_and_certify_nothing():
    bandit = rows(families.mab(20), 100_000)
    quoted = [row for row in bandit.values() if row.quoted]
    assert [round(row.value) for row in quoted] == [2000, 2960, 5147]
    assert {row.status for row in quoted} == {"as quoted"}
    assert bandit["auto"].value < 2000
    assert not any(row.certified for row in quoted)


@pytest.mark.parametrize("T", [1, 2, 3, 4])
def test_cover_attains_the_value_of_the_game(T):
    two = rows(families.full(2), T)
    assert two["Cover, two experts"].value == pytest.approx(minimax(families.full(2), T).value, abs=1e-9)
    assert rows(families.full(2), 10_000)["Cover, two experts"].value == pytest.approx(
        rows(families.full(2), 10_000)["full information"].value, rel=1e-4
    )
    assert "Cover, two experts" not in rows(families.mab(2), T)


@pytest.mark.parametrize("n", [2, 12, 1000])
def test_exp3g_on_the_loopless_clique(n):
    """5√(T log N) follows from the plan's own problem at the published rates, wherever it is below T."""
    clique = families.loopless_clique(n)
    problem = Strong.of(clique_cover(clique))
    for T in (10, 1000, 10**7):
        row = rows(clique, T)["Exp3.G, loop-less clique"]
        assert row.value == pytest.approx(5 * sqrt(T * log(n)))
        eta = sqrt(log(n) / (2 * T))
        if row.informative:
            assert problem.value(T, OneSimplex(1.0, eta, 2 * eta)) <= 3.51 * sqrt(T * log(n)) < row.value
    assert "Exp3.G, loop-less clique" not in rows(families.full(n), 100)


def test_conditions_decide_what_is_certified():
    """CHLZ21 needs γ̄ ≤ ½, that is T ≥ 4δ* log N."""
    threshold = 4 * 4 * log(8)
    short, long = (
        rows(families.cycle(8), int(threshold))["CHLZ21"],
        rows(families.cycle(8), int(threshold) + 1)["CHLZ21"],
    )
    assert not short.certified
    assert not short.conditions[0].holds
    assert long.certified


def test_one_arm_and_bad_input():
    one = compare_bounds(FeedbackGraph.from_edges(1, [(0, 0)]), 10)
    assert one.best.value == one.floor.value == 0.0
    with pytest.raises(UnobservableGraph):
        compare_bounds(FeedbackGraph.from_edges(2, [(0, 0)]), 10)
    with pytest.raises(InvalidGraph, match="compare_bounds needs"):
        compare_bounds([(0, 0)], 10)
    with pytest.raises(InvalidOption, match="horizon"):
        compare_bounds(families.full(3), 0)


def test_text_and_json():
    found = compare_bounds(families.cycle(6), 10**5)
    text = str(found)
    assert all(row.name in text for row in found.rows)
    assert "not comparable" in text
    saved = json.loads(json.dumps(found.to_dict()))
    assert saved["best"] == found.best.name
    assert [row["value"] for row in saved["rows"]] == [row.value for row in found.rows]
    values = [row.value for row in found.upper if row.value is not None]
    assert values == sorted(values)


@pytest.mark.parametrize("name", FAMILIES)
def test_dominating_sets_reveal_every_arm(name):
    g = FAMILIES[name](16)
    chosen = dominating_set(g)
    assert set(np.concatenate([g.out_neighbors(int(arm)) for arm in chosen]).tolist()) == set(range(16))


# -- lower bounds ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "T"), [(2, 1), (2, 5), (3, 4), (4, 3), (2, 8)])
def test_full_information_by_enumeration(n, T):
    weights = [comb(T, k) / 2**T for k in range(T + 1)]
    coins = sum(
        prod(weights[k] for k in wins) * max(T / 2 - k for k in wins)
        for wins in itertools.product(range(T + 1), repeat=n)
    )
    opposite = sum(weights[k] * abs(T / 2 - k) for k in range(T + 1))
    assert lower.full_information(n, T) == pytest.approx(max(coins, opposite), rel=1e-8)


def test_full_information_has_its_limits():
    """√(T/(2π)) for two arms; half the mean maximum of three and four normals beyond."""
    assert lower.full_information(2, 10**9) == pytest.approx(sqrt(10**9 / (2 * np.pi)), rel=1e-6)
    assert lower.full_information(3, 10**5) == pytest.approx(0.5 * 0.846284 * sqrt(10**5), rel=1e-3)
    assert lower.full_information(4, 10**5) == pytest.approx(0.5 * 1.029375 * sqrt(10**5), rel=1e-3)


@pytest.mark.parametrize(
    ("g", "T"),
    [
        (families.full(2), 4),
        (families.mab(2), 4),
        (families.mab(3), 3),
        (families.cycle(3), 3),
        (families.revealing_action(3), 3),
        (families.cycle(3, directed=True), 3),
        (families.newsvendor(3), 3),
        (families.loopless_clique(2), 4),
    ],
    ids=repr,
)
def test_lower_bounds_are_below_the_exact_value(g, T):
    exact = minimax(g, T)
    found = compare_bounds(g, T)
    for row in found.lower:
        if row.value is not None:
            assert row.value <= exact.value + 1e-9
    assert found.floor.name == "exact value of the game"
    assert all(row.value >= exact.lower - 1e-9 for row in found.upper if row.certified)


def test_rates_of_the_lower_bounds():
    for a, t in ((4, 1), (100, 1), (100, 10)):
        constant = 0.3006 * (1 - 1 / a) ** (4 / 3) * (a / t) ** (1 / 3)
        assert lower.packing_set(a, t, 10**9) == pytest.approx(constant * 10**6, rel=1e-3)
    assert lower.weak_arm(10**9) == pytest.approx(0.1211 * 10**6, rel=1e-3)
    assert lower.independent_set(4, 10**12) == pytest.approx(0.2331 * (3 / 4) ** 2 * 2 * 10**6, rel=1e-3)
    assert lower.packing_set(4, 1, 1) <= 0.5
    assert lower.weak_arm(1) <= 0.5


def test_hard_relative_entropies():
    bias = np.linspace(1e-4, lower.LARGEST_BIAS, 500)
    one = -0.5 * np.log(1 - 4 * bias**2)
    two = 2 * bias * np.log((1 + 2 * bias) / (1 - 2 * bias))
    assert (one <= lower.KL_ONE * bias**2 * (1 + 1e-12)).all()
    assert (two <= lower.KL_TWO * bias**2 * (1 + 1e-12)).all()
