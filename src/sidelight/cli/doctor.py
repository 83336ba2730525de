"""`sidelight doctor`: is this installation able to do its work?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import click

from sidelight.cli import options
from sidelight.cli.screen import columns, emit, emit_json, safe

BROKEN = 3
"""Exit code when something essential does not work."""


class Finding(NamedTuple):
    """What one check found: "ok", "note" (works, but could be better) or "broken"."""

    name: str
    state: str
    detail: str


@click.command(short_help="Check that this installation works.")
@click.option("--no-run", is_flag=True, help="Leave out the self-check, which may compile for a minute.")
@options.as_json
@click.pass_context
def command(ctx: click.Context, no_run: bool, as_json: bool) -> None:
    """Check Python, packages, machine, compiled kernels and permissions, and play a small game that checks itself.

    Exits with 3 if something essential is broken.
    """
    found = list(findings(run=not no_run))
    broken = [finding for finding in found if finding.state == "broken"]
    if as_json:
        emit_json({"healthy": not broken, "findings": [finding._asdict() for finding in found]})
    else:
        marks = {"ok": "[green]ok[/green]", "note": "[yellow]note[/yellow]", "broken": "[red]broken[/red]"}
        rows = [(finding.name, marks[finding.state], safe(finding.detail)) for finding in found]
        emit(columns("sidelight doctor", ("", "", ""), rows))
        emit(f"{len(broken)} essential things are broken" if broken else "everything essential works")
    if broken:
        ctx.exit(BROKEN)


def findings(run: bool = True) -> Iterator[Finding]:
    """Every check in turn; one that fails in an unforeseen way counts as broken and stops no other."""
    from sidelight.cli import health

    checks = (
        health.python,
        health.packages,
        health.machine,
        health.kernels,
        health.service,
        health.permissions,
    )
    for check in (*checks, health.self_check) if run else checks:
        try:
            yield from check()
        except Exception as error:
            yield Finding(check.__name__.replace("_", " "), "broken", f"{type(error).__name__}: {error}")
