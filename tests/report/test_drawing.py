"""Figures as files, at the width of a column."""

import pytest
from finished_cells import cell, eight, final_cell, results

import sidelight as sl
from sidelight.report import drawing
from sidelight.report.drawing import Album, draw_all
from sidelight.report.figures.canvas import new_figure
from sidelight.report.figures.graph import graph_figure
from sidelight.report.figures.ledger import ledger_figure, timing_figure
from sidelight.report.figures.plays import plays_figure
from sidelight.report.figures.regret import regret_figure, scaling_figure
from sidelight.report.groups import groups_of, scalings_of
from sidelight.report.section import GraphSection
from sidelight.report.style import checked_width


@pytest.mark.parametrize("width", ["single", "double", 5.5])
def test_every_figure_has_the_width_that_was_asked_for(width):
    inches = checked_width(width)
    (group,) = groups_of(results(*eight()))
    (scaling,) = scalings_of(results(*(final_cell(10**k) for k in (1, 2, 3))))
    g = sl.families.cliques([3, 4])
    figures = [
        regret_figure(group, 10.0, width=inches),
        ledger_figure(group, width=inches),
        plays_figure(group, width=inches),
        scaling_figure(scaling, width=inches),
        graph_figure(g, sl.partitions.components(g), width=inches),
    ]
    for figure in figures:
        figure.draw_without_rendering()
        assert figure.get_size_inches()[0] == inches
    assert timing_figure(group, width=inches).get_size_inches()[0] <= inches


def test_a_narrow_figure_names_its_curves_below():
    (group,) = groups_of(results(*eight()))
    figure = regret_figure(group, width=checked_width("single"))
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert not axes.texts
    names = [text.get_text().split()[0] for text in figure.legends[0].get_texts()]
    assert names[:2] == ["auto", "exp3g"]
    assert axes.get_position().width > 0.6  # the curves have the room, not their names


def test_titles_and_files(tmp_path):
    found = results(*(cell(horizon=T, plays=None) for T in (100, 200, 300)))
    sections = {"cycle:4": GraphSection(sl.families.cycle(4))}
    drawn = list(draw_all(Album(tmp_path, ("pdf",)), groups_of(found), sections, scalings_of(found)))
    assert [one.title for one in drawn][:2] == ["Graph cycle:4", "Regret: cycle:4, gap, T = 100"]
    assert drawn[-1].title == "Growth with T: cycle:4, gap"
    assert all((tmp_path / file).read_bytes().startswith(b"%PDF") for one in drawn for file in one.files)


# -- figures of a page: embedded as shapes, or as pixels where these are fewer bytes ---------------------


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
