"""Measuring claims one after another: stored as they finish, continued where they stopped."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from sidelight import _json
from sidelight._check import checked_path, written
from sidelight._files import digest, replacing
from sidelight._progress import Progress
from sidelight._version import __version__
from sidelight.experiment.cells import here
from sidelight.experiment.claims import catalogue
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
        false = {name for name, claim in catalogue.CLAIMS.items() if claim.known_false}
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
    claims = catalogue.find(names)
    store = None if folder is None else _Store(checked_path("the folder of the claims", folder) / "outcomes")
    outcomes: list[Outcome] = []
    resumed: list[str] = []
    complete = False
    with Progress("measuring", len(claims), progress) as bar, contextlib.suppress(KeyboardInterrupt):
        for claim in claims:
            bar.update(len(outcomes), f"{len(outcomes)}/{len(claims)}", f"{claim.name:<26}")
            outcome = None if store is None or fresh else store.read(claim, quick)
            if outcome is not None:
                resumed.append(claim.name)
            else:
                outcome = claim.run(quick)
                if store is not None:
                    store.write(claim, outcome)
            outcomes.append(outcome)
        complete = True
    return Reproduction(tuple(outcomes), quick, complete, tuple(resumed), here())


class _Store:
    """Outcomes in a folder, one file each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with written(folder):
            folder.mkdir(parents=True, exist_ok=True)

    def write(self, claim: Claim, outcome: Outcome) -> None:
        saved = {"fingerprint": fingerprint(claim, outcome.quick), "outcome": outcome.to_dict()}
        with written(self.folder), replacing(self._file(claim, outcome.quick)) as file:
            file.write(_json.text(saved).encode())

    def read(self, claim: Claim, quick: bool) -> Outcome | None:
        """The stored outcome if it is of this very experiment; a damaged or outdated file is measured again."""
        try:
            saved = json.loads(self._file(claim, quick).read_text(encoding="utf-8"))
            same = saved["fingerprint"] == fingerprint(claim, quick)
            return Outcome.from_dict(saved["outcome"]) if same else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def _file(self, claim: Claim, quick: bool) -> Path:
        return self.folder / f"{claim.name}.{'quick' if quick else 'full'}.json"


def fingerprint(claim: Claim, quick: bool) -> str:
    """Changes with everything that may change the outcome: version, sizes, predictions, rivals that exist."""
    sizes = claim.sizes(quick)
    existing = [name for name in sizes.get("rivals", ()) if name in policies.names()]
    predictions = [asdict(prediction) for prediction in claim.predictions]
    content = [__version__, claim.name, claim.statement, claim.family, sizes, existing, predictions]
    return digest(json.dumps(content, sort_keys=True))[:16]
