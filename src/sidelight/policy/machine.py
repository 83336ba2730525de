"""From a plan to the arrays that the kernels play on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sidelight.kernels import engine
from sidelight.kernels.alias import alias_tables
from sidelight.kernels.layout import Group, make_store
from sidelight.kernels.memory import (
    ANY_ADAPTIVE,
    ANY_FIXED,
    ANY_LOCAL,
    BROADCAST,
    IN_ORDER,
    N_BLOCKS,
    N_NUMBERS,
    N_SWITCHES,
    N_TOP_GROUPS,
    SEEN_BY,
    SEEN_BY_ALL,
    SEEN_BY_BLOCK,
    SEEN_BY_EDGES,
    SEEN_BY_OTHERS,
    SEEN_BY_SELF,
    SINGLETONS,
    Memory,
    pack,
)
from sidelight.kernels.random import seeded_words
from sidelight.kernels.store import ENTROPY_LIST

if TYPE_CHECKING:
    from sidelight.graph import FeedbackGraph
    from sidelight.planning import Tuning

Ints = npt.NDArray[np.int32]


def build_memory(
    graph: FeedbackGraph,
    tuning: Tuning,
    seed: int | np.random.SeedSequence,
) -> Memory:
    """The engine at round one: tuning laid out by slot, every simplex at the minimum of its potential."""
    n = graph.n_arms
    starts = np.asarray(tuning.block_start, dtype=np.int64)
    m = starts.size - 1
    arm_at = np.asarray(tuning.block_arms, dtype=np.int32)
    slot_of = np.empty(n, dtype=np.int32)
    slot_of[arm_at] = np.arange(n, dtype=np.int32)
    sizes = np.diff(starts)
    block_of = np.repeat(np.arange(m, dtype=np.int32), sizes)

    simplices, top_group = _top_groups(tuning, m)
    n_top = len(simplices[0]) if simplices else 0
    big = np.flatnonzero(sizes > 1)
    block_group = np.full(m, -1, dtype=np.int32)
    block_simplex = np.full(m, -1, dtype=np.int32)
    block_group[big] = n_top + np.arange(big.size)
    block_simplex[big] = len(simplices) + np.arange(big.size)
    for k in big:
        coordinates = np.arange(m + starts[k], m + starts[k + 1], dtype=np.int32)
        first = arm_at[starts[k]]
        simplices.append(
            [Group(coordinates, float(tuning.inner_power[first]), float(tuning.inner_rate[first]))]
        )
    store = make_store(simplices, m + n)

    fixed = np.asarray(tuning.global_exploration, dtype=np.float64)[arm_at]
    fixed_slots = np.flatnonzero(fixed > 0.0)
    fixed_keep, fixed_other = alias_tables(fixed[fixed_slots], np.array([0, fixed_slots.size]))
    local = np.asarray(tuning.local_exploration, dtype=np.float64)[arm_at]
    local_keep, local_other = alias_tables(local, starts)
    parent = np.asarray(tuning.parent, dtype=np.int64)[arm_at]
    parent = np.where(parent >= 0, slot_of[parent], -1)
    child_start, child = _children(parent)
    adaptive = np.asarray(tuning.adaptive, dtype=np.float64)
    seen_how = _how_seen(graph, slot_of, block_of, sizes)

    switches = np.zeros(N_SWITCHES, dtype=np.int64)
    switches[N_BLOCKS] = m
    switches[N_TOP_GROUPS] = n_top
    switches[ANY_FIXED] = fixed_slots.size > 0
    switches[ANY_LOCAL] = bool((local > 0.0).any())
    switches[ANY_ADAPTIVE] = bool((adaptive > 0.0).any())
    switches[SEEN_BY] = seen_how[0] if (seen_how == seen_how[0]).all() else -1
    n_changes = 2 * int(
        graph.out_degree.max()
    )  # the most sums that one round can change: arms and their blocks
    switches[IN_ORDER] = bool((arm_at == np.arange(n)).all())
    switches[SINGLETONS] = m == n
    switches[BROADCAST] = bool(
        n_top == 1
        and switches[SINGLETONS]
        and switches[IN_ORDER]
        and (seen_how == SEEN_BY_OTHERS).all()
        and store.form[0] == ENTROPY_LIST
    )
    arrays = store._asdict() | {
        "block_start": starts,
        "arm_at": arm_at,
        "slot_of": slot_of,
        "block_of": block_of,
        "block_group": block_group,
        "block_simplex": block_simplex,
        "top_group": top_group,
        "seen_how": seen_how,
        "universal": graph.universal,
        "parent": parent,
        "child_start": child_start,
        "child": child,
        "adaptive_blocks": np.flatnonzero(adaptive > 0.0),
        "fixed_slots": fixed_slots,
        "fixed_other": fixed_other,
        "local_other": local_other,
        "top_rate": tuning.top_rate,
        "block_rate": np.asarray(tuning.inner_rate)[arm_at[starts[:-1]]],
        "fixed": fixed,
        "fixed_in_block": np.add.reduceat(fixed, starts[:-1]),
        "fixed_keep": fixed_keep,
        "local": local,
        "local_total": np.add.reduceat(local, starts[:-1]),
        "local_keep": local_keep,
        "adaptive": adaptive,
        "numbers": np.zeros(N_NUMBERS),
        "whole": np.zeros(1),
        "paid": np.zeros(m),
        "roots": np.zeros(m),
        "block_loss": np.zeros(m),
        "amounts": np.zeros(n_changes),
        "targets": np.zeros(n_changes, dtype=np.int32),
        "owners": np.zeros(n_changes, dtype=np.int32),
        "touched": np.zeros(m, dtype=np.int32),
        "marked": np.zeros(m, dtype=np.int32),
    }
    edges = (graph.out_indptr, graph.out_indices, graph.in_indptr, graph.in_indices)
    memory = pack(arrays, switches, edges, seeded_words(seed))
    engine.start(memory)
    return memory


def _top_groups(tuning: Tuning, m: int) -> tuple[list[list[Group]], Ints]:
    """The top simplex as groups of equal potential (none when there is only one block)."""
    if m == 1:
        return [], np.zeros(1, dtype=np.int32)
    potentials = np.column_stack([tuning.top_power, tuning.top_rate])
    distinct, index = np.unique(potentials, axis=0, return_inverse=True)
    top_group = np.asarray(index, dtype=np.int32).ravel()
    groups = [
        Group(np.flatnonzero(top_group == g).astype(np.int32), float(power), float(rate))
        for g, (power, rate) in enumerate(distinct)
    ]
    return [groups], top_group


def _children(parent: npt.NDArray[np.int64]) -> tuple[Ints, Ints]:
    """CSR of the slots that each slot explores for."""
    n = parent.size
    children = np.flatnonzero(parent >= 0)
    order = np.argsort(parent[children], kind="stable")
    counts = np.bincount(parent[children], minlength=n)
    starts = np.concatenate([[0], np.cumsum(counts)])
    return starts.astype(np.int32), children[order].astype(np.int32)


def _how_seen(graph: FeedbackGraph, slot_of: Ints, block_of: Ints, sizes: npt.NDArray[np.int64]) -> Ints:
    """Closed forms for the probability of seeing an arm, where its in-neighbours allow one."""
    n = graph.n_arms
    how = np.full(n, SEEN_BY_EDGES, dtype=np.int32)
    block = block_of[slot_of]  # by arm
    targets = np.repeat(np.arange(n), np.diff(graph.in_indptr))
    same_block = np.bincount(targets[block[graph.in_indices] == block[targets]], minlength=n)
    degree = np.diff(graph.in_indptr)
    how[(degree == 1) & graph.has_loop] = SEEN_BY_SELF
    clique = (degree == sizes[block] - 1) & (same_block == degree) & ~graph.has_loop & (degree > 1)
    how[clique] = SEEN_BY_BLOCK
    how[graph.is_universal] = np.where(graph.has_loop[graph.is_universal], SEEN_BY_ALL, SEEN_BY_OTHERS)
    return how
