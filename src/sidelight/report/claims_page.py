"""What became of the claims: a table for the terminal, Markdown, and one HTML page with a figure per claim."""

from __future__ import annotations

import base64
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sidelight import _json
from sidelight._files import replacing
from sidelight.errors import InvalidOption
from sidelight.experiment.claims import BEATEN, FAILS, HOLDS, INCONCLUSIVE

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

    from sidelight.experiment.claims import Outcome, Reproduction

COLOURS = {HOLDS: "green", BEATEN: "yellow", INCONCLUSIVE: "cyan", FAILS: "red"}
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
        colour = COLOURS[outcome.verdict]
        for index, check in enumerate(outcome.checks):
            first = index == 0
            table.add_row(
                outcome.claim if first else "",
                f"[{colour}]{verdict_text(outcome)}[/]" if first else "",
                check.name,
                check.predicted,
                f"[{COLOURS[check.verdict]}]{check.measured}[/]",
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
        cells = (
            f"`{outcome.claim}`: {outcome.statement}",
            source,
            predicted,
            measured,
            verdict_text(outcome),
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def claim_figure(outcome: Outcome) -> Figure:
    """Measured against predicted, on log axes wherever all numbers are positive."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    palette = {"measured": 0, "baseline": 0}
    listed = "see the table" in outcome.x_label or outcome.x_label.startswith(("random", "draw", "run"))
    for curve in outcome.curves:
        style = _style(curve.role, palette)
        if listed and "marker" in style:  # cases in a list are not joined by a line
            style |= {"linestyle": "none", "markersize": 5 if len(curve.x) < 60 else 2}
        axes.plot(curve.x, curve.y, label=curve.label, **style)
        if curve.low is not None and curve.high is not None:
            axes.fill_between(curve.x, curve.low, curve.high, color=style["color"], alpha=0.2, linewidth=0)
    numbers = [y for curve in outcome.curves for y in curve.y]
    if numbers and min(numbers) > 0:
        axes.set_yscale("log")
        _plain_ticks(axes.yaxis, min(numbers), max(numbers))
    if not listed and outcome.curves and min(min(curve.x) for curve in outcome.curves) > 0:
        axes.set_xscale("log")
        places = [x for curve in outcome.curves for x in curve.x]
        _plain_ticks(axes.xaxis, min(places), max(places))
    axes.set_xlabel(outcome.x_label)
    axes.set_ylabel(outcome.y_label)
    axes.set_title(f"{outcome.claim}: {verdict_text(outcome)}", fontsize=10)
    axes.grid(alpha=0.3, which="both")
    axes.legend(fontsize=8)
    return figure


def _style(role: str, used: dict[str, int]) -> dict[str, Any]:
    """Measured: solid with dots; predicted: dashed grey; bound: red; baselines: their own colours."""
    if role == "predicted":
        return {"color": "0.35", "linestyle": "--", "linewidth": 1.2}
    if role == "bound":
        return {"color": "tab:red", "linestyle": "-.", "linewidth": 1.2}
    colours = {
        "measured": ("tab:blue", "tab:cyan", "tab:purple"),
        "baseline": ("tab:orange", "tab:green", "tab:brown", "tab:pink", "tab:olive", "0.6"),
    }[role]
    colour = colours[used[role] % len(colours)]
    used[role] += 1
    marker = "o" if role == "measured" else "s"
    return {
        "color": colour,
        "marker": marker,
        "markersize": 4,
        "linewidth": 1.5 if role == "measured" else 1.0,
    }


def _plain_ticks(axis: Any, low: float, high: float) -> None:
    """Over less than two decades, powers of ten leave the axis bare: say 200, 500, 1000 instead."""
    if high / low < 100:
        from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

        even = [tick for tick in MaxNLocator(5).tick_values(low, high) if tick > 0]
        wide = high / low > 6
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12) if wide else FixedLocator(even))
        axis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value)))
        axis.set_minor_locator(NullLocator())


def _tick(value: float) -> str:
    return f"{value:,.0f}" if 1_000 <= value < 1e7 else f"{value:.4g}"


def write_claims_page(reproduction: Reproduction, folder: str | PathLike[str]) -> Path:
    """Write claims.html, claims.md, claims.json and a PNG per claim into `folder`; the path of the page."""
    home = Path(folder)
    try:
        (home / "figures").mkdir(parents=True, exist_ok=True)
        pictures = {}
        for outcome in reproduction.outcomes:
            picture = BytesIO()
            claim_figure(outcome).savefig(picture, format="png", dpi=130)
            pictures[outcome.claim] = picture.getvalue()
            _write(home / "figures" / f"{outcome.claim}.png", pictures[outcome.claim])
        _write(home / "claims.json", _json.text(reproduction.to_dict(), indent=None).encode())
        _write(home / "claims.md", claims_markdown(reproduction).encode())
        page = home / "claims.html"
        _write(page, _rendered(reproduction, pictures).encode())
    except OSError as error:
        raise InvalidOption(f"cannot write the page into {str(home)!r}: {error.strerror or error}") from error
    return page


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)


def _rendered(reproduction: Reproduction, pictures: dict[str, bytes]) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("sidelight.report", "templates")
    world = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    world.filters["number"] = _number
    return world.get_template("claims.html.j2").render(
        reproduction=reproduction,
        groups=list(dict.fromkeys(outcome.group for outcome in reproduction.outcomes)),
        pictures={name: base64.b64encode(picture).decode() for name, picture in pictures.items()},
        meanings=MEANINGS,
        verdict_text=verdict_text,
        most_rows=MOST_ROWS,
        seconds=sum(outcome.seconds for outcome in reproduction.outcomes),
        processor_seconds=sum(outcome.processor_seconds for outcome in reproduction.outcomes),
    )


def _number(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "" if value is None else str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.1f}" if 1_000 <= abs(value) < 1e7 else f"{value:.4g}"
