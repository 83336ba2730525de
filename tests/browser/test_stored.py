"""The page of a store in a browser: a file, opened from the disk, with every policy as the service tells it."""

import pytest
from axe_findings import serious
from browsing import DESKTOP, PHONE, visiting
from serving import running

from sidelight.report.policies_page import write_policies_page
from sidelight.service.page import stored_policies

LINE = {"n": 4, "edges": [[0, 0], [0, 1], [1, 0], [1, 2], [2, 1], [2, 3], [3, 2]]}
LABELS = ["tea", "milk", "rum", "</script><b>gin</b>"]


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """The page, and what the service said before it was stopped."""
    folder = tmp_path_factory.mktemp("stored")
    with running(folder / "service.db") as service:
        service.create("drinks", graph={**LINE, "labels": LABELS}, rewards=[0, 3], expires=3600)
        service.create("prices", graph="teams:10x3", horizon=1000)
        for name, rounds in (("drinks", 30), ("prices", 8)):
            for decision in service.decide(name, count=rounds):
                values = [(arm % 4) / 4 for arm in decision["reveals"]]
                service.tell((decision["id"], values), name=name)
        service.decide("drinks", count=3)
        shown = {name: service.show(name) for name in ("drinks", "prices")}
    return write_policies_page(folder / "policies.html", stored_policies(str(folder / "service.db"))), shown


def test_every_policy_as_it_stands(browser, stored):
    file, shown = stored
    with visiting(browser, file.as_uri()) as visit:
        page = visit.page
        assert page.inner_text("#summary") == "2 policies have made 41 decisions; 3 wait for an answer."
        assert page.inner_text("#policy-title") == "drinks"
        assert page.get_attribute("#counts", "data-decided") == str(shown["drinks"]["decided"])
        assert page.inner_text("#bars tbody tr:nth-child(4) th") == f"3 {LABELS[3]}"
        bars = page.locator("#bars tbody tr td:last-child").all_inner_texts()
        likely = [float(text.split()[0]) / 100 for text in bars]
        assert likely == pytest.approx(shown["drinks"]["probabilities"], abs=0.006)
        assert page.locator("#waiting tr").count() == 3
        assert page.locator("#recent tr").count() == 20
        assert page.locator("#certificate-plot canvas").count() >= 1
        with page.expect_download() as download:
            visit.click("#certificate-csv")
        rows = [line.split(",") for line in download.value.path().read_text().splitlines()[1:]]
        certificates = {int(row[1]): float(row[2]) for row in rows if row[0] == "certificate"}
        assert certificates[33] == pytest.approx(shown["drinks"]["certificate"]["value"])
        assert min(certificates) == 30  # all thirty were decided before one was answered
        for control in ("#graph-log", "#log-x", "#log-y"):
            visit.click(control)
            assert page.get_attribute(control, "aria-pressed") == "true"
        visit.click("#policies >> text=prices")
        page.wait_for_selector("#policy-title:text-is('prices')")
        assert "10 other arms" in page.inner_text("#others")
        page.focus("#graph-canvas")
        page.keyboard.press("ArrowRight")
        assert page.inner_text("#arm-readout").startswith("Arm 0 team 1 / member 1, played next")
        assert visit.errors == []
    with visiting(browser, f"{file.as_uri()}#policy=prices") as visit:
        assert visit.page.inner_text("#policy-title") == "prices"


@pytest.mark.parametrize(("viewport", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")])
def test_accessible(browser, stored, axe, viewport, scheme):
    with visiting(browser, stored[0].as_uri(), viewport, scheme) as visit:
        assert visit.page.evaluate("() => document.scrollingElement.scrollWidth <= innerWidth")
        assert serious(visit, axe) == []
        assert visit.errors == []
