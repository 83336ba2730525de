"""Measuring claims one after another: stored as they finish, continued where they stopped."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from sidelight._files import digest, replacing
from sidelight._progress import Progress
from sidelight._version import __version__
from sidelight.errors import InvalidOption
from sidelight.experiment.claims import registry
from sidelight.experiment.claims.claim import FAILS, VERDICTS, Claim, Outcome
from sidelight.policy import names as policies


@dataclass(frozen=True)
class Reproduction:
    """The outcomes of some claims; `complete` unless it was interrupted."""

    outcomes: tuple[Outcome, ...]
    quick: bool
    complete: bool = True
    resumed: tuple[str, ...] = ()  # claims whose stored outcome was kept
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        """How many claims got each verdict."""
        return {verdict: sum(o.verdict == verdict for o in self.outcomes) for verdict in VERDICTS}

    @property
    def surprises(self) -> tuple[str, ...]:
        """Claims that fail though they are not known to be false."""
        false = {name for name, claim in registry.CLAIMS.items() if claim.known_false}
        return tuple(o.claim for o in self.outcomes if o.verdict == FAILS and o.claim not in false)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "quick": self.quick,
            "complete": self.complete,
            "resumed": list(self.resumed),
            "counts": self.counts,
            "surprises": list(self.surprises),
            "provenance": self.provenance,
            "outcomes": [outcome.to_dict() for outcome in self.outcomes],
        }


def reproduce(
    names: Iterable[str] = (),
    *,
    quick: bool = False,
    folder: str | PathLike[str] | None = None,
    fresh: bool = False,
    progress: bool | None = None,
) -> Reproduction:
    """Measure the claims of these names, or all of them.

    Args:
        names: claims; see `sidelight.experiment.claims.names()`.
        quick: sizes for minutes instead of an hour.
        folder: where each outcome is stored as JSON the moment it is there. Outcomes already stored for the
            same claim, sizes, predictions and version are kept.
        fresh: measure again whatever is stored.
        progress: a bar on standard error; by default at a terminal.

    Interrupting (ctrl-C) keeps the finished claims; `Reproduction.complete` is False then.

    >>> reproduce(["clique-domination"], quick=True).outcomes[0].verdict
    'holds'
    """
    claims = registry.find(names)
    store = None if folder is None else _checked_folder(folder)
    outcomes: list[Outcome] = []
    resumed: list[str] = []
    complete = True
    with Progress("measuring", len(claims), progress) as bar:
        try:
            for claim in claims:
                bar.update(len(outcomes), f"{len(outcomes)}/{len(claims)}", f"{claim.name:<26}")
                found = None if store is None or fresh else _stored(store, claim, quick)
                if found is not None:
                    resumed.append(claim.name)
                else:
                    found = claim.run(quick)
                    if store is not None:
                        _keep(store, claim, found)
                outcomes.append(found)
        except KeyboardInterrupt:
            complete = False
    return Reproduction(tuple(outcomes), quick, complete, tuple(resumed), provenance())


def provenance() -> dict[str, Any]:
    """What the numbers depend on besides the claims."""
    return {
        "sidelight": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": platform.platform(),
    }


# -- storage -----------------------------------------------------------------------------------------------


def fingerprint(claim: Claim, quick: bool) -> str:
    """Changes with everything that may change the outcome: version, sizes, predictions, rivals that exist."""
    sizes = claim.sizes(quick)
    known = [name for name in sizes.get("rivals", ()) if name in policies.names()]
    meant: list[Any] = [__version__, claim.name, claim.statement, claim.family, sizes, known]
    meant.append([asdict(prediction) for prediction in claim.predictions])
    return digest(json.dumps(meant, sort_keys=True))[:16]


def _checked_folder(folder: str | PathLike[str]) -> Path:
    store = Path(folder) / "outcomes"
    try:
        store.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidOption(f"cannot store outcomes in {str(folder)!r}: {error.strerror or error}") from error
    return store


def _path(store: Path, name: str, quick: bool) -> Path:
    return store / f"{name}.{'quick' if quick else 'full'}.json"


def _keep(store: Path, claim: Claim, outcome: Outcome) -> None:
    saved = {"fingerprint": fingerprint(claim, outcome.quick), "outcome": outcome.to_dict()}
    try:
        with replacing(_path(store, claim.name, outcome.quick)) as file:
            file.write(json.dumps(_plain(saved), ensure_ascii=False, indent=1, allow_nan=False).encode())
    except OSError as error:
        raise InvalidOption(
            f"cannot store the outcome of {claim.name!r} in {str(store)!r}: {error.strerror or error}"
        ) from error


def _stored(store: Path, claim: Claim, quick: bool) -> Outcome | None:
    """The stored outcome if it is of this very experiment; a damaged or outdated file is measured again."""
    try:
        saved = json.loads(_path(store, claim.name, quick).read_text(encoding="utf-8"))
        if saved["fingerprint"] != fingerprint(claim, quick):
            return None
        return Outcome.from_dict(saved["outcome"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _plain(value: Any) -> Any:
    """`value` as JSON has it: NaN and infinities, which it has not, become null."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
