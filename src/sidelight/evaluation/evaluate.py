"""`sl.evaluate`: a log, a policy, and what it would have cost."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from sidelight._check import checked_count, checked_number, checked_seed, checked_seeds
from sidelight._types import Floats
from sidelight.errors import InvalidOption, LogError, PoorOverlap, listing
from sidelight.evaluation.intervals import Bounded, bernstein, bootstrap, lower_bound
from sidelight.evaluation.result import NEARLY, Difference, Estimate, Evaluation, Evaluations
from sidelight.evaluation.rounds import Model, Named, Terms, Weighting, at_rows, by_round, model_of, terms_of
from sidelight.evaluation.target import Target, is_distribution, replay
from sidelight.log import Log
from sidelight.policy.player import Playable

Method = Literal["dr", "ips", "snips"]
Interval = Literal["martingale", "bernstein", "bootstrap"]

SUSPICIOUS = 5.0
"""Standard errors by which the mean weight may miss 1 before something is said."""
ROUNDED = 0.01
"""And by this much more, since logs may round their probabilities."""
MORE_ARMS = "if there are more, say n_arms= or labels= when the log is made"
FEW = 10.0
"""Effective rounds below which something is said."""


def evaluate(
    log: Log | str | os.PathLike[str] | Any,
    target: Any,
    *,
    method: Method = "dr",
    model: Named | Any = "past",
    interval: Interval = "martingale",
    level: float = 0.95,
    floor: float | None = None,
    clip: float | None = None,
    shrinkage: float | None = None,
    ix: float | None = None,
    resamples: int = 1000,
    seed: int = 0,
    seeds: Iterable[int] = range(20),
) -> Any:
    """What `target` would have cost per decision, from the decisions of a log and what they revealed.

    Every revealed value counts, divided by the probability P that its arm was to be seen, not only that of the
    played arm. docs/looking-back.md explains what may be concluded.

    Args:
        log: a `Log`, or what `Log.read` or `Log.from_table` make one from.
        target: an arm or label; "uniform"; a distribution, as array or {arm: probability}; an array of one
            distribution per decision, by round; a function from the round to a distribution; a plan or rule, which is
            replayed if every decision reveals all it needs, else refused; or {name: target} for several.
        method: of the estimate. "dr" corrects a model by what was seen, "ips" is the plain mean of weighted values,
            "snips" divides it by the mean weight. All are computed; `methods` lists them.
        model: of "dr": "past", means of each arm over earlier decisions, "folds", over other folds, or values per arm
            (or per decision and arm) in the unit of the log.
        interval: "martingale" holds whatever the logging policy learned meanwhile, and however rarely arms
            were to be seen; "bernstein" is for decisions that do not depend on each other; "bootstrap" is
            approximate, and resamples whole decisions.
        level: confidence of the interval.
        floor: the logging policy saw each arm that the target plays with at least this probability, every round: a
            promise, checked where rows show P, which lets the interval rest on "dr" instead of "ips".
        clip, shrinkage, ix: at most one: weights min(1/P, clip), λ/P/(λ + 1/P²), or 1/(P + γ) instead of 1/P.
            Estimates are biased then, intervals "martingale" still hold.
        resamples, seed: of the bootstrap.
        seeds: of a replayed plan.

    Returns:
        an `Evaluation`, or `Evaluations` for {name: target}; values are per decision, in the unit of the log.

    >>> import sidelight as sl
    >>> log = sl.Log.from_table({"arm": [0, 1] * 500, "loss": [0.2, 0.6] * 500, "probability": [0.5] * 1000})
    >>> found = sl.evaluate(log, 0)
    >>> round(found.estimate, 3), found.low < 0.2 < found.high
    (0.2, True)
    """
    opened = _opened(log)
    if not 0 < checked_number("level", level) < 1:
        raise InvalidOption(f"level must be between 0 and 1, got level={level}")
    if floor is not None and not 0 < checked_number("floor", floor) <= 1:
        raise InvalidOption(f"floor is a probability in (0, 1], got floor={floor}")
    for name, value, kinds in (("method", method, Method), ("interval", interval, Interval)):
        if value not in get_args(kinds):
            raise InvalidOption(f"{name} must be one of {listing(get_args(kinds))}, got {name}={value!r}")
    values = opened.unit.to_unit_interval(opened.value)
    fitted, weighting = model_of(opened, values, model), Weighting(clip, shrinkage, ix)
    draws = checked_count("resamples", resamples), checked_seed(seed), checked_seeds(seeds)
    question = _Question(opened, values, fitted, weighting, method, interval, level, floor, *draws)
    if not isinstance(target, Mapping) or is_distribution(opened, target):
        return question.answer(_name(opened, target), target)
    if not target:
        raise InvalidOption("there is no target: got an empty mapping")
    rows = tuple(question.answer(str(name), each) for name, each in target.items())
    chosen = {str(name): each for name, each in target.items()}
    return Evaluations(
        rows, lambda first, second: question.difference(first, chosen[first], second, chosen[second])
    )


@dataclass(frozen=True, eq=False)
class _Question:
    """Everything but the target."""

    log: Log
    values: Floats  # (rows,) on the scale of [0, 1]
    model: Model
    weighting: Weighting
    method: Method
    interval: Interval
    level: float
    floor: float | None
    resamples: int
    seed: int
    seeds: list[int]

    def answer(self, name: str, target: Any) -> Evaluation:
        if isinstance(target, Playable):
            return replay(self.log, name, target, self.seeds, self.level)
        log, unit, n = self.log, self.log.unit, self.log.n_rounds
        chosen = Target.of(log, target)
        terms = terms_of(log, self.values, chosen, self.model, self.weighting)
        self._check_floor(chosen)
        methods = self._methods(terms)
        low, high, basis = self._interval(terms)
        total = float(terms.weight.sum())
        squares = float((terms.weight**2).sum())
        ess = total * total / squares if squares else 0.0
        shown = np.zeros(log.n_arms, dtype=bool)
        shown[log.revealed] = True
        unseen = float(terms.mean[~shown].sum())
        if unseen > NEARLY:  # what the model guesses of arms that were never seen is no estimate
            methods["dr"] = Estimate(float("nan"), float("nan"))
        notes = self._notes(name, terms, ess, unseen, shown)
        if log.counted and isinstance(target, str) and target == "uniform":
            notes = (
                *notes,
                counted := f"uniform is over the {log.n_arms} arms that the log shows: {MORE_ARMS}",
            )
            warnings.warn(counted, PoorOverlap, stacklevel=3)
        if self.method == "snips" and not np.isfinite(methods["snips"].value):
            raise InvalidOption(
                f"the log shows nothing that {name} plays, so there is nothing to divide by; use method='ips' or 'dr'"
            )
        return Evaluation(
            target=name,
            estimate=methods[self.method].value,
            low=unit.from_unit_interval(max(low, 0.0)),
            high=unit.from_unit_interval(min(high, 1.0)),
            level=self.level,
            method=self.method,
            interval=basis,
            n_rounds=n,
            n_rows=log.n_rows,
            ess=ess,
            mean_weight=total / n,
            largest_weight=float(terms.weight.max()),
            unseen=unseen,
            methods=methods,
            unit=unit,
            notes=notes,
        )

    def difference(self, first: str, one: Any, second: str, other: Any) -> Difference:
        """⟨π − π', y⟩ = ⟨d⁺, y⟩ + ⟨d⁻, 1 − y⟩ − Σd⁻: means of terms ≥ 0 on both sides, at most Σd⁺ + Σd⁻ = 2Σd⁻."""
        for name, target in ((first, one), (second, other)):
            if isinstance(target, Playable):
                raise InvalidOption(f"{name} is a replayed plan: compare it by its own interval")
        log = self.log
        targets = Target.of(log, one), Target.of(log, other)
        error, weights = (1 - self.level) / 2, self.weighting(log.seen)
        change = np.subtract(*(at_rows(log, target)[0] for target in targets))
        pairs = zip(*(target.blocks(log.n_arms) for target in targets), strict=True)
        shared = [np.minimum(a, b).sum(axis=1) for (_, _, a), (_, _, b) in pairs]  # Σ_i min(π_t(i), π'_t(i))
        given_up = 1 - np.concatenate(shared)  # Σ d⁻ = Σ d⁺, per decision

        def least(change: Floats) -> float:
            gained = np.where(change > 0, change * self.values, -change * (1 - self.values))
            terms, most = by_round(log, weights * gained), 2 * float(given_up.max())
            return lower_bound(error, Bounded(terms), most=most) - float(given_up.mean()) if most > 0 else 0.0

        expected = [self.model.expected(target) for target in targets]
        corrected = by_round(log, weights * change * (self.values - self.model.at_rows()))
        estimate = float((expected[0] - expected[1] + corrected).mean())
        scale = log.unit.width
        return Difference(
            first, second, scale * estimate, scale * least(change), -scale * least(-change), self.level
        )

    # -- parts of an answer -----------------------------------------------------------------------------

    def _methods(self, terms: Terms) -> dict[str, Estimate]:
        """Every estimator, in the unit of the log."""
        n, unit = self.log.n_rounds, self.log.unit

        def estimated(value: float, deviations: Floats) -> Estimate:
            error = float(deviations.std(ddof=1)) / n**0.5 if n > 1 else float("nan")
            return Estimate(unit.from_unit_interval(value), unit.width * error)

        total = float(terms.weight.mean())
        ratio = float(terms.ips.mean()) / total if total else float("nan")
        methods = {
            "dr": estimated(float(terms.dr.mean()), terms.dr),
            "ips": estimated(float(terms.ips.mean()), terms.ips),
            "snips": estimated(ratio, (terms.ips - ratio * terms.weight) / (total or 1.0)),
        }
        if terms.played is not None and not self.log.only_played:
            methods["ips of played arms"] = estimated(float(terms.played.mean()), terms.played)
        return methods

    def _interval(self, terms: Terms) -> tuple[float, float, str]:
        """Low and high on the scale of [0, 1], and what they rest on.

        A bound of dr needs its terms to be what the bound is about: independent, for which the model must not be
        fitted to the log, or with the right mean given the past, for which it may look at earlier decisions. Else the
        interval rests on ips: it is about the target's value, whatever estimates that.
        """
        error, looks = 1 - self.level, self.model.looks_at
        if self.interval == "bootstrap":
            own = terms.dr if self.method == "dr" else terms.ips
            weights = terms.weight if self.method == "snips" else None
            low, high = bootstrap(own, weights, error, self.resamples, self.seed)
            return low, high, f"bootstrap of {self.method}, {self.resamples} times all rounds; approximate"
        if self.interval == "bernstein":
            on_dr = self.method == "dr" and looks == "none"
            most = float(terms.weight.max()) if self.floor is None else 1 / self.floor
            own, width = (terms.dr, 1 + 2 * most) if on_dr else (terms.ips, most)
            half, mean = bernstein(own, error, width), float(own.mean())
            basis = (
                f"empirical Bernstein of {'dr' if on_dr else 'ips'}, independent rounds, range {width:.4g}"
            )
            if self.floor is None:
                doubt = "as seen in the log: approximate, and too narrow where rare weights are missing; give floor="
                return mean - half, mean + half, f"{basis} {doubt}"
            return mean - half, mean + half, f"{basis} by the floor {self.floor:g}"
        below, above = [Bounded(terms.ips)], [Bounded(terms.complement)]
        basis = "martingale bound of ips from both sides, for any logging policy"
        if self.floor is not None and self.method == "dr" and self.weighting.exact and looks != "others":
            below.append(Bounded(terms.dr, -1 / self.floor))
            above.append(Bounded(1 - terms.dr, -1 / self.floor))
            basis = f"martingale bound of dr and ips, arms seen with probability {self.floor:g} or more"
        return lower_bound(error / 2, *below), 1 - lower_bound(error / 2, *above), basis

    def _notes(
        self, name: str, terms: Terms, ess: float, unseen: float, shown: np.typing.NDArray[np.bool_]
    ) -> tuple[str, ...]:
        notes = []
        if unseen > 0:
            arms = [self.log.name_of(int(arm)) for arm in np.flatnonzero(~shown & (terms.mean > 0))]
            notes.append(
                f"{name} plays arms that the log never shows with probability {unseen:.3g}: {listing(arms)}; "
                "estimates say nothing about them"
            )
        elif self.weighting.exact:
            mean, spread = float(terms.weight.mean()), float(terms.weight.std()) / self.log.n_rounds**0.5
            if mean < 1 - SUSPICIOUS * spread - ROUNDED:
                notes.append(
                    f"weights average {mean:.4g}, not 1: in some rounds {name} plays arms that could not be seen, or "
                    "hardly ever"
                )
            if mean > 1 + SUSPICIOUS * spread + ROUNDED:
                notes.append(
                    f"weights average {mean:.4g}, not 1: the log's probabilities of seeing arms are too small"
                )
        if ess < FEW:
            few = "too few to conclude anything"
            notes.append(f"all rounds together are worth {ess:.1f} rounds of {name}: {few}")
        if notes:
            warnings.warn("; ".join(notes), PoorOverlap, stacklevel=4)
        return tuple(notes)

    def _check_floor(self, target: Target) -> None:
        """The promise of a floor against what the rows show."""
        if self.floor is None:
            return
        chosen, _ = at_rows(self.log, target)
        wrong = (chosen > 0) & (self.log.seen < self.floor * (1 - 1e-9))
        if wrong.any():
            row, log = int(np.argmax(wrong)), self.log
            arm, seen = log.name_of(int(log.revealed[row])), log.seen[row]
            raise LogError(
                f"floor={self.floor:g} was promised, but arm {arm} was to be seen with probability {seen:.4g} "
                f"in round {log.round[log.round_of_row[row]]}"
            )


def _opened(log: Any) -> Log:
    if isinstance(log, Log):
        return log
    return Log.read(log) if isinstance(log, str | os.PathLike) else Log.from_table(log)


def _name(log: Log, target: Any) -> str:
    """What a single target is called."""
    if isinstance(target, str):
        return target if target not in (log.labels or ()) else f"always {target}"
    if isinstance(target, int | np.integer) and not isinstance(target, bool):
        return f"always {log.name_of(log.arm_of(target))}"
    return getattr(target, "realization", None) or getattr(target, "__name__", None) or "the target"
