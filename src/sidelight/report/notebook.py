"""Runs and results as notebooks show them: the table of the page and a small picture."""

from __future__ import annotations

import numpy as np

from sidelight import _html
from sidelight.experiment.results import Results
from sidelight.experiment.run import Run
from sidelight.report.groups import Group, groups_of
from sidelight.report.tables import result_row, result_texts
from sidelight.report.text import counted, number

MOST_GROUPS = 6
"""Comparisons that are shown; the page has all."""


def run_html(run: Run) -> str:
    """One run: regret, certificate, bound, and the curve of its mean."""
    name = getattr(run.plan, "realization", type(run.plan).__name__)
    reached = np.isfinite(run.mean)
    last = int(np.flatnonzero(reached)[-1]) if reached.any() else None
    bound, rows = run.bound, list[tuple[str, object]]()
    if last is not None:
        ends = run.regret[:, last]
        ends = ends[np.isfinite(ends)]
        spread = "" if ends.size < 2 else f", runs between {number(ends.min())} and {number(ends.max())}"
        rows.append(
            ("mean regret", f"{number(run.mean[last])} after {run.checkpoints[last]:,} rounds{spread}")
        )
        certified = run.certificate[:, last]
        if np.isfinite(certified).any():
            rows.append(("mean certificate", number(float(np.nanmean(certified)))))
    if bound is not None:
        rows.append(("bound", f"{number(bound.value)}{'' if bound.certified else ', not certified'}"))
    if run.rounds:
        rows.append(("time", f"{number(run.nanoseconds_per_round)} ns a round"))
    if not run.complete:
        rows.append(("state", "interrupted: run.resume() plays on"))
    title = f"{name}, {run.environment}: {len(run.seeds):,} seeds of {run.checkpoints[-1]:,} rounds"
    drawn = _html.curves(
        [(str(name), run.checkpoints.tolist(), run.mean.tolist())], "mean regret over the rounds"
    )
    return _html.panel(title, drawn, _html.facts(rows))


def results_html(results: Results) -> str:
    """Every comparison as a table, the least regret in bold; the curves of a single one."""
    groups = groups_of(results)
    parts = [_group(group, alone=len(groups) == 1) for group in groups[:MOST_GROUPS]]
    if len(groups) > MOST_GROUPS:
        parts.append(
            _html.note(f"… and {len(groups) - MOST_GROUPS:,} more comparisons: results.write(folder)")
        )
    missing = [
        (cell.policy, cell.graph, cell.environment, cell.status, cell.reason) for cell in results.absent
    ]
    if missing:
        heads = ("policy", "graph", "environment", "", "why")
        parts.append(
            _html.folded(f"{counted(len(missing), 'cell')} without numbers", _html.table(heads, missing))
        )
    return _html.panel(results.title or f"{len(results.cells):,} cells", *parts)


def _group(group: Group, *, alone: bool) -> str:
    heads = ("policy", ">regret", ">grows as", ">certificate", ">bound", "", ">ns/round")
    rows = [(cell.policy, *result_texts(result_row(cell))) for cell in group.cells]
    best = [at for at, cell in enumerate(group.cells) if cell is group.ranked[0]]
    drawn = ""
    if alone:
        lines = [(cell.policy, cell.checkpoints.tolist(), cell.mean.tolist()) for cell in group.cells]
        drawn = _html.curves(lines, "mean regret over the rounds, on log axes")
        drawn += _html.legend(cell.policy for cell in group.cells) if drawn else ""
    return _html.note(group.title) + drawn + _html.table(heads, rows, best)
