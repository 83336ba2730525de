"""`sidelight sweep`: every cell of a spec file, on this machine or on a cluster, with a report."""

from __future__ import annotations

import click

from sidelight.cli import complete, options
from sidelight.cli.files import writable_folder


@click.command(short_help="Play all combinations that a spec file names.")
@click.argument("spec", metavar="SPEC.toml", type=click.Path())
@options.out_folder(
    "Folder for results, report.html and figures; an unfinished sweep there is continued.", required=True
)
@click.option(
    "--engine",
    default="local",
    show_default=True,
    metavar="ENGINE",
    shell_complete=complete.offered(("local", "dask", "dask://", "tcp://")),
    help="local, dask (a cluster started here), or the address of a scheduler, dask://host:port.",
)
@options.jobs
@options.figures
@options.quiet
@options.as_json
def command(
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
    from sidelight.cli.study import finish, leave

    read = sl.Spec.read(spec)
    folder = writable_folder(output)
    results = sl.sweep(read, folder, engine=engine, jobs=jobs, progress=False if quiet else None)
    finish(folder, results, figures=figures, as_json=as_json, quiet=quiet)
    leave(folder, results)
