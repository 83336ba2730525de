"""Special-purpose kernels for instances A, D and E: everything about the instance is hard-wired.

Nothing general is left in them, so they say what the machine can do; the engine is measured against them. The same
interface as `dense_numba`. Losses are 0 or 1 in `play`, anything in [0, 1] in `learn`.
"""

import math

import numpy as np
from benchmarks.rivals.prototype_simplex import (
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
from benchmarks.rivals.prototype_simplex import unit as numbered_unit
from llvmlite import ir
from numba import int64, njit, types, uint64
from numba.extending import intrinsic

from sidelight.environment.environment import environment_key
from sidelight.kernels.exponential import exp_nonpositive, small_exp
from sidelight.kernels.pointers import cells, fetch
from sidelight.kernels.random import arm_unit, mix, round_word, seeded_words

compiled = njit(error_model="numpy", _nrt=False)
summing = njit(error_model="numpy", _nrt=False, fastmath={"contract", "reassoc", "nsz"})

GOLDEN = 0x9E3779B97F4A7C15
HALF = 0xFFFFFFFF
FAR = 1 << 14
"""From so many arms on, memory is asked for ahead of its use."""
AHEAD = 4


@compiled
def unit(words):
    """The player's own numbers: SplitMix64."""
    words[0] = uint64(words[0] + uint64(GOLDEN))
    return float(mix(words[0]) >> uint64(11)) * 2.0**-53


def player(seed):
    """The state of `unit`."""
    return np.random.SeedSequence(seed).generate_state(1, np.uint64)


# -- D: loop-less clique ------------------------------------------------------------------------------
# All weights are multiplied every round, so the pass is all there is. What keeps it short:
# * A loss is 0 or 1, hence the factor of an arm is 1 or exp(−η/(1−z)): where all z are small, a short polynomial in
#   z that needs neither a division nor an exponential. Where some z is larger, other passes are chosen, by a bound
#   on all z but that of the heaviest arm, which is kept out.
# * Half of the hash's 64 bits decide a coin but for one draw in 2³², so the third multiplication is left for those.
# * Only weights are kept up to date. The sums, which cannot underflow, are written when weights have become small.

PIECE = 1024  # so many arms at a time; their total is kept for drawing
CHUNK = 64
NEGLIGIBLE = 1e-17
LOWEST = -600.0
LARGEST_FALL = 60.0  # a weight falls to exp(LOWEST − LARGEST_FALL) at least before the sums are written
ARM, HEAVY, SINCE, TOTAL, MOST, FALLEN, PASS = range(7)
SHORT, LONG, SMALL, ANY = range(4)


@summing
def short_factor(z, c, rate):
    return c[0] + z * (c[1] + z * (c[2] + z * c[3]))


@summing
def long_factor(z, c, rate):
    return c[0] + z * (c[1] + z * (c[2] + z * (c[3] + z * (c[4] + z * c[5]))))


@summing
def small_factor(z, c, rate):
    return small_exp(-rate / (1.0 - z))


@summing
def any_factor(z, c, rate):
    return exp_nonpositive(-rate / max(1.0 - z, 1e-300))


def fused(factor):
    """The pass over a piece: coins, estimates, weights, their total. Also tells whether a coin is undecided."""

    @summing
    def one_pass(weights, limits, word, first, size, share, fixed, c, rate):
        low, half = uint64(HALF), uint64(32)
        left, right = uint64(0x53C5CA59), uint64(0x74743C1B)
        mine, other = (word & low) ^ left, (word >> half) ^ right
        total = 0.0
        ties = int64(0)
        for i in range(first, first + size):
            h = (mine ^ (uint64(i) & low)) * other
            h = ((h & low) ^ left) * ((h >> half) ^ right)
            above = int64((h ^ (h >> half)) & low) - int64(limits[i])
            ties += int64(1) if above == 0 else int64(0)
            weight = weights[i]
            by = factor(share * weight + fixed, c, rate)
            weight *= by if above < 0 else 1.0
            weights[i] = weight
            total += weight
        return total, ties

    return one_pass


short_pass, long_pass = fused(short_factor), fused(long_factor)
small_pass, any_pass = fused(small_factor), fused(any_factor)


@summing
def total_of(weights, first, last):
    total = 0.0
    for i in range(first, last):
        total += weights[i]
    return total


@compiled
def draw_weight(weights, totals, n, numbers, target):
    """The arm at which the running total of the weights passes `target`, the heaviest arm coming first."""
    heavy = int(numbers[HEAVY])
    target -= weights[heavy]
    if target < 0.0:
        return heavy
    piece = 0
    first = 0
    while first + PIECE < n:
        mass = totals[piece] - (weights[heavy] if heavy // PIECE == piece else 0.0)
        if target < mass:
            break
        target -= mass
        first += PIECE
        piece += 1
    last = min(first + PIECE, n)
    while first + CHUNK < last:
        mass = total_of(weights, first, first + CHUNK)
        if first <= heavy < first + CHUNK:
            mass -= weights[heavy]
        if target < mass:
            break
        target -= mass
        first += CHUNK
    chosen = heavy
    for i in range(first, min(first + CHUNK, last)):
        if i != heavy:
            chosen = i
            target -= weights[i]
            if target < 0.0:
                break
    return chosen


@compiled
def tighten(weights, n, numbers):
    """Find the heaviest arm, and the largest weight of the others."""
    heavy = 0
    for i in range(n):
        if weights[i] > weights[heavy]:
            heavy = i
    most = 0.0
    for i in range(n):
        if weights[i] > most and i != heavy:
            most = weights[i]
    numbers[HEAVY] = heavy
    numbers[MOST] = most
    numbers[SINCE] = 0.0


@compiled
def weight_of(key):
    return math.exp(max(-key, LOWEST))


@compiled
def write_sums(weights, totals, keys, n, numbers):
    """Take into the sums what the weights have fallen, and write the weights afresh, the largest as 1."""
    least = math.inf
    for i in range(n):
        keys[i] += math.log(weight_of(keys[i]) / weights[i])
        least = min(least, keys[i])
    for i in range(n):
        keys[i] -= least
        weights[i] = weight_of(keys[i])
    total = 0.0
    for first in range(0, n, PIECE):
        totals[first // PIECE] = total_of(weights, first, min(first + PIECE, n))
        total += totals[first // PIECE]
    numbers[TOTAL] = total
    numbers[FALLEN] = 0.0
    tighten(weights, n, numbers)


@compiled
def choose_pass(numbers, bounds, share, fixed, rate):
    """The shortest pass that is exact for arms of weight `MOST`; notes how far the weights may fall."""
    z = share * numbers[MOST] + fixed
    step = rate / max(1.0 - z, 1e-300)
    numbers[FALLEN] += step
    if z <= bounds[0]:
        return SHORT
    if z <= bounds[1]:
        return LONG
    return SMALL if step <= 1.0 / 32.0 else ANY


@compiled
def everything_play(
    rate, fixed, c, bounds, weights, totals, keys, numbers, limits, means, key, words, begin, end
):
    n = means.size
    padded = weights.size
    weight, limit = cells(weights, 0, padded), cells(limits, 0, padded)
    number = cells(numbers, 0, numbers.size)
    series = (c[0], c[1], c[2], c[3], c[4], c[5])  # values: a pass would read them again after every weight
    subtotal, word_state = cells(totals, 0, totals.size), cells(words, 0, 1)
    gamma = n * fixed
    for t in range(begin, end):
        total = number[TOTAL]
        u = unit(word_state)
        if u < gamma:
            arm = min(int(u / gamma * n), n - 1)
        else:
            arm = draw_weight(weight, subtotal, n, number, unit(word_state) * total)
        number[ARM] = arm
        word = round_word(key, t)
        share = (1.0 - gamma) / total
        how = choose_pass(number, bounds, share, fixed, rate)
        if how > number[PASS] or number[SINCE] >= 256.0:
            tighten(weight, n, number)
            number[FALLEN] -= rate
            how = choose_pass(number, bounds, share, fixed, rate)
            number[PASS] = how
        number[SINCE] += 1.0
        heavy = int(number[HEAVY])
        kept, mine = weight[heavy], weight[arm]
        total = 0.0
        for first in range(0, padded, PIECE):
            size = min(PIECE, padded - first)
            if how == SHORT:
                more, ties = short_pass(weight, limit, word, first, size, share, fixed, series, rate)
            elif how == LONG:
                more, ties = long_pass(weight, limit, word, first, size, share, fixed, series, rate)
            elif how == SMALL:
                more, ties = small_pass(weight, limit, word, first, size, share, fixed, series, rate)
            else:
                more, ties = any_pass(weight, limit, word, first, size, share, fixed, series, rate)
            if ties > 0:
                more += break_ties(
                    weight, limits, means, word, first, min(first + size, n), share, fixed, rate
                )
            subtotal[first // PIECE] = more
            total += more
        total += put(weight, subtotal, arm, mine)  # it was not revealed
        if heavy != arm:
            if arm_unit(word, heavy) < means[heavy]:
                step = rate / max(1.0 - (share * kept + fixed), 1e-300)
                number[FALLEN] += step
                if step < LARGEST_FALL / 2.0:
                    kept *= exp_nonpositive(-step)
                else:
                    keys[heavy] += step  # and the sums are written below
                    number[FALLEN] = math.inf
            total += put(weight, subtotal, heavy, kept)
        number[TOTAL] = total
        if number[FALLEN] > LARGEST_FALL:
            write_sums(weight, subtotal, keys, n, number)


@compiled
def put(weights, totals, arm, weight):
    """Give an arm the weight that it should have; return the change."""
    change = weight - weights[arm]
    weights[arm] = weight
    totals[arm // PIECE] += change
    return change


@compiled
def break_ties(weights, limits, means, word, first, last, share, fixed, rate):
    """Arms whose coin half of the hash left undecided, taken for no loss so far."""
    change = 0.0
    for i in range(first, last):
        u = arm_unit(word, i)
        if u < means[i] and int64(u * 2.0**32) == int64(limits[i]):
            fallen = weights[i] * any_factor(share * weights[i] + fixed, 0.0, rate)
            change += fallen - weights[i]
            weights[i] = fallen
    return change


@compiled
def everything_learn(rate, fixed, weights, totals, keys, numbers, n, losses):
    """Any losses, 0 for the played arm."""
    share = (1.0 - n * fixed) / numbers[TOTAL]
    for i in range(n):
        step = rate * losses[i] / (1.0 - (share * weights[i] + fixed))
        keys[i] += step - math.log(weights[i] / weight_of(keys[i]))
        weights[i] = weight_of(keys[i])
    write_sums(weights, totals, keys, n, numbers)


class Everything:
    """D: loop-less clique under the entropy, one fused pass."""

    def __init__(self, plan, means, seed):
        tuning = plan.tuning
        n = plan.graph.n_arms
        padded = -(-n // 16) * 16
        self.rate, self.fixed = float(tuning.top_rate[0]), float(tuning.global_exploration[0])
        assert (tuning.global_exploration == self.fixed).all()
        assert (tuning.top_rate == self.rate).all()
        self.series, self.bounds = everything_series(self.rate)
        self.weights = np.zeros(padded)
        self.totals = np.zeros(padded // PIECE + 1)
        self.keys = np.zeros(n)
        self.numbers = np.zeros(7)
        self.means = np.asarray(means, dtype=np.float64)
        self.limits = np.zeros(padded, dtype=np.uint32)
        self.limits[:n] = high_half(self.means)
        self.key, self.words, self.round = environment_key(seed), player(seed), 0
        self.weights[:n] = 1.0
        write_sums(self.weights, self.totals, self.keys, n, self.numbers)

    @property
    def probabilities(self):
        n = self.means.size
        return (1.0 - n * self.fixed) / self.numbers[TOTAL] * self.weights[:n] + self.fixed

    def learn(self, arm, losses):
        told = np.insert(np.asarray(losses, dtype=np.float64), arm, 0.0)
        state = self.weights, self.totals, self.keys, self.numbers
        everything_learn(self.rate, self.fixed, *state, self.means.size, told)

    def play(self, rounds):
        begin, self.round = self.round, self.round + rounds
        everything_play(
            *(self.rate, self.fixed, self.series, self.bounds, self.weights, self.totals, self.keys),
            *(self.numbers, self.limits, self.means, self.key, self.words, begin, self.round),
        )


def everything_series(rate):
    """exp(−η/(1−z)) as a polynomial in z, and up to which z four and six terms do.

    The first term left out is about η·z^k.
    """
    exponent = np.array([0.0, -rate, -rate, -rate, -rate, -rate])  # of exp(−η(z + z² + …))
    series = np.zeros(6)
    series[0] = math.exp(-rate)
    for k in range(1, 6):  # k·f_k = Σ j·g_j·f_(k−j)
        series[k] = sum(j * exponent[j] * series[k - j] for j in range(1, k + 1)) / k
    return series, np.array([(NEGLIGIBLE / rate) ** (1.0 / 4.0), (NEGLIGIBLE / rate) ** (1.0 / 6.0)])


# -- A: loop-less cliques -----------------------------------------------------------------------------
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
    cell = cells(records, k * WIDTH, (k + 1) * WIDTH)
    key = cells(keys, k * size, (k + 1) * size)
    at = s.place[k]
    cliques_update(s, cells(rates, 0, 6), cell, key, size, width, cells(scratch, 0, 48), bucket_at(s, at), at)


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
    lost, rate = cells(scratch, 0, 48), cells(rates, 0, 6)
    n = means.size
    gamma, local = n * rates[FIXED], size * rates[LOCAL]
    record, bound = cells(records, 0, records.size), cells(limits, 0, limits.size)
    far = n >= FAR
    arm = coming = sooner = soon = 0
    for t in range(begin, end):
        if far:  # coming draws are known: ask for the item that one proposes, and later for its block
            k = s.name[2 * soon + 1]
            fetch(record, k * WIDTH)
            fetch(record, k * WIDTH + 8)
            fetch(bound, k * WIDTH)
            soon, sooner = sooner, coming
            _, coming = propose(s, first, step, t + AHEAD, 2)
            fetch(s.key, 2 * coming)
        u = numbered_unit(first, step, t, 0)
        if u < gamma:
            arm = min(int(u / gamma * n), n - 1)
            k = arm // size
            j = arm - k * size
            at = s.place[k]
            b = bucket_at(s, at)
            cell = cells(records, k * WIDTH, (k + 1) * WIDTH)
            limit = cells(limits, k * WIDTH, (k + 1) * WIDTH)
        else:
            b, at = sample(s, first, step, t, 2)
            k = s.name[2 * at + 1]
            cell = cells(records, k * WIDTH, (k + 1) * WIDTH)
            limit = cells(limits, k * WIDTH, (k + 1) * WIDTH)
            fetch(limit, 0)
            fetch(cell, 8)
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
        cliques_update(s, rate, cell, cells(keys, k * size, (k + 1) * size), size, width, lost, b, at)
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


# -- E: hypercube in Hamming blocks -------------------------------------------------------------------
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
        fetch(s.place, k)
        fetch(fell, k)
        for j in range(i + 1, n_lost):
            far = near ^ codes[whole[LIST + j]]
            fetch(inside, far ^ tables[far & mask])
        for j in range(d - n_lost):
            far = near ^ codes[whole[KEPT + j]]
            fetch(inside, far ^ tables[far & mask])
    for i in range(n_lost):
        near = code ^ codes[whole[LIST + i]]
        near ^= tables[near & mask]
        first = near >> log_size << log_size
        fetch(inside, first)
        fetch(inside, first + mask)
        fetch(s.key, 2 * int64(s.place[near >> log_size]))


@compiled
def cube_learn(
    items, names, place, spare, spare_names, start, numbers, rates, shape, inside, sums, fell, keys, codes, tables,
    whole, real, code, n_lost,
):  # fmt: skip
    s = opened(items, names, place, spare, spare_names, start, numbers, True, False)
    cube_update(
        s,
        cells(rates, 0, 6),
        cells(shape, 0, 3),
        cells(inside, 0, inside.size),
        cells(sums, 0, sums.size),
        cells(fell, 0, fell.size),
        cells(keys, 0, keys.size),
        cells(codes, 0, TABLE),
        cells(tables, 0, TABLE),
        cells(whole, 0, whole.size),
        cells(real, 0, real.size),
        code,
        n_lost,
    )


@compiled
def cube_play(
    items, names, place, spare, spare_names, start, numbers, rates, shape, inside, sums, fell, keys, codes, tables,
    whole, real, arms, pairs, limits, means, loss_key, first, step, begin, end,
):  # fmt: skip
    s = opened(items, names, place, spare, spare_names, start, numbers, True, False)
    rate, form, x = cells(rates, 0, 6), cells(shape, 0, 3), cells(inside, 0, inside.size)
    total, fall_, key = cells(sums, 0, sums.size), cells(fell, 0, fell.size), cells(keys, 0, keys.size)
    base, table = cells(codes, 0, TABLE), cells(tables, 0, TABLE)
    list_, number = cells(whole, 0, whole.size), cells(real, 0, real.size)
    arm_at, limit = cells(arms, 0, arms.size), cells(limits, 0, limits.size)
    mean = cells(means, 0, means.size)
    d, size = shape[BITS], shape[SIZE]
    explorers = pairs.size
    gamma, local = explorers * rates[FIXED], 2.0 * rates[LOCAL]
    lanes = (d + 7) // 8 * 8
    away = means.size >= FAR
    arm = coming = sooner = soon = 0
    for t in range(begin, end):
        if away:  # as for cliques
            k = s.name[2 * soon + 1]
            fetch(x, k * size)
            fetch(x, k * size + 8)
            fetch(arm_at, k * size)
            soon, sooner = sooner, coming
            _, coming = propose(s, first, step, t + AHEAD, 2)
            fetch(s.key, 2 * coming)
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


def aligned(size, dtype):
    """Zeros that begin with a line of memory."""
    room = np.zeros(size * np.dtype(dtype).itemsize + 64, dtype=np.uint8)
    begin = -room.ctypes.data % 64
    return room[begin : begin + size * np.dtype(dtype).itemsize].view(dtype)


def high_half(means):
    """What the upper 32 bits of a coin's hash must be below; the same is undecided."""
    return np.minimum(np.ceil(means * 2.0**52) // 2.0**20, HALF).astype(np.uint32)


RIVALS = {"A": Cliques, "D": Everything, "E": Cube}
