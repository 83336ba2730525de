"""`sidelight look`: the page of stored results, opened; nothing is played and no server needed."""

import json
import re
import webbrowser

import pytest


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
def test_nothing_to_look_at(fails, tmp_path, place, opened):
    (tmp_path / "empty").mkdir()
    fails("look", tmp_path / place, says="no results")
    assert opened == []


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """The file of a store with two policies, in a folder of its own."""
    from serving import running

    path = tmp_path_factory.mktemp("store") / "service.sqlite"
    with running(path) as service:
        for name, arms in (("drinks", 3), ("prices", 4)):
            service.create(name, graph=f"full:{arms}")
            for decision in service.decide(name, count=2):
                service.tell((decision["id"], [0.5] * arms), name=name)
    return path


def policies(page):
    found = re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"))[1]
    return [each["state"]["policy"]["name"] for each in json.loads(found)["policies"]]


def test_a_store_of_the_service(run, store, opened, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("look", store)
    assert (code, err) == (0, "")
    page = tmp_path / "policies.html"
    assert "policies.html" in out
    assert opened == [page.as_uri()]
    assert policies(page) == ["drinks", "prices"]
    for place in (f"sqlite:///{store}", store.parent):
        answer = json.loads(run("look", place, "--policy", "prices", "-o", tmp_path / "one", "--json")[1])
        page = tmp_path / "one" / "policies.html"
        assert answer == {"page": str(page), "complete": True, "opened": False}
        assert policies(page) == ["prices"]
        page.unlink()
    assert sorted(file.name for file in store.parent.iterdir()) == ["service.sqlite", "service.sqlite.lock"]


def test_what_is_no_store(fails, store, played, opened, tmp_path):
    for words, said in (
        (("none.sqlite",), "there is no store"),
        ((f"sqlite:///{tmp_path}/none.db",), "does not exist"),
        (("mysql://here",), "is no store"),
        ((store, "--policy", "drink"), "did you mean 'drinks'?"),
        ((tmp_path,), "no results and no store"),
        ((played, "--policy", "drinks"), "name its file or address"),
        ((played / "manifest.json",), "is no store of the service"),
    ):
        fails("look", *words, "-o", tmp_path, says=said)
    assert opened == []
    assert not (tmp_path / "policies.html").exists()
