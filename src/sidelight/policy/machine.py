"""From a plan to the arrays that the kernels play on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sidelight.kernels import engine
from sidelight.kernels.random import seeded_words

if TYPE_CHECKING:
    from sidelight.graph import FeedbackGraph
    from sidelight.planning import Tuning


def build_machine(graph: FeedbackGraph, tuning: Tuning) -> engine.Machine:
    """The fixed half of the engine: tuning laid out by slot beside the graph's own arrays."""
    n = graph.n_arms
    arm_at = np.asarray(tuning.block_arms, dtype=np.int64)
    sizes = np.diff(tuning.block_start)
    block_of = np.repeat(np.arange(sizes.size, dtype=np.int64), sizes)
    slot_of = np.empty(n, dtype=np.int64)
    slot_of[arm_at] = np.arange(n)

    fixed = np.asarray(tuning.global_exploration, dtype=np.float64)[arm_at]
    fixed_slots = np.flatnonzero(fixed > 0.0)
    local = np.asarray(tuning.local_exploration, dtype=np.float64)[arm_at]
    parent = np.asarray(tuning.parent, dtype=np.int64)[arm_at]
    parent = np.where(parent >= 0, slot_of[parent], -1)

    machine = engine.Machine(
        block_start=np.array(tuning.block_start, dtype=np.int64),
        arm_at=arm_at.copy(),
        slot_of=slot_of,
        block_of=block_of,
        top_power=np.array(tuning.top_power, dtype=np.float64),
        top_rate=np.array(tuning.top_rate, dtype=np.float64),
        power=np.repeat(np.asarray(tuning.block_power, dtype=np.float64), sizes),
        rate=np.repeat(np.asarray(tuning.block_rate, dtype=np.float64), sizes),
        fixed=fixed,
        fixed_slots=fixed_slots,
        fixed_cumulative=np.cumsum(fixed[fixed_slots]),
        local=local,
        local_total=np.add.reduceat(local, tuning.block_start[:-1]),
        adaptive=np.array(tuning.adaptive, dtype=np.float64),
        parent=parent,
        out_indptr=graph.out_indptr,
        out_indices=graph.out_indices,
        in_indptr=graph.in_indptr,
        in_indices=graph.in_indices,
        universal=graph.universal,
        is_universal=graph.is_universal,
        has_loop=graph.has_loop,
    )
    for array in machine:
        array.flags.writeable = False
    return machine


def fresh_state(machine: engine.Machine, seed: int | np.random.SeedSequence) -> engine.State:
    """The changing half at round one."""
    m, n = machine.top_power.size, machine.arm_at.size
    state = engine.State(
        top_sums=np.zeros(m),
        y=np.zeros(m),
        sums=np.zeros(n),
        x=np.zeros(n),
        multiplier=np.zeros(m),
        shift=np.zeros(m),
        roots=np.zeros(n),
        roots_total=np.zeros(m),
        on_behalf=np.zeros(n),
        paid=np.zeros(m),
        numbers=np.zeros(engine.N_NUMBERS),
        counts=np.zeros(engine.N_COUNTS, dtype=np.int64),
        words=seeded_words(seed),
        estimates=np.zeros(n),
        touched=np.zeros(m, dtype=np.int64),
        touched_in=np.full(m, -1, dtype=np.int64),
        block_loss=np.zeros(m),
    )
    engine.start(machine, state)
    return state
