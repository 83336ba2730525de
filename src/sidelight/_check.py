"""Arguments as they enter: checked once, with an error that shows the value and what is allowed."""

from __future__ import annotations

import contextlib
import difflib
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from math import inf, isfinite
from numbers import Integral, Real
from pathlib import Path
from typing import TypeGuard

from sidelight.errors import InvalidOption, SidelightError

MOST_ROUNDS = 2**63 - 1
"""Longest horizon and largest seed of a run: both are kept in 64 bits."""

MOST_SEEDS = 1_000_000
"""Of one run, whose results are in memory."""

MAX_ARMS = 2**31 - 1
"""Arms are numbered in 32 bits."""


def is_whole(value: object) -> TypeGuard[int]:
    """Whether `value` is an integer, of Python or NumPy; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def checked_count(name: str, value: object, least: int = 1, most: int = MAX_ARMS) -> int:
    """`value` as an int in least..most."""
    if not is_whole(value):
        raise InvalidOption(f"{name} must be a whole number, got {name}={value!r}")
    if not least <= value <= most:
        limit = "2⁶³−1" if most == MOST_ROUNDS else most
        raise InvalidOption(f"{name} must be in {least}..{limit}, got {name}={value}")
    return int(value)


def checked_jobs(jobs: object) -> int:
    """How many to work with at once; by default all cores that this process may use."""
    if jobs is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return checked_count("jobs", jobs)


def checked_horizon(horizon: object, name: str = "horizon") -> int:
    """`horizon` as a number of rounds; 1e6 is one as well. Messages call it `name`."""
    if isinstance(horizon, Real) and not isinstance(horizon, Integral) and float(horizon).is_integer():
        horizon = int(float(horizon))
    if not is_whole(horizon):
        raise InvalidOption(f"{name} must be a whole number of rounds, got {horizon!r}")
    if not 1 <= horizon <= MOST_ROUNDS:
        raise InvalidOption(f"{name} must be between 1 and 2⁶³−1 rounds, got {horizon!r}")
    return int(horizon)


def checked_seed(seed: object) -> int:
    """A whole number ≥ 0."""
    if not is_whole(seed) or seed < 0:
        raise InvalidOption(f"seed must be a whole number ≥ 0, got seed={seed!r}")
    return int(seed)


def checked_seeds(seeds: object) -> list[int]:
    """The seeds of several runs, each of which is stored in 64 bits: 0, 1, … where only their number is given."""
    if is_whole(seeds):
        if seeds > MOST_SEEDS:
            raise InvalidOption(f"at most {MOST_SEEDS:,} seeds are played at once, got {seeds!r}")
        return list(range(checked_count("seeds", seeds)))
    if not isinstance(seeds, Iterable) or isinstance(seeds, str):
        raise InvalidOption(f"seeds must be their number, or a sequence such as range(20), got {seeds!r}")
    chosen = list(islice(seeds, MOST_SEEDS + 1))
    if len(chosen) > MOST_SEEDS:
        raise InvalidOption(f"at most {MOST_SEEDS:,} seeds are played at once, got more")
    for seed in chosen:
        if not is_whole(seed) or not 0 <= seed <= MOST_ROUNDS:
            raise InvalidOption(f"seeds must be whole numbers from 0 to 2⁶³−1, got {seed!r}")
    if not chosen:
        raise InvalidOption("seeds must not be empty")
    if len(set(chosen)) < len(chosen):
        twice = next(seed for seed in chosen if chosen.count(seed) > 1)
        raise InvalidOption(f"seed {twice} is given twice, and would be the same run twice: leave one out")
    return [int(seed) for seed in chosen]


def checked_number(name: str, value: object, least: float = -inf, *, above: float = -inf) -> float:
    """A finite number of at least `least`, greater than `above`."""
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else inf
    except OverflowError:  # an integer of hundreds of digits
        number = inf
    if not isfinite(number) or number < least or number <= above:
        limit = f" of at least {least:g}" if least > -inf else f" above {above:g}" if above > -inf else ""
        raise InvalidOption(f"{name} must be a finite number{limit}, got {name}={value!r}")
    return number


def number_in(text: object) -> float | None:
    """The number that a text is, or that is one already; None if it is none."""
    try:
        return None if isinstance(text, bool) else float(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def checked_path(what: str, path: object, error: type[SidelightError] = InvalidOption) -> Path:
    """A path that the operating system can be asked about; `what` it is meant to name is for the message."""
    if not isinstance(path, str | os.PathLike):
        raise error(f"{what} is given by its path, got {path!r}")
    try:
        file = Path(path)
        usable = b"\0" not in os.fsencode(file)
    except (TypeError, UnicodeEncodeError):  # made of bytes, or half of a surrogate pair
        usable = False
    if not usable:
        raise error(f"the path of {what} contains a character that no file name has, got {os.fspath(path)!r}")
    return file


@contextlib.contextmanager
def written(folder: Path) -> Iterator[None]:
    """Errors of the file system while something is written into `folder`, as one line about that argument."""
    try:
        yield
    except OSError as error:
        raise InvalidOption(f"cannot write to the folder {folder}: {reason(error)}") from None


def reason(error: OSError) -> str:
    """What the operating system says is wrong."""
    return os.strerror(error.errno).lower() if error.errno else str(error)


def suggestion(name: str, known: Iterable[str], kind: str, shown: Iterable[str] = ()) -> str:
    """What to write instead of an unknown name: "did you mean 'cycle'? Known families: cycle, wheel"."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    return f"{f'did you mean {close[0]!r}? ' if close else ''}Known {kind}: {', '.join(shown or names)}"
