"""Arguments and options that several commands share. Imports nothing heavy: `--help` and completion need it."""

from __future__ import annotations

import functools
import logging
import math
from collections.abc import Callable
from typing import Any, TypeVar

import click

from sidelight.cli import names
from sidelight.cli.graphs import GraphRequest

Command = TypeVar("Command", bound=Callable[..., Any])


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


def _listening(level: int) -> Callable[[click.Context, click.Parameter, bool], bool]:
    """Turn the library's messages down to `level` where the option is given."""

    def callback(ctx: click.Context, param: click.Parameter, given: bool) -> bool:
        log = logging.getLogger("sidelight")
        log.setLevel(max(level, log.level) if given else log.level)
        return given

    return callback


as_json = click.option(
    "--json",
    "as_json",
    is_flag=True,
    callback=_listening(logging.WARNING),
    help="Print one JSON object and nothing else.",
)
quiet = click.option(
    "--quiet", "-q", is_flag=True, callback=_listening(logging.ERROR), help="Print nothing but errors."
)
jobs = click.option("--jobs", "-j", type=count, metavar="N", help="Processes, all cores by default.")


def figures(command: Callable[..., Any]) -> Callable[..., Any]:
    """Whether figures are files too, and how wide: inches, or None for no files, in one argument `figures`."""

    @functools.wraps(command)
    def collected(figures: bool, figure_width: str, **rest: Any) -> Any:
        from sidelight.report.style import checked_width

        width = checked_width(figure_width)  # before anything is played
        return command(figures=width if figures else None, **rest)

    options = (
        click.option(
            "--figures/--no-figures",
            default=True,
            show_default=True,
            help="Also write every figure as PNG and PDF.",
        ),
        click.option(
            "--figure-width",
            default="double",
            show_default=True,
            metavar="WIDTH",
            shell_complete=names.offered(("single", "double")),
            help="Of those files: single or double, the columns of a paper, or inches.",
        ),
    )
    return functools.reduce(lambda made, option: option(made), reversed(options), collected)


def horizon(**settings: Any) -> Callable[[Command], Command]:
    """--horizon T."""
    return click.option("--horizon", "-T", type=count, metavar="T", help="Rounds to play.", **settings)


def counted(name: str, default: int, metavar: str, help: str) -> Callable[[Command], Command]:
    """A number of something, such as --seeds N."""
    return click.option(name, type=count, default=default, show_default=True, metavar=metavar, help=help)


def out_folder(help: str, **settings: Any) -> Callable[[Command], Command]:
    """-o DIR. A file in the way is reported with everything else that is wrong with a place, in one line."""
    return click.option("--output", "-o", metavar="DIR", type=click.Path(), help=help, **settings)


def takes_graph(command: Callable[..., Any]) -> Callable[..., Any]:
    """GRAPH and how to read and mend it, handed over as one `GraphRequest` named `graph`."""

    @functools.wraps(command)
    def collected(
        graph: str,
        undirected: bool,
        add_loops: bool,
        drop_unobservable: bool,
        arms: int | None,
        named: bool | None,
        **rest: Any,
    ) -> Any:
        return command(
            graph=GraphRequest(graph, undirected, add_loops, drop_unobservable, arms, named), **rest
        )

    options = (
        click.argument("graph", metavar="GRAPH", shell_complete=names.graph),
        click.option("--undirected", is_flag=True, help="Every edge reveals both ways."),
        click.option("--add-loops", is_flag=True, help="Every arm reveals itself too."),
        click.option(
            "--drop-unobservable",
            is_flag=True,
            help="Leave out arms that no arm reveals, until every arm left is revealed by one.",
        ),
        click.option(
            "--arms", type=count, metavar="N", help="Number of arms, where a csv file does not tell."
        ),
        click.option("--named/--numbered", default=None, help="Are the ids of a csv file names or numbers?"),
    )
    return functools.reduce(lambda made, option: option(made), reversed(options), collected)
