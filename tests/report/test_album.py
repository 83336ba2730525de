"""Figures of a page: embedded as shapes, or as pixels where these are fewer bytes."""

import pytest

from sidelight.report import drawing
from sidelight.report.figures.canvas import new_figure


@pytest.mark.parametrize(("most", "kind"), [(10**6, "svg+xml"), (10, "png")])
def test_large_drawings_become_pixels(most, kind, monkeypatch, tmp_path):
    monkeypatch.setattr(drawing, "MOST_SVG_BYTES", most)
    figure = new_figure(2.0, 1.0)
    figure.subplots().plot([1, 2])
    found = drawing.Album(tmp_path, ("pdf",)).picture(figure, "one", "a line")
    assert found.source.startswith(f"data:image/{kind};base64,")
    assert (found.width, found.height) == (240, 120)
    assert (tmp_path / "figures" / "one.pdf").read_bytes().startswith(b"%PDF")


def test_file_names_are_plain():
    assert drawing.slug("../..//evil name:5x20") == "evil-name-5x20"
    assert drawing.slug("…") == "unnamed"
    assert len(drawing.slug("x" * 500)) <= 60
