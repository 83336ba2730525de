"""The page of the service in a browser: sign in, watch a policy while it is played, every control."""

import threading
from contextlib import contextmanager

import numpy as np
import pytest
from axe_findings import serious
from browsing import DESKTOP, PHONE, visiting
from serving import ADMIN, running

TRIANGLE = {"n": 4, "edges": [[0, 1], [1, 0], [1, 2], [2, 1], [2, 3], [3, 2], [0, 0]]}
LABELS = ["tea", "milk", "rum", "<b>gin</b>"]


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    store = tmp_path_factory.mktemp("live") / "service.db"
    with running(f"sqlite:///{store}") as found:
        found.create("drinks", graph={**TRIANGLE, "labels": LABELS}, rewards=[0, 3], expires=3600)
        found.create("prices", graph="teams:10x3", horizon=1000)
        play(found, "drinks", 20)
        play(found, "prices", 5)
        found.decide("drinks", count=3)
        yield found


def play(service, name, rounds):
    for decision in service.decide(name, count=rounds):
        values = [(arm % 4) / 4 for arm in decision["reveals"]]
        assert service.tell((decision["id"], values), name=name).status_code == 200


@contextmanager
def signed_in(browser, service, viewport=None, scheme="light", hash="", token=ADMIN):
    with visiting(browser, f"{service.http.base_url}/{hash}", viewport, scheme) as visit:
        visit.page.fill("#token", token)
        visit.page.click("#sign-in button")
        yield visit


def went_wrong(visit):
    """What did, except that streams are broken off when another policy is watched."""
    return [error for error in visit.errors if not error.endswith("/stream: net::ERR_ABORTED")]


def test_a_policy_while_it_is_played(browser, service):
    with signed_in(browser, service) as visit:
        page = visit.page
        page.wait_for_selector("#bars tbody tr:nth-child(4)")
        assert page.inner_text("#status") == "live"
        assert page.inner_text("#policies tbody").split("\n")[0].startswith("drinks")
        assert page.inner_text("#policy-title") == "drinks"
        assert page.inner_text("#bars tbody tr:nth-child(4) th") == "3 <b>gin</b>"
        before = decided(page)
        stop = threading.Event()
        played = []

        def playing():
            while not stop.is_set():
                play(service, "drinks", 4)
                played.append(4)

        thread = threading.Thread(target=playing)
        thread.start()
        try:
            page.wait_for_selector(f"#counts[data-decided]:not([data-decided='{before}'])", state="attached")
        finally:
            stop.set()
            thread.join()
        shown = service.show("drinks")
        assert shown["decided"] == before + sum(played)
        settled = f"#counts[data-decided='{shown['decided']}'][data-round='{shown['round']}']"
        page.wait_for_selector(settled, state="attached")
        bars = page.locator("#bars tbody tr td:last-child").all_inner_texts()
        found = [float(text.split()[0]) / 100 for text in bars]
        assert np.allclose(found, shown["probabilities"], atol=0.006)
        assert "observed" in page.inner_text("#recent")
        assert page.locator("#waiting tr").count() == 3
        assert "certificate" in page.inner_text("#certificate-readout")
        assert page.locator("#certificate-plot canvas").count() >= 1
        assert went_wrong(visit) == []


def decided(page):
    return int(page.get_attribute("#counts", "data-decided"))


def test_every_control(browser, service):
    with signed_in(browser, service, hash="#policy=prices") as visit:
        page = visit.page
        page.wait_for_selector("#bars tbody tr:nth-child(20)")
        assert page.inner_text("#policy-title") == "prices"
        assert "10 other arms" in page.inner_text("#others")
        for control in ("#graph-log", "#log-x", "#log-y", "#pause"):
            visit.click(control)
            assert page.get_attribute(control, "aria-pressed") == "true"
            visit.click(control)
            assert page.get_attribute(control, "aria-pressed") == "false"
        for control in ("#graph-in", "#graph-out", "#graph-reset"):
            visit.click(control)
        page.focus("#graph-canvas")
        page.keyboard.press("ArrowRight")
        assert page.inner_text("#arm-readout").startswith("Arm 0 team 1 / member 1, played next")
        with page.expect_download() as download:
            visit.click("#certificate-csv")
        rows = download.value.path().read_text().splitlines()
        assert rows[0].startswith("policy,round,mean")
        assert {row.split(",")[0] for row in rows[1:]} == {"certificate", "bound"}
        visit.click("#policies >> text=drinks")
        page.wait_for_selector("#policy-title:text-is('drinks')")
        page.wait_for_selector("#bars tbody tr:nth-child(4):last-child")
        assert page.evaluate("sessionStorage.length") == 1
        assert page.evaluate("localStorage.length") == 0
        page.reload()
        page.wait_for_selector("#bars tbody tr")  # still signed in
        visit.click("#sign-out")
        page.wait_for_selector("#door")
        assert page.evaluate("sessionStorage.length") == 0
        assert not page.is_visible("#policies")
        assert went_wrong(visit) == []


def test_who_is_refused_and_who_reads_one_policy(browser, service):
    with signed_in(browser, service, token="wrong") as visit:
        visit.page.wait_for_selector("#refused:visible")
        assert "token" in visit.page.inner_text("#refused")
        assert not visit.page.is_visible("#policies")
        made = service.http.post("/v1/tokens", json={"scopes": ["read"], "policy": "prices"}).json()
        visit.page.fill("#token", made["token"])
        visit.page.press("#token", "Enter")
        visit.page.wait_for_selector("#bars tbody tr")
        assert visit.page.locator("#policies tbody tr").count() == 1
        service.http.delete(f"/v1/tokens/{made['id']}")
        visit.page.wait_for_selector("#door:visible")  # at once, without a reload


def test_removed_while_watched(browser, service):
    service.create("passing", graph="full:3")
    with signed_in(browser, service, hash="#policy=passing") as visit:
        visit.page.wait_for_selector("#bars tbody tr")
        service.http.delete("/v1/policies/passing")
        visit.page.wait_for_selector("#lost:visible")
        assert "removed" in visit.page.inner_text("#lost")
        assert went_wrong(visit) == []


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible(browser, service, axe, viewport, scheme):
    with visiting(browser, f"{service.http.base_url}/", viewport, scheme) as visit:
        assert serious(visit, axe) == []
        visit.page.fill("#token", ADMIN)
        visit.page.press("#token", "Enter")
        visit.page.wait_for_selector("#bars tbody tr")
        visit.page.wait_for_selector("#certificate-plot canvas")
        assert visit.page.evaluate("() => document.scrollingElement.scrollWidth <= innerWidth")
        assert serious(visit, axe) == []
        assert went_wrong(visit) == []
