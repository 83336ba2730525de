"""Logs in files: .csv and .parquet, and folders of parquet parts.

What a table cannot say, the unit and the arms, is JSON: in parquet files in the metadata of the schema under the
key "sidelight", in csv files in a first line that begins with `# sidelight-log`.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sidelight._files import replacing, unpacking
from sidelight.errors import LogError
from sidelight.log import obp
from sidelight.log.log import Log
from sidelight.log.table import Column, columns_of, log_of
from sidelight.log.unit import Unit

FORMAT = 1
KEY = b"sidelight"
MARK = "# sidelight-log "
CSV = (".csv", ".csv.gz")
PARQUET = {"compression": "zstd", "write_page_checksum": True}
NAMED = ("arm", "revealed")
"""Columns that may hold labels, which may look like numbers."""


def described(unit: Unit, n_arms: int, labels: Sequence[str] | None) -> str:
    """What a file says beside its table."""
    header: dict[str, Any] = {"format": FORMAT, unit.kind: [unit.low, unit.high], "n_arms": n_arms}
    return json.dumps(header if labels is None else {**header, "labels": list(labels)}, ensure_ascii=False)


def write(log: Log, path: str | os.PathLike[str]) -> None:
    """Write a log to one file, whole or not at all."""
    from pyarrow import csv

    file = Path(path)
    header = described(log.unit, log.n_arms, log.labels)
    if file.name.lower().endswith(CSV):
        sink = io.BytesIO(f"{MARK}{header}\n".encode())
        sink.seek(0, io.SEEK_END)
        csv.write_csv(log.to_arrow(), sink)
        data = sink.getvalue()
    elif file.suffix.lower() == ".parquet":
        data = parquet_bytes(log.to_arrow().replace_schema_metadata({KEY: header.encode()}))
    else:
        raise LogError(f"cannot write {file}: the name of a log ends in .csv, .csv.gz or .parquet")
    try:
        with replacing(file) as stream:
            stream.write(data)
    except OSError as error:
        raise LogError(f"cannot write {file}: {error.strerror or error}") from error


def long_schema(names: Sequence[str], unit: Unit, n_arms: int, labels: Sequence[str] | None, ids: str) -> Any:
    """The types of columns of the long format, and what a file says beside its table."""
    import pyarrow as pa

    arms = "int64" if labels is None else "string"
    kinds = {"decision_id": ids, "round": "int64", "arm": arms, "revealed": arms, "rows": "int64"}
    kinds["version"] = "string"
    typed = [(name, pa.type_for_alias(kinds.get(name, "float64"))) for name in names]
    return pa.schema(typed, metadata={KEY: described(unit, n_arms, labels).encode()})


def long_table(rows: Iterable[tuple[Any, ...]], schema: Any) -> Any:
    """Rows as a table of this schema."""
    import pyarrow as pa

    columns = zip(zip(*rows, strict=True), schema.types, strict=True)
    return pa.Table.from_arrays([pa.array(column, type=kind) for column, kind in columns], schema=schema)


def parquet_bytes(table: Any) -> bytes:
    """A table as a parquet file."""
    import pyarrow.parquet

    sink = io.BytesIO()
    pyarrow.parquet.write_table(table, sink, **PARQUET)
    return sink.getvalue()


def read(path: str | os.PathLike[str], **stated: Any) -> Log:
    """The log of a file or folder; what is stated, as in `Log.read`, comes before what the file says."""
    file = Path(path)
    try:
        columns, header = _contents(file)
    except FileNotFoundError as error:
        raise LogError(f"{file} does not exist") from error
    except LogError:
        raise
    except Exception as error:  # readers of damaged files raise all kinds
        raise LogError(f"{file} cannot be read as a log: {error or type(error).__name__}") from error
    if obp.speaks_obp(list(columns)) and "arm" not in columns:
        return obp.from_obp(columns, n_arms=stated["n_arms"], rewards=stated["rewards"], where=str(file))
    if stated["losses"] is None and stated["rewards"] is None:
        stated |= {"losses": header.get("losses"), "rewards": header.get("rewards")}
    if stated["labels"] is None:
        many = stated["n_arms"]
        stated |= {"labels": header.get("labels"), "n_arms": header.get("n_arms") if many is None else many}
    return log_of(columns, str(file), **stated)


def _contents(file: Path) -> tuple[dict[str, Column], dict[str, Any]]:
    if file.is_dir():
        parts = sorted(file.glob("part-*.parquet"))
        if not parts:
            raise LogError(f"the folder {file} holds no parts of a log (part-*.parquet)")
        return _parquet(parts)
    if file.name.lower().endswith(CSV):
        return _csv(file)
    if file.suffix.lower() == ".parquet":
        return _parquet([file])
    raise LogError(
        f"cannot read {file}: a log is a .csv, .csv.gz or .parquet file, or a folder of parquet parts"
    )


def parquet_about(file: Path) -> dict[str, Any]:
    """What a parquet file says beside its table."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        return _metadata(pa.parquet.read_schema(file), file)
    except LogError:
        raise
    except Exception as error:
        raise LogError(f"{file} is damaged or no parquet file: {error}") from error


def _metadata(schema: Any, file: Path) -> dict[str, Any]:
    return _header((schema.metadata or {}).get(KEY, b"{}"), str(file))


def _parquet(files: list[Path]) -> tuple[dict[str, Column], dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet

    tables = []
    for file in files:
        try:
            tables.append(pa.parquet.ParquetFile(file, page_checksum_verification=True).read())
        except FileNotFoundError:
            raise
        except Exception as error:
            raise LogError(f"{file} is damaged or no parquet file: {error}") from error
    header = _metadata(tables[0].schema, files[0])
    for table, file in zip(tables, files, strict=True):
        if (other := _metadata(table.schema, file)) != header:
            raise LogError(f"{file} is of another log than {files[0]}: {other} and {header}")
    return columns_of(pa.concat_tables(tables, promote_options="default")), header


def _csv(file: Path) -> tuple[dict[str, Column], dict[str, Any]]:
    """Every column as text, which `log_of` turns into numbers with errors that name the row."""
    from pyarrow import csv

    with unpacking(file) as stream:
        data = stream.read()
    header: dict[str, Any] = {}
    while data.startswith((b"#", b"\xef\xbb\xbf#")):
        line, _, data = data.partition(b"\n")
        words = line.decode("utf-8-sig")
        if words.startswith(MARK):
            header = _header(words.removeprefix(MARK).encode(), str(file))
    if not data.strip():
        raise LogError(f"{file} is empty: a log has a line of column names and a line per revealed arm")
    if header:  # without a line that was being written; its decision is noticed by its rows
        data = data[: data.rfind(b"\n") + 1]
    names = csv.read_csv(io.BytesIO(data.partition(b"\n")[0] + b"\n")).column_names
    types = dict.fromkeys(names, "string")
    options = csv.ConvertOptions(column_types=types, strings_can_be_null=True, null_values=[""])
    table = csv.read_csv(io.BytesIO(data), convert_options=options)
    text = {name: table[name].to_numpy() for name in table.column_names}
    return {name: text[name] if name in NAMED else _typed(text[name]) for name in text}, header


def _typed(column: Column) -> Column:
    """Text that is all numbers as numbers, whole ones as such; else as it is."""
    for kind in (np.int64, np.float64):
        try:
            return column.astype(kind)
        except (TypeError, ValueError):
            continue
    return column


def _header(data: bytes, where: str) -> dict[str, Any]:
    try:
        header = json.loads(data)
        if not isinstance(header, dict):
            raise ValueError("no object")
    except ValueError as error:
        raise LogError(f"{where}: what the log says about itself is damaged ({error})") from error
    if header and header.get("format") != FORMAT:
        raise LogError(f"{where} has format {header.get('format')!r} of a log, this version reads {FORMAT}")
    return header
