"""`sidelight reproduce`: the theory as experiments, each with a verdict."""

from __future__ import annotations

import click

from sidelight.cli import names, options
from sidelight.cli.screen import emit, emit_json, safe, writable_folder

REFUTED = 3
"""Exit code when a claim fails that is not known to be false."""


@click.command(short_help="Measure whether the claims of the theory hold.")
@click.argument("claims", nargs=-1, metavar="[CLAIM]...", shell_complete=names.claim)
@click.option("--quick", is_flag=True, help="Sizes for minutes instead of an hour.")
@click.option("--fresh", is_flag=True, help="Measure again what DIR holds already.")
@options.output("DIR", "Folder for outcomes and a page; an unfinished reproduction there is continued.")
@options.quiet
@options.as_json
@click.pass_context
def command(
    ctx: click.Context,
    /,
    claims: tuple[str, ...],
    output: str | None,
    quiet: bool,
    as_json: bool,
    **how: bool,
) -> None:
    """Measure the named claims, or all of them, and say which hold.

    Exits with 3 if one fails, unless theory knows it to be false as printed.

    sidelight list claims shows their names.
    """
    from sidelight.experiment.claims import find, reproduce
    from sidelight.report.claims_page import claims_table, write_claims_page

    find(claims)  # before a folder is made for a name that nobody knows
    folder = None if output is None else writable_folder(output)
    outcomes = reproduce(claims, folder=folder, progress=False if quiet else None, **how)
    page = None if folder is None else write_claims_page(outcomes, folder)
    if as_json:
        emit_json(outcomes.to_dict() | {"page": None if page is None else str(page)})
    elif not quiet:
        emit(claims_table(outcomes), *([] if page is None else [f"page: [bold]{safe(str(page))}[/bold]"]))
    if not outcomes.complete:
        raise click.Abort
    if outcomes.surprises:
        ctx.exit(REFUTED)
