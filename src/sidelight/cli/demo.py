"""`sidelight demo`: what the library does, on one screen and one page."""

from __future__ import annotations

from dataclasses import replace

import click

from sidelight.cli import names, options
from sidelight.cli.files import writable_folder, written
from sidelight.cli.plan import bound_rows, plan_rows
from sidelight.cli.screen import emit, emit_json, facts, safe
from sidelight.errors import InvalidOption

RIVALS = ("exp3g", "chlz21", "ftl", "uniform")
"""What the plans are compared with: two algorithms of the literature, a greedy one, and no learning at all."""

ENVIRONMENT = "gap:0.3"
"""All arms lose half of the time, except one that loses less by this much."""


@click.command(short_help="Analyse, plan, play and report on a built-in graph.")
@click.option(
    "--graph",
    "spec",
    default="teams:4x3",
    show_default=True,
    metavar="FAMILY",
    shell_complete=names.graph,
    help="A family such as cycle:12.",
)
@options.horizon(default=20_000, show_default=True)
@options.counted("--runs", 5, "N", "Runs of each policy.")
@options.counted("--seed", 7, "S", "Seed of the first run.")
@options.out_folder("Folder for the report.", default="sidelight-demo", show_default=True)
@options.as_json
def command(spec: str, horizon: int, runs: int, seed: int, output: str, as_json: bool) -> None:
    """Show what Sidelight does on a built-in graph: analyse it, plan, play against known algorithms, and report."""
    if runs < 1:
        raise InvalidOption(f"--runs must be at least 1, got {runs}")
    if seed < 0:
        raise InvalidOption(f"--seed must not be negative, got {seed}")
    import sidelight as sl
    from sidelight.report.page import write_report
    from sidelight.report.section import Analysis, GraphSection
    from sidelight.report.tables import results_rows, results_table

    graph = sl.families.parse(spec)
    bounds = sl.compare_bounds(graph, horizon)
    plan = bounds.plan  # the same as sl.plan(graph, horizon)
    found = Analysis.of(graph)
    folder = writable_folder(output)
    players = {"self_tuning": "self_tuning", "auto": plan} | {name: name for name in RIVALS}
    results = sl.compare(spec, players, ENVIRONMENT, horizon=horizon, seeds=range(seed, seed + runs))
    if not results.complete:
        raise click.Abort  # interrupted: half a demo would show numbers that are not there
    section = GraphSection.of(bounds, facts=tuple(found.rows(str)))
    with written(folder):
        report = write_report(folder, results, {spec: section}, files=False)
    if as_json:
        sizes = {"arms": graph.n_arms, "edges": graph.n_edges, "class": found.observability.graph}
        played = {"realization": plan.realization, "horizon": plan.horizon, "parameters": plan.parameters}
        emit_json(
            {
                "graph": {"spec": spec, **sizes},
                "domination": found.to_dict()["domination"],
                "partition": plan.partition.blocks,
                "plan": played,
                "bound": plan.bound.to_dict(),
                "results": results_rows(results),
                "report": str(report),
            }
        )
        return
    emit(
        facts(f"Graph {safe(spec)}", found.rows(safe)),
        facts(f"Plan for T = {horizon:,}", plan_rows(plan)),
        facts("Bound", bound_rows(plan.bound)),
        results_table(replace(results, title=f"Regret of {runs} runs")),
        *(safe(f"{cell.policy}: {cell.status}: {cell.reason}") for cell in results.absent),
        f"report: [bold]{safe(str(report))}[/bold]",
    )
