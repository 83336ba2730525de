"""D: a loop-less clique, where everything moves every round."""

import math

import numpy as np
from benchmarks.rivals.prototypes.shared import HALF, compiled, high_half, player, summing, unit
from numba import int64, uint64

from sidelight.engine._numba.pointers import pointer
from sidelight.engine.exponential import exp_nonpositive, small_exp
from sidelight.engine.random import arm_unit, round_word
from sidelight.environment.base import environment_key

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
    weight, limit = pointer(weights, 0, padded), pointer(limits, 0, padded)
    number = pointer(numbers, 0, numbers.size)
    series = (c[0], c[1], c[2], c[3], c[4], c[5])  # values: a pass would read them again after every weight
    subtotal, word_state = pointer(totals, 0, totals.size), pointer(words, 0, 1)
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
