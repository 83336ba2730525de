"""The numbers of a self-tuning plan, with all theory taken out: what the engine reads beside a flat tuning."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from math import inf, isfinite
from typing import TYPE_CHECKING

import numpy as np

from sidelight.engine.constants import ROOM
from sidelight.engine.self_tuning import prices
from sidelight.engine.self_tuning.prices import COST
from sidelight.errors import InvalidOption
from sidelight.planning.signed.arms import Arms, Recipe
from sidelight.planning.signed.rows import BaseTable, Prices
from sidelight.planning.signed.smallest import Base
from sidelight.planning.signed.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sidelight._types import Floats

BOTH_SIDES, ALL_LOOPED, ALL_COVERED = range(3)
"""Which arms a price takes as covered."""

MOST = 1e100
"""Numbers of a rule are below this, so that sums and products of a few stay finite."""


@dataclass(frozen=True)
class SelfTuning:
    """One simplex with entropy H of order s and temperature β, which a share of all costs raises from β_1 on.

    A round at β that is played as row of `table` says costs at most what it says, whatever was learnt. With a
    `horizon` the certificate never exceeds `budget`: where the present potential cannot keep to it, the game goes on
    with another (`base_…`), whose arms have orders and temperatures of their own. Proofs: docs/theory/self-tuning.md.
    """

    # Names of fields are those of saved files, and their order is the format.
    order: float  # s in (0, 1]
    share: float  # c: β is never below β_1 + c·(all costs)/D, but for the factor 1 + θ
    diameter: float  # D, the largest H
    first: float  # β_1 ≥ c/D
    weak: float  # κδ^s: no g adds up to more
    loops: float = 0.0  # Q ≥ Σ x/P(x) over the arms outside the cover, all with self-loops
    strong: float = (
        inf  # strongly observable graphs: exploration of strength lean/β costs strong/(β − lean·weak)
    )
    lean: float = 0.0
    patience: float = 0.01  # θ
    play_share: float = 0.25  # c' ≤ c: how much of every cost raises the temperature beyond that
    horizon: int = 0  # 0: any number of rounds
    budget: float = inf
    covered: int = 0  # arms that are explored for
    looped: int = 0  # and arms beside them, with self-loops
    either: int = 0  # 1 if all arms are both
    signed: int = 0  # 1 if estimates may be shifted
    universal: int = 0  # 1 if all others reveal every arm, but not itself, evenly explored for
    base_h: float = 0.0  # the potential behind the budget: its order on covered arms, 0 where there is none,
    base_s: float = 0.0  # and on the others,
    base_beta: float = 0.0  # its temperature on covered arms, at which T rounds cost least,
    base_ratio: float = 0.0  # by what factor that of the others differs,
    base_strength: float = 0.0  # and by which recipe rounds are played there,
    base_lift: float = 0.0
    base_shift: float = 0.0
    base_alone: int = 0  # 1 if nothing is covered there, 2 if all arms are
    base_weak: float = 0.0  # κδ^h,
    base_loops: float = 0.0  # Q at order s,
    base_strong: float = 0.0  # and what `strong` and `lean` are there, 0 for ∞
    base_lean: float = 0.0

    def __post_init__(self) -> None:
        # Rules come from files too: what the kernels divide by must be positive, and products of a few stay finite.
        most = {"order": 1.0, "share": 1.0, "play_share": self.share, "patience": 1.0}
        zero = ("loops", "lean", *(name for name in OWN if name.startswith("base_")))
        for name in (*most, "diameter", "first", "weak", *zero):
            value, top = getattr(self, name), most.get(name, MOST)
            if not 0 <= value <= top or (value == 0 and name not in zero):
                raise InvalidOption(f"{name} of a self-tuning plan is in (0, {top:g}], got {value!r}")
        for name in WHOLE:
            value = getattr(self, name)
            if not isfinite(value) or value != int(value) or value < 0:
                raise InvalidOption(
                    f"{name} of a self-tuning plan is a whole number from 0 on, got {value!r}"
                )
            object.__setattr__(self, name, int(value))
        # With β_1 ≥ c/D no raise of the temperature has to more than double it, on which Theorem 2 relies.
        laws = {
            f"a cover of one arm or more has weak ≥ 1, got {self.weak!r}": self.weak > 1 - 1e-6,
            f"strong = {self.strong!r} must be at least lean·weak = {self.lean * self.weak!r}": (
                self.lean * self.weak <= self.strong and self.strong != 0
            ),
            f"a budget goes with a horizon, and only with one, got {self.budget!r} for {self.horizon!r} rounds": (
                self.horizon >= 0 and (self.horizon == 0) == (self.budget == inf) and self.budget > 0
            ),
            f"first = {self.first!r} is below share/diameter: steps of β would more than double it": (
                self.first * self.diameter >= self.share * (1 - 1e-9)
            ),
            f"a base has orders in (0, 1], got {self.base_h!r} and {self.base_s!r}": (
                max(self.base_h, self.base_s) <= 1
            ),
        }
        for law, holds in laws.items():
            if not holds:
                raise InvalidOption(law)

    @classmethod
    def named(cls, numbers: Mapping[str, float]) -> SelfTuning:
        """The rule with these numbers, also as they were called before losses were shifted."""
        given = dict(numbers)
        if "beside" in given:  # ½Q^s
            Q = (2 * given.pop("beside")) ** (1 / given["order"])
            given |= {"loops": Q, "covered": 1, "looped": int(Q > 0)}
        return cls(**given)  # type: ignore[arg-type]

    def to_array(self) -> Floats:
        """All numbers in the order of the fields."""
        return np.array([getattr(self, name) for name in OWN], dtype=np.float64)

    @classmethod
    def from_array(cls, numbers: Floats) -> SelfTuning:
        """The rule that `to_array` wrote."""
        names = OWN
        if numbers.shape == (BEFORE,):
            names = tuple("beside" if name == "loops" else name for name in OWN[:BEFORE])
        if numbers.shape != (len(names),):
            raise InvalidOption(f"a self-tuning rule is {len(OWN)} numbers, got {numbers.shape}")
        return cls.named(dict(zip(names, numbers.tolist(), strict=True)))

    def arms(self, kind: int, weak: float, loops: float, strong: float = inf, lean: float = 0.0) -> Arms:
        """What prices are made of; of arms that are both, `ALL_LOOPED` or `ALL_COVERED` take one side."""
        return Arms(
            0 if kind == ALL_LOOPED else self.covered,
            0 if kind == ALL_COVERED else self.looped,
            lambda _: weak,
            lambda _: loops,
            lambda _: (strong, lean),
            signed=bool(self.signed),
            universal=bool(self.universal),
        )

    @cached_property
    def table(self) -> Prices:
        """What safe rounds cost by temperature, and how they are played."""
        given = self.weak, self.loops, self.strong, self.lean
        kinds = (ALL_COVERED, ALL_LOOPED) if self.either else (BOTH_SIDES,)
        return Prices.least(
            [Table.of(self.arms(kind, *given), self.order, self.order, self.first) for kind in kinds]
        )

    @cached_property
    def base_table(self) -> BaseTable | None:
        """The same of the potential behind the budget, and what changing to it costs."""
        if self.base_h == 0:
            return None
        strong = self.base_strong or inf, self.base_lean
        arms = self.arms(self.base_alone, self.base_weak, self.base_loops, *strong)
        recipe = Recipe(self.base_strength, self.base_lift or inf, self.base_shift)
        base = Base.known(
            arms, self.base_h, self.base_s, self.base_beta, self.base_ratio, recipe, self.horizon
        )
        return BaseTable.of(arms, base, self.first, self.order)

    def round_cost(self, beta: float) -> float:
        """What a round at β costs at most."""
        return float(self.table.row(beta)[COST])

    def cost_to_go(self, beta: float, rounds: float) -> tuple[float, float]:
        """What so many rounds from β on cost at most, and the β at which they are played then."""
        table = self.table
        near = int(
            np.argmin(self.diameter * table.beta(np.arange(len(table.rows))) + rounds * table.rows[:, COST])
        )
        given = (beta, rounds, self.diameter, table.first, table.step, len(table.rows), near)
        value, target = prices.cost_to_go(table.rows.ravel(), *given)
        return float(value), float(target)

    def cost_elsewhere(self, beta: float, rounds: float) -> tuple[float, int]:
        """What they cost with the potential behind the budget, and the row of its temperatures; ∞ without one."""
        base, table = self.base_table, self.table
        if base is None:
            return inf, -1
        given = table.first, table.step, base.at, base.costs.size, base.climb_at, base.climbs.size, base.best
        value, row = prices.cost_elsewhere(base.costs, base.climbs, beta, rounds, *given)
        return float(value), int(row)

    @property
    def needed(self) -> float:
        """The least budget that all rounds keep to, with some room to play freely in from the first on."""
        T = float(self.horizon)
        rounds = min(self.cost_to_go(self.first, T)[0], self.cost_elsewhere(self.first, T)[0])
        return self.first * self.diameter + rounds + ROOM

    @property
    def beginning(self) -> dict[str, float]:
        """With a horizon: temperature, slack and targets of the first round, at which the budget lasts for all."""
        T = float(self.horizon)
        (own, target), (other, row) = self.cost_to_go(self.first, T), self.cost_elsewhere(self.first, T)
        beta, left, price = target, T * self.round_cost(target), self.round_cost(target)
        if other < own and self.base_table is not None:
            beta, left, price = self.first, other, float(self.base_table.costs[row])
        slack = max(self.budget - beta * self.diameter - left, 0.0)
        return {
            "beta": beta,
            "target_beta": target,
            "base_row": max(row, 0),
            "slack": slack,
            "target_cost": price,
        }

    @property
    def first_strength(self) -> float:
        """The flat tuning around this rule explores with it: the engine scales its arrays by the strength in use."""
        return float(min(1.0 / (2.0 * self.first * self.weak) ** 0.5, 0.5 / self.weak))


OWN = tuple(field.name for field in fields(SelfTuning))
"""Its numbers in the order in which they are saved."""
BEFORE = OWN.index("covered")
"""So many of them, one under another name, are those of files from before losses were shifted."""
WHOLE = ("horizon", "covered", "looped", "either", "signed", "universal", "base_alone")
