"""A: disjoint loop-less cliques of ten, clustered."""

import math

import numpy as np
from benchmarks.rivals.prototypes.everything import LARGEST_FALL, weight_of
from benchmarks.rivals.prototypes.shared import AHEAD, FAR, HALF, compiled, high_half, summing
from benchmarks.rivals.prototypes.simplex import (
    LAMBDA,
    Arrays,
    bucket_at,
    opened,
    propose,
    raise_item,
    sample,
    solve,
)
from benchmarks.rivals.prototypes.simplex import unit as numbered_unit
from llvmlite import ir
from numba import int64, types, uint64
from numba.extending import intrinsic

from sidelight.engine._numba.pointers import pointer, prefetch
from sidelight.engine.exponential import exp_nonpositive, small_exp
from sidelight.engine.fields import aligned
from sidelight.engine.random import arm_unit, round_word, seeded_words
from sidelight.environment.base import environment_key

# A round visits one block: draws from its weights, then multiplies them. As in D only weights are kept up to date.

WIDTH = 16  # cells of a block, two lines of memory: weights, then
MASS, FELL = 14, 15  # their total, and minus how far one may have fallen since the sums were written
# Passes go over all cells, as loops of 16 vectorise best: where no loss is, nothing changes. That they are 16 is an
# argument: loops known to be short are unrolled before they could be vectorised.
TOP_RATE, RATE, REST, INNER, LOCAL, FIXED = range(6)
LOST, STEPS, COPY = 0, 16, 32  # what `scratch` holds


@intrinsic
def copy_block(typingctx, to, begin, source, first):
    """copy_block(to, begin, source, first): WIDTH doubles.

    Passes run on a copy beside their other numbers: where arrays of their own might overlap, they do not vectorise.
    """

    def codegen(context, builder, signature, args):
        ends = [
            builder.bitcast(builder.gep(args[i], [args[i + 1]]), ir.IntType(8).as_pointer()) for i in (0, 2)
        ]
        size = ir.Constant(ir.IntType(64), 8 * WIDTH)
        memcpy = builder.module.declare_intrinsic("llvm.memcpy", [ends[0].type, ends[1].type, size.type])
        builder.call(memcpy, [*ends, size, ir.Constant(ir.IntType(1), 0)])
        return context.get_dummy_value()

    return types.none(to, types.intp, source, types.intp), codegen


@summing
def flip(limits, width, word, first, own, lost):
    """Coins of a block's arms as in D, 0 for its `own`th; how many of them are undecided."""
    low, half = uint64(HALF), uint64(32)
    left, right = uint64(0x53C5CA59), uint64(0x74743C1B)
    mine, other = (word & low) ^ left, (word >> half) ^ right
    ties = int64(0)
    for j in range(width):
        h = (mine ^ (uint64(first + j) & low)) * other
        h = ((h & low) ^ left) * ((h >> half) ^ right)
        above = int64((h ^ (h >> half)) & low) - int64(limits[j])
        ties += int64(1) if above == 0 else int64(0)
        lost[j] = 1.0 if (above < 0) & (j != own) else 0.0
    return ties


@summing
def estimate(scratch, width, share, whole, rate, mixed, local):
    """Steps η·ℓ̂ of a block's arms; their sum, that of their squares, and the loss Σ X̃·ℓ̂ of the block."""
    total = squares = block_loss = 0.0
    for j in range(width):
        weight = scratch[COPY + j]
        guess = scratch[LOST + j] / (whole - share * weight)
        step = rate * guess
        scratch[STEPS + j] = step
        total += step
        squares += step * step
        block_loss += (mixed * weight + local) * guess
    return total, squares, block_loss


@summing
def fall_little(scratch, width):
    for j in range(width):
        scratch[COPY + j] *= small_exp(-scratch[STEPS + j])


@summing
def fall(scratch, width):
    for j in range(width):
        scratch[COPY + j] *= exp_nonpositive(-scratch[STEPS + j])


@compiled
def mass_of(w, at):
    first = ((w[at] + w[at + 1]) + (w[at + 2] + w[at + 3])) + (
        (w[at + 4] + w[at + 5]) + (w[at + 6] + w[at + 7])
    )
    return first + ((w[at + 8] + w[at + 9]) + (w[at + 10] + w[at + 11]))


@compiled
def choose(weights, target):
    """The arm at which the running total passes `target`, without a branch: which one is anyone's guess."""
    g0 = (weights[0] + weights[1]) + (weights[2] + weights[3])
    g1 = g0 + ((weights[4] + weights[5]) + (weights[6] + weights[7]))
    second, third = target >= g0, target >= g1
    first = 4 * (int(second) + int(third))
    target -= g1 if third else (g0 if second else 0.0)
    a0 = weights[first]
    a1 = a0 + weights[first + 1]
    a2 = a1 + weights[first + 2]
    return first + int(target >= a0) + int(target >= a1) + int(target >= a2)


@compiled
def write_block(weights, keys, first, size):
    """`write_sums` for a part of the arms; returns the total of their weights."""
    least = math.inf
    for i in range(first, first + size):
        keys[i] += math.log(weight_of(keys[i]) / abs(weights[i]))
        least = min(least, keys[i])
    total = 0.0
    for i in range(first, first + size):
        keys[i] -= least
        weights[i] = math.copysign(weight_of(keys[i]), weights[i])
        total += abs(weights[i])
    return total


@compiled
def cliques_update(s, rates, weights, keys, size, width, scratch, b, place):
    """Learn from the losses of a block, whose item is at a place of bucket b; those not revealed are 0."""
    d = s.numbers[LAMBDA] + s.key[2 * place]
    y = rates[REST] / (d * d)
    mixed = rates[INNER] / weights[MASS]
    whole = y * (1.0 - rates[LOCAL]) + (size - 1) * rates[FIXED]
    copy_block(scratch, COPY, weights, 0)
    total, squares, loss = estimate(scratch, width, y * mixed, whole, rates[RATE], mixed, rates[LOCAL])
    if loss == 0.0:
        return
    if squares < 2.0**-10:
        fall_little(scratch, width)
    elif total < LARGEST_FALL / 2.0:
        fall(scratch, width)
    else:
        for j in range(size):
            keys[j] += scratch[STEPS + j]  # and the sums are written now
    copy_block(weights, 0, scratch, COPY)
    weights[MASS] = mass_of(scratch, COPY)
    weights[FELL] -= total
    if weights[FELL] < -LARGEST_FALL / 2.0:
        weights[MASS] = write_block(weights, keys, 0, size)
        weights[FELL] = 0.0
    raise_item(s, b, place, rates[TOP_RATE] * loss)
    solve(s)


@compiled
def cliques_learn(
    items, names, place, spare, spare_names, start, numbers, rates, records, keys, size, width, scratch, arm
):
    s = opened(items, names, place, spare, spare_names, start, numbers, True, False)
    k = arm // size
    cell = pointer(records, k * WIDTH, (k + 1) * WIDTH)
    key = pointer(keys, k * size, (k + 1) * size)
    at = s.place[k]
    cliques_update(
        s, pointer(rates, 0, 6), cell, key, size, width, pointer(scratch, 0, 48), bucket_at(s, at), at
    )


@compiled
def cliques_play(
    items,
    names,
    place,
    spare,
    spare_names,
    start,
    numbers,
    rates,
    records,
    keys,
    size,
    width,
    scratch,
    limits,
    means,
    loss_key,
    first,
    step,
    begin,
    end,
):
    s = opened(items, names, place, spare, spare_names, start, numbers, True, False)
    lost, rate = pointer(scratch, 0, 48), pointer(rates, 0, 6)
    n = means.size
    gamma, local = n * rates[FIXED], size * rates[LOCAL]
    record, bound = pointer(records, 0, records.size), pointer(limits, 0, limits.size)
    far = n >= FAR
    arm = coming = sooner = soon = 0
    for t in range(begin, end):
        if far:  # coming draws are known: ask for the item that one proposes, and later for its block
            k = s.name[2 * soon + 1]
            prefetch(record, k * WIDTH)
            prefetch(record, k * WIDTH + 8)
            prefetch(bound, k * WIDTH)
            soon, sooner = sooner, coming
            _, coming = propose(s, first, step, t + AHEAD, 2)
            prefetch(s.key, 2 * coming)
        u = numbered_unit(first, step, t, 0)
        if u < gamma:
            arm = min(int(u / gamma * n), n - 1)
            k = arm // size
            j = arm - k * size
            at = s.place[k]
            b = bucket_at(s, at)
            cell = pointer(records, k * WIDTH, (k + 1) * WIDTH)
            limit = pointer(limits, k * WIDTH, (k + 1) * WIDTH)
        else:
            b, at = sample(s, first, step, t, 2)
            k = s.name[2 * at + 1]
            cell = pointer(records, k * WIDTH, (k + 1) * WIDTH)
            limit = pointer(limits, k * WIDTH, (k + 1) * WIDTH)
            prefetch(limit, 0)
            prefetch(cell, 8)
            v = numbered_unit(first, step, t, 1)
            if v < local:
                j = min(int(v / local * size), size - 1)
            else:
                j = min(choose(cell, (v - local) / (1.0 - local) * cell[MASS]), size - 1)
        word = round_word(loss_key, t)
        if flip(limit, width, word, k * size, j, lost) > 0:
            for i in range(size):
                lost[i] = 1.0 if arm_unit(word, k * size + i) < means[k * size + i] and i != j else 0.0
        arm = k * size + j
        cliques_update(s, rate, cell, pointer(keys, k * size, (k + 1) * size), size, width, lost, b, at)
    return arm


class Cliques:
    """A: cliques of at most twelve, entropy inside, Tsallis-1/2 across."""

    def __init__(self, plan, means, seed):
        tuning = plan.tuning
        self.size, m = int(tuning.sizes[0]), tuning.n_blocks
        local, fixed = float(tuning.local_exploration[0]), float(tuning.global_exploration[0])
        assert self.size <= 12
        assert (tuning.sizes == self.size).all()
        assert (tuning.local_exploration == local).all()
        assert (tuning.global_exploration == fixed).all()
        rest, inner = 1.0 - m * self.size * fixed, 1.0 - self.size * local
        self.rates = np.array([tuning.top_rate[0], tuning.inner_rate[0], rest, inner, local, fixed])
        self.simplex = Arrays(m, tracked=True, rooted=False)
        self.records = aligned(m * WIDTH, np.float64)
        self.records.reshape(m, WIDTH)[:, : self.size] = 1.0
        self.records.reshape(m, WIDTH)[:, MASS] = self.size
        self.limits = aligned(m * WIDTH, np.uint32)
        self.means = np.ascontiguousarray(means)
        self.limits.reshape(m, WIDTH)[:, : self.size] = high_half(self.means).reshape(m, self.size)
        self.keys = np.zeros(m * self.size)
        self.scratch = np.zeros(3 * WIDTH)
        self.words, self.loss_key, self.round = seeded_words(seed), environment_key(seed), 0
        self.arm = -1

    def state(self):
        return *self.simplex.all, self.rates, self.records, self.keys, self.size, WIDTH, self.scratch

    @property
    def probabilities(self):
        _, _, rest, inner, local, fixed = self.rates
        records = self.records.reshape(-1, WIDTH)
        y = rest * (self.simplex.multiplier + self.simplex.sums()) ** -2.0
        inside = inner * records[:, : self.size] / records[:, MASS, None] + local
        return (y[:, None] * inside).ravel() + fixed

    def learn(self, arm, losses):
        self.scratch[:] = 0.0
        self.scratch[: self.size] = np.insert(np.asarray(losses, dtype=np.float64), arm % self.size, 0.0)
        cliques_learn(*self.state(), arm)

    def play(self, rounds):
        begin, self.round = self.round, self.round + rounds
        self.arm = cliques_play(
            *self.state(),
            *(self.limits, self.means, self.loss_key, self.words[0], self.words[1], begin, self.round),
        )
