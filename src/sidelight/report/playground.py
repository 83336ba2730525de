"""The playground: plans side by side in a browser, as one file that needs nothing, or behind a server."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from sidelight._check import checked_path
from sidelight.report import assets
from sidelight.report.template import rendered, write_page

STYLES = ("uplot.css", "page.css", "playground.css")
SCRIPTS = ("uplot.js", "core.js", "chart.js", "graph.js", "bandits.js", "playground.js")
TEMPLATE = "playground.html.j2"


def playground_html(prefix: str) -> str:
    """The page for a server that has the assets below `prefix`."""
    head, scripts = assets.linked(prefix, STYLES, SCRIPTS)
    return rendered(TEMPLATE, {"head": head, "scripts": scripts, "served": True})


def write_playground(path: str | PathLike[str]) -> Path:
    """Write the page as one file."""
    file = checked_path("the file of the playground", path)
    head, scripts = assets.inlined(STYLES, SCRIPTS)
    write_page(file, TEMPLATE, {"head": head, "scripts": scripts, "served": False})
    return file
