"""What the pages must list: each other, the public names, the tables of known things, the terms."""

import re
import tomllib

from pages import DOCS, ROOT
from repository import SECTIONS, contents
from terms import GLOSSARY, terms

import sidelight as sl
from sidelight import errors


def test_every_page_is_in_the_contents_once():
    listed = [docname for section in SECTIONS for docname in contents(section)]
    pages = {page.relative_to(DOCS).with_suffix("").as_posix() for page in DOCS.rglob("*.md")}
    pages = {page for page in pages if not page.startswith("_build")}
    assert sorted(listed) == sorted(pages - {"index", "decisions/0000-template"})


def test_the_reference_has_every_public_name():
    text = "".join(page.read_text() for page in (DOCS / "reference").glob("*.md"))
    named = set(re.findall(r"auto(?:class|function):: sidelight\.(\w+)$", text, re.M))
    modules = set(re.findall(r"automodule:: sidelight\.(?:\w+\.)*(\w+)$", text, re.M))
    missing = set(sl.__all__) - named - modules - set(vars(errors)) - {"__version__"}
    assert not missing
    assert named <= set(sl.__all__)
    assert modules >= {"families", "partitions", "environments", "baselines", "testing", "errors"}


def test_the_table_of_baselines_is_complete():
    page = (DOCS / "baselines.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)\(", page, re.M)) == set(sl.baselines.__all__)


def test_the_table_of_environments_is_complete():
    page = (DOCS / "environments.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)\(", page, flags=re.MULTILINE)
    makers = {name for name in sl.environments.__all__ if name[0].islower()}
    assert set(rows) == makers - {"dataset_names", "parse", "usages"}
    for usage in sl.environments.usages():
        assert f"`{usage}`" in page


def test_every_decision_is_listed():
    listed = set(contents("decisions/index"))
    assert {f"decisions/{page.stem}" for page in (DOCS / "decisions").glob("00*.md")} - {
        "decisions/0000-template"
    } == listed


def test_the_glossary():
    text = GLOSSARY.read_text(encoding="utf-8")
    found = terms(text)
    assert len(found) == len(re.findall(r"^### ", text, re.M)) > 30
    spellings = [spelling.lower() for term in found for spelling in term.spellings]
    assert len(spellings) == len(set(spellings))
    for word in (
        "δ*",
        "weakly observable",
        "strongly observable",
        "packing",
        "ledger",
        "realization",
        "certificate",
        "slack",
    ):
        assert word in spellings
    for term in found:
        assert term.definition.endswith((".", ")")), term.name
        assert len(term.definition) < 400, term.name


def test_the_page_of_a_report_uses_the_terms_of_the_glossary():
    template = ROOT / "src" / "sidelight" / "report" / "templates" / "words.html.j2"
    spellings = {
        spelling.lower()
        for term in terms(GLOSSARY.read_text(encoding="utf-8"))
        for spelling in term.spellings
    }
    words = re.findall(r"<dfn>(.*?)</dfn>", template.read_text(encoding="utf-8"))
    assert len(words) > 10
    for word in words:
        assert spellings & {part.strip() for part in [word.lower(), *word.lower().split(",")]}, word


def test_the_site_is_no_part_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    assert any("sphinx" in each for each in extras["docs"])
    assert not any("sphinx" in each for each in project["project"]["dependencies"])


def test_lines_that_install_work_as_written():
    """There is no release: what is not installed yet comes from the clone."""
    pages = [ROOT / "README.md", *DOCS.rglob("*.md"), *(ROOT / "deploy").iterdir()]
    named = {
        what: page.name
        for page in pages
        for what in re.findall(r"pip install (?:--\S+ )*'?([.\w/][^\s'`]*)", page.read_text(encoding="utf-8"))
    }
    assert {what for what in named if not what.startswith((".", "/source"))} == set()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(re.findall(r"\[(\w+)\]", " ".join(named))) <= set(extras)
    assert len(named) > 3
