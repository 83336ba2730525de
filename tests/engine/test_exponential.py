import math

import numpy as np
import pytest
from kernel_entries import door, exponentials, small_exponentials, tiny_exponentials
from mpmath import mp

from sidelight.engine._numba.pointers import bits_float, float_bits
from sidelight.engine.exponential import LARGEST, SMALL, TINY, exp_bounded


def exponential(x):
    out = np.empty(1)
    exponentials(np.array([x]), out)
    return out[0]


bounded = door(exp_bounded)


@pytest.mark.parametrize("x", [0.0, 1e-300, 1e-17, 0.3465, 0.34658, 1.0, 37.5, 64.0, 700.0, -707.999])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_exponential_is_exact_to_rounding(x, sign):
    x = min(sign * x, 700.0)
    with mp.workdps(40):
        truth = mp.exp(mp.mpf(x))
        assert abs(exponential(x) / truth - 1) < 3e-16
    assert bounded(x) == exponential(min(x, LARGEST))


def test_exponential_on_a_sweep():
    rng = np.random.default_rng(0)
    xs = rng.choice([-1.0, 1.0], 500) * rng.exponential(30.0, 500)
    ours = np.empty(500)
    exponentials(xs, ours)
    np.testing.assert_allclose(ours, np.exp(xs), rtol=5e-16)


@pytest.mark.parametrize("x", [-708.0, -745.0, -1e9, -math.inf])
def test_exponential_vanishes_below_the_normal_range(x):
    assert exponential(x) == bounded(x) == 0.0


@pytest.mark.parametrize("x", [64.1, 710.0, 1e9, math.inf])
def test_bounded_exponential_stays_a_number(x):
    assert bounded(x) == exponential(LARGEST)


def small(xs):
    out = np.empty(len(xs))
    small_exponentials(np.asarray(xs, dtype=np.float64), out)
    return out


def test_small_exponentials_are_exact_to_rounding():
    """Up to the largest step for which the engine uses them, on both sides of zero."""
    xs = np.concatenate([np.linspace(-SMALL, SMALL, 401), SMALL * 0.5 ** np.arange(60)])
    with mp.workdps(40):
        for x, found in zip(xs, small(xs), strict=True):
            assert abs(found / mp.exp(mp.mpf(x)) - 1) < 3e-16, x


def test_small_exponentials_are_not_exact_far_beyond():
    """So steps must be watched: at −1/2 only seven digits are left."""
    assert SMALL == 1 / 32
    assert small([0.0]).tolist() == [1.0]
    assert 1e-9 < abs(small([-0.5])[0] / math.exp(-0.5) - 1) < 1e-5


def test_tiny_exponentials_are_exact_to_rounding():
    """Of either sign: weights are multiplied by them."""
    xs = np.concatenate([np.linspace(-TINY, TINY, 801), *np.outer([-TINY, TINY], 0.5 ** np.arange(60))])
    found = np.empty(xs.size)
    tiny_exponentials(xs, found)
    with mp.workdps(40):
        for x, y in zip(xs, found, strict=True):
            assert abs(y / mp.exp(mp.mpf(x)) - 1) < 1.5e-16, x
    assert (found[:401] <= 1.0).all()
    assert found[400] == 1.0


def test_bits_round_trip():
    for x in (0.0, 1.0, -2.5, 1e-300, 1e300, math.inf):
        assert bits_float(float_bits(x)) == x
    assert float_bits(1.0) == 0x3FF0000000000000
