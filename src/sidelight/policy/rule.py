"""Rules: algorithms with two compiled steps of their own instead of a tuning for the engine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sidelight._check import checked_horizon
from sidelight._types import Floats, Ints
from sidelight.engine.rules import N_RECORD, PER_ARM
from sidelight.errors import InfeasibleRequest, InvalidGraph
from sidelight.graph import FeedbackGraph
from sidelight.graph.names import names
from sidelight.planning.baselines.algorithms import needs_certain
from sidelight.planning.bounds.bound import bound_at
from sidelight.planning.bounds.constant import checked_confidence, likely, nothing_proved

if TYPE_CHECKING:
    from sidelight.engine.rules import Kernels, RuleState
    from sidelight.planning import Bound
    from sidelight.policy.policy import Policy


@dataclass(frozen=True, eq=False, repr=False)
class Rule:
    """How to play `graph` by a rule that needs no tuning; `horizon` is only what simulations play by default.

    Every rule is a class of its own, in a file of its own in `policy/rules`.
    """

    graph: FeedbackGraph
    horizon: int | None = None

    name: ClassVar[str]
    kernels: ClassVar[Kernels]
    theorem: ClassVar[str] = (
        ""  # the source of the bound; empty where theory has none with explicit constants
    )
    likely_theorem: ClassVar[str] = ""  # the same of the bound with high probability
    needs_loops: ClassVar[bool] = True  # must every arm reveal itself?
    signed: ClassVar[bool] = False  # may its sums fall below 0?
    renews: ClassVar[bool] = False  # does it work something out in Python now and then?
    slow: ClassVar[bool] = (
        False  # does `drawn`, which needs counts and sums alone, wait until it is asked for?
    )
    changes_graphs: ClassVar[bool] = False  # is it proved for graphs that change from round to round?
    remembers: ClassVar[bool] = (
        False  # does it keep in `own` what does not follow from graph, counts and sums?
    )
    example: ClassVar[str] = "mab:4"  # a small graph that it applies to, as `families.parse` reads it

    def __post_init__(self) -> None:
        if not isinstance(self.graph, FeedbackGraph):
            raise InvalidGraph(f"{self.name} needs a FeedbackGraph, got {type(self.graph).__name__}")
        if not self.graph.certain:
            raise needs_certain(self.name)
        lacking = np.flatnonzero(~self.graph.has_loop)
        if self.needs_loops and lacking.size:
            raise InfeasibleRequest(
                f"{self.name} needs every arm to reveal itself, but {names(self.graph, lacking.tolist())} do not; "
                "use sl.plan or chlz21, which need no self-loops"
            )
        if self.horizon is not None:
            object.__setattr__(self, "horizon", checked_horizon(self.horizon))

    # -- what a rule may say for itself -----------------------------------------------------------------

    def terms(self, t: float) -> dict[str, float]:
        """The terms of the bound on the regret of the first t rounds; called only where there is a `theorem`."""
        raise NotImplementedError

    def likely_terms(self, t: float, doubt: float) -> dict[str, float]:
        """The terms of the bound that holds with probability 1 − `doubt`; an error unless it says so."""
        raise nothing_proved(self.name)

    @cached_property
    def own(self) -> Floats:
        """What `RuleState.own` begins as, not negative: numbers of the graph, and room to remember in."""
        return np.zeros(0)

    def probabilities(self, state: RuleState) -> Floats:
        """(n,) the distribution of the next play, a fresh array."""
        return state.probabilities.copy()

    def drawn(self, state: RuleState, arm: int, reveals: Ints, kept: Floats) -> tuple[float, Floats]:
        """The probability of an arm that was drawn from `state`, and that each that it reveals is seen.

        `kept` is what the kernels keep of the draw.
        """
        return float(state.probabilities[arm]), kept[N_RECORD::PER_ARM].copy()

    def renewal(self, t: int) -> int:
        """The first round from t on before whose draw `renew` is called, of those that renew."""
        raise NotImplementedError

    def renew(self, state: RuleState) -> None:
        """Write to `state` what follows from it and takes more than the steps of a round."""

    # -- what all rules have ----------------------------------------------------------------------------

    @property
    def realization(self) -> str:
        """The name, under which figures and tables list it."""
        return self.name

    @property
    def parameters(self) -> dict[str, Any]:
        """None: nothing is tuned."""
        return {}

    @property
    def bound(self) -> Bound | None:
        """The bound at the horizon; None if there is no horizon, or no bound."""
        return None if self.horizon is None else self.bound_at(self.horizon)

    def bound_at(self, t: int, confidence: float | None = None) -> Bound | None:
        """The bound on the regret of the first t rounds; None where theory has none with explicit constants.

        That is the expected regret; with a `confidence` such as 0.99 the bound holds with that probability, or an
        error says that nothing is proved.
        """
        T = checked_horizon(t, "t")
        if confidence is not None:
            doubt, theorem = 1 - checked_confidence(confidence), likely(confidence, self.likely_theorem)
            return bound_at(T, theorem, lambda T: self.likely_terms(T, doubt), lambda T: ())
        return bound_at(T, self.theorem, self.terms, lambda T: ()) if self.theorem else None

    def policy(
        self,
        seed: int | None = None,
        *,
        losses: tuple[float, float] | None = None,
        rewards: tuple[float, float] | None = None,
    ) -> Policy:
        """A policy that plays by this rule, with its own random stream.

        It is told losses in [0, 1], unless `losses=(low, high)` or `rewards=(low, high)` says otherwise; regret is
        then reported in that unit.
        """
        from sidelight.policy.policy import Policy

        return Policy(self, seed, losses=losses, rewards=rewards)

    def summary(self) -> str:
        """The rule for human readers."""
        rounds = "any number of rounds" if self.horizon is None else f"{self.horizon:,} rounds"
        bound = self.bound
        promised = bound.summary() if bound is not None else "no bound is claimed"
        return f"{self.name} for {self.graph.n_arms:,} arms and {rounds}\n{promised}"

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"Rule({self.name!r}, n_arms={self.graph.n_arms}, horizon={self.horizon})"

    def to_dict(self) -> dict[str, Any]:
        """Everything but the graph, ready for JSON."""
        bound = self.bound
        return {
            "horizon": self.horizon,
            "realization": self.name,
            "parameters": self.parameters,
            "bound": None if bound is None else bound.to_dict(),
        }


class Certain(Rule):
    """A rule that draws nothing: it plays one arm, for sure."""

    def probabilities(self, state: RuleState) -> Floats:
        """1 on the arm that it will play."""
        chosen = np.zeros(self.graph.n_arms)
        trial = state._replace(numbers=state.numbers.copy(), words=state.words.copy())
        chosen[self.kernels.ask(trial)] = 1.0
        return chosen

    def drawn(self, state: RuleState, arm: int, reveals: Ints, kept: Floats) -> tuple[float, Floats]:
        """Everything was sure to happen."""
        return 1.0, np.ones(reveals.size)
