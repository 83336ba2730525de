"""A figure as the page holds it: embedded, described, and saved beside the page for papers."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sidelight._files import replacing
from sidelight.report.style import DPI, save_figure, settle, styled, svg_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_SVG_BYTES = 400_000
"""A figure with more shapes than this is embedded as pixels."""
PIXELS_PER_INCH = 120
FOLDER = "figures"


@dataclass(frozen=True)
class Picture:
    """One figure of a page."""

    name: str
    source: str  # data: URI
    alt: str
    caption: str
    width: int  # pixels on the page
    height: int
    files: tuple[str, ...]  # relative to the page


def picture(
    figure: Figure, name: str, alt: str, caption: str, folder: Path, *, files: bool = True
) -> Picture:
    """Embed `figure`; with `files`, also write figures/NAME.png and figures/NAME.pdf under `folder`."""
    settle(figure)
    written: list[str] = []
    for suffix in ("png", "pdf") if files else ():
        path = folder / FOLDER / f"{name}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            save_figure(figure, file, suffix)
        written.append(f"{FOLDER}/{path.name}")
    width, height = (round(PIXELS_PER_INCH * float(inches)) for inches in figure.get_size_inches())
    return Picture(name, embedded(figure), alt, caption, width, height, tuple(written))


def embedded(figure: Figure) -> str:
    """A data: URI that shows the figure without any file or network."""
    shapes = svg_of(figure)
    if len(shapes) <= MOST_SVG_BYTES:
        return "data:image/svg+xml;base64," + base64.b64encode(shapes).decode("ascii")
    with styled(), io.BytesIO() as file:
        figure.savefig(file, format="png", dpi=DPI)
        return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")


def slug(text: str) -> str:
    """A file name that any system takes.

    >>> slug("cliques:5x20, gap:0.2")
    'cliques-5x20-gap-0.2'
    """
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")[:60] or "unnamed"
