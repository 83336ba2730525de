"""Every claim by name: the paper's, in its order, then those of docs/theory. One file for each subject."""

from __future__ import annotations

from collections.abc import Iterable

from sidelight._check import suggestion
from sidelight.errors import InvalidOption
from sidelight.experiment.claims.catalogue import (
    graph_families,
    lower_bounds,
    readings,
    self_tuning,
    signed,
    stronger,
    two_level,
)
from sidelight.experiment.claims.claim import Claim

_GROUPS = (
    two_level.claims,
    *(graph_families.corrupted, graph_families.unions, graph_families.bounded, graph_families.hypercubes),
    *(lower_bounds.claims, stronger.claims, signed.claims, self_tuning.claims, readings.claims),
)
CLAIMS: dict[str, Claim] = {claim.name: claim for group in _GROUPS for claim in group.listed}


def names() -> tuple[str, ...]:
    """The names of all claims."""
    return tuple(CLAIMS)


def find(wanted: Iterable[str] = ()) -> tuple[Claim, ...]:
    """The claims of these names, in the order of the catalogue; all of them if none is named.

    >>> [claim.name for claim in find(["one-block", "decomposition"])]
    ['decomposition', 'one-block']
    """
    chosen = {_checked(name) for name in wanted}
    return tuple(claim for name, claim in CLAIMS.items() if not chosen or name in chosen)


def _checked(name: str) -> str:
    key = name.strip().lower().replace("_", "-")
    if key in CLAIMS:
        return key
    raise InvalidOption(f"unknown claim {name!r}; {suggestion(key, CLAIMS, 'claims')}")
