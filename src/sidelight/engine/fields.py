"""The memory of the engine: one table of fields, from which views, packing and saving are made.

A policy's memory is a few flat arrays (`Memory`), one per type and purpose; calling a compiled function costs time
for every array it is given. Kernels begin with

    machine, state, store = opened(memory)

and read fields by name: `machine.parent[slot]`. Machine is what a plan fixes, state is what changes besides the
simplices, store is the simplices (see `simplex.store`). Arms are addressed by *slot*: their place when blocks are
laid out one after another. n arms, m blocks, J simplices, G groups of which H in buckets, N = m + n coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from sidelight.engine._numba.bundles import Bundle, opener, written_through
from sidelight.engine.simplex.store import POWER_BUCKETS

# How an arm comes to be seen (machine.seen_how)
SEEN_BY_EDGES, SEEN_BY_SELF, SEEN_BY_BLOCK, SEEN_BY_OTHERS, SEEN_BY_ALL = range(5)

# What a play reveals, when all arms are alike (machine.shape)
MANY_SHAPES, OWN_LOSS, OWN_BLOCK, ALL_OTHERS, EVERYTHING = range(5)

# May losses be shifted (machine.signed)?
UNSIGNED, WHERE_COVERED, ALL_LIFTED = range(3)

SWITCH, FIXED, CHANGING, SCRATCH, DERIVED, EDGES, STREAM = (
    "switch", "fixed", "changing", "scratch", "derived", "edges", "stream",
)  # fmt: skip
"""Kinds of fields.

    switch    a whole number that a plan fixes
    fixed     what a plan fixes
    changing  what changes in play and is saved
    scratch   what a round uses and the next need not know
    derived   what follows from the others: `round.start` makes it
    edges     the graph's own arrays, which are shared and never copied
    stream    the random stream
"""

INT, LONG, FLOAT, WORD = np.int32, np.int64, np.float64, np.uint64

_TABLE = """
machine switch long
    n_arms
    n_blocks
    n_top_groups
    n_fixed            # slots with constant exploration
    n_adaptive         # blocks with adaptive exploration
    n_universal
    any_local
    any_spread
    self_tunes         # is the rate raised, and exploration chosen, while playing?
    seen_by            # how every arm is seen, −1 if they differ
    shape              # what every play reveals
    in_order           # is slot i always arm i?
    singletons         # are all blocks singletons?
    plain_blocks       # has every block two arms or more, under one potential?
    block_size         # size of every block, −1 if they differ
    degree             # explicit out-degree of every arm, −1 if they differ
    in_degree
    fetches            # does it pay to ask for memory ahead of its use?
    n_simplices
    single             # one simplex over all arms, one potential, all arms seen along edges
    fails              # may reveals fail?
    lift_group         # the group of the arms that may be lifted, −1 if none may (see `spread`)
    signed             # may losses be shifted? not without a cover, unless all arms can be lifted
    all_covered        # are all arms explored for?
    n_prices           # rows of the table of prices
    n_base             # rows of the prices of the potential behind a budget, 0 for none,
    base_at            # the row of the table that has the temperature of its first row,
    climb_at           # and to which ratio of temperatures, in rows, the first of `climbs` belongs
    n_climbs
machine fixed int
    block_start        # (m+1,) slots of block k are block_start[k]..block_start[k+1]
    arm_at             # (n,) slot -> arm
    slot_of            # (n,) arm -> slot
    block_and_flag     # (n,) slot -> 2·block, plus one if the slot has constant or local exploration
    block_group        # (m,) first group in the store, −1 for a singleton
    block_simplex      # (m,) simplex in the store, −1 for a singleton
    slot_group         # (n,) group of each slot, where a block mixes potentials; else empty
    top_group          # (m,) group of the block's coordinate on the top level
    seen_how           # (n,) by slot
    universal          # slots of the arms that every other arm reveals
    parent             # (n,) the slot that explores on behalf of each slot, −1 for none
    child_start        # (n+1,) the inverse of parent
    child
    adaptive_blocks    # blocks with adaptive exploration
    fixed_slots        # slots with constant exploration
    fixed_other        # alias tables of the constant exploration, and
    local_other        # (n,) of the local one
    covered_start         # (n+1,) the slots that each slot explores for by spreading
    covered
    coverer_start         # (n+1,) and the inverse
    coverer
machine fixed float
    fixed_keep
    local              # (n,) local exploration by slot
    local_keep         # (n,)
    cover              # (n,) x*
    out_chance         # how likely each explicit edge reveals, empty where all are certain
    in_chance          # the same by target
    covered_gain          # r^{(1−h)/h} of the edges of `covered`, empty where all are certain
    coverer_gain          # and of those of `coverer`
    parameters         # where the scalars are that a plan fixes
    direction          # (n,) constant exploration of a self-tuning plan at strength 1
    lifted             # (n,) 1 for the arms that may be lifted
    prices             # what safe rounds cost, row by row: see `self_tuning.prices`
    base_costs         # the same of the potential behind a budget, costs alone
    climbs             # what changing to it costs from β = 1, by the ratio of temperatures
machine fixed float scalars
    order              # s, of the entropy
    share              # c: β ≥ β_1 + c·Σ costs/D
    play_share         # c′: this part of all costs pays for larger β
    diameter           # D
    first              # β_1
    strong             # 1 if rounds cost about 1/β without exploration
    prices_from        # β of the first row of prices
    prices_step        # ln of the factor between two rows
    patience           # β is raised when that pays for so much of it
    horizon            # 0 for none
    budget             # what penalty and costs may add up to by then
    pause              # rounds between two choices of exploration, at least
machine changing float  # of self-tuning plans these are chosen while playing
    fixed              # (n,) constant global exploration by slot
    adaptive           # (m,) coefficient of the adaptive exploration, 0 for none
    spread             # (m,) coefficient of the spread exploration, 0 for none
    inverse_load       # (n,) 1/load, 0 where nothing is owed
machine edges long      # the graph's explicit edges, from slot to slot
    out_indptr
    in_indptr
machine edges int
    out_indices
    in_indices
state changing float scalars
    gamma              # γ̄, the share of exploration
    top_paid           # Σ_t ⟨L̂, Y⟩
    exploration_cost   # Σ_t γ̄·(1 − ⟨L̂, Y⟩), what exploration costs if all that it plays loses 1
    fixed_total        # the part of γ̄ that is constant
    adaptive_total     # the part of γ̄ that is adaptive
    round              # rounds learnt from
    whole              # one block: Σ_t L̂ of it
    dominant           # everything revealed: the arm that is kept out of the pass over all (see `learn_all`)
    grown              # and by what factor other weights may have grown since they were written, as a logarithm
    late               # rounds that were learnt from after others (see `late`)
state changing float
    roots              # (m,) Σ √X_k in adaptive blocks
    spreading          # (n,) spread exploration of each slot
    spread_node        # the sum tree over it
    numbers            # where the scalars are that change
state changing int
    spread_for         # (n,) the slot for whose sake a slot spreads as it does
state changing float scalars
    beta               # β, which is played
    shift              # c, which is subtracted from losses
    floor              # 1/(βK): lifted arms are played with probability (1−γ̄)·X^{1−s} times this at least
    shifts             # Σ c
    free_beta          # the β that costs have paid for: the same, unless a budget holds it back
    strength           # b: how much is explored
    above_leader       # 1 if estimates are counted above that of the leader
    leader             # I, a slot: the likeliest when b was chosen
    leader_scale       # exploration for the leader's sake is scaled by this: below 1 in the capped family
    leader_relief      # inverse_load of the leader without that
    on_leader          # constant exploration of the leader itself, so that what is explored is taken from the others
    penalty            # β_1·D + Σ ΔW
    charged            # Σ ĉ
    unspent            # costs that have not paid for a larger β yet
    unspent_limit      # they do as soon as they exceed this
    charged_limit      # Σ ĉ beyond which β must be raised, without a horizon
    slack              # by how much rounds may still exceed their target costs
    target_cost        # what a round may cost at this β
    most_slack         # the slack never exceeds this
    worst_case         # 1 if all rounds must be safe
    priced             # 1 if rounds are charged with the bound on their cost, whatever is drawn
    worst_cost         # that bound
    target_beta        # with a horizon: the β at which all rounds left are affordable
    base_row           # the row of the potential behind the budget at which they are
    fallen             # 1 + that row once the budget asks for it: the game goes on with that potential
    fallen_at          # since this round, each of which is charged its price
    chosen_beta        # β when b was chosen
    leader_low         # the choice holds while X_I is no less than this
    leader_high        # and no more than this
    next_check         # and fewer rounds than this are over
    most_explored      # and γ̄ is no more than this
state scratch float
    block_loss         # (m,) L̂ of this round
    amounts            # what is to be added to which coordinate, this round
    terms              # probabilities of in-neighbours, before they are added up
    evaluated          # self-tuning: what is known about the point that was evaluated last (`point.POINT`)
    workspace          # and room for a choice of exploration there (`point.Workspace`)
state scratch int
    targets            # those coordinates
    owners             # their groups
    touched            # (m,) blocks touched this round
    marked             # (m,) is the block in `touched`?
    changed            # slots or leaves above which a tree is to be renewed
state derived float
    shows_leader       # (n,) how likely each slot reveals the leader, of self-tuning plans
    seen_fixed         # (n,) Σ of constant exploration over the in-neighbours of each slot, or empty
state stream word
    words
store fixed int
    first_group        # (J+1,) groups of each simplex
    origin             # (2G,) group g has the coordinates origin[2g]..origin[2g+1]
    form               # (G,)
    extra              # (G,) index among the bucketed groups; first node of a tree
    table_at           # (H,) where the table of powers begins, −1 for none (see `moments.fast_power`)
store fixed float
    power              # (G,) q, 0 for entropy
    offset             # (G,)
    binomial           # (H·P,) C(q+p−1, p) of each bucketed group
    power_table        # tables of powers, one for every q that has one
store changing float
    key                # (N,) sums s
    weight             # (N,) exp(base − s) in entropy groups
    node               # nodes of the sum trees
    scalars            # (G·N_SCALARS,)
    scale              # (G,)
    multiplier         # (J,) Λ
    ref                # (H·B,) λ at the last refresh of each bucket
    least              # (H·B,) until its next refresh, no member of the bucket has a smaller d,
    cap                # (H·B,) or a larger x than this, least^(−q)
    moments            # (H·B·P,) A_p, laid out [group][bucket][p]
    carry              # (H·B,) what rounding took from A_0
    inverse            # (H·B,) Σ 1/(ref + s)
    series             # (H·N_SERIES,) see `simplex.store`
    sum_at             # (N,) sums by position, in bucketed groups: sampling and refreshing go by position
store changing int
    occupant           # (N,) position -> coordinate
    place              # (N,) coordinate -> position
    start              # (H·(B+1),) first position of each bucket
    span               # (2H,) buckets outside span[2h]..span[2h+1] (inclusive) are empty
    renewed            # (H·B,) how often the bucket was refreshed since its owner followed
"""
"""Owner (machine, state or store), kind and dtype, then the fields; *scalars* are numbers with names of their own."""


class Field(NamedTuple):
    """One name that kernels may use: of an array, or of a scalar."""

    name: str
    owner: str
    kind: str
    dtype: Any
    scalar: bool


def _fields() -> Iterator[Field]:
    dtypes = {"int": INT, "long": LONG, "float": FLOAT, "word": WORD}
    owner = kind = dtype = scalar = ""
    for line in filter(None, (line.split("#")[0].rstrip() for line in _TABLE.splitlines())):
        if line.startswith(" "):
            yield Field(line.strip(), owner, kind, dtypes[dtype], bool(scalar))
        else:
            owner, kind, dtype, *marks = line.split()
            scalar = "".join(marks)


FIELDS = tuple(_fields())
OWNERS = ("machine", "state", "store")
SWITCHES = tuple(field.name for field in FIELDS if field.kind == SWITCH)

HOLDERS = {FIXED: "parameters", CHANGING: "numbers"}
"""The arrays that hold the scalars of each kind."""
SCALARS: dict[str, tuple[str, int]] = {
    field.name: (holder, index)
    for kind, holder in HOLDERS.items()
    for index, field in enumerate(field for field in FIELDS if field.scalar and field.kind == kind)
}
"""Of every scalar the array that holds it, and its place there."""

RULE = tuple(name for name, (holder, _) in SCALARS.items() if holder == HOLDERS[FIXED])
"""What a self-tuning plan fixes, by the names of `planning.self_tuning.rule.SelfTuning`."""
TUNED = tuple(SCALARS)[tuple(SCALARS).index("beta") :]
"""And where it stands."""


class _Arrays(NamedTuple):
    switches: np.ndarray  # int64
    layout: np.ndarray  # int64: first and last cells of all fields below, in the order of the table
    fixed_ints: np.ndarray  # int32
    fixed_floats: np.ndarray  # float64
    out_indptr: np.ndarray  # int64
    out_indices: np.ndarray  # int32
    in_indptr: np.ndarray
    in_indices: np.ndarray
    ints: np.ndarray  # int32
    floats: np.ndarray  # float64
    words: np.ndarray  # (4,) uint64


FEATURES: dict[str, Callable[[Memory], bool]] = {
    "buckets": lambda memory: POWER_BUCKETS in views(memory, FIXED)["form"],
    "spread": lambda memory: switch(memory, "any_spread") != 0,
    "tuned": lambda memory: switch(memory, "self_tunes") != 0,
    "failing": lambda memory: switch(memory, "fails") != 0,
}
"""What some memories have, by the switches that kernels ask before they call a function which `needs` it."""


class Memory(_Arrays):
    """The packed arrays. Only `floats`, `ints` and `words` change while playing.

    The class says which features kernels are compiled for: here all, below some. A memory may be of any class that
    has its own features; `pack` takes the first of `KINDS`.
    """

    __slots__ = ()
    features: ClassVar[frozenset[str]] = frozenset(FEATURES)


class Lists(Memory):
    """A memory without buckets, spread exploration and self-tuning; reveals fail in `Memory` only."""

    __slots__ = ()
    features = frozenset()


class Buckets(Memory):
    """A memory without spread exploration and self-tuning."""

    __slots__ = ()
    features = frozenset({"buckets"})


class Spread(Memory):
    """A memory without self-tuning."""

    __slots__ = ()
    features = frozenset({"buckets", "spread"})


class TunedLists(Memory):
    """A memory without buckets."""

    __slots__ = ()
    features = frozenset({"spread", "tuned"})


class Certain(Memory):
    """A memory whose reveals are certain."""

    __slots__ = ()
    features = frozenset({"buckets", "spread", "tuned"})


KINDS: tuple[type[Memory], ...] = (Lists, Buckets, Spread, TunedLists, Certain, Memory)


def features_of(memory: Memory) -> frozenset[str]:
    """The features that a memory has."""
    return frozenset(name for name, has in FEATURES.items() if has(memory))


def _array_of(field: Field) -> str:
    """The array of `Memory` that a field is in."""
    if field.kind == SWITCH:
        return "switches"
    if field.kind in (EDGES, STREAM):
        return field.name
    return ("fixed_" if field.kind == FIXED else "") + ("ints" if field.dtype == INT else "floats")


PACKED = tuple(f for f in FIELDS if f.kind in (FIXED, CHANGING, SCRATCH, DERIVED) and not f.scalar)
"""The fields that are parts of a larger array, in the order of `Memory.layout`."""

LINE = 64
"""Bytes that memory moves at once; parts begin at such a boundary, so that a record of 64 bytes is one line."""


def pack(named: Mapping[str, npt.ArrayLike], more: frozenset[str] = frozenset()) -> Memory:
    """Arrays, scalars and switches in one array per type and purpose; what is not named is empty, or 0.

    All are copied but the edges and the random stream. The memory is of a kind that has `more` features as well.
    """
    unknown = set(named) - {field.name for field in FIELDS}
    assert not unknown, f"no such fields: {sorted(unknown)}"
    given: dict[str, Any] = dict(named)
    for holder in HOLDERS.values():
        given[holder] = [given.get(name, 0.0) for name, (array, _) in SCALARS.items() if array == holder]
    # One array per type and purpose: a kernel's call costs time for every array that it is given.
    sizes = dict.fromkeys(map(_array_of, PACKED), 0)
    parts, bounds = [], []
    for field in PACKED:
        part = np.ascontiguousarray(given.get(field.name, ()), dtype=field.dtype).ravel()
        first = sizes[_array_of(field)]
        line = LINE // part.itemsize
        parts.append(part)
        bounds += [first, first + part.size]
        sizes[_array_of(field)] = first + -(-part.size // line) * line
    whole = {name: aligned(size, INT if name.endswith("ints") else FLOAT) for name, size in sizes.items()}
    for field, part, first in zip(PACKED, parts, bounds[::2], strict=True):
        whole[_array_of(field)][first : first + part.size] = part
    memory = Memory(
        switches=np.array([given.get(name, 0) for name in SWITCHES], dtype=LONG),
        layout=np.array(bounds, dtype=LONG),
        **whole,
        **{field.name: given[field.name] for field in FIELDS if field.kind in (EDGES, STREAM)},
    )
    kind = next(kind for kind in KINDS if kind.features >= features_of(memory) | more)
    return kind(*memory)


def aligned(size: int, dtype: npt.DTypeLike) -> np.ndarray:
    """Zeros that begin at the boundary of a line."""
    n_bytes = size * np.dtype(dtype).itemsize
    # NumPy aligns to 16 bytes only.
    room = np.zeros(n_bytes + LINE, dtype=np.uint8)
    begin = -room.ctypes.data % LINE
    return room[begin : begin + n_bytes].view(dtype)


def emptied(memory: Memory) -> Memory:
    """Room for another state of the same plan: what changes is 0."""
    ints, floats = aligned(memory.ints.size, INT), aligned(memory.floats.size, FLOAT)
    return memory._replace(ints=ints, floats=floats, words=np.zeros_like(memory.words))


def duplicate(memory: Memory, words: np.ndarray) -> Memory:
    """The same state, to be changed on its own, with another random stream."""
    twin = emptied(memory)._replace(words=words)
    twin.ints[:], twin.floats[:] = memory.ints, memory.floats
    return twin


def refreeze(memory: Memory) -> None:
    """Edges are read-only, which pickling forgets; kernels are compiled for arrays that are."""
    for edges in (memory.out_indptr, memory.out_indices, memory.in_indptr, memory.in_indices):
        edges.flags.writeable = False


def switch(memory: Memory, name: str) -> int:
    """The value of a switch."""
    return int(memory.switches[SWITCHES.index(name)])


def views(memory: Memory, *kinds: str) -> dict[str, np.ndarray]:
    """Named views of the fields of some kinds; of all that change, unless said otherwise.

    A scalar is a view without dimensions: `views(memory)["round"][()] = 7` writes it.
    """
    kinds = kinds or (CHANGING, SCRATCH, DERIVED, STREAM)
    parts = _parts(memory) | {"words": memory.words}
    for name, (holder, index) in SCALARS.items():
        parts[name] = parts[holder][index : index + 1].reshape(())
    fields = (field.name for field in FIELDS if field.kind in kinds)
    return {name: parts[name] for name in fields if name not in HOLDERS.values()}


def changing(memory: Memory) -> dict[str, np.ndarray]:
    """All that playing changes, by name, scalars in one array; what only one round uses is not among it."""
    parts = _parts(memory)
    kept = {field.name: parts[field.name] for field in PACKED if field.kind in (CHANGING, DERIVED)}
    return kept | {"words": memory.words}


def _parts(memory: Memory) -> dict[str, np.ndarray]:
    bounds = memory.layout.reshape(-1, 2).tolist()
    return {
        field.name: getattr(memory, _array_of(field))[first:end]
        for field, (first, end) in zip(PACKED, bounds, strict=True)
    }


def looked_into(memory: Memory) -> tuple[Any, Any, Any]:
    """`opened`, interpreted: fields are views, switches numbers; writing a scalar writes the memory."""
    named: dict[str, Any] = _parts(memory) | {"words": memory.words}
    named |= dict(zip(SWITCHES, memory.switches.tolist(), strict=True))
    named |= {field.name: getattr(memory, field.name) for field in FIELDS if field.kind == EDGES}
    machine, state, store = (
        _NAMESPACES[owner](**{f.name: named[f.name] for f in FIELDS if f.owner == owner and f.name in named})
        for owner in OWNERS
    )
    return machine, state, store


def _sources() -> dict[str, tuple[str, int, bool]]:
    """Of every field but scalars: the array it is in, and its number there, of a switch or a part."""
    number = {field.name: index for index, field in enumerate(PACKED)}
    number |= {name: index for index, name in enumerate(SWITCHES)}
    return {f.name: (_array_of(f), number.get(f.name, -1), f.kind == SWITCH) for f in FIELDS if not f.scalar}


def _scalars(owner: str) -> dict[str, tuple[str, int]]:
    return {f.name: SCALARS[f.name] for f in FIELDS if f.owner == owner and f.scalar}


_NAMESPACES = {owner: written_through(_scalars(owner)) for owner in OWNERS}


@cache
def _bundles(features: frozenset[str]) -> list[Bundle]:
    """Machine, state and store of memories with these features."""
    arrays = [(f.owner, f.name, (f.dtype, f.kind == SWITCH)) for f in FIELDS if not f.scalar]
    return [
        Bundle(owner, {name: how for of, name, how in arrays if of == owner}, _scalars(owner), features)
        for owner in OWNERS
    ]


opened: Any = opener(_bundles, _sources(), looked_into)
"""opened(memory): (machine, state, store), whose fields kernels read; valid as long as the calling kernel runs."""
