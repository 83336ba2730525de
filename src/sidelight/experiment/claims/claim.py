"""A claim of the theory as an experiment: what is predicted, what is measured, and how the two are judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import inf, isfinite, isnan, nan
from time import perf_counter, process_time
from typing import Any

from sidelight.errors import InvalidOption

HOLDS, BEATEN, INCONCLUSIVE, FAILS = "holds", "beaten by baseline", "inconclusive", "fails"
VERDICTS = (HOLDS, BEATEN, INCONCLUSIVE, FAILS)

Sizes = Mapping[str, Any]
"""How large an experiment is: horizons, numbers of arms, seeds, rivals; plain values, ready for JSON."""


@dataclass(frozen=True)
class Estimate:
    """A measured number with the interval it is known to; exact numbers have no width."""

    value: float
    low: float
    high: float
    note: str = ""  # what a reader must know beside the number

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high and not isnan(self.value):
            raise InvalidOption(
                f"an estimate lies in its interval, got {self.low} ≤ {self.value} ≤ {self.high}"
            )

    @classmethod
    def exact(cls, value: float) -> Estimate:
        """A computed number."""
        return cls(float(value), float(value), float(value))

    @classmethod
    def unknown(cls) -> Estimate:
        """What could not be measured."""
        return cls(nan, nan, nan)

    def __str__(self) -> str:
        low, high = f"{self.low:.4g}", f"{self.high:.4g}"
        interval = "" if low == high else f" ({low} to {high})"
        return f"{self.value:.4g}{interval}{self.note and f', {self.note}'}"


@dataclass(frozen=True)
class Prediction:
    """Theory says that the measured number called `name` lies in [low, high]; written before measuring."""

    name: str
    low: float
    high: float
    reason: str

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise InvalidOption(f"a prediction needs low ≤ high, got [{self.low}, {self.high}]")

    @classmethod
    def near(cls, name: str, value: float, within: float, reason: str) -> Prediction:
        """value ± within."""
        return cls(name, value - within, value + within, reason)

    @classmethod
    def most(cls, name: str, high: float, reason: str) -> Prediction:
        """At most `high`."""
        return cls(name, -inf, high, reason)

    @classmethod
    def least(cls, name: str, low: float, reason: str) -> Prediction:
        """At least `low`."""
        return cls(name, low, inf, reason)

    def judge(self, measured: Estimate | None) -> str:
        """Inside the predicted range: holds; outside: fails; partly, or not measured: inconclusive.

        >>> Prediction.near("slope", 1 / 3, 0.05, "").judge(Estimate(0.5, 0.45, 0.55))
        'fails'
        """
        if measured is None or isnan(measured.value):
            return INCONCLUSIVE
        if self.low <= measured.low and measured.high <= self.high:
            return HOLDS
        return FAILS if measured.high < self.low or measured.low > self.high else INCONCLUSIVE

    def __str__(self) -> str:
        if not isfinite(self.low):
            return f"≤ {self.high:.4g}"
        return f"≥ {self.low:.4g}" if not isfinite(self.high) else f"{self.low:.4g} to {self.high:.4g}"


@dataclass(frozen=True)
class Curve:
    """One line of a claim's figure; `role` is "measured", "predicted", "bound" or "baseline"."""

    label: str
    role: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None

    def __post_init__(self) -> None:
        for name in ("x", "y", "low", "high"):
            if (values := getattr(self, name)) is not None:
                object.__setattr__(self, name, tuple(map(float, values)))


@dataclass(frozen=True)
class Evidence:
    """What an experiment brings home; nothing in it says yet what to think of it. Plain numbers are exact."""

    rows: Sequence[dict[str, Any]]
    estimates: Mapping[str, Estimate | float]
    curves: Sequence[Curve] = ()
    x_label: str = ""
    y_label: str = ""
    rivals: Mapping[str, Estimate | float] = field(default_factory=dict)  # our regret over theirs
    skipped: Mapping[str, str] = field(default_factory=dict)  # rival → why it did not play
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Claim:
    """One statement of the theory, where it stands, what it predicts, and the experiment that could refute it."""

    name: str
    group: str
    statement: str
    source: tuple[str, ...]  # labels of the paper, or sections of docs/theory
    family: str
    predictions: tuple[Prediction, ...]
    measure: Callable[..., Evidence]  # of the sizes, by name
    quick: Sizes = field(default_factory=dict)
    full: Sizes = field(default_factory=dict)
    known_false: bool = False  # printed somewhere, refuted here: "fails" is no news

    def sizes(self, quick: bool) -> dict[str, Any]:
        """The sizes of the quick or of the full experiment."""
        return dict(self.quick if quick else self.full)

    def run(self, quick: bool = True) -> Outcome:
        """Measure and judge."""
        started, busy = perf_counter(), process_time()
        evidence = self.measure(**self.sizes(quick))
        return Outcome.of(self, evidence, quick, perf_counter() - started, process_time() - busy)


@dataclass(frozen=True)
class Check:
    """One prediction beside what was measured."""

    name: str
    predicted: str
    measured: str
    verdict: str
    reason: str

    @classmethod
    def of(cls, prediction: Prediction, measured: Estimate | None) -> Check:
        """Judge what was measured."""
        shown = "not measured" if measured is None else str(measured)
        return cls(prediction.name, str(prediction), shown, prediction.judge(measured), prediction.reason)


@dataclass(frozen=True)
class Outcome:
    """The record of one claim: plain data, enough for every table and figure."""

    claim: str
    group: str
    statement: str
    source: tuple[str, ...]
    family: str
    quick: bool
    sizes: dict[str, Any]
    verdict: str
    checks: tuple[Check, ...]
    rivals: dict[str, dict[str, Any]]  # name → ratio, low, high, beaten
    skipped: dict[str, str]
    rows: tuple[dict[str, Any], ...]
    curves: tuple[Curve, ...]
    x_label: str
    y_label: str
    notes: tuple[str, ...]
    seconds: float  # on the clock
    processor_seconds: float  # of all cores together

    @classmethod
    def of(cls, claim: Claim, evidence: Evidence, quick: bool, seconds: float, processor: float) -> Outcome:
        """Judge the evidence by the predictions of the claim.

        A claim fails if one prediction does, and is inconclusive if one is; a claim that holds is "beaten by
        baseline" if some rival has less regret in the same hard environments, whatever the seeds.
        """
        measured = {name: _estimate(value) for name, value in evidence.estimates.items()}
        checks = tuple(Check.of(predicted, measured.get(predicted.name)) for predicted in claim.predictions)
        ratios = {name: _estimate(value) for name, value in evidence.rivals.items()}
        beaten = [name for name, ratio in ratios.items() if ratio.low > 1]
        verdicts = {check.verdict for check in checks} or {INCONCLUSIVE}
        worst = next((each for each in (FAILS, INCONCLUSIVE) if each in verdicts), HOLDS)
        return cls(
            *(claim.name, claim.group, claim.statement, claim.source, claim.family, quick),
            claim.sizes(quick),
            BEATEN if worst == HOLDS and beaten else worst,
            checks,
            {
                name: {"ratio": ratio.value, "low": ratio.low, "high": ratio.high, "beaten": name in beaten}
                for name, ratio in ratios.items()
            },
            dict(evidence.skipped),
            tuple(evidence.rows),
            tuple(evidence.curves),
            *(evidence.x_label, evidence.y_label, tuple(evidence.notes), seconds, processor),
        )

    @property
    def beaten_by(self) -> tuple[str, ...]:
        """Rivals with less regret than the player of this claim."""
        return tuple(name for name, rival in self.rivals.items() if rival["beaten"])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Outcome:
        """The outcome that `to_dict` wrote."""
        try:
            fields = dict(saved)
            fields["checks"] = tuple(Check(**check) for check in fields["checks"])
            fields["curves"] = tuple(Curve(**curve) for curve in fields["curves"])
            return cls(**fields | {name: tuple(fields[name]) for name in ("source", "rows", "notes")})
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidOption(f"not a stored outcome: {error!r}") from None


def _estimate(value: Estimate | float) -> Estimate:
    return value if isinstance(value, Estimate) else Estimate.exact(value)
