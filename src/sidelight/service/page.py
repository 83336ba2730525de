"""The pages of the service: static files, its own and those of every page. Nothing in them is made from data."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from sidelight.report import policies_page, template

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:;"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}

OWN = ("live.js",)
SHARED = {*policies_page.STYLES, *policies_page.SCRIPTS}


@cache
def text(name: str) -> str:
    """One of the files of the service alone."""
    return files("sidelight.service").joinpath("static", name).read_text(encoding="utf-8")


@cache
def watched() -> str:
    """All policies and one of them, as they run."""
    return policies_page.served_html("assets/", OWN)


def asset(name: str) -> tuple[str, str] | None:
    """A script or style sheet and its type; None if there is none of this name."""
    if name not in OWN and name not in SHARED:
        return None
    kind = template.TYPES[name.rsplit(".", 1)[1]]
    return (text(name) if name in OWN else template.asset(name)), kind
