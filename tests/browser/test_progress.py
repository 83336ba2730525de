"""The page of a sweep while it runs: progress follows by itself, new results come when they are asked for."""

import threading

import pytest
from axe_findings import serious
from browsing import DESKTOP, PHONE, visiting

import sidelight as sl
from sidelight.cli.watching import Watched

SPEC = {
    "policies": ["uniform", "exp3g"],
    "graphs": ["cycle:5"],
    "environments": ["gap:0.2"],
    "horizons": [50],
    "seeds": 3,
}


@pytest.mark.parametrize(
    ("viewport", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop", "phone"]
)
def test_a_sweep_while_it_runs(browser, axe, tmp_path, viewport, scheme):
    sl.sweep(SPEC, tmp_path, jobs=1, progress=False)
    last = sorted((tmp_path / "cells").glob("*.parquet"))[-1]
    kept = last.read_bytes()
    last.unlink()
    server = Watched(tmp_path)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        with visiting(browser, server.address, viewport, scheme) as visit:
            page = visit.page
            page.wait_for_selector(".progress[data-done='1']")
            assert "1 of 2 cells" in page.inner_text(".progress")
            assert page.is_hidden(".progress button")
            assert serious(visit, axe) == []
            last.write_bytes(kept)
            page.wait_for_selector(".progress[data-done='2']")
            assert "All 2 cells are finished." in page.inner_text(".progress")
            visit.click(".progress button")
            page.wait_for_selector("#leaderboard tbody tr")
            assert page.locator("#leaderboard tbody tr").count() == 2
            assert page.evaluate("() => document.scrollingElement.scrollWidth <= innerWidth")
            assert [error for error in visit.errors if "/events" not in error] == []
    finally:
        server.shutdown()
        thread.join()
        server.close()
