"""`sidelight reproduce`: the theory as experiments, each with a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sidelight.cli import complete, options
from sidelight.cli.files import writable_folder
from sidelight.cli.screen import columns, emit, emit_json, safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sidelight.experiment.claims import Outcome

REFUTED = 3
"""Exit code when a claim fails."""


@click.command(short_help="Measure the claims of the theory; verdicts.")
@click.argument("claims", nargs=-1, metavar="[CLAIM]...", shell_complete=complete.claim)
@click.option("--quick", is_flag=True, help="Sizes for minutes instead of an hour.")
@click.option("--fresh", is_flag=True, help="Measure again what DIR holds already.")
@options.out_folder("Folder for outcomes; an unfinished reproduction there is continued.")
@options.quiet
@options.as_json
@click.pass_context
def command(
    ctx: click.Context,
    claims: tuple[str, ...],
    quick: bool,
    fresh: bool,
    output: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Measure the named claims, or all of them, and say which hold. Exits with 3 if one fails.

    sidelight list claims shows their names.
    """
    from sidelight.experiment.claims import FAILS, registry, reproduce

    registry.find(claims)  # before a folder is made for a name that nobody knows
    folder = None if output is None else writable_folder(output)
    found = reproduce(
        claims, quick=quick, folder=folder, fresh=fresh, progress=False if quiet or as_json else None
    )
    if as_json:
        emit_json(found.to_dict())
    elif not quiet:
        rows = [row for outcome in found.outcomes for row in _rows(outcome)]
        heads = ("claim", "verdict", "predicted", "range", "measured")
        emit(columns("Claims", heads, rows))
        counts = [f"{count} {verdict}" for verdict, count in found.counts.items() if count]
        emit(", ".join(counts) or "nothing measured")
    if not found.complete:
        raise click.Abort
    if any(outcome.verdict == FAILS for outcome in found.outcomes):
        ctx.exit(REFUTED)


def _rows(outcome: Outcome) -> Iterator[tuple[str, ...]]:
    """The claim with its first check, then the others."""
    head = (outcome.claim, outcome.verdict)
    for check in outcome.checks:
        yield (*head, safe(check.name), safe(check.predicted), safe(check.measured))
        head = ("", "")
    for name in outcome.beaten_by:
        ratio = outcome.rivals[name]
        yield "", "", f"regret over that of {safe(name)}", "", f"{ratio['ratio']:.3g}: it plays better here"
