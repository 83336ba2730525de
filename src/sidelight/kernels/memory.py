"""The memory of the engine: a few flat arrays, and the named views that the kernels read.

Calling a compiled function costs time for every array it is given, so everything is packed into one array
per type (`Memory`) and taken apart inside (`unpack`). The views have the names used in the equations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sidelight.kernels._jit import step
from sidelight.kernels.store import Store

# How an arm comes to be seen
SEEN_BY_EDGES, SEEN_BY_SELF, SEEN_BY_BLOCK, SEEN_BY_OTHERS, SEEN_BY_ALL = range(5)

# State.numbers
TOP_PAID, GAMMA_SUM, FIXED_TOTAL, ADAPTIVE_TOTAL, ROUND, PENDING = range(6)
N_NUMBERS = 6

# Machine.switches
N_BLOCKS, N_TOP_GROUPS, ANY_FIXED, ANY_LOCAL, ANY_ADAPTIVE, SEEN_BY, IN_ORDER, SINGLETONS, BROADCAST = range(
    9
)
N_SWITCHES = 9


class Machine(NamedTuple):
    """Everything that is fixed before round one, except the potentials, which are in the store."""

    n_blocks: int
    n_top_groups: int
    any_fixed: int
    any_local: int
    any_adaptive: int
    seen_by: int  # how every arm is seen, −1 if they differ
    in_order: int  # is slot i always arm i?
    singletons: int  # are all blocks singletons?
    broadcast: int  # every arm is a singleton seen by all others, under one entropy: a loop-less clique
    block_start: np.ndarray  # (m+1,) slots of block k are block_start[k]..block_start[k+1]
    arm_at: np.ndarray  # (n,) slot -> arm
    slot_of: np.ndarray  # (n,) arm -> slot
    block_of: np.ndarray  # (n,) slot -> block
    block_group: np.ndarray  # (m,) group in the store, −1 for a singleton
    block_simplex: np.ndarray  # (m,) simplex in the store, −1 for a singleton
    top_group: np.ndarray  # (m,) group of the block's coordinate on the top level
    seen_how: np.ndarray  # (n,) by arm
    universal: np.ndarray  # arms that every other arm reveals
    parent: np.ndarray  # (n,) the slot that explores on behalf of each slot, −1 for none
    child_start: np.ndarray  # (n+1,) the inverse of parent
    child: np.ndarray
    adaptive_blocks: np.ndarray  # blocks with adaptive exploration
    fixed_slots: np.ndarray  # slots with fixed exploration
    fixed_other: np.ndarray
    local_other: np.ndarray  # (n,)
    top_rate: np.ndarray  # (m,)
    block_rate: np.ndarray  # (m,)
    fixed: np.ndarray  # (n,) constant global exploration by slot
    fixed_in_block: np.ndarray  # (m,)
    fixed_keep: np.ndarray
    local: np.ndarray  # (n,) local exploration by slot
    local_total: np.ndarray  # (m,)
    local_keep: np.ndarray  # (n,)
    adaptive: np.ndarray  # (m,) coefficient of the adaptive exploration, 0 for none
    out_indptr: np.ndarray  # the graph's explicit edges, by arm
    out_indices: np.ndarray
    in_indptr: np.ndarray
    in_indices: np.ndarray


class State(NamedTuple):
    """Everything that changes, except the simplices, which are in the store."""

    numbers: np.ndarray  # scalars, see above
    whole: np.ndarray  # (1,) Σ L̂ of the only block, when there is only one
    paid: np.ndarray  # (m,) Σ_t ⟨ℓ̂_k, X_k⟩
    roots: np.ndarray  # (m,) Σ √X_k in adaptive blocks
    block_loss: np.ndarray  # (m,) scratch: L̂ of this round
    amounts: np.ndarray  # scratch: what is to be added to which coordinate, this round
    targets: np.ndarray  # int32 scratch: those coordinates
    owners: np.ndarray  # int32 scratch: their groups
    touched: np.ndarray  # (m,) int32 scratch: blocks touched this round
    marked: np.ndarray  # (m,) int32: is the block in `touched`?
    words: np.ndarray  # (4,) uint64: the random stream


class Memory(NamedTuple):
    """The packed arrays. Only `floats`, `ints` and `words` change while playing."""

    switches: np.ndarray  # (N_SWITCHES,) int64
    layout: np.ndarray  # int64 boundaries of the views below, in their order
    fixed_ints: np.ndarray  # int32
    fixed_floats: np.ndarray  # float64
    out_indptr: np.ndarray  # int64
    out_indices: np.ndarray  # int32
    in_indptr: np.ndarray
    in_indices: np.ndarray
    ints: np.ndarray  # int32
    floats: np.ndarray  # float64
    words: np.ndarray  # (4,) uint64


FIXED_INTS = (
    "block_start",
    "arm_at",
    "slot_of",
    "block_of",
    "block_group",
    "block_simplex",
    "top_group",
    "seen_how",
    "universal",
    "parent",
    "child_start",
    "child",
    "adaptive_blocks",
    "fixed_slots",
    "fixed_other",
    "local_other",
    "first_group",
    "origin",
    "form",
    "bucketed",
)
FIXED_FLOATS = (
    "top_rate",
    "block_rate",
    "fixed",
    "fixed_in_block",
    "fixed_keep",
    "local",
    "local_total",
    "local_keep",
    "adaptive",
    "power",
    "scale",
    "offset",
    "binomial",
)
INTS = ("targets", "owners", "touched", "marked", "occupant", "place", "start", "span")
FLOATS = (
    "numbers",
    "whole",
    "paid",
    "roots",
    "block_loss",
    "amounts",
    "cap",
    "key",
    "weight",
    "scalars",
    "multiplier",
    "ref",
    "moments",
    "carry",
    "inverse",
)
_PACKED = ((FIXED_INTS, np.int32), (FIXED_FLOATS, np.float64), (INTS, np.int32), (FLOATS, np.float64))
SCRATCH = ("block_loss", "amounts", "targets", "owners", "touched", "marked")


Edges = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def pack(arrays: dict[str, np.ndarray], switches: np.ndarray, edges: Edges, words: np.ndarray) -> Memory:
    """Copy named arrays into one array per type; `edges` are the CSR arrays of the graph, out then in."""
    bounds = []
    packed = []
    for names, dtype in _PACKED:
        parts = [np.ascontiguousarray(arrays[name], dtype=dtype).ravel() for name in names]
        bounds.append(np.concatenate([[0], np.cumsum([part.size for part in parts])]))
        packed.append(np.concatenate(parts))
    layout = np.concatenate(bounds).astype(np.int64)
    fixed_ints, fixed_floats, ints, floats = packed
    out_indptr, out_indices, in_indptr, in_indices = edges
    return Memory(
        switches.astype(np.int64),
        layout,
        fixed_ints,
        fixed_floats,
        out_indptr,
        out_indices,
        in_indptr,
        in_indices,
        ints,
        floats,
        words,
    )


def views(memory: Memory) -> dict[str, np.ndarray]:
    """Named views of the arrays that change, for saving and looking."""
    named: dict[str, np.ndarray] = {}
    at = len(FIXED_INTS) + 1 + len(FIXED_FLOATS) + 1
    for names, array in ((INTS, memory.ints), (FLOATS, memory.floats)):
        edges = memory.layout[at : at + len(names) + 1]
        named |= {name: array[a:b] for name, a, b in zip(names, edges[:-1], edges[1:], strict=True)}
        at += len(names) + 1
    return named | {"words": memory.words}


@step()
def unpack(memory):
    """The views that the kernels work on."""
    switches = memory.switches
    e = memory.layout
    i = memory.fixed_ints
    f = memory.fixed_floats
    n = memory.ints
    x = memory.floats
    machine = Machine(
        switches[N_BLOCKS],
        switches[N_TOP_GROUPS],
        switches[ANY_FIXED],
        switches[ANY_LOCAL],
        switches[ANY_ADAPTIVE],
        switches[SEEN_BY],
        switches[IN_ORDER],
        switches[SINGLETONS],
        switches[BROADCAST],
        i[e[0] : e[1]],
        i[e[1] : e[2]],
        i[e[2] : e[3]],
        i[e[3] : e[4]],
        i[e[4] : e[5]],
        i[e[5] : e[6]],
        i[e[6] : e[7]],
        i[e[7] : e[8]],
        i[e[8] : e[9]],
        i[e[9] : e[10]],
        i[e[10] : e[11]],
        i[e[11] : e[12]],
        i[e[12] : e[13]],
        i[e[13] : e[14]],
        i[e[14] : e[15]],
        i[e[15] : e[16]],
        f[e[21] : e[22]],
        f[e[22] : e[23]],
        f[e[23] : e[24]],
        f[e[24] : e[25]],
        f[e[25] : e[26]],
        f[e[26] : e[27]],
        f[e[27] : e[28]],
        f[e[28] : e[29]],
        f[e[29] : e[30]],
        memory.out_indptr,
        memory.out_indices,
        memory.in_indptr,
        memory.in_indices,
    )
    state = State(
        x[e[44] : e[45]],
        x[e[45] : e[46]],
        x[e[46] : e[47]],
        x[e[47] : e[48]],
        x[e[48] : e[49]],
        x[e[49] : e[50]],
        n[e[35] : e[36]],
        n[e[36] : e[37]],
        n[e[37] : e[38]],
        n[e[38] : e[39]],
        memory.words,
    )
    store = Store(
        i[e[16] : e[17]],
        i[e[17] : e[18]],
        i[e[18] : e[19]],
        i[e[19] : e[20]],
        f[e[30] : e[31]],
        f[e[31] : e[32]],
        f[e[32] : e[33]],
        f[e[33] : e[34]],
        x[e[50] : e[51]],
        x[e[51] : e[52]],
        x[e[52] : e[53]],
        x[e[53] : e[54]],
        x[e[54] : e[55]],
        x[e[55] : e[56]],
        x[e[56] : e[57]],
        x[e[57] : e[58]],
        x[e[58] : e[59]],
        n[e[39] : e[40]],
        n[e[40] : e[41]],
        n[e[41] : e[42]],
        n[e[42] : e[43]],
    )
    return machine, state, store
