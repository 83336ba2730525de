"""Packed arrays and their views: every name reaches the array of that name, wherever it is packed."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import sidelight as sl
from instances import CASE_IDS, CASES
from kernel_entries import plain
from sidelight.kernels import memory as layout
from sidelight.kernels.memory import Machine, Memory, State, pack, views
from sidelight.kernels.store import Store
from sidelight.policy.machine import build_memory

unpack = plain(layout.unpack)
FIXED = (*layout.FIXED_INTS, *layout.FIXED_FLOATS)
CHANGING = (*layout.INTS, *layout.FLOATS)
EDGES = ("out_indptr", "out_indices", "in_indptr", "in_indices")
SWITCHES = [name for name in Machine._fields if name not in FIXED and name not in EDGES]


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
    assert not set(Machine._fields) & set(CHANGING)
    assert set(layout.SCRATCH) < set(CHANGING)


def test_every_name_reaches_its_array():
    arrays, switches, edges, words = numbered()
    memory = pack(arrays, switches, edges, words)
    named = unpacked(memory)
    for name, array in arrays.items():
        assert_array_equal(named[name], array, err_msg=name)
        assert named[name].dtype == (np.int32 if name in (*layout.FIXED_INTS, *layout.INTS) else np.float64)
    for name, array in zip(EDGES, edges, strict=True):
        assert named[name] is array
        assert getattr(memory, name) is array
    assert [named[name] for name in SWITCHES] == switches.tolist()  # in the order of their numbers
    assert named["words"] is words


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


def test_views_lie_one_after_another_and_leave_nothing_out():
    memory = pack(*numbered())
    named = unpacked(memory)
    packed = {
        "fixed_ints": layout.FIXED_INTS,
        "fixed_floats": layout.FIXED_FLOATS,
        "ints": layout.INTS,
        "floats": layout.FLOATS,
    }
    bounds = []
    for array, names in packed.items():
        assert_array_equal(getattr(memory, array), np.concatenate([named[name] for name in names]))
        bounds += [0, *itertools.accumulate(named[name].size for name in names)]
    assert memory.layout.tolist() == bounds


def test_empty_arrays_are_packed():
    arrays, switches, edges, words = numbered()
    for name in ("universal", "child", "binomial", "moments", "span"):
        arrays[name] = np.zeros(0)
    named = unpacked(pack(arrays, switches, edges, words))
    for name, array in arrays.items():
        assert_array_equal(named[name], array, err_msg=name)


@pytest.mark.parametrize(("instance", "realization"), CASES[::3], ids=CASE_IDS[::3])
def test_a_machine_is_what_its_plan_says(instance, realization):
    g = sl.FeedbackGraph.from_edges(instance.n_arms, instance.edges)
    partition = sl.Partition(g, instance.blocks)
    tuning = sl.plan(g, instance.horizon, partition=partition, realization=realization).tuning
    memory = build_memory(g, tuning, seed=3)
    assert isinstance(memory, Memory)
    machine, state, store = unpack(memory)
    n, m = g.n_arms, tuning.n_blocks
    assert machine.n_blocks == m
    assert_array_equal(machine.block_start, tuning.block_start)
    assert_array_equal(machine.arm_at, tuning.block_arms)
    assert_array_equal(machine.slot_of[machine.arm_at], np.arange(n))
    for k in range(m):
        assert_array_equal(machine.block_of[tuning.block_start[k] : tuning.block_start[k + 1]], k)
    by_arm = machine.slot_of
    assert_array_equal(machine.fixed[by_arm], tuning.global_exploration)
    assert_array_equal(machine.local[by_arm], tuning.local_exploration)
    assert_array_equal(machine.adaptive, tuning.adaptive)
    assert_array_equal(machine.top_rate, tuning.top_rate)
    for slot, parent in enumerate(machine.parent):
        arm = tuning.parent[machine.arm_at[slot]]
        assert arm == (machine.arm_at[parent] if parent >= 0 else -1)
        children = machine.child[machine.child_start[slot] : machine.child_start[slot + 1]]
        assert_array_equal(children, np.flatnonzero(machine.parent == slot))
    assert machine.block_group.tolist() == [
        -1 if size == 1 else machine.block_group[k] for k, size in enumerate(tuning.sizes)
    ]
    for k in np.flatnonzero(machine.block_group >= 0):
        group = machine.block_group[k]
        assert store.first_group[machine.block_simplex[k]] == group
        assert store.power[group] == tuning.inner_power[tuning.block_arms[tuning.block_start[k]]]
        assert_array_equal(
            np.sort(store.occupant[store.origin[group] : store.origin[group + 1]]),
            m + np.arange(tuning.block_start[k], tuning.block_start[k + 1]),
        )
    if m > 1:
        assert_array_equal(store.power[machine.top_group], tuning.top_power)
    assert state.amounts.size == state.targets.size == state.owners.size >= 2 * g.out_degree.max()
    assert_array_equal(state.words, build_memory(g, tuning, seed=3).words)
