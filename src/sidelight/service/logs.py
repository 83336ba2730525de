"""The log of a policy for off-policy evaluation: the long format of `sl.Log`, of all decisions that were answered.

Decisions that are open, cancelled or expired revealed nothing that is known; they are left out, which is right as
long as what is answered does not depend on what was drawn.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO, Any, cast

import msgspec

from sidelight.log.files import KEY, described
from sidelight.policy import Policy
from sidelight.service.events import read_decided, read_observed
from sidelight.service.store.base import Store

COLUMNS = ("decision_id", "round", "arm", "probability", "revealed", "value", "seen", "rows", "told_at")
IN_MEMORY = 1 << 24


def json_lines(store: Store, number: int, policy: Policy) -> Iterator[bytes]:
    """One JSON object for each revealed arm, page by page."""
    names = _names(policy)
    encoder = msgspec.json.Encoder()
    for page in store.history(number):
        yield b"".join(
            encoder.encode(dict(zip(names, row, strict=True))) + b"\n" for row in _rows(page, policy)
        )


def parquet(store: Store, number: int, policy: Policy) -> IO[bytes]:
    """A parquet file that `sl.Log.read` understands, in memory or, if it is large, in a temporary file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    labels = policy.graph.labels
    arms = pa.int64() if labels is None else pa.string()
    whole, real = pa.int64(), pa.float64()
    kinds = (whole, whole, arms, real, arms, real, real, whole, real)
    about = described(policy.unit, policy.graph.n_arms, labels)
    schema = pa.schema(list(zip(_names(policy), kinds, strict=True)), metadata={KEY: about.encode()})
    spool = cast(IO[bytes], tempfile.SpooledTemporaryFile(max_size=IN_MEMORY))  # noqa: SIM115 - the reader closes it
    with pq.ParquetWriter(spool, schema, compression="zstd", write_page_checksum=True) as writer:
        for page in store.history(number):
            columns = list(zip(*_rows(page, policy), strict=True))
            arrays = [pa.array(column, type=kind) for column, kind in zip(columns, kinds, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
    spool.seek(0)
    return spool


def _names(policy: Policy) -> list[str]:
    return [policy.unit.column if name == "value" else name for name in COLUMNS]


def _rows(page: list[tuple[int, bytes, bytes, float]], policy: Policy) -> Iterator[tuple[Any, ...]]:
    graph = policy.graph
    names: Any = graph.labels or range(graph.n_arms)
    for number, decided, observed, time in page:
        known, (_, values) = read_decided(decided), read_observed(observed)
        told = zip(graph.out_neighbors(known.arm).tolist(), values.tolist(), known.seen.tolist(), strict=True)
        shown = [row for row in told if row[1] == row[1]]  # NaN: the reveal failed
        head = (number, number, names[known.arm], known.probability)
        if not shown:
            yield (*head, None, None, None, 0, time)
        for arm, value, seen in shown:
            yield (*head, names[arm], value, seen, len(shown), time)
