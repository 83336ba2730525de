"""What readers of graph files share: what they are asked for, how many arms are plausible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sidelight._check import MAX_ARMS
from sidelight.errors import GraphFileError
from sidelight.graph.edges import checked_arm_count

LONGEST_LINE = 1 << 20
"""Bytes; nobody writes an edge that is longer."""

TRUSTED_ARMS = 10_000_000
"""A file may claim this many arms without having edges for them."""

ARMS_PER_EDGE = 10
"""Beyond, a graph with more arms than this per edge is taken for a mistake in the ids."""


class Options(NamedTuple):
    """What `read_graph` was asked for, and what it found beside the file."""

    n_arms: int | None = None
    limit: int | None = None  # bytes that the file may unpack to
    named: bool | None = None
    probabilities: bool = False
    labels: Sequence[str] | None = None  # from the file beside it


def plausible_arm_count(n: int, edges: int, confirmed: bool) -> int:
    """`n`, unless it would need memory out of all proportion to the edges and nobody confirmed it."""
    if not confirmed and n > max(TRUSTED_ARMS, ARMS_PER_EDGE * edges):
        raise GraphFileError(
            f"{n:,} arms with only {edges:,} edges look like a mistake in the ids;"
            f" pass n_arms={n} to confirm them, or named=True if the ids of a csv file are arbitrary numbers"
        )
    if n > MAX_ARMS:
        raise GraphFileError(f"at most {MAX_ARMS:,} arms are supported, the file has {n:,}")
    return checked_arm_count(n)
