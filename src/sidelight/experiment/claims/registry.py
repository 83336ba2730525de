"""Every claim by name."""

from __future__ import annotations

from collections.abc import Iterable

from sidelight._check import suggestion
from sidelight.errors import InvalidOption
from sidelight.experiment.claims import (
    bounded_degree,
    corrupted,
    hypercubes,
    lower_bounds,
    readings,
    stronger,
    two_level,
    unions,
)
from sidelight.experiment.claims.claim import Claim

_MODULES = (two_level, corrupted, unions, bounded_degree, hypercubes, lower_bounds, stronger, readings)
CLAIMS: dict[str, Claim] = {claim.name: claim for module in _MODULES for claim in module.CLAIMS}


def names() -> tuple[str, ...]:
    """The names of all claims, in the order of the paper, then of docs/theory."""
    return tuple(CLAIMS)


def find(wanted: Iterable[str] = ()) -> tuple[Claim, ...]:
    """The claims of these names, in the order of the registry; all of them if none is named.

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
