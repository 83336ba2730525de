"""The numbers the engine plays from: a plan with all theory taken out."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sidelight._types import Bools, Floats, Longs
from sidelight.engine.constants import EXACT_SPREAD, LARGEST_REACH, MOST_EXPLORATION
from sidelight.errors import InvalidOption
from sidelight.graph.altered import loop_probability
from sidelight.planning.covers import largest_revealed, loads
from sidelight.planning.potentials import Numbers, Potential
from sidelight.planning.self_tuning.rule import SelfTuning
from sidelight.planning.signed.arms import lazy_lift
from sidelight.planning.signed.prices import most

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sidelight.graph import FeedbackGraph


LAZY_FACTOR = (1 - LARGEST_REACH) ** -2
"""In blocks of more than `EXACT_SPREAD` arms the spread that is played lies between g and this times g."""

POWERS, RATES = (1.001, 1000.0), (1e-100, 1e6)
"""Potentials within these are solved to the last digits; plans use powers 64/63..64 and rates far from both ends."""


def lazy_factor(n_arms: npt.ArrayLike) -> Floats:
    """How far the spread of blocks of `n_arms` arms may exceed the formula: 1 or `LAZY_FACTOR`."""
    return np.where(np.asarray(n_arms) > EXACT_SPREAD, LAZY_FACTOR, 1.0)


UNLISTED = ("self_tuning", "base", "shift", "floor", "corners")
"""Fields that are no arrays."""


def nobody() -> Floats:
    """Stands for a mask in which no arm is."""
    return np.zeros(0)


@dataclass(frozen=True, eq=False, repr=False)
class Tuning:
    """Two levels of mirror descent with fixed potentials, and the exploration mixed into them.

    Arm j of block k is played with probability (1−γ̄)·Y_k·X̃_k(j) + γ(j), where γ̄ = Σ_j γ(j) ≤ ½ and

        X̃_k = (1 − Σ local)·X_k + local
        γ(j) = global(j) + adaptive_k·Σ_{i : parent(i) = j} √X_k(i)
                         + spread_k·cover(j)·max_{i ∈ Nout(j) ∩ V_k, load(i) > 0} r_{ji}^{1/h−1}·X_k(i)^{1−h}/load(i)
                         + [floor·X_k(j)^{1−h} − X_k(j)]₊ if j is lifted

    with r_{ji} the probability that j reveals i, 1 unless reveals may fail. A potential is a pair (power q, rate a):
    with S_i the cumulative loss estimates and Λ the multiplier, x_i = (a(Λ+S_i))^{−q}, or exp(−1−a(Λ+S_i)) where
    q = 0. Singletons have no inner potential: (0, 0). Arms of one block may differ in both; those with a load share
    one power q = 1/(1−h). With `self_tuning`, one block whose rate and exploration follow what happens; the arrays
    hold those of round 1.
    """

    block_start: Longs  # (m+1,)
    block_arms: Longs  # (n,) arms of block k: block_arms[block_start[k]:block_start[k+1]]
    top_power: Floats  # (m,)
    top_rate: Floats  # (m,)
    inner_power: Floats  # (n,) by arm
    inner_rate: Floats  # (n,) by arm
    global_exploration: Floats  # (n,) constant part of γ
    local_exploration: Floats  # (n,)
    adaptive: Floats  # (m,) coefficient of the adaptive part of γ, 0 for none
    parent: Longs  # (n,) −1 where the block is not adaptive
    spread: Floats  # (m,) β_k of the interpolated part of γ, 0 for none
    cover: Floats  # (n,) x* where the block has a spread, else 0
    load: Floats  # (n,) Σ_{j ∈ Nin(i) ∩ V_k} cover(j)·r_{ji}^{1/h}, 0 where the arm is owed nothing
    lifted: Floats = field(
        default_factory=nobody
    )  # (n,) 1 for arms that are explored with [floor·X^{1−h} − X]₊ besides, 0 for all others
    floor: float = 0.0  # of a plan with fixed rates; those that tune themselves choose it, and the shift
    shift: float = 0.0  # c: estimates are (ℓ − c)/P
    corners: bool = (
        False  # is every potential 0 at the corners? Then −xʰ has a line beside it; constants do not matter
    )
    self_tuning: SelfTuning | None = None
    base: Tuning | None = (
        None  # the potential behind the budget of a self-tuning plan, at its best temperatures
    )

    @classmethod
    def flat(cls, n: int, potential: Potential, **more: Any) -> Tuning:
        """All n arms in one block, which is always played: its top potential does not matter."""
        everyone = np.ones(n, dtype=bool)
        return cls.blocks([0, n], np.arange(n), Potential(0.5, 2.0), (everyone, potential), **more)

    @classmethod
    def singletons(cls, n: int, potential: Potential, constant: Numbers = 0.0) -> Tuning:
        """Every arm a block of its own: one simplex on the top level, for strongly observable graphs."""
        return cls.blocks(np.arange(n + 1), np.arange(n), potential, constant=constant)

    @classmethod
    def blocks(
        cls,
        start: npt.ArrayLike,
        arms: Longs,
        top: Potential,
        inner: tuple[Bools, Potential] | None = None,
        *,
        constant: Numbers = 0.0,
        local: Numbers = 0.0,
        adaptive: Numbers = 0.0,
        parent: Longs | int = -1,
        spread: Numbers = 0.0,
        cover: Numbers = 0.0,
        load: Numbers = 0.0,
        lifted: Numbers = 0.0,
        floor: float = 0.0,
        shift: float = 0.0,
        corners: bool = False,
        self_tuning: SelfTuning | None = None,
        base: Tuning | None = None,
    ) -> Tuning:
        """Two levels: `top` over the m blocks, `inner` for the arms of a mask (n,), those in larger ones."""
        m, n = np.size(start) - 1, len(arms)
        power, rate = np.zeros(n), np.zeros(n)
        if inner is not None:
            inside, potential = inner
            power[inside], rate[inside] = potential.power, potential.rate
        return cls(
            block_start=np.asarray(start),
            block_arms=arms,
            top_power=np.full(m, top.power),
            top_rate=np.full(m, top.rate),
            inner_power=power,
            inner_rate=rate,
            global_exploration=np.full(n, constant),
            local_exploration=np.full(n, local),
            adaptive=np.full(m, adaptive),
            parent=np.full(n, parent),
            spread=np.full(m, spread),
            cover=np.full(n, cover),
            load=np.full(n, load),
            lifted=np.full(n, lifted),
            floor=floor,
            shift=shift,
            corners=corners,
            self_tuning=self_tuning,
            base=base,
        )

    def with_base(self, row: int | None = None) -> Tuning:
        """What is played once the game goes on with the potential behind the budget, at the temperatures of a row."""
        rule, base = self.self_tuning, self.base
        assert rule is not None
        assert base is not None
        table = rule.base_table
        assert table is not None
        best = table.best
        row = best if row is None else row
        colder = table.beta(row) / table.beta(best)
        (strength, floor, shift), least = table.recipe(row), table.recipe(best)[0]
        # Where nothing is to be explored a little is: all rows are laid out alike.
        more = max(strength / least, 1e-9) if least > 0 else 0.0
        return replace(
            base,
            inner_rate=base.inner_rate / colder,
            spread=base.spread * more,
            global_exploration=base.global_exploration * more,
            floor=floor,
            shift=shift,
        )

    @property
    def temperatures(self) -> tuple[Floats, Floats]:
        """(n,) order and temperature of each arm inside its block."""
        order = 1 - np.divide(1.0, self.inner_power, out=np.zeros(self.n_arms), where=self.inner_power > 0)
        return order, np.where(order < 1, 1 - order, 1.0) / self.inner_rate

    def __post_init__(self) -> None:
        m, n = len(self.block_start) - 1, len(self.block_arms)
        lengths = {"block_start": m + 1, "top_power": m, "top_rate": m, "adaptive": m, "spread": m}
        whole = ("block_start", "block_arms", "parent")
        if self.lifted.size == 0:
            object.__setattr__(self, "lifted", np.zeros(n))
        for name in self._array_names():
            dtype = np.int64 if name in whole else np.float64
            array: npt.NDArray[Any] = np.array(getattr(self, name), dtype=dtype)
            if array.shape != (lengths.get(name, n),):
                raise InvalidOption(f"{name} has shape {array.shape}, not {(lengths.get(name, n),)}")
            if name not in whole and not ((array >= 0) & np.isfinite(array)).all():
                raise InvalidOption(f"{name} must be finite and not negative")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        for holds, law in self._laws():
            if not holds:
                raise InvalidOption(law)

    def _laws(self) -> Iterator[tuple[bool | np.bool_, str]]:
        """What the engine relies on, one after another: later laws are only meant where earlier ones hold."""
        n, start = self.n_arms, self.block_start
        rises = start[0] == 0 and start[-1] == n and (np.diff(start) >= 1).all()
        yield rises, f"block_start must rise from 0 to the number of arms {n}"
        once = np.array_equal(np.sort(self.block_arms), np.arange(n))
        yield once, f"block_arms must hold each of the arms 0..{n - 1} once"
        yield ((self.parent >= -1) & (self.parent < n)).all(), f"parent must be an arm in 0..{n - 1}, or −1"
        owner = self.block_of
        alone, follows = (self.sizes == 1)[owner], (self.adaptive > 0)[owner]
        power = np.append(self.top_power, self.inner_power[~alone])
        rate = np.append(self.top_rate, self.inner_rate[~alone])
        powers = (power == 0) | ((power >= POWERS[0]) & (power <= POWERS[1]))
        yield powers.all(), f"powers are 0 (entropy) or 1/(1−h) in {POWERS[0]:g}..{POWERS[1]:g}"
        rates = (rate >= RATES[0]) & (rate <= RATES[1])
        yield rates.all(), f"blocks, and arms that share a block, have rates in {RATES[0]:g}..{RATES[1]:g}"
        local = self.local_exploration
        yield not local[alone].any(), "a block of one arm has no local exploration"
        most_local = np.bincount(owner, local).max()
        yield most_local <= 1 + 1e-12, "the local exploration of a block adds up to 1 at most"
        has_parent = self.parent >= 0
        yield (
            np.array_equal(has_parent, follows),
            "an arm has a parent where its block explores adaptively, and only there",
        )
        inner, blocks = self.inner_rate[self.block_arms], owner[self.block_arms]
        changes = self.block_arms[:-1][(np.diff(inner) != 0) & (np.diff(blocks) == 0)]
        yield (
            (self.inner_power[follows] == 2).all() and not follows[changes].any(),
            "a block that explores adaptively has one potential, −√x with one rate",
        )
        tsallis = (self.inner_power[self.load > 0] > 1).all()
        yield tsallis, "an arm with a load needs a Tsallis potential, power q = 1/(1−h) > 1"
        low, high = self._owed_powers()
        yield (low == high).all(), "the arms with a load in one block must share one power"
        lacking = np.flatnonzero((self.spread > 0) & (high == 0))
        yield lacking.size == 0, f"block {lacking.tolist()} has a spread, but no arm of it has a load"
        lifted = self.lifted > 0
        alike = self.inner_power[lifted], self.inner_rate[lifted]
        shared = all(np.ptp(each) == 0 for each in alike if each.size) and (alike[0] > 1).all()
        law = "arms that are lifted are in one block and share one Tsallis potential, power q = 1/(1−h) > 1"
        yield not lifted.any() or (self.n_blocks == 1 and n > 1 and shared), law
        yield ((self.lifted == 0) | (self.lifted == 1)).all(), "an arm is lifted, 1, or not, 0"
        numbers = 0 <= self.shift <= 1 and 0 <= self.floor <= RATES[1]
        yield numbers, f"shift = {self.shift!r} is in [0, 1], and floor = {self.floor!r} a number from 0 on"
        if self.self_tuning is not None:
            yield from self._laws_of_self_tuning(self.self_tuning.order)
        most = self.most_exploration
        yield most <= MOST_EXPLORATION * (1 + 1e-9), f"total exploration may reach {most}, more than ½"

    def _laws_of_self_tuning(self, order: float) -> Iterator[tuple[bool | np.bool_, str]]:
        one_block = self.n_blocks == 1 and self.n_arms > 1
        yield one_block, "a self-tuning plan plays one block of two arms or more"
        plain = not (self.local_exploration.any() or self.adaptive.any())
        yield plain, "a self-tuning plan explores through its cover alone"
        shared = np.ptp(self.inner_power) == 0 and np.ptp(self.inner_rate) == 0
        power = float(self.inner_power[0])
        h = 1 - 1 / power if power else 1.0
        law = f"the arms of a self-tuning plan share one potential of order {order}"
        yield shared and abs(h - order) <= 1e-9, law

    def check_graph(self, graph: FeedbackGraph) -> None:
        """Refuse a graph that this tuning is not for: other arms, parents that do not reveal, other loads."""
        if self.n_arms != graph.n_arms:
            raise InvalidOption(f"the tuning is for {self.n_arms} arms, the graph has {graph.n_arms}")
        watched = np.flatnonzero(self.parent >= 0)
        parents = self.parent[watched]
        edges = np.append(graph.out_sources * graph.n_arms + graph.out_indices, -1)  # rising, but for the end
        wanted = parents * graph.n_arms + watched
        listed = edges[np.searchsorted(edges[:-1], wanted)] == wanted
        everywhere = np.isin(watched, graph.universal) & ((parents != watched) | graph.has_loop[watched])
        if not (listed | everywhere).all():
            raise InvalidOption("a parent must reveal the arm it explores for")
        if not graph.has_loop[self.lifted > 0].all() or (loop_probability(graph)[self.lifted > 0] < 1).any():
            raise InvalidOption("an arm that is lifted must reveal itself, always")
        targets = self.load > 0
        covered = loads(graph, self.block_of, self.cover, self._sharpness)
        if not np.allclose(self.load[targets], covered[targets], rtol=1e-9, atol=0.0):
            raise InvalidOption("the load of an arm is the cover of those who reveal it in its block")

    @property
    def _sharpness(self) -> Floats:
        """(n,) 1/h: to this power the probability of a reveal counts in a load; 1 for the entropy."""
        q = np.where(self.inner_power > 1, self.inner_power, np.inf)
        return np.asarray(1 + 1 / (q - 1))

    @property
    def n_arms(self) -> int:
        """Number of arms n."""
        return len(self.block_arms)

    @property
    def n_blocks(self) -> int:
        """Number of blocks m."""
        return len(self.block_start) - 1

    @property
    def sizes(self) -> Longs:
        """(m,) number of arms of each block."""
        return np.diff(self.block_start)

    @property
    def block_of(self) -> Longs:
        """(n,) the block of each arm."""
        owner = np.empty(self.n_arms, dtype=np.int64)
        owner[self.block_arms] = np.repeat(np.arange(self.n_blocks), self.sizes)
        return owner

    @property
    def most_exploration(self) -> float:
        """The largest γ̄ can be: Σ √X_k is at most √n_k, and Σ_j g_j at most δ_k^h (Hölder)."""
        constant_and_adaptive = self.global_exploration.sum() + np.sum(self.adaptive * np.sqrt(self.sizes))
        return float(constant_and_adaptive + np.sum(self.most_spread) + self.most_lifted)

    @property
    def most_lifted(self) -> float:
        """The largest Σ [floor·x^{1−h} − x]₊ over lifted arms, with the factors of lazy play."""
        lifted = np.flatnonzero(self.lifted > 0)
        if not lifted.size or self.floor == 0:
            return 0.0
        order = 1 - 1 / float(self.inner_power[lifted[0]])
        above, below = lazy_lift(self.n_arms, order)
        return lifted.size * float(most(above * self.floor, below, order))

    @property
    def most_spread(self) -> Floats:
        """(m,) the largest total spread of each block: β_k·δ_k^h, with the factor of lazy play."""
        _, power = self._owed_powers()
        h = 1 - 1 / np.where(power > 0, power, 1.0)
        masses = np.bincount(self.block_of, weights=self.cover, minlength=self.n_blocks)
        return np.where(self.spread > 0, self.spread * lazy_factor(self.sizes) * masses**h, 0.0)

    def exploration(self, graph: FeedbackGraph, inner: Floats) -> Floats:
        """(n,) γ when the distributions inside the blocks put inner[j] on arm j of their block."""
        owner = self.block_of
        gamma = self.global_exploration.copy()
        watched = np.flatnonzero(self.parent >= 0)
        np.add.at(gamma, self.parent[watched], self.adaptive[owner[watched]] * np.sqrt(inner[watched]))
        if (self.spread > 0).any():
            targets = self.load > 0
            need = np.zeros(self.n_arms)
            need[targets] = inner[targets] ** (1 / self.inner_power[targets]) / self.load[targets]
            most = largest_revealed(graph, owner, need, self._sharpness - 1)
            gamma += self.spread[owner] * self.cover * most
        if self.floor > 0:
            lifted = self.lifted > 0
            at = inner[lifted]
            gamma[lifted] += np.maximum(self.floor * at ** (1 / self.inner_power[lifted]) - at, 0.0)
        return gamma

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays by name: all that `from_arrays` needs."""
        arrays = {name: np.asarray(getattr(self, name)) for name in self._array_names()}
        arrays["estimates"] = np.array([self.shift, self.floor, self.corners])
        if self.self_tuning is not None:
            arrays["self_tuning"] = self.self_tuning.to_array()
        if self.base is not None:
            arrays |= {f"base.{name}": array for name, array in self.base.to_arrays().items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Tuning:
        """The tuning that `to_arrays` took apart; KeyError names what is missing."""
        if "schedule_inner_rate" in arrays:  # files of before
            raise InvalidOption("plans whose rates fall with the rounds are gone: plan again, sl.plan(graph)")
        rule = SelfTuning.from_array(arrays["self_tuning"]) if "self_tuning" in arrays else None
        own = {name: arrays[name] for name in cls._array_names()}
        shift, floor, corners = arrays["estimates"].tolist()
        behind = {
            name.removeprefix("base."): each for name, each in arrays.items() if name.startswith("base.")
        }
        base = cls.from_arrays(behind) if behind else None
        return cls(**own, shift=shift, floor=floor, corners=corners != 0, self_tuning=rule, base=base)

    @classmethod
    def _array_names(cls) -> list[str]:
        return [each.name for each in fields(cls) if each.name not in UNLISTED]

    def _owed_powers(self) -> tuple[Floats, Floats]:
        """(m,) smallest and largest power among the arms with a load in each block; 0 where there are none."""
        targets = np.flatnonzero(self.load > 0)
        owner = self.block_of[targets]
        low, high = np.full(self.n_blocks, np.inf), np.zeros(self.n_blocks)
        np.minimum.at(low, owner, self.inner_power[targets])
        np.maximum.at(high, owner, self.inner_power[targets])
        return np.where(high > 0, low, 0.0), high

    def __repr__(self) -> str:
        return f"Tuning(n_arms={self.n_arms}, n_blocks={self.n_blocks}, γ̄ ≤ {self.most_exploration:.4g})"
