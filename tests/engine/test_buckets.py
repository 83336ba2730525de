"""The implicit simplex: what its buckets, series and trees promise, checked after every solution of a random game.

Geometry, moments and bounds are computed here from their definitions, not with the functions under test.
"""

import math

import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from kernel_entries import INTERPRETED, plain
from mpmath import mp, mpf
from numpy.testing import assert_allclose, assert_array_equal
from simplex_twin import SignedBench, assert_weights_in_order, each_way, exact_point

from sidelight.engine.simplex import buckets
from sidelight.engine.simplex import store as layout
from sidelight.engine.simplex.store import (
    CENTER,
    ENTROPY_LIST,
    ENTROPY_TREE,
    N_BUCKETS,
    N_MOMENTS,
    N_SERIES,
    POWER_BUCKETS,
    RENEWED,
)

LISTS, BUCKETS = 10**9, 0


@pytest.fixture(autouse=True)
def _everything_in_buckets(monkeypatch):
    monkeypatch.setattr(layout, "LARGEST_LIST", BUCKETS)
    monkeypatch.setattr(layout, "LARGEST_SUM", BUCKETS)


# -- the definitions ---------------------------------------------------------------------------------------


def fine_of(q):
    """log₂ of the buckets per octave."""
    return 1 if q <= 2 else 2 if q <= 4 else 3 if q <= 8 else 4


def reach_of(q):
    return min(1.0 / (32.0 * q), 1.0 / 64.0)


def headroom_of(q):
    rho = reach_of(q)
    return rho * (1.0 - rho) / (1.0 + rho)


def lower_ends(q):
    """lo_b: octaves cut into equal parts."""
    per_octave = 2 ** fine_of(q)
    return np.array(
        [2.0 ** (b // per_octave) * (1.0 + b % per_octave / per_octave) for b in range(N_BUCKETS)]
    )


def binomials(q):
    """C(q+p−1, p)."""
    return np.array([float(mp.binomial(q + p - 1, p)) for p in range(N_MOMENTS)])


class Look:
    """One bucketed group taken apart."""

    def __init__(self, bench, g=0):
        store = bench.store
        assert store.form[g] == POWER_BUCKETS
        h = int(store.extra[g])
        row = slice(h * N_BUCKETS, (h + 1) * N_BUCKETS)
        self.q = float(store.power[g])
        self.rho, self.room = reach_of(self.q), headroom_of(self.q)
        self.low = lower_ends(self.q)
        self.multiplier = bench.scalar(g, "multiplier")
        self.floor, self.ceiling, self.weight, self.root_weight = (
            bench.scalar(g, name) for name in ("floor", "ceiling", "weight", "root_weight")
        )
        self.first, self.last = (int(end) for end in store.origin[2 * g : 2 * g + 2])
        self.start = store.start[h * (N_BUCKETS + 1) : (h + 1) * (N_BUCKETS + 1)].astype(int)
        self.count = np.diff(self.start)
        self.span = store.span[2 * h : 2 * h + 2]
        self.ref, self.carry, self.inverse, self.least, self.cap = (
            array[row] for array in (store.ref, store.carry, store.inverse, store.least, store.cap)
        )
        self.renewed = store.renewed[row]
        self.series = store.series[h * N_SERIES : (h + 1) * N_SERIES]
        self.moments = store.moments.reshape(-1, N_BUCKETS, N_MOMENTS)[h]
        ends = zip(self.start[:-1], self.start[1:], strict=True)
        self.keys = [store.key[store.occupant[a:b]] for a, b in ends]

    def fresh_moments(self, b):
        """(A_0 … A_7, Σ 1/(ref + s)) of bucket b."""
        r = self.ref[b] + self.keys[b]
        powers = np.array([math.fsum(r ** -(self.q + p)) for p in range(N_MOMENTS)])
        return binomials(self.q) * powers, math.fsum(1.0 / r)


def assert_in_order(bench):
    """Everything that the buckets of every group promise between two solutions."""
    store = bench.store
    assert_array_equal(store.place[store.occupant], np.arange(store.key.size))
    for g in range(store.form.size):
        members = bench.members(g)
        assert_array_equal(np.sort(store.occupant[members]), members)
        if store.form[g] == POWER_BUCKETS:
            look = Look(bench, g)
            assert_group_in_order(look)
            assert_array_equal(store.sum_at[members], store.key[store.occupant[members]])
            assert_allclose(bench.extremes(g), extremes_of(bench, g, look), rtol=1e-12)
        elif store.form[g] in (ENTROPY_LIST, ENTROPY_TREE):
            assert_weights_in_order(bench, g)
        if store.form[g] != POWER_BUCKETS:  # nobody is moved
            assert_array_equal(store.occupant[members], members)


def extremes_of(bench, g, look):
    """(least, largest) d that members of a group have while λ is in the window of their bucket."""
    bucket = np.empty(bench.store.key.size, dtype=int)
    for b in np.flatnonzero(look.count):
        bucket[bench.store.occupant[look.start[b] : look.start[b + 1]]] = b
    bucket = bucket[bench.members(g)]
    middle = look.ref[bucket] + bench.sums(g)
    return middle - look.rho * look.low[bucket], middle + look.room * look.low[bucket]


def assert_group_in_order(look):
    low, rho, room, full = look.low, look.rho, look.room, np.flatnonzero(look.count)
    # boundaries: monotone, and nobody is missing
    assert look.start[0] == look.first
    assert look.start[-1] == look.last
    assert (look.count >= 0).all()
    assert look.span[0] <= full[0]
    assert look.span[1] >= full[-1]
    for b in full:
        d = look.multiplier + look.keys[b]
        # who entered between its ends is no further beyond them than the window is wide
        assert d.min() >= low[b] * (1.0 - rho - room) * (1.0 - 1e-12)
        assert b == N_BUCKETS - 1 or d.max() <= (low[b + 1] + (rho + room) * low[b]) * (1.0 + 1e-12)
        # nobody is below the bound that proposals rely on, now or when λ has fallen as far as the window reaches
        assert low[b] * (1.0 - rho - room) * (1.0 - 1e-12) <= look.least[b]
        lowest = look.ref[b] - rho * low[b] + look.keys[b].min()
        if b == 0:  # no coordinate of a solution exceeds 1
            lowest = max(lowest, 1.0 - rho)
        assert look.least[b] <= min(d.min(), lowest) * (1.0 + 1e-12)
        # the series is only used inside its window
        assert -room * low[b] <= (look.ref[b] - look.multiplier) / (1.0 + 1e-6) <= rho * low[b]
    for b in range(N_BUCKETS):
        if look.count[b] == 0:
            assert not look.moments[b].any()
            assert look.carry[b] == look.inverse[b] == 0.0
            continue
        exact, inverse = look.fresh_moments(b)
        kept = look.moments[b].copy()
        kept[0] += look.carry[b]
        # The last bucket has no upper end: a small member that leaves may leave behind rounding of its size.
        slack = 1e-10 if b == N_BUCKETS - 1 else 0.0
        scale = low[b] ** -(look.q + np.arange(N_MOMENTS))
        assert (np.abs(kept - exact) <= 1e-10 * exact + slack * scale).all()
        assert abs(look.inverse[b] - inverse) <= 1e-10 * inverse + slack / low[b]
    # λ may be used for predictions from floor to ceiling: inside every window, and that of the series of all
    tiny = 1e-12 * (1.0 + abs(look.multiplier))
    for centers, lows in ((look.ref[full], low[full]), (look.series[CENTER], low[full[0]])):
        assert look.floor >= np.max(centers - rho * lows) - tiny
        assert look.ceiling <= np.min(centers + room * lows) + tiny
    assert look.floor - tiny <= look.multiplier <= look.ceiling + tiny
    # proposals dominate
    assert_allclose(look.cap, look.least**-look.q, rtol=1e-13)
    total = math.fsum(look.count * look.cap)
    assert look.weight >= total * (1.0 - 1e-9)
    assert look.weight <= total * (1.0 + 1e-9)
    assert_allclose(look.root_weight, math.fsum(look.count / look.least), rtol=1e-9)


def assert_series_is_the_sum(bench, g=0, tolerance=1e-13):
    """F and Σ 1/d of a bucketed group against their definitions, at λ, floor and ceiling and in between."""
    q, sums = float(bench.store.power[g]), bench.sums(g)
    for at in [bench.scalar(g, "multiplier"), *window(bench, g)]:
        d = at + sums
        assert_allclose(bench.evaluate(g, at)[0], math.fsum(d**-q), rtol=tolerance)
        if q == 2.0:
            assert_allclose(bench.root_sum_at(g, at), math.fsum(1.0 / d), rtol=tolerance)


def window(bench, g=0, shares=(0.0, 0.5, 1.0)):
    """Multipliers from the ceiling down to the floor."""
    floor, ceiling = bench.scalar(g, "floor"), bench.scalar(g, "ceiling")
    return [(1.0 - share) * ceiling + share * floor for share in shares]


def assert_exact(bench, potentials):
    _, x = exact_point([(q, rate, bench.sums(g)) for g, (q, rate, _) in enumerate(potentials)])
    for g in bench.groups():
        assert_allclose(bench.values(g), [float(v) for v in x[g]], rtol=0, atol=1e-12)
    assert abs(math.fsum(np.concatenate([bench.values(g) for g in bench.groups()])) - 1.0) <= 1e-12


# -- geometry ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("q", [1.7, 2.0, 3.0, 4.0, 8.0, 20.0])
def test_buckets_cover_everything_from_one_on(q):
    fine = plain(buckets.fineness)(q)
    assert fine == fine_of(q)
    rho, room = plain(buckets.reach)(q), headroom_of(q)
    assert rho == reach_of(q)
    # across a window no d changes by more than a factor (1+ρ)/(1−ρ): from lo_b at the ceiling to the floor
    assert_allclose(1.0 - room - rho, (1.0 - rho) / (1.0 + rho), rtol=1e-15)
    low = lower_ends(q)
    assert (np.diff(low) > 0).all()
    for b in range(N_BUCKETS):
        assert plain(buckets.lower_end)(b, fine) == low[b]
        assert plain(buckets.bucket_of)(low[b], fine) == b
        assert plain(buckets.bucket_of)(np.nextafter(low[b], 0.0), fine) == max(0, b - 1)
    for d in (0.5, 1.0 - 1e-16, 0.99):  # d slips below 1 by rounding only
        assert plain(buckets.bucket_of)(d, fine) == 0
    for d in (low[-1] * 1.5, 1e20, 1e300, math.inf):
        assert plain(buckets.bucket_of)(d, fine) == N_BUCKETS - 1


# -- a random game -----------------------------------------------------------------------------------------

POTENTIALS = [[(q, 1.0, n)] for q in (2.0, 3.0, 8.0, 1.7) for n in (1, 2, 3, 7, 40)]
POTENTIALS += [
    [(2.0, 0.3, 5), (2.0, 0.05, 7), (0.0, 0.7, 3)],
    [(3.0, 0.2, 1), (0.0, 0.1, 2), (2.0, 1.5, 12)],
    [(0.0, 1.0, 1)],
    [(0.0, 1.0, 40)],
    [(0.0, 0.2, 18), (0.0, 3.0, 5)],
]
amounts = st.builds(
    lambda sign, exponent: sign * 10.0**exponent, st.sampled_from([1, -1]), st.floats(-12.0, 12.0)
)


class Game(RuleBasedStateMachine):
    """Sums grow and fall in any order and by any amount; after every solution everything is in order and exact."""

    bench = None

    @initialize(potentials=st.sampled_from(POTENTIALS), largest=st.sampled_from([LISTS, BUCKETS, BUCKETS]))
    def make(self, potentials, largest):
        kept = layout.LARGEST_LIST, layout.LARGEST_SUM
        layout.LARGEST_LIST = layout.LARGEST_SUM = largest
        self.bench = SignedBench.of(*potentials)
        layout.LARGEST_LIST, layout.LARGEST_SUM = kept
        self.potentials = potentials
        self.group = np.repeat(np.arange(len(potentials)), [size for _, _, size in potentials])
        self.stale = False
        self.check()

    def check(self):
        assert_in_order(self.bench)
        assert_exact(self.bench, self.potentials)
        if len(self.potentials) == 1 and self.bench.store.form[0] == POWER_BUCKETS:
            assert_series_is_the_sum(self.bench)

    def _add(self, c, amount):
        c %= self.group.size
        g = int(self.group[c])
        self.bench.add(g, c, amount)
        self.stale = True
        if self.bench.store.form[g] == POWER_BUCKETS:  # λ has made room for whoever has come near its pole
            d = self.bench.scalar(g, "multiplier") + self.bench.sums(g)
            assert d.min() >= 1.0 - reach_of(self.potentials[g][0])

    @rule(c=st.integers(0, 10**6), amount=amounts)
    def add(self, c, amount):
        self._add(c, amount)

    @rule(c=st.integers(0, 10**6), amount=amounts)
    def add_and_solve(self, c, amount):
        self._add(c, amount)
        self.solve()

    @rule(c=st.integers(0, 10**6), several=st.lists(amounts, min_size=2, max_size=5))
    def add_repeatedly_and_solve(self, c, several):
        for amount in several:
            self._add(c, amount)
        self.solve()

    @rule(amount=amounts)
    def add_to_everyone_and_solve(self, amount):
        for c in range(self.group.size):
            self._add(c, amount)
        self.solve()

    @rule(amount=amounts)
    def add_to_the_largest_and_solve(self, amount):
        if self.stale:
            self.solve()
        x = np.concatenate([self.bench.values(g) for g in self.bench.groups()])
        self._add(int(np.argmax(x)), amount)
        self.solve()

    @precondition(lambda self: not self.stale)
    @rule(share=st.sampled_from([0.9, 1.0 - 1e-9, 1.0, 1.0 + 1e-9, 1.5]), c=st.integers(0, 10**6))
    def fall_to_the_pole_and_solve(self, share, c):
        c %= self.group.size
        self._add(
            c, -share * abs(self.bench.scalar(int(self.group[c]), "multiplier") + self.bench.store.key[c])
        )
        self.solve()

    @precondition(lambda self: not self.stale)
    @rule(lead=st.sampled_from([-0.1, 0.0, 1e-9, 0.5, 3.0]))
    def the_last_comes_to_the_front(self, lead):
        for g in self.bench.groups():
            sums, first = self.bench.sums(g), self.bench.members(g)[0]
            self._add(int(first + np.argmax(sums)), sums.min() - sums.max() - lead)
        self.solve()

    @rule(c=st.integers(0, 10**6), several=st.lists(amounts, min_size=2, max_size=5))
    def go_and_come_back_and_solve(self, c, several):
        for amount in [*several, *(-amount for amount in several)]:
            self._add(c, amount)
        self.solve()

    @precondition(lambda self: not self.stale)
    @rule(ratio=st.sampled_from([0.5, 0.99, 1.01, 2.0]))
    def rescale(self, ratio):
        self.bench.rescale(ratio)
        self.solve()

    @rule()
    def solve(self):
        self.bench.solve()
        self.stale = False
        self.check()

    @precondition(lambda self: not self.stale)  # far from the old λ only `solve` goes on to shift the sums
    @rule()
    def rebuild(self):
        self.bench.rebuild()
        self.check()

    @precondition(lambda self: not self.stale)
    @rule()
    def refresh(self):
        for g in self.bench.groups():
            self.bench.refresh(g)
            if self.bench.store.form[g] == POWER_BUCKETS:  # from scratch, so not only a bound
                look = Look(self.bench, g)
                full = np.flatnonzero(look.count)
                refs, lows = (
                    np.append(look.ref[full], look.multiplier),
                    look.low[full[[*range(full.size), 0]]],
                )
                assert look.floor == np.max(refs - look.rho * lows)
                assert_allclose(look.ceiling, np.min(refs + look.room * lows), rtol=1e-15)
                assert look.span.tolist() == [full[0], full[-1]]
        self.check()

    @precondition(lambda self: not self.stale)
    @rule()
    def rebase(self):
        before = np.concatenate([self.bench.values(g) for g in self.bench.groups()])
        self.bench.rebase()
        after = np.concatenate([self.bench.values(g) for g in self.bench.groups()])
        assert_allclose(after, before, rtol=0, atol=1e-12)
        self.check()


TestGame = Game.TestCase
TestGame.settings = settings(
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # shrinking takes minutes; a failure says what it did without it
    max_examples=20 if INTERPRETED else 30,
    stateful_step_count=15 if INTERPRETED else 30,
)


@pytest.mark.parametrize("q", [2.0, 3.0, 8.0, 1.7])
@pytest.mark.parametrize("n", [2, 30, 400])
@each_way
def test_order_is_kept_over_many_rounds(q, n, signs, scale):
    """As in play: amounts rate/x on coordinates drawn from x, so that λ moves steadily and buckets are refreshed."""
    bench = SignedBench.of((q, 1.0, n))
    rng = np.random.default_rng(20)
    began = bench.scalar(0, "multiplier")
    for t in range(20 * scale):
        x = bench.values()
        c = int(rng.choice(n, p=x / x.sum()))
        bench.add(0, c, rng.choice(signs) * 0.05 * n ** (1.0 / q) / (x[c] * n) ** 0.5)
        bench.solve()
        if t % scale == 0:
            assert_in_order(bench)
    assert len(signs) > 1 or signs[0] * (began - bench.scalar(0, "multiplier")) > 0.0
    assert_exact(bench, [(q, 1.0, n)])


@pytest.mark.skipif(INTERPRETED, reason="five thousand coordinates are for compiled kernels")
@pytest.mark.parametrize("q", [2.0, 3.0, 8.0])
@each_way
def test_order_is_kept_with_many_coordinates(q, signs):
    n = 5000
    bench = SignedBench.of((q, 1.0, n))
    rng = np.random.default_rng(21)
    for _ in range(12):
        bench.add(
            0, rng.integers(0, n, size=300), rng.choice(signs, 300) * 10.0 ** rng.uniform(-3, 5, size=300)
        )
        bench.solve()
        assert_in_order(bench)
    bench.add(0, np.arange(n), rng.choice(signs, n) * 10.0 ** rng.uniform(0, 9, size=n))
    bench.solve()
    assert_in_order(bench)
    assert_exact(bench, [(q, 1.0, n)])


# -- bounds that proposals rely on ---------------------------------------------------------------------------


@pytest.mark.parametrize("q", [2.0, 3.0, 8.0, 1.7])
def test_equal_members_are_hardly_ever_rejected(q):
    """Wherever in a bucket they are: the chance of acceptance is at least (1−ρ)^q."""
    for n in (26, 40, 57, 90):
        look = Look(SignedBench.of((q, 1.0, n)))
        (b,) = np.flatnonzero(look.count)
        d = look.multiplier + look.keys[b]
        assert (look.least[b] >= d * (1.0 - look.rho)).all()
        assert look.weight <= (1.0 - look.rho) ** -q * (1.0 + 1e-12)  # in which x has the share Σ x = 1


@pytest.mark.parametrize("q", [2.0, 3.0, 8.0, 1.7])
def test_bounds_are_as_sharp_as_the_window_allows(q):
    """Just laid out, the bound of a bucket is its least member less what λ may fall."""
    bench = spread(q)
    bench.rebase()
    look = Look(bench)
    for b in np.flatnonzero(look.count):
        sharp = look.multiplier + look.keys[b].min() - look.rho * look.low[b]
        assert_allclose(look.least[b], max(sharp, look.low[b] * (1.0 - look.rho)), rtol=1e-14)


def test_a_low_newcomer_lowers_the_bound():
    """Members high in a bucket, then one that enters it at its lower end; the others stay as they are."""
    bench = SignedBench.of((2.0, 1.0, 60))  # d = √60, in [5.66, 8)
    high = Look(bench)
    (b,) = np.flatnonzero(high.count)
    bench.add(0, np.arange(30), np.full(30, 40.0))
    bench.solve()
    look = Look(bench)
    assert look.multiplier < high.multiplier - 1.0  # the thirty below are in a lower bucket now
    below = int(np.flatnonzero(look.count)[0])
    assert below < b
    before = look.least[below + 1]
    bench.add(0, 59, look.low[below + 1] * 1.001 - (look.multiplier + bench.sums()[59]))
    bench.solve()
    after = Look(bench)
    assert after.count[below + 1] == 1
    assert after.least[below + 1] <= after.multiplier + bench.sums()[59]
    assert after.least[below + 1] != before
    assert_in_order(bench)


@pytest.mark.parametrize("q", [2.0, 3.0, 8.0, 1.7])
def test_a_member_that_falls_inside_its_bucket_lowers_the_bound(q):
    bench = SignedBench.of((q, 1.0, 60))
    before = Look(bench.copy())
    (b,) = np.flatnonzero(before.count)
    bench.add(0, 0, before.low[b] * 1.0001 - before.multiplier)
    bench.solve()
    after = Look(bench)
    assert after.count[b] == 60
    assert after.ref[b] == before.ref[b]
    assert after.least[b] < before.least[b]
    assert_in_order(bench)


# -- the series --------------------------------------------------------------------------------------------


def spread(q, n=60, seed=22):
    bench = SignedBench.of((q, 1.0, n))
    rng = np.random.default_rng(seed)
    bench.add(0, np.arange(n), 10.0 ** rng.uniform(-2, 4, size=n))
    bench.solve()
    return bench


def taylor(bench, q, multiplier):
    """F(λ − r) = f0 + f1 r + f2 r² + f3 r³ + …, from the definition."""
    with mp.workdps(50):
        q, d = mpf(q), [mpf(multiplier) + mpf(s) for s in bench.sums()]
        return [mp.binomial(q + p - 1, p) * mp.fsum(v ** -(q + p) for v in d) for p in range(4)]


@pytest.mark.parametrize("q", [1.5, 2.0, 3.0, 5.7, 12.0, 20.0])
def test_series_is_exact_inside_its_window(q):
    """The value to 1e-13 of 50 digits; the coefficients only predict, a few digits will do."""
    bench = spread(q)
    assert bench.scalar(0, "floor") < bench.scalar(0, "multiplier") < bench.scalar(0, "ceiling")
    for at in window(bench, shares=(0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)):
        ours, exact = bench.evaluate(0, at), taylor(bench, q, at)
        assert abs(ours[0] / exact[0] - 1) < 1e-13
        for ours_p, exact_p, error in zip(ours[1:], exact[1:], (1e-5, 1e-3, 1e-2), strict=True):
            assert abs(ours_p / exact_p - 1) < error
        if q == 2.0:
            with mp.workdps(50):
                roots = mp.fsum(1 / (mpf(at) + mpf(s)) for s in bench.sums())
            assert abs(bench.root_sum_at(0, at) / roots - 1) < 1e-13


@pytest.mark.parametrize("q", [2.0, 3.0, 1.5, 5.7, 12.0])
@each_way
def test_series_does_not_drift(q, signs, scale):
    """Many small changes between two refreshes, each of them with the rounding of all."""
    n = 200
    bench = SignedBench.of((q, 1.0, n))
    rng = np.random.default_rng(31)
    for _ in range(10 * scale):
        bench.add(0, rng.integers(0, n, size=20), 1e-6 * rng.choice(signs, 20) * rng.random(20))
        bench.solve()
    assert_series_is_the_sum(bench)


@pytest.mark.parametrize("q", [2.0, 5.7, 12.0])
@pytest.mark.parametrize("n", [3, 80])
@each_way
def test_between_renewals_nobody_moves_far(q, n, signs, scale):
    """d stays between its extremes as of when a member was last in a bucket noted as refreshed, or was added to."""
    bench = SignedBench.of((q, 1.0, n))
    look = Look(bench)
    assert look.series[RENEWED] == 1.0  # laid out afresh: everyone is noted
    assert look.renewed.all()
    rng = np.random.default_rng(32)
    noted = []
    then = bench.extremes()
    for _ in range(80 + 20 * scale):
        look.renewed[:] = 0
        look.series[RENEWED] = 0.0
        c = int(np.argmax(bench.values())) if rng.random() < 0.2 else int(rng.integers(n))
        bench.add(0, c, float(rng.choice(signs) * 10.0 ** rng.uniform(-3, 2 if rng.random() < 0.1 else 0)))
        bench.solve()
        look = Look(bench)
        assert look.series[RENEWED] != 0.0 or not look.renewed.any()
        now = look.multiplier + bench.sums()
        renewed = np.zeros(n, dtype=bool)
        renewed[c] = True
        for b in np.flatnonzero(look.renewed):
            renewed[bench.store.occupant[look.start[b] : look.start[b + 1]]] = True
        then[:, renewed] = bench.extremes()[:, renewed]
        assert (now >= then[0] * (1.0 - 1e-9)).all()
        assert (now <= then[1] * (1.0 + 1e-9)).all()
        # what those who rely on extremes are promised
        assert (then[1] <= then[0] * (1.0 + look.rho) / (1.0 - look.rho) * (1.0 + 1e-12)).all()
        noted.append(look.renewed.any())
    assert 0 < sum(noted) < len(noted)


def test_truncation_is_what_the_bound_says():
    """q = 2, all members at the lower end of their bucket, λ fallen by a whole window: the worst case.

    But for members who entered at the lower end when λ was at the ceiling.
    """
    P = N_MOMENTS
    for rho in (reach_of(2.0) / (1.0 - headroom_of(2.0)), reach_of(2.0)):
        bound = (P + 1) * rho**P / (1 - rho) ** 2
        assert bound < 4e-14
        with mp.workdps(50):
            r = mpf(rho)
            exact = (1 - r) ** -2
            error = 1 - mp.fsum((p + 1) * r**p for p in range(P)) / exact
            assert bound / 2 < error <= bound
    bench = SignedBench.of((2.0, 1.0, 16))  # d = 4, the lower end of bucket 4
    look = Look(bench)
    assert np.flatnonzero(look.count).tolist() == [4]
    ours, exact = bench.evaluate(0, look.floor)[0], taylor(bench, 2, look.floor)[0]
    assert -1e-15 < 1 - ours / exact <= bound + 1e-15


@pytest.mark.parametrize("q", [2.0])
@pytest.mark.parametrize("largest", [LISTS, BUCKETS], ids=["lists", "buckets"])
@each_way
def test_root_sum_is_the_sum_of_the_roots(q, largest, signs, monkeypatch, scale):
    monkeypatch.setattr(layout, "LARGEST_LIST", largest)
    bench = spread(q)
    rng = np.random.default_rng(23)
    for _ in range(5 * scale):
        bench.add(0, int(rng.integers(60)), float(rng.choice(signs) * 10.0 ** rng.uniform(-4, 1)))
        bench.solve()
        d = bench.scalar(0, "multiplier") + bench.sums()
        assert_allclose(bench.root_sum(), math.fsum(1.0 / d), rtol=1e-13)
        assert_allclose(bench.roots(), 1.0 / d, rtol=1e-15)
