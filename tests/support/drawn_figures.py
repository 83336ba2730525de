"""What tests of figures look at: a group of cells, and texts that are cut off or lie over each other."""

from finished_cells import results
from matplotlib.text import Text

from sidelight.report.groups import groups_of


def group(*cells):
    (only,) = groups_of(results(*cells))
    return only


def texts_outside(figure):
    """Texts of the figure that its canvas cuts off."""
    figure.draw_without_rendering()
    figure.draw_without_rendering()
    canvas = figure.bbox
    found = []
    for axes in figure.axes:
        for text in (*axes.texts, axes.title, axes.xaxis.label, axes.yaxis.label, *tick_labels(axes.yaxis)):
            box = Text.get_window_extent(text)  # without the line that leads to it
            inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= canvas.x1 + 1 and box.y1 <= canvas.y1 + 1
            if text.get_text() and not inside:
                found.append(text.get_text())
    return found


def tick_labels(axis):
    """Labels that are drawn: a locator may offer ticks beyond the limits."""
    low, high = sorted(axis.get_view_interval())
    return [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]


def overlapping(texts):
    boxes = [(text.get_text(), Text.get_window_extent(text)) for text in texts if text.get_text()]
    return [(a, b) for k, (a, one) in enumerate(boxes) for b, other in boxes[k + 1 :] if one.overlaps(other)]
