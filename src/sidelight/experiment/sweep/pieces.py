"""What an interrupt leaves of unfinished cells: their finished seeds, and where the others stopped.

    parts/<id>.npz          the seeds of a cell that have been played to the end, until the cell itself is finished
    parts/<id>-<seed>.npz   a seed in the middle of its game, until that is finished: its record and its policy

A sweep that was stopped ends with the same bytes as one that was not, and going on from a saved policy would move its
probabilities by rounding. So the policy is kept as the memory that it is (`policy.snapshot`), which is good for the
same versions on the same kind of machine, and the file says for which. What is damaged, or of another cell or
version, is played again, and where nothing can be written nothing is kept.
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sidelight._archive import ArchiveError, Arrays, read_arrays
from sidelight._files import digest, replacing
from sidelight.engine._numba.cache import SOURCES
from sidelight.experiment.kept import Kept, PlayedSeed, StoppedSeed
from sidelight.experiment.provenance import here

FOLDER = "parts"
FLUSH_SECONDS = 5.0
"""How often finished seeds reach the disk while a sweep goes on; an interrupt writes all of them."""
SEND_SECONDS = 1.0
"""How often a worker tells of finished seeds: what a killed one may lose."""
MOST_BYTES = 2**29
"""A game whose policy has more than these in memory begins anew: ctrl-C shall not take minutes."""

Seeds = Mapping[int, PlayedSeed]
Games = Mapping[int, StoppedSeed]

_log = logging.getLogger("sidelight")


class Pieces:
    """What is known of all unfinished cells of a folder, by cell; several threads may add to it."""

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

    def games(self, id: str) -> Games:
        """The games of a cell that can go on from where they stopped."""
        done = self.of(id)
        found = {seed: _read_game(file, id, seed) for seed, file in self._game_files(id) if seed not in done}
        return {seed: game for seed, game in found.items() if game is not None}

    def count_games(self, id: str) -> int:
        """How many games there are of a cell, without a look into them."""
        done = self.of(id)
        return sum(seed not in done for seed, _ in self._game_files(id))

    def kept(self, id: str, batch: Batch) -> Kept:
        """All that is known of a cell; a simulation tells `batch` of finished seeds, and this of stopped games."""
        return Kept(self.of(id), batch, self.games(id), lambda game: self.add_game(id, game))

    def add(self, id: str, seeds: Iterable[PlayedSeed]) -> None:
        """Take note of seeds that have been played."""
        with self._lock:
            self._found.setdefault(id, {}).update({played.seed: played for played in seeds})
            self._fresh.add(id)
        if time.monotonic() - self._flushed >= FLUSH_SECONDS:
            self.flush()

    def add_game(self, id: str, game: StoppedSeed) -> None:
        """Take note of a game that was stopped."""
        if sum(array.nbytes for array in game.state.values()) > MOST_BYTES:
            return
        with self._lock, contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            _write_game(self.folder / f"{id}-{game.played.seed}.npz", id, game)

    def drop(self, id: str) -> None:
        """The cell is finished: its own file has it all."""
        with self._lock:
            self._found.pop(id, None)
            self._fresh.discard(id)
            remove(self.folder, id)

    def flush(self) -> None:
        """Write what is not written yet."""
        with self._lock:
            self._flushed = time.monotonic()
            with contextlib.suppress(OSError):  # a full disk is noticed where results are written
                for id in sorted(self._fresh):
                    self.folder.mkdir(parents=True, exist_ok=True)
                    _write(self.folder / f"{id}.npz", self._found[id])
                    for seed, file in self._game_files(id):
                        if seed in self._found[id]:
                            file.unlink(missing_ok=True)
                self._fresh.clear()

    def close(self) -> None:
        """Write what is not written yet, and leave no empty folder."""
        self.flush()
        with contextlib.suppress(OSError):  # it is not empty, or was never made
            self.folder.rmdir()

    def _game_files(self, id: str) -> list[tuple[int, Path]]:
        files = sorted(self.folder.glob(f"{id}-*.npz"))
        return [(int(seed), file) for file in files if (seed := file.stem.removeprefix(f"{id}-")).isdecimal()]


def remove(folder: Path, id: str) -> None:
    """Delete everything that is kept of a cell."""
    for file in (folder / f"{id}.npz", *folder.glob(f"{id}-*.npz")):
        file.unlink(missing_ok=True)


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
    _write_sealed(file, _arrays(seeds))


def _read(file: Path) -> dict[int, PlayedSeed]:
    """What the file holds; nothing if it is damaged or not there."""
    try:
        arrays = _read_sealed(file)
        if set(arrays) != set(PlayedSeed._fields):
            return {}
        rows = zip(*(arrays[name] for name in PlayedSeed._fields), strict=True)
        played = [_played(*row) for row in rows]
    except (OSError, ArchiveError, KeyError, ValueError):
        return {}
    return {each.seed: each for each in played}


def _played(*row: Any) -> PlayedSeed:
    return PlayedSeed(*row)._replace(seed=int(row[0]), seconds=float(row[-1]))


# -- games ------------------------------------------------------------------------------------------------


def _made_by(id: str) -> str:
    """What a game is good for: the cell, the versions, and the kernels to the letter."""
    return json.dumps({"cell": id, **here(), "kernels": SOURCES}, sort_keys=True)


def _write_game(file: Path, id: str, game: StoppedSeed) -> None:
    arrays = {name: np.asarray(value) for name, value in game.played._asdict().items()}
    arrays |= {"round": np.asarray(game.round), "total": np.asarray(game.total)}
    arrays |= {f"state.{name}": array for name, array in game.state.items()}
    _write_sealed(file, arrays | {"made_by": np.asarray(_made_by(id))})


def _read_game(file: Path, id: str, seed: int) -> StoppedSeed | None:
    """The game in the file; None, and a word about it, if it is damaged or not of this cell, seed and version."""
    try:
        arrays = _read_sealed(file)
        made_by, round, total = (arrays.pop(name).item() for name in ("made_by", "round", "total"))
        played = _played(*(arrays.pop(name) for name in PlayedSeed._fields))
        if played.seed != seed or json.loads(made_by)["cell"] != id:
            raise ValueError("it is of another cell or seed")
        if made_by != _made_by(id):
            raise ValueError("another version, or another kind of machine, has written it")
    except (OSError, ArchiveError, KeyError, ValueError) as error:
        why = "something is missing in it" if isinstance(error, KeyError) else error
        _log.warning(f"{file} is not used, and the game of seed {seed} begins anew: {why}")
        return None
    return StoppedSeed(
        played, round, total, {name.removeprefix("state."): each for name, each in arrays.items()}
    )


# -- files that show whether they are whole ---------------------------------------------------------------


def _write_sealed(file: Path, arrays: Arrays) -> None:
    sealed = arrays | {"digest": np.frombuffer(_digest(arrays).encode(), dtype=np.uint8)}
    with replacing(file, pack=False) as stream:
        np.savez(stream, **sealed)  # type: ignore[arg-type]


def _read_sealed(file: Path) -> Arrays:
    """The arrays of a file; an error if they are not what was written."""
    arrays = read_arrays(file)
    if arrays.pop("digest").tobytes().decode() != _digest(arrays):
        raise ValueError("its contents do not match their checksum")
    return arrays


def _digest(arrays: Arrays) -> str:
    shapes = json.dumps({name: [array.dtype.str, array.shape] for name, array in sorted(arrays.items())})
    return digest(shapes, *(arrays[name] for name in sorted(arrays)))
