"""Logs as Open Bandit Pipeline (obp) has them: a dict, or a table, of one row per played action.

    action, reward, pscore [, position, context, …]          obp's own names: pscore is the chance of the action
    item_id, click, propensity_score [, position, …]         the columns of the Open Bandit Dataset

Its estimators divide by the number of *rows*. A log with side observations has several rows a round, each with
pscore = P, the probability that the arm was to be seen, so what obp calls IPW must be multiplied by rows/rounds,
which `to_obp` returns as `rows_per_round`. The self-normalised estimate needs no factor. Intervals of obp resample
rows, and rows of one round are not independent: take them from `sl.evaluate`, which resamples rounds.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sidelight.errors import ColumnsIgnored, InvalidOption, LogError, listing
from sidelight.log.log import Log
from sidelight.log.table import columns_of, log_of

ALIASES = {
    "item_id": "action",
    "item": "action",
    "click": "reward",
    "propensity_score": "pscore",
    "propensity": "pscore",
}
SIZES = ("n_rounds", "n_actions", "rows_per_round")
NEEDED = ("action", "reward", "pscore")


def speaks_obp(names: Sequence[str]) -> bool:
    """Are these the columns of obp rather than ours?"""
    return {ALIASES.get(name, name) for name in names} >= set(NEEDED)


def from_obp(
    feedback: Mapping[str, Any] | Any,
    *,
    position: int | None = None,
    n_arms: int | None = None,
    rewards: Sequence[float] | None = None,
    where: str = "",
) -> Log:
    """One decision per row; `position` keeps one place of a list of recommendations, else all are averaged over.

    Contexts and everything else that obp keeps are ignored, with the warning `ColumnsIgnored`.
    """
    names = list(feedback) if isinstance(feedback, Mapping) else list(columns_of(feedback))
    if not speaks_obp(names):
        raise LogError(f"bandit feedback needs {listing(NEEDED)}, got {listing(names)}")
    if isinstance(feedback, Mapping) and feedback.get("rows_per_round", 1) != 1:
        raise LogError(
            "this is the export of a log with several rows a round, which it no longer tells apart: use the log"
        )
    read = (*NEEDED, "position")
    columns_read = {
        ALIASES.get(name, name): feedback[name]
        for name in names
        if ALIASES.get(name, name) in read and feedback[name] is not None
    }
    columns = columns_of(columns_read)
    ignored = [name for name in names if ALIASES.get(name, name) not in (*read, *SIZES) and name != ""]
    if ignored:
        warnings.warn(
            f"{where + ': ' if where else ''}not read: {listing(ignored)}; policies are evaluated as they play on "
            "average",
            ColumnsIgnored,
            stacklevel=4,
        )
    places = columns.pop("position", None)
    if position is not None:
        chosen = None if places is None else places == position
        if chosen is None or not chosen.any():
            raise InvalidOption(f"no row of the bandit feedback has position {position!r}")
        columns = {name: column[chosen] for name, column in columns.items()}
    stated = feedback.get("n_actions") if isinstance(feedback, Mapping) else None
    table = {"arm": columns["action"], "reward": columns["reward"], "probability": columns["pscore"]}
    many = n_arms if n_arms is not None or stated is None else int(stated)
    return log_of(table, where, n_arms=many, rewards=(0.0, 1.0) if rewards is None else rewards)


def to_obp(log: Log) -> dict[str, Any]:
    """Bandit feedback with one row per revealed arm and pscore = P; losses l become rewards high − l.

    >>> log = Log.from_table({"round": [0, 0, 1], "arm": [0, 0, 1], "revealed": [0, 1, 1],
    ...                       "loss": [0.2, 0.4, 0.6], "seen": [0.5, 0.8, 0.8]})
    >>> feedback = log.to_obp()
    >>> feedback["rows_per_round"], feedback["action"]
    (1.5, array([0, 1, 1]))
    """
    unit = log.unit
    reward = log.value.copy() if unit.kind == "rewards" else unit.high - log.value
    return {
        "n_rounds": log.n_rows,
        "n_actions": log.n_arms,
        "action": log.revealed.copy(),
        "position": np.zeros(log.n_rows, dtype=np.int64),
        "reward": reward,
        "pscore": log.seen.copy(),
        "rows_per_round": log.n_rows / log.n_rounds,
    }
