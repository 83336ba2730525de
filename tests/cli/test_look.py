"""`sidelight look`: the page of stored results, opened; nothing is played and no server needed."""

import json
import webbrowser

import pytest
from cli_checks import assert_one_line


@pytest.fixture
def opened(monkeypatch):
    """What a browser was asked to open; there is one that takes everything."""
    found = []
    monkeypatch.setattr(webbrowser, "open", lambda address: found.append(address) or True)
    return found


@pytest.fixture
def played(run, tmp_path):
    folder = tmp_path / "out"
    words = ("-T", 200, "--seeds", 2, "--jobs", 1, "--policy", "auto,flat", "--no-figures", "--quiet")
    assert run("run", "cycle:5", *words, "-o", folder) == (0, "", "")
    (folder / "report.html").unlink()
    return folder


def test_the_page_is_written_and_opened(run, played, opened):
    code, out, err = run("look", played)
    assert (code, err) == (0, "")
    assert "report.html" in out
    page = played / "report.html"
    assert opened == [page.absolute().as_uri()]
    assert "cycle:5" in page.read_text(encoding="utf-8")
    assert not (played / "figures").exists()


def test_without_a_browser_it_says_where_the_page_is(run, played, opened, monkeypatch, tmp_path):
    answer = json.loads(run("look", played, "--json", "-o", tmp_path / "elsewhere")[1])
    assert answer == {"page": str(tmp_path / "elsewhere" / "report.html"), "complete": True, "opened": False}
    assert run("look", played, "--no-browser")[0] == 0
    assert opened == []
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    code, out, _ = run("look", played)
    assert code == 0
    assert "no browser was found" in " ".join(out.split())


def test_claims_are_looked_at_too(run, tmp_path, opened):
    (tmp_path / "claims.html").write_text("claims")
    assert run("look", tmp_path)[0] == 0
    assert opened == [(tmp_path / "claims.html").as_uri()]


@pytest.mark.parametrize("place", ["nowhere", "empty"])
def test_nothing_to_look_at(run, tmp_path, place, opened):
    (tmp_path / "empty").mkdir()
    code, out, err = run("look", tmp_path / place)
    assert (code, out) == (1, "")
    assert_one_line(err)
    assert "no results" in err
    assert opened == []


def test_the_playground(run, tmp_path, opened):
    page = tmp_path / "playground.html"
    answer = json.loads(run("look", "--playground", page, "--json")[1])
    assert answer == {"page": str(page), "complete": True, "opened": False}
    text = page.read_text()
    assert "Content-Security-Policy" in text
    assert "<link" not in text
    code, _, err = run("look", "--playground", tmp_path)
    assert code != 0
    assert "Traceback" not in err
