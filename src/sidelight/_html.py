"""What notebooks show: small pieces of HTML that need nothing around them.

No script, no style sheet, no identifiers: a page may hold any number of them. Colours are those of the text around,
with greys that are half transparent, so that they can be read on white and on black. What comes from outside is
escaped.
"""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterable, Sequence
from math import isfinite, log10

ACCENT = "#3d8fc4"
"""Of bars and single curves: the blue of the report, light enough for a dark page."""
COLOURS = (ACCENT, "#e0713a", "#1fa37c", "#cf84ad", "#7cc4ee", "#d9a21b", "#9b76c9", "#8c8c8c")
"""The order of the report's colours, for light and dark pages."""

_BOX = (
    "display:inline-block;max-width:100%;box-sizing:border-box;padding:.6em .9em;margin:.2em 0;"
    "border:1px solid rgba(127,127,127,.35);border-radius:6px;font:13px/1.5 system-ui,sans-serif;color:inherit;"
    "background:transparent;overflow-x:auto"
)
_TABLE = "border-collapse:collapse;border:0;margin:0;background:transparent;color:inherit;font-size:13px"
_CELL = "padding:1px 14px 1px 0;border:0;background:transparent;vertical-align:top"
_LEFT, _RIGHT = f"{_CELL};text-align:left", f"{_CELL};text-align:right;font-variant-numeric:tabular-nums"
_FAINT = "opacity:.65"


def escaped(value: object) -> str:
    """Text that a browser shows as it is."""
    return html.escape(str(value))


def panel(title: str, *parts: str) -> str:
    """A box with a title; parts are HTML, empty ones are left out."""
    shown = "".join(part for part in parts if part)
    return f'<div style="{_BOX}"><div style="font-weight:600;margin-bottom:.3em">{escaped(title)}</div>{shown}</div>'


def facts(rows: Iterable[tuple[str, object]]) -> str:
    """Names and values, a line each; lines without a value are left out."""
    lines = "".join(
        f'<tr style="background:transparent"><td style="{_LEFT};{_FAINT};white-space:nowrap">{escaped(name)}</td>'
        f'<td style="{_LEFT}">{escaped(value)}</td></tr>'
        for name, value in rows
        if value not in (None, "")
    )
    return f'<table style="{_TABLE}"><tbody>{lines}</tbody></table>' if lines else ""


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], strong: Iterable[int] = ()) -> str:
    """A table with a head; a head that begins with `>` is a column of numbers, rows in `strong` are bold."""
    kinds = [_RIGHT if head.startswith(">") else _LEFT for head in heads]
    bold = set(strong)
    top = "".join(
        f'<th style="{kind};{_FAINT};font-weight:600">{escaped(head.lstrip(">"))}</th>'
        for head, kind in zip(heads, kinds, strict=True)
    )
    body = ""
    for at, row in enumerate(rows):
        weight = ";font-weight:600" if at in bold else ""
        cells = "".join(
            f'<td style="{kind}{weight}">{escaped(value)}</td>'
            for value, kind in zip(row, kinds, strict=True)
        )
        body += f'<tr style="background:transparent">{cells}</tr>'
    return (
        f'<table style="{_TABLE}"><thead><tr style="background:transparent">{top}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def bars(rows: Iterable[tuple[str, float]]) -> str:
    """Names with shares of 1, as bars and as numbers."""
    lines = "".join(
        f'<tr style="background:transparent"><td style="{_LEFT}">{escaped(name)}</td>'
        f'<td style="{_LEFT};width:130px"><div style="height:.7em;margin-top:.35em;border-radius:2px;'
        f'background:{ACCENT};width:{100 * share:.4g}%"></div></td>'
        f'<td style="{_RIGHT}">{100 * share:.2f} %</td></tr>'
        for name, share in rows
    )
    return f'<table style="{_TABLE}"><tbody>{lines}</tbody></table>'


def progress(text: str, share: float, remark: str) -> str:
    """A bar that has got so far."""
    row = "font:13px/1.5 system-ui,sans-serif;display:flex;gap:.7em;align-items:center"
    bar = "width:220px;height:.7em;border-radius:3px;background:rgba(127,127,127,.25)"
    done = f"height:100%;border-radius:3px;background:{ACCENT};width:{100 * max(0.0, min(share, 1.0)):.3g}%"
    return (
        f'<div style="{row}"><span>{escaped(text)}</span><div style="{bar}"><div style="{done}"></div></div>'
        f'<span style="{_FAINT}">{escaped(remark)}</span></div>'
    )


def folded(title: str, content: str) -> str:
    """Something longer that opens when it is clicked."""
    return (
        f'<details style="margin-top:.3em"><summary style="cursor:pointer;{_FAINT}">{escaped(title)}</summary>'
        f"{content}</details>"
    )


def note(text: str) -> str:
    """A sentence below."""
    return f'<div style="margin-top:.3em;{_FAINT}">{escaped(text)}</div>' if text else ""


def curves(lines: Sequence[tuple[str, Sequence[float], Sequence[float]]], label: str) -> str:
    """Curves (name, x, y) on log axes; what is not above zero leaves a gap. `label` says it in words."""
    points = [
        [(float(x), float(y)) for x, y in zip(xs, ys, strict=True) if x > 0 and y > 0 and isfinite(y)]
        for _, xs, ys in lines
    ]
    flat = [point for line in points for point in line]
    if len(flat) < 2:
        return ""
    (left, right), (low, high) = _span([x for x, _ in flat]), _span([y for _, y in flat])
    width, height, room = 300, 110, 6

    def place(x: float, y: float) -> str:
        across = room + (width - 2 * room) * (log10(x) - left) / (right - left)
        up = height - room - (height - 2 * room) * (log10(y) - low) / (high - low)
        return f"{across:.1f},{up:.1f}"

    drawn = "".join(
        f'<polyline fill="none" stroke="{COLOURS[at % len(COLOURS)]}" stroke-width="1.6"'
        f' points="{" ".join(place(*point) for point in line)}"/>'
        for at, line in enumerate(points)
    )
    box = f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="3"'
    frame = f'{box} fill="none" stroke="currentColor" stroke-opacity=".25"/>'
    return drawing(width, height, label, frame + drawn)


def legend(names: Iterable[str]) -> str:
    """Names in the colours of `curves`, in the same order."""
    colours = (COLOURS[at % len(COLOURS)] for at in itertools.count())
    marks = "".join(
        f'<span style="margin-right:1em;white-space:nowrap"><span style="color:{colour}">&#9632;</span>'
        f" {escaped(name)}</span>"
        for name, colour in zip(names, colours, strict=False)
    )
    return f'<div style="max-width:300px">{marks}</div>' if marks else ""


def drawing(width: int, height: int, label: str, shapes: str) -> str:
    """Shapes of SVG in a frame of so many pixels; `label` says in words what is drawn."""
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return f'<svg role="img" aria-label="{escaped(label)}" {size} style="display:block;margin:.3em 0">{shapes}</svg>'


def _span(values: Sequence[float]) -> tuple[float, float]:
    low, high = log10(min(values)), log10(max(values))
    return (low, high) if high > low else (low - 0.5, high + 0.5)
