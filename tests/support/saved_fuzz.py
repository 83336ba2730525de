"""Mutations of saved policies, each with a digest that fits, and what loading and playing on must never do."""

import io
import json
import struct
import tempfile
import time
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from policy_kinds import played, turn
from saved_files import contents, digest_of

import sidelight as sl

ROUNDS = 25
"""Played on a file that is accepted."""
SECONDS = 20.0
"""For one file: far more than any needs, far less than a hang."""

EXTREMES = (0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, 1e-300, 1e9, 1e99, 1e300, -1e300, np.inf, -np.inf, np.nan)
WHOLE = (0, 1, -1, 2, 7, 1000, 2**31 - 1, 2**31, -(2**31), 2**53, 2**62, 2**63 - 1, -(2**63))
VALUES = (
    None,
    True,
    0,
    1,
    -1,
    2**31,
    2**70,
    10**400,
    0.5,
    -2.5,
    1e300,
    "",
    "x",
    "é\0",
    [],
    [1],
    {},
    {"a": 1},
)
DTYPES = ("?", "i1", "i4", "i8", "u8", "f2", "f4", "f8", ">f8", ">i8", "c16", "S3", "U2")


@dataclass
class Outcome:
    """What came of one file."""

    what: str
    accepted: bool
    wrong: str = ""


def sources(kinds, rounds=(0, 1, 40)):
    """Header and arrays of policies of these kinds, some with an arm pending, some with decisions open."""
    found = []
    for index, kind in enumerate(kinds):
        for count in rounds:
            policy = played(kind, count, pending=(index + count) % 2 == 0)
            if (index + count) % 3:
                first, *_ = policy.decide(count=3)
                policy.observe(first, np.full(first.reveals.size, 0.5))
            found.append((f"{kind} after {count}", _saved(policy)))
    return found


def changing_sources(kinds=("self-tuning", "self-tuning entropy", "exp3_ix"), rounds=30):
    """The same of policies that have met other graphs than their own, before a play and after one."""
    found = []
    for kind in kinds:
        policy = played(kind, rounds)
        n = policy.graph.n_arms
        full, loops = sl.families.full(n), sl.families.mab(n)
        first, *_ = policy.decide(count=3, graph=full)
        policy.observe(first, np.full(n, 0.5))
        policy.decide(graph=loops)
        shown = policy.decide()
        policy.observe(shown, np.full(n, 0.25), graph=full)
        found.append((f"{kind} on changing graphs", _saved(policy)))
    return found


def _saved(policy):
    with tempfile.TemporaryDirectory() as folder:
        policy.save(Path(folder) / "policy")
        return contents(Path(folder) / "policy")


# -- mutations: each takes a generator, header and arrays, and returns its name and the bytes of a file -----------


def _bytes(header, arrays, compress=False):
    text = json.dumps(header | {"digest": digest_of(header, arrays)})
    return _archive(text, arrays, compress)


def _archive(text, arrays, compress=False):
    stream = io.BytesIO()
    save = np.savez_compressed if compress else np.savez
    save(stream, header=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)
    return stream.getvalue()


def _chosen(rng, options):
    return options[rng.integers(len(options))]


def change_values(rng, header, arrays):
    """Some numbers of one array: extremes, neighbours of what was there, each other."""
    name = _chosen(rng, [name for name in arrays if arrays[name].size])
    array = arrays[name].copy()
    flat = array.reshape(-1)
    at = rng.integers(flat.size, size=rng.integers(1, 4))
    if array.dtype.kind == "f":
        random = rng.normal() * 10.0 ** rng.integers(-12, 12)
        new = [_chosen(rng, EXTREMES), flat[at] * 2, np.nextafter(flat[at], 1e300), -flat[at], random]
        flat[at] = new[rng.integers(5)]
    elif array.dtype.kind == "b":
        flat[at] = ~flat[at]
    else:
        limits = np.iinfo(array.dtype)
        new = [_chosen(rng, WHOLE), int(flat[at[0]]) + int(rng.integers(-2, 3))][rng.integers(2)]
        flat[at] = min(max(new, limits.min), limits.max)
    return f"values of {name}", _bytes(header, arrays | {name: array})


def rework(rng, header, arrays):
    """A whole array filled, scaled, mixed or in another order."""
    name = _chosen(rng, [name for name in arrays if arrays[name].size])
    array = arrays[name]
    ways = [lambda: rng.permutation(array.reshape(-1)).reshape(array.shape)]
    if array.dtype.kind == "f":
        factors = rng.choice([0.0, 0.1, 0.999, 1.0, 1.001, 3.0, 1e6], size=array.shape)
        ways += [lambda: np.full_like(array, _chosen(rng, EXTREMES)), lambda: array * factors]
        ways += [lambda: array * 10.0 ** rng.integers(-320, 308)]
    else:
        ways += [lambda: np.full_like(array, _chosen(rng, (0, 1, 5)))]
    return f"reworked {name}", _bytes(header, arrays | {name: _chosen(rng, ways)()})


def reshape(rng, header, arrays):
    """Another type, shape or length."""
    name = _chosen(rng, list(arrays))
    array = arrays[name]
    ways = [
        lambda: array.astype(_chosen(rng, DTYPES)),
        lambda: np.append(array, array.reshape(-1)[:1]),
        lambda: array.reshape(-1)[: rng.integers(array.size + 1)],
        lambda: array.reshape(1, *array.shape),
        lambda: np.repeat(array.reshape(-1), 2),
        lambda: np.zeros((0,), dtype=array.dtype),
    ]
    return f"reshaped {name}", _bytes(header, arrays | {name: _chosen(rng, ways)()})


def exchange(rng, header, arrays):
    """One array too few, too many, or in the place of another."""
    name, other = _chosen(rng, list(arrays)), _chosen(rng, list(arrays))
    if rng.integers(2):
        return f"without {name}", _bytes(header, {key: value for key, value in arrays.items() if key != name})
    new = _chosen(rng, ["state.more", "graph.x", "tuning.schedule_inner_rate", "memory.more", "x", other])
    return f"{name} as {new}", _bytes(header, arrays | {new: arrays[name]})


def change_header(rng, header, arrays):
    """One field, however deep, replaced, dropped or added."""
    copy, places = json.loads(json.dumps(header)), []

    def walk(value, path):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            places.append((value, key, [*path, str(key)]))
            if isinstance(value[key], dict | list):
                walk(value[key], [*path, str(key)])

    walk(copy, [])
    owner, key, path = places[rng.integers(len(places))]
    how = rng.integers(4)
    if how == 0 and isinstance(owner, dict):
        del owner[key]
    elif how == 1 and isinstance(owner, dict):
        owner[_chosen(rng, ["more", "horizon", "kind"])] = _chosen(rng, VALUES)
    elif how == 2 and isinstance(owner[key], int | float):
        owner[key] = owner[key] * 2 + 1
    else:
        owner[key] = _chosen(rng, VALUES)
    return f"header {'.'.join(path)} = {str(owner)[:60]}", _bytes(copy, arrays)


def break_json(rng, header, arrays):
    """A header that is no JSON, or too much of it."""
    text = json.dumps(header)
    half, longer = text[: len(text) // 2], text.replace("1", "1" * 5000, 1)
    odd = (half, longer, text.replace(":", ": NaN,", 1), text + text, "null", "")
    new = _chosen(rng, ["[" * 200_000, '{"a":' * 50_000, *odd])
    return "header that is no JSON", _archive(new, arrays)


def damage(rng, header, arrays):
    """A file that ends too early, has a member twice, or a few bytes changed anywhere, without a new digest."""
    whole = bytearray(_bytes(header, arrays, compress=bool(rng.integers(2))))
    how = rng.integers(3)
    if how == 0:
        return "cut short", bytes(whole[: rng.integers(len(whole))])
    if how == 1:
        stream = io.BytesIO(whole)
        with zipfile.ZipFile(stream, "a") as archive:
            archive.writestr(f"{_chosen(rng, list(arrays))}.npy", b"\x93NUMPY")
        return "a member twice", stream.getvalue()
    for at in rng.integers(len(whole), size=rng.integers(1, 5)):
        whole[at] ^= 1 << int(rng.integers(8))
    return "flipped bits", bytes(whole)


def claim_size(rng, header, arrays):
    """An array that says it is huge, with or without a zip directory that says so too."""
    name = _chosen(rng, list(arrays))
    shape = _chosen(rng, [(2**40,), (2**62, 2), (-1,), (2**31, 2**31)])
    raw = io.BytesIO()
    head = {"descr": arrays[name].dtype.str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(raw, head)
    raw.write(arrays[name].tobytes())
    whole = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(_bytes(header, arrays))) as old, zipfile.ZipFile(whole, "w") as new:
        for member in old.namelist():
            new.writestr(member, raw.getvalue() if member == f"{name}.npy" else old.read(member))
    data = whole.getvalue()
    if rng.integers(2):
        at = data.rindex(b"PK\x01\x02")
        data = data[: at + 24] + struct.pack("<I", 3 * 2**30) + data[at + 28 :]
    return f"{name} says {shape}", data


def bomb(rng, header, arrays):
    """Zeros that pack well: sixty megabytes in sixty kilobytes, in an array of the state or one too many."""
    name = _chosen(rng, ["state.arm_sums", "graph.out_indices", "state.more", "memory.key"])
    new = np.zeros(7_500_000, dtype=arrays[name].dtype if name in arrays else np.int8)
    return f"bomb in {name}", _archive(json.dumps(header), arrays | {name: new}, compress=True)


MUTATIONS = {
    change_values: 30,
    rework: 36,
    reshape: 12,
    exchange: 8,
    change_header: 20,
    break_json: 2,
    damage: 10,
    claim_size: 2,
    bomb: 0.2,
}
"""With how often each is drawn."""


def mutated(rng, header, arrays, mutate=None):
    """One mutation, drawn by its weight unless it is given."""
    weights = np.array(list(MUTATIONS.values()))
    mutate = (
        list(MUTATIONS)[rng.choice(len(MUTATIONS), p=weights / weights.sum())] if mutate is None else mutate
    )
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        what, data = mutate(rng, header, arrays)
    return f"{mutate.__name__}: {what}", data


# -- what must never happen ---------------------------------------------------------------------------------------


def outcome(path, what) -> Outcome:
    """Load the file and play on: refused by a SavedStateError, or a policy that plays arms of its graph."""
    began = time.monotonic()
    try:
        policy = sl.Policy.load(path)
    except sl.SavedStateError as error:
        poor = path.name not in str(error) or len(str(error)) >= 2000
        return Outcome(what, False, f"a poor message: {str(error)[:200]}" if poor else _slow(began))
    except BaseException as error:
        return Outcome(what, False, f"loading raised {error!r:.300}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wrong = _play_on(policy, path)
    except BaseException as error:
        wrong = f"playing raised {error!r:.300}"
    return Outcome(what, True, wrong or _slow(began))


def _slow(began):
    spent = time.monotonic() - began
    return f"took {spent:.0f} s" if spent > SECONDS else ""


def _play_on(policy, path) -> str:
    """Its numbers are its author's, so what is likely may be odd after a while; arms are arms."""
    n = policy.graph.n_arms
    p = policy.probabilities
    if p.shape != (n,) or not (p >= 0).all() or abs(p.sum() - 1) > 1e-6:
        return f"probabilities {p} add up to {p.sum()}"
    if not policy.unit.low <= 0.0 < 1.0 <= policy.unit.high:
        return ""  # told in another unit, as its author says: losses of 0 and 1 are none there
    for decision in policy.open:
        if decision.id % 3:
            policy.observe(decision, np.ones(decision.reveals.size))
    for t in range(ROUNDS):
        arm = turn(policy, t)
        if not 0 <= arm < n or policy.probabilities.shape != (n,):
            return f"arm {arm} of {n}"
    bound = policy.plan.bound_at(policy.plan.horizon or 1000)
    if bound is not None and not (np.isfinite(bound.value) and bound.value >= 0):
        return f"a bound of {bound.value}"
    _ = policy.certificate(), policy.ledger(0), str(policy.plan), repr(policy)
    json.dumps(policy.plan.to_dict())
    policy.save(path)
    return ""
