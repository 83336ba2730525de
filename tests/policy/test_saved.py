"""Saved policies: they continue bit for bit; every other file is refused, and runs nothing.

The format is that of docs/decisions/0019-one-state.md, read and written here with plain NumPy and JSON.
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
from numpy.testing import assert_allclose, assert_array_equal
from policy_kinds import played, turn
from saved_files import contents, digest_of, forge, rounding

import sidelight as sl
from sidelight.engine.fields import SCALARS, TUNED
from sidelight.planning.self_tuning.rule import OWN

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


@pytest.mark.parametrize("spec", FAMILIES)
def test_graph_and_plan_come_back(spec, tmp_path):
    plan = sl.plan(sl.families.parse(spec), horizon=2_000)
    policy = plan.policy(seed=1)
    policy.save(tmp_path / "p")
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
    assert play(loaded, 0, 100)[0] == play(policy, 0, 100)[0]


@pytest.mark.parametrize(
    "kind", ["auto cliques", "auto bandit buckets", "flat mixed", "self-tuning", "fallen"]
)
def test_another_version_goes_on_from_what_was_learnt(kind, tmp_path):
    """Kernels that are others make nothing of the memory: probabilities move by rounding only, where all is exact."""
    policy, path = played(kind, 90, pending=True), tmp_path / "policy"
    policy.save(path)
    header, arrays = contents(path)
    rest = {name: array for name, array in arrays.items() if not name.startswith("memory.")}
    forge(path, header | {"memory": "another"}, rest)
    loaded = sl.Policy.load(path)
    assert (loaded.pending, loaded.round) == (policy.pending, policy.round)
    assert_allclose(loaded.probabilities, policy.probabilities, rtol=rounding(policy.plan))
    assert loaded.ledger(1) == pytest.approx(policy.ledger(1), rel=1e-9, abs=1e-9)
    for _ in range(20):  # among many arms the same draw may fall on another of them
        turn(loaded)


# -- files of versions 7 and 8 ----------------------------------------------------------------------------

DATA = Path(__file__).parent / "data"
KEPT = {
    f"version{v}-{name}": said
    for v in (7, 8)
    for name, said in json.loads((DATA / f"version{v}.json").read_text()).items()
}
"""What the policies of these files said of themselves, when Sidelight 0.1.0 saved them."""


@pytest.mark.parametrize("name", KEPT)
def test_files_of_before_go_on(name, tmp_path):
    said, policy = KEPT[name], sl.Policy.load(DATA / f"{name}.npz")
    assert (policy.round, policy.pending, policy.unanswered) == (
        said["round"],
        said["pending"],
        said["unanswered"],
    )
    assert [[d.id, d.arm] for d in policy.open] == [d[:2] for d in said["open"]]
    for decision, (_, _, seen) in zip(policy.open, said["open"], strict=True):
        assert_allclose(decision.seen, seen, rtol=1e-10)
    if name == "version8-changing":  # exploration is chosen every round, and now in another way
        assert policy.probabilities.argmax() == np.argmax(said["probabilities"])
    else:
        assert_allclose(policy.probabilities, said["probabilities"], rtol=1e-9, atol=1e-12)
    if said["certificate"] is not None:
        assert policy.certificate().value == pytest.approx(said["certificate"], rel=1e-9)
        assert list(policy.ledger(0).values()) == pytest.approx(said["ledger"], rel=1e-9, abs=1e-9)
    for decision in policy.open:
        policy.observe(decision, np.full(decision.reveals.size, 0.5))
    play(policy, policy.round, policy.round + 20)
    policy.save(tmp_path / "policy")
    assert_array_equal(sl.Policy.load(tmp_path / "policy").probabilities, policy.probabilities)


@pytest.mark.parametrize("name", ["budget", "bandit"])
def test_budgets_of_before_are_kept(name):
    """To the last round, at the prices of this version."""
    policy, bound = sl.Policy.load(DATA / f"version8-{name}.npz"), KEPT[f"version8-{name}"]["bound"]
    plan = policy.plan
    assert plan.bound.value == pytest.approx(bound, rel=1e-12)
    assert plan.tuning.self_tuning.needed <= plan.tuning.self_tuning.budget
    assert all(check.holds for check in sl.check_certificate(plan))
    for decision in policy.open:
        policy.cancel(decision)
    play(policy, policy.round, policy.plan.horizon - policy.unanswered)
    assert policy.certificate().value <= bound


def test_a_budget_that_prices_in_steps_exceed_is_raised(tmp_path):
    """A version that minimised over all temperatures left no more than `needed` then, less than is needed now."""
    header, arrays = contents(DATA / "version8-budget.npz")
    bound, rule = header["plan"]["bound"], arrays["tuning.self_tuning"].copy()
    rule[-1] -= (less := 160.0)
    terms = bound["terms"] | {"slack": bound["terms"]["slack"] - less}
    forged = header | {
        "plan": header["plan"] | {"bound": bound | {"terms": terms, "value": bound["value"] - less}}
    }
    forge(tmp_path / "policy", forged, arrays | {"tuning.self_tuning": rule})
    plan = sl.Policy.load(tmp_path / "policy").plan
    assert plan.bound.terms["prices in steps"] > 0
    assert plan.bound.value == pytest.approx(plan.tuning.self_tuning.budget)
    assert plan.tuning.self_tuning.budget > rule[-1]


def test_a_file_whose_rates_fall_with_the_rounds_is_refused_with_advice():
    with pytest.raises(sl.SavedStateError, match=r"rates fall with the rounds are gone: .*sl\.plan\(graph\)"):
        sl.Policy.load(DATA / "version7-anytime.npz")


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
    found = [header[name] for name in ("format", "version", "sidelight", "kind", "made")]
    assert found == ["sidelight-policy", 9, sl.__version__, "plan", 20]
    assert header["digest"] == digest_of(header, arrays)
    assert header["plan"]["horizon"] == policy.plan.horizon
    assert bytes(arrays["graph.labels_text"]).decode() == "".join(policy.graph.labels)
    parts = {"graph", "tuning", "state", "memory", "decisions", "graphs"}
    assert {name.partition(".")[0] for name in arrays} == parts
    assert all(array.dtype.kind in "biuf" for array in arrays.values())
    forge(path, header, arrays)
    assert_array_equal(sl.Policy.load(path).probabilities, policy.probabilities)


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4, 10, 99, "6", None, 1.5])
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


WRONG = {
    "format": "sidelight-graph",
    "kind": "game",
    "plan": 3,
    "made": -1,
    "lost": 10**6,
    "asked": 7,
    "waits": True,
    "memory": None,
    "tuned": "beta",
}


def test_headers_that_are_not_what_they_should_be(path):
    header, arrays = contents(path)
    for key in ("format", "version", "kind", "plan", "made", "lost", "asked", "waits", "memory", "tuned"):
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
    for key, value in WRONG.items():
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
        if array.ndim and name != "graph.universal":  # one arm more fits
            longer = np.append(array, array[-1:] if array.size else array.dtype.type(0))
            forge(path, header, arrays | {name: longer})
            wrong += [f"longer {name}"] * accepted(path)
        if (
            name.startswith(("state.", "tuning.", "memory.", "decisions."))
            and array.dtype.kind == "f"
            and array.size
        ):
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


def with_number(arrays, name, value):
    """The scalars in the memory of a saved policy, one of them another."""
    holder, index = SCALARS[name]
    numbers = arrays[f"memory.{holder}"].copy()
    numbers[index] = value
    return f"memory.{holder}", numbers


def test_numbers_that_nobody_can_have(path):
    """Files whose digest is right, but whose numbers no schema lets pass."""
    header, arrays = contents(path)
    words = arrays["state.words"]
    forged = {
        "negative sums": ("state.arm_sums", arrays["state.arm_sums"] - 1.0),
        "endless sums": ("state.arm_sums", np.where(arrays["state.arm_sums"] > 0, 1e308, 0.0)),
        "fewer than no rounds": ("state.counts", np.array([-1, 0])),
        "more rounds than decisions": ("state.counts", np.array([21, 0])),
        "an even step": ("state.words", words + np.array([0, 1, 0, 0], dtype=np.uint64)),
        "a draw in between": ("state.words", words + np.array([0, 0, 0, 1], dtype=np.uint64)),
        "more rounds in memory": with_number(arrays, "round", 21.0),
        "more late than rounds": with_number(arrays, "late", 1e99),
        "a point that is none": ("memory.scalars", arrays["memory.scalars"] + 10.0),
        "exploration for no arm": ("memory.spread_for", np.full_like(arrays["memory.spread_for"], 400)),
        "a leader that is no arm": with_number(arrays, "leader", 400.0),
        "a leader between two arms": with_number(arrays, "leader", 0.5),
        "an arm put aside that is none": with_number(arrays, "dominant", -1.0),
    }
    wrong = []
    for what, (name, array) in forged.items():
        assert arrays[name].size, name
        forge(path, header, arrays | {name: array})
        wrong += [what] * accepted(path)
    assert not wrong, "accepted"
    forge(path, header, arrays | {"state.more": np.zeros(3)})
    refuse(path)


@pytest.mark.parametrize("kernels", ["of the file", "others"])
def test_a_certificate_below_anything_is_refused(kernels, tmp_path):
    path = tmp_path / "policy"
    played("self-tuning", 20).save(path)
    header, arrays = contents(path)
    if kernels == "of the file":
        name, forged = with_number(arrays, "penalty", -1e6)
    else:
        header |= {"memory": "another"}
        name, forged = "state.tuned", arrays["state.tuned"].copy()
        forged[header["tuned"].index("penalty")] = -1e6
    forge(path, header, arrays)
    assert accepted(path)
    forge(path, header, arrays | {name: forged})
    with pytest.raises(sl.SavedStateError, match="certifies a regret of"):
        sl.Policy.load(path)


@pytest.fixture(scope="module")
def fallen(tmp_path_factory):
    """Header and arrays of a policy that goes on with the potential behind its budget."""
    path = tmp_path_factory.mktemp("fallen") / "policy"
    played("fallen", 10).save(path)
    header, arrays = contents(path)
    assert header["kind"] == "fallen"
    return header, arrays


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("tuning.estimates", 0, 1.5, "shift = 1.5"),
        ("tuning.base.estimates", 0, -0.1, "shift = -0.1"),
        ("tuning.base.estimates", 1, -1.0, "floor = -1.0"),
        ("tuning.base.lifted", 0, 0.5, "lifted"),
        ("tuning.base.global_exploration", 0, 0.6, "more than ½"),
        ("tuning.base.load", slice(0, 2), [1.0, 1.0], "load"),
        (
            "tuning.base.inner_rate",
            slice(None),
            9e5,
            "rates",
        ),  # out of range at the highest temperature alone
        ("tuning.self_tuning", OWN.index("base_h"), 0.0, "not that of the rule"),
        ("tuning.self_tuning", OWN.index("base_s"), 1.5, "orders"),
        ("tuning.self_tuning", OWN.index("base_beta"), -1.0, "base_beta"),
        ("tuning.self_tuning", OWN.index("covered"), 0.5, "whole number"),
        *(("state.tuned", TUNED.index("fallen"), row, "potential") for row in (-1.0, 1.5, 1e6)),
        *(("memory.numbers", SCALARS["fallen"][1], row, "potential") for row in (-1.0, 0.0, 1.5, 1e6)),
    ],
)
def test_potentials_behind_a_budget_that_are_none(fallen, name, at, value, message, tmp_path):
    header, arrays = fallen
    changed = arrays[name].copy()
    changed[at] = value
    other = {"memory": "another"} if name == "state.tuned" else {}
    forge(tmp_path / "policy", header | other, arrays | {name: changed})
    with pytest.raises(sl.SavedStateError, match=message):
        sl.Policy.load(tmp_path / "policy")


def test_a_budget_with_half_a_potential_behind_it(fallen, tmp_path):
    path, (header, arrays) = tmp_path / "policy", fallen
    without = {name: array for name, array in arrays.items() if not name.startswith("tuning.base.")}
    nested = {"tuning.base.base.spread": arrays["tuning.base.spread"]}
    for kind in ("plan", "fallen", "changing"):
        for members in (without, arrays | nested):
            forge(path, header | {"kind": kind}, members)
            with pytest.raises(sl.SavedStateError, match="behind"):
                sl.Policy.load(path)


@pytest.mark.parametrize("name", ["occupant", "place", "start", "span"])
def test_buckets_that_are_none_are_refused(name, tmp_path):
    path = tmp_path / "policy"
    played("fixed bandit buckets", 20).save(path)
    header, arrays = contents(path)
    for change in (lambda a: a + 1, lambda a: a[::-1].copy(), lambda a: np.zeros_like(a)):
        forge(path, header, arrays | {f"memory.{name}": change(arrays[f"memory.{name}"])})
        with pytest.raises(sl.SavedStateError, match="buckets"):
            sl.Policy.load(path)


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
