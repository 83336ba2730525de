"""Data sets by name: from a folder made here, and from the shared one where it is beside the repository."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import sidelight as sl
from sidelight.environment.tables import read_table

env = sl.environments
DATA = Path(__file__).parents[2].parent / "shared" / "data"
SPEEDS = np.array([[70.0, 35.0, 10.0], [90.0, 0.0, 70.0]])


def put(folder, name, card, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(card))
    with gzip.open(folder / f"{name}.csv.gz", "wt") as file:
        file.write(text)


@pytest.fixture
def folder(tmp_path):
    """Traffic on a road of three detectors, demand for two dishes, clicks, and moves that change by the day."""
    losses, graphs = tmp_path / "losses", tmp_path / "graphs"
    put(graphs, "road", {"N": 3, "directed": False}, "src,dst\n0,1\n1,2\n")
    rows = "\n".join(",".join(map(str, row)) for row in SPEEDS.tolist())
    speed = {
        "form": "value_matrix",
        "suggested_loss": "1 - min(speed,70)/70",
        "feedback_graph": "graphs/road",
    }
    put(losses, "traffic", speed, f"s1,s2,s3\n{rows}\n")
    put(
        losses,
        "dishes",
        {"form": "series: date, demand"},
        "date,soup,stew,is_closed\n2020-01-01,2,4,0\n2020-01-02,0,0,1\n2020-01-03,1,3,0\n",
    )
    clicked = {"form": "logged: one arm per round", "feedback_graph": "graphs/road"}
    put(losses, "shop", clicked, "timestamp,item,click\nx,0,1\nx,1,0\nx,2,0\nx,0,0\n")
    moving = {
        "form": "value_matrix + one graph per round",
        "suggested_loss": "min(cases, 50)/50",
        "feedback_graph": "losses/cases.edges.csv.gz (changes every round)",
        "arms": 2,
    }
    put(losses, "cases", moving, "a,b\n100,5\n0,10\n")
    with gzip.open(losses / "cases.edges.csv.gz", "wt") as file:
        file.write("t,src,dst,weight\n0,0,0,5\n0,1,1,5\n0,0,1,2\n1,0,0,1\n1,1,1,1\n1,1,0,3\n")
    return tmp_path


def test_values_become_losses_on_their_graph(folder):
    found = env.dataset("traffic", folder)
    assert_array_equal(found.environment.table, 1 - np.minimum(SPEEDS, 70) / 70)
    assert sorted(map(tuple, found.graph.edges().tolist())) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert found.name == found.environment.name == "traffic"
    assert found.card["form"] == "value_matrix"
    looped = env.dataset("traffic", folder, self_loops=True).graph
    assert looped.has_loop.all()
    assert looped.n_edges == 7


def test_demand_becomes_a_newsvendor_problem(folder):
    found = env.dataset("dishes", folder, series="stew", over=1, under=3)
    assert_array_equal(
        found.environment.table, env.newsvendor([4, 3], range(5), 1, 3).table
    )  # one day closed
    assert found.graph == sl.families.newsvendor(5)
    first = env.dataset("dishes", folder, orders=[0, 2])
    assert_array_equal(first.environment.table, env.newsvendor([2, 1], [0, 2]).table)
    three = env.dataset("dishes", folder, series="stew", orders=3)
    assert_array_equal(three.environment.table, env.newsvendor([4, 3], [0, 2, 4]).table)
    with pytest.raises(sl.InvalidOption, match="orders=1"):
        env.dataset("dishes", folder, orders=1)
    with pytest.raises(sl.InvalidOption, match=r"'pie'.*soup, stew"):
        env.dataset("dishes", folder, series="pie")


def test_clicks_become_coins(folder):
    assert env.dataset("shop", folder).environment.means.tolist() == [[0.5, 1.0, 1.0]]


def test_changing_graphs_keep_what_lasts(folder):
    found = env.dataset("cases", folder)
    assert found.graph.edges().tolist() == [[0, 0], [1, 1]]
    assert found.environment.table.tolist() == [[1.0, 0.1], [0.0, 0.2]]


def test_the_variable_names_the_folder(folder, monkeypatch):
    monkeypatch.setenv("SIDELIGHT_DATA", str(folder))
    assert env.dataset_names() == ("cases", "dishes", "shop", "traffic")
    assert env.dataset("traffic", repeat=True).environment.repeat
    monkeypatch.delenv("SIDELIGHT_DATA")
    with pytest.raises(sl.InvalidOption, match=r"folder=.*SIDELIGHT_DATA"):
        env.dataset("traffic")


def test_what_is_absent_or_unknown(folder, tmp_path_factory):
    with pytest.raises(sl.InvalidOption, match=r"'trafic'.*traffic"):
        env.dataset("trafic", folder)
    with pytest.raises(sl.InvalidOption, match="losses/"):
        env.dataset("traffic", tmp_path_factory.mktemp("empty"))
    with pytest.raises(sl.InvalidOption, match=r"\.\./secret"):
        env.dataset("../secret", folder)
    card = folder / "losses" / "traffic.json"
    good = json.loads(card.read_text())
    for change, shown in (
        ({"form": "pictures"}, "pictures"),
        ({"suggested_loss": "exp(speed)"}, "exp"),
        ({"feedback_graph": "generated"}, "generated"),
        ({"feedback_graph": "graphs/rail"}, "rail"),
    ):
        card.write_text(json.dumps(good | change))
        with pytest.raises(sl.InvalidOption, match=shown):
            env.dataset("traffic", folder)
    card.write_text("[1")
    with pytest.raises(sl.InvalidOption, match=r"traffic\.json cannot be read"):
        env.dataset("traffic", folder)
    card.write_text(json.dumps(good))
    (folder / "losses" / "traffic.csv.gz").unlink()
    with pytest.raises(sl.InvalidOption, match=r"traffic\.csv\.gz"):
        env.dataset("traffic", folder)


# -- the shared data --------------------------------------------------------------------------------------

SHARED = {
    "metr_la_week": (2016, 207),
    "montevideo_bus": (744, 675),
    "england_covid": (61, 129),
    "yaz_demand": (760, None),
    "bakery_demand": (1215, None),
    "open_bandit_random_all": (None, 80),
}


@pytest.fixture(params=SHARED)
def shared(request):
    if not (DATA / "losses" / f"{request.param}.json").exists():
        pytest.skip("shared/data is not beside the repository")
    return request.param


def test_shared_data_sets_load(shared):
    rounds, arms = SHARED[shared]
    found = env.dataset(shared, DATA)
    assert found.graph.n_arms == found.environment.n_arms
    assert arms in (None, found.graph.n_arms)
    if rounds is not None:
        assert abs(len(found.environment.table) - rounds) <= 5
        spread = found.environment.table.max(axis=1) - found.environment.table.min(axis=1)
        assert spread.max() > 0.2
    if shared.endswith("demand"):
        assert sl.observability(found.graph).graph == "strong"


def test_shared_traffic_by_hand():
    if not (DATA / "losses" / "metr_la_week.json").exists():
        pytest.skip("shared/data is not beside the repository")
    speeds = read_table(DATA / "losses" / "metr_la_week.csv.gz").values
    found = env.dataset("metr_la_week", DATA)
    assert_allclose(found.environment.totals(np.array([2016]))[0], (1 - speeds / 70).sum(axis=0))
    assert found.graph.n_edges == 2833
    assert sl.observability(found.graph).graph == "strong"
