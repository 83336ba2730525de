"""From a plan to the arrays that the kernels play on.

The engine imports neither graphs nor plans: it takes a `FeedbackGraph` and a `planning.Tuning` as they come.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sidelight._types import frozen
from sidelight.engine._numba.interrupts import interrupts_kept
from sidelight.engine.alias import alias_tables
from sidelight.engine.constants import LARGEST_LIST
from sidelight.engine.fields import (
    ALL_LIFTED,
    ALL_OTHERS,
    EVERYTHING,
    MANY_SHAPES,
    OWN_BLOCK,
    OWN_LOSS,
    SEEN_BY_ALL,
    SEEN_BY_BLOCK,
    SEEN_BY_EDGES,
    SEEN_BY_OTHERS,
    SEEN_BY_SELF,
    TUNED,
    UNSIGNED,
    WHERE_COVERED,
    Memory,
    pack,
)
from sidelight.engine.random import seeded_words
from sidelight.engine.round import round as engine
from sidelight.engine.round.learn_single import TERMS
from sidelight.engine.round.spread import LISTED
from sidelight.engine.self_tuning.begin import first_numbers, rule_numbers, rule_tables
from sidelight.engine.self_tuning.point import POINT, workspace_size
from sidelight.engine.simplex.store import AS_RECORDS, ENTROPY_LIST, Group, make_store
from sidelight.engine.simplex.tree import n_nodes

if TYPE_CHECKING:
    from sidelight._types import Bools, Floats, Ints, Longs
    from sidelight.graph import FeedbackGraph
    from sidelight.planning import Tuning

Named = dict[str, Any]
"""Some of the fields of a memory, by name."""

FETCHED = 20_000
"""From so many arms on, the engine asks for memory ahead of using it."""
MOST_SPREAD_EDGES = 2**31 - 1
"""Edges that spread exploration follows are numbered in 32 bits."""


class TooManyEdges(ValueError):
    """A plan that would follow more edges than the engine can number."""


class Slots(NamedTuple):
    """Blocks and arms in the order of the engine: coordinates of equal potential are neighbours."""

    block_order: Longs  # (m,) engine's block -> block of the tuning
    starts: Longs  # (m+1,)
    sizes: Longs  # (m,)
    arm_at: Ints  # (n,) slot -> arm
    slot_of: Ints  # (n,) arm -> slot
    block_of: Ints  # (n,) slot -> engine's block


def build_memory(
    graph: FeedbackGraph,
    tuning: Tuning,
    seed: int | np.random.SeedSequence,
    tuned: Floats | None = None,
) -> Memory:
    """The engine at round one: tuning laid out by slot, every simplex at the minimum of its potential.

    `tuned` says where a self-tuning plan stands, unless at its first round; the leader is an arm there.
    """
    slots, rule = laid_out(tuning), tuning.self_tuning
    # How arms are seen is asked of the graph itself: closed forms hold however its edges are written down below.
    seen_how = _how_seen(graph, slots, tuning.spread[slots.block_order] > 0.0)
    played = graph
    tunes = rule is not None or tuning.corners
    if tunes and graph.n_arms <= LARGEST_LIST and graph.in_probability is None:
        played = explicit(graph)
    # How many coordinates one round changes decides whether an entropy group gets a tree.
    simplices = _simplices(tuning, slots, int(played.out_degree.max()))
    store = make_store(simplices.simplices, tuning.n_blocks + tuning.n_arms)
    stands: Named = (
        {} if rule is None else _stands(tuning, slots, first_numbers(rule) if tuned is None else tuned)
    )
    if rule is not None:
        # One simplex whose rate is 1/β, in the units of its potential; `retune.rescale` follows β from here on.
        rate = (1.0 - rule.order if rule.order < 1.0 else 1.0) / stands["beta"]
        store["scalars"].view(AS_RECORDS)["rate"] = rate
        stands |= rule_numbers(rule, played.n_arms, played.out_indices.size) | rule_tables(rule)
    single = is_single(played, store, tuning.n_blocks, bool((tuning.local_exploration > 0.0).any()))
    named: Named = (
        store | _layout(tuning, slots, simplices) | _exploration(played, tuning, slots, stands, single)
    )
    named |= _observation(played, slots, seen_how, single) | stands
    _give_records(named, simplices, slots)
    named["shape"] = _shape(named)
    named |= _room(played, tuning, named) | _edges(played, slots) | {"words": seeded_words(seed)}
    # What goes on for a self-tuning plan is played by the kernels that are compiled already.
    memory = pack(named, frozenset({"tuned"} if tunes else ()))
    with interrupts_kept():
        engine.start(memory)
    return memory


def _layout(tuning: Tuning, slots: Slots, simplices: Simplices) -> Named:
    """Where blocks, arms and groups are."""
    n, m = tuning.n_arms, tuning.n_blocks
    return {
        "n_arms": n,
        "n_blocks": m,
        "n_top_groups": simplices.n_top,
        "n_simplices": len(simplices.simplices),
        "in_order": bool((slots.arm_at == np.arange(n)).all()),
        "singletons": m == n and n > 1,
        "plain_blocks": bool((slots.sizes > 1).all() and (simplices.block_group >= 0).all()),
        "block_size": _common(slots.sizes),
        "self_tunes": tuning.self_tuning is not None,
        "signed": _signed(tuning),
        "all_covered": bool((tuning.load > 0).all())
        or (_signed(tuning) != UNSIGNED and not tuning.load.any()),
        "lift_group": _lift_group(tuning, slots, simplices),
        "fetches": n >= FETCHED,
        "block_start": slots.starts,
        "arm_at": slots.arm_at,
        "slot_of": slots.slot_of,
        "block_group": simplices.block_group,
        "block_simplex": simplices.block_simplex,
        "slot_group": simplices.slot_group,
        "top_group": simplices.top_group,
    }


def _exploration(
    graph: FeedbackGraph, tuning: Tuning, slots: Slots, stands: dict[str, Any], single: bool
) -> Named:
    """Exploration of every kind by slot, and tables to draw from it; `stands` is empty unless a plan tunes itself."""
    fixed, local = (
        np.asarray(values, dtype=np.float64)[slots.arm_at]
        for values in (tuning.global_exploration, tuning.local_exploration)
    )
    adaptive, spread = tuning.adaptive[slots.block_order], tuning.spread[slots.block_order]
    spreads = spread > 0.0
    lifted = tuning.lifted[slots.arm_at]
    follows = bool(spreads.any() or lifted.any())
    named: Named = _covers(graph, tuning, slots, spreads, tables=not single) if follows else {}
    if lifted.any():
        named |= {"lifted": lifted, "floor": tuning.floor}
    named["shift"] = tuning.shift
    # A plan that tunes itself may explore nothing for a while: what it can explore is the direction of strength 1.
    direction = fixed
    if stands:
        spread = np.where(spreads, stands["strength"], 0.0)
        assert tuning.self_tuning is not None
        direction = fixed / tuning.self_tuning.first_strength
        fixed = stands["strength"] * direction
        if follows:
            named["inverse_load"][int(stands["leader"])] *= stands["leader_scale"]
        else:
            named["direction"] = direction
    if (direction > 0.0).any():
        explored = np.flatnonzero(direction > 0.0)
        keep, other = alias_tables(direction[explored], np.array([0, explored.size]))
        named |= {"fixed": fixed, "fixed_slots": explored, "fixed_keep": keep, "fixed_other": other}
    if (local > 0.0).any():
        keep, other = alias_tables(local, slots.starts)
        named |= {"local": local, "local_keep": keep, "local_other": other}
    if (adaptive > 0.0).any():
        named |= _parents(tuning, slots)
    return named | {
        "n_fixed": np.count_nonzero(direction > 0.0),
        "n_adaptive": np.count_nonzero(adaptive > 0.0),
        "any_local": bool((local > 0.0).any()),
        "any_spread": follows,
        # The block, and whether a slot explores: both are needed together, so they share a word.
        "block_and_flag": 2 * slots.block_of + ((direction > 0.0) | (local > 0.0)),
        "adaptive": adaptive,
        "adaptive_blocks": np.flatnonzero(adaptive > 0.0),
        "spread": spread,
    }


def _signed(tuning: Tuning) -> int:
    """Where losses may be shifted while playing."""
    rule = tuning.self_tuning
    if rule is None or not rule.signed:
        return UNSIGNED
    return ALL_LIFTED if tuning.lifted.all() else WHERE_COVERED


def _lift_group(tuning: Tuning, slots: Slots, simplices: Simplices) -> int:
    """The group of the arms that may be lifted, −1 if there is none."""
    lifted = np.flatnonzero(tuning.lifted[slots.arm_at])
    if not lifted.size:
        return -1
    group = simplices.block_group[0]
    return int(group if group >= 0 else simplices.slot_group[lifted[0]])


def _observation(graph: FeedbackGraph, slots: Slots, seen_how: Ints, single: bool) -> Named:
    """Who reveals whom."""
    return {
        "n_universal": graph.universal.size,
        "degree": _common(np.diff(graph.out_indptr)),
        "in_degree": _common(np.diff(graph.in_indptr)),
        "seen_by": _common(seen_how),
        "single": single,
        "fails": graph.in_probability is not None,
        "seen_how": seen_how,
        "universal": slots.slot_of[graph.universal],
        "out_chance": _chances(graph.out_indptr, graph.out_probability, slots),
        "in_chance": _chances(graph.in_indptr, graph.in_probability, slots),
    }


def _room(graph: FeedbackGraph, tuning: Tuning, switches: Named) -> Named:
    """What is made while playing, and room to work in."""
    n, m, changes = tuning.n_arms, tuning.n_blocks, int(graph.out_degree.max())
    spreading = n if switches["any_spread"] else 0
    tunes = switches["self_tunes"]
    return {
        "roots": np.zeros(m if switches["n_adaptive"] else 0),
        "spreading": np.zeros(spreading),
        "spread_node": np.zeros(n_nodes(n) if spreading else 0),
        "spread_for": np.full(spreading, -1, dtype=np.int32),
        "seen_fixed": np.zeros(n if switches["single"] and switches["n_fixed"] else 0),
        "shows_leader": np.zeros(n if tunes and switches["signed"] != UNSIGNED else 0),
        "evaluated": np.zeros(len(POINT) if tunes else 0),
        "workspace": np.zeros(workspace_size(n) if tunes else 0),
        "terms": np.zeros(max(TERMS, int(np.diff(graph.in_indptr).max()) + 1)),
        "changed": np.zeros(max(LISTED, changes), dtype=np.int32),
        "block_loss": np.zeros(m),
        "amounts": np.zeros(2 * changes),
        "targets": np.zeros(2 * changes, dtype=np.int32),
        "owners": np.zeros(2 * changes, dtype=np.int32),
        "touched": np.zeros(m, dtype=np.int32),
        "marked": np.zeros(m, dtype=np.int32),
    }


def explicit(graph: FeedbackGraph) -> Any:
    """The same graph with all edges written out: small ones are played along edges, however many."""
    if graph.universal.size == 0:
        return graph
    n = graph.n_arms
    sees = np.zeros((n, n), dtype=bool)
    sees[np.repeat(np.arange(n), np.diff(graph.out_indptr)), graph.out_indices] = True
    sees[:, graph.universal] = True
    np.fill_diagonal(sees, graph.has_loop)
    (out_indptr, out_indices), (in_indptr, in_indices) = _rows(sees), _rows(sees.T)
    return SimpleNamespace(
        n_arms=n,
        out_indptr=out_indptr,
        out_indices=out_indices,
        in_indptr=in_indptr,
        in_indices=in_indices,
        out_degree=np.diff(out_indptr),
        universal=np.zeros(0, dtype=np.int32),
        has_loop=graph.has_loop,
        out_probability=None,
        in_probability=None,
    )


def _rows(matrix: Bools) -> tuple[Longs, Ints]:
    """CSR of a dense matrix, read-only as the graph's own."""
    indptr = np.concatenate([[0], np.cumsum(matrix.sum(axis=1))])
    return frozen(indptr, np.int64), frozen(np.nonzero(matrix)[1], np.int32)


def is_single(graph: FeedbackGraph, store: Named, n_blocks: int, any_local: bool) -> bool:
    """Is everything one simplex with one potential, all of whose arms are seen along explicit, certain edges?"""
    one = n_blocks == 1 and store["power"].size == 1
    return one and not any_local and graph.universal.size == 0 and graph.in_probability is None


def block_order(tuning: Tuning) -> Longs:
    """The engine's order of the blocks: sorted by their potential on the top level."""
    # Equal potentials become neighbours, so that each is one group of the top simplex.
    order = np.lexsort((np.arange(tuning.n_blocks), tuning.top_rate, tuning.top_power))
    return order.astype(np.int64)


def laid_out(tuning: Tuning) -> Slots:
    """Blocks sorted by their potential on the top level, arms of a block by theirs inside it."""
    m, n = tuning.n_blocks, tuning.n_arms
    order = block_order(tuning)
    sizes = tuning.sizes[order]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    # entry e of the new row of block k is entry e of its old row
    arms = tuning.block_arms[np.arange(n) + np.repeat(tuning.block_start[order] - starts[:-1], sizes)]
    block_of = np.repeat(np.arange(m, dtype=np.int32), sizes)
    spreads = (tuning.spread[order] > 0.0)[block_of]
    owed_last = spreads & (tuning.load[arms] == 0.0)  # the owed form the first groups of their block
    inside = np.lexsort((arms, tuning.inner_rate[arms], tuning.inner_power[arms], owed_last, block_of))
    arm_at = arms[inside].astype(np.int32)
    slot_of = np.empty(n, dtype=np.int32)
    slot_of[arm_at] = np.arange(n, dtype=np.int32)
    return Slots(order, starts, sizes, arm_at, slot_of, block_of)


class Simplices(NamedTuple):
    """Which simplices there are, and where to find the group of a block or a slot."""

    simplices: list[list[Group]]
    n_top: int
    top_group: Ints  # (m,)
    block_group: Ints  # (m,) −1 for a singleton, −2−g where the block mixes potentials and g is the first
    block_simplex: Ints  # (m,) −1 for a singleton
    slot_group: Ints  # (n,) or empty


def _simplices(tuning: Tuning, slots: Slots, changes: int) -> Simplices:
    m, n = tuning.n_blocks, tuning.n_arms
    simplices: list[list[Group]] = []
    top_group = np.zeros(m, dtype=np.int32)
    if m > 1:  # one block alone needs no simplex above it
        order = slots.block_order
        runs = _runs(tuning.top_power[order], tuning.top_rate[order])
        simplices.append([Group(a, b - a, power, rate, changes) for a, b, power, rate in runs])
        for g, (a, b, _, _) in enumerate(runs):
            top_group[a:b] = g
    n_top = len(simplices[0]) if simplices else 0
    block_group = np.full(m, -1, dtype=np.int32)
    block_simplex = np.full(m, -1, dtype=np.int32)
    slot_group = np.full(n, -1, dtype=np.int32)
    power, rate = tuning.inner_power[slots.arm_at], tuning.inner_rate[slots.arm_at]
    g, mixed = n_top, False
    for k in np.flatnonzero(slots.sizes > 1):
        a, b = int(slots.starts[k]), int(slots.starts[k + 1])
        runs = _runs(power[a:b], rate[a:b])
        block_simplex[k] = len(simplices)
        block_group[k] = g if len(runs) == 1 else -2 - g
        # φ_s(x) = (x^s − x)/(s(1−s)) is 0 at both ends: in units of the rate its line has the slope 1/s = q/(q−1).
        simplices.append(
            [
                Group(m + a + c, d - c, p, r, changes, p / (p - 1) if tuning.corners and p else 0.0)
                for c, d, p, r in runs
            ]
        )
        for c, d, _, _ in runs:
            slot_group[a + c : a + d] = g
            g += 1
        mixed = mixed or len(runs) > 1
    slot_group = slot_group if mixed else slot_group[:0]
    return Simplices(simplices, n_top, top_group, block_group, block_simplex, slot_group)


def _stands(tuning: Tuning, slots: Slots, tuned: Floats) -> dict[str, Any]:
    """Where self-tuning play stands, with its leader as a slot, and what that leader is owed."""
    stands = dict(zip(TUNED, tuned.tolist(), strict=True))
    arm = int(stands["leader"])
    stands["leader"] = float(slots.slot_of[arm])
    stands["leader_relief"] = 1.0 / tuning.load[arm] if tuning.load[arm] > 0.0 else 0.0
    return stands


def _runs(power: Floats, rate: Floats) -> list[tuple[int, int, float, float]]:
    """Runs first..end of neighbours with the same potential."""
    breaks = np.flatnonzero((np.diff(power) != 0.0) | (np.diff(rate) != 0.0)) + 1
    firsts = [0, *breaks.tolist()]
    ends = [*breaks.tolist(), power.size]
    return [(a, b, float(power[a]), float(rate[a])) for a, b in zip(firsts, ends, strict=True)]


def _give_records(named: Named, simplices: Simplices, slots: Slots) -> None:
    """What the engine keeps with the first group of every block: 1 − ᾱ, and its constant exploration."""
    big = np.flatnonzero(simplices.block_group != -1)
    groups = simplices.block_group[big]
    first, numbers = np.where(groups >= 0, groups, -2 - groups), named["scalars"].view(AS_RECORDS)
    numbers["share"] = 1.0
    if "local" in named:
        numbers["share"][first] = 1.0 - np.add.reduceat(named["local"], slots.starts[:-1])[big]
    if "fixed" in named:
        numbers["held"][first] = np.add.reduceat(named["fixed"], slots.starts[:-1])[big]


def _parents(tuning: Tuning, slots: Slots) -> Named:
    """The parent of every slot, and the inverse as CSR: the slots that each slot explores for."""
    parent = np.asarray(tuning.parent, dtype=np.int64)[slots.arm_at]
    parent = np.where(parent >= 0, slots.slot_of[parent], -1)
    children = np.flatnonzero(parent >= 0)
    start, child, _ = _csr(parent[children], children, parent.size, np.zeros(0))
    return {"parent": parent, "child_start": start, "child": child}


def _covers(graph: FeedbackGraph, tuning: Tuning, slots: Slots, spreads: Bools, *, tables: bool) -> Named:
    """Exploration is spread from j with x*_j > 0 to every i of its block that it reveals and that is owed."""
    n = graph.n_arms
    cover, load = tuning.cover[slots.arm_at], tuning.load[slots.arm_at]
    inverse_load = np.divide(1.0, load, out=np.zeros(n), where=load > 0.0)
    if not tables:  # the graph's own edges are followed
        return {"cover": cover, "inverse_load": inverse_load}
    gives = (cover > 0.0) & spreads[slots.block_of]
    owed = load > 0.0
    sources = np.repeat(slots.slot_of, np.diff(graph.out_indptr))
    targets = slots.slot_of[graph.out_indices]
    # Arms that everyone reveals have no explicit edges: those that need exploration get them here.
    universal = slots.slot_of[graph.universal]
    universal = universal[owed[universal]]
    givers = np.flatnonzero(gives)
    if graph.out_indices.size + givers.size * universal.size > MOST_SPREAD_EDGES:
        raise TooManyEdges(
            f"this plan follows {givers.size * universal.size:,} edges into arms that everyone reveals; "
            'use realization="clustered" for this graph'
        )
    for u in universal.tolist():
        others = givers if graph.has_loop[slots.arm_at[u]] else givers[givers != u]
        sources = np.concatenate([sources, others])
        targets = np.concatenate([targets, np.full(others.size, u)])
    follows = gives[sources] & owed[targets] & (slots.block_of[sources] == slots.block_of[targets])
    gains = np.zeros(0)
    if graph.out_probability is not None:  # (1−h)/h = 1/(q−1); universal arms come last, and are certain
        r = np.append(graph.out_probability, np.ones(sources.size - graph.out_indices.size))[follows]
        gains = r ** (1.0 / (tuning.inner_power[slots.arm_at[targets[follows]]] - 1.0))
    covered_start, covered, covered_gain = _csr(sources[follows], targets[follows], n, gains)
    coverer_start, coverer, coverer_gain = _csr(targets[follows], sources[follows], n, gains)
    return {
        "covered_start": covered_start,
        "covered": covered,
        "covered_gain": covered_gain,
        "coverer_start": coverer_start,
        "coverer": coverer,
        "coverer_gain": coverer_gain,
        "cover": cover,
        "inverse_load": inverse_load,
    }


def _csr(
    rows: npt.NDArray[np.integer], columns: npt.NDArray[np.integer], n: int, values: Floats
) -> tuple[Ints, Ints, Floats]:
    order = np.lexsort((columns, rows))
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    return starts.astype(np.int32), columns[order].astype(np.int32), values[order] if values.size else values


def _common(values: npt.NDArray[np.integer]) -> int:
    """The value that all have, −1 if they differ."""
    return int(values[0]) if (values == values[0]).all() else -1


def _edges(graph: FeedbackGraph, slots: Slots) -> Named:
    """The explicit edges from slot to slot; neighbours stay in the order of their arms."""
    out = graph.out_indptr, graph.out_indices
    into = graph.in_indptr, graph.in_indices
    if np.array_equal(out[0], into[0]) and np.array_equal(out[1], into[1]):
        into = out  # undirected: one copy in the caches instead of two
    if not (slots.arm_at == np.arange(graph.n_arms)).all():
        moved = _relabelled(*out, slots)
        out, into = moved, moved if into is out else _relabelled(*into, slots)
    return {"out_indptr": out[0], "out_indices": out[1], "in_indptr": into[0], "in_indices": into[1]}


def _entries(indptr: Longs, slots: Slots) -> tuple[Longs, Longs]:
    """Where rows begin when those of arms are laid out by slot, and which entry of the old rows each entry is."""
    counts = np.diff(indptr)[slots.arm_at]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return starts, np.arange(starts[-1]) + np.repeat(indptr[slots.arm_at] - starts[:-1], counts)


def _relabelled(indptr: Longs, indices: Ints, slots: Slots) -> tuple[Longs, Ints]:
    starts, entries = _entries(indptr, slots)
    # read-only as the graph's own: kernels are compiled for one type
    return frozen(starts, np.int64), frozen(slots.slot_of[indices[entries]], np.int32)


def _chances(indptr: Longs, chances: Floats | None, slots: Slots) -> Floats:
    """The probabilities of explicit edges in the order of `_edges`; empty if all are certain."""
    return np.zeros(0) if chances is None else chances[_entries(indptr, slots)[1]]


def _how_seen(graph: FeedbackGraph, slots: Slots, spreads: Bools) -> Ints:
    """Closed forms for the probability of seeing a slot, where its in-neighbours allow one."""
    n = graph.n_arms
    how = np.full(n, SEEN_BY_EDGES, dtype=np.int32)
    block = slots.block_of[slots.slot_of]  # by arm
    targets = np.repeat(np.arange(n), np.diff(graph.in_indptr))
    same_block = np.bincount(targets[block[graph.in_indices] == block[targets]], minlength=n)
    degree = np.diff(graph.in_indptr)
    # Seen by itself alone: P = Z. By all others of its block: P is the block's mass without its own.
    how[(degree == 1) & graph.has_loop] = SEEN_BY_SELF
    clique = (degree == slots.sizes[block] - 1) & (same_block == degree) & ~graph.has_loop & (degree > 1)
    how[clique & ~spreads[block]] = SEEN_BY_BLOCK
    # A reveal that may fail weighs its edge, which no closed form does.
    if graph.in_probability is not None:
        how[targets[graph.in_probability < 1.0]] = SEEN_BY_EDGES
    how[graph.is_universal] = np.where(graph.has_loop[graph.is_universal], SEEN_BY_ALL, SEEN_BY_OTHERS)
    return how[slots.arm_at]


def _shape(switches: Named) -> int:
    """What every play reveals, if that can be learnt from in one go."""
    form = switches["form"]
    lists = bool((form == ENTROPY_LIST).all())
    how = switches["seen_by"]
    # What is explored for single arms, or fails one by one, has to be learnt from arm by arm.
    if switches["n_adaptive"] or switches["any_spread"] or switches["fails"]:
        return MANY_SHAPES
    if how == SEEN_BY_SELF and switches["singletons"]:
        return OWN_LOSS
    inner = form[switches["n_top_groups"] :]
    if how == SEEN_BY_BLOCK and switches["plain_blocks"] and bool((inner == ENTROPY_LIST).all()):
        return OWN_BLOCK
    if switches["singletons"] and switches["in_order"] and switches["n_top_groups"] == 1 and lists:
        if how == SEEN_BY_ALL:
            return EVERYTHING
        fixed = switches.get("fixed", np.zeros(0))
        if how == SEEN_BY_OTHERS and bool((fixed == fixed[:1]).all()):
            return ALL_OTHERS
    return MANY_SHAPES
