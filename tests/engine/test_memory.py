"""Packed arrays and their views: every name reaches the array of that name, wherever it is packed."""

import numpy as np
import pytest
from instances import CASE_IDS, CASES, cycle, loops
from kernel_entries import unpack
from numpy.testing import assert_array_equal
from stronger_twins import flat_plan

import sidelight as sl
from sidelight.engine import build as machine_module
from sidelight.engine import memory as layout
from sidelight.engine._numba.jit import kernel
from sidelight.engine._numba.pointers import by_reference
from sidelight.engine.build import block_order, build_memory
from sidelight.engine.memory import SEEN_BY_EDGES, Machine, Memory, State, pack, views
from sidelight.engine.simplex.store import N_SCALARS, RATE, Store

FIXED = (*layout.FIXED_INTS, *layout.FIXED_FLOATS)
CHANGING = (*layout.INTS, *layout.FLOATS)
EDGES = ("out_indptr", "out_indices", "in_indptr", "in_indices")
SWITCHES = [name for name in Machine._fields if name not in (*FIXED, *CHANGING, *EDGES)]
FALLING = {"fixed", "adaptive", "spread"}  # fixed but for the beginnings of epochs


def numbered():
    """Arrays of distinct sizes, each filled with a number of its own; and everything else of a memory."""
    arrays = {name: np.full(1 + index % 7, 100.0 + index) for index, name in enumerate((*FIXED, *CHANGING))}
    edges = tuple(np.full(2, -1.0 - index) for index in range(4))
    switches = np.arange(500, 500 + layout.N_SWITCHES)
    return arrays, switches, edges, np.arange(4, dtype=np.uint64)


def unpacked(memory):
    machine, state, store = unpack(memory)
    assert (type(machine), type(state), type(store)) == (Machine, State, Store)
    return machine._asdict() | state._asdict() | store._asdict()


def test_every_name_is_packed_once():
    names = [*FIXED, *CHANGING]
    assert len(names) == len(set(names))
    everything = {*Machine._fields, *State._fields, *Store._fields}
    assert everything == {*names, *SWITCHES, *EDGES, "words"}
    assert len(SWITCHES) == layout.N_SWITCHES
    assert not set(Machine._fields) & set(State._fields)
    assert not set(Store._fields) & ({*Machine._fields, *State._fields})


def test_what_is_fixed_is_packed_apart_from_what_changes():
    assert not set(State._fields) & set(FIXED)
    assert set(Machine._fields) & set(CHANGING) == FALLING
    assert not FALLING & set(layout.SCRATCH)
    assert set(layout.SCRATCH) < set(CHANGING)
    assert set(layout.DERIVED) < set(CHANGING) - set(layout.SCRATCH)


def test_every_name_reaches_its_array():
    arrays, switches, edges, words = numbered()
    memory = pack(arrays, switches, edges, words)
    named = unpacked(memory)
    for name, array in arrays.items():
        assert_array_equal(named[name], array, err_msg=name)
        assert named[name].dtype == (np.int32 if name in (*layout.FIXED_INTS, *layout.INTS) else np.float64)
    for name, array in zip(EDGES, edges, strict=True):
        assert_array_equal(named[name], array)
        assert np.shares_memory(named[name], array)
        assert getattr(memory, name) is array
    assert [named[name] for name in SWITCHES] == switches.tolist()  # in the order of their numbers
    assert np.shares_memory(named["words"], words)


def test_packing_copies():
    arrays, switches, edges, words = numbered()
    memory = pack(arrays, switches, edges, words)
    for array in (memory.fixed_ints, memory.fixed_floats, memory.ints, memory.floats):
        array += 1
    for index, name in enumerate((*FIXED, *CHANGING)):
        assert_array_equal(arrays[name], 100.0 + index)


def test_views_are_what_the_kernels_see():
    arrays, switches, edges, words = numbered()
    memory = pack(arrays, switches, edges, words)
    looked = views(memory)
    assert set(looked) == {*CHANGING, "words"}
    for number, view in enumerate(looked.values()):
        view[:] = 1000 + number
    named = unpacked(memory)
    for number, name in enumerate(looked):
        assert_array_equal(named[name], 1000 + number, err_msg=name)
        assert np.shares_memory(named[name], looked[name])
    for name in FIXED:
        assert_array_equal(named[name], arrays[name])


def test_views_lie_one_after_another_at_the_beginning_of_lines():
    memory = pack(*numbered())
    named = unpacked(memory)
    packed = {
        "fixed_ints": layout.FIXED_INTS,
        "fixed_floats": layout.FIXED_FLOATS,
        "ints": layout.INTS,
        "floats": layout.FLOATS,
    }
    bounds = memory.layout.reshape(-1, 2).tolist()
    for array, names in packed.items():
        whole = getattr(memory, array)
        assert whole.ctypes.data % layout.LINE == 0
        filled = np.zeros(whole.size, dtype=bool)
        for name in names:
            first, end = bounds.pop(0)
            assert first * whole.itemsize % layout.LINE == 0
            assert_array_equal(whole[first:end], named[name], err_msg=name)
            assert not filled[first:end].any()
            filled[first:end] = True
        assert filled.sum() == sum(named[name].size for name in names)
        assert_array_equal(whole[~filled], 0)  # nothing but the ends of lines
    assert not bounds


def test_a_duplicate_shares_what_is_fixed_and_nothing_else():
    memory = pack(*numbered())
    twin = layout.duplicate(memory, memory.words.copy())
    for name, array in views(memory).items():
        assert_array_equal(views(twin)[name], array, err_msg=name)
    for name in ("ints", "floats", "words"):
        assert not np.shares_memory(getattr(memory, name), getattr(twin, name))
    assert twin.floats.ctypes.data % layout.LINE == twin.ints.ctypes.data % layout.LINE == 0
    assert twin.fixed_floats is memory.fixed_floats


def test_empty_arrays_are_packed():
    arrays, switches, edges, words = numbered()
    for name in ("universal", "child", "binomial", "moments", "span"):
        arrays[name] = np.zeros(0)
    named = unpacked(pack(arrays, switches, edges, words))
    for name, array in arrays.items():
        assert_array_equal(named[name], array, err_msg=name)


def common(values):
    """What all are, −1 if they differ."""
    return values[0] if len(set(values.tolist())) == 1 else -1


@pytest.mark.parametrize(("instance", "realization"), CASES[::3], ids=CASE_IDS[::3])
def test_a_machine_is_what_its_plan_says(instance, realization):
    g = sl.FeedbackGraph.from_edges(instance.n_arms, instance.edges)
    partition = sl.Partition(g, instance.blocks)
    tuning = sl.plan(g, instance.horizon, partition=partition, realization=realization).tuning
    memory = build_memory(g, tuning, seed=3)
    assert isinstance(memory, Memory)
    machine, state, store = unpack(memory)
    n, m = g.n_arms, tuning.n_blocks
    assert (machine.n_arms, machine.n_blocks) == (n, m)
    order = block_order(tuning)  # engine's block -> block of the tuning
    assert_array_equal(np.sort(order), np.arange(m))
    blocks = np.split(tuning.block_arms, tuning.block_start[1:-1])
    assert_array_equal(np.diff(machine.block_start), tuning.sizes[order])
    assert_array_equal(machine.slot_of[machine.arm_at], np.arange(n))
    explores = (tuning.global_exploration > 0) | (tuning.local_exploration > 0)
    for k in range(m):
        slots = slice(machine.block_start[k], machine.block_start[k + 1])
        assert_array_equal(np.sort(machine.arm_at[slots]), np.sort(blocks[order[k]]))
        assert_array_equal(machine.home[slots], 2 * k + explores[machine.arm_at[slots]])
    by_arm = machine.slot_of
    if machine.n_fixed:
        assert_array_equal(machine.fixed[by_arm], tuning.global_exploration)
    assert machine.n_fixed == (tuning.global_exploration > 0).sum()
    if machine.any_local:
        assert_array_equal(machine.local[by_arm], tuning.local_exploration)
    assert machine.any_local == (tuning.local_exploration > 0).any()
    alike = [len(set(e.tolist())) == 1 for e in (tuning.global_exploration, tuning.local_exploration)]
    assert machine.even == all(alike)
    assert_array_equal(machine.adaptive, tuning.adaptive[order])
    if machine.n_adaptive:
        for slot, parent in enumerate(machine.parent):
            arm = tuning.parent[machine.arm_at[slot]]
            assert arm == (machine.arm_at[parent] if parent >= 0 else -1)
            children = machine.child[machine.child_start[slot] : machine.child_start[slot + 1]]
            assert_array_equal(children, np.flatnonzero(machine.parent == slot))
    else:
        assert (tuning.adaptive == 0).all()
    for slot in range(n):
        row = machine.out_indices[machine.out_indptr[slot] : machine.out_indptr[slot + 1]]
        arm = machine.arm_at[slot]
        assert_array_equal(machine.arm_at[row], np.setdiff1d(g.out_neighbors(arm), g.universal))
    assert_array_equal(machine.arm_at[machine.universal], g.universal)
    for k, size in enumerate(tuning.sizes[order]):
        group = machine.block_group[k]
        assert (group == -1) == (size == 1)
        assert group >= -1  # one potential in each block
        if group >= 0:
            assert store.first_group[machine.block_simplex[k]] == group
            arms = blocks[order[k]]
            assert (store.power[group] == tuning.inner_power[arms]).all()
            assert (store.scalars[group * N_SCALARS + RATE] == tuning.inner_rate[arms]).all()
            assert_array_equal(store.origin[2 * group : 2 * group + 2], m + machine.block_start[k : k + 2])
    assert machine.n_simplices == store.multiplier.size == (m > 1) + (tuning.sizes > 1).sum()
    assert machine.block_size == common(tuning.sizes)
    assert machine.degree == common(np.diff(g.out_indptr))
    assert machine.in_degree == common(np.diff(g.in_indptr))
    assert not machine.fetches
    plain = (tuning.sizes > 1).all() and m > 1 and (tuning.inner_power == 0).all()
    alike = (tuning.top_power == 2).all() and len(set(tuning.top_rate.tolist())) == 1
    assert machine.usual == (plain and alike)
    assert machine.written == (
        machine.usual and (machine.seen_how == SEEN_BY_EDGES).all() and g.universal.size == 0
    )
    adaptive = m == 1 and bool((tuning.adaptive > 0).all()) and (g.in_degree[g.universal] == 0).all()
    assert machine.lone == (adaptive and (machine.seen_how == SEEN_BY_EDGES).all())
    if m > 1:
        assert_array_equal(store.power[machine.top_group], tuning.top_power[order])
        assert_array_equal(store.scalars[machine.top_group * N_SCALARS + RATE], tuning.top_rate[order])
    assert state.amounts.size == state.targets.size == state.owners.size >= 2 * g.out_degree.max()
    assert_array_equal(state.words, build_memory(g, tuning, seed=3).words)


def test_blocks_that_mix_potentials_are_split_by_slot():
    """Arms with self-loops beside others, one simplex: arms of a group are neighbours, those owed something first."""
    edges = (
        [(70 + i, i) for i in range(8)]
        + [(i, 70 + i) for i in range(8)]
        + cycle(range(78))
        + loops(range(70, 78))
    )
    g = sl.FeedbackGraph.from_edges(78, sorted({(int(u), int(v)) for u, v in edges}))
    tuning = flat_plan(g, 10**6, "covered", np.arange(70)).tuning
    machine, _, store = unpack(build_memory(g, tuning, seed=3))
    assert (machine.n_blocks, machine.n_simplices) == (1, 1)
    assert machine.block_group[0] == -2  # the first of several groups is group 0
    assert store.power.size > 1
    for slot, arm in enumerate(machine.arm_at):
        group = machine.slot_group[slot]
        assert store.origin[2 * group] <= 1 + slot < store.origin[2 * group + 1]
        assert store.power[group] == tuning.inner_power[arm]
        assert store.scalars[group * N_SCALARS + RATE] == store.scale[group] == tuning.inner_rate[arm]
    owed = tuning.load[machine.arm_at] > 0
    assert (np.diff(owed.astype(int)) <= 0).all()
    assert_array_equal(machine.slot_group[owed], 0)
    assert_array_equal(machine.spread, tuning.spread)
    assert_array_equal(machine.cover, tuning.cover[machine.arm_at])
    for slot, arm in enumerate(machine.arm_at):
        near = machine.arm_at[machine.near[machine.near_start[slot] : machine.near_start[slot + 1]]]
        revealed = g.out_neighbors(arm)
        expected = revealed[tuning.load[revealed] > 0] if tuning.cover[arm] > 0 else []
        assert_array_equal(np.sort(near), expected)
        for i in machine.owed[machine.owed_start[slot] : machine.owed_start[slot + 1]]:
            assert slot in machine.near[machine.near_start[i] : machine.near_start[i + 1]]


def test_large_memories_are_asked_for_ahead(monkeypatch):
    assert 10_000 < machine_module.FETCHED < 100_000  # where measurements say
    monkeypatch.setattr(machine_module, "FETCHED", 7)
    for n, expected in ((6, 0), (7, 1), (8, 1)):
        plan = sl.plan(sl.families.mab(n), 10**6, realization="clustered")
        assert unpack(build_memory(plan.graph, plan.tuning, seed=0))[0].fetches == expected


def test_compiled_and_interpreted_views_are_the_same():
    """One field of every packed array, the first and the last of its kind, through the compiled `unpack`."""
    arrays, switches, edges, words = numbered()
    edges = tuple(edge.astype(dtype) for edge, dtype in zip(edges, 2 * (np.int64, np.int32), strict=True))
    memory = pack(arrays, switches, edges, words)
    machine, state, store = unpack(memory)
    expected = [machine.n_arms, machine.degree, machine.block_start[0], machine.owed[0], machine.fixed[0]]
    expected += [machine.relief[0], machine.out_indptr[0], machine.in_indices[0], state.numbers[0]]
    expected += [state.leader[0], state.words[3], store.first_group[0], store.extra[0], store.power[0]]
    expected += [store.binomial[0], store.cap[0], store.series[0], store.occupant[0], store.renewed[0]]
    expected += [machine.n_simplices, machine.adaptive[0], machine.spread[0], store.scale[0], store.sum_at[0]]
    expected += [machine.lone, store.portion[0]]
    seen = np.zeros(len(expected))
    look(memory, seen)
    assert_array_equal(seen, expected)


@kernel(cache=False)
def look(memory, seen):
    parts = layout.unpack(memory)
    machine, state, store = by_reference(parts[0]), by_reference(parts[1]), by_reference(parts[2])
    seen[0] = machine.n_arms
    seen[1] = machine.degree
    seen[2] = machine.block_start[0]
    seen[3] = machine.owed[0]
    seen[4] = machine.fixed[0]
    seen[5] = machine.relief[0]
    seen[6] = machine.out_indptr[0]
    seen[7] = machine.in_indices[0]
    seen[8] = state.numbers[0]
    seen[9] = state.leader[0]
    seen[10] = state.words[3]
    seen[11] = store.first_group[0]
    seen[12] = store.extra[0]
    seen[13] = store.power[0]
    seen[14] = store.binomial[0]
    seen[15] = store.cap[0]
    seen[16] = store.series[0]
    seen[17] = store.occupant[0]
    seen[18] = store.renewed[0]
    seen[19] = machine.n_simplices
    seen[20] = machine.adaptive[0]
    seen[21] = machine.spread[0]
    seen[22] = store.scale[0]
    seen[23] = store.sum_at[0]
    seen[24] = machine.lone
    seen[25] = store.portion[0]
