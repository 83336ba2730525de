"""The page of policies: behind a service that tells how they go on, or one file with those of a store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from sidelight._check import checked_path
from sidelight._version import __version__
from sidelight.report.template import embedded, inlined, linked, rendered, write_page

STYLES = ("uplot.css", "page.css", "policies.css")
SCRIPTS = ("uplot.js", "core.js", "chart.js", "graph.js", "policies.js")
TEMPLATE = "policies.html.j2"


@dataclass(frozen=True)
class StoredPolicies:
    """Policies as they stood, in plain values.

    Each has its `graph` (`report.encoding.graph_data`), its `state` as a service tells it, and `certificates`, a list
    of [round, value] over the rounds before.
    """

    where: str
    time: float
    policies: tuple[dict[str, Any], ...]
    more: bool = False  # are there others, that are not shown?
    failed: tuple[tuple[str, str], ...] = ()  # those that could not be read, and why


def served_html(prefix: str, scripts: Iterable[str]) -> str:
    """The page for a server that has the assets below `prefix`, and with them the `scripts` that tell it news."""
    head, code = linked(prefix, STYLES, (*SCRIPTS, *scripts))
    return rendered(TEMPLATE, {"head": head, "scripts": code, "store": None})


def write_policies_page(path: str | PathLike[str], store: StoredPolicies) -> Path:
    """Write the page as one file that needs no other."""
    file = checked_path("the file of the page", path)
    head, code = inlined(STYLES, (*SCRIPTS, "stored.js"))
    data = embedded({"time": store.time, "more": store.more, "policies": store.policies})
    write_page(
        file,
        TEMPLATE,
        {"head": head, "scripts": code, "store": store, "version": __version__, "data": data},
    )
    return file
