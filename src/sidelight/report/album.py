"""Figures as files for papers, and embedded in a page."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sidelight._files import replacing
from sidelight.report.style import save_figure, settle

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_SVG_BYTES = 400_000
"""A figure with more shapes than this is embedded as pixels."""
PIXELS_PER_INCH = 120
FOLDER = "figures"


class Picture(NamedTuple):
    """One figure of a page."""

    name: str
    source: str  # data: URI
    alt: str
    width: int  # pixels on the page
    height: int


class Album(NamedTuple):
    """Where the page is written, and as what each figure is saved beside it."""

    folder: Path
    forms: tuple[str, ...]  # of "png", "pdf"

    def picture(self, figure: Figure, name: str, alt: str) -> Picture:
        """Embed `figure`, and write figures/NAME.png and so on under the folder."""
        self.write(figure, name)
        width, height = (round(PIXELS_PER_INCH * float(inches)) for inches in figure.get_size_inches())
        return Picture(name, embedded(figure), alt, width, height)

    def write(self, figure: Figure, name: str) -> tuple[str, ...]:
        """Write figures/NAME.png and so on under the folder; the names of the files, from there."""
        settle(figure)
        files = tuple(f"{FOLDER}/{name}.{form}" for form in self.forms)
        for file, form in zip(files, self.forms, strict=True):
            (self.folder / FOLDER).mkdir(parents=True, exist_ok=True)
            with replacing(self.folder / file) as stream:
                save_figure(figure, stream, form)
        return files


def embedded(figure: Figure) -> str:
    """A data: URI that shows the figure without any file or network; text is drawn as shapes."""
    content, kind = _saved(figure, "svg"), "svg+xml"
    if len(content) > MOST_SVG_BYTES:
        content, kind = _saved(figure, "png"), "png"
    return f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"


def _saved(figure: Figure, form: str) -> bytes:
    file = io.BytesIO()
    save_figure(figure, file, form)
    return file.getvalue()


def slug(text: str) -> str:
    """A file name that any system takes.

    >>> slug("cliques:5x20, gap:0.2")
    'cliques-5x20-gap-0.2'
    """
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")[:60] or "unnamed"
