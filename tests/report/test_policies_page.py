"""The page of policies: names and reasons come from others, and stay text."""

import json
import re

from sidelight.report.policies_page import StoredPolicies, served_html, write_policies_page

EVIL = "</script><img src=x>"


def told(name):
    return {"graph": {"arms": 1}, "state": {"policy": {"name": name}}, "certificates": [[1, 2.0]]}


def test_one_file_that_needs_nothing(tmp_path):
    store = StoredPolicies(
        f"sqlite:////{EVIL}", 1.5e9, (told("p"), told(EVIL)), True, ((EVIL, f"why {EVIL}"),)
    )
    text = write_policies_page(tmp_path / "policies.html", store).read_text(encoding="utf-8")
    assert "Content-Security-Policy" in text
    assert "<link" not in text
    assert "src=" not in text.replace("&lt;img src=x&gt;", "").replace("\\u003cimg src=x\\u003e", "")
    data = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])
    assert [each["state"]["policy"]["name"] for each in data["policies"]] == ["p", EVIL]
    assert (data["time"], data["more"]) == (1.5e9, True)
    assert "why &lt;/script&gt;&lt;img src=x&gt;" in text
    assert 'id="sign-in"' not in text


def test_behind_a_service():
    text = served_html("assets/", ("live.js",))
    assert '<script src="assets/live.js">' in text
    assert 'href="assets/policies.css"' in text
    assert 'id="sign-in"' in text
    assert 'id="data"' not in text
    assert "<style" not in text
