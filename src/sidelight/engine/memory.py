"""The memory of the engine: a few flat arrays, and the named views that the kernels read.

Calling a compiled function costs time for every array it is given, so everything is packed into one array
per type (`Memory`) and taken apart inside (`unpack`) into pointers with the names used in the equations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sidelight.engine._numba.jit import inlined
from sidelight.engine._numba.pointers import pointer
from sidelight.engine.simplex.store import Store

# How an arm comes to be seen
SEEN_BY_EDGES, SEEN_BY_SELF, SEEN_BY_BLOCK, SEEN_BY_OTHERS, SEEN_BY_ALL = range(5)

# What a play reveals, when all arms are alike
MANY_SHAPES, OWN_LOSS, OWN_BLOCK, ALL_OTHERS, EVERYTHING = range(5)

# State.numbers
GAMMA, TOP_PAID, GAMMA_SUM, FIXED_TOTAL, ADAPTIVE_TOTAL, ROUND, PENDING, WHOLE, HEAVY = range(9)
N_NUMBERS = 9

# Machine.switches
(
    N_ARMS,
    N_BLOCKS,
    N_TOP_GROUPS,
    N_FIXED,
    N_ADAPTIVE,
    N_UNIVERSAL,
    ANY_LOCAL,
    ANY_SPREAD,
    SEEN_BY,
    SHAPE,
    IN_ORDER,
    SINGLETONS,
    PLAIN_BLOCKS,
    BLOCK_SIZE,
    DEGREE,
    IN_DEGREE,
    FETCHES,
    N_SIMPLICES,
    USUAL,
    LONE,
    EVEN,
    WRITTEN,
) = range(22)
N_SWITCHES = 22


class Machine(NamedTuple):
    """Everything that is fixed before round one, except the potentials, which are in the store.

    Where the horizon is unknown, `fixed`, `adaptive` and `spread` fall from epoch to epoch, as rates do.

    Arms are addressed by *slot*: their place when blocks are laid out one after another.
    """

    n_arms: int
    n_blocks: int
    n_top_groups: int
    n_fixed: int  # slots with constant exploration
    n_adaptive: int  # blocks with adaptive exploration
    n_universal: int
    any_local: int
    any_spread: int
    seen_by: int  # how every arm is seen, −1 if they differ
    shape: int  # what every play reveals
    in_order: int  # is slot i always arm i?
    singletons: int  # are all blocks singletons?
    plain_blocks: int  # has every block two arms or more, under one potential?
    block_size: int  # size of every block, −1 if they differ
    degree: int  # explicit out-degree of every arm, −1 if they differ
    in_degree: int
    fetches: int  # does it pay to ask for memory ahead of its use?
    n_simplices: int
    usual: int  # entropy blocks under one Tsallis-½ simplex, without exploration that varies
    lone: int  # one Tsallis-½ block with adaptive exploration only, all of whose arms are seen along edges
    even: int  # has every slot the same constant and the same local exploration?
    written: int  # usual, with small blocks, all arms seen along edges: X̃ is kept by slot (see State.mixed)
    block_start: np.ndarray  # (m+1,) slots of block k are block_start[k]..block_start[k+1]
    arm_at: np.ndarray  # (n,) slot -> arm
    slot_of: np.ndarray  # (n,) arm -> slot
    home: np.ndarray  # (n,) slot -> 2·block, plus one if the slot has constant or local exploration
    block_group: np.ndarray  # (m,) first group in the store, −1 for a singleton
    block_simplex: np.ndarray  # (m,) simplex in the store, −1 for a singleton
    slot_group: np.ndarray  # (n,) group of each slot, where a block mixes potentials; else empty
    top_group: np.ndarray  # (m,) group of the block's coordinate on the top level
    seen_how: np.ndarray  # (n,) by slot
    universal: np.ndarray  # slots of the arms that every other arm reveals
    parent: np.ndarray  # (n,) the slot that explores on behalf of each slot, −1 for none
    child_start: np.ndarray  # (n+1,) the inverse of parent
    child: np.ndarray
    adaptive_blocks: np.ndarray  # blocks with adaptive exploration
    fixed_slots: np.ndarray  # slots with constant exploration
    fixed_other: np.ndarray
    local_other: np.ndarray  # (n,)
    near_start: np.ndarray  # (n+1,) the slots that each slot explores for by spreading …
    near: np.ndarray
    owed_start: np.ndarray  # (n+1,) … and the inverse
    owed: np.ndarray
    fixed: np.ndarray  # (n,) constant global exploration by slot
    fixed_keep: np.ndarray
    local: np.ndarray  # (n,) local exploration by slot
    local_keep: np.ndarray  # (n,)
    adaptive: np.ndarray  # (m,) coefficient of the adaptive exploration, 0 for none
    spread: np.ndarray  # (m,) coefficient of the spread exploration, 0 for none
    cover: np.ndarray  # (n,) x*
    relief: np.ndarray  # (n,) 1/load, 0 where nothing is owed
    out_indptr: np.ndarray  # the graph's explicit edges, from slot to slot
    out_indices: np.ndarray
    in_indptr: np.ndarray
    in_indices: np.ndarray


class State(NamedTuple):
    """Everything that changes, except the simplices, which are in the store."""

    numbers: np.ndarray  # scalars, see above
    roots: np.ndarray  # (m,) Σ √X_k in adaptive blocks
    spreading: np.ndarray  # (n,) spread exploration of each slot
    spread_node: np.ndarray  # the sum tree over it
    block_loss: np.ndarray  # (m,) scratch: L̂ of this round
    amounts: np.ndarray  # scratch: what is to be added to which coordinate, this round
    targets: np.ndarray  # int32 scratch: those coordinates
    owners: np.ndarray  # int32 scratch: their groups
    touched: np.ndarray  # (m,) int32 scratch: blocks touched this round
    marked: np.ndarray  # (m,) int32: is the block in `touched`?
    leader: np.ndarray  # (n,) int32: the slot for whose sake a slot spreads as much as it does
    mixed: np.ndarray  # (n,) X̃ of each slot, where Machine.written; else empty
    seen_fixed: np.ndarray  # (n,) Σ of constant exploration over the in-neighbours of each slot, likewise
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
    "home",
    "block_group",
    "block_simplex",
    "slot_group",
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
    "near_start",
    "near",
    "owed_start",
    "owed",
    "first_group",
    "origin",
    "form",
    "extra",
)
FIXED_FLOATS = (
    "fixed_keep",
    "local",
    "local_keep",
    "cover",
    "relief",
    "power",
    "offset",
    "binomial",
)
INTS = ("targets", "owners", "touched", "marked", "leader", "occupant", "place", "start", "span", "renewed")
FLOATS = (
    "numbers",
    "roots",
    "spreading",
    "spread_node",
    "block_loss",
    "amounts",
    "key",
    "weight",
    "node",
    "scalars",
    "multiplier",
    "ref",
    "least",
    "cap",
    "moments",
    "carry",
    "inverse",
    "series",
    "sum_at",
    "fixed",
    "adaptive",
    "spread",
    "scale",
    "portion",
    "mixed",
    "seen_fixed",
)
_PACKED = ((FIXED_INTS, np.int32), (FIXED_FLOATS, np.float64), (INTS, np.int32), (FLOATS, np.float64))
SCRATCH = ("block_loss", "amounts", "targets", "owners", "touched", "marked")
DERIVED = ("mixed", "seen_fixed")
"""What `engine.write_out` makes from the rest: not saved."""

# Where the parts of each packed array begin among all parts; `layout` has their first and last cells
_F = len(FIXED_INTS)
_I = _F + len(FIXED_FLOATS)
_X = _I + len(INTS)

LINE = 64
"""Bytes that memory moves at once; parts begin at such a boundary, so that a record of 64 bytes is one line."""

Edges = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def pack(arrays: dict[str, np.ndarray], switches: np.ndarray, edges: Edges, words: np.ndarray) -> Memory:
    """Copy named arrays into one array per type; `edges` are CSR arrays by slot, out then in."""
    bounds: list[int] = []
    packed = []
    for names, dtype in _PACKED:
        parts = [np.ascontiguousarray(arrays[name], dtype=dtype).ravel() for name in names]
        line = LINE // np.dtype(dtype).itemsize
        first = np.concatenate([[0], np.cumsum([-(-part.size // line) * line for part in parts])])
        whole = aligned(int(first[-1]), dtype)
        for at, part in zip(first.tolist(), parts, strict=False):
            whole[at : at + part.size] = part
            bounds += (at, at + part.size)
        packed.append(whole)
    layout = np.array(bounds, dtype=np.int64)
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


def aligned(size: int, dtype: npt.DTypeLike) -> np.ndarray:
    """Zeros that begin at the boundary of a line."""
    n_bytes = size * np.dtype(dtype).itemsize
    room = np.zeros(n_bytes + LINE, dtype=np.uint8)
    begin = -room.ctypes.data % LINE
    return room[begin : begin + n_bytes].view(dtype)


def duplicate(memory: Memory, words: np.ndarray) -> Memory:
    """The same state, to be changed on its own, with another random stream."""
    ints, floats = aligned(memory.ints.size, np.int32), aligned(memory.floats.size, np.float64)
    ints[:] = memory.ints
    floats[:] = memory.floats
    return memory._replace(ints=ints, floats=floats, words=words)


def refreeze(memory: Memory) -> None:
    """Edges are read-only, which pickling forgets; kernels are compiled for arrays that are."""
    for edges in (memory.out_indptr, memory.out_indices, memory.in_indptr, memory.in_indices):
        edges.flags.writeable = False


def views(memory: Memory) -> dict[str, np.ndarray]:
    """Named views of the arrays that change, for saving and looking."""
    named: dict[str, np.ndarray] = {}
    for at, names, array in ((_I, INTS, memory.ints), (_X, FLOATS, memory.floats)):
        bounds = memory.layout[2 * at : 2 * (at + len(names))].reshape(-1, 2).tolist()
        named |= {name: array[a:b] for name, (a, b) in zip(names, bounds, strict=True)}
    return named | {"words": memory.words}


@inlined()
def part(array, bounds, at):
    """Part `at` of all."""
    return pointer(array, bounds[2 * at], bounds[2 * at + 1])


@inlined()
def unpack(memory):
    """The views that the kernels work on."""
    switches = memory.switches
    e = memory.layout
    i = memory.fixed_ints
    f = memory.fixed_floats
    n = memory.ints
    x = memory.floats
    machine = Machine(
        switches[N_ARMS],
        switches[N_BLOCKS],
        switches[N_TOP_GROUPS],
        switches[N_FIXED],
        switches[N_ADAPTIVE],
        switches[N_UNIVERSAL],
        switches[ANY_LOCAL],
        switches[ANY_SPREAD],
        switches[SEEN_BY],
        switches[SHAPE],
        switches[IN_ORDER],
        switches[SINGLETONS],
        switches[PLAIN_BLOCKS],
        switches[BLOCK_SIZE],
        switches[DEGREE],
        switches[IN_DEGREE],
        switches[FETCHES],
        switches[N_SIMPLICES],
        switches[USUAL],
        switches[LONE],
        switches[EVEN],
        switches[WRITTEN],
        part(i, e, 0),
        part(i, e, 1),
        part(i, e, 2),
        part(i, e, 3),
        part(i, e, 4),
        part(i, e, 5),
        part(i, e, 6),
        part(i, e, 7),
        part(i, e, 8),
        part(i, e, 9),
        part(i, e, 10),
        part(i, e, 11),
        part(i, e, 12),
        part(i, e, 13),
        part(i, e, 14),
        part(i, e, 15),
        part(i, e, 16),
        part(i, e, 17),
        part(i, e, 18),
        part(i, e, 19),
        part(i, e, 20),
        part(x, e, _X + 19),
        part(f, e, _F),
        part(f, e, _F + 1),
        part(f, e, _F + 2),
        part(x, e, _X + 20),
        part(x, e, _X + 21),
        part(f, e, _F + 3),
        part(f, e, _F + 4),
        pointer(memory.out_indptr, 0, memory.out_indptr.size),
        pointer(memory.out_indices, 0, memory.out_indices.size),
        pointer(memory.in_indptr, 0, memory.in_indptr.size),
        pointer(memory.in_indices, 0, memory.in_indices.size),
    )
    state = State(
        part(x, e, _X),
        part(x, e, _X + 1),
        part(x, e, _X + 2),
        part(x, e, _X + 3),
        part(x, e, _X + 4),
        part(x, e, _X + 5),
        part(n, e, _I),
        part(n, e, _I + 1),
        part(n, e, _I + 2),
        part(n, e, _I + 3),
        part(n, e, _I + 4),
        part(x, e, _X + 24),
        part(x, e, _X + 25),
        pointer(memory.words, 0, 4),
    )
    store = Store(
        part(i, e, 21),
        part(i, e, 22),
        part(i, e, 23),
        part(i, e, 24),
        part(f, e, _F + 5),
        part(x, e, _X + 22),
        part(f, e, _F + 6),
        part(f, e, _F + 7),
        part(x, e, _X + 6),
        part(x, e, _X + 7),
        part(x, e, _X + 8),
        part(x, e, _X + 9),
        part(x, e, _X + 23),
        part(x, e, _X + 10),
        part(x, e, _X + 11),
        part(x, e, _X + 12),
        part(x, e, _X + 13),
        part(x, e, _X + 14),
        part(x, e, _X + 15),
        part(x, e, _X + 16),
        part(x, e, _X + 17),
        part(x, e, _X + 18),
        part(n, e, _I + 5),
        part(n, e, _I + 6),
        part(n, e, _I + 7),
        part(n, e, _I + 8),
        part(n, e, _I + 9),
    )
    return machine, state, store
