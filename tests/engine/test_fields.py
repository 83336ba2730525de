"""Packed arrays and their views: every name reaches the array of that name, wherever it is packed."""

import itertools

import numpy as np
import pytest
from instances import CASE_IDS, CASES, cycle, loops
from kernel_entries import INTERPRETED, unpack
from numba import njit
from numpy.testing import assert_array_equal
from stronger_twins import flat_plan

import sidelight as sl
from sidelight.engine import build as machine_module
from sidelight.engine import fields
from sidelight.engine._numba.jit import kernel
from sidelight.engine.build import block_order, build_memory
from sidelight.engine.fields import Memory, pack, views
from sidelight.engine.simplex.store import AS_RECORDS

PACKED = [field.name for field in fields.PACKED if field.name not in fields.HOLDERS.values()]
SHARED = (fields.EDGES, fields.STREAM)


def numbered():
    """Arrays of distinct sizes and scalars, each a number of its own; and everything else of a memory."""
    arrays = {name: np.full(1 + index % 7, 100.0 + index) for index, name in enumerate(PACKED)}
    arrays |= {name: np.array(1000.0 + index) for index, name in enumerate(fields.SCALARS)}
    shared = {
        f.name: np.full(4, 1 + at, dtype=f.dtype) for at, f in enumerate(fields.FIELDS) if f.kind in SHARED
    }
    return arrays, {name: 500 + index for index, name in enumerate(fields.SWITCHES)}, shared


def packed():
    arrays, switches, shared = numbered()
    return pack(arrays | switches | shared)


def named(memory):
    bundles = dict(zip(fields.OWNERS, unpack(memory), strict=True))
    return {field.name: getattr(bundles[field.owner], field.name) for field in fields.FIELDS}


def test_every_name_is_there_once():
    names = [field.name for field in fields.FIELDS]
    assert len(names) == len(set(names))
    assert all(name.isidentifier() for name in names)


def test_every_name_reaches_its_array():
    arrays, switches, shared = numbered()
    memory = pack(arrays | switches | shared)
    found = named(memory)
    dtypes = {field.name: field.dtype for field in fields.FIELDS}
    for name, array in arrays.items():
        assert_array_equal(found[name], array, err_msg=name)
        assert name in fields.SCALARS or found[name].dtype == dtypes[name]
    for name, array in shared.items():
        assert found[name] is array
    assert {name: found[name] for name in fields.SWITCHES} == switches
    assert all(fields.switch(memory, name) == value for name, value in switches.items())


def test_packing_copies():
    arrays, switches, shared = numbered()
    memory = pack(arrays | switches | shared)
    for array in (memory.fixed_ints, memory.fixed_floats, memory.ints, memory.floats):
        array += 1
    for index, name in enumerate(PACKED):
        assert_array_equal(arrays[name], 100.0 + index)
    for index, name in enumerate(fields.SCALARS):
        assert_array_equal(arrays[name], 1000.0 + index)


def test_what_is_not_named_is_empty_and_what_is_unknown_refused():
    _, _, shared = numbered()
    memory = pack({"key": np.ones(3), "n_arms": 3} | shared)
    found = named(memory)
    assert_array_equal(found["key"], np.ones(3))
    assert found["weight"].size == found["n_blocks"] == 0
    with pytest.raises(AssertionError, match="keys"):
        pack({"keys": np.ones(3)} | shared)


def test_views_are_by_kind_and_share_the_memory():
    memory = packed()
    found = named(memory)
    kinds = {field.name: field.kind for field in fields.FIELDS}
    changing = (fields.CHANGING, fields.SCRATCH, fields.DERIVED, fields.STREAM)
    for name in fields.HOLDERS.values():  # of scalars, which have views of their own
        del kinds[name]
    for kind in (fields.FIXED, *changing):
        looked = views(memory, kind)
        assert set(looked) == {name for name in kinds if kinds[name] == kind}
        for name, view in looked.items():
            assert name in fields.SCALARS or np.shares_memory(view, found[name])
            assert_array_equal(view, found[name])
    assert set(views(memory)) == {name for name in kinds if kinds[name] in changing}


@kernel()
def count_up(memory):
    """Read and write scalars by name."""
    _, state, _ = fields.opened(memory)
    state.round += 2
    state.gamma = 0.5 * state.round
    return state.gamma


def test_scalars_are_read_and_written_by_name():
    memory = packed()
    before = {name: float(views(memory)[name]) for name in ("round", "gamma", "late")}
    assert count_up(memory) == 0.5 * (before["round"] + 2)
    assert views(memory)["round"] == before["round"] + 2
    assert views(memory)["gamma"] == 0.5 * (before["round"] + 2)
    assert views(memory)["late"] == before["late"]
    _, state, _ = unpack(memory)
    state.round = 7.0
    assert views(memory)["round"] == 7.0
    views(memory)["round"][()] = 8.0
    assert state.round == 8.0


@pytest.mark.skipif(INTERPRETED, reason="a namespace takes any name")
def test_kernels_write_scalars_only():
    @kernel()
    def replaced(memory):
        _, state, _ = fields.opened(memory)
        state.roots = state.terms

    with pytest.raises(NotImplementedError, match="roots"):
        replaced(packed())


def test_parts_begin_at_lines_and_do_not_overlap():
    memory = packed()
    taken = []
    for name in PACKED:
        view = named(memory)[name]
        assert view.ctypes.data % fields.LINE == 0
        taken.append((view.ctypes.data, view.ctypes.data + view.nbytes))
    taken.sort()
    assert all(end <= first for (_, end), (first, _) in itertools.pairwise(taken))


def test_a_duplicate_shares_what_is_fixed_and_nothing_else():
    memory = packed()
    twin = fields.duplicate(memory, memory.words.copy())
    for name, array in views(memory).items():
        assert_array_equal(views(twin)[name], array, err_msg=name)
    for name in ("ints", "floats", "words"):
        assert not np.shares_memory(getattr(memory, name), getattr(twin, name))
    assert twin.floats.ctypes.data % fields.LINE == twin.ints.ctypes.data % fields.LINE == 0
    assert twin.fixed_floats is memory.fixed_floats


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
        assert_array_equal(machine.block_and_flag[slots], 2 * k + explores[machine.arm_at[slots]])
    by_arm = machine.slot_of
    if machine.n_fixed:
        assert_array_equal(machine.fixed[by_arm], tuning.global_exploration)
    assert machine.n_fixed == (tuning.global_exploration > 0).sum()
    if machine.any_local:
        assert_array_equal(machine.local[by_arm], tuning.local_exploration)
    assert machine.any_local == (tuning.local_exploration > 0).any()
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
            assert (store.scalars.view(AS_RECORDS)["rate"][group] == tuning.inner_rate[arms]).all()
            assert_array_equal(store.origin[2 * group : 2 * group + 2], m + machine.block_start[k : k + 2])
    assert machine.n_simplices == store.multiplier.size == (m > 1) + (tuning.sizes > 1).sum()
    assert machine.block_size == common(tuning.sizes)
    assert machine.degree == common(np.diff(g.out_indptr))
    assert machine.in_degree == common(np.diff(g.in_indptr))
    assert not machine.fetches
    assert machine.single == (m == 1 and n > 1 and store.power.size == 1 and g.universal.size == 0)
    if m > 1:
        assert_array_equal(store.power[machine.top_group], tuning.top_power[order])
        assert_array_equal(store.scalars.view(AS_RECORDS)["rate"][machine.top_group], tuning.top_rate[order])
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
        assert store.scalars.view(AS_RECORDS)["rate"][group] == store.scale[group] == tuning.inner_rate[arm]
    owed = tuning.load[machine.arm_at] > 0
    assert (np.diff(owed.astype(int)) <= 0).all()
    assert_array_equal(machine.slot_group[owed], 0)
    assert_array_equal(machine.spread, tuning.spread)
    assert_array_equal(machine.cover, tuning.cover[machine.arm_at])
    for slot, arm in enumerate(machine.arm_at):
        near = machine.arm_at[machine.covered[machine.covered_start[slot] : machine.covered_start[slot + 1]]]
        revealed = g.out_neighbors(arm)
        expected = revealed[tuning.load[revealed] > 0] if tuning.cover[arm] > 0 else []
        assert_array_equal(np.sort(near), expected)
        for i in machine.coverer[machine.coverer_start[slot] : machine.coverer_start[slot + 1]]:
            assert slot in machine.covered[machine.covered_start[i] : machine.covered_start[i + 1]]


def test_large_memories_are_asked_for_ahead(monkeypatch):
    assert 10_000 < machine_module.FETCHED < 100_000  # where measurements say
    monkeypatch.setattr(machine_module, "FETCHED", 7)
    for n, expected in ((6, 0), (7, 1), (8, 1)):
        plan = sl.plan(sl.families.mab(n), 10**6, realization="clustered")
        assert unpack(build_memory(plan.graph, plan.tuning, seed=0))[0].fetches == expected


def test_compiled_and_interpreted_views_are_the_same():
    """Every field through the compiled `opened`."""
    memory = packed()
    fields.refreeze(memory)
    found = named(memory)
    expected = [found[f.name] if is_number(f) else found[f.name][0] for f in LOOKED_AT]
    seen = np.zeros(len(expected))
    look(memory, seen)
    assert_array_equal(seen, np.array(expected, dtype=float))


def is_number(field):
    return field.scalar or field.kind == fields.SWITCH


LOOKED_AT = [f for f in fields.FIELDS if f.name not in fields.HOLDERS.values()]
_LINES = [
    f"    seen[{at}] = {f.owner}.{f.name}{'' if is_number(f) else '[0]'}" for at, f in enumerate(LOOKED_AT)
]
_NAMESPACE = {"opened": fields.opened}
exec("def look(memory, seen):\n    machine, state, store = opened(memory)\n" + "\n".join(_LINES), _NAMESPACE)
look = njit(_nrt=False)(_NAMESPACE["look"])
