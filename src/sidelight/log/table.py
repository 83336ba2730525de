"""Tables become logs here: every column is read and checked once, and an error names row, column and value."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sidelight._check import MAX_ARMS, checked_count, number_in
from sidelight._types import Bools, Floats, Longs, frozen
from sidelight.errors import ColumnsIgnored, IncompleteDecision, InvalidOption, LogError, listing
from sidelight.log.log import COLUMNS, Log
from sidelight.log.unit import Unit

if TYPE_CHECKING:
    import pyarrow

Column = npt.NDArray[Any]
NOTHING = -1
"""Stands for the arm of a row that says that nothing was revealed."""


def columns_of(table: Mapping[str, Any] | Any) -> dict[str, Column]:
    """The columns of a mapping, an Arrow table or a data frame as arrays; missing values are None or NaN."""
    if isinstance(table, Mapping):
        names, get = list(table), table.__getitem__
    elif hasattr(table, "column_names"):  # Arrow
        names, get = table.column_names, lambda name: table[name].to_numpy()
    elif hasattr(table, "columns"):  # pandas, polars
        names, get = list(table.columns), table.__getitem__
    else:
        raise InvalidOption(
            f"a log is made from a mapping of columns, an Arrow table or a data frame, got {type(table).__name__}"
        )
    columns = {str(name): np.asarray(get(name)) for name in names}
    lengths = {name: column.shape for name, column in columns.items()}
    if len(set(lengths.values())) > 1 or any(len(shape) != 1 for shape in lengths.values()):
        raise LogError(f"the columns of a log must be equally long rows of values, got shapes {lengths}")
    return columns


def log_of(columns: Mapping[str, Column], where: str = "", **stated: Any) -> Log:
    """The log of a table, which `where` names in errors; `stated` are the options of `Log.from_table`."""
    return _Reader(columns, where).log(**stated)


class _Reader:
    """Reads one table: what `log` needs, in the order in which mistakes are best reported."""

    def __init__(self, columns: Mapping[str, Column], where: str) -> None:
        self.columns, self.where = columns, f"{where}: " if where else ""
        self.rows = len(next(iter(columns.values()))) if columns else 0
        self.all_rows = np.ones(self.rows, dtype=bool)

    def log(self, n_arms: int | None = None, labels: Sequence[str] | None = None, **ranges: Any) -> Log:
        unit = self._unit(**ranges)
        self._check_names(unit)
        arm, revealed, names = self._arms(n_arms, labels)
        shown = revealed != NOTHING
        value = self._between(unit.column, unit.low, unit.high, shown)
        probability = self._between("probability", 0.0, 1.0, above=True)
        seen = self._seen(arm, revealed, probability, shown)
        round_, decision, appearance, ids = self._decisions()
        self._agree("round", round_, appearance[decision])
        self._agree("arm", arm, appearance[decision])
        self._agree("probability", np.nan_to_num(probability, nan=-1.0), appearance[decision])
        # By round, then by appearance; rows of a decision by arm.
        self._check_rows(np.lexsort((revealed, decision)), decision, revealed)
        lost = self._lost(decision, shown, appearance)
        sequence = np.lexsort((appearance, round_[appearance]))
        sequence = sequence[sequence != lost]
        place = np.full(len(appearance), NOTHING)
        place[sequence] = np.arange(len(sequence))
        order = np.lexsort((revealed, place[decision]))
        order = order[shown[order] & (decision[order] != lost)]
        counts = np.bincount(place[decision[order]], minlength=len(sequence))
        first = appearance[sequence]
        ids = ids[first]
        ids.flags.writeable = False
        version = self.columns.get("version")
        return Log(
            decision_id=ids,
            round=frozen(round_[first], np.int64),
            arm=frozen(arm[first], np.int64),
            probability=frozen(probability[first], np.float64),
            start=frozen(np.concatenate([[0], np.cumsum(counts)]), np.int64),
            revealed=frozen(revealed[order], np.int64),
            value=frozen(value[order], np.float64),
            seen=frozen(seen[order], np.float64),
            n_arms=len(names) if names else n_arms or int(max(arm.max(), revealed.max())) + 1,
            counted=n_arms is None and labels is None,
            unit=unit,
            labels=names,
            version=None if version is None else tuple(map(_text, version[first])),
            told_at=frozen(self._times()[first], np.float64) if "told_at" in self.columns else None,
        )

    # -- columns ----------------------------------------------------------------------------------------

    def _unit(self, losses: Sequence[float] | None = None, rewards: Sequence[float] | None = None) -> Unit:
        given = {name for name in ("loss", "reward") if name in self.columns}
        if len(given) != 1:
            names = listing(list(self.columns))
            raise LogError(f"{self.where}a log has one column of values, loss or reward, got {names}")
        unit = Unit.of(losses, rewards)
        if losses is None and rewards is None:
            return Unit("rewards" if "reward" in given else "losses")
        if unit.column not in given:
            raise LogError(f"{self.where}{unit.kind} were stated, but the column is called {given.pop()!r}")
        return unit

    def _check_names(self, unit: Unit) -> None:
        if "arm" not in self.columns:
            raise LogError(f"{self.where}the column 'arm' is missing, got {listing(list(self.columns))}")
        if "revealed" in self.columns and not {"decision_id", "round"} & set(self.columns):
            raise LogError(
                f"{self.where}rows about revealed arms need 'decision_id' or 'round' to say which belong together"
            )
        unknown = [name for name in self.columns if name not in (*COLUMNS, unit.column)]
        if unknown:
            message = f"{self.where}the columns {listing(unknown)} are not read"
            warnings.warn(message, ColumnsIgnored, stacklevel=5)
        if self.rows == 0:
            raise LogError(f"{self.where}the log has no rows: there is nothing to look back on")

    def _entry(self, name: str, row: int) -> Any:
        """What the table has there, as Python shows it."""
        return self.columns[name][row : row + 1].tolist()[0]

    def _refuse(self, wrong: Bools, name: str, wanted: str) -> None:
        """An error about the first row that is wrong, if one is."""
        if wrong.any():
            row = int(np.argmax(wrong))
            got = self._entry(name, row)
            raise LogError(f"{self.where}row {row}, column {name!r} must be {wanted}, got {got!r}")

    def _numbers(self, name: str, needed: Bools | None = None) -> Floats:
        """A column as numbers, NaN where it is missing, which it must not be where it is `needed`."""
        column = self.columns.get(name, np.full(self.rows, np.nan))
        if column.dtype.kind in "iuf":
            values = column.astype(np.float64)
        else:
            entries = [_number(entry) for entry in column.tolist()]
            self._refuse(np.array([entry is None for entry in entries]), name, "a number")
            values = np.array(entries, dtype=np.float64)
        if needed is not None:
            missing = "a number; leave the row out if it was not revealed"
            self._refuse(needed & np.isnan(values), name, missing)
        return values

    def _between(
        self, name: str, low: float, high: float, needed: Bools | None = None, above: bool = False
    ) -> Floats:
        """Numbers in [low, high], or above `low`; missing ones, where they are not needed, are NaN."""
        values = self._numbers(name, needed)
        slack = 1e-9 * max(high - low, abs(low), abs(high))  # what rounding adds to a sum of probabilities
        inside = ((values > low) if above else (values >= low - slack)) & (values <= high + slack)
        checked = ~np.isnan(values) if needed is None else needed
        self._refuse(checked & ~inside, name, f"in {'(' if above else '['}{low:g}, {high:g}]")
        return np.clip(values, low, high)

    def _seen(self, arm: Longs, revealed: Longs, probability: Floats, shown: Bools) -> Floats:
        if "seen" in self.columns:
            return self._between("seen", 0.0, 1.0, shown, above=True)
        if "probability" not in self.columns:
            raise LogError(
                f"{self.where}the column 'seen' is missing: with which probability was each revealed arm to be seen? "
                "(where an arm reveals nothing but itself, 'probability' says it)"
            )
        wrong = shown & ((arm != revealed) | np.isnan(probability))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise LogError(
                f"{self.where}row {row} reveals arm {revealed[row]} by playing arm {arm[row]}: it needs the column "
                "'seen', the probability that this arm was to be seen"
            )
        return probability

    def _decisions(self) -> tuple[Longs, Longs, Longs, Column]:
        """For every row its round and its decision, the first row of every decision, and the ids of the rows."""
        round_ = np.arange(self.rows)
        ids: Column | None = None
        if "decision_id" in self.columns:
            ids = _keys(self.columns["decision_id"])
            if ids.dtype.kind == "U":
                self._refuse(ids == "", "decision_id", "there")
            _, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
            round_ = np.argsort(np.argsort(first))[inverse]  # in the order of appearance
        if "round" in self.columns:
            values = self._numbers("round", self.all_rows)
            self._refuse(
                ~((values == np.floor(values)) & (np.abs(values) < 2.0**53)), "round", "a whole number"
            )
            round_ = values.astype(np.int64)
        ids = round_ if ids is None else ids
        _, first, decision = np.unique(ids, return_index=True, return_inverse=True)
        if "version" in self.columns:  # each version of a policy numbers its decisions for itself
            versions = [_text(entry) for entry in self.columns["version"].tolist()]
            version = np.unique(versions, return_inverse=True)[1]
            pair = decision * self.rows + version
            _, first, decision = np.unique(pair, return_index=True, return_inverse=True)
        return round_, decision.astype(np.int64), first, ids

    def _times(self) -> Floats:
        column = self.columns["told_at"]
        if column.dtype.kind == "M":
            times: Floats = column.astype("datetime64[us]").astype(np.int64) / 1e6
            return np.where(np.isnat(column), np.nan, times)
        return self._numbers("told_at")

    # -- arms -------------------------------------------------------------------------------------------

    def _arms(
        self, n_arms: int | None, labels: Sequence[str] | None
    ) -> tuple[Longs, Longs, tuple[str, ...] | None]:
        """The played and the revealed arm of every row, and the labels if arms have some."""
        present = [name for name in ("arm", "revealed") if name in self.columns]
        if labels is None and not any(_are_names(self.columns[name]) for name in present):
            numbers = {name: self._arm_numbers(name, n_arms) for name in present}
            return numbers["arm"], numbers.get("revealed", numbers["arm"]), None
        if labels is None:
            words = {_text(entry) for name in present for entry in self.columns[name].tolist()}
            labels = sorted(words - {""})
        names = tuple(str(label) for label in labels)
        index = {label: arm for arm, label in enumerate(names)}
        if len(index) < len(names):
            raise InvalidOption(f"labels must differ from each other, got {listing(names)}")
        if n_arms is not None and n_arms != len(names):
            raise InvalidOption(f"n_arms={n_arms} contradicts {len(names)} labels")
        arms = {}
        for name in present:
            arm_numbers = [_labelled(entry, index) for entry in self.columns[name].tolist()]
            unknown = np.array([arm is None for arm in arm_numbers])
            self._refuse(unknown, name, f"one of the labels {listing(names)}")
            arms[name] = np.array(arm_numbers, dtype=np.int64)
        self._refuse(arms["arm"] == NOTHING, "arm", "a label or an arm")
        return arms["arm"], arms.get("revealed", arms["arm"]), names

    def _arm_numbers(self, name: str, n_arms: int | None) -> Longs:
        most = MAX_ARMS if n_arms is None else checked_count("n_arms", n_arms)
        values = self._numbers(name)
        nothing = np.isnan(values) & (name == "revealed")
        wrong = ~((values == np.floor(values)) & (values >= 0) & (values < most)) & ~nothing
        self._refuse(wrong, name, f"an arm 0..{most - 1}" if n_arms else "an arm number from 0 on")
        return np.where(nothing, NOTHING, values).astype(np.int64)

    # -- decisions --------------------------------------------------------------------------------------

    def _agree(self, name: str, values: Column, first: Longs) -> None:
        """All rows of a decision have what the first of them has."""
        wrong = values != values[first]
        if wrong.any():
            row = int(np.argmax(wrong))
            one, other = self._entry(name, int(first[row])), self._entry(name, row)
            raise LogError(
                f"{self.where}rows {first[row]} and {row} are of one decision but differ in {name!r}: "
                f"{one!r} and {other!r}; give each decision its own decision_id"
            )

    def _check_rows(self, order: Longs, decision: Longs, revealed: Longs) -> None:
        """Every arm once per decision, and nothing beside "nothing"."""
        before, after = order[:-1], order[1:]
        same = decision[before] == decision[after]
        twice = same & (revealed[before] == revealed[after])
        beside = same & (revealed[before] == NOTHING)
        if twice.any():
            at = int(np.argmax(twice))
            rows = f"{self.where}rows {min(before[at], after[at])} and {max(before[at], after[at])}"
            if revealed[after[at]] == NOTHING:
                raise LogError(f"{rows} both say that one decision revealed nothing; it has one row")
            arm = self._entry("revealed" if "revealed" in self.columns else "arm", int(after[at]))
            raise LogError(f"{rows} both tell arm {arm} of one decision; each revealed arm has one row")
        if beside.any():
            at = int(np.argmax(beside))
            raise LogError(
                f"{self.where}row {before[at]} says that nothing was revealed, row {after[at]} of the same decision "
                "tells an arm"
            )

    def _lost(self, decision: Longs, shown: Bools, appearance: Longs) -> int:
        """A decision whose last rows are missing at the end of the table, or −1; anywhere else that is an error."""
        if "rows" not in self.columns:
            return NOTHING
        stated = self._numbers("rows", self.all_rows)
        present = np.bincount(decision, weights=shown)
        wrong = np.flatnonzero(present != stated[appearance])
        if wrong.size == 0:
            return NOTHING
        last = int(decision[-1])
        if wrong.size == 1 and wrong[0] == last and present[last] < stated[-1] and len(appearance) > 1:
            warnings.warn(
                f"{self.where}the last decision says that it revealed {stated[-1]:g} arms, {present[last]:g} are "
                "there: it was being written when the program ended, and is left out",
                IncompleteDecision,
                stacklevel=5,
            )
            return last
        row = int(appearance[wrong[0]])
        raise LogError(
            f"{self.where}row {row} says that its decision revealed {stated[row]:g} arms, "
            f"{present[wrong[0]]:g} are there: rows are missing"
        )


def to_arrow(log: Log) -> pyarrow.Table:
    """The long format of a log."""
    import pyarrow as pa

    counts = np.diff(log.start)
    of_row = np.repeat(np.arange(log.n_rounds), np.maximum(counts, 1))  # a decision without rows has one
    empty = np.repeat(counts == 0, np.maximum(counts, 1))
    at = np.full(len(of_row), -1)
    at[~empty] = np.arange(log.n_rows)

    def arms(numbers: Longs, missing: Bools | None = None) -> Any:
        listed = pa.array(numbers, mask=missing)
        return listed if log.labels is None else pa.array(log.labels, type=pa.string()).take(listed)

    def of_rows(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        padded: npt.NDArray[Any] = np.append(values, values.dtype.type(0))[at]
        return padded

    ids = log.decision_id[of_row]
    columns = {
        "decision_id": pa.array(ids.tolist() if ids.dtype.kind not in "iu" else ids),
        "round": pa.array(log.round[of_row]),
        "arm": arms(log.arm[of_row]),
        "probability": _or_null(log.probability[of_row]),
        "revealed": arms(of_rows(log.revealed), empty),
        log.unit.column: pa.array(of_rows(log.value), mask=empty),
        "seen": pa.array(of_rows(log.seen), mask=empty),
        "rows": pa.array(counts[of_row]),
    }
    if log.version is not None:
        columns["version"] = pa.array([log.version[t] for t in of_row.tolist()], type=pa.string())
    if log.told_at is not None:
        columns["told_at"] = _or_null(log.told_at[of_row])
    return pa.table(columns)


def _or_null(values: Floats) -> Any:
    import pyarrow as pa

    return pa.array(values, mask=np.isnan(values))


def _text(entry: object) -> str:
    """A label as it is compared; missing ones are empty."""
    if entry is None or (isinstance(entry, float) and entry != entry):
        return ""
    return str(entry)


def _number(entry: object) -> float | None:
    """The number that an entry is or has as text, NaN where it is missing; None if it is neither."""
    return number_in(entry) if _text(entry) else math.nan


def _labelled(entry: object, index: Mapping[str, int]) -> int | None:
    """The arm that an entry means where arms have labels: text by label, numbers by themselves; None if neither."""
    word, number = _text(entry), _number(entry)
    if not word:
        return NOTHING
    if isinstance(entry, str) and entry in index:
        return index[entry]
    return int(number) if number is not None and number in range(len(index)) else index.get(word)


def _are_names(column: Column) -> bool:
    """Is some entry neither a number nor missing?"""
    return column.dtype.kind not in "iuf" and any(_number(entry) is None for entry in column.tolist())


def _keys(column: Column) -> Column:
    """Ids that can be sorted: whole numbers, also where they are written as text; everything else as text."""
    if column.dtype.kind in "iu":
        return column.astype(np.int64)
    words = np.array([_text(entry) for entry in column.tolist()])
    try:
        numbers = words.astype(np.int64)
    except (ValueError, OverflowError):
        return words
    same: bool = (numbers.astype(words.dtype) == words).all()
    return numbers if same else words
