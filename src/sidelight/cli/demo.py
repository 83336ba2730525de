"""`sidelight demo`: what the library does, on one screen and one page."""

from __future__ import annotations

from dataclasses import replace

import click

from sidelight._check import written
from sidelight.cli import names, options
from sidelight.cli.plan import bound_rows, plan_rows
from sidelight.cli.screen import emit, emit_json, facts, safe, writable_folder
from sidelight.errors import InvalidOption

RIVALS = ("exp3g", "chlz21", "ftl", "uniform")
"""What the plans are compared with: two algorithms of the literature, a greedy one, and no learning at all."""

ENVIRONMENT = "gap:0.3"
"""All arms lose half of the time, except one that loses less by this much."""


@click.command(short_help="Analyse, plan, play and report on a built-in graph.")
@options.option(
    "--graph FAMILY", str, "A family such as cycle:12.", default="teams:4x3", shell_complete=names.graph
)
@options.horizon(20_000)
@options.option("--runs N", options.count, "Runs of each policy.", default=5)
@options.option("--seed S", options.count, "Seed of the first run.", default=7)
@options.output("DIR", "Folder for the report.", default="sidelight-demo")
@options.as_json
def command(graph: str, horizon: int, runs: int, seed: int, output: str, as_json: bool) -> None:
    """Show what Sidelight does on a built-in graph: analyse it, plan, play against known algorithms, and report."""
    if runs < 1:
        raise InvalidOption(f"--runs must be at least 1, got {runs}")
    if seed < 0:
        raise InvalidOption(f"--seed must not be negative, got {seed}")
    import sidelight as sl
    from sidelight.report.page import write_report
    from sidelight.report.section import Analysis, GraphSection
    from sidelight.report.tables import results_rows, results_table

    made = sl.families.parse(graph)
    bounds = sl.compare_bounds(made, horizon)
    plan = bounds.plan  # the same as sl.plan(graph, horizon)
    analysis = Analysis.of(made)
    folder = writable_folder(output)
    players = {"self_tuning": "self_tuning", "auto": plan} | {name: name for name in RIVALS}
    results = sl.compare(graph, players, ENVIRONMENT, horizon=horizon, seeds=range(seed, seed + runs))
    if not results.complete:
        raise click.Abort  # interrupted: half a demo would show numbers that are not there
    section = GraphSection.of(bounds, facts=tuple(analysis.rows(str)))
    with written(folder):
        report = write_report(folder, results, {graph: section}, files=False)
    if as_json:
        sizes = {"arms": made.n_arms, "edges": made.n_edges, "class": analysis.observability.graph}
        played = {"realization": plan.realization, "horizon": plan.horizon, "parameters": plan.parameters}
        emit_json(
            {
                "graph": {"spec": graph, **sizes},
                "domination": analysis.to_dict()["domination"],
                "partition": plan.partition.blocks,
                "plan": played,
                "bound": plan.bound.to_dict(),
                "results": results_rows(results),
                "report": str(report),
            }
        )
        return
    emit(
        facts(f"Graph {safe(graph)}", analysis.rows(safe)),
        facts(f"Plan for T = {horizon:,}", plan_rows(plan)),
        facts("Bound", bound_rows(plan.bound)),
        results_table(replace(results, title=f"Regret of {runs} runs")),
        *(safe(f"{cell.policy}: {cell.status}: {cell.reason}") for cell in results.absent),
        f"report: [bold]{safe(str(report))}[/bold]",
    )
