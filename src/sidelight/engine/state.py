"""What a policy has learnt, in loss units and by arm, and the engine rebuilt from it.

The engine keeps sums scaled by rates, shifted, sorted into buckets and under trees. All of that follows from the
cumulative estimates, so only they are kept in files:

    arm_sums     (n,) Σ ℓ̂ of each arm inside its block, above the least of the block; 0 in blocks of one arm
    arm_least    (m,) that least
    arm_paid     (m,) Σ ⟨ℓ̂, X⟩, what each block paid inside
    block_sums   (m,) Σ L̂ of each block, above the least of all
    totals       (3,) that least, Σ ⟨L̂, Y⟩ on the top level, Σ γ̄·(1 − ⟨L̂, Y⟩)

Differences of sums matter and their size does not: kept apart, both have all their digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sidelight._files import digest
from sidelight._version import __version__
from sidelight.engine._numba.cache import SOURCES
from sidelight.engine.build import block_order, build_memory
from sidelight.engine.fields import CHANGING, FIXED, TUNED, Memory, looked_into, switch, views
from sidelight.engine.round import round as engine
from sidelight.engine.self_tuning.begin import first_numbers
from sidelight.engine.self_tuning.point import log_partition
from sidelight.engine.simplex.store import AS_RECORDS, ENTROPY_TREE, N_BUCKETS, POWER_BUCKETS

if TYPE_CHECKING:
    from sidelight._types import Floats
    from sidelight.graph import FeedbackGraph
    from sidelight.planning import Tuning

BLOCK_LEAST, BLOCK_PAID, EXPLORED, N_TOTALS = range(4)
"""Learnt.totals."""


class Learnt(NamedTuple):
    """Everything that playing has changed; blocks and arms in the order of the tuning."""

    arm_sums: Floats  # (n,)
    arm_least: Floats  # (m,)
    arm_paid: Floats  # (m,)
    block_sums: Floats  # (m,)
    totals: Floats  # (N_TOTALS,)
    round: int  # rounds learnt from
    late: int  # of these, how many after others
    words: npt.NDArray[np.uint64]  # (4,) the random stream
    tuned: Floats  # where self-tuning stands (by `fields.TUNED`), its leader as an arm; empty for other plans


def learnt(memory: Memory, tuning: Tuning) -> Learnt:
    """What is in `memory`, which plays `tuning`."""
    m, n = tuning.n_blocks, tuning.n_arms
    machine, now, store = looked_into(memory)
    numbers = store.scalars.view(AS_RECORDS)
    layout = _Layout(machine, store)
    inside = layout.group >= 0
    group, simplex = layout.group[inside], layout.simplex[inside]
    # In loss units: rates are undone, and what was added to all sums of a simplex is put back into its least.
    sums, base, least = np.zeros(m + n), np.zeros(1 + m), np.full(1 + m, np.inf)
    sums[inside] = store.key[inside] / numbers["rate"][group]
    np.minimum.at(least, simplex, sums[inside])  # of the top level, then of each block of the engine
    least[np.isinf(least)] = 0.0  # no simplex
    sums[inside] -= least[simplex]
    base[simplex] = -numbers["shift"][group] / numbers["rate"][group]
    least += base
    paid = np.zeros(m)
    owner = layout.first_group >= 0
    paid[owner] = numbers["paid"][layout.first_group[owner]]
    order = block_order(tuning)
    by_block = {name: np.empty(m) for name in ("arm_least", "arm_paid", "block_sums")}
    by_block["arm_least"][order] = least[1:]
    by_block["arm_paid"][order] = paid
    by_block["block_sums"][order] = sums[:m]
    arm_sums = np.empty(n)
    arm_sums[layout.arm_at] = sums[m:]
    # One block has no simplex above it, so its own sum is kept as a number.
    top = least[0] if m > 1 else now.whole
    tuned = np.zeros(0)
    if tuning.self_tuning is not None:
        of_arms = {"leader": layout.arm_at[int(now.leader)], "leader_relief": 0.0}
        tuned = np.array([of_arms.get(name, getattr(now, name)) for name in TUNED], dtype=np.float64)
    return Learnt(
        arm_sums=arm_sums,
        totals=np.array([top, now.top_paid, now.exploration_cost]),
        round=int(now.round),
        late=int(now.late),
        words=memory.words.copy(),
        tuned=tuned,
        **by_block,
    )


def rebuilt(graph: FeedbackGraph, tuning: Tuning, state: Learnt) -> Memory:
    """The engine as it is after rounds that taught it `state`, a function of these arguments alone.

    A policy that is saved goes on from here, and so does one that is loaded: both play the same arms.
    """
    m, n, rule = tuning.n_blocks, tuning.n_arms, tuning.self_tuning
    # The seed does not matter: the stream is part of the state.
    tuned = dict(zip(TUNED, state.tuned.tolist(), strict=True)) if rule is not None else {}
    if rule is not None and tuned["fallen"]:
        memory = build_memory(graph, tuning.with_base(int(tuned["fallen"]) - 1), 0)
    else:
        memory = build_memory(graph, tuning, 0, state.tuned if state.tuned.size else None)
    machine, now, store = looked_into(memory)
    numbers = store.scalars.view(AS_RECORDS)
    layout, order = _Layout(machine, store), block_order(tuning)
    sums = np.concatenate([state.block_sums[order], state.arm_sums[layout.arm_at]])
    least = np.concatenate([[state.totals[BLOCK_LEAST]], state.arm_least[order]])
    inside = layout.group >= 0
    group = layout.group[inside]
    store.key[inside] = sums[inside] * numbers["rate"][group]
    numbers["shift"][group] = -least[layout.simplex[inside]] * numbers["rate"][group]
    owner = layout.first_group >= 0
    numbers["paid"][layout.first_group[owner]] = state.arm_paid[order][owner]
    now.top_paid, now.exploration_cost = state.totals[BLOCK_PAID], state.totals[EXPLORED]
    now.whole = state.totals[BLOCK_LEAST] if m == 1 else 0.0
    now.round, now.late = state.round, state.late
    memory.words[:] = state.words
    if tuned.get("fallen"):  # the accounts go on, and how to play is fixed
        for name in ("penalty", "charged", "beta", "shifts", "fallen", "fallen_at", "priced", "worst_cost"):
            setattr(now, name, tuned[name])
    engine.start(memory)
    if m == n and n > 1:  # where everything is revealed, the arm that is put aside should be a likely one
        now.dominant = float(np.argmin(store.key[:m]))
    return memory


def gone_over(graph: FeedbackGraph, tuning: Tuning, state: Learnt) -> Memory:
    """The engine with the potential behind the budget, going on from `state` at the price of changing to it."""
    tuned, rule = dict(zip(TUNED, state.tuned.tolist(), strict=True)), tuning.self_tuning
    assert rule is not None
    assert rule.base_table is not None
    row = int(tuned["fallen"]) - 1
    after = log_partition(state.arm_sums, *tuning.with_base(row).temperatures)
    tuned["penalty"] += after - log_partition(state.arm_sums, rule.order, tuned["beta"])
    tuned |= {"fallen_at": state.round, "priced": 1.0, "worst_cost": float(rule.base_table.costs[row])}
    return rebuilt(graph, tuning, state._replace(tuned=np.array([tuned[name] for name in TUNED])))


def named_tuned(tuning: Tuning, values: Mapping[str, float]) -> Floats:
    """`Learnt.tuned` from numbers by name: what is not there is as in the first round; empty for other plans."""
    rule = tuning.self_tuning
    if rule is None:
        return np.zeros(0)
    first = dict(zip(TUNED, first_numbers(rule).tolist(), strict=True))
    numbers = {name: values.get(name, number) for name, number in first.items()}
    if "priced" not in values:  # before losses were shifted, safe rounds were those of the worst case
        numbers["priced"] = numbers["worst_case"]
    leader, beta = numbers["leader"], numbers["beta"]
    if not 0 <= leader < tuning.n_arms or leader != int(leader) or not beta > 0.0:
        raise ValueError(f"arm {leader} leads at β = {beta}")
    rows, fallen = 0 if rule.base_table is None else rule.base_table.costs.size, numbers["fallen"]
    if not 0 <= fallen <= rows or fallen != int(fallen):
        raise ValueError(f"the game goes on with potential {fallen} of {rows}")
    return np.array(list(numbers.values()))


# -- the memory itself ------------------------------------------------------------------------------------


def memory_key(memory: Memory) -> str:
    """A digest of the kernels and of where everything is: memories of one plan with equal keys are alike."""
    return digest(SOURCES or __version__, type(memory).__name__, memory.switches, memory.layout)


def check_sound(memory: Memory) -> None:
    """ValueError if kernels could be led out of their arrays by memory that somebody else has written.

    What they use as an index is checked, and sum trees are made anew; any other number they can live with.
    """
    named, now = views(memory, FIXED, CHANGING), looked_into(memory)[1]
    n = switch(memory, "n_arms")
    indices = [now.dominant]
    if switch(memory, "self_tunes"):
        indices.append(now.leader)
    if not all(0 <= index < n and index == int(index) for index in indices):
        raise ValueError(f"{indices} are no arms")
    if named["spread_for"].size and not (named["spread_for"].min() >= -1 and named["spread_for"].max() < n):
        raise ValueError("a leader is no arm")
    for g in np.flatnonzero(named["form"] == POWER_BUCKETS).tolist():
        first, end = named["origin"][2 * g : 2 * g + 2].tolist()
        if not _are_buckets(named, first, end, int(named["extra"][g])):
            raise ValueError(f"the coordinates of group {g} are not in buckets")
    if switch(memory, "any_spread") or (named["form"] == ENTROPY_TREE).any():
        engine.renew_trees(memory)


def _are_buckets(named: Mapping[str, Any], first: int, end: int, h: int) -> bool:
    """Is every coordinate first..end at one position, and every position in one bucket of the span?"""
    start = named["start"][h * (N_BUCKETS + 1) : (h + 1) * (N_BUCKETS + 1)]
    low, high = named["span"][2 * h : 2 * h + 2].tolist()
    here, there = named["occupant"][first:end], named["place"][first:end]
    coordinates = np.arange(first, end)
    return bool(
        np.array_equal(np.sort(here), coordinates)
        and np.array_equal(there[here - first], coordinates)
        and (np.diff(start) >= 0).all()
        and 0 <= low <= high < N_BUCKETS
        and start[0] == start[low] == first
        and start[high + 1] == start[N_BUCKETS] == end
        and named["renewed"].min() >= 0
    )


class _Layout:
    """Which group and simplex of the engine every coordinate belongs to: blocks first, then slots."""

    def __init__(self, machine: Any, store: Any) -> None:
        m, n = machine.n_blocks, machine.n_arms
        self.arm_at = machine.arm_at
        self.group: Any = np.full(m + n, -1)  # −1 where there is no simplex
        for g, (first, end) in enumerate(store.origin.reshape(-1, 2).tolist()):
            self.group[first:end] = g
        block_of = np.repeat(np.arange(m), np.diff(machine.block_start))
        self.simplex: Any = np.concatenate([np.zeros(m, dtype=np.int64), 1 + block_of])
        # The first group of a block keeps its records; −1 for a singleton.
        self.first_group: Any = np.where(
            machine.block_group >= -1, machine.block_group, -2 - machine.block_group
        )
