"""A page from a template: complete, or not written at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
