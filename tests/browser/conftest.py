"""One browser and a few pages for all tests here; without a browser they are skipped, and say so."""

from importlib.resources import files

import pytest
from browsing import chromium, launched, visiting
from finished_cells import bound, curve_cell, results

import sidelight as sl

POLICIES = {"self_tuning": (0.45, 1.0), "auto": (0.5, 1.3), "ftl": (0.66, 1.0), "uniform": (1.0, 0.2)}
GRAPHS = ("cycle:6", "cycle:9", "cycle:12", "teams:3x3")
HORIZONS = (1_000, 10_000, 100_000)


@pytest.fixture(scope="module")
def browser():
    """For one file of tests: while it is open Playwright's event loop runs in this thread, and others need theirs."""
    pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: pip install '.[dev]'")
    if chromium() is None:
        pytest.skip("no Chromium on the path: apt-get install chromium, or set SIDELIGHT_CHROMIUM")
    with launched() as found:
        yield found


@pytest.fixture(scope="session")
def axe():
    pytest.importorskip("axe_playwright_python", reason="axe is not installed: pip install '.[dev]'")
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def studied():
    """Results of made-up runs on four graphs, and what is known about the graphs."""
    from sidelight.report.section import Analysis, GraphSection

    sections, cells = {}, []
    for name in GRAPHS:
        graph = sl.families.parse(name)
        facts = tuple(Analysis.of(graph).rows())
        sections[name] = GraphSection.of(*(sl.compare_bounds(graph, T) for T in HORIZONS), facts=facts)
        for environment in ("gap:0.2", "switching"):
            cells += [
                played(policy, name, environment, T, graph.n_arms) for T in HORIZONS for policy in POLICIES
            ]
    return results(*cells, title="Four graphs"), sections


def played(policy, graph, environment, horizon, arms):
    """A made-up cell: on the cycle of nine arms the automatic plan is the best, elsewhere the self-tuning one."""
    exponent, scale = POLICIES[policy]
    if graph == "cycle:9" and policy == "auto":
        exponent, scale = 0.4, 1.0
    cell = curve_cell(
        policy,
        graph=graph,
        environment=environment,
        horizon=horizon,
        exponent=exponent,
        scale=scale,
        arms=arms,
        seeds=8,
    )
    changed = {"id": f"{policy}-{graph}-{environment}-{horizon}"}
    changed["certificate"] = None if policy == "uniform" else 1.7 * cell.regret
    changed["ledger"] = None if policy == "uniform" else cell.ledger
    changed["bound"] = None if policy == "uniform" else bound(3 * scale * horizon**exponent, policy != "ftl")
    from dataclasses import replace

    return replace(cell, **changed)


@pytest.fixture(scope="session")
def report(studied, tmp_path_factory):
    from sidelight.report.page import write_report

    found, sections = studied
    return write_report(tmp_path_factory.mktemp("page"), found, sections, files=False)


@pytest.fixture
def visit(browser, report):
    """The report on a desktop; nothing may go wrong in it."""
    with visiting(browser, report.as_uri()) as visit:
        yield visit
        assert visit.errors == []
