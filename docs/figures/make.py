"""Draw the figures of README.md and docs/report.md again: `python docs/figures/make.py` (about a minute)."""

from pathlib import Path

import first_screen

import sidelight as sl
from sidelight.environment import names as environments
from sidelight.experiment.results import Results, cell_of
from sidelight.policy import names as policies
from sidelight.report.figures.canvas import save_figure
from sidelight.report.figures.graph import graph_figure
from sidelight.report.figures.ledger import ledger_figure, timing_figure
from sidelight.report.figures.plays import plays_figure
from sidelight.report.figures.regret import regret_figure
from sidelight.report.groups import groups_of

HERE = Path(__file__).parent
GRAPH, HORIZON, SEEDS = "cycle:12", 100_000, range(20)


def main() -> None:
    """Play, then draw every figure into this folder."""
    first_screen.main()
    graph = sl.families.parse(GRAPH)
    cells = []
    for name in ("auto", "adaptive"):
        plan = policies.make(name, graph, HORIZON)
        run = sl.simulate(plan, environments.parse("gap", graph, HORIZON), seeds=SEEDS)
        cells.append(cell_of(run, id=name, graph=GRAPH, policy=name, environment="gap"))
    (group,) = groups_of(Results(tuple(cells)))
    comparison = sl.compare_bounds(graph, HORIZON)
    corrupted = sl.families.corrupted_full(12, 4)
    many = sl.families.parse("cliques:1000x10")
    figures = {
        "graph": graph_figure(corrupted, sl.partitions.corrupted(corrupted)),
        "large-graph": graph_figure(many, sl.partitions.components(many)),
        "regret": regret_figure(group, floor=comparison.floor.value),
        "ledger": ledger_figure(group),
        "plays": plays_figure(group, partition=comparison.plan.partition),
        "timing": timing_figure(group),
    }
    for name, figure in figures.items():
        if figure is not None:
            save_figure(figure, HERE / f"{name}.png", dpi=130)


if __name__ == "__main__":
    main()
