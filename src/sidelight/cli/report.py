"""`sidelight report`: the report of stored results, written again."""

from __future__ import annotations

from pathlib import Path

import click

from sidelight.cli import options
from sidelight.errors import InfeasibleRequest


@click.command(short_help="Write the report of stored results again.")
@click.argument("folder", metavar="DIR", type=click.Path())
@options.figures
@options.quiet
@options.as_json
def command(folder: str, figures: float | None, quiet: bool, as_json: bool) -> None:
    """Write DIR/report.html and its table again, from what run or sweep has stored in DIR. Nothing is played."""
    import sidelight as sl
    from sidelight.cli.study import finish

    place = Path(folder)
    results = sl.Results.read(place)
    finish(place, results, figures=figures, as_json=as_json, quiet=quiet)
    if not results.cells:
        why = f": {results.absent[0].policy}: {results.absent[0].reason}" if results.absent else ""
        raise InfeasibleRequest(f"no report was written, {place} holds no finished policy{why}")
