"""Doors to functions that only kernels call: steps and routines have no Python wrapper once compiled.

`perform` runs a list of operations on a store, `tally` counts draws, `play` is a bandit on one simplex. They are
few because each one compiles everything it calls, for pointers as the engine does. `Bench` is how tests hold a
store; `interpreted` runs the source of a step on ordinary arrays.
"""

import types

import numba
import numpy as np

from sidelight.engine import fields
from sidelight.engine._numba import pointers
from sidelight.engine._numba.jit import kernel
from sidelight.engine._numba.pointers import pointer
from sidelight.engine.alias import draw_alias
from sidelight.engine.exponential import exp_nonpositive, small_exp, tiny_exp
from sidelight.engine.losses import flip_coins
from sidelight.engine.random import hashed_unit, next_turn, seeded_words
from sidelight.engine.round import round
from sidelight.engine.round.indexing import block_of
from sidelight.engine.round.probabilities import varying
from sidelight.engine.simplex import buckets, moments, point, sample, solve, tree
from sidelight.engine.simplex.store import AS_RECORDS, POWER_BUCKETS, Group, make_store

INTERPRETED = bool(numba.config.DISABLE_JIT)

(ADD, SOLVE, REBUILD, REFRESH, REBASE, VALUE, ROOT, ROOT_SUM, ROOT_SUM_AT, EVALUATE) = range(10)


def plain(function):
    """The Python function behind a compiled one."""
    return getattr(function, "py_func", function)


def door(step):
    """A step that Python can call; compiled anew in every process, so for small ones."""

    @kernel()
    def call(*arguments):
        return step(*arguments)

    return call


def interpreted(function):
    """The source of a step or routine, with everything it calls interpreted too, on arrays."""
    source = plain(function)
    stand_ins = {"pointer": pointers._view, "noinline": lambda: None}
    known = {
        name: stand_ins[name]
        if name in stand_ins
        else interpreted(value)
        if hasattr(value, "py_func")
        else value
        for name, value in source.__globals__.items()
        if name in source.__code__.co_names
    }
    return types.FunctionType(source.__code__, known | {"__builtins__": __builtins__})


unpack = fields.looked_into
"""The views that the kernels work on, as arrays."""


@kernel()
def perform(memory, what, where, who, amount, out):
    """Operation what[i] on group or simplex where[i]; what it returns goes to out[i]."""
    _, _, store = fields.opened(memory)
    for i in range(what.size):
        code, g, c, x = what[i], where[i], who[i], amount[i]
        if code == ADD:
            solve.add(store, g, c, x)
        elif code == SOLVE:
            solve.solve(store, g)
        elif code == REBUILD:
            solve.rebuild(store, g)
        elif code == REFRESH:
            if store.form[g] == POWER_BUCKETS:
                buckets.refresh(store, g, store.extra[g])
        elif code == REBASE:
            solve.rebase(store, g)
        elif code == VALUE:
            out[i, 0] = point.value(store, g, c)
        elif code == ROOT:
            out[i, 0] = point.root(store, g, c)
        elif code == ROOT_SUM:
            out[i, 0] = point.root_sum(store, g)
        elif code == ROOT_SUM_AT:
            out[i, 0] = moments.root_sum_buckets(store, store.extra[g], x)
        else:
            f0, f1, f2, f3 = point.evaluate(store, g, x)
            out[i, 0] = f0
            out[i, 1] = f1
            out[i, 2] = f2
            out[i, 3] = f3


@kernel()
def fill_caches(memory):
    """`round.fill_caches`, on its own."""
    machine, state, store = fields.opened(memory)
    round.fill_caches(machine, state, store)


@kernel()
def fill_exploration(memory, out):
    """Write γ for every arm into out."""
    machine, state, store = fields.opened(memory)
    for slot in range(out.size):
        gamma = varying(machine, state, store, slot, block_of(machine, slot))
        if machine.n_fixed > 0:
            gamma += machine.fixed[slot]
        out[machine.arm_at[slot]] = gamma


def exploration(memory):
    """γ of every arm as the engine holds it."""
    gamma = np.empty(unpack(memory)[0].n_arms)
    fill_exploration(memory, gamma)
    return gamma


@kernel()
def tally(memory, root, index, draws, words, counts):
    """Count coordinates drawn from simplex `index`, or ∝ 1/d from group `index` if `root`, one a round as in play."""
    _, _, store = fields.opened(memory)
    words = pointer(words, 0, 4)
    for _ in range(draws):
        next_turn(words)
        if root:
            counts[sample.sample_root(store, index, words)] += 1
        else:
            counts[sample.sample(store, index, words)] += 1


@kernel()
def play(memory, rate, best, gap, rounds, key, words):
    """A bandit on simplex 0, a single group: losses are hashed coins, 1/2 − gap for arm `best`, else 1/2."""
    _, _, store = fields.opened(memory)
    words = pointer(words, 0, 4)
    for t in range(rounds):
        arm = sample.sample(store, 0, words)
        if hashed_unit(key, t, arm) < (0.5 - gap if arm == best else 0.5):
            solve.add(store, 0, arm, rate / point.value(store, 0, arm))
            solve.solve(store, 0)


@kernel()
def plant(leaf, first, count, node, at):
    """Renew a whole tree; its total."""
    node = pointer(node, 0, node.size)
    tree.renew_tree(pointer(leaf, 0, leaf.size), first, count, node, at)
    return tree.tree_total(count, node, at)


@kernel()
def regrow(leaf, first, count, node, at, changed, values, totals):
    """Give leaves their new values one by one, renewing only what is above each; the totals on the way."""
    leaf = pointer(leaf, 0, leaf.size)
    node = pointer(node, 0, node.size)
    for i in range(changed.size):
        leaf[first + changed[i]] = values[i]
        tree.renew_leaf(leaf, first, count, node, at, changed[i])
        totals[i] = tree.tree_total(count, node, at)


@kernel()
def tally_leaves(leaf, first, count, node, at, draws, words, counts):
    """Count the leaves drawn from a tree."""
    leaf = pointer(leaf, 0, leaf.size)
    node = pointer(node, 0, node.size)
    words = pointer(words, 0, 4)
    for _ in range(draws):
        counts[tree.draw_leaf(leaf, first, count, node, at, words)] += 1


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


@kernel()
def small_exponentials(xs, out):
    """`small_exp` of every element."""
    for i in range(xs.size):
        out[i] = small_exp(xs[i])


@kernel()
def tiny_exponentials(xs, out):
    """`tiny_exp` of every element."""
    for i in range(xs.size):
        out[i] = tiny_exp(xs[i])


@kernel()
def coins(means, word, first, size, out):
    """`flip_coins` into the first cells of out."""
    flip_coins(pointer(means, 0, means.size), word, first, size, pointer(out, 0, out.size))


def store_memory(simplices, n_coordinates):
    """A memory that holds simplices and nothing else; of one class, so that entries are compiled once for all."""
    none = {f.name: np.zeros(0, dtype=f.dtype) for f in fields.FIELDS if f.kind == fields.EDGES}
    words = {"words": seeded_words(0)}
    memory = fields.Memory(*fields.pack(make_store(simplices, n_coordinates) | none | words))
    fields.refreeze(memory)
    return memory


class Bench:
    """A store, and its operations by name."""

    def __init__(self, memory):
        self.memory = memory
        self.store = unpack(memory)[2]

    @classmethod
    def of(cls, *potentials):
        """One simplex with a group for every (power, rate, size); coordinates are numbered through."""
        groups, first = [], 0
        for power, rate, size in potentials:
            groups.append(Group(first, size, power, rate))
            first += size
        bench = cls(store_memory([groups], first))
        bench.rebuild()
        return bench

    def _do(self, what, where=0, who=0, amount=0.0):
        who, amount = np.broadcast_arrays(
            np.asarray(who, dtype=np.int64), np.asarray(amount, dtype=np.float64)
        )
        who, amount = np.atleast_1d(who).copy(), np.atleast_1d(amount).copy()
        out = np.zeros((who.size, 4))
        whats, wheres = (np.full(who.size, x, dtype=np.int64) for x in (what, where))
        perform(self.memory, whats, wheres, who, amount, out)
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

    def root_sum_at(self, g, multiplier):
        """Σ 1/d of a bucketed group, from its series."""
        return self._do(ROOT_SUM_AT, g, amount=multiplier)[0, 0]

    def evaluate(self, g, multiplier):
        return self._do(EVALUATE, g, amount=multiplier)[0]

    def draws(self, count, seed, j=0):
        """How often each coordinate comes up in `count` draws from simplex j."""
        counts = np.zeros(self.store.key.size, dtype=np.int64)
        tally(self.memory, False, j, count, seeded_words(seed), counts)
        return counts

    def root_draws(self, count, seed, g=0):
        counts = np.zeros(self.store.key.size, dtype=np.int64)
        tally(self.memory, True, g, count, seeded_words(seed), counts)
        return counts

    # -- looking ---------------------------------------------------------------------------------------

    def members(self, g=0):
        first, end = self.store.origin[2 * g : 2 * g + 2]
        return np.arange(first, end)

    def sums(self, g=0):
        """The sums kept for the members of group g, in the order of their numbers."""
        return self.store.key[self.members(g)]

    def scalar(self, g, name):
        return self.store.scalars.view(AS_RECORDS)[name][g]

    def groups(self, j=0):
        return range(self.store.first_group[j], self.store.first_group[j + 1])

    def copy(self):
        return Bench(fields.duplicate(self.memory, self.memory.words.copy()))
