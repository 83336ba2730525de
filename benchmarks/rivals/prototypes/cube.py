"""E: a hypercube in Hamming blocks, clustered."""

import numpy as np
from benchmarks.rivals.prototypes.cliques import FIXED, INNER, LOCAL, RATE, REST, TOP_RATE, write_block
from benchmarks.rivals.prototypes.everything import LARGEST_FALL
from benchmarks.rivals.prototypes.shared import AHEAD, FAR, HALF, compiled, high_half, summing
from benchmarks.rivals.prototypes.simplex import (
    LAMBDA,
    SHIFTED,
    Arrays,
    bucket_at,
    opened,
    propose,
    raise_item,
    sample,
    solve,
)
from benchmarks.rivals.prototypes.simplex import unit as numbered_unit
from numba import int64, uint64

from sidelight.engine._numba.pointers import pointer, prefetch
from sidelight.engine.exponential import exp_nonpositive, small_exp
from sidelight.engine.fields import aligned
from sidelight.engine.random import arm_unit, round_word, seeded_words
from sidelight.environment.base import environment_key

# Arms are addressed by slot: block, then which of its 2^k arms. Both are linear in the bits of the arm but for the
# step to the centre of the block, so the slot of any neighbour is an exclusive or and a small table:
#     slot(v) = code(v) ^ to_centre[code(v) mod 2^k],       code(u ^ 2^b) = code(u) ^ code(2^b).
# A round adds up the probabilities of the arms two steps away. Each of them sees two neighbours of the played arm and
# is read once for both. Blocks hold X itself, normalised when written, so that reading takes no total; those two of
# their arms that explore hold −X, so that reading takes no table.

BITS, SIZE, LOG_SIZE = range(3)  # d, arms of a block
HEAD, LOSS, SEEN, LIST, KEPT, SLOT, STEP, OWNER, DUE = range(0, 288, 32)  # what the scratches hold
TABLE = 32


@summing
def flip_around(word, arm, lanes, heads):
    """The upper halves of the hashes of all neighbours of an arm."""
    low, half = uint64(HALF), uint64(32)
    left, right = uint64(0x53C5CA59), uint64(0x74743C1B)
    mine, other = (word & low) ^ left, (word >> half) ^ right
    for b in range(lanes):
        v = uint64(arm) ^ (uint64(1) << uint64(b))
        h = (mine ^ (v & low)) * other
        h = ((h & low) ^ left) * ((h >> half) ^ right)
        heads[b] = int64((h ^ (h >> half)) & low)


@summing
def normalise(weights, first, last):
    total = 0.0
    for i in range(first, last):
        total += abs(weights[i])
    factor = 1.0 / total
    for i in range(first, last):
        weights[i] *= factor


@compiled
def choose_from(weights, first, size, target):
    """The arm of a block at which the running total passes `target`, by fours, then without a branch."""
    for at in range(first, first + size - 4, 4):
        four = (abs(weights[at]) + abs(weights[at + 1])) + (abs(weights[at + 2]) + abs(weights[at + 3]))
        if target < four:
            return choose_of_four(weights, at, target)
        target -= four
    return choose_of_four(weights, first + size - 4, target)


@compiled
def choose_of_four(weights, at, target):
    a0 = abs(weights[at])
    a1 = a0 + abs(weights[at + 1])
    a2 = a1 + abs(weights[at + 2])
    return at + int(target >= a0) + int(target >= a1) + int(target >= a2)


@compiled
def probability(x, d, mixed):
    """Z of an arm, from its cell and the d of its block."""
    inner, local, fixed = mixed
    explores = x < 0.0
    return (inner * abs(x) + (local if explores else 0.0)) / (d * d) + (fixed if explores else 0.0)


@compiled
def cube_update(s, rates, shape, inside, sums, fell, keys, codes, tables, whole, real, code, n_lost):
    """Learn from the losses of n_lost neighbours of the arm with this code: LIST, LOSS; the others are in KEPT."""
    d, size, log_size = shape[BITS], shape[SIZE], shape[LOG_SIZE]
    mask = size - 1
    multiplier = s.numbers[LAMBDA]
    mixed = rates[REST] * rates[INNER], rates[REST] * rates[LOCAL], rates[FIXED]  # values, see D
    own = code ^ tables[code & mask]
    mine = probability(inside[own], multiplier + sums[own >> log_size], mixed)
    for i in range(n_lost):
        real[SEEN + i] = mine
    for i in range(n_lost):  # all estimates first: they use this round's distribution
        near = code ^ codes[whole[LIST + i]]
        seen = real[SEEN + i]
        for j in range(i + 1, n_lost):
            far = near ^ codes[whole[LIST + j]]
            far ^= tables[far & mask]
            z = probability(inside[far], multiplier + sums[far >> log_size], mixed)
            seen += z
            real[SEEN + j] += z
        for j in range(d - n_lost):
            far = near ^ codes[whole[KEPT + j]]
            far ^= tables[far & mask]
            seen += probability(inside[far], multiplier + sums[far >> log_size], mixed)
        real[SEEN + i] = seen
    n_blocks = 0
    for i in range(n_lost):
        near = code ^ codes[whole[LIST + i]]
        near ^= tables[near & mask]
        guess = real[LOSS + i] / real[SEEN + i]
        whole[SLOT + i] = near
        real[STEP + i] = rates[RATE] * guess
        x = inside[near]
        due = (rates[INNER] * abs(x) + (rates[LOCAL] if x < 0.0 else 0.0)) * guess
        k = near >> log_size
        owner = 0
        while owner < n_blocks and whole[OWNER + owner] != k:
            owner += 1
        if owner == n_blocks:
            whole[OWNER + owner] = k
            real[DUE + owner] = 0.0
            n_blocks += 1
        real[DUE + owner] += due
    for i in range(n_lost):
        slot, step = whole[SLOT + i], real[STEP + i]
        fell[slot >> log_size] += step
        if step <= 1.0 / 32.0:
            inside[slot] *= small_exp(-step)
        elif step < LARGEST_FALL / 2.0:
            inside[slot] *= exp_nonpositive(-step)
        else:
            keys[slot] += step  # and the sums are written below
    for i in range(n_blocks):
        k = whole[OWNER + i]
        if fell[k] > LARGEST_FALL / 2.0:
            write_block(inside, keys, k * size, size)
            fell[k] = 0.0
        normalise(inside, k * size, (k + 1) * size)
        amount = rates[TOP_RATE] * real[DUE + i]
        sums[k] += amount
        place = s.place[k]
        raise_item(s, bucket_at(s, place), place, amount)
    solve(s)
    if s.numbers[SHIFTED] != 0.0:
        for k in range(s.n):
            sums[k] += s.numbers[SHIFTED]
        s.numbers[SHIFTED] = 0.0


@compiled
def fetch_around(s, log_size, inside, fell, codes, tables, whole, code, n_lost, d):
    """Ask for all that `cube_update` will read, blocks that it will write included."""
    mask = (1 << log_size) - 1
    for i in range(n_lost):
        near = code ^ codes[whole[LIST + i]]
        k = (near ^ tables[near & mask]) >> log_size
        prefetch(s.place, k)
        prefetch(fell, k)
        for j in range(i + 1, n_lost):
            far = near ^ codes[whole[LIST + j]]
            prefetch(inside, far ^ tables[far & mask])
        for j in range(d - n_lost):
            far = near ^ codes[whole[KEPT + j]]
            prefetch(inside, far ^ tables[far & mask])
    for i in range(n_lost):
        near = code ^ codes[whole[LIST + i]]
        near ^= tables[near & mask]
        first = near >> log_size << log_size
        prefetch(inside, first)
        prefetch(inside, first + mask)
        prefetch(s.key, 2 * int64(s.place[near >> log_size]))


@compiled
def cube_learn(
    items, names, place, spare, spare_names, start, numbers, rates, shape, inside, sums, fell, keys, codes, tables,
    whole, real, code, n_lost,
):  # fmt: skip
    s = opened(items, names, place, spare, spare_names, start, numbers, True, False)
    cube_update(
        s,
        pointer(rates, 0, 6),
        pointer(shape, 0, 3),
        pointer(inside, 0, inside.size),
        pointer(sums, 0, sums.size),
        pointer(fell, 0, fell.size),
        pointer(keys, 0, keys.size),
        pointer(codes, 0, TABLE),
        pointer(tables, 0, TABLE),
        pointer(whole, 0, whole.size),
        pointer(real, 0, real.size),
        code,
        n_lost,
    )


@compiled
def cube_play(
    items, names, place, spare, spare_names, start, numbers, rates, shape, inside, sums, fell, keys, codes, tables,
    whole, real, arms, pairs, limits, means, loss_key, first, step, begin, end,
):  # fmt: skip
    s = opened(items, names, place, spare, spare_names, start, numbers, True, False)
    rate, form, x = pointer(rates, 0, 6), pointer(shape, 0, 3), pointer(inside, 0, inside.size)
    total, fall_, key = pointer(sums, 0, sums.size), pointer(fell, 0, fell.size), pointer(keys, 0, keys.size)
    base, table = pointer(codes, 0, TABLE), pointer(tables, 0, TABLE)
    list_, number = pointer(whole, 0, whole.size), pointer(real, 0, real.size)
    arm_at, limit = pointer(arms, 0, arms.size), pointer(limits, 0, limits.size)
    mean = pointer(means, 0, means.size)
    d, size = shape[BITS], shape[SIZE]
    explorers = pairs.size
    gamma, local = explorers * rates[FIXED], 2.0 * rates[LOCAL]
    lanes = (d + 7) // 8 * 8
    away = means.size >= FAR
    arm = coming = sooner = soon = 0
    for t in range(begin, end):
        if away:  # as for cliques
            k = s.name[2 * soon + 1]
            prefetch(x, k * size)
            prefetch(x, k * size + 8)
            prefetch(arm_at, k * size)
            soon, sooner = sooner, coming
            _, coming = propose(s, first, step, t + AHEAD, 2)
            prefetch(s.key, 2 * coming)
        u = numbered_unit(first, step, t, 0)
        if u < gamma:
            slot = pairs[min(int(u / gamma * explorers), explorers - 1)]
        else:
            _, at = sample(s, first, step, t, 2)
            k = s.name[2 * at + 1]
            v = numbered_unit(first, step, t, 1)
            if v < local:
                slot = pairs[2 * k + int(2.0 * v >= local)]
            else:
                slot = choose_from(x, k * size, size, (v - local) / (1.0 - local))
        arm = int(arm_at[slot])
        word = round_word(loss_key, t)
        flip_around(word, arm, lanes, list_)
        n_lost = n_kept = 0
        for b in range(d):
            above = list_[HEAD + b] - int64(limit[arm ^ (1 << b)])
            lost = int(above < 0)
            if above == 0:
                lost = int(arm_unit(word, arm ^ (1 << b)) < mean[arm ^ (1 << b)])
            list_[LIST + n_lost] = list_[KEPT + n_kept] = b
            number[LOSS + n_lost] = 1.0
            n_lost += lost
            n_kept += 1 - lost
        if n_lost > 0:
            code = slot ^ table[slot & (size - 1)]
            if away:
                fetch_around(s, shape[LOG_SIZE], x, fall_, base, table, list_, code, n_lost, d)
            cube_update(s, rate, form, x, total, fall_, key, base, table, list_, number, code, n_lost)
    return arm


class Cube:
    """E: hypercube of at least three dimensions, entropy inside, Tsallis-1/2 across."""

    def __init__(self, plan, means, seed):
        tuning = plan.tuning
        n, m, size = plan.graph.n_arms, tuning.n_blocks, int(tuning.sizes[0])
        d, log_size = n.bit_length() - 1, size.bit_length() - 1
        self.shape = np.array([d, size, log_size])
        self.codes, self.tables = np.zeros(TABLE, dtype=np.int64), np.zeros(TABLE, dtype=np.int64)
        checks = [(1 << i) - 1 for i in range(log_size)]  # bits that the syndrome determines
        for b in range(d):
            block = 0 if b in checks else 1 << (b - sum(check < b for check in checks))
            self.codes[b] = block << log_size | min(b + 1, size - 1)
        for place in range(1, size):  # across bit place − 1 to the centre, which keeps its place in the slot
            self.tables[place] = self.codes[place - 1] >> log_size << log_size
        slot = np.zeros(n, dtype=np.int64)
        for b in range(d):
            slot ^= np.where(np.arange(n) >> b & 1, self.codes[b], 0)
        self.slot = slot ^ self.tables[slot % size]
        self.arms = np.argsort(self.slot).astype(np.int32)
        owner = tuning.block_of[self.arms].reshape(m, size)
        assert (owner == owner[:, :1]).all(), "blocks are not Hamming blocks"
        local, fixed = (
            array[self.arms].reshape(m, size)
            for array in (tuning.local_exploration, tuning.global_exploration)
        )
        explores = fixed > 0.0
        assert (explores.sum(axis=1) == 2).all()
        assert (local == explores * local.max()).all()
        assert (fixed == explores * fixed.max()).all()
        self.pairs = np.flatnonzero(explores)
        rest, inner = 1.0 - fixed.sum(), 1.0 - local[0].sum()
        rates = tuning.top_rate[0], tuning.inner_rate[0], rest, inner, local.max(), fixed.max()
        self.rates = np.array(rates)
        self.simplex = Arrays(m, tracked=True, rooted=False)
        self.inside = aligned(n, np.float64)
        self.inside[:] = np.where(explores, -1.0, 1.0).ravel() / size
        self.sums, self.fell, self.keys = np.zeros(m), np.zeros(m), np.zeros(n)
        self.whole, self.real = np.zeros(9 * TABLE, dtype=np.int64), np.zeros(9 * TABLE)
        self.means = np.ascontiguousarray(means)
        self.limits = high_half(self.means)
        self.words, self.loss_key, self.round = seeded_words(seed), environment_key(seed), 0
        self.arm = -1

    def state(self):
        return (
            *(*self.simplex.all, self.rates, self.shape, self.inside, self.sums, self.fell, self.keys),
            *(self.codes, self.tables, self.whole, self.real),
        )

    @property
    def probabilities(self):
        _, _, rest, inner, local, fixed = self.rates
        x = self.inside.reshape(-1, self.shape[SIZE])
        y = rest * (self.simplex.multiplier + self.simplex.sums()) ** -2.0
        return (y[:, None] * (inner * np.abs(x) + local * (x < 0)) + fixed * (x < 0)).ravel()[self.slot]

    def learn(self, arm, losses):
        d, size = self.shape[BITS], self.shape[SIZE]
        bits = sorted(range(d), key=lambda b: arm ^ (1 << b))  # as the losses come
        told = [(b, loss) for b, loss in zip(bits, losses, strict=True) if loss > 0.0]
        kept = [b for b, loss in zip(bits, losses, strict=True) if not loss > 0.0]
        if told:
            self.whole[LIST : LIST + len(told)] = [b for b, _ in told]
            self.real[LOSS : LOSS + len(told)] = [loss for _, loss in told]
            self.whole[KEPT : KEPT + len(kept)] = kept
            code = int(self.slot[arm] ^ self.tables[self.slot[arm] % size])
            cube_learn(*self.state(), code, len(told))

    def play(self, rounds):
        begin, self.round = self.round, self.round + rounds
        self.arm = cube_play(
            *self.state(),
            *(self.arms, self.pairs, self.limits, self.means, self.loss_key),
            *(self.words[0], self.words[1], begin, self.round),
        )
