"""`sidelight warmup`: compile everything in advance."""

from __future__ import annotations

import click

from sidelight.cli import options
from sidelight.cli.screen import emit, emit_json


@click.command(short_help="Compile all kernels in advance, on all cores.")
@options.jobs
@options.quiet
@options.as_json
def command(jobs: int | None, quiet: bool, as_json: bool) -> None:
    """Compile the kernels of every kind of plan and rule, so that nothing has to wait for them later.

    They are kept in the user's cache folder, or where SIDELIGHT_CACHE_DIR says. What is there already is not compiled
    again.
    """
    from sidelight._progress import Progress
    from sidelight.engine._numba.cache import folders
    from sidelight.experiment.warmup import tasks, warm_up

    done, coming = [], warm_up(jobs)
    with Progress("compiling kernels", len(tasks()), wanted=False if quiet or as_json else None) as progress:
        progress.update(0)
        for warmed in coming:
            done.append(warmed)
            progress.update(len(done), note=warmed.name)
    folder = str(folders()[-1]) if folders() else None
    if as_json:
        compiled = [warmed._asdict() for warmed in done]
        emit_json({"seconds": progress.elapsed, "folder": folder, "compiled": compiled})
    elif not quiet:
        where = f"kept in {folder}" if folder else "but there is no place to keep them"
        emit(f"kernels of {len(done)} kinds compiled in {progress.elapsed:.0f} s, {where}")
