"""A sweep as data: policies × graphs × environments × horizons, each cell with the same seeds.

Randomness is fixed by construction. The player of seed s draws from `SeedSequence(s)`, the losses of seed s
from `SeedSequence(s, spawn_key=(1,))`; nothing else enters. Hence two policies with the same seed meet the
same losses, seeds are independent of one another, and adding, removing or reordering cells changes the
result of no other cell.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sidelight._check import checked_path
from sidelight._files import digest
from sidelight._types import Longs
from sidelight.errors import SpecError
from sidelight.experiment.simulation import logarithmic_checkpoints
from sidelight.experiment.sources import GraphSource, LossSource, PolicySource

ID_FORMAT = 2
"""Raised when cells of the same content begin to mean something else; 2: the random streams of all players."""


@dataclass(frozen=True)
class CellSpec:
    """What one cell is; `id` depends on nothing else."""

    graph: GraphSource
    policy: PolicySource
    environment: LossSource
    horizon: int
    seeds: tuple[int, ...]
    checkpoints: int | tuple[int, ...]  # how many on a logarithmic scale, or which

    @cached_property
    def id(self) -> str:
        """Sixteen hexadecimal digits: a hash of the content."""
        content = {
            "format": ID_FORMAT,
            "graph": self.graph.identity,
            "policy": self.policy.identity,
            "environment": self.environment.identity,
            "horizon": self.horizon,
            "seeds": self.seeds,
            "checkpoints": self.checkpoints,
        }
        return _hash(content)[:16]

    @property
    def rounds(self) -> Longs:
        """The checkpoints as rounds."""
        if isinstance(self.checkpoints, int):
            return logarithmic_checkpoints(self.horizon, self.checkpoints)
        return np.array(self.checkpoints, dtype=np.int64)

    @property
    def names(self) -> dict[str, Any]:
        """What a reader calls this cell, and its id."""
        return {
            "id": self.id,
            "graph": self.graph.name,
            "policy": self.policy.name,
            "environment": self.environment.name,
            "horizon": self.horizon,
        }


@dataclass(frozen=True, repr=False)
class Spec:
    """A whole sweep, valid by construction: made by `Spec.read` or `Spec.from_dict`."""

    policies: tuple[PolicySource, ...]
    graphs: tuple[GraphSource, ...]
    environments: tuple[LossSource, ...]
    horizons: tuple[int, ...]
    seeds: tuple[int, ...]
    checkpoints: int | tuple[int, ...]
    title: str = ""
    text: str = ""  # of the file it was read from

    @classmethod
    def read(cls, path: str | os.PathLike[str], limit: int = 2**20) -> Spec:
        """The spec in a TOML file of at most `limit` bytes; a `SpecError` names file, key and value."""
        from sidelight.experiment.reading import read_spec

        return read_spec(path, limit)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], folder: str | os.PathLike[str] = ".") -> Spec:
        """The spec with the keys of the TOML file; files are looked up in `folder`.

        >>> spec = Spec.from_dict({"policies": ["auto", "flat"], "graphs": ["cycle:6"],
        ...                        "environments": ["gap"], "horizons": [1000], "seeds": 5})
        >>> len(spec.cells)
        2
        """
        from sidelight.experiment.reading import checked_spec

        return checked_spec(values, checked_path("the folder of the spec", folder, SpecError), "the spec")

    @cached_property
    def cells(self) -> tuple[CellSpec, ...]:
        """Every cell: by graph, then environment, then horizon, then policy."""
        return tuple(
            CellSpec(graph, policy, environment, horizon, self.seeds, self._points(horizon))
            for graph in self.graphs
            for environment in self.environments
            for horizon in self.horizons
            for policy in self.policies
        )

    @cached_property
    def hash(self) -> str:
        """Of the set of cells and their names: order, title, comments and layout do not matter."""
        return _hash(sorted(_known(cell) for cell in self.cells))

    def __repr__(self) -> str:
        kinds = ("policies", "graphs", "environments", "horizons")
        counted = " × ".join(f"{len(getattr(self, kind))} {kind}" for kind in kinds)
        return f"Spec({counted} = {len(self.cells):,} cells of {len(self.seeds):,} seeds)"

    def _points(self, horizon: int) -> int | tuple[int, ...]:
        if isinstance(self.checkpoints, int):
            return self.checkpoints
        return (*(point for point in self.checkpoints if point < horizon), horizon)


def _known(cell: CellSpec) -> list[str]:
    """Its id and its names; a policy that is called what it is needs no other."""
    called = [] if cell.policy.name == cell.policy.identity else [cell.policy.name]
    return [cell.id, cell.graph.name, cell.environment.name, *called]


def _hash(content: object) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return digest(text)
