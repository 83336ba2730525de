"""One cell as one parquet file: equal cells give equal bytes, and a damaged file does not pass for a cell.

One row per seed and checkpoint; everything that is the same for all rows (the bound, provenance) is JSON in
the metadata of the schema, under the key "sidelight". Timings are not here: they differ from run to run.
A cell that is not applicable has no rows.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight._files import digest
from sidelight.errors import ResultsError
from sidelight.experiment.results import Absent, Cell, Named
from sidelight.experiment.run import LEDGER, PlaysOver

if TYPE_CHECKING:
    import pyarrow

FORMAT = 3
READ = (2, 3)
"""Format 2 has plays at the end alone, in the first row."""
KEY = b"sidelight"
NAMES = ("cell", "graph", "policy", "environment")
LEDGER_COLUMNS = tuple(name.replace(" ", "_") for name in LEDGER)
FLOATS = ("cost", "regret", *LEDGER_COLUMNS, "certificate")
INTEGERS = ("horizon", "seed", "round")


def encode(outcome: Cell | Absent) -> bytes:
    """The file of a cell."""
    import pyarrow as pa
    import pyarrow.parquet

    columns = _columns(outcome)
    described = _described(outcome)
    described["digest"] = _digest(described, columns)
    arrays = {name: pa.array(columns[name], type=kind) for name, kind in _types(pa).items()}
    table = pa.table(arrays).replace_schema_metadata({KEY: json.dumps(described).encode()})
    sink = io.BytesIO()
    pa.parquet.write_table(table, sink, compression="zstd", write_page_checksum=True)
    return sink.getvalue()


def decode(data: bytes, where: str, nanoseconds_per_round: float = float("nan")) -> Cell | Absent:
    """The cell of a file; `ResultsError` naming `where` if it is not exactly what was written."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        table = pa.parquet.ParquetFile(io.BytesIO(data), page_checksum_verification=True).read(
            use_threads=False
        )
        header = json.loads(table.schema.metadata[KEY])
        if header.get("format") not in READ:
            raise ResultsError(
                f"{where} has format {header.get('format')!r}, this version reads {READ[0]} to {READ[-1]}; use the"
                " version of sidelight that wrote it"
            )
        columns = {name: _values(table[name], name) for name in _types(pa)}
        if header.pop("digest") != _digest(header, columns):
            raise ValueError("its contents do not match their checksum")
        return _cell(header, columns, nanoseconds_per_round)
    except ResultsError:
        raise
    except Exception as error:  # readers of damaged bytes raise all kinds
        raise ResultsError(
            f"{where} is damaged ({str(error) or type(error).__name__}); delete it and run the sweep again"
        ) from error


def long_table(cells: Sequence[Cell]) -> pyarrow.Table:
    """The cells one after another, one row per seed and checkpoint; `bound` is that of the horizon."""
    import pyarrow as pa

    types = {name: kind for name, kind in _types(pa).items() if name != "plays"}
    schema = pa.schema({**types, "bound": pa.float64()})
    parts = []
    for cell in cells:
        bound = None if cell.bound is None else cell.bound["value"]
        columns = _columns(cell) | {"bound": [bound] * cell.regret.size}
        parts.append(
            pa.table([pa.array(columns[field.name], type=field.type) for field in schema], schema=schema)
        )
    return pa.concat_tables([schema.empty_table(), *parts])


def _types(pa: Any) -> dict[str, Any]:
    texts = dict.fromkeys(NAMES, pa.string())
    numbers = dict.fromkeys(INTEGERS, pa.int64())
    return {**texts, **numbers, **dict.fromkeys(FLOATS, pa.float64()), "plays": pa.list_(pa.int64())}


def _columns(cell: Cell | Absent) -> dict[str, Any]:
    """Arrays of one value per row; `plays`, over all seeds, stands in the rows of the first, where they are known."""
    if isinstance(cell, Absent):
        return {name: [] for name in (*NAMES, *INTEGERS, *FLOATS, "plays")}
    seeds, points = cell.regret.shape
    rows = seeds * points
    names = (cell.id, cell.graph, cell.policy, cell.environment)
    columns: dict[str, Any] = {name: [value] * rows for name, value in zip(NAMES, names, strict=True)}
    columns["horizon"] = np.full(rows, cell.horizon, dtype=np.int64)
    columns["seed"] = np.repeat(cell.seeds, points)
    columns["round"] = np.tile(cell.checkpoints, seeds)
    columns["cost"], columns["regret"] = cell.cost.ravel(), cell.regret.ravel()
    for i, name in enumerate(LEDGER_COLUMNS):
        columns[name] = [None] * rows if cell.ledger is None else cell.ledger[:, :, i].ravel()
    columns["certificate"] = [None] * rows if cell.certificate is None else cell.certificate.ravel()
    columns["plays"] = plays = [None] * rows
    if cell.plays is not None and cell.plays_over is not None:
        for at, counts in zip(cell.plays_over.rounds, cell.plays_over.counts, strict=True):
            plays[int(np.searchsorted(cell.checkpoints, at))] = counts
    plays[points - 1] = cell.plays
    return columns


def _described(outcome: Cell | Absent) -> dict[str, Any]:
    header = {"format": FORMAT, **outcome.names, "provenance": outcome.provenance}
    if isinstance(outcome, Absent):
        return {**header, "status": outcome.status, "reason": outcome.reason}
    return {**header, "status": "complete", "shape": list(outcome.regret.shape), "bound": outcome.bound}


def _digest(header: dict[str, Any], columns: dict[str, Any]) -> str:
    """SHA-256 of everything in the file, as it is read back."""
    parts: list[Any] = [json.dumps(header, sort_keys=True)]
    parts += [json.dumps([name, *columns[name]]) for name in NAMES]
    parts += [np.asarray(columns[name], dtype="<i8") for name in INTEGERS]
    parts += [np.asarray(columns[name], dtype="<f8") for name in FLOATS]
    parts += ["-" if plays is None else np.asarray(plays, dtype="<i8") for plays in columns["plays"]]
    return digest(*parts)


def _values(column: Any, name: str) -> Any:
    if name in NAMES:
        return column.to_pylist()
    if name == "plays":
        return [row.values.to_numpy() if row.is_valid else None for row in column]
    return column.to_numpy()


def _cell(header: dict[str, Any], columns: dict[str, Any], nanoseconds: float) -> Cell | Absent:
    names = {key: header[key] for key in Named.__dataclass_fields__}
    provenance = header["provenance"]
    if header["status"] != "complete":
        return Absent(**names, status=header["status"], reason=header["reason"], provenance=provenance)
    shape = tuple(header["shape"])
    ledger = np.stack([columns[name].reshape(shape) for name in LEDGER_COLUMNS], axis=-1)
    certificate, checkpoints = columns["certificate"].reshape(shape), columns["round"][: shape[1]].copy()
    counted = [k for k in range(shape[1]) if columns["plays"][k] is not None]
    counts = np.stack([columns["plays"][k] for k in counted]) if counted else None
    return Cell(
        **names,
        seeds=columns["seed"].reshape(shape)[:, 0].copy(),
        checkpoints=checkpoints,
        regret=columns["regret"].reshape(shape),
        cost=columns["cost"].reshape(shape),
        ledger=None if np.isnan(ledger).all() else ledger,
        certificate=None if np.isnan(certificate).all() else certificate,
        plays=None if counts is None else counts[-1],
        plays_over=None if counts is None or len(counted) < 2 else PlaysOver(checkpoints[counted], counts),
        bound=header["bound"],
        nanoseconds_per_round=nanoseconds,
        provenance=provenance,
    )
