"""The engine held by its memory, and what it should believe, computed with dense matrices by arm.

`Dense` is a graph and a tuning. `hand_tuning` makes tunings that no theorem asks for: several potentials in one
block, exploration of every kind.
"""

from itertools import product

import numpy as np
from kernel_entries import exploration, unpack

from sidelight.engine.build import block_order, build_memory
from sidelight.engine.constants import FAILED
from sidelight.engine.round import round as engine
from sidelight.engine.simplex.store import AS_RECORDS
from sidelight.planning import Tuning


def copy(memory):
    """The same state, to be changed independently."""
    return memory._replace(
        switches=memory.switches.copy(),
        fixed_ints=memory.fixed_ints.copy(),
        ints=memory.ints.copy(),
        floats=memory.floats.copy(),
        words=memory.words.copy(),
    )


def hand_tuning(blocks, top=(2.0, 0.05), inner=(2.0, 0.1), **fields):
    """A tuning that no theorem asks for; blocks are lists of arms.

    `top` and `inner` are one potential (power, rate) for all, or one for every block or arm; the rest defaults to
    none.
    """
    n, m = sum(len(block) for block in blocks), len(blocks)
    top, inner = np.broadcast_to(top, (m, 2)), np.broadcast_to(inner, (n, 2))
    none = {name: np.zeros(m) for name in ("adaptive", "spread")}
    none |= {name: np.zeros(n) for name in ("global_exploration", "local_exploration", "cover", "load")}
    return Tuning(
        block_start=np.concatenate([[0], np.cumsum([len(block) for block in blocks])]),
        block_arms=np.concatenate([np.sort(block) for block in blocks]),
        top_power=top[:, 0],
        top_rate=top[:, 1],
        inner_power=inner[:, 0],
        inner_rate=inner[:, 1],
        **none | {"parent": np.full(n, -1)} | fields,
    )


class Dense:
    """What the engine plays on, as dense arrays by arm and by block of the tuning."""

    def __init__(self, graph, tuning):
        self.graph, self.tuning = graph, tuning
        self.n, self.m = graph.n_arms, tuning.n_blocks
        self.R = np.zeros((self.n, self.n))  # how likely each arm reveals each other
        for arm in range(self.n):
            self.R[arm, graph.out_neighbors(arm)] = graph.reveal_probabilities(arm)
        self.A = self.R > 0
        self.blocks = [
            tuning.block_arms[tuning.block_start[k] : tuning.block_start[k + 1]] for k in range(self.m)
        ]
        self.block_of = np.empty(self.n, dtype=int)
        for k, block in enumerate(self.blocks):
            self.block_of[block] = k
        self.local = np.array([tuning.local_exploration[block].sum() for block in self.blocks])
        self.scratch = np.zeros(1 + int(graph.out_degree.max()))

    # -- playing -----------------------------------------------------------------------------------------

    def begin(self, seed=0):
        return build_memory(self.graph, self.tuning, seed)

    def tell(self, memory, arm, losses):
        """The losses of what the arm reveals, NaN where that failed."""
        told = np.where(np.isnan(losses), FAILED, losses)[self.graph.out_neighbors(arm)]
        assert engine.tell_once(memory, arm, told, self.scratch)

    def told(self, memory, arm, losses):
        after = copy(memory)
        self.tell(after, arm, losses)
        return after

    def played(self, rounds, seed=0):
        """The memory after some rounds."""
        rng = np.random.default_rng(seed)
        memory = self.begin(seed)
        for _ in range(rounds):
            self.tell(memory, int(engine.ask_once(memory)), rng.random(self.n) * (rng.random(self.n) < 0.7))
        return memory

    # -- looking -----------------------------------------------------------------------------------------

    def probabilities(self, memory):
        """(Z, Y, X)."""
        Z, ordered, X = np.empty(self.n), np.empty(self.m), np.empty(self.n)
        engine.fill_probabilities(memory, Z)
        engine.fill_blocks(memory, ordered)
        engine.fill_inside(memory, X)
        Y = np.empty(self.m)
        Y[block_order(self.tuning)] = ordered
        return Z, Y, X

    def exploration(self, memory):
        """γ as the engine holds it."""
        return exploration(memory)

    def sums(self, memory):
        """(Σ ℓ̂ of every arm, Σ L̂ of every block) as the engine holds them; a singleton's is its block's."""
        machine, state, store = unpack(memory)

        def kept(coordinate, g):
            record = store.scalars.view(AS_RECORDS)[g]
            return (store.key[coordinate] - record["shift"]) / record["rate"]

        blocks = np.empty(self.m)
        for k, block in enumerate(block_order(self.tuning)):
            blocks[block] = state.whole if self.m == 1 else kept(k, machine.top_group[k])
        arms = blocks[self.block_of]
        for slot, arm in enumerate(machine.arm_at):
            g = machine.block_group[machine.block_and_flag[slot] >> 1]
            if g != -1:
                arms[arm] = kept(self.m + slot, g if g >= 0 else machine.slot_group[slot])
        return arms, blocks

    def ledger(self, memory, arm):
        out = np.empty(4)
        engine.ledger(memory, arm, out)
        return out

    # -- definitions -------------------------------------------------------------------------------------

    def mixed(self, X):
        """X̃: local exploration mixed in."""
        return (1.0 - self.local[self.block_of]) * X + self.tuning.local_exploration

    def due(self, X):
        """What each arm must spread: β_k · x*_j · max_{i ∈ Nout(j) ∩ V_k, owed} r_{ji}^{(1−h)/h}·X_i^{1−h}/load_i."""
        t = self.tuning
        owed = np.flatnonzero(t.load > 0.0)
        need = np.zeros(self.n)
        need[owed] = X[owed] ** (1.0 / t.inner_power[owed]) / t.load[owed]
        h = np.where(t.inner_power > 0, 1 - 1 / np.maximum(t.inner_power, 1.001), 1.0)
        gain = np.where(self.A, self.R ** ((1 - h) / h)[None, :], 0.0)
        due = np.zeros(self.n)
        for block, beta in zip(self.blocks, t.spread, strict=True):
            if beta > 0.0:
                due[block] = beta * t.cover[block] * (gain[np.ix_(block, block)] * need[block]).max(axis=1)
        return due

    def gamma(self, X):
        """γ by its definition."""
        t = self.tuning
        gamma = t.global_exploration + self.due(X)
        for i in np.flatnonzero(t.parent >= 0):
            gamma[t.parent[i]] += t.adaptive[self.block_of[i]] * np.sqrt(X[i])
        for i in np.flatnonzero(t.lifted):
            gamma[i] += max(t.floor * X[i] ** (1 / t.inner_power[i]) - X[i], 0.0)
        return gamma

    def estimates(self, memory, arm, losses):
        """(ℓ̂, L̂) by their definitions."""
        Z, _, X = self.probabilities(memory)
        P = self.R.T @ Z
        moved = self.A[arm] & ~np.isnan(losses)
        guess = np.where(moved, (losses - self.tuning.shift) / np.where(P > 0.0, P, 1.0), 0.0)
        return guess, np.array([self.mixed(X)[block] @ guess[block] for block in self.blocks])

    def outcomes(self, arm, losses):
        """(probability, losses with NaN for what failed to be revealed) of all that playing an arm may reveal."""
        unsure = np.flatnonzero((self.R[arm] > 0) & (self.R[arm] < 1))
        for works in product((True, False), repeat=unsure.size):
            told = losses.copy()
            told[unsure[~np.array(works, dtype=bool)]] = np.nan
            r = self.R[arm, unsure]
            yield float(np.where(works, r, 1 - r).prod()), told

    def assert_unbiased(self, memory, losses, tolerance=1e-9):
        """Σ_a Z(a)·ℓ̃ = ℓ − c and Σ_a Z(a)·L̃_k = ⟨X̃_k, ℓ_k − c⟩: sums over every arm, each through `tell_once`.

        Where reveals may fail, over all that may happen then as well.
        """
        Z, _, X = self.probabilities(memory)
        arms, blocks = self.sums(memory)
        mean, block_mean = np.zeros(self.n), np.zeros(self.m)
        for arm in range(self.n):
            for chance, told in self.outcomes(arm, losses):
                arms_after, blocks_after = self.sums(self.told(memory, arm, told))
                guess, block_guess = self.estimates(memory, arm, told)
                close = {"rtol": tolerance, "atol": tolerance}
                np.testing.assert_allclose(arms_after - arms, guess, **close)
                np.testing.assert_allclose(blocks_after - blocks, block_guess, **close)
                mean += chance * Z[arm] * (arms_after - arms)
                block_mean += chance * Z[arm] * (blocks_after - blocks)
        shifted = losses - self.tuning.shift
        np.testing.assert_allclose(mean, shifted, rtol=0, atol=tolerance)
        expected = [self.mixed(X)[block] @ shifted[block] for block in self.blocks]
        np.testing.assert_allclose(block_mean, expected, rtol=0, atol=tolerance)
