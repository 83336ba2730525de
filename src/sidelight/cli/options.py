"""Arguments and options that several commands share. Imports nothing heavy: `--help` and completion need it."""

from __future__ import annotations

import functools
import logging
import math
from collections.abc import Callable
from typing import Any, TypeVar

import click

from sidelight.cli import names
from sidelight.cli.graphs import loaded

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def count(text: str | int) -> int:
    """A whole number, also as 1e6 or 1_000_000; its range is the library's business."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not number.is_integer():  # neither are infinity and NaN
        raise click.BadParameter(f"{text!r} is not a whole number")
    return int(number)


def collected(gather: Callable[..., dict[str, Any]], *options: Decorator) -> Decorator:
    """Options that are listed in this order, and handed over as what `gather` makes of them."""
    wanted = gather.__annotations__.keys() - {"return"}

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def called(**given: Any) -> Any:
            own = {name: given.pop(name) for name in wanted}
            return command(**gather(**own), **given)

        decorated: Callable[..., Any] = called
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


def _listening(level: int) -> Callable[[click.Context, click.Parameter, bool], bool]:
    """Turn the library's messages down to `level` where the option is given."""

    def callback(ctx: click.Context, param: click.Parameter, given: bool) -> bool:
        log = logging.getLogger("sidelight")
        log.setLevel(max(level, log.level) if given else log.level)
        return given

    return callback


_warnings, _errors = _listening(logging.WARNING), _listening(logging.ERROR)
as_json = click.option(
    "--json", "as_json", is_flag=True, callback=_warnings, help="Print one JSON object and nothing else."
)
quiet = click.option("--quiet", "-q", is_flag=True, callback=_errors, help="Print nothing but errors.")


def option(usage: str, kind: Any, help: str, **settings: Any) -> Callable[[Command], Command]:
    """An option by its usage: "--order -s S" says its names and what it takes."""
    words = usage.split()
    flags = [word for word in words if word.startswith("-")]
    metavar = " ".join(words[len(flags) :])
    return click.option(*flags, type=kind, metavar=metavar or None, help=help, **settings)


jobs = option("--jobs -j N", count, "Processes, all cores by default.")


def horizon(default: int | None = None) -> Callable[[Command], Command]:
    """--horizon T."""
    return option("--horizon -T T", count, "Rounds to play.", default=default)


def output(metavar: str, help: str, **settings: Any) -> Callable[[Command], Command]:
    """-o DIR or FILE. What is wrong with a place is reported in one line, whatever it is."""
    return option(f"--output -o {metavar}", click.Path(), help, **settings)


def _width(figures: bool, figure_width: str) -> dict[str, Any]:
    from sidelight.report.style import checked_width

    width = checked_width(figure_width)  # before anything is played
    return {"figures": width if figures else None}


figures = collected(
    _width,
    click.option("--figures/--no-figures", default=True, help="Also write every figure as PNG and PDF."),
    option(
        "--figure-width WIDTH",
        str,
        "Of those files: single or double, the columns of a paper, or inches.",
        default="double",
        shell_complete=names.offered(("single", "double")),
    ),
)
"""Whether figures are files too, and how wide: inches, or None for no files, in one argument `figures`."""


def _graph(
    graph: str,
    undirected: bool,
    add_loops: bool,
    drop_unobservable: bool,
    arms: int | None,
    named: bool | None,
) -> dict[str, Any]:
    return {"graph": loaded(graph, undirected, add_loops, drop_unobservable, arms, named)}


DROPPED = "Leave out arms that no arm reveals, until every arm left is revealed by one."

takes_graph = collected(
    _graph,
    click.argument("graph", metavar="GRAPH", shell_complete=names.graph),
    click.option("--undirected", is_flag=True, help="Every edge reveals both ways."),
    click.option("--add-loops", is_flag=True, help="Every arm reveals itself too."),
    click.option("--drop-unobservable", is_flag=True, help=DROPPED),
    option("--arms N", count, "Number of arms, where a csv file does not tell."),
    click.option("--named/--numbered", default=None, help="Are the ids of a csv file names or numbers?"),
)
"""GRAPH and how to read and mend it, handed over as one `LoadedGraph` named `graph`."""
