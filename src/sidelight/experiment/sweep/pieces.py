"""Finished seeds of unfinished cells: what an interrupt leaves of them.

    parts/<id>.npz     the seeds of a cell that have been played to the end, until the cell itself is finished

A seed that is in the middle of its game is not kept: going on from a saved policy moves its probabilities by
rounding, and a sweep that was stopped shall end with the same bytes as one that was not. What is damaged is played
again, and where nothing can be written nothing is kept.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np

from sidelight._archive import ArchiveError, Arrays, read_arrays
from sidelight._files import digest, replacing
from sidelight.experiment.simulation import PlayedSeed

FOLDER = "parts"
FLUSH_SECONDS = 5.0
"""How often finished seeds reach the disk while a sweep goes on; an interrupt writes all of them."""
SEND_SECONDS = 1.0
"""How often a worker tells of finished seeds: what a killed one may lose."""

Seeds = Mapping[int, PlayedSeed]


class Pieces:
    """The finished seeds of all unfinished cells of a folder, by cell; several threads may add to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / FOLDER
        self._found: dict[str, dict[int, PlayedSeed]] = {}
        self._fresh: set[str] = set()
        self._lock = threading.Lock()
        self._flushed = time.monotonic()

    def of(self, id: str) -> Seeds:
        """The seeds of a cell that need not be played."""
        with self._lock:
            if id not in self._found:
                self._found[id] = _read(self.folder / f"{id}.npz")
            return dict(self._found[id])

    def add(self, id: str, seeds: Iterable[PlayedSeed]) -> None:
        """Take note of seeds that have been played."""
        with self._lock:
            self._found.setdefault(id, {}).update({played.seed: played for played in seeds})
            self._fresh.add(id)
        if time.monotonic() - self._flushed >= FLUSH_SECONDS:
            self.flush()

    def drop(self, id: str) -> None:
        """The cell is finished: its own file has it all."""
        with self._lock:
            self._found.pop(id, None)
            self._fresh.discard(id)
            (self.folder / f"{id}.npz").unlink(missing_ok=True)

    def flush(self) -> None:
        """Write what is not written yet."""
        with self._lock:
            self._flushed = time.monotonic()
            with contextlib.suppress(OSError):  # a full disk is noticed where results are written
                for id in sorted(self._fresh):
                    self.folder.mkdir(parents=True, exist_ok=True)
                    _write(self.folder / f"{id}.npz", self._found[id])
                self._fresh.clear()

    def close(self) -> None:
        """Write what is not written yet, and leave no empty folder."""
        self.flush()
        with contextlib.suppress(OSError):  # it is not empty, or was never made
            self.folder.rmdir()


class Batch:
    """Finished seeds on their way, handed on together now and then."""

    def __init__(self, send: Callable[[list[PlayedSeed]], object], seconds: float | None = None) -> None:
        self._send, self._seconds = send, SEND_SECONDS if seconds is None else seconds
        self._waiting: list[PlayedSeed] = []
        self._sent = time.monotonic()

    def __call__(self, played: PlayedSeed) -> None:
        """One more."""
        self._waiting.append(played)
        if time.monotonic() - self._sent >= self._seconds:
            self.hand_on()

    def hand_on(self) -> None:
        """All that wait."""
        waiting, self._waiting, self._sent = self._waiting, [], time.monotonic()
        if waiting:
            self._send(waiting)


def _arrays(seeds: Seeds) -> Arrays:
    ordered = [seeds[seed] for seed in sorted(seeds)]
    return {
        name: np.stack([np.asarray(getattr(each, name)) for each in ordered]) for name in PlayedSeed._fields
    }


def _write(file: Path, seeds: Seeds) -> None:
    arrays = _arrays(seeds)
    arrays["digest"] = np.frombuffer(_digest(arrays).encode(), dtype=np.uint8)
    with replacing(file, pack=False) as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type]


def _read(file: Path) -> dict[int, PlayedSeed]:
    """What the file holds; nothing if it is damaged or not there."""
    try:
        arrays = read_arrays(file)
        said = arrays.pop("digest").tobytes().decode()
        if set(arrays) != set(PlayedSeed._fields) or said != _digest(arrays):
            return {}
        rows = zip(*(arrays[name] for name in PlayedSeed._fields), strict=True)
        played = [PlayedSeed(*row)._replace(seed=int(row[0]), seconds=float(row[-1])) for row in rows]
    except (OSError, ArchiveError, KeyError, ValueError):
        return {}
    return {each.seed: each for each in played}


def _digest(arrays: Arrays) -> str:
    shapes = json.dumps({name: [array.dtype.str, array.shape] for name, array in sorted(arrays.items())})
    return digest(shapes, *(arrays[name] for name in sorted(arrays)))
