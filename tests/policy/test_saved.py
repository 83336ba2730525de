"""Saved policies: they continue bit for bit; every other file is refused, and runs nothing.

The format is that of docs/decisions/0004-saved-policies.md, read and written here with plain NumPy and JSON.
"""

import json
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from instances import CASE_IDS, CASES
from numpy.testing import assert_allclose, assert_array_equal
from saved_files import contents, digest_of, forge

import sidelight as sl

FAMILIES = [  # universal arms with and without loops, labels, many arms
    "full:5",
    "loopless_clique:6",
    "corrupted_full:7,2",
    "teams:2x3",
    "label_efficient:4",
    "apple_tasting",
    "ring_probe:40",
    "hypercube:5",
    "mab:1",
]


def losses_of(t, n_arms):
    return np.random.default_rng([t, n_arms]).random(n_arms)


def play(policy, first, last):
    """Arms and distributions of rounds first..last−1; a pending arm is told first."""
    g, arms, announced = policy.graph, [], []
    for t in range(first, last):
        arm = policy.ask() if policy.pending is None else policy.pending
        policy.tell(losses_of(t, g.n_arms)[g.out_neighbors(arm)])
        arms.append(arm)
        announced.append(policy.probabilities)
    return arms, np.array(announced)


def check_continuation(plan, path):
    policy = plan.policy(seed=4)
    play(policy, 0, 30)
    for pending in (False, True):
        if pending:
            policy.ask()
        policy.save(path)
        loaded = sl.Policy.load(path)
        assert (loaded.pending, loaded.round) == (policy.pending, policy.round)
        assert (loaded.pending is not None) is pending
        assert_array_equal(loaded.probabilities, policy.probabilities)
        assert_array_equal(loaded.block_probabilities, policy.block_probabilities)
        arm = plan.graph.n_arms // 2
        assert loaded.ledger(arm) == policy.ledger(arm)
        rounds = (policy.round, policy.round + 200)
        expected, got = play(policy, *rounds), play(loaded, *rounds)
        assert expected[0] == got[0]
        assert_array_equal(expected[1], got[1])
        assert loaded.ledger(arm) == policy.ledger(arm)


@pytest.mark.parametrize(("named", "realization"), CASES, ids=CASE_IDS)
def test_every_instance_continues_bit_for_bit(named, realization, tmp_path):
    g = sl.FeedbackGraph.from_edges(named.n_arms, named.edges)
    partition = sl.Partition(g, named.blocks)
    check_continuation(
        sl.plan(g, named.horizon, partition=partition, realization=realization), tmp_path / "p"
    )


@pytest.mark.parametrize("spec", FAMILIES)
def test_every_kind_of_graph_continues_bit_for_bit(spec, tmp_path):
    check_continuation(sl.plan(sl.families.parse(spec), horizon=2_000), tmp_path / "policy.npz")


@pytest.mark.parametrize("spec", FAMILIES)
def test_graph_and_plan_come_back(spec, tmp_path):
    plan = sl.plan(sl.families.parse(spec), horizon=2_000)
    plan.policy(seed=1).save(tmp_path / "p")
    loaded = sl.Policy.load(tmp_path / "p")
    back = loaded.plan
    assert loaded.graph == plan.graph
    assert back.graph.labels == plan.graph.labels
    assert_array_equal(back.graph.universal, plan.graph.universal)
    assert_array_equal(back.graph.has_loop, plan.graph.has_loop)
    assert back.partition == plan.partition
    assert (back.horizon, back.realization, back.details.choices) == (
        plan.horizon,
        plan.realization,
        plan.details.choices,
    )
    assert back.parameters == plan.parameters
    assert back.bound.to_dict() == plan.bound.to_dict()
    assert_array_equal(back.policy(seed=1).probabilities, plan.policy(seed=1).probabilities)


def test_saving_is_repeatable_and_changes_no_more_than_rounding(tmp_path):
    policies = [sl.plan(sl.families.cliques([3, 4]), horizon=500).policy(seed=4) for _ in range(2)]
    for policy in policies:
        play(policy, 0, 20)
    for path in (tmp_path / "a", tmp_path / "b"):
        policies[0].save(path)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    sl.Policy.load(tmp_path / "a").save(tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "c").read_bytes()
    assert_allclose(policies[0].probabilities, policies[1].probabilities, rtol=1e-13)
    assert policies[0].ledger(2) == pytest.approx(policies[1].ledger(2), rel=1e-12)
    assert play(policies[0], 20, 50)[0] == play(policies[1], 20, 50)[0]


def test_paths_may_be_text_with_any_name(tmp_path):
    policy = sl.plan(sl.families.mab(3), horizon=100).policy(seed=1)
    for name in ("plain", "with.dots.npz", "über 1"):
        policy.save(str(tmp_path / name))
        assert (tmp_path / name).is_file()  # the name asked for, no suffix added
        assert sl.Policy.load(str(tmp_path / name)).round == 0


CONTINUE = """
import sys, numpy as np, sidelight as sl
policy = sl.Policy.load(sys.argv[1])
g = policy.graph
for t in range(policy.round, policy.round + 100):
    arm = policy.ask() if policy.pending is None else policy.pending
    policy.tell(np.random.default_rng([t, g.n_arms]).random(g.n_arms)[g.out_neighbors(arm)])
    print(arm)
policy.save(sys.argv[2])
"""


def test_another_process_continues_bit_for_bit(tmp_path):
    policy = sl.plan(sl.families.teams([3, 4]), horizon=500).policy(seed=4)
    play(policy, 0, 20)
    policy.ask()
    policy.save(tmp_path / "before")
    command = [sys.executable, "-c", CONTINUE, str(tmp_path / "before"), str(tmp_path / "theirs")]
    theirs = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    arms, _ = play(policy, 20, 120)
    assert [int(arm) for arm in theirs.split()] == arms
    policy.save(tmp_path / "ours")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


# -- writing is all or nothing ----------------------------------------------------------------------------


@pytest.fixture
def policy():
    policy = sl.plan(sl.families.teams([3, 4]), horizon=500).policy(seed=4)
    play(policy, 0, 20)
    return policy


@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_a_failing_write_leaves_the_old_file(policy, step, tmp_path, monkeypatch):
    path = tmp_path / "policy"
    policy.save(path)
    old = path.read_bytes()
    play(policy, 20, 25)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, step, full)
        with pytest.raises(sl.SavedStateError, match=r"policy.*No space left"):
            policy.save(path)
    assert path.read_bytes() == old
    assert [entry.name for entry in tmp_path.iterdir()] == ["policy"]  # no half-written file stays behind
    policy.save(path)
    assert path.read_bytes() != old


def test_an_interrupted_write_leaves_the_old_file(policy, tmp_path, monkeypatch):
    path = tmp_path / "policy"
    policy.save(path)
    old = path.read_bytes()
    play(policy, 20, 25)

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            policy.save(path)
    assert path.read_bytes() == old
    assert len(list(tmp_path.iterdir())) == 1


def test_places_that_cannot_be_written(policy, tmp_path):
    (tmp_path / "file").write_text("in the way")
    for path in (tmp_path / "missing" / "policy", tmp_path, tmp_path / "file" / "policy"):
        with pytest.raises(sl.SavedStateError, match=str(path)):
            policy.save(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


# -- files that are not saved policies --------------------------------------------------------------------


def refuse(path):
    with pytest.raises(sl.SavedStateError, match=path.name) as refused:
        sl.Policy.load(path)
    assert "\n" not in str(refused.value)


@pytest.fixture
def path(policy, tmp_path):
    policy.save(tmp_path / "policy")
    return tmp_path / "policy"


def test_files_that_are_something_else(path, tmp_path):
    sl.write_graph(sl.families.cycle(5), tmp_path / "graph.npz")
    np.savez(tmp_path / "other.npz", header=np.arange(3), values=np.ones(2))
    np.savez(tmp_path / "nothing.npz")
    np.save(tmp_path / "array.npy", np.ones(3))
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("a policy, honestly\n")
    (tmp_path / "json").write_text('{"format": "sidelight-policy", "version": 2}')
    (tmp_path / "noise").write_bytes(np.random.default_rng(1).bytes(5_000))
    with zipfile.ZipFile(tmp_path / "zip", "w") as archive:
        archive.writestr("header", "not an array")
    (tmp_path / "folder").mkdir()
    for entry in tmp_path.iterdir():
        if entry != path:
            refuse(entry)
    refuse(tmp_path / "absent")


def test_truncated_files(path):
    whole = path.read_bytes()
    for length in [*range(0, 200, 7), *np.linspace(200, len(whole) - 1, 60).astype(int)]:
        path.write_bytes(whole[:length])
        refuse(path)
    path.write_bytes(whole + b"more")
    damaged_or_same(path, whole)


def damaged_or_same(path, whole):
    """A damaged file is refused, unless the damage is to bytes that mean nothing: then nothing changed."""
    try:
        loaded = sl.Policy.load(path)
    except sl.SavedStateError:
        return True
    loaded.save(path)
    assert path.read_bytes() == whole
    return False


def contents_of_members(path):
    """The set of positions that hold arrays, as opposed to the archive's own bookkeeping."""
    inside = set()
    with zipfile.ZipFile(path) as archive, open(path, "rb") as stream:
        for member in archive.infolist():
            stream.seek(member.header_offset + 26)
            names = sum(int.from_bytes(stream.read(2), "little") for _ in range(2))
            first = member.header_offset + 30 + names
            inside.update(range(first, first + member.file_size))
    return inside


def test_flipped_bits_everywhere(path):
    """One bit in every stretch of the file, and in every byte of one entry of the archive's bookkeeping."""
    whole, inside = path.read_bytes(), contents_of_members(path)
    rng = np.random.default_rng(5)
    places = [(int(at), int(rng.integers(8))) for at in np.linspace(0, len(whole) - 1, 400)]
    places += [(at, int(rng.integers(8))) for at in range(30)]
    directory = whole.rindex(b"PK\x01\x02")
    places += [(at, int(rng.integers(8))) for at in range(directory, directory + 46)]
    for at, bit in places:
        damaged = bytearray(whole)
        damaged[at] ^= 1 << bit
        path.write_bytes(damaged)
        refused = damaged_or_same(path, whole)
        assert refused or at not in inside, (at, bit)
    assert sum(at in inside for at, _ in places) > 200


# -- files made to mislead --------------------------------------------------------------------------------


def test_the_documented_format(path, policy):
    """What is forged below without a change loads: the digest and the members are as documented."""
    header, arrays = contents(path)
    found = [header[name] for name in ("format", "version", "sidelight", "kind", "stages")]
    assert found == ["sidelight-policy", 7, sl.__version__, "plan", None]
    assert header["digest"] == digest_of(header, arrays)
    assert header["plan"]["horizon"] == policy.plan.horizon
    assert bytes(arrays["graph.labels_text"]).decode() == "".join(policy.graph.labels)
    assert {name.partition(".")[0] for name in arrays} == {"graph", "tuning", "base", "state", "decisions"}
    assert all(array.dtype.kind in "biuf" for array in arrays.values())
    forge(path, header, arrays)
    assert_array_equal(sl.Policy.load(path).probabilities, policy.probabilities)


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4, 8, 99, "6", None, 1.5])
def test_other_versions(path, version):
    header, arrays = contents(path)
    forge(path, header | {"version": version}, arrays)
    advice = "play on with the Sidelight that wrote it" if version in (1, 2, 3, 4) else "may be newer"
    with pytest.raises(sl.SavedStateError, match=f"version {version}.*{advice}"):
        sl.Policy.load(path)


def test_a_real_file_of_version_4_is_refused_with_advice():
    """Written by Sidelight 0.1.0 as it was before version 5."""
    with pytest.raises(sl.SavedStateError, match=r"version 4.*play on with the Sidelight that wrote it"):
        sl.Policy.load(Path(__file__).parent / "data" / "version4.npz")


def test_changed_contents_do_not_match_the_digest(path):
    header, arrays = contents(path)
    encoded = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    for name in arrays:
        changed = arrays | {name: np.append(arrays[name], arrays[name].dtype.type(0))}
        with open(path, "wb") as stream:
            np.savez(stream, header=encoded, **changed)
        with pytest.raises(sl.SavedStateError, match="digest"):
            sl.Policy.load(path)


def test_headers_that_are_not_what_they_should_be(path):
    header, arrays = contents(path)
    for key in ("format", "version", "kind", "plan"):
        forge(path, {k: v for k, v in header.items() if k != key}, arrays)
        refuse(path)
    plan = header["plan"]
    for key in ("horizon", "realization", "choices", "parameters", "bound"):
        forge(path, header | {"plan": {k: v for k, v in plan.items() if k != key}}, arrays)
        refuse(path)
    wrong = {"choices": 7, "bound": {"value": 1.0}, "realization": None, "parameters": [1], "horizon": True}
    for key, value in wrong.items():
        forge(path, header | {"plan": plan | {key: value}}, arrays)
        refuse(path)
    for key, value in {"format": "sidelight-graph", "kind": "game", "stages": "tripling", "plan": 3}.items():
        forge(path, header | {key: value}, arrays)
        refuse(path)
    for raw in (b"", b"\xff\xfe", b"[1, 2]", b"3", b"{", b"[" * 100_000):
        with open(path, "wb") as stream:
            np.savez(stream, header=np.frombuffer(raw, dtype=np.uint8), **arrays)
        refuse(path)


@pytest.mark.parametrize("horizon", ["ten", -5, 0, None, 2.5, [1]], ids=repr)
def test_horizons_that_are_none(path, horizon):
    header, arrays = contents(path)
    forge(path, header | {"plan": header["plan"] | {"horizon": horizon}}, arrays)
    refuse(path)


def accepted(path):
    try:
        sl.Policy.load(path)
    except sl.SavedStateError:
        return False
    return True


def test_missing_and_misfit_arrays(path):
    header, arrays = contents(path)
    wrong = []
    for name, array in arrays.items():
        forge(path, header, {k: v for k, v in arrays.items() if k != name})
        wrong += [f"no {name}"] * accepted(path)
        if array.ndim and name not in ("graph.universal", "state.open"):  # one arm more fits
            longer = np.append(array, array[-1:] if array.size else array.dtype.type(0))
            forge(path, header, arrays | {name: longer})
            wrong += [f"longer {name}"] * accepted(path)
        if name.startswith(("state.", "tuning.", "decisions.")) and array.dtype.kind == "f" and array.size:
            forge(path, header, arrays | {name: np.full_like(array, np.nan)})
            wrong += [f"NaN in {name}"] * accepted(path)
    assert not wrong, "accepted"


def test_arms_and_blocks_that_do_not_exist(path):
    header, arrays = contents(path)
    n = int(arrays["graph.n_arms"])
    for name in ("graph.out_indices", "tuning.block_arms", "tuning.parent"):
        for wrong in (n, n + 1_000_000, -2, -n - 1):
            changed = arrays[name].copy()
            changed[0] = wrong
            forge(path, header, arrays | {name: changed})
            refuse(path)
    start = arrays["tuning.block_start"]
    for wrong in (start[::-1].copy(), start + 1, np.zeros_like(start), start * 1_000):
        forge(path, header, arrays | {"tuning.block_start": wrong})
        refuse(path)
    for wrong in (0, -1, n - 1, n + 1, 10**15):
        forge(path, header, arrays | {"graph.n_arms": np.array(wrong)})
        refuse(path)


def test_sums_that_nobody_can_have(path):
    """Files whose digest is right, but whose numbers no game leads to."""
    header, arrays = contents(path)
    forged = {
        "an arm that does not exist": ("open", np.array([400])),
        "two arms that were drawn last": ("open", np.array([1, 2])),
        "negative sums": ("arm_sums", -arrays["state.arm_sums"]),
        "sums above nothing": ("arm_sums", arrays["state.arm_sums"] + 1.0),
        "blocks above nothing": ("block_sums", arrays["state.block_sums"] + 1.0),
        "endless sums": ("arm_sums", np.where(arrays["state.arm_sums"] > 0, 1e308, 0.0)),
        "more exploration than rounds": ("totals", arrays["state.totals"] + [0.0, 0.0, 1e6]),
        "learnt in no rounds": ("round", np.array([0])),
        "fewer than no rounds": ("round", np.array([-1])),
        "half a round": ("round", np.array([2.5])),
        "an even step": ("words", arrays["state.words"] + np.array([0, 1, 0, 0], dtype=np.uint64)),
        "a draw in between": ("words", arrays["state.words"] + np.array([0, 0, 0, 1], dtype=np.uint64)),
    }
    wrong = []
    for what, (name, array) in forged.items():
        forge(path, header, arrays | {f"state.{name}": array})
        wrong += [what] * accepted(path)
    assert not wrong, "accepted"
    forge(path, header, arrays | {"state.more": np.zeros(3)})
    refuse(path)


class Trap:
    """Unpickling one creates the file it was made for."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_nothing_in_a_file_is_executed(path, tmp_path):
    sprung = tmp_path / "sprung"
    trap = np.array([Trap(sprung)], dtype=object)
    header, arrays = contents(path)
    encoded = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    for members in ({"header": trap} | arrays, {"header": encoded} | arrays | {"state.more": trap}):
        with open(path, "wb") as stream:
            np.savez(stream, allow_pickle=True, **members)
        refuse(path)
    path.write_bytes(pickle.dumps(Trap(sprung)))
    refuse(path)
    np.save(tmp_path / "trap.npy", trap, allow_pickle=True)
    refuse(tmp_path / "trap.npy")
    assert not sprung.exists()
    pickle.loads(pickle.dumps(Trap(sprung))).close()
    assert sprung.exists(), "the trap works"
