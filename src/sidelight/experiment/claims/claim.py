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
        interval = "" if self.low == self.high else f" ({self.low:.4g} to {self.high:.4g})"
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

    def judge(self, found: Estimate | None) -> str:
        """Inside the predicted range: holds; outside: fails; partly, or not measured: inconclusive.

        >>> Prediction.near("slope", 1 / 3, 0.05, "").judge(Estimate(0.5, 0.45, 0.55))
        'fails'
        """
        if found is None or isnan(found.value):
            return INCONCLUSIVE
        if self.low <= found.low and found.high <= self.high:
            return HOLDS
        return FAILS if found.high < self.low or found.low > self.high else INCONCLUSIVE

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
    """What an experiment brings home; nothing in it says yet what to think of it."""

    rows: Sequence[dict[str, Any]]
    estimates: Mapping[str, Estimate]
    curves: Sequence[Curve] = ()
    x_label: str = ""
    y_label: str = ""
    rivals: Mapping[str, Estimate] = field(default_factory=dict)  # our regret over theirs
    skipped: Mapping[str, str] = field(default_factory=dict)  # rival → why it did not play
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in ("rows", "curves", "notes"):
            object.__setattr__(self, name, tuple(getattr(self, name)))


@dataclass(frozen=True)
class Claim:
    """One statement of the theory, where it stands, what it predicts, and the experiment that could refute it."""

    name: str
    group: str
    statement: str
    source: tuple[str, ...]  # labels of the paper, or sections of docs/theory
    family: str
    predictions: tuple[Prediction, ...]
    measure: Callable[[Sizes], Evidence]
    quick: Sizes = field(default_factory=dict)
    full: Sizes = field(default_factory=dict)
    known_false: bool = False  # printed somewhere, refuted here: "fails" is no news

    def sizes(self, quick: bool) -> dict[str, Any]:
        """The sizes of the quick or of the full experiment."""
        return dict(self.quick if quick else self.full)

    def run(self, quick: bool = True) -> Outcome:
        """Measure and judge."""
        started, busy = perf_counter(), process_time()
        evidence = self.measure(self.sizes(quick))
        return Outcome.of(self, evidence, quick, perf_counter() - started, process_time() - busy)


class Claims:
    """The claims about one subject, in the order in which they are written down."""

    def __init__(self, group: str) -> None:
        self.group = group
        self.listed: list[Claim] = []

    def add(
        self,
        name: str,
        family: str,
        source: Sequence[str],
        *predictions: Prediction,
        quick: Sizes,
        full: Sizes | None = None,
        statement: str = "",
        known_false: bool = False,
    ) -> Callable[[Callable[[Sizes], Evidence]], Callable[[Sizes], Evidence]]:
        """The decorated function measures the claim; its docstring is the statement, unless that is given."""

        def listed(measure: Callable[[Sizes], Evidence]) -> Callable[[Sizes], Evidence]:
            text = " ".join((statement or measure.__doc__ or "").split())
            sizes = quick, quick if full is None else full
            self.listed.append(
                Claim(
                    name, self.group, text, tuple(source), family, predictions, measure, *sizes, known_false
                )
            )
            return measure

        return listed


@dataclass(frozen=True)
class Check:
    """One prediction beside what was measured."""

    name: str
    predicted: str
    measured: str
    verdict: str
    reason: str


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
        checks = []
        for prediction in claim.predictions:
            found = evidence.estimates.get(prediction.name)
            measured = "not measured" if found is None else str(found)
            verdict = prediction.judge(found)
            checks.append(Check(prediction.name, str(prediction), measured, verdict, prediction.reason))
        rivals = {
            name: {"ratio": ratio.value, "low": ratio.low, "high": ratio.high, "beaten": ratio.low > 1}
            for name, ratio in evidence.rivals.items()
        }
        verdicts = {check.verdict for check in checks}
        if FAILS in verdicts:
            verdict = FAILS
        elif INCONCLUSIVE in verdicts or not checks:
            verdict = INCONCLUSIVE
        else:
            verdict = BEATEN if any(rival["beaten"] for rival in rivals.values()) else HOLDS
        told = {name: getattr(claim, name) for name in ("group", "statement", "source", "family")}
        seen = {name: getattr(evidence, name) for name in ("rows", "curves", "x_label", "y_label", "notes")}
        return cls(
            claim=claim.name,
            quick=quick,
            sizes=claim.sizes(quick),
            verdict=verdict,
            checks=tuple(checks),
            rivals=rivals,
            skipped=dict(evidence.skipped),
            seconds=seconds,
            processor_seconds=processor,
            **told,
            **seen,
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
            for name in ("source", "rows", "notes"):
                fields[name] = tuple(fields[name])
            return cls(**fields)
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidOption(f"not a stored outcome: {error!r}") from None
