"""A page from a template, complete or not written at all, with its style sheet and scripts.

They are inlined into a file that stands alone, or linked by a server. Scripts are plain files that share one name,
`Sidelight`; none is made from data. A page that stands alone names the digest of each in its content security policy,
so nothing else in it can run. A server sends the same files, and needs no inline code.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sidelight._files import replacing

if TYPE_CHECKING:
    from markupsafe import Markup


def write_page(path: Path, template: str, content: dict[str, Any]) -> None:
    """Fill in the template of that name and put the page at `path`."""
    page = rendered(template, content)
    with replacing(path) as file:
        file.write(page.encode("utf-8"))


def rendered(template: str, content: dict[str, Any]) -> str:
    """The template of that name, filled in."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,  # names of graphs, arms and policies come from users
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(content)


def embedded(data: Mapping[str, Any]) -> Markup:
    """JSON for a script element that is no script: no character in it can end that element."""
    from markupsafe import Markup

    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


# -- style sheets and scripts -------------------------------------------------------------------------------


STYLES = ("uplot.css", "page.css")
SCRIPTS = ("uplot.js", "core.js", "chart.js", "graph.js", "explorer.js")
"""In the order in which they need each other."""

TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
"""Of the files, by suffix."""

POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:"
"""What every page is held to, besides its own style and scripts."""


@cache
def asset(name: str) -> str:
    """A style sheet or script."""
    return files("sidelight.report").joinpath("static", name).read_text(encoding="utf-8")


def inlined(styles: Iterable[str] = STYLES, scripts: Iterable[str] = SCRIPTS) -> tuple[Markup, Markup]:
    """What stands in the head of a page that needs no other file, and at the end of its body."""
    from markupsafe import Markup

    style = "\n".join(map(asset, styles))
    code = [asset(name) for name in scripts]
    sources = " ".join(map(_source, code)) or "'none'"
    policy = f"{POLICY}; style-src {_source(style)}; script-src {sources}"
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<style>{style}</style>'
    return Markup(head), Markup("\n".join(f"<script>{script}</script>" for script in code))


def linked(
    prefix: str = "", styles: Iterable[str] = STYLES, scripts: Iterable[str] = SCRIPTS
) -> tuple[Markup, Markup]:
    """The same for a page whose server has the files below `prefix`, and sends the policy as a header."""
    from markupsafe import Markup, escape

    start = escape(prefix)
    head = "\n".join(f'<link rel="stylesheet" href="{start}{name}">' for name in styles)
    return Markup(head), Markup("\n".join(f'<script src="{start}{name}"></script>' for name in scripts))


def _source(content: str) -> str:
    """How a content security policy names this very text."""
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
