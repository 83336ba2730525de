"""Paying to look: the arm that is played reveals nothing by itself, and the loss of any arm can be bought.

Seldin, Bartlett, Crammer & Abbasi-Yadkori 2014. Playing and looking are two decisions, so there is no feedback graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sidelight._check import checked_count, checked_horizon, checked_seed
from sidelight._types import Bools, Floats, Longs
from sidelight.errors import InvalidFeedback, InvalidOption, TurnError, listing
from sidelight.planning.bounds.bound import Bound, bound_at
from sidelight.policy.certificate import Certificate

THEOREM = "Paying to look: log N·(3y + β₁), docs/theory/paying.md"


class Look(NamedTuple):
    """What to do in one round: play an arm, and pay for the losses of others."""

    arm: int
    looks: (
        Longs  # the arms whose losses are to be told, in increasing order; possibly none, or the arm itself
    )


class PayToLook:
    """Exponential weights over `n_arms` arms; seeing the loss of arm h in a round costs `costs[h]`, in units of loss.

        q ∝ exp(−L̂/β_t),    arm h is looked at with probability p(h) = min{1, √(q(h)/(2β_t·c(h)))},    ℓ̂ = ℓ/p

        E[regret + what was paid] ≤ 3.12·(log N)^{1/3}·(CT)^{2/3} + 2.13·√(T log N) + O(1),    C = √(Σ_h c(h))

    for every T. A round costs a_t = Σ q/(2β_t·p) + p·c at most, which is known before it is played, and buys
    β_{t+1} = β_t + a_t/(2 log N). Proof: docs/theory/paying.md. Costs of 0 make it exponential weights with full
    feedback; the larger they are, the less it looks.

    >>> import sidelight as sl
    >>> policy = sl.PayToLook(3, costs=0.1, seed=7)
    >>> arm, looks = policy.ask()
    >>> policy.tell({j: 0.5 for j in looks.tolist()})
    >>> policy.round, round(policy.spent, 6) == round(0.1 * len(looks), 6)
    (1, True)
    """

    def __init__(self, n_arms: int, costs: float | npt.ArrayLike, seed: int | None = None) -> None:
        n = checked_count("n_arms", n_arms)
        self.costs = _checked_costs(costs, n)
        self.round = 0
        self.spent = 0.0  # on looking, so far
        self.first_beta = self.beta = _first(self.costs)
        self._last_beta = self.beta  # of the last round
        self._sums = np.zeros(n)
        self._random = np.random.default_rng(None if seed is None else checked_seed(seed))
        self._pending: Look | None = None

    # -- the two turns ----------------------------------------------------------------------------------

    def ask(self) -> Look:
        """The arm to play, drawn from `probabilities`, and the arms to look at, each with its chance in `looking`."""
        if self._pending is not None:
            raise TurnError(f"arm {self._pending.arm} is still to be told: call tell() before asking again")
        q = self.probabilities
        below = int(np.searchsorted(np.cumsum(q), self._random.random(), side="right"))
        arm = min(below, q.size - 1)  # sums of probabilities may end just below 1
        looks = np.flatnonzero(self._random.random(q.size) < self.looking)
        self._pending = Look(arm, looks)
        return self._pending

    def tell(self, losses: Mapping[int, float] | npt.ArrayLike) -> None:
        """The losses in [0, 1] of the arms that were looked at, by arm or in their order; {} where there are none."""
        if self._pending is None:
            raise TurnError("no arm is pending: call ask() before telling what was seen")
        looks = self._pending.looks
        values = _aligned(looks, losses)
        q, p = self.probabilities, self.looking
        self._sums[looks] += values / p[looks]
        self.spent += float(self.costs[looks].sum())
        self._last_beta = self.beta
        if q.size > 1:
            self.beta += _price(q, p, self.costs, self.beta) / (2 * log(q.size))
        self._sums -= self._sums.min()
        self.round += 1
        self._pending = None

    def decide(self) -> Look:
        """`ask`, as policies on a graph call it; one decision at a time."""
        return self.ask()

    def observe(self, decision: Look, losses: Mapping[int, float] | npt.ArrayLike) -> None:
        """`tell` about the decision that is open."""
        if decision is not self._pending:
            raise TurnError("this decision is not the open one: answer what decide() gave last, once")
        self.tell(losses)

    # -- looking ----------------------------------------------------------------------------------------

    @property
    def probabilities(self) -> Floats:
        """(n,) the distribution of the pending play, or of the next one."""
        weights: Floats = np.exp(-self._sums / self.beta)  # the least sum is 0
        weights /= weights.sum()
        return weights

    @property
    def looking(self) -> Floats:
        """(n,) the chance of every arm to be looked at, now or next."""
        if self.costs.size == 1:
            return np.zeros(1)  # there is nothing to learn
        q, free = self.probabilities, self.costs == 0
        wanted = np.sqrt(q / (2 * self.beta * np.where(free, 1.0, self.costs)))
        return np.where(free, 1.0, np.minimum(wanted, 1.0))

    @property
    def pending(self) -> Look | None:
        """What was asked for and not told yet."""
        return self._pending

    def certificate(self) -> Certificate:
        """log N·(β_T + 2(β_{T+1} − β_1)): its mean is at least that of regret and payments so far."""
        if self.round == 0:
            return Certificate(0, None, {"temperature": 0.0, "rounds": 0.0})
        height = log(self.costs.size)
        paid = 2 * height * (self.beta - self.first_beta)
        return Certificate(self.round, None, {"temperature": height * self._last_beta, "rounds": paid})

    def bound_at(self, t: int) -> Bound:
        """The bound on expected regret and payments of t rounds together."""
        return bound_at(checked_horizon(t), THEOREM, self._terms, lambda T: ())

    def _terms(self, T: float) -> dict[str, float]:
        """log N·(3y + β_1), y = (β_1^{3/2} + 3CT/(2√2·log N))^{2/3} + √(T/(2 log N)), split by what is bought."""
        if self.costs.size == 1:
            return {"one arm": 0.0}
        height, total = log(self.costs.size), sqrt(self.costs.sum())
        weak = (self.first_beta**1.5 + 1.5 * total * T / (sqrt(2) * height)) ** (2 / 3)
        return {
            "looking": 3 * height * weak,
            "all seen": 3 * height * sqrt(T / (2 * height)),
            "start": height * self.first_beta,
        }


def _price(q: Floats, p: Floats, costs: Floats, beta: float) -> float:
    """Σ q/(2βp) + p·c: stability and payments of a round, at most and on average."""
    return float(np.sum(q / (2 * beta * p)) + p @ costs)


def _first(costs: Floats) -> float:
    """β_1, at which the first round could double it: √(2/β)·C + 1/(2β) = 2 log N·β, by Newton's method from above."""
    if costs.size == 1:
        return 1.0
    height, total = log(costs.size), sqrt(2 * costs.sum())
    root = max(1.0, sqrt(1 / height), (total / height) ** (2 / 3))  # of 2 log N·x⁴ − √2·C·x − ½, x = √β
    for _ in range(200):
        x = root - (2 * height * root**4 - total * root - 0.5) / (8 * height * root**3 - total)
        if not x < root * (1 - 1e-15):
            break
        root = x
    return float(root * root)


# -- input ------------------------------------------------------------------------------------------------


def _checked_costs(costs: object, n: int) -> Floats:
    try:
        given = np.asarray(costs, dtype=np.float64)
        found: Floats = np.array(np.broadcast_to(given, (n,)))
    except (TypeError, ValueError):
        raise InvalidOption(
            f"costs must be a number or {n} of them, one for each arm, got {costs!r}"
        ) from None
    wrong: Bools = ~(np.isfinite(found) & (found >= 0))
    if wrong.any():
        arm = int(wrong.argmax())
        raise InvalidOption(f"looking at arm {arm} must cost a finite number of at least 0, got {found[arm]}")
    found.flags.writeable = False
    return found


def _aligned(looks: Longs, losses: object) -> Floats:
    """One loss for each arm that was looked at, or an error that names what is wrong."""
    expected = looks.tolist()
    if isinstance(losses, Mapping):
        missing = [arm for arm in expected if arm not in losses]
        extra = [arm for arm in losses if arm not in set(expected)]
        if missing or extra:
            what = f"{listing(missing)} are missing" if missing else f"{listing(extra)} were not asked for"
            raise InvalidFeedback(
                f"tell the losses of the arms looked at ({listing(expected) or 'none'}): {what}"
            )
        losses = [losses[arm] for arm in expected]
    try:
        values: Floats = np.array(losses, dtype=np.float64).reshape(-1) if expected else np.zeros(0)
    except (TypeError, ValueError):
        raise InvalidFeedback(f"losses must be numbers in [0, 1], got {losses!r}") from None
    told = len(values) if expected else np.size(np.asarray(losses, dtype=object))
    if told != len(expected):
        raise InvalidFeedback(f"{len(expected)} arms were looked at ({listing(expected)}), got {told} losses")
    wrong = ~((values >= 0) & (values <= 1))
    if wrong.any():
        at = int(wrong.argmax())
        raise InvalidFeedback(f"the loss of arm {expected[at]} must be in [0, 1], got {values[at]}")
    return values
