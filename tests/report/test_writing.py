"""`results.write(folder)`: what `sidelight run` writes, and what `Results.read` reads."""

import json

import pytest
from finished_cells import cell
from numpy.testing import assert_array_equal

import sidelight as sl
from sidelight.experiment.results import Results
from sidelight.report import page

ARGUMENTS = ("cycle:5", ["flat", "hedge"], "gap", 100, 2)


@pytest.fixture(autouse=True)
def _no_pictures(monkeypatch):
    for limit in ("MOST_GROUPS_DRAWN", "MOST_GRAPHS_DRAWN"):
        monkeypatch.setattr(page, limit, 0, raising=False)


def files_of(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_written_comparison_is_read_again(tmp_path):
    results = sl.compare(*ARGUMENTS)
    assert results.graphs == {"cycle:5": sl.families.cycle(5)}
    assert results.write(tmp_path / "out", figures=False) == tmp_path / "out" / "report.html"
    again = Results.read(tmp_path / "out")
    assert (again.title, again.complete) == (results.title, True)
    for one, two in zip(again.cells, results.cells, strict=True):
        assert_array_equal(one.regret, two.regret)
        assert_array_equal(one.ledger, two.ledger)
        assert one.nanoseconds_per_round == two.nanoseconds_per_round
    assert [(each.policy, each.reason) for each in again.absent] == [
        (each.policy, each.reason) for each in results.absent
    ]
    assert dict(again.graphs) == results.graphs
    assert (tmp_path / "out" / "table.tex").read_text() == results.to_latex()
    assert (tmp_path / "out" / "table.csv").read_text().startswith("id,graph,environment,horizon,policy,")


def test_it_is_what_the_command_writes(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from sidelight.cli.main import cli

    results = sl.compare(*ARGUMENTS)
    results.write(tmp_path / "a", figures=False)
    command = ["run", "cycle:5", "-T", "100", "--policy", "flat,hedge", "--seeds", "2", "--jobs", "1"]
    done = CliRunner().invoke(cli, [*command, "--no-figures", "-o", str(tmp_path / "b")])
    assert done.exit_code == 0, done.output
    ours, theirs = files_of(tmp_path / "a"), files_of(tmp_path / "b")
    assert {name.split("/")[0] for name in ours} == {name.split("/")[0] for name in theirs}
    assert len(ours) == len(theirs)
    graphs = [name for name in ours if name.startswith("graphs/")]
    assert {name: ours[name] for name in graphs} == {name: theirs[name] for name in graphs}
    assert ours["table.tex"] == theirs["table.tex"]


def test_writing_again_changes_no_cell(tmp_path):
    results = sl.compare(*ARGUMENTS)
    results.write(tmp_path, figures=False)
    before = files_of(tmp_path)
    results.write(tmp_path, figures=False)
    assert files_of(tmp_path) == before
    Results.read(tmp_path).write(tmp_path, figures=False)
    assert {name: data for name, data in files_of(tmp_path).items() if name.startswith("cells/")} == {
        name: data for name, data in before.items() if name.startswith("cells/")
    }


def test_a_folder_of_other_results_is_refused_and_stays_as_it_was(tmp_path):
    sl.compare(*ARGUMENTS).write(tmp_path, figures=False)
    before = files_of(tmp_path)
    with pytest.raises(sl.errors.SpecChanged, match="seeds: added 2"):
        sl.compare(*ARGUMENTS[:-1], 3).write(tmp_path, figures=False)
    assert files_of(tmp_path) == before


def test_a_written_comparison_is_continued_by_a_sweep(tmp_path, monkeypatch):
    sl.compare(*ARGUMENTS).write(tmp_path, figures=False)
    monkeypatch.setattr("sidelight.experiment.cells.simulate", lambda *_, **__: pytest.fail("played again"))
    graph, policies, environment, horizon, seeds = ARGUMENTS
    spec = {"policies": policies, "graphs": [graph], "environments": [environment]}
    results = sl.sweep({**spec, "horizons": [horizon], "seeds": seeds}, tmp_path, jobs=1)
    assert len(results.cells) == 1


def test_results_put_together_by_hand(tmp_path):
    Results((cell("a"), cell("b")), title="by hand").write(tmp_path, figures=False)
    assert Results.read(tmp_path).title == "by hand"
    assert len(json.loads((tmp_path / "manifest.json").read_text())["cells"]) == 2


def test_a_place_that_is_none(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(sl.errors.ResultsError, match="cannot write to"):
        Results((cell("a"),)).write(tmp_path / "file")
