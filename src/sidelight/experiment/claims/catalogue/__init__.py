"""Every claim by name: the paper's, in its order, then those of docs/theory. One file for each subject."""

from __future__ import annotations

from collections.abc import Iterable

from sidelight._check import suggestion
from sidelight.errors import InvalidOption
from sidelight.experiment.claims.catalogue import (
    bounded_degree,
    corrupted,
    hypercubes,
    lower_bounds,
    readings,
    self_tuning,
    stronger,
    two_level,
    unions,
)
from sidelight.experiment.claims.claim import Claim

_FILES = (
    two_level,
    corrupted,
    unions,
    bounded_degree,
    hypercubes,
    lower_bounds,
    stronger,
    self_tuning,
    readings,
)
CLAIMS: dict[str, Claim] = {claim.name: claim for file in _FILES for claim in file.claims.listed}


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
