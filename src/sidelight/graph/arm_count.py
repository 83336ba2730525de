"""How many arms a file may claim before it has to be confirmed."""

from typing import Any

import numpy.typing as npt

from sidelight._check import MAX_ARMS
from sidelight.errors import GraphFileError
from sidelight.graph.feedback_graph import checked_arm_count

TRUSTED_ARMS = 10_000_000
"""A file may claim this many arms without having edges for them."""

ARMS_PER_EDGE = 10
"""Beyond, a graph with more arms than this per edge is taken for a mistake in the ids."""


def agreed_arm_count(claims: dict[str, int | None]) -> int | None:
    """The one number of arms that all sources (by name) agree on, None when no source says."""
    said = {source: count for source, count in claims.items() if count is not None}
    if len(set(said.values())) > 1:
        listed = ", ".join(f"{source} {count}" for source, count in said.items())
        raise GraphFileError(f"the number of arms is contradictory: {listed}")
    return next(iter(said.values()), None)


def plausible_arm_count(n: int, edges: int, confirmed: int | None) -> int:
    """`n`, unless it would need memory out of all proportion to the edges and nobody confirmed it."""
    if confirmed is None and n > max(TRUSTED_ARMS, ARMS_PER_EDGE * edges):
        raise GraphFileError(
            f"{n:,} arms with only {edges:,} edges look like a mistake in the ids;"
            f" pass n_arms={n} to confirm them, or named=True if the ids of a csv file are arbitrary numbers"
        )
    if n > MAX_ARMS:
        raise GraphFileError(f"at most {MAX_ARMS:,} arms are supported, the file has {n:,}")
    return checked_arm_count(n)


def largest(*ids: npt.NDArray[Any]) -> int:
    """Largest id in the given arrays, −1 when there is none."""
    return max((int(array.max()) for array in ids if array.size), default=-1)
