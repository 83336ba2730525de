"""The page of the service: three static files. Nothing in them is made from data; the script asks the API."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:;"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}


@cache
def text(name: str) -> str:
    """One of the files."""
    return files("sidelight.service").joinpath("static", name).read_text(encoding="utf-8")
