"""Doors to functions that only kernels call: steps and routines have no Python wrapper once compiled.

`perform` runs a list of operations on a store, `tally` counts draws, `play` is a bandit on one simplex. They are
few because each one compiles everything it calls. `Bench` is how tests hold a store.
"""

import contextlib
from pathlib import Path

import numba
import numpy as np

import sidelight.kernels
from sidelight.kernels import buckets, simplex
from sidelight.kernels._jit import kernel
from sidelight.kernels.alias import draw_alias
from sidelight.kernels.exponential import exp_nonpositive
from sidelight.kernels.layout import Group, make_store
from sidelight.kernels.random import hashed_unit, seeded_words
from sidelight.kernels.store import N_SCALARS, POWER_BUCKETS

INTERPRETED = bool(numba.config.DISABLE_JIT)

(ADD, SOLVE, REBUILD, REFRESH, REBASE, VALUE, ROOT, ROOT_SUM, EVALUATE) = range(9)


def _forget_stale_entries():
    """Numba does not see that the kernels called from here have changed: compare their stamp with ours."""
    ours = Path(__file__).parent / "__pycache__"
    stamp = Path(sidelight.kernels.__file__).parent / "__pycache__" / "sidelight-kernels.stamp"
    kept = ours / "kernel_entries.stamp"
    with contextlib.suppress(OSError):
        if kept.exists() and kept.read_text() == stamp.read_text():
            return
        for file in [*ours.glob("kernel_entries.*.nbi"), *ours.glob("kernel_entries.*.nbc")]:
            file.unlink(missing_ok=True)
        ours.mkdir(exist_ok=True)
        kept.write_text(stamp.read_text())


_forget_stale_entries()


def plain(function):
    """The Python function behind a compiled one."""
    return getattr(function, "py_func", function)


@kernel()
def perform(store, what, where, who, amount, out):
    """Operation what[i] on group or simplex where[i]; what it returns goes to out[i]."""
    for i in range(what.size):
        code, g, c, x = what[i], where[i], who[i], amount[i]
        if code == ADD:
            simplex.add(store, g, c, x)
        elif code == SOLVE:
            simplex.solve(store, g)
        elif code == REBUILD:
            simplex.rebuild(store, g)
        elif code == REFRESH:
            if store.form[g] == POWER_BUCKETS:
                buckets.refresh(store, g, store.bucketed[g])
        elif code == REBASE:
            simplex.rebase(store, g)
        elif code == VALUE:
            out[i, 0] = simplex.value(store, g, c)
        elif code == ROOT:
            out[i, 0] = simplex.root(store, g, c)
        elif code == ROOT_SUM:
            out[i, 0] = simplex.root_sum(store, g)
        else:
            f0, f1, f2, f3 = simplex.evaluate(store, g, x)
            out[i, 0] = f0
            out[i, 1] = f1
            out[i, 2] = f2
            out[i, 3] = f3


@kernel()
def tally(store, root, index, draws, words, counts):
    """Count coordinates drawn from simplex `index`, or ∝ 1/d from group `index` if `root`."""
    for _ in range(draws):
        if root:
            counts[simplex.sample_root(store, index, words)] += 1
        else:
            counts[simplex.sample(store, index, words)] += 1


@kernel()
def play(store, rate, best, gap, rounds, key, words):
    """A bandit on simplex 0, a single group: losses are hashed coins, 1/2 − gap for arm `best`, else 1/2."""
    for t in range(rounds):
        arm = simplex.sample(store, 0, words)
        if hashed_unit(key, t, arm) < (0.5 - gap if arm == best else 0.5):
            simplex.add(store, 0, arm, rate / simplex.value(store, 0, arm))
            simplex.solve(store, 0)


@kernel()
def tally_alias(keep, other, first, last, draws, words, counts):
    """Count the cells that `draw_alias` returns."""
    for _ in range(draws):
        counts[draw_alias(keep, other, first, last, words)] += 1


@kernel()
def exponentials(xs, out):
    """`exp_nonpositive` of every element."""
    for i in range(xs.size):
        out[i] = exp_nonpositive(xs[i])


class Bench:
    """A store, and its operations by name."""

    def __init__(self, store):
        self.store = store

    @classmethod
    def of(cls, *potentials):
        """One simplex with a group for every (power, rate, size); coordinates are numbered through."""
        groups, first = [], 0
        for power, rate, size in potentials:
            groups.append(Group(np.arange(first, first + size, dtype=np.int32), power, rate))
            first += size
        return cls(make_store([groups], first))

    def _do(self, what, where=0, who=0, amount=0.0):
        who, amount = np.broadcast_arrays(
            np.asarray(who, dtype=np.int64), np.asarray(amount, dtype=np.float64)
        )
        who, amount = np.atleast_1d(who).copy(), np.atleast_1d(amount).copy()
        out = np.zeros((who.size, 4))
        whats, wheres = (np.full(who.size, x, dtype=np.int64) for x in (what, where))
        perform(self.store, whats, wheres, who, amount, out)
        return out

    def add(self, g, coordinates, amounts):
        self._do(ADD, g, coordinates, amounts)

    def solve(self, j=0):
        self._do(SOLVE, j)

    def rebuild(self, j=0):
        self._do(REBUILD, j)

    def refresh(self, g=0):
        self._do(REFRESH, g)

    def rebase(self, j=0):
        self._do(REBASE, j)

    def values(self, g=0):
        """x of the coordinates of group g, in the order of their numbers."""
        return self._do(VALUE, g, self.members(g))[:, 0]

    def roots(self, g=0):
        return self._do(ROOT, g, self.members(g))[:, 0]

    def root_sum(self, g=0):
        return self._do(ROOT_SUM, g)[0, 0]

    def evaluate(self, g, multiplier):
        return self._do(EVALUATE, g, amount=multiplier)[0]

    def draws(self, count, seed, j=0):
        """How often each coordinate comes up in `count` draws from simplex j."""
        counts = np.zeros(self.store.place.size, dtype=np.int64)
        tally(self.store, False, j, count, seeded_words(seed), counts)
        return counts

    def root_draws(self, count, seed, g=0):
        counts = np.zeros(self.store.place.size, dtype=np.int64)
        tally(self.store, True, g, count, seeded_words(seed), counts)
        return counts

    # -- looking ---------------------------------------------------------------------------------------

    def members(self, g=0):
        first, last = self.store.origin[g], self.store.origin[g + 1]
        return np.sort(self.store.occupant[first:last])

    def sums(self, g=0):
        """The sums kept for the members of group g, in the order of their numbers."""
        return self.store.key[self.store.place[self.members(g)]]

    def scalar(self, g, name):
        return self.store.scalars[g * N_SCALARS + name]

    def groups(self, j=0):
        return range(self.store.first_group[j], self.store.first_group[j + 1])
