"""`sidelight demo`: what the library does, on one screen and one figure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sidelight.cli import complete, options
from sidelight.cli.files import writable_folder
from sidelight.cli.screen import emit, emit_json, facts, safe
from sidelight.cli.words import blocks, bound_rows, numbers
from sidelight.errors import InvalidOption

if TYPE_CHECKING:
    import sidelight as sl

GAP = 0.3
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
    "--runs", type=options.count, default=5, show_default=True, metavar="N", help="Independent runs."
)
@click.option(
    "--seed", type=options.count, default=7, show_default=True, metavar="S", help="Seed of the first run."
)
@options.out_folder("sidelight-demo", "Folder for the figure.")
@options.as_json
def command(spec: str, horizon: int, runs: int, seed: int, output: str, as_json: bool) -> None:
    """The main job on a built-in graph: analysis, plan, a short played run, a figure."""
    run_demo(spec, horizon, runs, seed, output, as_json)


def run_demo(spec: str, horizon: int, runs: int, seed: int, output: str, as_json: bool) -> None:
    """Analyse, plan, play and draw; print tables, or one JSON object."""
    if runs < 1:
        raise InvalidOption(f"--runs must be at least 1, got {runs}")
    if seed < 0:
        raise InvalidOption(f"--seed must not be negative, got {seed}")
    import numpy as np

    import sidelight as sl
    from sidelight.report.figures import run_figure, save_figure

    graph = sl.families.parse(spec)
    seen = sl.observability(graph)
    plan = sl.plan(graph, horizon=horizon)
    domination = sl.fractional_domination(graph)
    means = np.full(graph.n_arms, 0.5)
    means[graph.n_arms // 2] -= GAP
    environment = sl.environments.bernoulli(means)
    folder = writable_folder(output)
    run = sl.simulate(plan, environment, seeds=range(seed, seed + runs))
    if not run.complete:
        raise click.Abort  # interrupted: half a demo would show numbers that are not there

    picture = folder / "demo.png"
    save_figure(run_figure(run, f"{spec}: plan and play"), picture)

    if as_json:
        emit_json(_as_json(spec, seen, domination, run, picture))
        return
    emit(
        facts(f"Graph {safe(spec)}", _graph_rows(graph, seen, domination)),
        facts(f"Plan for T = {plan.horizon:,}", _plan_rows(plan)),
        facts("Bound", bound_rows(plan.bound)),
        facts(f"{len(run.seeds)} simulated runs of {run.plan.horizon:,} rounds", _run_rows(run)),
        f"figure: [bold]{safe(str(picture))}[/bold]",
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


def _run_rows(run: sl.Run) -> Iterator[tuple[str, str]]:
    from sidelight.experiment.run import LEDGER

    yield "environment", f"Bernoulli losses, best arm {run.best_arm[0]} by {GAP}"
    final = run.regret[:, -1]
    spread = f" ± {final.std(ddof=1) / len(final) ** 0.5:,.1f}" if len(final) > 1 else ""
    yield "pseudo-regret", f"{final.mean():,.1f}{spread} (bound {run.plan.bound.value:,.1f})"
    for name, value in zip(LEDGER, run.ledger[:, -1].mean(axis=0), strict=True):
        yield f"  {name}", f"{value:,.1f}"
    if run.plays is not None:
        share = run.plays[:, run.best_arm[0]].mean() / run.plan.horizon
        yield "plays of the best arm", f"{share:.1%}"
    yield "speed", f"{run.nanoseconds_per_round:,.0f} ns per round"


def _as_json(
    spec: str, seen: sl.Observability, domination: sl.Domination, run: sl.Run, picture: Path
) -> dict[str, Any]:
    plan = run.plan
    return {
        "graph": {"spec": spec, "arms": plan.graph.n_arms, "edges": plan.graph.n_edges, "class": seen.graph},
        "domination": {"value": domination.value, "lower": domination.lower, "gap": domination.gap},
        "partition": [block.tolist() for block in plan.partition.blocks],
        "plan": {"realization": plan.realization, "horizon": plan.horizon, "parameters": plan.parameters},
        "bound": plan.bound.to_dict(),
        "regret": run.regret[:, -1].tolist(),
        "figure": str(picture),
    }
