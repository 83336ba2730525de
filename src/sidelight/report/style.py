"""What curves look like, on pages and in figures: colours, dashes, widths."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any, NamedTuple

from sidelight.errors import InvalidOption

COLUMN, PAGE = 3.5, 7.2
"""Widths in inches of one column and of the text of a two-column paper."""
WIDTHS = {"single": COLUMN, "double": PAGE}
NARROWEST, WIDEST = 2.5, 20.0
"""Inches between which text and axes still fit each other."""
NARROW = 5.0
"""Below this width panels stand above each other, and curves are named below them."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#6A3D9A", "#4D4D4D")
"""Told apart with any common colour vision, and dark enough for lines on white (Okabe and Ito, adapted)."""
DARK = frozenset({"#0072B2", "#D55E00", "#009E73", "#6A3D9A", "#4D4D4D"})
"""Those on which white can be read better than black."""
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.2, 1.2, 1.2)))
"""After eight policies the colours come again, with another dash."""
HOME = {
    "auto": 0, "exp3": 1, "exp3g": 1, "chlz21": 2, "tsallis_inf": 3, "flat": 4, "hedge": 5, "self_tuning": 6,
    "uniform": 7,
}  # fmt: skip
"""Policies that keep their colour from report to report, unless two of one report claim the same."""
PARTS = ("#0072B2", "#56B4E9", "#D55E00", "#E69F00")
"""The ledger: projection and restriction in blues, global and local exploration in oranges."""

GREY, INK = "#8C8C8C", "#222222"


def checked_width(text: str | float) -> float:
    """Inches, from "single" or "double" (columns of a paper) or a number.

    >>> checked_width("single"), checked_width("5.5")
    (3.5, 5.5)
    """
    if isinstance(text, str) and text in WIDTHS:
        return WIDTHS[text]
    try:
        inches = float(text)
    except ValueError:
        inches = float("nan")
    if not (isfinite(inches) and NARROWEST <= inches <= WIDEST):
        raise InvalidOption(
            f"the width of figures is single, double or {NARROWEST:g} to {WIDEST:g} inches, got {text!r}"
        )
    return inches


class Stroke(NamedTuple):
    """How one policy is drawn, in every figure of a report."""

    colour: str
    dash: Any


def strokes(policies: Iterable[str]) -> dict[str, Stroke]:
    """A stroke for each policy, all different up to 32; the familiar ones keep theirs from report to report.

    >>> strokes(["mine", "auto"])["auto"].colour == COLOURS[0]
    True
    """
    return {
        name: Stroke(COLOURS[colour], DASHES[dash])
        for name, (colour, dash) in stroke_numbers(policies).items()
    }


def stroke_numbers(policies: Iterable[str]) -> dict[str, tuple[int, int]]:
    """The same as positions in `COLOURS` and `DASHES`."""
    names = list(dict.fromkeys(policies))
    given: dict[str, int] = {}
    for name in names:
        if name in HOME and HOME[name] not in given.values():
            given[name] = HOME[name]
    free = (k for k in range(len(names) + len(COLOURS)) if k not in given.values())
    given |= {name: next(free) for name in names if name not in given}
    return {name: (k % len(COLOURS), k // len(COLOURS) % len(DASHES)) for name, k in given.items()}
