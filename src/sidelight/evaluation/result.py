"""What a log says about a policy, or about several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sidelight._json import plain
from sidelight.errors import InvalidOption
from sidelight.log import Unit

NEARLY = 1 - 1e-9
"""A target that plays arms which the log never shows so much plays nothing else."""


class Estimate(NamedTuple):
    """One estimator's answer; its standard error is over decisions."""

    value: float
    standard_error: float


@dataclass(frozen=True)
class Evaluation:
    """What a target would have cost, or earned, per decision of the log, in the unit of the log."""

    target: str
    estimate: float
    low: float
    high: float
    level: float
    method: str  # of the estimate
    interval: str  # what the interval rests on
    n_rounds: int
    n_rows: int
    ess: float  # (Σ W_t)²/Σ W_t²: of how many decisions the target's own these are worth
    mean_weight: float  # of W_t; 1 in expectation where all that the target plays can be seen
    largest_weight: float  # of W_t
    unseen: float  # how much the target plays arms that the log never shows
    methods: dict[str, Estimate]
    unit: Unit
    notes: tuple[str, ...] = ()

    @property
    def unknown(self) -> bool:
        """Does the log show nothing of what the target plays? Then `estimate` says nothing."""
        return self.unseen > NEARLY

    @property
    def interval_width(self) -> float:
        """high − low."""
        return self.high - self.low

    def to_dict(self) -> dict[str, Any]:
        """Everything, in the types of JSON: null for what is unknown."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        methods = {name: estimate._asdict() for name, estimate in self.methods.items()}
        answer: dict[str, Any] = plain({**values, "methods": methods, "unit": self.unit._asdict()})
        return answer

    def __str__(self) -> str:
        verb = "costs" if self.unit.kind == "losses" else "earns"
        sure = f"with {100 * self.level:g} % confidence"
        what = "an unknown amount" if self.unknown else f"{self.estimate:.4g}"
        lines = [
            f"{self.target} {verb} {what} a round, in [{self.low:.4g}, {self.high:.4g}] {sure}",
            f"{self.n_rounds:,} rounds, {self.n_rows:,} revealed values, worth {self.ess:,.1f} rounds of its own",
            f"interval: {self.interval}",
        ]
        width = max(map(len, self.methods))
        for name, estimate in self.methods.items():
            chosen = "  (the estimate)" if name == self.method else ""
            shown = f"{estimate.value:.4g} ± {estimate.standard_error:.2g}"
            lines.append(f"  {name:<{width}}  {'unknown' if self.unknown else shown}{chosen}")
        return "\n".join([*lines, *self.notes])


@dataclass(frozen=True)
class Difference:
    """Mean value of the first target minus that of the second, on the same decisions."""

    first: str
    second: str
    estimate: float
    low: float
    high: float
    level: float

    @property
    def decided(self) -> bool:
        """Is zero outside the interval?"""
        return self.low > 0 or self.high < 0

    def __str__(self) -> str:
        verdict = "" if self.decided else ", undecided"
        return (
            f"{self.first} − {self.second}: {self.estimate:+.4g} a round, in [{self.low:+.4g}, {self.high:+.4g}] "
            f"with {100 * self.level:g} % confidence{verdict}"
        )


@dataclass(frozen=True, eq=False)
class Evaluations:
    """Several targets on one log. Each interval holds with its confidence; not all of them at once."""

    rows: tuple[Evaluation, ...]
    _compared: Callable[[str, str], Difference] = field(repr=False)

    def __getitem__(self, name: str) -> Evaluation:
        for row in self.rows:
            if row.target == name:
                return row
        raise InvalidOption(f"no target is called {name!r}, got {', '.join(self.names)}")

    def __iter__(self) -> Iterator[Evaluation]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def names(self) -> list[str]:
        """The targets, as they were given."""
        return [row.target for row in self.rows]

    @property
    def best(self) -> Evaluation:
        """The least cost or the largest earnings, by the estimates."""
        sign = 1 if self.rows[0].unit.kind == "losses" else -1
        known = [row for row in self.rows if not row.unknown]
        return min(known or self.rows, key=lambda row: sign * row.estimate)

    def difference(self, first: str, second: str) -> Difference:
        """first − second from the same decisions: what both would have met alike cancels."""
        self[first], self[second]
        return self._compared(first, second)

    def to_dict(self) -> dict[str, Any]:
        """{target: everything about it}."""
        return {row.target: row.to_dict() for row in self.rows}

    def __str__(self) -> str:
        width = max(len("target"), *(len(name) for name in self.names))
        heads = f"{'target':<{width}}  {'a round':>10}  {'low':>10}  {'high':>10}  {'worth':>10}"
        lines = [
            f"{row.target:<{width}}  {'unknown' if row.unknown else f'{row.estimate:.4g}':>10}"
            f"  {row.low:>10.4g}  {row.high:>10.4g}  {row.ess:>10,.1f}"
            for row in self.rows
        ]
        first = self.rows[0]
        head = f"{first.unit.kind} by {first.method}, {first.n_rounds:,} rounds, {100 * first.level:g} % intervals"
        notes = [f"{row.target}: {note}" for row in self.rows for note in row.notes]
        return "\n".join([f"{head}, each by itself", heads, *lines, *notes])
