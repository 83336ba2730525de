"""Results and bounds as plain rows, for pages, terminals and other programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sidelight import _json
from sidelight.experiment.results import Cell, Results
from sidelight.graph import FeedbackGraph
from sidelight.planning import Comparison
from sidelight.report.groups import Group, final_regret, groups_of, growth_of, told_apart
from sidelight.report.sentences import bound_status, duels
from sidelight.report.text import number, spread

if TYPE_CHECKING:
    import pyarrow
    from rich.table import Table


LEAST_LETTERS = 12
"""Of a policy's name that are on one line, however narrow the terminal."""


def results_rows(results: Results, graphs: Mapping[str, FeedbackGraph] | None = None) -> list[dict[str, Any]]:
    """A dict of plain values for each cell, in the order of the results; None where there is no number.

    The arm that was played most has its label where the graph is among `graphs`, which are by name.
    """
    by_name = graphs or {}
    return [result_row(cell, by_name.get(cell.graph)) for cell in results.cells]


def result_row(cell: Cell, graph: FeedbackGraph | None = None) -> dict[str, Any]:
    """Regret at the horizon with its 95 % interval, growth exponent, mean certificate, bound and time of one cell.

    The exponent is None where the curve bends, its interval also below `statistics.LEAST_SEEDS` seeds; "growth" is
    the same in words, with the exponents of both halves of a curve that bends.
    """
    mean, low, high = final_regret(cell)
    growth = growth_of(cell)
    single = None if growth is None or growth.bends else growth
    most = None if cell.plays is None else int(cell.plays.argmax())
    labels = None if graph is None else graph.labels
    row: dict[str, Any] = _json.plain(
        {
            "id": cell.id,
            "graph": cell.graph,
            "environment": cell.environment,
            "horizon": cell.horizon,
            "policy": cell.policy,
            "seeds": len(cell.seeds),
            "regret": mean,
            "regret_low": low,
            "regret_high": high,
            "exponent": None if single is None else single.value,
            "exponent_low": None if single is None else single.low,
            "exponent_high": None if single is None else single.high,
            "growth": None if growth is None else growth.of("t"),
            "certificate": None if cell.certificate is None else float(cell.certificate[:, -1].mean()),
            "bound": None if cell.bound is None else cell.bound["value"],
            "bound_status": bound_status(cell),
            "most_played": most,
            "most_played_label": None if most is None or labels is None else labels[most],
            "most_played_share": None if cell.plays is None else float(cell.plays.max() / cell.plays.sum()),
            "nanoseconds_per_round": cell.nanoseconds_per_round,
        }
    )
    return row


def results_table(results: Results) -> Table:
    """For the terminal: a row per cell, comparable cells together, the least regret of each group in bold.

    What all groups have in common is said once, above.
    """
    from rich.table import Table
    from rich.text import Text

    groups = groups_of(results)
    differ, heads = told_apart(groups)
    common = [("", "", "T = ")[at] + heads[0][at] for at in range(3) if heads and not differ[at]]
    title = ", ".join(dict.fromkeys(word for word in (results.title, *common) if word))
    table = Table(title=Text(title) if title else None, title_justify="left")
    letters = min(max((len(cell.policy) for cell in results.cells), default=0), LEAST_LETTERS)
    for name, shown in zip(("graph", "environment", "T", "policy"), (*differ, True), strict=True):
        if shown:
            table.add_column(
                name,
                justify="right" if name == "T" else "left",
                overflow="fold",
                no_wrap=name == "T",
                min_width=letters if name == "policy" else None,
            )
    for name in ("regret", "grows as", "certificate", "bound", "status", "ns/round"):
        table.add_column(name, justify="left" if name == "status" else "right", no_wrap=name != "status")
    for group, head in zip(groups, heads, strict=True):
        least = group.ranked[0]
        words = [word for word, shown in zip(head, differ, strict=True) if shown]
        for cell in group.cells:
            row = [*words, cell.policy, *result_texts(result_row(cell))]
            table.add_row(*(Text(word) for word in row), style="bold" if cell is least else None)
            words = [""] * len(words)
        table.add_section()
    return table


def result_texts(row: dict[str, Any]) -> tuple[str, ...]:
    """Regret, growth, certificate, bound, its status and time of a row, as a reader wants them."""
    mean, high = row["regret"], row["regret_high"]
    regret = number(mean) if high is None else spread(mean, high - mean)
    growth = "–" if row["growth"] is None else row["growth"]
    certificate, bound, time = (
        "–" if row[name] is None else number(row[name])
        for name in ("certificate", "bound", "nanoseconds_per_round")
    )
    status = "" if row["bound_status"] == "none" else row["bound_status"]
    return regret, growth, certificate, bound, status, time


def bounds_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """A dict of plain values for each bound, as `Row.to_dict` with its status and whether it beats the plan."""
    ahead = comparison.ahead
    return [{**row.to_dict(), "status": row.status, "beats_plan": row in ahead} for row in comparison.rows]


SHADES = (1.05, 1.5, 3.0, 10.0)
"""Multiples of the least regret from which a cell of the leaderboard is shaded less."""


def ranked_rows(group: Group) -> list[dict[str, Any]]:
    """The rows of a comparison from the least regret on, as texts too, and how far each is from the least."""
    best, rivals = duels(group)
    close = [cell for duel in rivals if duel.close for cell in duel.cells]
    least, rows = float(best[0].mean[-1]), []
    for cell in group.ranked:
        row = result_row(cell)
        ratio = row["regret"] / least if least > 0 else None
        row |= {"texts": result_texts(row), "best": cell in best, "close": cell in close, "ratio": ""}
        row["shade"] = len(SHADES) if ratio is None else sum(ratio > limit for limit in SHADES)
        if ratio is not None:
            row["ratio"] = f"{number(ratio)}×"
        rows.append(row | ({"ratio": "1×" if least > 0 else "", "shade": 0} if cell in best else {}))
    return rows


# -- for other programs -------------------------------------------------------------------------------------


COLUMNS = {
    "id": "string", "graph": "string", "environment": "string", "horizon": "int64", "policy": "string",
    "seeds": "int64", "regret": "float64", "regret_low": "float64", "regret_high": "float64",
    "exponent": "float64", "exponent_low": "float64", "exponent_high": "float64", "growth": "string",
    "certificate": "float64", "bound": "float64", "bound_status": "string", "most_played": "int64",
    "most_played_label": "string", "most_played_share": "float64", "nanoseconds_per_round": "float64",
}  # fmt: skip
"""Of a summary, in order, with the type that each has in Arrow."""


def summary_table(results: Results) -> pyarrow.Table:
    """A row per cell: regret at the horizon with its 95 % interval, growth, certificate, bound, plays, time."""
    import pyarrow as pa

    schema = pa.schema({name: pa.type_for_alias(kind) for name, kind in COLUMNS.items()})
    return pa.Table.from_pylist(results_rows(results, results.graphs), schema=schema)


def summary_csv(results: Results) -> str:
    """The same as comma-separated text, numbers in full."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(results_rows(results, results.graphs))
    return stream.getvalue()
