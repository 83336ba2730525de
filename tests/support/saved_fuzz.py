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

EXTREMES = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    5e-324,
    1e-300,
    1e-9,
    1e9,
    1e99,
    1e101,
    1e300,
    -1e300,
    np.inf,
    -np.inf,
    np.nan,
)
WHOLE = (0, 1, -1, 2, 7, 1000, 2**31 - 1, 2**31, -(2**31), 2**53, 2**62, 2**63 - 1, -(2**63))
VALUES = (
    None,
    True,
    False,
    0,
    1,
    -1,
    3,
    2**31,
    2**70,
    10**400,
    0.5,
    -2.5,
    1e300,
    "",
    "x",
    "plan",
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
    """Header and arrays of policies of these kinds, some with an arm pending."""
    found = []
    for index, kind in enumerate(kinds):
        for count in rounds:
            policy = played(kind, count, pending=(index + count) % 2 == 0)
            if (index + count) % 3:  # some decisions are open, one of which may be the arm that was asked for
                first, *_ = policy.decide(count=3)
                policy.observe(first, np.full(first.reveals.size, 0.5))
            found.append((f"{kind} after {count}", _saved(policy)))
    return found


def changing_sources(kinds=("self-tuning", "self-tuning entropy", "auto cliques"), rounds=(30,)):
    """The same of policies that have met other graphs than their own, before a play and after one."""
    found = []
    for kind in kinds:
        for count in rounds:
            policy = played(kind, count)
            n = policy.graph.n_arms
            full, ring = sl.families.full(n), sl.families.cycle(n)
            first, *_ = policy.decide(count=3, graph=full)
            policy.observe(first, np.full(n, 0.5))
            policy.decide(graph=ring)
            shown = policy.decide()
            policy.observe(shown, np.full(n, 0.25), graph=full)
            found.append((f"{kind} on changing graphs after {count}", _saved(policy)))
    return found


def _saved(policy):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy"
        policy.save(path)
        return contents(path)


# -- mutations: each takes a generator, header and arrays, and returns its name and the bytes of a file -----------


def _bytes(header, arrays, compress=False):
    text = json.dumps(header | {"digest": digest_of(header, arrays)})
    stream = io.BytesIO()
    save = np.savez_compressed if compress else np.savez
    save(stream, header=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)
    return stream.getvalue()


def change_values(rng, header, arrays):
    """Some numbers of one array: extremes, neighbours of what was there, each other."""
    name = _chosen(rng, [name for name in arrays if arrays[name].size])
    array = arrays[name].copy()
    flat = array.reshape(-1)
    at = rng.integers(flat.size, size=rng.integers(1, 4))
    with np.errstate(all="ignore"):
        if array.dtype.kind == "f":
            how = rng.integers(5)
            new = [
                _chosen(rng, EXTREMES),
                flat[at] * 2,
                np.nextafter(flat[at], 1e300),
                -flat[at],
                rng.normal() * 10.0 ** rng.integers(-12, 12),
            ]
            flat[at] = new[how]
        elif array.dtype.kind == "b":
            flat[at] = ~flat[at]
        elif array.dtype == np.uint64:
            flat[at] = rng.integers(2**64, size=at.size, dtype=np.uint64)
        elif array.dtype == np.uint8:
            flat[at] = rng.integers(256, size=at.size, dtype=np.uint8)
        else:
            limits = np.iinfo(array.dtype)
            new = [_chosen(rng, WHOLE), int(flat[at[0]]) + int(rng.integers(-2, 3))][rng.integers(2)]
            flat[at] = min(max(new, limits.min), limits.max)
    return f"values of {name}", _bytes(header, arrays | {name: array})


def fill(rng, header, arrays):
    """A whole array of one number."""
    name = _chosen(rng, list(arrays))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = np.full_like(
            arrays[name], _chosen(rng, EXTREMES if arrays[name].dtype.kind == "f" else (0, 1, 5))
        )
    return f"filled {name}", _bytes(header, arrays | {name: array})


def scale(rng, header, arrays):
    """Every float of one array times a power of ten."""
    name = _chosen(rng, [name for name in arrays if arrays[name].dtype.kind == "f"])
    with np.errstate(all="ignore"):
        array = arrays[name] * 10.0 ** rng.integers(-320, 308)
    return f"scaled {name}", _bytes(header, arrays | {name: array})


def permute(rng, header, arrays):
    """One array in another order."""
    name = _chosen(rng, [name for name in arrays if arrays[name].size > 1])
    flat = arrays[name].reshape(-1)
    return f"permuted {name}", _bytes(
        header, arrays | {name: rng.permutation(flat).reshape(arrays[name].shape)}
    )


def reshape(rng, header, arrays):
    """Another type, shape or length."""
    name = _chosen(rng, list(arrays))
    array, how = arrays[name], rng.integers(6)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        new = [
            lambda: array.astype(_chosen(rng, DTYPES)),
            lambda: np.append(array, array.reshape(-1)[:1]),
            lambda: array.reshape(-1)[: rng.integers(array.size + 1)],
            lambda: array.reshape(1, *array.shape),
            lambda: np.repeat(array.reshape(-1), 2),
            lambda: np.zeros((0,), dtype=array.dtype),
        ][how]()
    return f"reshaped {name}", _bytes(header, arrays | {name: new})


def drop(rng, header, arrays):
    """One array too few."""
    name = _chosen(rng, list(arrays))
    return f"without {name}", _bytes(header, {key: value for key, value in arrays.items() if key != name})


def add(rng, header, arrays):
    """One array too many, or one in the place of another."""
    name, other = _chosen(rng, list(arrays)), _chosen(rng, list(arrays))
    new = _chosen(rng, ["state.more", "graph.x", "tuning.schedule_rest", "finished.ledgers", "x", other])
    return f"{name} as {new}", _bytes(header, arrays | {new: arrays[name]})


def mix(rng, header, arrays):
    """Several changes of values at once."""
    names = [name for name in arrays if arrays[name].dtype.kind == "f" and arrays[name].size]
    changed = {}
    for name in rng.choice(names, size=min(3, len(names)), replace=False):
        factors = rng.choice([0.0, 0.1, 0.999, 1.0, 1.001, 3.0, 1e6], size=arrays[name].shape)
        with np.errstate(invalid="ignore"):  # no budget is an infinite one
            changed[name] = arrays[name] * factors
    return f"mixed {', '.join(changed)}", _bytes(header, arrays | changed)


def change_header(rng, header, arrays):
    """One field, however deep, replaced, dropped or added."""
    copy = json.loads(json.dumps(header))
    places = []

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
    stream = io.BytesIO()
    np.savez(stream, header=np.frombuffer(new.encode(), dtype=np.uint8), **arrays)
    return "header that is no JSON", stream.getvalue()


def cut(rng, header, arrays):
    """A file that ends too early."""
    whole = _bytes(header, arrays)
    return "cut short", whole[: rng.integers(len(whole))]


def flip(rng, header, arrays):
    """A few bytes changed anywhere, without a new digest."""
    whole = bytearray(_bytes(header, arrays, compress=bool(rng.integers(2))))
    for at in rng.integers(len(whole), size=rng.integers(1, 5)):
        whole[at] ^= 1 << int(rng.integers(8))
    return "flipped bits", bytes(whole)


def repeat_member(rng, header, arrays):
    """The same member twice."""
    stream = io.BytesIO(_bytes(header, arrays))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(stream, "a") as archive:
            archive.writestr(f"{_chosen(rng, list(arrays))}.npy", b"\x93NUMPY")
    return "a member twice", stream.getvalue()


def claim_size(rng, header, arrays):
    """An array that says it is huge, with or without a zip directory that says so too."""
    name = _chosen(rng, list(arrays))
    stream = io.BytesIO()
    np.lib.format.write_array(stream, arrays[name])
    shape = _chosen(rng, [(2**40,), (2**62, 2), (-1,), (2**31, 2**31)])
    head = {"descr": arrays[name].dtype.str, "fortran_order": False, "shape": shape}
    raw = io.BytesIO()
    np.lib.format.write_array_header_1_0(raw, head)
    raw.write(stream.getvalue()[-arrays[name].nbytes :] if arrays[name].nbytes else b"")
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
    name = _chosen(rng, ["state.arm_sums", "graph.out_indices", "state.more", "graph.has_loop"])
    new = np.zeros(60_000_000, dtype=arrays[name].dtype if name in arrays else np.int8)[: 60_000_000 // 8]
    stream = io.BytesIO()
    text = json.dumps(header)
    np.savez_compressed(stream, header=np.frombuffer(text.encode(), dtype=np.uint8), **(arrays | {name: new}))
    return f"bomb in {name}", stream.getvalue()


MUTATIONS = (
    *[
        (change_values, 30),
        (fill, 10),
        (scale, 10),
        (permute, 6),
        (reshape, 12),
        (drop, 4),
        (add, 4),
        (mix, 10),
    ],
    *[
        (change_header, 20),
        (break_json, 2),
        (cut, 3),
        (flip, 6),
        (repeat_member, 1),
        (claim_size, 2),
        (bomb, 0.2),
    ],
)


def mutated(rng, header, arrays):
    """One mutation, drawn by its weight."""
    weights = np.array([weight for _, weight in MUTATIONS])
    mutate = MUTATIONS[rng.choice(len(MUTATIONS), p=weights / weights.sum())][0]
    what, data = mutate(rng, header, arrays)
    return f"{mutate.__name__}: {what}", data


def _chosen(rng, options):
    return options[rng.integers(len(options))]


# -- what must never happen ---------------------------------------------------------------------------------------


def outcome(path, what) -> Outcome:
    """Load the file and play on: refused by a SavedStateError, or a policy in order."""
    began = time.monotonic()
    try:
        policy = sl.Policy.load(path)
    except sl.SavedStateError as error:
        wrong = (
            ""
            if path.name in str(error) and len(str(error)) < 2000
            else f"a poor message: {str(error)[:200]}"
        )
        return Outcome(what, False, wrong or _slow(began))
    except BaseException as error:
        return Outcome(what, False, f"loading raised {error!r:.300}")
    try:
        wrong = _play_on(policy, path)
    except BaseException as error:
        wrong = f"playing raised {error!r:.300}"
    return Outcome(what, True, wrong or _slow(began))


def _slow(began):
    spent = time.monotonic() - began
    return f"took {spent:.0f} s" if spent > SECONDS else ""


def _play_on(policy, path) -> str:
    n = policy.graph.n_arms
    for decision in policy.open:
        if decision.id % 3:
            policy.observe(decision, np.ones(decision.reveals.size))
    for t in range(ROUNDS):
        p = policy.probabilities
        if p.shape != (n,) or not np.isfinite(p).all() or (p < 0).any() or abs(p.sum() - 1) > 1e-6:
            return f"probabilities {p} add up to {p.sum()} in round {t}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arm = turn(policy, t)
        if not 0 <= arm < n:
            return f"arm {arm} of {n}"
    policy.certificate()
    policy.ledger(0)
    bound = policy.plan.bound_at(policy.plan.horizon or 1000)
    if bound is not None and not (np.isfinite(bound.value) and bound.value >= 0):
        return f"a bound of {bound.value}"
    json.dumps(policy.plan.to_dict())
    str(policy.plan), repr(policy)
    policy.save(path)
    again = sl.Policy.load(path)
    if not np.array_equal(again.probabilities, policy.probabilities):
        return "what it saves is not what it is"
    return ""
