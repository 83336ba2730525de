"""`sidelight list`: the names that other commands understand."""

from __future__ import annotations

import click

from sidelight.cli import complete, options
from sidelight.cli.screen import emit, emit_json


@click.command(short_help="List families, policies, environments and claims.")
@click.argument("kind", type=click.Choice(complete.KINDS), required=False)
@options.as_json
def command(kind: str | None, as_json: bool) -> None:
    """Families, policies, environments and claims, as commands and sweep files write them."""
    kinds = (kind,) if kind else complete.KINDS
    known = complete.known()
    if as_json:
        emit_json({kind: known[kind] for kind in kinds})
        return
    from rich.text import Text

    for kind in kinds:
        emit(Text(kind, style="bold"), *(Text(f"  {usage}") for usage in known[kind]))
