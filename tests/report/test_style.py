"""What all figures share: colours, settings and files."""

import io

import numpy as np
from matplotlib import rcParams

from sidelight.report import style
from sidelight.report.figures import canvas

PNG = b"\x89PNG\r\n\x1a\n"


def test_policies_are_told_apart_and_familiar_ones_keep_their_colour():
    names = ["mine", "exp3", "auto", *(f"p{k}" for k in range(20))]
    given_strokes = style.strokes(names)
    assert set(given_strokes) == set(names)
    assert len({(stroke.colour, str(stroke.dash)) for stroke in given_strokes.values()}) == len(names)
    assert (
        given_strokes["auto"] == style.strokes(["auto"])["auto"] == style.strokes(["x", "y", "auto"])["auto"]
    )


def test_two_that_claim_one_colour_still_differ():
    first, second = style.strokes(["exp3", "exp3g"]).values()
    assert first.colour != second.colour


def test_colours_differ_in_lightness_or_hue_when_colour_vision_is_weak():
    """Simulated without red-green difference (equal red and green channels), colours stay apart."""
    rgb = np.array([[int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in style.COLOURS]) / 255
    seen = np.column_stack([rgb[:, :2] @ [0.4, 0.6], rgb[:, 2]])
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=2) + np.eye(len(rgb))
    assert apart.min() > 0.05


def test_settings_are_ours_inside_and_as_before_outside():
    before = dict(rcParams)
    with canvas.styled():
        assert rcParams["pdf.fonttype"] == 42
    assert dict(rcParams) == before


def test_files_are_fit_for_print_and_reproducible(tmp_path):
    figure = canvas.new_figure(style.COLUMN, 2.0)
    axes = figure.subplots()
    axes.plot([1, 2], [3, 4])
    axes.set_title("a $ in a name, and 名前")  # neither mathematics nor a glyph of the font
    for form in ("png", "pdf", "svg"):
        canvas.save_figure(figure, tmp_path / f"one.{form}")
        again = io.BytesIO()
        canvas.save_figure(figure, again, form)
        assert (tmp_path / f"one.{form}").read_bytes() == again.getvalue()
    png = (tmp_path / "one.png").read_bytes()
    assert png.startswith(PNG)
    assert int.from_bytes(png[16:20], "big") >= 200 * style.COLUMN  # pixels across
    assert b"/FontFile2" in (tmp_path / "one.pdf").read_bytes()  # TrueType, not Type 3
    assert (tmp_path / "one.svg").read_bytes().count(b"<text") == 0  # shapes look the same everywhere


def test_drawing_leaves_no_global_state():
    """Figures are not registered with pyplot, which would keep them all in memory."""
    from matplotlib import pyplot

    before = pyplot.get_fignums()
    canvas.new_figure().subplots()
    assert pyplot.get_fignums() == before


def test_settled_figures_stay_as_arranged():
    figure = canvas.new_figure()
    axes = figure.subplots()
    canvas.settle(figure)
    before = axes.get_position().bounds
    axes.set_ylabel("a label that would\nneed\nmore room")
    figure.draw_without_rendering()
    assert axes.get_position().bounds == before
