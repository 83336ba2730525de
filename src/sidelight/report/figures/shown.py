"""A figure that a notebook shows without pyplot; imported when one is drawn, since matplotlib is."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

NOTEBOOK_DPI = 110


class ShownFigure(Figure):
    """A figure as any other, which is a picture where it is the value of a cell."""

    def _repr_png_(self) -> bytes:
        from sidelight.report.style import save_figure

        stream = io.BytesIO()
        save_figure(self, stream, "png", NOTEBOOK_DPI)
        return stream.getvalue()
