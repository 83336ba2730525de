"""`sidelight sweep` and `sidelight report`, and how they, `run` and `demo` end.

A report in the folder, a table on the screen, an exit code.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sidelight.cli import names, options
from sidelight.cli.screen import emit, emit_json, safe, writable_folder
from sidelight.errors import InfeasibleRequest

if TYPE_CHECKING:
    import sidelight as sl

MOST_LINES = 10
"""Cells without numbers that are listed one by one."""


def finish(
    folder: Path,
    results: sl.Results,
    *,
    figures: float | None,
    as_json: bool,
    quiet: bool,
    said: Iterable[str] = (),
) -> None:
    """Write the report and print the table, or one JSON object."""
    from sidelight.report.tables import results_rows, results_table

    report = None
    if results.cells:
        report = results.write(folder, figures=figures is not None, figure_width=figures or "double")
    if as_json:
        emit_json(
            {
                "folder": str(folder),
                "report": None if report is None else str(report),
                "complete": results.complete,
                "notes": list(said),
                "results": results_rows(results, results.graphs),
                "absent": [
                    cell.names | {"status": cell.status, "reason": cell.reason} for cell in results.absent
                ],
            }
        )
    elif not quiet:
        parts: list[Any] = [safe(line) for line in said]
        parts += [results_table(results)] if results.cells else []
        parts += [safe(line) for line in _favourites(results)]
        parts += [safe(line) for line in _missing(results)]
        parts += [] if report is None else [f"report: [bold]{safe(str(report))}[/bold]"]
        emit(*parts)


def _favourites(results: sl.Results) -> list[str]:
    """Where arms have names, a line for each comparison about the arms that were played most."""
    from sidelight.report.groups import groups_of
    from sidelight.report.sentences import most_played

    groups = groups_of(results)
    lines = []
    for group in groups[:MOST_LINES]:
        graph = results.graphs.get(group.graph)
        if graph is not None and graph.labels is not None and (line := most_played(group, graph)):
            lines.append(line if len(groups) == 1 else f"{group.title}: {line}")
    return lines


def _missing(results: sl.Results) -> list[str]:
    """A line for each cell without numbers, as long as there are few."""
    lines = [
        f"{cell.policy} on {cell.graph}, {cell.environment}, T = {cell.horizon:,}: {cell.status}: {cell.reason}"
        for cell in results.absent
    ]
    more = len(lines) - MOST_LINES
    return lines if more <= 0 else [*lines[:MOST_LINES], f"… and {more:,} more cells without numbers"]


def leave(folder: Path, results: sl.Results) -> None:
    """End with the exit code that freshly played results deserve."""
    states = [cell.status for cell in results.absent]
    if "interrupted" in states:
        click.echo(f"what was played is in {folder}; the same command continues", err=True)
        raise click.Abort
    if "failed" in states:
        failed = next(cell for cell in results.absent if cell.status == "failed")
        raise InfeasibleRequest(
            f"{states.count('failed')} of {len(states) + len(results.cells)} cells failed, the first of them:"
            f" {failed.policy} on {failed.graph}: {failed.reason}; the same command tries them again"
        )
    if not results.cells:
        raise InfeasibleRequest(
            f"no policy applies: {results.absent[0].reason}" if results.absent else "nothing was asked for"
        )


@click.command(short_help="Play all combinations that a spec file names.")
@click.argument("spec", metavar="SPEC.toml", type=click.Path())
@options.output(
    "DIR",
    "Folder for results, report.html and figures; an unfinished sweep there is continued.",
    required=True,
)
@options.option(
    "--engine ENGINE",
    str,
    "local, dask (a cluster started here), or the address of a scheduler, dask://host:port.",
    default="local",
    shell_complete=names.offered(("local", "dask", "dask://", "tcp://")),
)
@options.jobs
@options.figures
@options.quiet
@options.as_json
def sweep_command(
    spec: str, output: str, engine: str, jobs: int | None, figures: float | None, quiet: bool, as_json: bool
) -> None:
    """Play all combinations of policies, graphs, environments and horizons that a TOML file names; each is one cell
    of the results and one parquet file.

    Run again, it continues where it stopped, however that was, and plays what the spec has more by then. It refuses a
    folder with results that the spec does not ask for.

    \b
    policies = ["auto", "flat", "mine.py:Greedy"]
    graphs = ["cycle:12", "teams:4x3", {file = "sees.csv", undirected = true}]
    environments = ["gap:0.2", "switching"]
    horizons = [1000, 10000]
    seeds = 20
    """
    import sidelight as sl

    read = sl.Spec.read(spec)
    folder = writable_folder(output)
    results = sl.sweep(read, folder, engine=engine, jobs=jobs, progress=False if quiet else None)
    finish(folder, results, figures=figures, as_json=as_json, quiet=quiet)
    leave(folder, results)


@click.command(short_help="Write the report of stored results again.")
@click.argument("folder", metavar="DIR", type=click.Path())
@options.figures
@options.quiet
@options.as_json
def report_command(folder: str, figures: float | None, quiet: bool, as_json: bool) -> None:
    """Write DIR/report.html and its table again, from what run or sweep has stored in DIR. Nothing is played."""
    import sidelight as sl

    place = Path(folder)
    results = sl.Results.read(place)
    finish(place, results, figures=figures, as_json=as_json, quiet=quiet)
    if not results.cells:
        why = f": {results.absent[0].policy}: {results.absent[0].reason}" if results.absent else ""
        raise InfeasibleRequest(f"no report was written, {place} holds no finished policy{why}")
