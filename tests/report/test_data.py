"""What scripts read: the numbers of the results, packed, and within bounds however much there is."""

import base64
import json
from dataclasses import replace

import numpy as np
import pytest
from finished_cells import bound, cell, curve_cell, final_cell, results

import sidelight as sl
from sidelight.experiment.run import PlaysOver
from sidelight.report import data as module
from sidelight.report import encoding
from sidelight.report.data import page_data
from sidelight.report.encoding import LARGEST_SHADE, SHADES_PER_OCTAVE, revealed_runs, shaded
from sidelight.report.groups import groups_of, scalings_of
from sidelight.report.section import GraphSection
from sidelight.report.style import stroke_numbers


def found(*cells, graphs=None, **fields):
    all_ = results(*cells, **fields)
    sections = graphs or {}
    arms = {name: section.graph.n_arms for name, section in sections.items()}
    data = page_data(all_, groups_of(all_), sections, scalings_of(all_, arms))
    json.dumps(data, allow_nan=False)
    return data


def unpacked(text, kind="<f4"):
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def test_curves_seeds_and_ledgers_are_those_of_the_cell():
    one = curve_cell(seeds=3, certificate=np.full((3, 60), 7.0)[:, : len(curve_cell().checkpoints)])
    data = found(one)
    (comparison,) = data["comparisons"]
    (packed,) = comparison["cells"]
    assert comparison["rounds"][packed["rounds"]] == one.checkpoints.tolist()
    np.testing.assert_allclose(unpacked(packed["mean"]), one.mean, rtol=1e-6)
    np.testing.assert_allclose(unpacked(packed["regret"]).reshape(one.regret.shape), one.regret, rtol=1e-6)
    np.testing.assert_allclose(unpacked(packed["ledger"]).reshape(-1, 4), one.ledger.mean(axis=0), rtol=1e-6)
    assert set(unpacked(packed["certificate"])) == {7.0}
    assert packed["seeds"] == [0, 1, 2]
    assert packed["bound"]["status"] == "holds"
    shares = one.plays / one.plays.sum()
    np.testing.assert_allclose(unpacked(packed["plays"]), shares, rtol=1e-6)
    assert packed["most_played"][0] == [int(shares.argmax()), pytest.approx(shares.max())]


def shares_of(shades):
    """What `S.shares` of core.js makes of them."""
    shades = np.asarray(shades, dtype=float)
    return np.where(shades > 0, 2.0 ** ((shades - LARGEST_SHADE) / SHADES_PER_OCTAVE), 0.0)


def test_plays_before_the_end_are_those_of_the_checkpoints():
    one = curve_cell(seeds=3, arms=5)
    (comparison,) = found(one)["comparisons"]
    (packed,) = comparison["cells"]
    over = packed["plays_over"]
    assert (
        comparison["rounds"][over["rounds"]] == one.checkpoints[:-1].tolist()
    )  # the end has floats of its own
    counts = one.plays_over.counts[:-1]
    expected = counts / counts.sum(axis=1, keepdims=True)
    shades = unpacked(over["shares"], "<u2").reshape(expected.shape)
    np.testing.assert_allclose(shares_of(shades), expected, rtol=2e-4)


def test_shares_have_the_same_shades_in_every_size():
    counts = np.array([[0, 1, 10**9, 0], [0, 0, 0, 7], [0, 0, 0, 0], [1, 1, 1, 1]])
    shades = shaded(counts)
    assert shades[1].tolist() == [0, 0, 0, LARGEST_SHADE]
    assert not shades[2].any()
    np.testing.assert_allclose(shares_of(shades[0]), counts[0] / counts[0].sum(), rtol=2e-4)
    assert shaded(np.array([[1, 10**15]]))[0].tolist() == [
        1,
        LARGEST_SHADE,
    ]  # the least that is some


def test_plays_have_the_rounds_of_ledgers_and_fewer_where_they_must(monkeypatch):
    cells = [curve_cell(name, seeds=10, arms=20) for name in ("a", "b")]
    points = len(cells[0].checkpoints)
    monkeypatch.setattr(module, "MOST_NUMBERS", 4 * points + 28 * points // 3 + 28)
    whole = found(*cells)
    assert whole["stride"] == 3
    (comparison,) = whole["comparisons"]
    (over,) = {packed["plays_over"]["rounds"] for packed in comparison["cells"]}  # one list for both
    assert [*comparison["rounds"][over], 10_000] == cells[0].checkpoints[::-1][::3][::-1].tolist()
    monkeypatch.setattr(module, "MOST_PLAYS_OVER", 2 * 20 * 6)
    (comparison,) = found(*cells)["comparisons"]
    fewer = comparison["rounds"][comparison["cells"][0]["plays_over"]["rounds"]]
    assert 2 <= len(fewer) <= 6
    assert set(fewer) < set(cells[0].checkpoints[::-1][::3].tolist())
    monkeypatch.setattr(module, "MOST_PLAYS_OVER", 30)
    assert all("plays_over" not in packed for packed in found(*cells)["comparisons"][0]["cells"])


def test_plays_that_are_known_at_fewer_checkpoints_keep_them():
    one = curve_cell(arms=4)
    over = PlaysOver(one.checkpoints[-5:], one.plays_over.counts[-5:])
    (comparison,) = found(replace(one, plays_over=over))["comparisons"]
    kept = comparison["rounds"][comparison["cells"][0]["plays_over"]["rounds"]]
    assert kept == one.checkpoints[-5:-1].tolist()
    (packed,) = found(replace(one, plays_over=None))["comparisons"][0]["cells"]
    assert "plays" in packed
    assert "plays_over" not in packed


def test_cells_name_their_policies():
    """Familiar policies have colours of their own, wherever they stand."""
    names = ["mine", "uniform", "ftl", "auto"]
    data = found(*(cell(name, final=[float(k)]) for k, name in enumerate(names)))
    (comparison,) = data["comparisons"]
    shown = [data["policies"][packed["policy"]] for packed in comparison["cells"]]
    assert [policy["name"] for policy in shown] == names
    assert [packed["final"]["mean"] for packed in comparison["cells"]] == [0.0, 1.0, 2.0, 3.0]
    assert {policy["name"]: (policy["colour"], policy["dash"]) for policy in shown} == stroke_numbers(names)


def test_what_is_not_there_is_null():
    (packed,) = found(cell(final=[3.0]))["comparisons"][0]["cells"]
    assert packed["half"] is None
    assert packed["ledger"] is None
    assert packed["certificate"] is None
    assert packed["bound"] is None
    assert packed["final"] == {"mean": 3.0, "half": None, "certificate": None}
    assert "plays" not in packed


def test_cells_with_checkpoints_of_their_own():
    data = found(cell("a"), cell("b", checkpoints=np.array([50, 100])))
    (comparison,) = data["comparisons"]
    assert comparison["rounds"] == [[10, 100], [50, 100]]
    assert [packed["rounds"] for packed in comparison["cells"]] == [0, 1]


def test_single_seeds_are_thinned_first_and_keep_the_end(monkeypatch):
    one = curve_cell(seeds=10)
    points = len(one.checkpoints)
    monkeypatch.setattr(module, "MOST_NUMBERS", 2 * points + 14 * points // 3 + 14)
    data = found(one)
    (packed,) = data["comparisons"][0]["cells"]
    assert data["stride"] == 3
    kept = np.arange(points - 1, -1, -3)[::-1]
    np.testing.assert_allclose(unpacked(packed["regret"]).reshape(10, -1), one.regret[:, kept], rtol=1e-6)
    np.testing.assert_allclose(
        unpacked(packed["ledger"]).reshape(-1, 4), one.ledger[:, kept].mean(axis=0), rtol=1e-6
    )
    assert unpacked(packed["mean"]).size == points


def test_then_the_last_comparisons_lose_their_curves(monkeypatch):
    cells = [curve_cell(graph=f"mab:{k}") for k in range(4)]
    monkeypatch.setattr(module, "MOST_CURVE_NUMBERS", 2 * 2 * len(cells[0].checkpoints))
    data = found(*cells)
    assert [bool(one["rounds"]) for one in data["comparisons"]] == [True, True, False, False]
    assert all(one["cells"][0]["final"]["mean"] > 0 for one in data["comparisons"])
    assert "mean" not in data["comparisons"][3]["cells"][0]
    monkeypatch.setattr(module, "MOST_CURVE_NUMBERS", 1)
    assert found(*cells)["comparisons"][0]["rounds"]  # one comparison always has its curves


GRAPHS = {
    "cycle": sl.families.cycle(7),
    "full": sl.families.full(9),
    "loopless": sl.families.loopless_clique(6),
    "star": sl.families.loopy_star(5),
    "cliques": sl.families.cliques([3, 4]),
    "random": sl.families.parse("random:40,0.2,1"),
    "single": sl.families.mab(1),
}


@pytest.mark.parametrize("g", GRAPHS.values(), ids=GRAPHS)
def test_runs_are_the_edges(g):
    starts, lengths, offsets = revealed_runs(g)
    for arm in range(g.n_arms):
        own = range(offsets[arm], offsets[arm + 1])
        listed = [starts[k] + j for k in own for j in range(lengths[k])]
        universal = [j for j in g.universal.tolist() if j != arm or g.has_loop[arm]]
        assert sorted([*listed, *universal]) == g.out_neighbors(arm).tolist()


def test_graphs_have_places_blocks_exploration_and_edges():
    g = sl.families.cliques([3, 4])
    section = GraphSection.of(sl.compare_bounds(g, 1000))
    graph = found(cell(graph="g"), graphs={"g": section})["graphs"]["g"]
    plan = section.plan
    assert unpacked(graph["x"]).size == unpacked(graph["y"]).size == 7
    assert unpacked(graph["block"], "<u4").tolist() == plan.partition.block_of.tolist()
    exploration = unpacked(graph["exploration"])
    assert 0 <= exploration.sum() <= plan.tuning.most_exploration + 1e-6
    assert graph["runs"]["bytes"] == 2


def test_graphs_that_are_too_large_are_left_out(monkeypatch):
    g = GraphSection(sl.families.parse("random:40,0.2,1"))
    monkeypatch.setattr(encoding, "MOST_RUNS", 3)
    graph = found(cell(graph="g"), graphs={"g": g})["graphs"]["g"]
    assert "x" in graph
    assert "runs" not in graph
    monkeypatch.setattr(encoding, "MOST_ARMS_PLACED", 3)
    assert found(cell(graph="g"), graphs={"g": g})["graphs"]["g"] == {"arms": 40, "edges": g.graph.n_edges}


def test_growth_with_horizons_and_sizes():
    sizes = {f"cycle:{n}": GraphSection(sl.families.cycle(n)) for n in (4, 8, 16)}
    cells = [
        final_cell(T, graph=f"cycle:{n}", bound=bound(9.0 * T, certified=T > 10))
        for T in (10, 100, 1000)
        for n in (4, 8, 16)
    ]
    growth = found(*cells, graphs=sizes)["growth"]
    assert [(one["variable"], one["graph"], one["horizon"]) for one in growth] == [
        ("T", "cycle:4", None),
        ("T", "cycle:8", None),
        ("T", "cycle:16", None),
        ("N", "cycle:N", 10),
        ("N", "cycle:N", 100),
        ("N", "cycle:N", 1000),
    ]
    assert growth[0]["curves"][0]["x"] == [10, 100, 1000]
    assert growth[0]["curves"][0]["bounds"] == [[100, 900.0], [1000, 9000.0]]
    assert growth[-1]["curves"][0]["x"] == [4, 8, 16]
    assert growth[-1]["graphs"] == ["cycle:16", "cycle:4", "cycle:8"]


def test_the_table_and_its_latex():
    data = found(cell("auto"), cell("flat", final=[9.0, 9.0, 9.0]))
    assert data["table"]["columns"][:3] == ["id", "graph", "environment"]
    assert len(data["table"]["rows"]) == 2
    assert r"\toprule" in data["latex"]
