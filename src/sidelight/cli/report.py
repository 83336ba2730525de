"""`sidelight report`: the report of stored results, written again."""

from __future__ import annotations

from pathlib import Path

import click

from sidelight.cli import options


@click.command(short_help="Write the report of stored results again.")
@click.argument("folder", metavar="DIR", type=click.Path())
@options.figures
@options.quiet
@options.as_json
def command(folder: str, figures: bool, quiet: bool, as_json: bool) -> None:
    """Table and DIR/report.html of what run or sweep has stored in DIR, finished or not; nothing is played."""
    import sidelight as sl
    from sidelight.cli.study import finish, kept_graphs

    place = Path(folder)
    results = sl.Results.read(place)
    finish(place, results, kept_graphs(place), figures=figures, as_json=as_json, quiet=quiet)
