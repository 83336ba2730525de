"""`sidelight demo`: what the library does, on one screen and one figure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table

import sidelight as sl
from sidelight.errors import InvalidOption
from sidelight.experiment.run import LEDGER
from sidelight.report.figures import run_figure, save_figure

if TYPE_CHECKING:
    from sidelight.analysis import Domination, Observability

GAP = 0.3
"""All arms lose half of the time, except one that loses less by this much."""


def run_demo(spec: str, horizon: int, runs: int, seed: int, output: str, as_json: bool) -> None:
    """Analyse, plan, play and draw; print tables, or one JSON object."""
    if runs < 1:
        raise InvalidOption(f"--runs must be at least 1, got {runs}")
    if seed < 0:
        raise InvalidOption(f"--seed must not be negative, got {seed}")
    graph = sl.families.parse(spec)
    seen = sl.observability(graph)
    plan = sl.plan(graph, horizon=horizon)
    domination = sl.fractional_domination(graph)
    means = np.full(graph.n_arms, 0.5)
    means[graph.n_arms // 2] -= GAP
    environment = sl.environments.bernoulli(means)
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)  # before the long work: an unwritable place should cost little
    run = sl.simulate(plan, environment, seeds=range(seed, seed + runs))
    if not run.complete:
        raise click.Abort  # interrupted: half a demo would show numbers that are not there

    picture = folder / "demo.png"
    save_figure(run_figure(run, f"{spec}: plan and play"), picture)

    if as_json:
        print(json.dumps(_as_json(spec, seen, domination, run, picture), indent=2))  # noqa: T201
        return
    console = Console()
    console.print(_graph_table(spec, graph, seen, domination))
    console.print(_plan_table(plan))
    console.print(_bound_table(plan.bound))
    console.print(_run_table(run))
    console.print(f"figure: [bold]{picture}[/bold]")


def _table(title: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", show_header=False, box=None)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    return table


def _graph_table(spec: str, graph: sl.FeedbackGraph, seen: Observability, domination: Domination) -> Table:
    table = _table(f"Graph {spec}")
    table.add_row("arms, edges", f"{graph.n_arms:,}, {graph.n_edges:,}")
    counts = f"{len(seen.strong)} strong, {len(seen.weak)} weak, {len(seen.unobservable)} unobservable"
    table.add_row("class", f"{seen.graph}ly observable ({counts})")
    table.add_row("fractional domination δ*", f"{domination.value:.6g} (certified gap {domination.gap:.1e})")
    if seen.graph == "weak":
        packing = sl.packing_independent_set(graph)
        table.add_row("packing set", f"{len(packing.arms)} arms, at most {packing.t} seen at once")
    return table


def _plan_table(plan: sl.Plan) -> Table:
    table = _table(f"Plan for T = {plan.horizon:,}")
    partition = plan.partition
    sizes = ", ".join(str(size) for size in partition.sizes[:12]) + (
        " …" if len(partition.sizes) > 12 else ""
    )
    blocks = "one block of size" if len(partition.blocks) == 1 else f"{len(partition.blocks)} blocks of sizes"
    table.add_row("partition", f"{blocks} {sizes}")
    table.add_row("realization", plan.realization)
    for name, value in plan.parameters.items():
        if isinstance(value, float):
            table.add_row(name, f"{value:.6g}")
    return table


def _bound_table(bound: sl.Bound) -> Table:
    table = _table("Bound")
    table.add_row("regret at most", f"{bound.value:,.1f}  ({bound.theorem})")
    for name, value in bound.terms.items():
        table.add_row(f"  {name}", f"{value:,.1f}")
    for condition in bound.conditions:
        mark = "holds" if condition.holds else "[red]fails[/red]"
        table.add_row(f"  {condition.name}", f"{mark}, slack {condition.slack:.3g}")
    table.add_row(
        "certified", "yes" if bound.certified else f"[red]no[/red], valid from T = {bound.valid_from:,}"
    )
    table.add_row("informative from", f"T = {bound.informative_from:,}")
    return table


def _run_table(run: sl.Run) -> Table:
    table = _table(f"{len(run.seeds)} simulated runs of {run.plan.horizon:,} rounds")
    table.add_row("environment", f"Bernoulli losses, best arm {run.best_arm[0]} by {GAP}")
    final = run.regret[:, -1]
    spread = f" ± {final.std(ddof=1) / np.sqrt(len(final)):,.1f}" if len(final) > 1 else ""
    table.add_row("pseudo-regret", f"{final.mean():,.1f}{spread} (bound {run.plan.bound.value:,.1f})")
    for name, value in zip(LEDGER, run.ledger[:, -1].mean(axis=0), strict=True):
        table.add_row(f"  {name}", f"{value:,.1f}")
    if run.plays is not None:
        share = run.plays[:, run.best_arm[0]].mean() / run.plan.horizon
        table.add_row("plays of the best arm", f"{share:.1%}")
    table.add_row("speed", f"{run.nanoseconds_per_round:,.0f} ns per round")
    return table


def _as_json(
    spec: str, seen: Observability, domination: Domination, run: sl.Run, picture: Path
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
