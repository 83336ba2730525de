"""`sidelight run`: policies against one another on one graph, with a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sidelight.cli import complete, options
from sidelight.cli.files import writable_folder

if TYPE_CHECKING:
    from sidelight.cli.graphs import GraphRequest


@click.command(short_help="Play policies on a graph; regret, ledger, report.")
@options.takes_graph
@options.horizon(required=True)
@click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="NAME,...",
    shell_complete=complete.policies,
    help="What to play; several with commas or by repeating the option.  [default: self_tuning, auto and the "
    "baselines that apply to the graph]",
)
@click.option(
    "--env",
    "environments",
    multiple=True,
    default=("gap",),
    show_default=True,
    metavar="NAME[:...]",
    shell_complete=complete.environment,
    help="Where losses come from; may be repeated.",
)
@options.counted("--seeds", 20, "N", "Runs of each policy.")
@options.counted("--seed", 0, "S", "The first seed.")
@options.out_folder(
    "Folder for results, report.html and figures; an unfinished run there is continued.", required=True
)
@options.jobs
@options.figures
@options.quiet
@options.as_json
def command(
    graph: GraphRequest,
    horizon: int,
    policies: tuple[str, ...],
    environments: tuple[str, ...],
    seeds: int,
    seed: int,
    output: str,
    jobs: int | None,
    figures: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Play policies on one graph against the same losses; end with a table and DIR/report.html.

    sidelight list policies and sidelight list environments show what may be named.
    """
    import sidelight as sl
    from sidelight.cli.study import finish, keep_graph, leave, source_of, store_graph
    from sidelight.experiment.sweep.reading import DEFAULT_CHECKPOINTS, Reader
    from sidelight.policy.names import compared

    loaded = graph.load()
    reader = Reader()
    rounds = reader.horizon("--horizon", horizon)
    names = [name for listed in policies for name in listed.split(",")] or compared(loaded.graph, rounds)
    spec = sl.Spec(
        policies=reader.listed("policies", names, reader.policy),
        graphs=(source_of(Path(output), loaded),),
        environments=reader.environments(list(environments), Path.cwd(), [loaded.graph], [rounds]),
        horizons=(rounds,),
        seeds=reader.seeds({"first": seed, "count": seeds}),
        checkpoints=DEFAULT_CHECKPOINTS,
        title=loaded.source,
    )
    folder = writable_folder(output)
    store_graph(folder, loaded.graph)  # where the cells look for it
    if jobs is None and len(spec.cells) == 1:
        jobs = 1  # nothing to share: this process will do
    results = sl.sweep(spec, folder, jobs=jobs, progress=False if quiet else None)
    keep_graph(folder, loaded.source, loaded.graph)  # now that the folder is known to be this run's own
    graphs = {loaded.source: loaded.graph}
    finish(folder, results, graphs, figures=figures, as_json=as_json, quiet=quiet, said=loaded.changes)
    leave(folder, results)
