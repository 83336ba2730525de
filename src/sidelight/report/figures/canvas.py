"""New figures and the files that they are saved as; here and in its neighbours matplotlib is loaded."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import IO, Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from sidelight.report.style import INK, PAGE

DPI = 240
NOTEBOOK_DPI = 110

_SETTINGS: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"], "font.size": 8, "axes.titlesize": 9, "axes.labelsize": 8,
    "xtick.labelsize": 7, "ytick.labelsize": 7, "legend.fontsize": 7, "legend.frameon": False,
    "axes.edgecolor": "#666666", "axes.labelcolor": INK, "xtick.color": "#444444", "ytick.color": "#444444",
    "axes.linewidth": 0.6, "grid.color": "#E3E3E3", "grid.linewidth": 0.5, "lines.linewidth": 1.4,
    "xtick.major.width": 0.6, "ytick.major.width": 0.6, "xtick.minor.width": 0.4, "ytick.minor.width": 0.4,
    "axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left", "axes.axisbelow": True,
    "text.parse_math": False,  # a dollar in a name is a dollar
    "pdf.fonttype": 42, "ps.fonttype": 42,  # text stays text, as publishers ask
    "svg.fonttype": "path", "svg.hashsalt": "sidelight",  # equal figures are equal files
}  # fmt: skip


class ShownFigure(Figure):
    """A figure as any other, which is a picture where it is the value of a notebook's cell; pyplot is not needed."""

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        save_figure(self, stream, "png", NOTEBOOK_DPI)
        return stream.getvalue()


@contextlib.contextmanager
def styled() -> Iterator[None]:
    """Draw and save inside this block, or decorate what draws: matplotlib's settings are ours meanwhile."""
    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # names in any script may come
        yield


def new_figure(width: float = PAGE, height: float = 3.2) -> Figure:
    """An empty figure that pyplot does not know of, and that notebooks show."""
    figure = ShownFigure(figsize=(width, height), layout="constrained", dpi=DPI)
    FigureCanvasAgg(figure)
    return figure


def settle(figure: Figure) -> None:
    """Arrange the figure once and for all: each file it is saved to would else arrange it again."""
    with styled():
        figure.draw_without_rendering()
        figure.draw_without_rendering()  # names beside the axes change how wide these may be
        figure.set_layout_engine("none")


def save_figure(
    figure: Figure, target: str | PathLike[str] | IO[bytes], form: str | None = None, dpi: int = DPI
) -> None:
    """Write the figure fit for print, to a path or an open file; `form` (png, pdf, svg) is a path's suffix."""
    form = form or Path(str(target)).suffix.lstrip(".").lower()
    undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}  # equal figures are equal files
    with styled():
        figure.savefig(target, format=form, dpi=dpi, metadata=undated.get(form))
