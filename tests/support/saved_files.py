"""Saved policies taken apart and put together with plain NumPy and JSON, as docs/decisions/0004 describes them."""

import hashlib
import json

import numpy as np

from sidelight.engine.constants import EXACT_SPREAD
from sidelight.planning.tuning import LAZY_FACTOR


def contents(path):
    """Header and arrays of a saved policy."""
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return json.loads(arrays.pop("header").tobytes()), arrays


def digest_of(header, arrays):
    """The digest that a file with this header and these arrays should have."""
    rest = {name: value for name, value in header.items() if name != "digest"}
    digest = hashlib.sha256(json.dumps(rest, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape}\n".encode())
        digest.update(arrays[name].tobytes())
    return digest.hexdigest()


def forge(path, header, arrays):
    """Write a file that is intact by its own account."""
    text = json.dumps(header | {"digest": digest_of(header, arrays)})
    with open(path, "wb") as stream:
        np.savez(stream, header=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)


def rounding(plan):
    """How far a memory that is made anew moves probabilities: in large blocks exploration is within a factor."""
    lazy = plan.graph.n_arms > EXACT_SPREAD and (plan.tuning.spread.any() or plan.tuning.lifted.any())
    return LAZY_FACTOR - 1 if lazy else 1e-11
