"""A graph as notebooks show it: a few facts and a small drawing; the report draws better ones."""

from __future__ import annotations

from math import cos, hypot, pi, sin
from typing import TYPE_CHECKING

from sidelight._html import ACCENT, drawing, escaped, facts
from sidelight._html import panel as made_panel

if TYPE_CHECKING:
    from sidelight.graph.feedback_graph import FeedbackGraph

MOST_ARMS, MOST_EDGES = 40, 400
SIZE, RADIUS, DOT = 180, 74, 4.5


def panel(graph: FeedbackGraph) -> str:
    """Facts and drawing as HTML."""
    fails = None if graph.out_probability is None else f"{int((graph.out_probability < 1).sum()):,} edges"
    hidden = int((graph.in_degree == 0).sum())
    labels = None if graph.labels is None else ", ".join(graph.labels[:12]) + ", …" * (graph.n_arms > 12)
    rows = [
        ("arms with self-loop", f"{int(graph.has_loop.sum()):,}"),
        ("revealed by all others", f"{graph.universal.size:,}" if graph.universal.size else None),
        ("revealed by none", f"{hidden:,}" if hidden else None),
        ("may fail", fails),
        ("labels", labels),
    ]
    title = f"Feedback graph: {graph.n_arms:,} arms, {graph.n_edges:,} edges"
    return made_panel(title, sketch(graph), facts(rows))


def sketch(graph: FeedbackGraph) -> str:
    """The drawing, or nothing if the graph is too large for one."""
    n = graph.n_arms
    if n > MOST_ARMS or graph.n_edges > MOST_EDGES:
        return ""
    middle = SIZE / 2
    at = [(middle + RADIUS * sin(2 * pi * i / n), middle - RADIUS * cos(2 * pi * i / n)) for i in range(n)]
    reveals = [set(graph.out_neighbors(i).tolist()) for i in range(n)]
    lines = []
    for i in range(n):
        for j in sorted(reveals[i] - {i}):
            mutual = i in reveals[j]
            if mutual and j < i:
                continue
            lines.append(_line(at[i], at[j], pointed=not mutual))
    dots = []
    for i, (x, y) in enumerate(at):
        place = f'<circle cx="{x:.1f}" cy="{y:.1f}"'
        ring = f'{place} r="{DOT + 3}" fill="none" stroke="{ACCENT}"/>' if i in reveals[i] else ""
        name = f"{i}" if graph.labels is None else f"{i} {graph.labels[i]}"
        dots.append(f'{ring}{place} r="{DOT}" fill="{ACCENT}"><title>{escaped(name)}</title></circle>')
    ink = 'stroke="currentColor" stroke-opacity=".4" fill="currentColor" fill-opacity=".5"'
    shapes = f"<g {ink}>{''.join(lines)}</g>{''.join(dots)}"
    return drawing(SIZE, SIZE, f"{n} arms on a circle, {graph.n_edges} edges", shapes)


def _line(start: tuple[float, float], end: tuple[float, float], *, pointed: bool) -> str:
    """An edge; one that reveals one way only has a point at what it reveals."""
    (x, y), (u, v) = start, end
    length = hypot(u - x, v - y)
    dx, dy = (u - x) / length, (v - y) / length
    u, v = u - (DOT + 1) * dx, v - (DOT + 1) * dy
    line = f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{u:.1f}" y2="{v:.1f}"/>'
    if not pointed:
        return line
    corners = (
        (u, v),
        (u - 6 * dx - 2.5 * dy, v - 6 * dy + 2.5 * dx),
        (u - 6 * dx + 2.5 * dy, v - 6 * dy - 2.5 * dx),
    )
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)
    return f'{line}<polygon stroke="none" points="{points}"/>'
