"""A plan: how to play a graph, and what regret that is certain to keep below."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

from sidelight import _html
from sidelight._check import checked_horizon
from sidelight.errors import NoHorizon
from sidelight.graph import FeedbackGraph
from sidelight.partition import Partition
from sidelight.planning.bounds.bound import Bound, BoundCurve, Condition, bound_at
from sidelight.planning.bounds.constant import delayed, high_probability, nothing_proved
from sidelight.planning.cliques import CliqueCover, clique_cover
from sidelight.planning.tuning import Tuning

if TYPE_CHECKING:
    from sidelight.policy import Policy


class Considered(NamedTuple):
    """One candidate that `plan` weighed."""

    partition: str
    realization: str
    value: float
    certified: bool


@dataclass(frozen=True, eq=False)
class Details:
    """The planner's notes on a plan: nothing of this is played."""

    graph: FeedbackGraph
    choices: tuple[str, ...] = ()  # (m2,) how each weak block plays: "clustered", "adaptive", "flat h=0.5", …
    considered: tuple[Considered, ...] = ()  # what was weighed
    note: str = ""  # what a reader of the summary should know besides

    @cached_property
    def evidence(self) -> CliqueCover:
        """The cliques that prove how well arms see each other, for `check_certificate` to verify."""
        return clique_cover(self.graph)

    def evidence_at(self, r: float) -> CliqueCover:
        """The same of the edges that reveal with probability r or more."""
        return self.evidence if self.graph.certain else clique_cover(self.graph.at_least(r))


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """How to play `graph`, for `horizon` rounds or any number of them, and what regret that keeps below.

    Made by `plan`; `details` has its notes.
    """

    graph: FeedbackGraph
    partition: Partition
    horizon: int | None  # None: any number of rounds
    realization: str
    parameters: dict[str, Any]  # the paper's names: alpha, beta or b, eta, eta_loop, …
    curve: Bound | BoundCurve  # the bound as a function of the number of rounds
    tuning: Tuning
    details: Details

    def policy(
        self,
        seed: int | None = None,
        *,
        losses: tuple[float, float] | None = None,
        rewards: tuple[float, float] | None = None,
    ) -> Policy:
        """A policy that plays this plan, with its own random stream.

        It is told losses in [0, 1], unless `losses=(low, high)` or `rewards=(low, high)` says otherwise; regret is
        then reported in that unit.
        """
        from sidelight.policy import Policy  # the one way up: a plan is asked for its player

        return Policy(self, seed, losses=losses, rewards=rewards)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the plan, its graph and its bound to a JSON file, whole or not at all.

        `Plan.load` reads it, `sidelight run plan.json` plays it. What is being learnt is not part of it: that is what
        `policy.save` keeps.
        """
        from sidelight.policy import plan_file

        plan_file.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str], limit: int | None = None) -> Plan:
        """The plan that `save` wrote; `sl.check_certificate` proves its bound again for whoever doubts it.

        Raises SavedStateError, which names the file and the reason, for anything else. The file may take `limit`
        bytes of memory, by default 64 times its size, and 256 MiB at least.
        """
        from sidelight.policy import plan_file

        return plan_file.read(path, limit).plan

    @property
    def bound(self) -> Bound:
        """The bound at the horizon; without a horizon there is none, but one for every t: `bound_at(t)`."""
        if self.horizon is None:
            raise NoHorizon(
                "this plan is for any number of rounds: plan.bound_at(t) is its bound after t of them, and"
                f" plan.curve describes all: {self.curve.summary()}"
            )
        return self.curve.at(self.horizon)

    def bound_at(self, t: int, confidence: float | None = None, delay: float | None = None) -> Bound:
        """The bound on the regret of t rounds: of the whole horizon, or without one of any number.

        That is the expected regret; with a `confidence` such as 0.99 the bound holds with that probability, where the
        plan explores all arms by constant numbers on one simplex with entropy and shifts no losses, whatever t.
        Others refuse. The same plans have a bound for answers that come late, with `delay` decisions open on average
        when one is made.
        """
        T = checked_horizon(t, "t")
        if delay is not None:
            if confidence is not None:
                raise nothing_proved("confidence and delay at once", "late")
            return delayed(self.graph, self.tuning, T, delay)
        if confidence is None:
            return self.curve.at(T)
        return high_probability(self.graph, self.tuning, T, confidence)

    def noted(self, note: str) -> Plan:
        """The same plan with a note for whoever reads its summary."""
        return replace(self, details=replace(self.details, note=note))

    @property
    def _title(self) -> str:
        rounds = "any number of rounds" if self.horizon is None else f"{self.horizon:,} rounds"
        return f"{self.realization} plan for {self.graph.n_arms:,} arms and {rounds}"

    def summary(self) -> str:
        """The plan for human readers."""
        lines = [self._title, blocks_of(self.partition)]
        lines += [
            f"  {name} = {value}" + f"  {meaning}" * bool(meaning)
            for name, value, meaning in numbers_of(self.parameters)
        ]
        lines += [self.curve.summary(), self.details.note]
        if len(self.details.considered) > 1:
            lines.append("considered:")
            width = max(11, *(len(c.partition) for c in self.details.considered))
            for c in self.details.considered:
                status = "certified" if c.certified else "not certified"
                lines.append(f"  {c.partition:<{width}} {c.realization:<12} {c.value:>14,.2f}  {status}")
        return "\n".join(line for line in lines if line)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        size = f"realization={self.realization!r}, n_arms={self.graph.n_arms}, n_blocks={self.partition.n_blocks}"
        if self.horizon is None:
            return f"Plan({size}, horizon=None, bound={self.curve.summary()!r})"
        bound = self.bound
        promise = f"bound={bound.value:.6g}, certified={bound.certified}{', vacuous=True' * bound.vacuous}"
        return f"Plan({size}, horizon={self.horizon}, {promise})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        rows: list[tuple[str, object]] = [("blocks", blocks_of(self.partition))]
        numbers = numbers_of(self.parameters)
        rows += [(f"{name} = {value}", meaning or "a parameter") for name, value, meaning in numbers]
        if self.horizon is None:
            rows.append(("bound", self.curve.summary()))
        else:
            bound = self.bound
            status = ("certified" if bound.certified else "not certified") + ", vacuous" * bound.vacuous
            rows += [("regret at most", f"{bound.value:,.1f} ({status})"), ("theorem", bound.theorem)]
        weighed = [
            (c.partition, c.realization, f"{c.value:,.1f}", "" if c.certified else "not certified")
            for c in sorted(self.details.considered, key=lambda c: (not c.certified, c.value))
        ]
        others = _html.table(("partition", "realization", ">regret at most", ""), weighed)
        folded = _html.folded(f"{len(weighed)} considered", others) if len(weighed) > 1 else ""
        return _html.panel(self._title, _html.facts(rows), _html.note(self.details.note), folded)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the graph in plain numbers, strings, lists and dicts, ready for JSON."""
        return {
            "horizon": self.horizon,
            "realization": self.realization,
            "blocks": [block.tolist() for block in self.partition.blocks],
            "choices": list(self.details.choices),
            "parameters": self.parameters,
            "bound": self.curve.to_dict(),
            "considered": [candidate._asdict() for candidate in self.details.considered],
        }


# -- what becomes a plan ------------------------------------------------------------------------------------


class Offer(NamedTuple):
    """What a candidate offers for T rounds."""

    terms: dict[str, float]  # of the bound on the regret
    tune: Callable[[], tuple[Tuning, dict[str, Any]]]  # makes the tuning and its parameters by name
    conditions: tuple[Condition, ...] = ()  # what the bound needs
    sharper: dict[str, float] = {}  # noqa: RUF012 - a smaller bound on the same play (docs/theory/fixed-rates.md)
    order: float | None = None  # of the potential, where one simplex with one potential is played

    @property
    def value(self) -> float:
        """The bound on the regret."""
        return sum(self.terms.values())


class Candidate(ABC):
    """A way to play one partition: everything about it is a function of the horizon T."""

    source = "Sidelight, docs/theory"
    learns = True

    def __init__(
        self, name: str, realization: str, partition: Partition, theorem: str, choices: tuple[str, ...] = ()
    ) -> None:
        self.name = name  # of the partition, or of what covers its arms
        self.realization = realization
        self.partition = partition
        self.theorem = theorem
        self.choices = choices  # how each weak block plays, in words

    @property
    def title(self) -> str:
        """What a table of bounds calls it."""
        return f"ours: {self.realization}, {self.name}"

    @abstractmethod
    def offer(self, T: float) -> Offer:
        """What it offers for T rounds."""

    def floor(self, T: float) -> float:
        """No more than the bound at T, quickly."""
        return 0.0

    def near(self, t: float, horizon: int) -> float:
        """A bound at t in the manner of that at `horizon`, quickly."""
        return self.offer(t).value

    def score(self, horizon: int) -> tuple[float, bool]:
        """Value of the bound at `horizon` and whether it is certified: `bound` without its thresholds."""
        offer = self.offer(float(horizon))
        return offer.value, all(condition.holds for condition in offer.conditions)

    def bound(self, horizon: int) -> Bound:
        """The bound at `horizon`: its value is the formula's, whether or not it is certified."""
        offer = self.offer
        return bound_at(horizon, self.theorem, lambda T: offer(T).terms, lambda T: offer(T).conditions)

    def plan(self, horizon: int, considered: tuple[Considered, ...] = ()) -> Plan:
        """The plan that plays it for `horizon` rounds."""
        tuning, parameters = self.offer(float(horizon)).tune()
        p = self.partition
        played = (self.realization, parameters, self.bound(horizon), tuning)
        return Plan(p.graph, p, horizon, *played, Details(p.graph, self.choices, considered))


# -- in words --------------------------------------------------------------------------------------------
# The numbers of a plan and the kinds of its blocks in words, for whoever reads a summary.


MEANINGS = {
    "order": "order s of the entropy",
    "share": "share c of each round's cost that pays for a higher temperature",
    "beta_1": "least temperature, which keeps the distribution of play wide",
    "temperature": "inverse rate of the potential on covered arms",
    "temperature_loops": "inverse rate of the potential on arms with a self-loop that nothing covers",
    "delta": "weight of the cover",
    "strong": "what a round without a shift costs at most, times about the temperature",
    "alpha": "local exploration of each block",
    "beta": "strength of the global exploration",
    "b": "strength of the global exploration",
    "h": "power of the potential",
    "s": "power of the potential on arms with a self-loop that nothing covers",
    "K": "largest step of the estimates of these arms: one that is played too rarely for that is explored",
    "c": "shift: what is subtracted from losses before they are divided",
    "q": "power of the potential",
    "eta": "rate of the potential",
    "eta_loop": "rate of single arms with a self-loop",
    "eta_loopless": "rate of single arms without a self-loop",
    "extra": "exploration for arms without a self-loop",
    "gamma_bar": "largest probability of exploring",
    "rho": "1/(1 − gamma_bar)",
    "exploration_scale": "factor of all exploration, below 1 where it would not fit",
    "closed_form": "bound in closed form, which the numerical minimum must not exceed",
}
"""What each parameter is; names that are not here are the paper's, and stand alone."""


def numbers_of(parameters: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """(name, value, meaning) of the plain numbers among a plan's parameters.

    >>> numbers_of({"h": 0.5, "cover": "all arms"})
    [('h', '0.5', 'power of the potential')]
    """
    return [
        (name, f"{value:.4g}", MEANINGS.get(name, ""))
        for name, value in parameters.items()
        if isinstance(value, float)
    ]


def blocks_of(partition: Partition) -> str:
    """How many blocks there are of which kind."""
    if partition.n_blocks == 1:
        arms = partition.graph.n_arms
        return "one block of a single arm" if arms == 1 else f"one block of all {arms:,} arms"
    kinds = {
        "of several arms": partition.weak,
        "of one arm with a self-loop": partition.strong_loop,
        "of one arm without a self-loop": partition.strong_loopless,
    }
    listed = ", ".join(f"{each.size:,} {kind}" for kind, each in kinds.items() if each.size)
    return f"{partition.n_blocks:,} blocks: {listed}"
