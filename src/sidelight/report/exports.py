"""What pages and tables show of each cell, as a table for other programs."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from sidelight.experiment.results import Results
from sidelight.report.tables import results_rows

if TYPE_CHECKING:
    import pyarrow

TEXTS = ("id", "graph", "environment", "policy", "growth", "bound_status", "most_played_label")
WHOLE = ("horizon", "seeds", "most_played")
NUMBERS = (
    "regret", "regret_low", "regret_high", "exponent", "exponent_low", "exponent_high", "certificate", "bound",
    "most_played_share", "nanoseconds_per_round",
)  # fmt: skip
ORDER = (
    "id", "graph", "environment", "horizon", "policy", "seeds", "regret", "regret_low", "regret_high", "exponent",
    "exponent_low", "exponent_high", "growth", "certificate", "bound", "bound_status", "most_played",
    "most_played_label", "most_played_share", "nanoseconds_per_round",
)  # fmt: skip


def summary_table(results: Results) -> pyarrow.Table:
    """A row per cell: regret at the horizon with its 95 % interval, growth, certificate, bound, plays, time."""
    import pyarrow as pa

    kinds = {
        **dict.fromkeys(TEXTS, pa.string()),
        **dict.fromkeys(WHOLE, pa.int64()),
        **dict.fromkeys(NUMBERS, pa.float64()),
    }
    schema = pa.schema({name: kinds[name] for name in ORDER})
    return pa.Table.from_pylist(results_rows(results, results.graphs), schema=schema)


def summary_csv(results: Results) -> str:
    """The same as comma-separated text, numbers in full."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, ORDER, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(results_rows(results, results.graphs))
    return stream.getvalue()
