"""`sidelight run`: policies against one another on one graph, with a report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sidelight.cli import names, options
from sidelight.cli.screen import writable_folder
from sidelight.errors import InvalidOption

if TYPE_CHECKING:
    from sidelight.cli.graphs import LoadedGraph
    from sidelight.planning import Plan


CALLED = {"policies": "--policy", "environments": "--env", "seeds.count": "--seeds", "seeds.first": "--seed"}
"""What a spec has under its keys, as options."""


@click.command(short_help="Play policies on one graph and report their regret.")
@options.takes_graph
@options.horizon()
@options.option(
    "--policy NAME|FILE.py:NAME|PLAN.json,...",
    str,
    "What to play, also a class or function of your own in a file, or a saved plan; several with commas or by "
    "repeating the option.  [default: the plan, if GRAPH is one, else self_tuning, auto and the baselines that apply "
    "to the graph]",
    multiple=True,
    shell_complete=names.policies,
)
@options.option(
    "--env NAME[:...]",
    str,
    "Where losses come from; may be repeated.",
    multiple=True,
    default=("gap",),
    shell_complete=names.environment,
)
@options.option("--seeds N", options.count, "Runs of each policy.", default=20)
@options.option("--seed S", options.count, "The first seed.", default=0)
@options.output(
    "DIR",
    "Folder for results, report.html and figures; what it holds already is not played again.",
    required=True,
)
@options.jobs
@options.figures
@options.quiet
@options.as_json
def command(
    graph: LoadedGraph,
    horizon: int | None,
    policy: tuple[str, ...],
    env: tuple[str, ...],
    seeds: int,
    seed: int,
    output: str,
    jobs: int | None,
    figures: float | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Play policies on one graph against the same losses; end with a table and DIR/report.html.

    GRAPH may be a plan that sidelight plan -o FILE.json has written: that is played, for its own horizon.

    The same command again continues what was interrupted; with one more policy it plays that one only.

    sidelight list policies and sidelight list environments show what may be named; sidelight new policy NAME writes
    a policy to begin with.
    """
    import sidelight as sl
    from sidelight.cli.study import finish, leave
    from sidelight.experiment.folder import source_in, store_graph
    from sidelight.experiment.spec import DEFAULT_CHECKPOINTS, Reader
    from sidelight.policy.names import compared

    saved = graph.plan
    if saved is not None and graph.changes:
        given = ", ".join(change.split()[0] for change in graph.changes)
        raise InvalidOption(f"the plan in {graph.source} is for its own graph; leave {given} out")
    wanted = saved.horizon if horizon is None and saved is not None else horizon
    if wanted is None:
        raise click.UsageError("Missing option '--horizon' / '-T': give the number of rounds to play.")
    reader = Reader(options=CALLED)
    rounds = reader.horizon("--horizon", wanted)
    names = [name for listed in policy for name in listed.split(",")]
    if not all(name.strip() for name in names):
        raise InvalidOption(
            f"--policy {','.join(names)!r} lacks a name; write names with one comma between them"
        )
    if saved is not None:
        names = [graph.source, *names]
    names = names or list(compared(graph.graph, rounds))
    sources = reader.policies(names, Path.cwd())
    if saved is not None:
        sources = (replace(sources[0], name=_described(saved)), *sources[1:])
    if graph.family is None:
        source = source_in(Path(output), graph.name, graph.graph)
    else:
        source = reader.source("GRAPH", graph.family, Path.cwd())
    spec = sl.Spec(
        policies=sources,
        graphs=(source,),
        environments=reader.environments(list(env), Path.cwd(), [graph.graph], [rounds]),
        horizons=(rounds,),
        seeds=reader.seeds({"first": seed, "count": seeds}),
        checkpoints=DEFAULT_CHECKPOINTS,
        title=graph.name,
    )
    folder = writable_folder(output)
    if graph.family is None:
        store_graph(folder, graph.graph)  # where the cells look for it
    if jobs is None and len(spec.cells) == 1:
        jobs = 1  # nothing to share: this process will do
    results = sl.sweep(spec, folder, jobs=jobs, progress=False if quiet else None)
    finish(folder, results, figures=figures, as_json=as_json, quiet=quiet, said=graph.changes)
    leave(folder, results)


def _described(plan: Plan) -> str:
    """What tables call a plan that is played from its file: what it is, and for how many rounds it was made."""
    return f"{plan.realization} plan ({'any T' if plan.horizon is None else f'T = {plan.horizon:,}'})"
