"""What became of the claims: a table for the terminal, Markdown, and one HTML page with a figure per claim."""

from __future__ import annotations

from itertools import cycle
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from sidelight import _json
from sidelight._check import checked_path, written
from sidelight._files import replacing
from sidelight.experiment.claims import BEATEN, FAILS, HOLDS, INCONCLUSIVE
from sidelight.report.drawing import FOLDER, Album, Picture
from sidelight.report.figures.axes import log_axis, thousands
from sidelight.report.figures.canvas import new_figure, styled
from sidelight.report.style import COLOURS, GREY, INK
from sidelight.report.template import inlined, write_page

if TYPE_CHECKING:
    from rich.table import Table

    from sidelight.experiment.claims import Outcome, Reproduction

VERDICT_COLOURS = {HOLDS: "green", BEATEN: "yellow", INCONCLUSIVE: "cyan", FAILS: "red"}
MEANINGS = {
    HOLDS: "everything measured lies in the predicted range, uncertainty included",
    BEATEN: "the statement holds, but a baseline has less regret, or a smaller bound, where it was measured",
    INCONCLUSIVE: "an interval reaches beyond the predicted range, or something could not be measured",
    FAILS: "something measured lies outside the predicted range, uncertainty included",
}
MOST_ROWS = 40


def claims_table(reproduction: Reproduction) -> Table:
    """One line per claim for the terminal."""
    from rich.table import Table

    counts = ", ".join(f"{count} {verdict}" for verdict, count in reproduction.counts.items() if count)
    sizes = "quick" if reproduction.quick else "full"
    unfinished = "" if reproduction.complete else " (interrupted)"
    table = Table(title=f"{sizes} reproduction{unfinished}: {counts or 'nothing measured'}")
    for column in ("claim", "verdict", "what", "predicted", "measured"):
        table.add_column(column, overflow="fold")
    table.add_column("seconds", justify="right")
    for outcome in reproduction.outcomes:
        colour = VERDICT_COLOURS[outcome.verdict]
        for index, check in enumerate(outcome.checks):
            first = index == 0
            table.add_row(
                outcome.claim if first else "",
                f"[{colour}]{verdict_text(outcome)}[/]" if first else "",
                check.name,
                check.predicted,
                f"[{VERDICT_COLOURS[check.verdict]}]{check.measured}[/]",
                f"{outcome.seconds:.1f}" if first else "",
            )
    return table


def verdict_text(outcome: Outcome) -> str:
    """The verdict, with the baselines that beat the player of the claim."""
    names = ", ".join(outcome.beaten_by)
    return f"{outcome.verdict}: {names}" if outcome.verdict == BEATEN else outcome.verdict


def claims_markdown(reproduction: Reproduction) -> str:
    """The same as a table in Markdown."""
    lines = ["| claim | source | predicted | measured | verdict |", "|---|---|---|---|---|"]
    for outcome in reproduction.outcomes:
        predicted = "<br>".join(f"{check.name} {check.predicted}" for check in outcome.checks)
        measured = "<br>".join(check.measured for check in outcome.checks)
        source = ", ".join(f"`{label}`" for label in outcome.source)
        claim = f"`{outcome.claim}`: {outcome.statement}"
        cells = (claim, source, predicted, measured, verdict_text(outcome))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def write_claims_page(reproduction: Reproduction, folder: str | PathLike[str]) -> Path:
    """Write claims.html, claims.md, claims.json and a PNG per claim into `folder`; the path of the page."""
    home = checked_path("the folder of the claims", folder)
    with written(home):
        (home / FOLDER).mkdir(parents=True, exist_ok=True)
        album = Album(home, ("png",))
        pictures = {outcome.claim: _picture(album, outcome) for outcome in reproduction.outcomes}
        for name, content in (
            ("claims.json", _json.text(reproduction.to_dict(), indent=None)),
            ("claims.md", claims_markdown(reproduction)),
        ):
            with replacing(home / name) as file:
                file.write(content.encode("utf-8"))
        write_page(home / "claims.html", "claims.html.j2", _content(reproduction, pictures))
    return home / "claims.html"


def _picture(album: Album, outcome: Outcome) -> Picture:
    figure = claim_figure(outcome, f"{outcome.claim}: {verdict_text(outcome)}")
    return album.picture(figure, outcome.claim, f"{outcome.claim}: measured against predicted")


def _content(reproduction: Reproduction, pictures: dict[str, Picture]) -> dict[str, Any]:
    return {
        "head": inlined(styles=("page.css",), scripts=())[0],
        "reproduction": reproduction,
        "groups": list(dict.fromkeys(outcome.group for outcome in reproduction.outcomes)),
        "pictures": pictures,
        "meanings": MEANINGS,
        "verdict_text": verdict_text,
        "number": _number,
        "most_rows": MOST_ROWS,
        "seconds": sum(outcome.seconds for outcome in reproduction.outcomes),
        "processor_seconds": sum(outcome.processor_seconds for outcome in reproduction.outcomes),
    }


def _number(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "" if value is None else str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.1f}" if 1_000 <= abs(value) < 1e7 else f"{value:.4g}"


# -- the figure of a claim ----------------------------------------------------------------------------------


LISTED = ("random", "draw", "run")
"""First words of an axis that lists cases: these are not joined by a line, and have no logarithm."""

LOOKS: dict[str, dict[str, Any]] = {
    "measured": {"marker": "o", "markersize": 4},
    "baseline": {"marker": "s", "markersize": 4},
    "predicted": {"color": GREY, "linestyle": "--"},
    "bound": {"color": INK, "linestyle": "-.", "linewidth": 1},
}


@styled()
def claim_figure(outcome: Outcome, title: str) -> Figure:
    """One panel, on log axes wherever all numbers are positive."""
    figure = new_figure(6.4, 4.2)
    axes = figure.subplots()
    listed = outcome.x_label.startswith(LISTED) or "see the table" in outcome.x_label
    colours = {"measured": cycle((0, 4, 6, 3)), "baseline": cycle((1, 2, 5, 7, 3))}
    for curve in outcome.curves:
        look = dict(LOOKS[curve.role])
        if curve.role in colours:
            look["color"] = COLOURS[next(colours[curve.role])]
            if listed:
                look |= {"linestyle": "none", "markersize": 4 if len(curve.x) < 60 else 2}
        axes.plot(curve.x, curve.y, label=curve.label, **look)
        if curve.low is not None and curve.high is not None:
            axes.fill_between(curve.x, curve.low, curve.high, color=look["color"], alpha=0.16, linewidth=0)
    for which, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        values = [value for curve in outcome.curves for value in getattr(curve, which)]
        if values and min(values) > 0 and not (listed and which == "x"):
            log_axis(axes, which, min(values) / 1.15, 1.15 * max(values), least_span=1.0)
        else:
            thousands(axis, whole=listed and which == "x")
    axes.set(xlabel=outcome.x_label, ylabel=outcome.y_label)
    axes.set_title(title)
    axes.grid(visible=True)
    axes.legend()
    return figure
