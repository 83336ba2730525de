"""A graph whose arms have names, from its file to the report: names are shown wherever arms are."""

import html
import json

import pytest

import sidelight as sl
from sidelight.experiment.folder import kept_graphs
from sidelight.report import drawing

LABELS = ("green tea", "black tea", "oolong & co", "milk <b>", "coffee, strong", "$5 soda")
EDGES = [(0, 0), (0, 1), (1, 1), (1, 2), (2, 3), (3, 0), (3, 1), (4, 4), (4, 3), (5, 2), (2, 5)]
GRAPH = sl.FeedbackGraph.from_edges(6, EDGES, labels=LABELS)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A folder with a finished run on the file, what it printed, and the same as JSON."""
    from click.testing import CliRunner

    from sidelight.cli.main import cli

    folder = tmp_path_factory.mktemp("labels")
    sl.write_graph(GRAPH, folder / "teas.csv")
    words = ["run", str(folder / "teas.csv"), "-T", "300", "--seeds", "2", "--jobs", "1", "--env", "gap:0.4"]
    words += ["--policy", "auto,chlz21", "-o", str(folder / "out")]
    with pytest.MonkeyPatch.context() as patch:  # no pictures, as everywhere here: see conftest.py
        for limit in ("MOST_GROUPS_DRAWN", "MOST_GRAPHS_DRAWN"):
            patch.setattr(drawing, limit, 0)
        printed, answer = (CliRunner().invoke(cli, [*words, *more]) for more in ([], ["--json"]))
    assert printed.exit_code == answer.exit_code == 0, printed.output
    return folder, printed.stdout, json.loads(answer.stdout)


def test_a_file_keeps_labels(played):
    folder, _, _ = played
    assert sl.read_graph(folder / "teas.csv").labels == LABELS
    (kept,) = kept_graphs(folder / "out").values()
    assert kept == GRAPH


def test_a_run_names_the_arms_played_most(played):
    _, printed, answer = played
    for row in answer["results"]:
        assert row["most_played_label"] == LABELS[row["most_played"]]
        assert 0 < row["most_played_share"] <= 1
        named = f"{row['policy']} {row['most_played']} ({row['most_played_label']!r})"
        assert named in " ".join(printed.split())


def test_the_page_has_every_label_as_text(played):
    folder, _, _ = played
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    for label in LABELS:
        assert html.escape(label, quote=True) in page.replace("&#34;", "&quot;")
    assert "milk <b>" not in page
    assert "Most played arms: auto" in page


def test_analyze_names_the_arms_of_its_certificates(played, run):
    folder, _, _ = played
    found = json.loads(run("analyze", folder / "teas.csv", "--json")[1])
    for part in (found["independence"], *found["packings"]):
        assert part["labels"] == [LABELS[arm] for arm in part["arms"]]
    assert "5 ('$5 soda')" in run("analyze", folder / "teas.csv")[1]


def test_arms_that_are_left_out_are_named(tmp_path, run):
    hidden = sl.FeedbackGraph.from_edges(3, [(0, 0), (0, 1), (2, 0)], labels=["one", "two", "three"])
    sl.write_graph(hidden, tmp_path / "hidden.json")
    _, printed, _ = run("analyze", tmp_path / "hidden.json", "--drop-unobservable", "--json")
    assert json.loads(printed)["graph"]["changes"] == [
        "--drop-unobservable left out 1 arm (2 ('three')); the others are numbered anew"
    ]
    assert "no arm reveals arm 2 ('three')" in run("analyze", tmp_path / "hidden.json")[2]
