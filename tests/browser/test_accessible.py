"""axe-core finds nothing serious in any page, on a desktop or a phone, light or dark."""

import pytest
from axe_findings import serious
from browsing import DESKTOP, PHONE, visiting

import sidelight as sl
from sidelight.experiment.claims import Reproduction, find
from sidelight.report.claims_page import write_claims_page


@pytest.mark.parametrize(
    ("viewport", "scheme"),
    [
        pytest.param(DESKTOP, "light", id="desktop-light"),
        pytest.param(PHONE, "dark", id="phone-dark"),
        pytest.param(DESKTOP, "dark", id="desktop-dark", marks=pytest.mark.full),
        pytest.param(PHONE, "light", id="phone-light", marks=pytest.mark.full),
    ],
)
def test_the_report(browser, report, axe, viewport, scheme):
    with visiting(browser, report.as_uri(), viewport, scheme) as visit:
        visit.page.fill("#graph-arm", "1")
        visit.page.press("#graph-arm", "Enter")
        visit.settle()
        assert serious(visit, axe) == []
        visit.page.locator("a.term:visible").first.click()
        assert serious(visit, axe, "#term-popover") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_claims(browser, axe, tmp_path, scheme):
    outcomes = tuple(
        find([name])[0].run(quick=True) for name in ("corrupted-constant", "out-degree-as-printed")
    )
    path = write_claims_page(
        Reproduction(outcomes, quick=True, complete=True, provenance={"sidelight": sl.__version__}), tmp_path
    )
    with visiting(browser, path.as_uri(), PHONE, scheme, ready=False) as visit:
        assert visit.page.locator("main section section").count() == 2
        assert visit.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
        assert serious(visit, axe) == []
        assert visit.errors == []
