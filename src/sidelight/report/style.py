"""How every figure looks: colours, sizes, number formats, and the files it is saved as."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sidelight._types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

COLUMN, PAGE = 3.5, 7.2
"""Widths in inches of one column and of the text of a two-column paper."""
DPI = 240
LINE_HEIGHT = 0.155
"""Inches between two names beside a figure."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#6A3D9A", "#4D4D4D")
"""Told apart with any common colour vision, and dark enough for lines on white (Okabe and Ito, adapted)."""
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.2, 1.2, 1.2)))
"""After eight policies the colours come again, with another dash."""
HOME = {"auto": 0, "exp3": 1, "exp3g": 1, "chlz21": 2, "tsallis_inf": 3, "flat": 4, "hedge": 5, "uniform": 7}
"""Policies that keep their colour from report to report, unless two of one report claim the same."""
PARTS = ("#0072B2", "#56B4E9", "#D55E00", "#E69F00")
"""The ledger: projection and restriction in blues, global and local exploration in oranges."""

GREY, INK = "#8C8C8C", "#222222"
_SETTINGS: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "axes.edgecolor": "#666666",
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.axisbelow": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "text.parse_math": False,  # a dollar in a name is a dollar
    "pdf.fonttype": 42,  # text stays text, as publishers ask
    "ps.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "sidelight",  # equal figures are equal files
}


@dataclass(frozen=True)
class Stroke:
    """How one policy is drawn, in every figure of a report."""

    colour: str
    dash: Any = "-"


def strokes(policies: Iterable[str]) -> dict[str, Stroke]:
    """A stroke for each policy, all different up to 32; the familiar ones keep theirs from report to report.

    >>> strokes(["mine", "auto"])["auto"].colour == COLOURS[0]
    True
    """
    names = list(dict.fromkeys(policies))
    given: dict[str, int] = {}
    for name in names:
        if name in HOME and HOME[name] not in given.values():
            given[name] = HOME[name]
    free = [k for k in range(len(names) + len(COLOURS)) if k not in given.values()]
    for name in names:
        if name not in given:
            given[name] = free.pop(0)
    return {
        name: Stroke(COLOURS[k % len(COLOURS)], DASHES[k // len(COLOURS) % len(DASHES)])
        for name, k in given.items()
    }


@contextlib.contextmanager
def styled() -> Iterator[None]:
    """Draw and save inside this block: matplotlib's settings are ours here, and as before afterwards."""
    import matplotlib

    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # names in any script may come
        yield


def new_figure(width: float = PAGE, height: float = 3.2) -> Figure:
    """An empty figure that pyplot does not know of."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", dpi=DPI)
    FigureCanvasAgg(figure)
    return figure


def save_figure(
    figure: Figure, target: str | PathLike[str] | IO[bytes], form: str | None = None, dpi: int = DPI
) -> None:
    """Write the figure fit for print, to a path or an open file; `form` (png, pdf, svg) is a path's suffix."""
    form = form or Path(str(target)).suffix.lstrip(".")
    with styled():
        figure.savefig(target, format=form, dpi=dpi, metadata=_undated(form))


def settle(figure: Figure) -> None:
    """Arrange the figure once and for all: each file it is saved to would else arrange it again."""
    with styled():
        figure.draw_without_rendering()
        figure.draw_without_rendering()  # names beside the axes change how wide these may be
        figure.set_layout_engine("none")


def svg_of(figure: Figure) -> bytes:
    """The figure as SVG, text drawn as shapes: it looks the same everywhere."""
    with styled(), io.BytesIO() as file:
        figure.savefig(file, format="svg", metadata=_undated("svg"))
        return file.getvalue()


def _undated(form: str) -> dict[str, Any]:
    """Without the hour of writing: equal figures are equal files."""
    return {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(form.lower(), {})


# -- numbers ----------------------------------------------------------------------------------------------


def number(value: float) -> str:
    """A number as a reader wants it: thousands apart, four digits or so.

    >>> [number(v) for v in (0.01234, 3.14159, 42.0, 1234.5, 2.5e9)]
    ['0.0123', '3.14', '42', '1,234', '2.5·10⁹']
    """
    if not np.isfinite(value):
        return "–"
    size = abs(value)
    if size >= 1e7:
        exponent = int(np.floor(np.log10(size)))
        return f"{value / 10**exponent:.3g}·{power(exponent)}"
    if size >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def power(exponent: int) -> str:
    """Ten to the `exponent` in plain characters.

    >>> power(-3)
    '10⁻³'
    """
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def counted(count: int, noun: str) -> str:
    """A count with its noun.

    >>> counted(1, "arm"), counted(2000, "arm")
    ('1 arm', '2,000 arms')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _decade(value: float, _: object = None) -> str:
    if value <= 0:
        return ""
    exponent = round(np.log10(value))
    if not np.isclose(value, 10.0**exponent):
        return ""
    return f"{10**exponent:,}" if 0 <= exponent <= 4 else power(exponent)


def short(name: str, most: int = 26) -> str:
    """A name cut to fit a figure.

    >>> short("a" * 30, 5)
    'aaaa…'
    """
    return name if len(name) <= most else name[: most - 1] + "…"


# -- axes -------------------------------------------------------------------------------------------------


def log_axis(axes: Axes, which: str, low: float, high: float) -> None:
    """A logarithmic axis from `low` to `high` with few, readable ticks, at least two of them labelled."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter

    high = max(high, 2 * low)  # a single round still needs a place
    if which == "x":
        axes.set_xscale("log")
        axes.set_xlim(low, high)
    else:
        axes.set_yscale("log")
        axes.set_ylim(low, high)
    axis: Axis = axes.xaxis if which == "x" else axes.yaxis
    first, last = int(np.ceil(np.log10(low) - 1e-9)), int(np.floor(np.log10(high) + 1e-9))
    step = max(1, (last - first) // 6 + (1 if (last - first) % 6 and last - first > 6 else 0))
    ticks = [10.0**k for k in range(first, last + 1, step)]
    labels = [_decade(tick) for tick in ticks]
    if len(ticks) < 2:
        decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
        ticks = [m * 10.0**k for k in decades for m in (1, 2, 5) if low <= m * 10.0**k <= high]
        labels = [number(tick) for tick in ticks]
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FixedFormatter(labels))
    minor = [10.0**k for k in range(first, last + 1)]
    if last - first <= 6:
        minor = [m * 10.0**k for k in range(first - 1, last + 1) for m in range(2, 10)]
    axis.set_minor_locator(FixedLocator([tick for tick in minor if low <= tick <= high]))
    axis.set_minor_formatter(NullFormatter())


def thousands(axis: Axis) -> None:
    """Linear ticks with thousands apart."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(5))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}".replace("-", "−")))


def nested_widths(curves: Sequence[npt.NDArray[Any]], width: float = 1.4) -> list[float]:
    """A line width for each curve, such that curves that coincide show as stripes, not as one.

    >>> nested_widths([np.array([1, 2]), np.array([1, 2]), np.array([3, 4])])
    [3.2, 1.4, 1.4]
    """
    same = [[np.array_equal(curve, other) for other in curves] for curve in curves]
    return [
        width + 3.6 * sum(row[k + 1 :]) / max(sum(row) - 1, 2)  # stripes stay narrow where many coincide
        for k, row in enumerate(same)
    ]


def spread_labels(wanted: Sequence[float], gap: float, low: float = 0.0, high: float = 1.0) -> Floats:
    """Positions near `wanted`, in its order, at least `gap` apart and inside [low, high] if they fit.

    Least squares: neighbours that are too close move together (pool adjacent violators).

    >>> spread_labels([0.5, 0.5, 0.9], 0.1).round(3).tolist()
    [0.45, 0.55, 0.9]
    """
    order = np.argsort(wanted, kind="stable")
    shifts = gap * np.arange(len(order))
    pools: list[list[float]] = []  # [sum, count] of positions less their shift
    for value in np.asarray(wanted, dtype=float)[order] - shifts:
        pools.append([value, 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] >= pools[-1][0] / pools[-1][1]:
            total, count = pools.pop()
            pools[-1][0] += total
            pools[-1][1] += count
    level = np.repeat([total / count for total, count in pools], [int(count) for _, count in pools])
    last = max(high - shifts[-1], low) if len(order) else low
    placed = np.empty(len(order))
    placed[order] = np.clip(level, low, last) + shifts
    return placed


def label_ends(axes: Axes, ends: Sequence[tuple[str, float, str]]) -> None:
    """Name curves of a log axis at their right ends: (text, last value, colour), moved apart where needed."""
    low, high = axes.get_ylim()
    figure = axes.get_figure(root=True)
    assert figure is not None
    gap = LINE_HEIGHT / (float(figure.get_size_inches()[1]) - 1.1)  # an inch or so is not the axes'
    heights = [float(np.log(np.clip(value, low, high) / low) / np.log(high / low)) for _, value, _ in ends]
    for (text, _, colour), end, at in zip(ends, heights, spread_labels(heights, gap), strict=True):
        axes.annotate(
            text,
            xy=(1.015, end),
            xytext=(1.07, at),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=colour,
            fontsize=7.5,
            va="center",
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.6,
                "shrinkA": 1,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
            annotation_clip=False,
        )
