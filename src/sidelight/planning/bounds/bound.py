"""A regret bound with everything needed to judge it: terms, conditions and thresholds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

from sidelight import _html
from sidelight.errors import InvalidOption

ROUNDING = 1e-12
"""Relative error granted to a formula in double precision; thresholds below 10¹¹ rounds are exact."""

SHOWN = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
"""Rounds at which a bound for every t is shown."""

COEFFICIENTS = (10**3, 10**6, 10**9)
"""Rounds at which its summary tells the coefficient of its power of t."""

NEVER = 2**63 - 1
"""`informative_from` of a bound that is of order T: more rounds than can be counted."""


@dataclass(frozen=True)
class Condition:
    """`left ≤ right`, needed by the proof of a bound.

    >>> Condition("α ≤ 1", 0.25, 1.0).slack
    0.75
    """

    name: str
    left: float
    right: float

    @property
    def slack(self) -> float:
        """How much room is left, right − left, 0 up to the rounding of the two; negative when the condition fails."""
        room = self.right - self.left
        return 0.0 if abs(room) <= ROUNDING * abs(self.right) else room

    @property
    def holds(self) -> bool:
        """Is left ≤ right, up to the rounding of the two formulas?"""
        return self.left <= self.right + ROUNDING * abs(self.right)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings, ready for JSON."""
        return vars(self) | {"slack": self.slack, "holds": self.holds}

    def __str__(self) -> str:
        return f"{self.name}: {self.left:.6g} ≤ {self.right:.6g} {'holds' if self.holds else 'FAILS'}"


class Happened(NamedTuple):
    """What a game did that the bound of its plan may not allow for."""

    overlap: int = 0  # decisions open when one was made, added up over all of them
    lost: int = 0  # decisions that were cancelled
    elsewhere: bool = False  # was a graph played on for which the bound is not proved?

    def conditions(self, rounds: int) -> tuple[Condition, ...]:
        """What a bound for answers that come at once, on the plan's own graph, assumes and did not hold."""
        assumed = (
            Condition("answers come at once: open decisions when one is made", self.overlap / rounds, 0.0),
            Condition("every decision is answered: cancelled", float(self.lost), 0.0),
            Condition("every round is on the plan's graph: on others", float(self.elsewhere), 0.0),
        )
        return tuple(each for each in assumed if not each.holds)


NOTHING = Happened()
"""A game as every bound assumes it."""


@dataclass(frozen=True, eq=False, repr=False)
class Bound:
    """Regret after `horizon` rounds is at most `value` = Σ `terms`, provided all `conditions` hold.

    `valid_from` is the least horizon at which they hold, `informative_from` the least at which the
    bound is below the trivial one, T (losses are in [0, 1]); `NEVER` for uniform play, which learns nothing.
    As a `BoundCurve` it has one point.
    """

    horizon: int
    terms: dict[str, float]
    theorem: str
    conditions: tuple[Condition, ...]
    valid_from: int
    informative_from: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", dict(self.terms))
        object.__setattr__(self, "conditions", tuple(self.conditions))

    @property
    def value(self) -> float:
        """Σ terms."""
        return sum(self.terms.values())

    @property
    def certified(self) -> bool:
        """Do all conditions hold?"""
        return not self.failing

    @property
    def informative(self) -> bool:
        """Is it below the number of rounds, by learning?"""
        return self.informative_from < NEVER and below_trivial(self.value, self.horizon)

    @property
    def vacuous(self) -> bool:
        """Does it say nothing that was not clear before? The opposite of `informative`."""
        return not self.informative

    @property
    def failing(self) -> tuple[Condition, ...]:
        """The conditions that do not hold."""
        return tuple(condition for condition in self.conditions if not condition.holds)

    def given(self, happened: Happened) -> Bound:
        """This bound, which no longer holds if something happened that it does not allow for."""
        return replace(self, conditions=(*self.conditions, *happened.conditions(self.horizon)))

    def at(self, t: int) -> Bound:
        """This bound, if t is its horizon: of other numbers of rounds it says nothing."""
        if t != self.horizon:
            raise InvalidOption(
                f"this plan's bound is for {self.horizon} rounds, not for {t}; plan with horizon=None for all t"
            )
        return self

    def value_at(self, t: int) -> float:
        """`at(t).value`."""
        return self.at(t).value

    @property
    def _since(self) -> str:
        return (
            f"below T from T = {self.informative_from:,}" if self.informative_from < NEVER else "of order T"
        )

    @property
    def _status(self) -> str:
        """Does it hold, and if not, is that a matter of T or of what has happened?"""
        if not self.certified and self.valid_from <= self.horizon:
            return f"not certified, {self.failing[0]}"
        return f"{'' if self.certified else 'not '}certified: valid from T = {self.valid_from:,}"

    def summary(self) -> str:
        """The bound as a small table."""
        width = max([len(name) for name in self.terms] + [len("regret ≤")])
        lines = [f"{'regret ≤':<{width}}  {self.value:>14,.2f}   {self.theorem}"]
        lines += [f"{name:<{width}}  {value:>14,.2f}" for name, value in self.terms.items()]
        lines += [self._status.replace("not certified", "NOT certified")]
        lines += [f"{'VACUOUS' if self.vacuous else 'informative'}: {self._since}"]
        return "\n".join(lines + [f"  {condition}" for condition in self.conditions])

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        vacuous = ", vacuous" if self.vacuous else ""
        return f"Bound({self.value:,.1f} at T = {self.horizon:,}, {self._status}{vacuous}, {self.theorem!r})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        judged = [("status", self._status), ("vacuous" if self.vacuous else "informative", self._since)]
        terms = [(name, f"{value:,.2f}") for name, value in self.terms.items()]
        needed = [(str(each), f"slack {each.slack:.3g}") for each in self.conditions]
        return _html.panel(
            f"Regret of {self.horizon:,} rounds ≤ {self.value:,.1f}",
            _html.facts(judged + terms),
            _html.folded("conditions", _html.facts(needed)) if needed else "",
            _html.note(self.theorem),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dicts, ready for JSON."""
        judged = {name: getattr(self, name) for name in ("value", "certified", "informative")}
        conditions = [condition.to_dict() for condition in self.conditions]
        return vars(self) | {"terms": dict(self.terms), "conditions": conditions} | judged

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Bound:
        """The bound that `to_dict` wrote, refused if what it says of itself does not follow from it."""
        try:
            bound = cls(
                horizon=int(saved["horizon"]),
                terms={str(name): float(value) for name, value in saved["terms"].items()},
                theorem=str(saved["theorem"]),
                conditions=tuple(
                    Condition(str(c["name"]), float(c["left"]), float(c["right"]))
                    for c in saved["conditions"]
                ),
                valid_from=int(saved["valid_from"]),
                informative_from=int(saved["informative_from"]),
            )
            for name in ("value", "certified", "informative"):
                if saved[name] != getattr(bound, name):
                    raise InvalidOption(f"{name} = {saved[name]!r} contradicts the terms and conditions")
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidOption(f"not a saved bound: {error!r}") from None
        return bound


class BoundCurve(ABC):
    """What a plan for any number of rounds promises: a bound with named terms as a function of t.

    Law: `at(t)` is certified for every t ≥ `valid_from`. Subclasses are dataclasses of the numbers behind it, which
    are saved under their `KIND`.
    """

    KIND: ClassVar[str]
    THEOREM: ClassVar[str]

    @property
    @abstractmethod
    def exponent(self) -> float:
        """The leading power of t, ½ or ⅔."""

    @abstractmethod
    def terms(self, t: int) -> dict[str, float]:
        """The bound after t rounds, term by term."""

    @abstractmethod
    def conditions(self, t: int) -> tuple[Condition, ...]:
        """What it rests on after t rounds."""

    @abstractmethod
    def numbers(self) -> dict[str, Any]:
        """What is saved: plain numbers, from which the bound follows."""

    @classmethod
    @abstractmethod
    def of(cls, numbers: Mapping[str, Any]) -> BoundCurve:
        """The bound with these `numbers`; any error of missing or strange ones."""

    @property
    def constant(self) -> float | None:
        """The factor of t^exponent that it tends to, where that is known."""
        return None

    @property
    def valid_from(self) -> int:
        """Least number of rounds at which all conditions hold."""
        return 1

    @property
    def informative_from(self) -> int:
        """Least t from which on the bound is always below t."""
        return first(lambda t: below_trivial(self.value_at(t), t))

    def value_at(self, t: int) -> float:
        """The bound after t rounds as a number."""
        return sum(self.terms(t).values())

    def at(self, t: int) -> Bound:
        """The bound after t rounds, with what it rests on."""
        proof = (self.THEOREM, self.conditions(t), self.valid_from, self.informative_from)
        return Bound(t, self.terms(t), *proof)

    def summary(self) -> str:
        """The bound as the coefficient of its power of t, which hardly changes with t."""
        power = "2/3" if self.exponent > 0.6 else "1/2"
        shown = [f"{self.value_at(t) / t**self.exponent:.4g} at {_power_of_ten(t)}" for t in COEFFICIENTS]
        limit = "" if self.constant is None else f", → {self.constant:.4g}"
        return f"regret after t rounds ≤ K·t^({power}) for every t, K = {', '.join(shown)}{limit} ({self.THEOREM})"

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.summary()})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        values = [(t, self.value_at(t)) for t in SHOWN]
        rows = [(f"{t:,}", f"{value:,.1f}", f"{value / t:.3g}") for t, value in values]
        shown = _html.table((">rounds", ">regret at most", ">per round"), rows)
        return _html.panel("Regret after t rounds, for every t", shown, _html.note(self.summary()))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON."""
        return {self.KIND: self.numbers()}


def _power_of_ten(t: int) -> str:
    return "10" + str(len(str(t)) - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def below_trivial(value: float, T: int) -> bool:
    """Is the value below T, up to rounding?"""
    return value < T * (1 - ROUNDING)


def bound_at(
    horizon: int,
    theorem: str,
    terms: Callable[[float], dict[str, float]],
    conditions: Callable[[float], tuple[Condition, ...]],
) -> Bound:
    """The bound at `horizon` with its thresholds, from its terms and conditions as functions of T.

    Conditions must stay true once true, and bound/T must decrease: both hold for every formula here.
    """

    def value(T: int) -> float:
        return sum(terms(float(T)).values())

    def valid(T: int) -> bool:
        return all(condition.holds for condition in conditions(float(T)))

    return Bound(
        horizon=horizon,
        terms=terms(float(horizon)),
        theorem=theorem,
        conditions=conditions(float(horizon)),
        valid_from=first(valid),
        informative_from=first(lambda T: below_trivial(value(T), T), _guess(value, horizon)),
    )


def first(holds: Callable[[int], bool], guess: int = 1) -> int:
    """Least T ≥ 1 with holds(T), for a property that stays true once true; quick when `guess` is near.

    >>> first(lambda T: T * T >= 50)
    8
    """
    above, below, step = guess, guess, 1
    if holds(guess):
        while below > 0 and holds(below):
            above, below, step = below, max(below - step, 0), 2 * step
    else:
        while not holds(above):
            below, above, step = above, above + step, 2 * step
    while above - below > 1:  # holds(above) is true, and holds(below) is false or below is 0
        middle = (above + below) // 2
        if holds(middle):
            above = middle
        else:
            below = middle
    return above


def _guess(value: Callable[[int], float], horizon: int) -> int:
    """About where value(T) = T, for a value that grows like T^{2/3} or slower."""
    T = horizon
    for _ in range(4):
        T = max(1, min(round(T * min((value(T) / T) ** 3, 1e12)), 2**62))
    return T
