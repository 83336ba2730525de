"""`sidelight demo`: what the library does, on one screen and one page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from sidelight.cli import complete, options
from sidelight.cli.files import writable_folder, written
from sidelight.cli.screen import emit, emit_json, facts, safe
from sidelight.cli.words import blocks, bound_rows, numbers
from sidelight.errors import InvalidOption

if TYPE_CHECKING:
    import sidelight as sl

RIVALS = ("exp3g", "chlz21", "ftl", "uniform")
"""What the plan is compared with: two algorithms of the literature, a greedy one, and no learning at all."""

ENVIRONMENT = "gap:0.3"
"""All arms lose half of the time, except one that loses less by this much."""


@click.command(short_help="The main job on a built-in graph.")
@click.option(
    "--graph",
    "spec",
    default="teams:4x3",
    show_default=True,
    metavar="FAMILY",
    shell_complete=complete.graph,
    help="A family such as cycle:12.",
)
@options.horizon(default=20_000, show_default=True)
@click.option(
    "--runs", type=options.count, default=5, show_default=True, metavar="N", help="Runs of each policy."
)
@click.option(
    "--seed", type=options.count, default=7, show_default=True, metavar="S", help="Seed of the first run."
)
@options.out_folder("Folder for the report.", default="sidelight-demo", show_default=True)
@options.as_json
def command(spec: str, horizon: int, runs: int, seed: int, output: str, as_json: bool) -> None:
    """The main job on a built-in graph: analysis, plan, and a played comparison with a report."""
    run_demo(spec, horizon, runs, seed, output, as_json)


def run_demo(spec: str, horizon: int, runs: int, seed: int, output: str, as_json: bool) -> None:
    """Analyse, plan, play and draw; print tables, or one JSON object."""
    if runs < 1:
        raise InvalidOption(f"--runs must be at least 1, got {runs}")
    if seed < 0:
        raise InvalidOption(f"--seed must not be negative, got {seed}")
    import sidelight as sl
    from sidelight.report.page import write_report
    from sidelight.report.section import GraphSection
    from sidelight.report.tables import results_rows, results_table

    graph = sl.families.parse(spec)
    seen = sl.observability(graph)
    bounds = sl.compare_bounds(graph, horizon)
    plan = bounds.plan  # the same as sl.plan(graph, horizon)
    domination = sl.fractional_domination(graph)
    folder = writable_folder(output)
    seeds = range(seed, seed + runs)
    players = {"auto": plan} | {name: name for name in RIVALS}
    results = sl.compare(spec, players, ENVIRONMENT, horizon=horizon, seeds=seeds)
    if not results.complete:
        raise click.Abort  # interrupted: half a demo would show numbers that are not there
    with written(folder):
        report = write_report(folder, results, {spec: GraphSection.of(bounds)}, files=False)

    if as_json:
        answer = _as_json(spec, seen, domination, plan)
        emit_json(answer | {"results": results_rows(results), "report": str(report)})
        return
    rounds = f"{len(seeds)} runs of {horizon:,} rounds, {ENVIRONMENT}"
    emit(
        facts(f"Graph {safe(spec)}", _graph_rows(graph, seen, domination)),
        facts(f"Plan for T = {plan.horizon:,}", _plan_rows(plan)),
        facts("Bound", bound_rows(plan.bound)),
        f"[bold]Regret of {rounds}[/bold]",
        results_table(replace(results, title="")),
        *(safe(f"{cell.policy}: {cell.status}: {cell.reason}") for cell in results.absent),
        f"report: [bold]{safe(str(report))}[/bold]",
    )


def _graph_rows(
    graph: sl.FeedbackGraph, seen: sl.Observability, domination: sl.Domination
) -> Iterator[tuple[str, str]]:
    import sidelight as sl

    yield "arms, edges", f"{graph.n_arms:,}, {graph.n_edges:,}"
    counts = f"{len(seen.strong)} strong, {len(seen.weak)} weak, {len(seen.unobservable)} unobservable"
    yield "class", f"{seen.graph}ly observable ({counts})"
    yield "fractional domination δ*", f"{domination.value:.6g} (certified gap {domination.gap:.1e})"
    if seen.graph == "weak":
        packing = sl.packing_independent_set(graph)
        yield "packing set", f"{len(packing.arms)} arms, at most {packing.t} seen at once"


def _plan_rows(plan: sl.Plan) -> Iterator[tuple[str, str]]:
    yield "partition", blocks(plan.partition)
    yield "realization", plan.realization
    yield from numbers(plan.parameters)


def _as_json(spec: str, seen: sl.Observability, domination: sl.Domination, plan: sl.Plan) -> dict[str, Any]:
    return {
        "graph": {"spec": spec, "arms": plan.graph.n_arms, "edges": plan.graph.n_edges, "class": seen.graph},
        "domination": {"value": domination.value, "lower": domination.lower, "gap": domination.gap},
        "partition": [block.tolist() for block in plan.partition.blocks],
        "plan": {"realization": plan.realization, "horizon": plan.horizon, "parameters": plan.parameters},
        "bound": plan.bound.to_dict(),
    }
