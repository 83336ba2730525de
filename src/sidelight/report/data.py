"""What the scripts of a page read: plain values, and arrays of numbers packed as base64.

Numbers that are drawn are little-endian 32-bit floats; tables keep what `report.tables` gives. A page stays within a
few megabytes however long the sweep: seeds, ledgers and plays are kept at fewer checkpoints first, then the last
comparisons lose their curves, and the page says so. Shares of plays before the end have 16 bits each, on a log scale.
Nothing here is computed anew but means and intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sidelight import _json
from sidelight._types import Longs
from sidelight.experiment.results import Cell, Results
from sidelight.experiment.run import LEDGER
from sidelight.experiment.statistics import mean_band
from sidelight.report.encoding import MOST_GRAPH_NUMBERS, Budget, graph_data, packed, shaded
from sidelight.report.groups import Group, Scaling, scaling_curves
from sidelight.report.latex import results_latex
from sidelight.report.section import GraphSection
from sidelight.report.sentences import bound_status
from sidelight.report.style import stroke_numbers
from sidelight.report.tables import results_rows

MOST_CURVE_NUMBERS = 200_000
MOST_NUMBERS = 400_000
"""Of means, intervals and certificates, and of these with seeds and ledgers: a little over two megabytes."""
MOST_PLAYS = 60_000
MOST_PLAYS_OVER = 150_000
"""Of shares at the end, and of shares before it: four and two bytes each."""


def page_data(
    results: Results,
    groups: tuple[Group, ...],
    sections: Mapping[str, GraphSection],
    scalings: tuple[Scaling, ...],
) -> dict[str, Any]:
    """Everything that can be explored, in plain values."""
    curved = _curved(groups)
    left = MOST_NUMBERS - sum(map(_curve_numbers, groups[:curved]))
    stride = _stride(groups[:curved], left)
    plays = _Plays(groups[:curved], stride)
    graphs = Budget(MOST_GRAPH_NUMBERS)
    names = list(dict.fromkeys(cell.policy for cell in results.cells))
    looks = stroke_numbers(names)
    rows = results_rows(results, {name: section.graph for name, section in sections.items()})
    data: dict[str, Any] = _json.plain(
        {
            "title": results.title,
            "policies": [{"name": name, "colour": looks[name][0], "dash": looks[name][1]} for name in names],
            "ledger": list(LEDGER),
            "stride": stride,
            "comparisons": [
                _comparison(group, sections.get(group.graph), names, stride if k < curved else 0, plays)
                for k, group in enumerate(groups)
            ],
            "graphs": {
                name: graph_data(section.graph, section.partition, section.plan, graphs.takes)
                for name, section in sections.items()
            },
            "latex": results_latex(results),
            "growth": [_growth(scaling, names) for scaling in scalings],
            "table": {"columns": list(rows[0]) if rows else [], "rows": [list(row.values()) for row in rows]},
        }
    )
    return data


# -- plays ------------------------------------------------------------------------------------------------


class _Plays:
    """Shares of plays, as many as fit: at the end, then at the checkpoints of ledgers, or at fewer of them."""

    def __init__(self, groups: tuple[Group, ...], stride: int) -> None:
        self.end, self.over = Budget(MOST_PLAYS), Budget(MOST_PLAYS_OVER)
        self.stride = stride
        cells = [cell for group in groups for cell in group.cells if cell.plays_over is not None]
        sizes = [(cell, cell.plays.size) for cell in cells if cell.plays is not None]
        self.step = _least_step(
            lambda step: sum(self._before_the_end(cell, step).size * arms for cell, arms in sizes),
            MOST_PLAYS_OVER,
        )

    def _before_the_end(self, cell: Cell, step: int) -> Longs:
        """Positions in `cell.plays_over`; where that has all checkpoints, some of those that ledgers have."""
        assert cell.plays_over is not None
        count = cell.plays_over.rounds.size
        step *= self.stride if count == cell.checkpoints.size else 1
        return np.arange((count - 1) % step, count - 1, step)

    def of(self, cell: Cell, grid: Callable[[Longs], int], curved: bool) -> dict[str, Any]:
        """What the page has of a cell's plays."""
        if cell.plays is None:
            return {}
        shares = cell.plays / max(int(cell.plays.sum()), 1)
        order = np.argsort(-shares, kind="stable")[:12]
        data: dict[str, Any] = {
            "most_played": [[int(arm), float(shares[arm])] for arm in order if shares[arm] > 0]
        }
        if not self.end.takes(shares.size):
            return data
        data["plays"] = packed(shares)
        if cell.plays_over is not None and curved:
            at = self._before_the_end(cell, self.step)
            if at.size and self.over.takes(at.size * shares.size):
                rounds, counts = cell.plays_over
                data["plays_over"] = {
                    "rounds": grid(rounds[at]),
                    "shares": packed(shaded(counts[at]), "<u2"),
                }
        return data


# -- comparisons ------------------------------------------------------------------------------------------


def _curve_numbers(group: Group) -> int:
    return sum(cell.checkpoints.size * (2 + (cell.certificate is not None)) for cell in group.cells)


def _curved(groups: tuple[Group, ...]) -> int:
    """How many comparisons come with their curves."""
    total = np.cumsum([_curve_numbers(group) for group in groups])
    return max(int(np.searchsorted(total, MOST_CURVE_NUMBERS, side="right")), min(len(groups), 1))


def _stride(groups: tuple[Group, ...], left: int) -> int:
    """Every which checkpoint is kept of single seeds and of ledgers."""
    sizes = [
        (len(cell.seeds) + 4 * (cell.ledger is not None), cell.checkpoints.size)
        for group in groups
        for cell in group.cells
    ]
    return _least_step(lambda step: sum(rows * -(-points // step) for rows, points in sizes), left)


def _least_step(numbers: Callable[[int], int], most: int) -> int:
    """Every which checkpoint can be kept such that at most so many numbers are stored; 1,024 if even that is more."""
    return next((step for step in range(1, 1024) if numbers(step) <= most), 1024)


def _comparison(
    group: Group, section: GraphSection | None, names: list[str], stride: int, plays: _Plays
) -> dict[str, Any]:
    comparison = None if section is None else section.at(group.horizon)
    limit = None if section is None else section.long_runs.get(group.environment)
    grids: dict[bytes, tuple[int, Longs]] = {}

    def grid(rounds: Longs) -> int:
        return grids.setdefault(rounds.tobytes(), (len(grids), rounds))[0]

    cells = [_cell(cell, names, grid, stride) | plays.of(cell, grid, stride > 0) for cell in group.cells]
    return {
        "graph": group.graph,
        "environment": group.environment,
        "horizon": group.horizon,
        "floor": None if comparison is None else comparison.floor.value,
        "long_run": None if limit is None else limit.lower,
        "rounds": [points.tolist() for _, points in grids.values()] if stride else [],
        "cells": cells,
    }


def _cell(cell: Cell, names: list[str], grid: Callable[[Longs], int], stride: int) -> dict[str, Any]:
    bound = None
    if cell.bound is not None:
        bound = {
            "value": float(cell.bound["value"]),
            "certified": bool(cell.bound["certified"]),
            "status": bound_status(cell),
        }
    band = mean_band(cell.regret)
    certificate = None if cell.certificate is None else cell.certificate.mean(axis=0)
    data: dict[str, Any] = {
        "policy": names.index(cell.policy),
        "seeds": cell.seeds.tolist() if stride else [],
        "bound": bound,
        "final": {
            "mean": float(band.mean[-1]),
            "half": float(band.high[-1] - band.mean[-1]),
            "certificate": None if certificate is None else float(certificate[-1]),
        },
    }
    if stride:
        positions = np.arange(cell.checkpoints.size - 1, -1, -stride)[::-1]
        data |= {
            "rounds": grid(cell.checkpoints),
            "mean": packed(band.mean),
            "half": packed(band.high - band.mean) if len(cell.seeds) > 1 else None,
            "certificate": None if certificate is None else packed(certificate),
            "ledger": None if cell.ledger is None else packed(cell.ledger[:, positions].mean(axis=0)),
            "regret": packed(cell.regret[:, positions]),
        }
    return data


# -- growth -----------------------------------------------------------------------------------------------


def _growth(scaling: Scaling, names: list[str]) -> dict[str, Any]:
    curves = scaling_curves(scaling)
    return {
        "variable": scaling.variable,
        "graph": scaling.graph,
        "environment": scaling.environment,
        "horizon": scaling.horizon,
        "graphs": sorted({cell.graph for cells in scaling.cells.values() for cell in cells.values()}),
        "curves": [
            {
                "policy": names.index(curve.policy),
                "label": curve.label,
                "x": curve.x,
                "mean": curve.mean,
                "half": curve.high - curve.mean,
                "bounds": [
                    [at, value] for at, (value, certified) in curve.bounds.items() if certified and value > 0
                ],
            }
            for curve in curves
        ],
    }
